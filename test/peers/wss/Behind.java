import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** The service without security behind a secured server of Java: it is asked by SOAP 1.1 in the name of a caller. */
final class Behind {
  private static final String ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/";
  private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private Behind() {}

  /** The child of the Body that comes back, which may be a Fault; null: there is no answer. @param content of the Body */
  static Element ask(URI address, String caller, String content) throws Exception {
    String message = "<s:Envelope xmlns:s='" + ENVELOPE + "'><s:Body>" + content + "</s:Body></s:Envelope>";
    String password = Base64.getEncoder().encodeToString((caller + ":" + caller + "-secret").getBytes(StandardCharsets.UTF_8));
    HttpRequest request =
        HttpRequest.newBuilder(address)
            .header("content-type", "text/xml; charset=utf-8")
            .header("authorization", "Basic " + password)
            .POST(HttpRequest.BodyPublishers.ofString(message))
            .build();
    HttpResponse<byte[]> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (answer.statusCode() == 202) return null;
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    Element envelope = factory.newDocumentBuilder().parse(new ByteArrayInputStream(answer.body())).getDocumentElement();
    return (Element) envelope.getElementsByTagNameNS(ENVELOPE, "Body").item(0).getFirstChild();
  }

  static boolean isFault(Element content) {
    return content.getLocalName().equals("Fault");
  }

  static boolean isOfClient(Element fault) {
    return textOf(fault, "faultcode").endsWith(":Client");
  }

  static String reason(Element fault) {
    return textOf(fault, "faultstring");
  }

  private static String textOf(Element fault, String name) {
    return fault.getElementsByTagName(name).item(0).getTextContent();
  }

  static List<Element> details(Element fault) {
    List<Element> found = new ArrayList<>();
    Node detail = fault.getElementsByTagName("detail").item(0);
    if (detail == null) return found;
    for (Node each = detail.getFirstChild(); each != null; each = each.getNextSibling()) if (each instanceof Element element) found.add(element);
    return found;
  }
}
