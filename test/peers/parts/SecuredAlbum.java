import jakarta.jws.WebService;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Holder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import javax.xml.namespace.QName;
import org.apache.cxf.jaxws.EndpointImpl;
import stubs.Album;
import stubs.AlbumService;
import stubs.Kept;

/**
 * CXF and the album by the policies of WSDLs, with the keys of a store. `SecuredAlbum serve STORE WSDL...` says an address for each and
 * goes on until its input ends; `SecuredAlbum call STORE` asks by each line `WSDL ADDRESS NOTES PICTURE` (base64) and says what came.
 */
public final class SecuredAlbum {
  @WebService(endpointInterface = "stubs.Album", serviceName = "AlbumService", portName = "AlbumPort", targetNamespace = "http://album.example/wsdl")
  public static class Shelf implements Album {
    public void keep(String title, byte[] picture, String notes, Holder<Kept> kept, Holder<byte[]> copy) {
      kept.value = new Kept();
      kept.value.setNumber(title.length() + notes.length() + picture.length);
      copy.value = picture;
    }
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("serve")) serve(words);
    else call(words[1]);
    System.exit(0);
  }

  private static void serve(String[] words) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    StringBuilder addresses = new StringBuilder();
    for (int at = 2; at < words.length; at++) {
      String address = "http://127.0.0.1:" + port + "/album" + at;
      EndpointImpl endpoint = (EndpointImpl) Endpoint.create(new Shelf());
      endpoint.setWsdlLocation(words[at]);
      Map<String, Object> context = new HashMap<>();
      Keys.configure(context, words[1], "service", "useReqSigCert");
      context.put("ws-security.return.security.error", "true");
      endpoint.setProperties(context);
      endpoint.publish(address);
      addresses.append(address).append(' ');
    }
    System.out.println(addresses.toString().trim());
    while (System.in.read() >= 0) {}
  }

  private static void call(String store) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] said = line.split(" ");
      try {
        AlbumService service = new AlbumService(new URL(said[0]));
        Album album = service.getPort(Album.class);
        Map<String, Object> context = ((BindingProvider) album).getRequestContext();
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, said[1]);
        Keys.configure(context, store, "maria", "service");
        String notes = new String(Base64.getDecoder().decode(said[2]), StandardCharsets.UTF_8);
        Holder<Kept> kept = new Holder<>();
        Holder<byte[]> copy = new Holder<>();
        album.keep("sea", Base64.getDecoder().decode(said[3]), notes, kept, copy);
        System.out.println("answer " + kept.value.getNumber() + " " + Base64.getEncoder().encodeToString(copy.value));
      } catch (Throwable failure) {
        StringBuilder causes = new StringBuilder();
        for (Throwable each = failure; each != null; each = each.getCause()) causes.append(each).append(" | ");
        System.out.println("failure " + causes.toString().replaceAll("\\s+", " "));
      }
    }
  }
}
