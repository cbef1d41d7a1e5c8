import jakarta.jws.WebService;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Holder;
import java.net.ServerSocket;
import stubs.Album;
import stubs.Kept;

/** CXF serves parts/album.wsdl by its generated interface: `AlbumServer WSDL`. It says its address, and goes on until its input ends. */
public final class AlbumServer {
  @WebService(endpointInterface = "stubs.Album", serviceName = "AlbumService", portName = "AlbumPort", targetNamespace = "http://album.example/wsdl")
  public static class Shelf implements Album {
    public void keep(String title, byte[] picture, String notes, Holder<Kept> kept, Holder<byte[]> copy) {
      kept.value = new Kept();
      kept.value.setNumber(title.length() + notes.length() + picture.length);
      copy.value = picture;
    }
  }

  public static void main(String[] words) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    String address = "http://127.0.0.1:" + port + "/album";
    Endpoint endpoint = Endpoint.create(new Shelf());
    endpoint.setProperties(java.util.Map.of("jakarta.xml.ws.wsdl.description", words[0]));
    endpoint.publish(address);
    System.out.println(address);
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
