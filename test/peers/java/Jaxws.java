import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.jws.WebMethod;
import javax.xml.bind.JAXBContext;
import javax.xml.bind.Marshaller;
import javax.xml.namespace.QName;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Source;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import javax.xml.ws.BindingProvider;
import javax.xml.ws.Dispatch;
import javax.xml.ws.Service;
import javax.xml.ws.WebServiceException;
import javax.xml.ws.WebServiceFeature;
import javax.xml.ws.soap.AddressingFeature;
import javax.xml.ws.soap.MTOMFeature;
import javax.xml.ws.soap.SOAPFaultException;

/**
 * Calls by JAX-WS RI: through the classes that wsimport makes, in package `stubs`, or, with the word `dispatch`, through Dispatch.
 * See soap-driver.ts for the lines it reads and prints. Requests are read into the generated classes and responses written from
 * them by JAXB.
 */
public final class Jaxws {
  private static final Gson gson = new Gson();

  public static void main(String[] words) throws Exception {
    String address = words[0];
    String version = words[1];
    List<String> wanted = Arrays.asList(words).subList(3, words.length);
    List<WebServiceFeature> features = new ArrayList<>();
    features.add(new MTOMFeature(wanted.contains("mtom"))); // else the policy alone, though optional, turns it on
    if (wanted.contains("addressing")) features.add(new AddressingFeature(true, true));
    WebServiceFeature[] all = features.toArray(new WebServiceFeature[0]);
    String namespace = (String) Class.forName("stubs.OrdersService").getAnnotation(javax.xml.ws.WebServiceClient.class).targetNamespace();
    QName port = new QName(namespace, version.equals("1.2") ? "OrdersSoap12" : "OrdersSoap11");
    Service service = Service.create(new URL(address), new QName(namespace, "OrdersService"));
    Caller caller = wanted.contains("dispatch")
        ? new Dispatched(service.createDispatch(port, Source.class, Service.Mode.PAYLOAD, all), namespace)
        : new Typed(service.getPort(port, Class.forName("stubs.OrdersPortType"), all));

    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject asked = gson.fromJson(line, JsonObject.class);
      JsonObject said = new JsonObject();
      try {
        caller.context().put(BindingProvider.USERNAME_PROPERTY, asked.get("as").getAsString());
        caller.context().put(BindingProvider.PASSWORD_PROPERTY, asked.get("password").getAsString());
        String xml = caller.call(asked.get("operation").getAsString(), asked.get("xml").getAsString());
        if (xml == null) said.add("output", new JsonObject());
        else said.addProperty("xml", xml);
      } catch (Fault fault) {
        JsonObject content = new JsonObject();
        if (fault.code != null) content.addProperty("code", fault.code);
        content.addProperty("reason", fault.getMessage());
        content.addProperty("detail", fault.detail);
        said.add("fault", content);
      } catch (Exception failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(trace));
        said.addProperty("error", trace.toString());
      }
      out.println(gson.toJson(said));
    }
  }

  private static final class Fault extends Exception {
    /** Null: the exception that wsimport makes of a declared fault does not show it. */
    final String code;
    final String detail;

    Fault(String code, String reason, String detail) {
      super(reason);
      this.code = code;
      this.detail = detail;
    }
  }

  private interface Caller {
    java.util.Map<String, Object> context();

    /** The response as an element; null for a one-way operation. */
    String call(String operation, String xml) throws Exception;
  }

  private static final class Typed implements Caller {
    private final Object port;
    private final JAXBContext jaxb = JAXBContext.newInstance("stubs");

    Typed(Object port) throws Exception {
      this.port = port;
    }

    public java.util.Map<String, Object> context() {
      return ((BindingProvider) port).getRequestContext();
    }

    public String call(String operation, String xml) throws Exception {
      Object input = jaxb.createUnmarshaller().unmarshal(new StringReader(xml));
      try {
        Object output = method(operation).invoke(port, input);
        return output == null ? null : written(output);
      } catch (InvocationTargetException thrown) {
        Throwable cause = thrown.getCause();
        if (cause instanceof SOAPFaultException) throw fault((SOAPFaultException) cause);
        if (cause instanceof WebServiceException) throw (WebServiceException) cause;
        Object info = cause.getClass().getMethod("getFaultInfo").invoke(cause);
        throw new Fault(null, cause.getMessage(), written(info));
      }
    }

    private String written(Object value) throws Exception {
      Marshaller marshaller = jaxb.createMarshaller();
      marshaller.setProperty(Marshaller.JAXB_FRAGMENT, true);
      StringWriter writer = new StringWriter();
      marshaller.marshal(value, writer);
      return writer.toString();
    }

    private Method method(String operation) throws Exception {
      for (Method method : Class.forName("stubs.OrdersPortType").getMethods()) {
        WebMethod named = method.getAnnotation(WebMethod.class);
        if (named != null && operation.equals(named.operationName())) return method;
      }
      throw new NoSuchMethodException(operation);
    }
  }

  private static final class Dispatched implements Caller {
    private final Dispatch<Source> dispatch;
    private final String namespace;

    Dispatched(Dispatch<Source> dispatch, String namespace) {
      this.dispatch = dispatch;
      this.namespace = namespace;
    }

    public java.util.Map<String, Object> context() {
      return dispatch.getRequestContext();
    }

    public String call(String operation, String xml) throws Exception {
      context().put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
      context().put(BindingProvider.SOAPACTION_URI_PROPERTY, namespace + "/" + operation);
      Source input = new StreamSource(new StringReader(xml));
      try {
        if (operation.startsWith("Notify")) {
          dispatch.invokeOneWay(input);
          return null;
        }
        return text(dispatch.invoke(input));
      } catch (SOAPFaultException thrown) {
        throw fault(thrown);
      }
    }
  }

  private static Fault fault(SOAPFaultException thrown) throws Exception {
    Object detail = thrown.getFault().getDetail();
    String text = detail == null ? null : text(new DOMSource((org.w3c.dom.Node) detail));
    return new Fault(thrown.getFault().getFaultCode(), thrown.getFault().getFaultString(), text);
  }

  private static String text(Source source) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
    StringWriter writer = new StringWriter();
    transformer.transform(source, new StreamResult(writer));
    return writer.toString();
  }
}
