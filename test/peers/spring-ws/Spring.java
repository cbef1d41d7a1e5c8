import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Source;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.client.support.interceptor.ClientInterceptor;
import org.springframework.ws.soap.SoapFault;
import org.springframework.ws.soap.SoapVersion;
import org.springframework.ws.soap.client.SoapFaultClientException;
import org.springframework.ws.soap.client.core.SoapActionCallback;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;
import org.springframework.ws.soap.soap12.Soap12Fault;
import org.springframework.xml.transform.StringSource;

/**
 * Spring-WS calls by the settings of `Interceptors`: `Spring KEYS`. See soap-driver.ts for the lines that it reads and prints; they
 * have `address`, `version` and `way`, too.
 */
public final class Spring {
  private static final Map<String, WebServiceTemplate> TEMPLATES = new HashMap<>();

  public static void main(String[] words) throws Exception {
    Gson gson = new Gson();
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject asked = gson.fromJson(line, JsonObject.class);
      JsonObject said = new JsonObject();
      try {
        WebServiceTemplate template = template(words[0], asked.get("way").getAsString(), asked.get("version").getAsString(), asked.get("as").getAsString());
        String action = asked.get("namespace").getAsString() + "/" + asked.get("operation").getAsString();
        StringWriter answer = new StringWriter();
        StringSource content = new StringSource(asked.get("xml").getAsString());
        template.sendSourceAndReceiveToResult(asked.get("address").getAsString(), content, new SoapActionCallback(action), new StreamResult(answer));
        String xml = answer.toString().replaceFirst("^<\\?xml.*?\\?>", "");
        if (xml.matches("(?s)<[\\w-]+:Fault[ >].*")) said.add("fault", decrypted(xml));
        else said.addProperty("xml", xml.isEmpty() ? "<nothing/>" : xml);
      } catch (SoapFaultClientException thrown) {
        said.add("fault", fault(thrown));
      } catch (Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        said.addProperty("error", trace.toString());
      }
      out.println(gson.toJson(said));
    }
    System.exit(0);
  }

  private static WebServiceTemplate template(String file, String way, String version, String name) throws Exception {
    String key = way + version + name;
    if (TEMPLATES.containsKey(key)) return TEMPLATES.get(key);
    boolean newer = version.equals("1.2");
    SaajSoapMessageFactory messages = new SaajSoapMessageFactory();
    messages.setSoapVersion(newer ? SoapVersion.SOAP_12 : SoapVersion.SOAP_11);
    messages.afterPropertiesSet();
    WebServiceTemplate made = new WebServiceTemplate(messages);
    var security = Interceptors.create(way, file, name, "service", (newer ? SoapVersion.SOAP_12 : SoapVersion.SOAP_11).getEnvelopeNamespaceUri(), false);
    security.afterPropertiesSet();
    made.setInterceptors(new ClientInterceptor[] {security});
    made.afterPropertiesSet();
    TEMPLATES.put(key, made);
    return made;
  }

  /** Spring-WS looks for a fault before it decrypts: one that was encrypted comes as the content of an answer. */
  private static JsonObject decrypted(String xml) {
    JsonObject content = new JsonObject();
    content.addProperty("code", xml.replaceFirst("(?s)^.*?(Client|Server|Sender|Receiver).*$", "$1"));
    content.addProperty("reason", xml);
    content.addProperty("detail", xml);
    return content;
  }

  private static JsonObject fault(SoapFaultClientException thrown) throws Exception {
    SoapFault fault = thrown.getSoapFault();
    JsonObject content = new JsonObject();
    StringBuilder code = new StringBuilder(String.valueOf(thrown.getFaultCode()));
    if (fault instanceof Soap12Fault newer) for (Iterator<QName> codes = newer.getFaultSubcodes(); codes.hasNext(); ) code.append(' ').append(codes.next());
    content.addProperty("code", code.toString());
    content.addProperty("reason", thrown.getFaultStringOrReason());
    content.addProperty("detail", fault.getFaultDetail() == null ? null : text(fault.getFaultDetail().getSource()));
    return content;
  }

  static String text(Source source) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
    StringWriter written = new StringWriter();
    transformer.transform(source, new StreamResult(written));
    return written.toString();
  }
}
