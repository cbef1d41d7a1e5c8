import java.security.cert.X509Certificate;
import java.util.List;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.crypto.CryptoFactory;
import org.apache.wss4j.common.crypto.CryptoType;
import org.apache.wss4j.common.saml.SAMLCallback;
import org.apache.wss4j.common.saml.bean.AudienceRestrictionBean;
import org.apache.wss4j.common.saml.bean.AuthenticationStatementBean;
import org.apache.wss4j.common.saml.bean.ConditionsBean;
import org.apache.wss4j.common.saml.bean.KeyInfoBean;
import org.apache.wss4j.common.saml.bean.SubjectBean;
import org.apache.wss4j.common.saml.bean.Version;

/** SAML 2.0 assertions of the issuer `urn:issuer`, whose key is in the store: a person holds the key of the name, or bears it. */
final class Assertions implements CallbackHandler {
  private final String file;
  private final String name;
  private final String audience;

  Assertions(String file, String name, String audience) {
    this.file = file;
    this.name = name;
    this.audience = audience;
  }

  @Override
  public void handle(Callback[] callbacks) {
    for (Callback each : callbacks) if (each instanceof SAMLCallback) fill((SAMLCallback) each);
  }

  private void fill(SAMLCallback asked) {
    try {
      Crypto keys = CryptoFactory.getInstance(Keys.store(file));
      boolean bears = audience.endsWith(":bearer");
      SubjectBean subject = new SubjectBean(name, null, "urn:oasis:names:tc:SAML:2.0:cm:" + (bears ? "bearer" : "holder-of-key"));
      if (!bears) {
        CryptoType own = new CryptoType(CryptoType.TYPE.ALIAS);
        own.setAlias(name);
        X509Certificate certificate = keys.getX509Certificates(own)[0];
        KeyInfoBean key = new KeyInfoBean();
        key.setCertificate(certificate);
        key.setCertIdentifer(KeyInfoBean.CERT_IDENTIFIER.X509_CERT);
        subject.setKeyInfo(key);
      }
      AuthenticationStatementBean statement = new AuthenticationStatementBean();
      statement.setAuthenticationMethod("Password");
      statement.setSubject(subject);
      ConditionsBean conditions = new ConditionsBean();
      conditions.setTokenPeriodMinutes(5);
      AudienceRestrictionBean restriction = new AudienceRestrictionBean();
      restriction.setAudienceURIs(List.of("urn:shop"));
      conditions.setAudienceRestrictions(List.of(restriction));
      asked.setSamlVersion(Version.SAML_20);
      asked.setIssuer("urn:issuer");
      asked.setSubject(subject);
      asked.setConditions(conditions);
      asked.setAuthenticationStatementData(List.of(statement));
      asked.setIssuerCrypto(keys);
      asked.setIssuerKeyName("issuer");
      asked.setIssuerKeyPassword("test-only");
      asked.setSignAssertion(true);
      asked.setSignatureAlgorithm("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
      asked.setSignatureDigestAlgorithm("http://www.w3.org/2001/04/xmlenc#sha256");
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
