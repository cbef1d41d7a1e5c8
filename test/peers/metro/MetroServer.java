import com.sun.xml.wss.SubjectAccessor;
import jakarta.annotation.Resource;
import jakarta.xml.soap.Detail;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.soap.SOAPBinding;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Element;

/**
 * Metro serves WSDLs by their policies, in front of a service without security: `MetroServer BEHIND NAMESPACE (WSDL VERSION
 * ADDRESS)...`. Each WSDL names its keys (`KeyStore`, `TrustStore`). What a policy lets in goes BEHIND in the name of the caller whom
 * Metro has proved.
 */
public final class MetroServer {
  static final String ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/";
  static URI behind;

  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  public static class One implements Provider<Source> {
    @Resource WebServiceContext context;

    String protocol() {
      return SOAPConstants.SOAP_1_1_PROTOCOL;
    }

    @Override
    public Source invoke(Source request) {
      try {
        String name = caller(context);
        Element content = Behind.ask(behind, name, Metro.text(request));
        if (content == null) return null;
        if (Behind.isFault(content)) throw fault(content);
        return new DOMSource(content);
      } catch (RuntimeException thrown) {
        throw thrown;
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }

    private SOAPFaultException fault(Element said) throws Exception {
      boolean older = protocol().equals(SOAPConstants.SOAP_1_1_PROTOCOL);
      QName newer = Behind.isOfClient(said) ? SOAPConstants.SOAP_SENDER_FAULT : SOAPConstants.SOAP_RECEIVER_FAULT;
      QName code = older ? new QName(ENVELOPE, Behind.isOfClient(said) ? "Client" : "Server") : newer;
      SOAPFault fault = SOAPFactory.newInstance(protocol()).createFault(Behind.reason(said), code);
      for (Element each : Behind.details(said)) {
        Detail own = fault.getDetail() == null ? fault.addDetail() : fault.getDetail();
        own.appendChild(own.getOwnerDocument().importNode(each, true));
      }
      return new SOAPFaultException(fault);
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

  private static String caller(WebServiceContext context) throws Exception {
    for (Principal each : SubjectAccessor.getRequesterSubject(context).getPrincipals()) return each.getName().replaceFirst("^CN=", "");
    throw new IllegalStateException("nothing proves who asks");
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
    behind = URI.create(words[0]);
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
