import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import javax.activation.DataHandler;
import javax.activation.DataSource;
import javax.jws.WebMethod;
import javax.jws.WebParam;
import javax.jws.WebService;
import javax.xml.bind.annotation.XmlMimeType;
import javax.xml.ws.BindingType;
import javax.xml.ws.Endpoint;
import javax.xml.ws.soap.MTOM;
import javax.xml.ws.soap.SOAPBinding;

/** Files by MTOM, as a stack of Java streams them. It says its address, and goes on until its input ends. */
public final class FileServer {
  /** As many mebioctets, none of which is held. */
  record Zeros(int mebi) implements DataSource {
    public InputStream getInputStream() {
      return new InputStream() {
        private long left = mebi * 1048576L;

        @Override
        public int read() {
          return left-- > 0 ? 0 : -1;
        }

        @Override
        public int read(byte[] into, int at, int length) {
          if (left <= 0) return -1;
          int count = (int) Math.min(left, length);
          java.util.Arrays.fill(into, at, at + count, (byte) 0);
          left -= count;
          return count;
        }
      };
    }

    public OutputStream getOutputStream() {
      throw new UnsupportedOperationException();
    }

    public String getContentType() {
      return "application/octet-stream";
    }

    public String getName() {
      return "zeros";
    }
  }

  @MTOM
  @WebService(name = "Files", serviceName = "FileService", portName = "FilePort", targetNamespace = "urn:files")
  public static class Files {
    @WebMethod
    public @XmlMimeType("application/octet-stream") DataHandler fetch(@WebParam(name = "mebi") int mebi) {
      return new DataHandler(new Zeros(mebi));
    }

    @WebMethod
    public long keep(
        @WebParam(name = "title") String title,
        @WebParam(name = "octets") @XmlMimeType("application/octet-stream") DataHandler octets) throws Exception {
      try (InputStream from = octets.getInputStream()) {
        return from.transferTo(OutputStream.nullOutputStream());
      }
    }

    /** How many octets each has, whatever their order on the way. */
    @WebMethod
    public String keepBoth(
        @WebParam(name = "first") @XmlMimeType("application/octet-stream") DataHandler first,
        @WebParam(name = "second") @XmlMimeType("application/octet-stream") DataHandler second) throws Exception {
      return keep("", first) + " " + keep("", second);
    }
  }

  @MTOM
  @BindingType(SOAPBinding.SOAP12HTTP_BINDING)
  @WebService(name = "Files", serviceName = "FileService", portName = "FilePort", targetNamespace = "urn:files")
  public static class Files12 extends Files {}

  public static void main(String[] words) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    String address = "http://127.0.0.1:" + port + "/files";
    Endpoint.publish(address, words.length > 0 ? new Files12() : new Files());
    System.out.println(address);
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
