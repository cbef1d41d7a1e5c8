import com.sun.xml.wss.SubjectAccessor;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.soap.SOAPBinding;
import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.stream.StreamSource;

/**
 * Metro serves WSDLs by their policies, in front of a service without security: `MetroServer BEHIND NAMESPACE (WSDL VERSION
 * ADDRESS)...`. Each WSDL names its keys (`KeyStore`, `TrustStore`). What a policy lets in goes BEHIND in the name of the caller whom
 * Metro has proved.
 */
public final class MetroServer {
  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  public static class One extends Forwarding {
    @Override
    String caller() throws Exception {
      for (Principal each : SubjectAccessor.getRequesterSubject(context).getPrincipals()) return each.getName().replaceFirst("^CN=", "");
      throw new IllegalStateException("nothing proves who asks");
    }
  }

  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  @BindingType(SOAPBinding.SOAP12HTTP_BINDING)
  public static final class Two extends One {
    @Override
    String protocol() {
      return SOAPConstants.SOAP_1_2_PROTOCOL;
    }
  }

  public static void main(String[] words) {
    try {
      serve(words);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1); // threads of endpoints that stand would go on
    }
  }

  private static void serve(String[] words) throws Exception {
    Forwarding.behind = URI.create(words[0]);
    for (int at = 2; at < words.length; at += 3) {
      boolean newer = words[at + 1].equals("1.2");
      Endpoint endpoint = Endpoint.create(newer ? new Two() : new One());
      endpoint.setMetadata(List.of(new StreamSource(words[at])));
      endpoint.setProperties(
          Map.of(
              Endpoint.WSDL_SERVICE, new QName(words[1], "OrdersService"),
              Endpoint.WSDL_PORT, new QName(words[1], newer ? "OrdersSoap12" : "OrdersSoap11")));
      endpoint.publish(words[at + 2]);
    }
    System.out.println("ready");
    while (System.in.read() >= 0);
    System.exit(0);
  }
}
