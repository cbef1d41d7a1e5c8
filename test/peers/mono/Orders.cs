using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Reflection;
using System.ServiceModel;
using System.ServiceModel.Channels;
using System.Text;
using System.Web.Script.Serialization;
using System.Web.Services.Protocols;
using System.Xml;
using System.Xml.Serialization;

// Calls by Mono: ASMX through the class that wsdl makes, in namespace Stubs, or, with the word "wcf", a channel of WCF.
// See soap-driver.ts for the lines it reads and prints.
public static class Driver
{
    public static void Main(string[] words)
    {
        var utf8 = new UTF8Encoding(false);
        var input = new StreamReader(Console.OpenStandardInput(), utf8);
        var output = new StreamWriter(Console.OpenStandardOutput(), utf8) { AutoFlush = true };
        var json = new JavaScriptSerializer { MaxJsonLength = int.MaxValue };
        var endpoint = words[0].Substring(0, words[0].IndexOf('?'));
        ICaller caller = words.Contains("wcf")
            ? new Wcf(endpoint, words[1] == "1.2", words.Contains("addressing"))
            : (ICaller)new Asmx(endpoint, words[1] == "1.2");
        for (var line = input.ReadLine(); line != null; line = input.ReadLine())
        {
            var asked = (Dictionary<string, object>)json.DeserializeObject(line);
            var basic = "Basic " + Convert.ToBase64String(utf8.GetBytes(asked["as"] + ":" + asked["password"]));
            Dictionary<string, object> said;
            try { said = caller.Call(asked, basic); }
            catch (Exception failure) { said = new Dictionary<string, object> { { "error", failure.ToString() } }; }
            output.WriteLine(json.Serialize(said));
        }
    }

    public static Dictionary<string, object> Fault(string code, string reason, string detail)
    {
        var fault = new Dictionary<string, object> { { "code", code }, { "reason", reason }, { "detail", detail } };
        return new Dictionary<string, object> { { "fault", fault } };
    }
}

internal interface ICaller
{
    Dictionary<string, object> Call(Dictionary<string, object> asked, string authorization);
}

internal sealed class Authorized : Stubs.OrdersService
{
    public string Authorization;

    protected override WebRequest GetWebRequest(Uri uri)
    {
        var request = base.GetWebRequest(uri);
        request.Headers["Authorization"] = Authorization;
        return request;
    }
}

internal sealed class Asmx : ICaller
{
    private readonly Authorized client = new Authorized();

    public Asmx(string endpoint, bool is12)
    {
        client.Url = endpoint;
        client.SoapVersion = is12 ? SoapProtocolVersion.Soap12 : SoapProtocolVersion.Soap11;
    }

    // One parameter for each element inside of the request's, an out one for each but the first of the response's
    public Dictionary<string, object> Call(Dictionary<string, object> asked, string authorization)
    {
        client.Authorization = authorization;
        var input = (Dictionary<string, object>)asked["input"];
        var method = typeof(Stubs.OrdersService).GetMethod((string)asked["operation"]);
        var parameters = method.GetParameters();
        var values = parameters.Select(each => Argument(each, input)).ToArray();
        object result;
        try { result = method.Invoke(client, values); }
        catch (TargetInvocationException thrown)
        {
            var fault = thrown.InnerException as SoapException;
            if (fault == null) throw thrown.InnerException;
            return Driver.Fault(fault.Code.Name, fault.Message, fault.Detail == null ? null : fault.Detail.OuterXml);
        }
        var output = new Dictionary<string, object>();
        var named = method.ReturnParameter.GetCustomAttributes(true);
        var name = named.OfType<XmlElementAttribute>().Select(each => each.ElementName)
            .Concat(named.OfType<XmlArrayAttribute>().Select(each => each.ElementName))
            .Concat(named.OfType<SoapElementAttribute>().Select(each => each.ElementName)).FirstOrDefault(each => each != "");
        if (method.ReturnType != typeof(void) && name != null) output[name] = Plain(result);
        for (var i = 0; i < values.Length; i++)
            if (parameters[i].ParameterType.IsByRef) output[parameters[i].Name] = Plain(values[i]);
        var alone = method.ReturnType != typeof(void) && name == null && output.Count == 0;
        return new Dictionary<string, object> { { "output", alone ? Plain(result) : output } };
    }

    private static object Argument(ParameterInfo parameter, Dictionary<string, object> input)
    {
        var type = parameter.ParameterType.IsByRef ? parameter.ParameterType.GetElementType() : parameter.ParameterType;
        const string flag = "Specified";
        if (type == typeof(bool) && parameter.Name.EndsWith(flag))
            return input.ContainsKey(parameter.Name.Substring(0, parameter.Name.Length - flag.Length));
        object given;
        return input.TryGetValue(parameter.Name, out given) ? Value(type, given) : type.IsValueType ? Activator.CreateInstance(type) : null;
    }

