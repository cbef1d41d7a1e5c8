import java.util.concurrent.Executors;
import javax.jws.WebService;
import javax.xml.ws.Endpoint;
import stubs.CreateOrder;
import stubs.CreateOrderResponse;
import stubs.Lines;
import stubs.Order;
import stubs.OrderDraft;
import stubs.ShopPortType;

/** JAX-WS RI's own server, from the classes that wsimport makes. See shop.ts for the message. */
@WebService(endpointInterface = "stubs.ShopPortType", serviceName = "ShopService", portName = "ShopSoap11", targetNamespace = "urn:diglot:shop:v1")
public final class Shop implements ShopPortType {
  public static void main(String[] words) {
    Endpoint endpoint = Endpoint.create(new Shop());
    endpoint.setExecutor(Executors.newFixedThreadPool(16));
    endpoint.publish("http://127.0.0.1:" + words[0] + "/soap/v1");
  }

  @Override
  public CreateOrderResponse createOrder(CreateOrder asked) {
    OrderDraft draft = asked.getOrder();
    Order order = new Order();
    order.setId("o-1");
    order.setCustomer(draft.getCustomer());
    order.setCurrency(draft.getCurrency());
    order.setDelivery(draft.getDelivery());
    order.setExpress(draft.isExpress());
    order.setLines(new Lines());
    order.getLines().getLine().addAll(draft.getLines().getLine());
    order.setNote(draft.getNote());
    order.setVersion("1");
    CreateOrderResponse answer = new CreateOrderResponse();
    answer.setOrder(order);
    return answer;
  }
}
