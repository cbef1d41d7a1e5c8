import jakarta.xml.soap.Detail;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.soap.SOAPBinding;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.FileInputStream;
import java.net.URI;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.xml.namespace.QName;
import org.apache.cxf.BusFactory;
import org.apache.cxf.configuration.jsse.TLSServerParameters;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.apache.cxf.service.model.BindingFaultInfo;
import org.apache.cxf.service.model.BindingOperationInfo;
import org.apache.cxf.transport.http_jetty.JettyHTTPServerEngineFactory;
import org.apache.cxf.ws.policy.ServerPolicyOutFaultInterceptor;

/**
 * CXF serves WSDLs by their policies, in front of a service without security: `Server STORE TLS PORT BEHIND NAMESPACE (WSDL VERSION
 * ADDRESS)...`. What a policy lets in goes BEHIND in the name of the caller whom CXF has proved, and the answer comes back under the policy. PORT alone speaks TLS, with the key of the store TLS.
 */
public final class Server {
  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  public static class One extends Forwarding {
    @Override
    String caller() {
      return context.getUserPrincipal().getName().replaceFirst("^CN=", "");
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

  /** The policy of a declared fault is found by its class, which a Provider has not: here by the element of the detail. */
  static final class DeclaredFault extends AbstractPhaseInterceptor<Message> {
    DeclaredFault() {
      super(Phase.SETUP);
      addBefore(ServerPolicyOutFaultInterceptor.class.getName());
    }

    @Override
    public void handleMessage(Message message) {
      if (!(message.getContent(Exception.class).getCause() instanceof SOAPFaultException)) return;
      SOAPFaultException thrown = (SOAPFaultException) message.getContent(Exception.class).getCause();
      Detail detail = thrown.getFault().getDetail();
      BindingOperationInfo operation = message.getExchange().getBindingOperationInfo();
      if (detail == null || operation == null) return;
      String name = detail.getFirstChild().getLocalName();
      for (BindingFaultInfo each : operation.getFaults())
        if (each.getFaultInfo().getMessagePart(0).getElementQName().getLocalPart().equals(name)) message.put(BindingFaultInfo.class, each);
    }
  }

  public static void main(String[] words) throws Exception {
    speakTls(Integer.parseInt(words[2]), words[1]);
    Forwarding.behind = URI.create(words[3]);
    for (int at = 5; at < words.length; at += 3) {
      boolean newer = words[at + 1].equals("1.2");
      EndpointImpl endpoint = (EndpointImpl) Endpoint.create(newer ? new Two() : new One());
      endpoint.setWsdlLocation(words[at]);
      endpoint.setServiceName(new QName(words[4], "OrdersService"));
      endpoint.setEndpointName(new QName(words[4], newer ? "OrdersSoap12" : "OrdersSoap11"));
      Map<String, Object> context = new HashMap<>();
      Keys.configure(context, words[0], "service", "useReqSigCert", words[at]);
      context.put("security.audience-restrictions", "urn:shop");
      context.put("ws-security.return.security.error", "true");
      endpoint.setProperties(context);
      endpoint.getOutFaultInterceptors().add(new DeclaredFault());
      endpoint.publish(words[at + 2]);
    }
    System.out.println("ready");
    while (System.in.read() >= 0);
    System.exit(0);
  }

  private static void speakTls(int port, String store) throws Exception {
    char[] password = "test-only".toCharArray();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (FileInputStream file = new FileInputStream(store)) {
      keys.load(file, password);
    }
    KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
    managers.init(keys, password);
    TLSServerParameters tls = new TLSServerParameters();
    tls.setKeyManagers(managers.getKeyManagers());
    tls.setSniHostCheck(false);
    tls.setIncludeProtocols(List.of("TLSv1.3"));
    BusFactory.getDefaultBus().getExtension(JettyHTTPServerEngineFactory.class).setTLSServerParametersForPort(port, tls);
  }
}
