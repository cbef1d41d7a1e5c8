import com.sun.xml.wss.AliasSelector;
import jakarta.xml.ws.BindingProvider;
import java.util.Map;

/** A call is signed by the key of the person in whose name it is made. */
public final class Alias implements AliasSelector {
  @Override
  public String select(Map context) {
    return (String) context.get(BindingProvider.USERNAME_PROPERTY);
  }
}
