import jakarta.activation.DataHandler;
import jakarta.jws.WebService;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Holder;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import stubs.*;

/** CXF serves the port of SOAP 1.1 of parts/cabinet.wsdl by its generated interface: `CabinetServer WSDL`. It says its address, and goes on until its input ends. */
public final class CabinetServer {
  @WebService(endpointInterface = "stubs.Cabinet", serviceName = "CabinetService", portName = "CabinetPort", targetNamespace = "http://cabinet.example/wsdl")
  public static class Drawers implements Cabinet {
    public void file(String title, DataHandler cover, Holder<List<Page>> page, byte[] inline, Holder<Integer> size, Holder<DataHandler> copy) {
      byte[] held = read(cover);
      copy.value = write(held);
      size.value = held.length + inline.length;
      for (Page each : page.value) {
        byte[] scan = read(each.getScan());
        size.value += scan.length * each.getNumber();
        each.setScan(write(scan));
      }
    }
  }
  /** The stream of an attachment that has arrived is read once. */
  static byte[] read(DataHandler octets) {
    try {
      return octets.getInputStream().readAllBytes();
    } catch (IOException wrong) {
      throw new RuntimeException(wrong);
    }
  }
  static DataHandler write(byte[] octets) { return new DataHandler(new Original.Octets(octets)); }

  public static void main(String[] words) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    String address = "http://127.0.0.1:" + port + "/cabinet";
    Endpoint endpoint = Endpoint.create(new Drawers());
    endpoint.setProperties(java.util.Map.of("jakarta.xml.ws.wsdl.description", words[0]));
    endpoint.publish(address);
    System.out.println(address);
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
