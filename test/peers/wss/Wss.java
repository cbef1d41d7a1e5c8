import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.ws.security.WSConstants;
import org.apache.ws.security.WSEncryptionPart;
import org.apache.ws.security.WSPasswordCallback;
import org.apache.ws.security.WSSConfig;
import org.apache.ws.security.WSSecurityEngine;
import org.apache.ws.security.components.crypto.Crypto;
import org.apache.ws.security.components.crypto.CryptoFactory;
import org.apache.ws.security.message.WSSecEncrypt;
import org.apache.ws.security.message.WSSecHeader;
import org.apache.ws.security.message.WSSecSignature;
import org.apache.ws.security.message.WSSecTimestamp;
import org.apache.ws.security.message.WSSecUsernameToken;
import org.w3c.dom.Document;

/** WSS4J: `Wss KEYSTORE STEPS KEY-IDENTIFIER CIPHER` for the envelope on standard input; the step `read` processes one. */
public class Wss {
  public static void main(String[] arguments) throws Exception {
    WSSConfig.init();
    Properties properties = new Properties();
    String prefix = "org.apache.ws.security.crypto.";
    properties.put(prefix + "provider", "org.apache.ws.security.components.crypto.Merlin");
    properties.put(prefix + "merlin.keystore.type", "pkcs12");
    properties.put(prefix + "merlin.keystore.password", "test-only");
    properties.put(prefix + "merlin.keystore.file", arguments[0]);
    Crypto crypto = CryptoFactory.getInstance(properties);
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    Document document = factory.newDocumentBuilder().parse(System.in);
    if (arguments[1].equals("read")) {
      CallbackHandler passwords = callbacks -> {
        for (Callback each : callbacks) {
          WSPasswordCallback asked = (WSPasswordCallback) each;
          asked.setPassword(asked.getIdentifier().equals("bob") ? "test-only" : "open sesame");
        }
      };
      new WSSecurityEngine().processSecurityHeader(document, null, passwords, crypto, crypto);
      print(document);
      return;
    }
    WSSecHeader header = new WSSecHeader();
    header.insertSecurityHeader(document);
    for (String step : arguments[1].split(",")) apply(step, document, header, crypto, arguments);
    print(document);
  }

  static void apply(String step, Document document, WSSecHeader header, Crypto crypto, String[] arguments) throws Exception {
    switch (step) {
      case "text":
      case "digest":
        WSSecUsernameToken token = new WSSecUsernameToken();
        token.setPasswordType(step.equals("text") ? WSConstants.PASSWORD_TEXT : WSConstants.PASSWORD_DIGEST);
        token.setUserInfo("alice", "open sesame");
        token.build(document, header);
        break;
      case "sign":
      case "sign-token":
        WSSecTimestamp timestamp = new WSSecTimestamp();
        timestamp.setTimeToLive(300);
        timestamp.build(document, header);
        WSSecSignature signature = new WSSecSignature();
        signature.setUserInfo("alice", "test-only");
        signature.setKeyIdentifierType(Integer.parseInt(arguments[2]));
        signature.setSignatureAlgorithm("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
        signature.setDigestAlgo("http://www.w3.org/2001/04/xmlenc#sha256");
        List<WSEncryptionPart> parts = new ArrayList<>();
        parts.add(new WSEncryptionPart("Body", document.getDocumentElement().getNamespaceURI(), ""));
        parts.add(new WSEncryptionPart("Timestamp", WSConstants.WSU_NS, ""));
        if (step.equals("sign-token")) parts.add(new WSEncryptionPart("STRTransform", WSConstants.WSSE_NS, ""));
        signature.setParts(parts);
        signature.build(document, crypto, header);
        break;
      default:
        WSSecEncrypt encryption = new WSSecEncrypt();
        encryption.setUserInfo("bob");
        encryption.setKeyIdentifierType(WSConstants.ISSUER_SERIAL);
        encryption.setSymmetricEncAlgorithm(arguments[3]);
        encryption.setKeyEncAlgo(WSConstants.KEYTRANSPORT_RSAOEP);
        encryption.build(document, crypto, header);
    }
  }

  static void print(Document document) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty("omit-xml-declaration", "yes");
    StringWriter writer = new StringWriter();
    transformer.transform(new DOMSource(document), new StreamResult(writer));
    System.out.print(writer);
  }
}