    private static object Value(Type type, object given)
    {
        if (type == typeof(byte[])) return Convert.FromBase64String((string)given);
        if (type.IsArray)
        {
            var list = given as Dictionary<string, object>;
            var items = ((IEnumerable)(list == null ? given : list.Values.First())).Cast<object>().ToArray();
            var array = Array.CreateInstance(type.GetElementType(), items.Length);
            for (var i = 0; i < items.Length; i++) array.SetValue(Value(type.GetElementType(), items[i]), i);
            return array;
        }
        if (type.IsEnum)
            return type.GetFields(BindingFlags.Public | BindingFlags.Static).First(each => Name(each) == (string)given).GetValue(null);
        var members = given as Dictionary<string, object>;
        if (members == null) return Convert.ChangeType(given, type, CultureInfo.InvariantCulture);
        var made = Activator.CreateInstance(type);
        foreach (var member in members)
        {
            var property = type.GetProperty(member.Key);
            property.SetValue(made, Value(property.PropertyType, member.Value), null);
            var specified = type.GetProperty(member.Key + "Specified");
            if (specified != null) specified.SetValue(made, true, null);
        }
        return made;
    }

    // The value of an enumeration as XML has it
    private static string Name(FieldInfo field)
    {
        var named = field.GetCustomAttributes(typeof(XmlEnumAttribute), false).Cast<XmlEnumAttribute>().FirstOrDefault();
        return named == null ? field.Name : named.Name;
    }

    private static object Plain(object value)
    {
        if (value == null || value is string || value is bool) return value;
        var type = value.GetType();
        if (value is byte[]) return Convert.ToBase64String((byte[])value);
        if (value is DateTime) return ((DateTime)value).ToUniversalTime().ToString("o");
        if (type.IsEnum) return Name(type.GetField(value.ToString()));
        if (type.IsArray) return ((Array)value).Cast<object>().Select(Plain).ToArray();
        if (value is IConvertible) return Convert.ToString(value, CultureInfo.InvariantCulture);
        return type.GetProperties().Where(each => each.GetValue(value, null) != null)
            .ToDictionary(each => each.Name, each => Plain(each.GetValue(value, null)));
    }
}

internal sealed class Wcf : ICaller
{
    private readonly IChannelFactory<IRequestChannel> factory;
    private readonly MessageVersion version;
    private readonly EndpointAddress endpoint;

    public Wcf(string address, bool is12, bool isAddressed)
    {
        version = MessageVersion.CreateVersion(
            is12 ? EnvelopeVersion.Soap12 : EnvelopeVersion.Soap11, isAddressed ? AddressingVersion.WSAddressing10 : AddressingVersion.None);
        endpoint = new EndpointAddress(address);
        var binding = new CustomBinding(
            new TextMessageEncodingBindingElement(version, new UTF8Encoding(false)), new HttpTransportBindingElement { MaxReceivedMessageSize = 1 << 24 });
        factory = binding.BuildChannelFactory<IRequestChannel>(new BindingParameterCollection());
        factory.Open();
    }

    public Dictionary<string, object> Call(Dictionary<string, object> asked, string authorization)
    {
        var channel = factory.CreateChannel(endpoint);
        channel.Open();
        try
        {
            var body = XmlReader.Create(new StringReader((string)asked["xml"]));
            var request = Message.CreateMessage(version, asked["namespace"] + "/" + asked["operation"], body);
            var property = new HttpRequestMessageProperty();
            property.Headers["Authorization"] = authorization;
            request.Properties[HttpRequestMessageProperty.Name] = property;
            if (version.Addressing != AddressingVersion.None) request.Headers.MessageId = new UniqueId();
            var reply = channel.Request(request, TimeSpan.FromSeconds(20));
            if (reply == null || reply.IsEmpty) return new Dictionary<string, object> { { "output", new Dictionary<string, object>() } };
            if (reply.IsFault)
            {
                var fault = MessageFault.CreateFault(reply, 1 << 20);
                var detail = fault.HasDetail ? fault.GetReaderAtDetailContents().ReadOuterXml() : null;
                return Driver.Fault(fault.Code.Name, fault.Reason.GetMatchingTranslation().Text, detail);
            }
            return new Dictionary<string, object> { { "xml", reply.GetReaderAtBodyContents().ReadOuterXml() } };
        }
        finally { channel.Close(); }
    }
}
