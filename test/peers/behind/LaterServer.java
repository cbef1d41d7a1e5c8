package example.later;

import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.Addressing;
import jakarta.xml.ws.soap.AddressingFeature;
import java.math.BigDecimal;
import java.util.concurrent.atomic.AtomicInteger;

/** A service of CXF whose policy has every answer go to an address of its own, after a while: {@code LaterServer PORT}. */
@WebService(serviceName = "LaterService", portName = "LaterPort", targetNamespace = "urn:example:later")
@Addressing(required = true, responses = AddressingFeature.Responses.NON_ANONYMOUS)
public class LaterServer {
  @XmlAccessorType(XmlAccessType.FIELD)
  public static class Price {
    @XmlElement(required = true) public String item;
    @XmlElement(required = true) public BigDecimal amount;
    public long stock;
    public byte[] picture;
    public int calls;
  }

  public static class NoSuchItem extends Exception {
    private final String item;

    public NoSuchItem(String item) {
      super("no " + item);
      this.item = item;
    }

    public String getItem() {
      return item;
    }
  }

  private final AtomicInteger calls = new AtomicInteger();

  @WebResult(name = "price")
  public Price getPrice(@WebParam(name = "item") String item, @WebParam(name = "waitMs") long waitMs) throws NoSuchItem, InterruptedException {
    int call = calls.incrementAndGet();
    Thread.sleep(waitMs);
    if (item.equals("coffee")) throw new NoSuchItem(item);
    if (item.equals("salt")) throw new IllegalStateException("the shelves are closed");
    Price price = new Price();
    price.item = item;
    price.amount = new BigDecimal("1.50");
    price.stock = 9007199254740993L;
    price.picture = new byte[] {0, 1, 2, (byte) 255};
    price.calls = call;
    return price;
  }

  public static void main(String[] words) {
    Endpoint.publish("http://127.0.0.1:" + words[0] + "/later", new LaterServer());
  }
}
