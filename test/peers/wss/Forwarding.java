import jakarta.annotation.Resource;
import jakarta.xml.soap.Detail;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringWriter;
import java.net.URI;
import javax.xml.namespace.QName;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Source;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Element;

/** What a stack of JAX-WS lets in goes to the service behind, in the name of the caller whom the stack has proved. */
abstract class Forwarding implements Provider<Source> {
  private static final String ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/";
  static URI behind;
  @Resource WebServiceContext context;

  String protocol() {
    return SOAPConstants.SOAP_1_1_PROTOCOL;
  }

  abstract String caller() throws Exception;

  @Override
  public Source invoke(Source request) {
    try {
      Element content = Behind.ask(behind, caller(), text(request));
      if (content == null) return null;
      if (Behind.isFault(content)) throw fault(content);
      return new DOMSource(content);
    } catch (RuntimeException thrown) {
      throw thrown;
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static String text(Source source) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
    StringWriter written = new StringWriter();
    transformer.transform(source, new StreamResult(written));
    return written.toString();
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
