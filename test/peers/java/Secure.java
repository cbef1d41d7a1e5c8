import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import javax.xml.namespace.QName;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.soap.MessageFactory;
import javax.xml.soap.SOAPConstants;
import javax.xml.soap.SOAPFault;
import javax.xml.soap.SOAPMessage;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import javax.xml.ws.BindingProvider;
import javax.xml.ws.Dispatch;
import javax.xml.ws.Service;
import javax.xml.ws.soap.AddressingFeature;
import javax.xml.ws.soap.SOAPFaultException;
import org.apache.ws.security.WSConstants;
import org.apache.ws.security.WSEncryptionPart;
import org.apache.ws.security.WSSConfig;
import org.apache.ws.security.components.crypto.Crypto;
import org.apache.ws.security.components.crypto.CryptoFactory;
import org.apache.ws.security.message.WSSecHeader;
import org.apache.ws.security.message.WSSecSignature;
import org.apache.ws.security.message.WSSecTimestamp;
import org.apache.ws.security.message.WSSecUsernameToken;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;

/**
 * WSS4J proves messages of plain DOM, for it cannot add to a tree of SAAJ 1.4, and JAX-WS RI sends them by Dispatch:
 * `Secure WSDL VERSION WAY KEY CERTIFICATE`, the key as PKCS#12 beside the certificate. See soap-driver.ts for the lines it
 * reads and prints.
 */
public final class Secure {
  private static final Gson gson = new Gson();
  private static String way;
  private static Crypto crypto;

  public static void main(String[] words) throws Exception {
    boolean newer = words[1].equals("1.2");
    way = words[2];
    WSSConfig.init();
    crypto = keys(words[4].replaceAll("cert$", "p12"));
    Dispatch<SOAPMessage> dispatch = null;
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject asked = gson.fromJson(line, JsonObject.class);
      JsonObject said = new JsonObject();
      try {
        String namespace = asked.get("namespace").getAsString();
        if (dispatch == null) dispatch = dispatch(words[0], namespace, newer);
        String action = namespace + "/" + asked.get("operation").getAsString();
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_URI_PROPERTY, action);
        Document envelope = envelope(asked.get("xml").getAsString(), newer);
        prove(envelope, asked.get("as").getAsString(), asked.get("password").getAsString());
        said.addProperty("xml", text(dispatch.invoke(message(envelope, newer)).getSOAPBody().extractContentAsDocument().getDocumentElement()));
      } catch (SOAPFaultException thrown) {
        SOAPFault fault = thrown.getFault();
        JsonObject content = new JsonObject();
        StringBuilder code = new StringBuilder(fault.getFaultCode());
        for (java.util.Iterator<?> codes = newer ? fault.getFaultSubcodes() : new ArrayList<>().iterator(); codes.hasNext(); )
          code.append(' ').append(codes.next());
        content.addProperty("code", code.toString());
        content.addProperty("reason", fault.getFaultString());
        content.addProperty("detail", fault.getDetail() == null ? null : text(fault.getDetail()));
        said.add("fault", content);
      } catch (Exception failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(trace));
        said.addProperty("error", trace.toString());
      }
      out.println(gson.toJson(said));
    }
  }

  private static Crypto keys(String file) throws Exception {
    Properties properties = new Properties();
    String prefix = "org.apache.ws.security.crypto.";
    properties.put(prefix + "provider", "org.apache.ws.security.components.crypto.Merlin");
    properties.put(prefix + "merlin.keystore.type", "pkcs12");
    properties.put(prefix + "merlin.keystore.password", "test-only");
    properties.put(prefix + "merlin.keystore.file", file);
    return CryptoFactory.getInstance(properties);
  }

  private static Dispatch<SOAPMessage> dispatch(String wsdl, String namespace, boolean newer) throws Exception {
    Service service = Service.create(new URL(wsdl), new QName(namespace, "OrdersService"));
    QName port = new QName(namespace, newer ? "OrdersSoap12" : "OrdersSoap11");
    // Blocks of WS-Addressing would come after the signature, and unsigned ones are refused.
    return service.createDispatch(port, SOAPMessage.class, Service.Mode.MESSAGE, new AddressingFeature(false));
  }

  private static Document envelope(String xml, boolean newer) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    String uri = newer ? SOAPConstants.URI_NS_SOAP_1_2_ENVELOPE : SOAPConstants.URI_NS_SOAP_1_1_ENVELOPE;
    String text = "<S:Envelope xmlns:S='" + uri + "'><S:Body>" + xml + "</S:Body></S:Envelope>";
    return factory.newDocumentBuilder().parse(new InputSource(new StringReader(text)));
  }

  private static SOAPMessage message(Document envelope, boolean newer) throws Exception {
    String version = newer ? SOAPConstants.SOAP_1_2_PROTOCOL : SOAPConstants.SOAP_1_1_PROTOCOL;
    SOAPMessage message = MessageFactory.newInstance(version).createMessage();
    message.getSOAPPart().setContent(new StreamSource(new StringReader(text(envelope))));
    return message;
  }

  private static void prove(Document document, String name, String password) throws Exception {
    WSSecHeader header = new WSSecHeader();
    header.insertSecurityHeader(document);
    if (!way.equals("signed")) {
      WSSecUsernameToken token = new WSSecUsernameToken();
      token.setPasswordType(way.equals("text") ? WSConstants.PASSWORD_TEXT : WSConstants.PASSWORD_DIGEST);
      token.setUserInfo(name, password);
      token.build(document, header);
      return;
    }
    WSSecTimestamp timestamp = new WSSecTimestamp();
    timestamp.setTimeToLive(300);
    timestamp.build(document, header);
    WSSecSignature signature = new WSSecSignature();
    signature.setUserInfo("signer", "test-only");
    signature.setKeyIdentifierType(WSConstants.BST_DIRECT_REFERENCE);
    signature.setSignatureAlgorithm("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
    signature.setDigestAlgo("http://www.w3.org/2001/04/xmlenc#sha256");
    List<WSEncryptionPart> parts = new ArrayList<>();
    parts.add(new WSEncryptionPart("Body", document.getDocumentElement().getNamespaceURI(), ""));
    parts.add(new WSEncryptionPart("Timestamp", WSConstants.WSU_NS, ""));
    signature.setParts(parts);
    signature.build(document, crypto, header);
  }

  private static String text(Node node) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
    StringWriter writer = new StringWriter();
    transformer.transform(new DOMSource(node), new StreamResult(writer));
    return writer.toString();
  }
}
