import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.soap.SOAPBinding;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.stream.StreamSource;
import org.apache.cxf.jaxws.EndpointImpl;

/** CXF serves a WSDL by its policies: `Constant WSDL VERSION KEYS ADDRESS NAMESPACE ANSWER`; each call has the ANSWER, a file. For measuring. */
public final class Constant {
  static String answer;

  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  public static class One implements Provider<Source> {
    @Override
    public Source invoke(Source request) {
      return new StreamSource(new StringReader(answer));
    }
  }

  @WebServiceProvider
  @ServiceMode(Service.Mode.PAYLOAD)
  @BindingType(SOAPBinding.SOAP12HTTP_BINDING)
  public static final class Two extends One {}

  public static void main(String[] words) throws Exception {
    answer = Files.readString(Path.of(words[5]));
    boolean newer = words[1].equals("1.2");
    EndpointImpl endpoint = (EndpointImpl) Endpoint.create(newer ? new Two() : new One());
    endpoint.setWsdlLocation(words[0]);
    endpoint.setServiceName(new QName(words[4], "OrdersService"));
    endpoint.setEndpointName(new QName(words[4], newer ? "OrdersSoap12" : "OrdersSoap11"));
    Keys.configure(endpoint.getProperties(), words[2], "service", "useReqSigCert");
    endpoint.publish(words[3]);
    System.out.println("ready");
    while (System.in.read() >= 0);
    System.exit(0);
  }
}
