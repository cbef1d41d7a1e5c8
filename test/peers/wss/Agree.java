import java.io.StringWriter;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.crypto.CryptoFactory;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.apache.wss4j.dom.message.WSSecEncrypt;
import org.apache.wss4j.dom.message.WSSecHeader;
import org.apache.xml.security.encryption.params.ConcatKDFParams;
import org.w3c.dom.Document;

/** WSS4J 4: `Agree KEYSTORE read|encrypt ALIAS KEY-IDENTIFIER WRAP DIGEST INFO` for the envelope on standard input. */
public class Agree {
  public static void main(String[] arguments) throws Exception {
    WSSConfig.init();
    Properties properties = new Properties();
    String prefix = "org.apache.wss4j.crypto.";
    properties.put(prefix + "provider", "org.apache.wss4j.common.crypto.Merlin");
    properties.put(prefix + "merlin.keystore.type", "pkcs12");
    properties.put(prefix + "merlin.keystore.password", "test-only");
    properties.put(prefix + "merlin.keystore.file", arguments[0]);
    Crypto crypto = CryptoFactory.getInstance(properties);
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    Document document = factory.newDocumentBuilder().parse(System.in);
    if (arguments[1].equals("read")) {
      CallbackHandler passwords = callbacks -> {
        for (Callback each : callbacks) ((WSPasswordCallback) each).setPassword("test-only");
      };
      new WSSecurityEngine().processSecurityHeader(document, null, passwords, crypto, crypto);
    } else {
      WSSecHeader header = new WSSecHeader(document);
      header.insertSecurityHeader();
      WSSecEncrypt encrypt = new WSSecEncrypt(header);
      encrypt.setUserInfo(arguments[2]);
      encrypt.setKeyIdentifierType(Integer.parseInt(arguments[3]));
      encrypt.setSymmetricEncAlgorithm("http://www.w3.org/2009/xmlenc11#aes256-gcm");
      encrypt.setKeyEncAlgo(arguments[4]);
      encrypt.setKeyAgreementMethod("http://www.w3.org/2009/xmlenc11#ECDH-ES");
      encrypt.setKeyDerivationMethod("http://www.w3.org/2009/xmlenc11#ConcatKDF");
      if (arguments.length > 5) {
        int bits = Integer.parseInt(arguments[4].replaceAll(".*aes", ""));
        ConcatKDFParams.Builder builder = ConcatKDFParams.createBuilder(bits, arguments[5]);
        if (arguments.length > 6) builder.algorithmID(arguments[6]).partyUInfo(arguments[6]).partyVInfo(arguments[6]);
        encrypt.setKeyDerivationParameters(builder.build());
      }
      encrypt.build(crypto, org.apache.wss4j.common.util.KeyUtils.getKeyGenerator("http://www.w3.org/2009/xmlenc11#aes256-gcm").generateKey());
    }
    StringWriter text = new StringWriter();
    javax.xml.transform.Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty("omit-xml-declaration", "yes");
    transformer.transform(new DOMSource(document), new StreamResult(text));
    System.out.print(text);
  }
}
