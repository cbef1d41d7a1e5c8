import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.math.BigDecimal;
import java.net.URL;
import java.text.SimpleDateFormat;
import java.util.Base64;
import java.util.Calendar;
import java.util.Date;
import javax.xml.rpc.holders.Holder;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Stub;

/**
 * Calls by Axis 1.4 through the classes that WSDL2Java makes, in package `stubs`: values by name are set on its beans and read from
 * them. See soap-driver.ts for the lines it reads and prints.
 */
public final class Axis {
  private static final Gson gson = new Gson();

  public static void main(String[] words) throws Exception {
    URL endpoint = new URL(words[0].substring(0, words[0].indexOf('?')));
    Object locator = Class.forName("stubs.OrdersServiceLocator").getDeclaredConstructor().newInstance();
    Object stub = locator.getClass().getMethod("getOrdersSoap11", URL.class).invoke(locator, endpoint);
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject asked = gson.fromJson(line, JsonObject.class);
      JsonObject said = new JsonObject();
      ((Stub) stub).setUsername(asked.get("as").getAsString());
      ((Stub) stub).setPassword(asked.get("password").getAsString());
      try {
        said.add("output", call(stub, asked.get("operation").getAsString(), asked.getAsJsonObject("input")));
      } catch (InvocationTargetException thrown) {
        if (thrown.getCause() instanceof AxisFault) said.add("fault", fault((AxisFault) thrown.getCause()));
        else said.addProperty("error", String.valueOf(thrown.getCause()));
      } catch (Exception failure) {
        said.addProperty("error", failure.toString());
      }
      out.println(gson.toJson(said));
    }
  }

  /** Document style has one parameter, the bean of the whole element; RPC one for each part, and holders for several results. */
  private static JsonElement call(Object stub, String operation, JsonObject input) throws Exception {
    Method method = method(operation);
    Parameter[] parameters = method.getParameters();
    Object[] values = new Object[parameters.length];
    for (int i = 0; i < parameters.length; i++) {
      Class<?> type = parameters[i].getType();
      if (Holder.class.isAssignableFrom(type)) values[i] = type.getDeclaredConstructor().newInstance();
      else values[i] = value(type, parameters[i].getName().equals("parameters") ? input : input.get(parameters[i].getName()));
    }
    Object result = method.invoke(stub, values);
    if (method.getReturnType() != void.class) return plain(result);
    JsonObject results = new JsonObject();
    for (int i = 0; i < values.length; i++)
      if (values[i] instanceof Holder) results.add(parameters[i].getName(), plain(values[i].getClass().getField("value").get(values[i])));
    return results;
  }

  private static Method method(String operation) throws Exception {
    for (Method method : Class.forName("stubs.OrdersPortType").getMethods())
      if (method.getName().equalsIgnoreCase(operation)) return method;
    throw new NoSuchMethodException(operation);
  }

  private static Object value(Class<?> type, JsonElement given) throws Exception {
    if (given == null || given.isJsonNull()) return type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : null;
    if (type == byte[].class) return Base64.getDecoder().decode(given.getAsString());
    if (type.isArray()) {
      JsonElement list = given.isJsonObject() ? given.getAsJsonObject().entrySet().iterator().next().getValue() : given;
      JsonArray items = list.getAsJsonArray();
      Object array = Array.newInstance(type.getComponentType(), items.size());
      for (int i = 0; i < items.size(); i++) Array.set(array, i, value(type.getComponentType(), items.get(i)));
      return array;
    }
    if (type == String.class) return given.getAsString();
    if (type == int.class || type == Integer.class) return given.getAsInt();
    if (type == BigDecimal.class) return new BigDecimal(given.getAsString());
    if (type == Date.class) return new SimpleDateFormat("yyyy-MM-dd").parse(given.getAsString());
    if (!given.isJsonObject()) return type.getMethod("fromString", String.class).invoke(null, given.getAsString());
    Object bean = type.getDeclaredConstructor().newInstance();
    for (PropertyDescriptor property : Introspector.getBeanInfo(type).getPropertyDescriptors()) {
      JsonElement member = given.getAsJsonObject().get(property.getName());
      if (member != null && property.getWriteMethod() != null) property.getWriteMethod().invoke(bean, value(property.getPropertyType(), member));
    }
    return bean;
  }

  private static JsonElement plain(Object value) throws Exception {
    if (value == null) return JsonNull.INSTANCE;
    if (value instanceof byte[]) return new JsonPrimitive(Base64.getEncoder().encodeToString((byte[]) value));
    if (value.getClass().isArray()) {
      JsonArray items = new JsonArray();
      for (int i = 0; i < Array.getLength(value); i++) items.add(plain(Array.get(value, i)));
      return items;
    }
    if (value instanceof Number || value instanceof String) return new JsonPrimitive(String.valueOf(value));
    if (value instanceof Calendar) return new JsonPrimitive(((Calendar) value).toInstant().toString());
    if (value instanceof Date) return new JsonPrimitive(new SimpleDateFormat("yyyy-MM-dd").format((Date) value));
    return bean(value, Object.class);
  }

  private static JsonElement bean(Object bean, Class<?> above) throws Exception {
    JsonObject members = new JsonObject();
    for (PropertyDescriptor property : Introspector.getBeanInfo(bean.getClass(), above).getPropertyDescriptors()) {
      if (property.getWriteMethod() == null || property.getReadMethod() == null) continue;
      Object member = property.getReadMethod().invoke(bean);
      if (member != null) members.add(property.getName(), plain(member));
    }
    // The class of an enumeration has its value alone, and no setter
    return members.size() == 0 && above == Object.class && !bean.getClass().getSimpleName().endsWith("Response")
        ? new JsonPrimitive(bean.toString()) : members;
  }

  private static JsonObject fault(AxisFault fault) throws Exception {
    JsonObject said = new JsonObject();
    said.addProperty("code", fault.getFaultCode().getLocalPart());
    said.addProperty("reason", fault.getFaultString());
    boolean declared = fault.getClass() != AxisFault.class;
    said.addProperty("detail", declared ? fault.getClass().getSimpleName() + " " + bean(fault, AxisFault.class) : java.util.Arrays.toString(fault.getFaultDetails()));
    return said;
  }
}
