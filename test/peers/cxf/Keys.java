import java.util.Map;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** The settings of CXF that a policy leaves open: keys, passwords, and the signatures by SHA-256, since Basic256Sha256 says RsaSha1 and HmacSha1. */
final class Keys {
  private Keys() {}

  static Properties store(String file) {
    Properties properties = new Properties();
    String prefix = "org.apache.wss4j.crypto.";
    properties.put(prefix + "provider", "org.apache.wss4j.common.crypto.Merlin");
    properties.put(prefix + "merlin.keystore.type", "pkcs12");
    properties.put(prefix + "merlin.keystore.password", "test-only");
    properties.put(prefix + "merlin.keystore.file", file);
    return properties;
  }

  /** @param partner the alias of the certificate to encrypt to */
  static void configure(Map<String, Object> context, String file, String name, String partner) {
    configure(context, file, name, partner, "");
  }

  /** @param wsdl its file, named after the path */
  static void configure(Map<String, Object> context, String file, String name, String partner, String wsdl) {
    CallbackHandler secrets = callbacks -> {
      for (Callback each : callbacks) {
        WSPasswordCallback asked = (WSPasswordCallback) each;
        asked.setPassword(asked.getUsage() == WSPasswordCallback.USERNAME_TOKEN ? asked.getIdentifier() + "-secret" : "test-only");
      }
    };
    context.put("security.username", name);
    context.put("security.signature.username", name);
    context.put("security.encryption.username", partner);
    context.put("security.signature.properties", store(file));
    context.put("security.encryption.properties", store(file));
    context.put("security.callback-handler", secrets);
    // Encrypted by CBC above the signature, it would be refused.
    context.put("ws-security.username-token.always.encrypted", "false");
    if (wsdl.contains("/sha1")) return; // as the suite says, read literally
    context.put("ws-security.asymmetric.signature.algorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
    context.put("ws-security.symmetric.signature.algorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256");
  }
}
