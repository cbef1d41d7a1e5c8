import com.google.gson.Gson;
import com.google.gson.JsonObject;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URL;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Source;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Node;

/**
 * CXF calls by the policies of the WSDL: `Cxf KEYS`, with KEYS a PKCS#12 of people, by name, and of whom they trust. See soap-driver.ts for
 * the lines that it reads and prints; they have `wsdl`, `version` and `audience`, too.
 */
public final class Cxf {
  public static void main(String[] words) throws Exception {
    Gson gson = new Gson();
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    Map<String, Dispatch<Source>> dispatches = new HashMap<>();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject asked = gson.fromJson(line, JsonObject.class);
      JsonObject said = new JsonObject();
      String wsdl = asked.get("wsdl").getAsString();
      boolean newer = asked.get("version").getAsString().equals("1.2");
      try {
        String namespace = asked.get("namespace").getAsString();
        Dispatch<Source> dispatch = dispatches.get(wsdl);
        if (dispatch == null) {
          Service service = Service.create(new URL(wsdl), new QName(namespace, "OrdersService"));
          QName port = new QName(namespace, newer ? "OrdersSoap12" : "OrdersSoap11");
          dispatch = service.createDispatch(port, Source.class, Service.Mode.PAYLOAD);
          dispatches.put(wsdl, dispatch);
        }
        Map<String, Object> context = dispatch.getRequestContext();
        context.put("find.dispatch.operation", true);
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, namespace + "/" + asked.get("operation").getAsString());
        String name = asked.get("as").getAsString();
        Keys.configure(context, words[0], name, "service", wsdl);
        context.put("security.saml-callback-handler", new Assertions(words[0], name, asked.get("audience").getAsString()));
        Source answer = dispatch.invoke(new StreamSource(new StringReader(asked.get("xml").getAsString())));
        said.addProperty("xml", answer == null ? "<nothing/>" : text(answer));
      } catch (SOAPFaultException thrown) {
        SOAPFault fault = thrown.getFault();
        JsonObject content = new JsonObject();
        StringBuilder code = new StringBuilder(fault.getFaultCode());
        if (newer) for (Iterator<QName> codes = fault.getFaultSubcodes(); codes.hasNext(); ) code.append(' ').append(codes.next());
        content.addProperty("code", code.toString());
        content.addProperty("reason", fault.getFaultString());
        content.addProperty("detail", fault.getDetail() == null ? null : text(new DOMSource(fault.getDetail())));
        said.add("fault", content);
        if (thrown.getCause() != null) said.addProperty("cause", String.valueOf(thrown.getCause()));
      } catch (Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(trace));
        said.addProperty("error", trace.toString());
      }
      out.println(gson.toJson(said));
    }
    System.exit(0);
  }

  static String text(Source source) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
    StringWriter written = new StringWriter();
    transformer.transform(source, new StreamResult(written));
    return written.toString();
  }
}
