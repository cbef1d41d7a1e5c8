import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.util.Map;
import javax.activation.DataHandler;
import javax.jws.WebMethod;
import javax.jws.WebParam;
import javax.jws.WebService;
import javax.xml.bind.annotation.XmlMimeType;
import javax.xml.namespace.QName;
import javax.xml.ws.BindingProvider;
import javax.xml.ws.Service;
import javax.xml.ws.soap.MTOMFeature;

/** Asks for files by MTOM, and sends some: `<wsdl> <namespace> <service> <port> <mebioctets>`. */
public final class FileClient {
  @WebService(name = "Files", targetNamespace = "urn:files")
  public interface Files {
    @WebMethod
    @XmlMimeType("application/octet-stream")
    DataHandler fetch(@WebParam(name = "mebi") int mebi);

    @WebMethod
    long keep(
        @WebParam(name = "title") String title,
        @WebParam(name = "octets") @XmlMimeType("application/octet-stream") DataHandler octets);

    @WebMethod
    String keepBoth(
        @WebParam(name = "first") @XmlMimeType("application/octet-stream") DataHandler first,
        @WebParam(name = "second") @XmlMimeType("application/octet-stream") DataHandler second);
  }

  public static void main(String[] words) throws Exception {
    int mebi = Integer.parseInt(words[4]);
    Service service = Service.create(new URL(words[0]), new QName(words[1], words[2]));
    Files files = service.getPort(new QName(words[1], words[3]), Files.class, new MTOMFeature());
    Map<String, Object> context = ((BindingProvider) files).getRequestContext();
    context.put("com.sun.xml.ws.transport.http.client.streaming.chunk.size", 65536);
    System.out.println("kept " + files.keep("a&b", file(mebi)));
    System.out.println("both " + files.keepBoth(file(mebi), file(1)));
    try (InputStream from = files.fetch(mebi).getInputStream()) {
      System.out.println("fetched " + from.transferTo(OutputStream.nullOutputStream()));
    }
    System.exit(0);
  }

  static DataHandler file(int mebi) {
    return new DataHandler(new FileServer.Zeros(mebi));
  }
}
