import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import org.apache.wss4j.dom.engine.WSSecurityEngineResult;
import org.apache.wss4j.dom.handler.WSHandlerConstants;
import org.apache.wss4j.dom.handler.WSHandlerResult;
import org.springframework.ws.context.MessageContext;
import org.springframework.ws.server.EndpointInvocationChain;
import org.springframework.ws.server.EndpointInterceptor;
import org.springframework.ws.server.endpoint.MessageEndpoint;
import org.springframework.ws.server.endpoint.adapter.MessageEndpointAdapter;
import org.springframework.ws.soap.SoapBody;
import org.springframework.ws.soap.SoapFault;
import org.springframework.ws.soap.SoapFaultDetail;
import org.springframework.ws.soap.SoapMessage;
import org.springframework.ws.soap.SoapVersion;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;
import org.springframework.ws.soap.security.wss4j2.Wss4jSecurityInterceptor;
import org.springframework.ws.soap.server.SoapEndpointInvocationChain;
import org.springframework.ws.soap.server.SoapMessageDispatcher;
import org.springframework.ws.transport.http.WebServiceMessageReceiverHttpHandler;
import org.w3c.dom.Element;

/**
 * Spring-WS serves by the settings of `Interceptors`, in front of a service without security: `SpringServer KEYS PORT BEHIND WAY...`,
 * each way at `/1.1/soap/WAY` and `/1.2/soap/WAY`. What it lets in goes BEHIND in the name of the caller whom WSS4J has proved.
 */
public final class SpringServer {
  private static final TransformerFactory TRANSFORMERS = TransformerFactory.newInstance();

  public static void main(String[] words) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1])), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    for (String way : List.of(words).subList(3, words.length)) {
      server.createContext("/1.1/soap/" + way, handler(way, words[0], SoapVersion.SOAP_11, URI.create(words[2])));
      server.createContext("/1.2/soap/" + way, handler(way, words[0], SoapVersion.SOAP_12, URI.create(words[2])));
    }
    server.start();
    System.out.println("ready");
    while (System.in.read() >= 0);
    System.exit(0);
  }

  private static WebServiceMessageReceiverHttpHandler handler(String way, String keys, SoapVersion version, URI behind) throws Exception {
    SaajSoapMessageFactory messages = new SaajSoapMessageFactory();
    messages.setSoapVersion(version);
    messages.afterPropertiesSet();
    Wss4jSecurityInterceptor security = Interceptors.create(way, keys, "service", "useReqSigCert", version.getEnvelopeNamespaceUri(), true);
    security.afterPropertiesSet();
    MessageEndpoint endpoint = context -> answer(context, behind);
    SoapMessageDispatcher dispatcher = new SoapMessageDispatcher();
    dispatcher.setEndpointAdapters(List.of(new MessageEndpointAdapter()));
    dispatcher.setEndpointMappings(List.of(context -> new SoapEndpointInvocationChain(endpoint, new EndpointInterceptor[] {security})));
    WebServiceMessageReceiverHttpHandler made = new WebServiceMessageReceiverHttpHandler();
    made.setMessageFactory(messages);
    made.setMessageReceiver(
        context -> {
          dispatcher.receive(context);
          // An encrypted Body is looked through, since SAAJ knows no content that has come since.
          if (context.hasResponse()) context.getResponse().getPayloadSource();
        });
    made.afterPropertiesSet();
    return made;
  }

  private static void answer(MessageContext context, URI behind) throws Exception {
    SoapBody asked = ((SoapMessage) context.getRequest()).getSoapBody();
    Element content = Behind.ask(behind, caller(context), Spring.text(asked.getPayloadSource()));
    if (content == null) return;
    SoapBody body = ((SoapMessage) context.getResponse()).getSoapBody();
    if (Behind.isFault(content)) addFault(body, content);
    else TRANSFORMERS.newTransformer().transform(new DOMSource(content), body.getPayloadResult());
  }

  private static void addFault(SoapBody body, Element said) throws Exception {
    String reason = Behind.reason(said);
    SoapFault fault = Behind.isOfClient(said) ? body.addClientOrSenderFault(reason, Locale.ENGLISH) : body.addServerOrReceiverFault(reason, Locale.ENGLISH);
    for (Element each : Behind.details(said)) {
      SoapFaultDetail detail = fault.getFaultDetail() == null ? fault.addFaultDetail() : fault.getFaultDetail();
      TRANSFORMERS.newTransformer().transform(new DOMSource(each), detail.getResult());
    }
  }

  /** The common name of the certificate that signed, or the name of a UsernameToken. */
  private static String caller(MessageContext context) {
    @SuppressWarnings("unchecked")
    List<WSHandlerResult> results = (List<WSHandlerResult>) context.getProperty(WSHandlerConstants.RECV_RESULTS);
    for (WSSecurityEngineResult each : results.get(0).getResults()) {
      Object principal = each.get(WSSecurityEngineResult.TAG_PRINCIPAL);
      if (principal instanceof Principal known) return known.getName().replaceFirst("^CN=", "");
    }
    throw new IllegalStateException("nothing proves who asks");
  }
}
