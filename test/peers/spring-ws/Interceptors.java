import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.crypto.CryptoFactory;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.springframework.ws.context.MessageContext;
import org.springframework.ws.soap.security.wss4j2.Wss4jSecurityInterceptor;

/** What a policy says, as settings of Spring-WS, which reads none: by the names of the endpoints. */
final class Interceptors {
  private static final String DSIG = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
  private static final String WSU = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
  private static final CallbackHandler SECRETS =
      callbacks -> {
        for (Callback each : callbacks) {
          // Spring asks for more than passwords: that it may clean up, and who a caller is.
          if (each instanceof WSPasswordCallback asked) asked.setPassword(asked.getUsage() == WSPasswordCallback.USERNAME_TOKEN ? asked.getIdentifier() + "-secret" : "test-only");
        }
      };

  private Interceptors() {}

  /** @param own the alias of the key that signs; @param partner the alias of the certificate to encrypt to */
  static Wss4jSecurityInterceptor create(String way, String file, String own, String partner, String soap, boolean serves) throws Exception {
    // Spring-WS secures no fault by itself.
    Wss4jSecurityInterceptor made =
        new Wss4jSecurityInterceptor() {
          @Override
          public boolean handleFault(MessageContext context, Object endpoint) throws Exception {
            return handleResponse(context, endpoint);
          }
        };
    Crypto keys = keys(file);
    boolean named = way.equals("username") || way.equals("digest");
    made.setValidationCallbackHandler(SECRETS);
    made.setSecurementUsername(own);
    made.setSecurementPassword(named ? own + "-secret" : "test-only");
    made.setSecurementMustUnderstand(true);
    made.setValidationSignatureCrypto(keys);
    made.setValidationDecryptionCrypto(keys);
    String actions = way.equals("encrypted") ? "Timestamp Encrypt Signature" : "Timestamp Signature";
    if (named) {
      made.setSecurementPasswordType(way.equals("digest") ? "PasswordDigest" : "PasswordText");
      made.setSecurementActions(serves ? "NoSecurity" : "UsernameToken");
      made.setValidationActions(serves ? "UsernameToken" : "NoSecurity");
      if (!serves) made.setValidateResponse(false);
      else made.setSecureResponse(false);
      return made;
    }
    made.setSecurementActions(actions);
    made.setValidationActions(actions);
    made.setSecurementSignatureUser(own);
    made.setSecurementSignatureCrypto(keys);
    made.setSecurementSignatureKeyIdentifier("DirectReference");
    made.setSecurementSignatureAlgorithm(DSIG);
    made.setSecurementSignatureDigestAlgorithm("http://www.w3.org/2001/04/xmlenc#sha256");
    made.setSecurementSignatureParts("{}{" + soap + "}Body;{}{" + WSU + "}Timestamp");
    made.setEnableSignatureConfirmation(true);
    made.setSecurementEncryptionUser(partner);
    made.setSecurementEncryptionCrypto(keys);
    made.setSecurementEncryptionKeyIdentifier("Thumbprint");
    made.setSecurementEncryptionParts("{Content}{" + soap + "}Body");
    made.setSecurementEncryptionSymAlgorithm("http://www.w3.org/2001/04/xmlenc#aes256-cbc");
    made.setSecurementEncryptionKeyTransportAlgorithm("http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p");
    return made;
  }

  private static Crypto keys(String file) throws Exception {
    Properties properties = new Properties();
    String prefix = "org.apache.wss4j.crypto.";
    properties.put(prefix + "provider", "org.apache.wss4j.common.crypto.Merlin");
    properties.put(prefix + "merlin.keystore.type", "pkcs12");
    properties.put(prefix + "merlin.keystore.password", "test-only");
    properties.put(prefix + "merlin.keystore.file", file);
    return CryptoFactory.getInstance(properties);
  }
}
