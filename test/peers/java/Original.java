import java.io.*;
import java.lang.annotation.Annotation;
import java.lang.reflect.*;
import java.math.*;
import java.net.URL;
import java.util.*;
import javax.activation.DataHandler;
import javax.activation.DataSource;
import javax.xml.bind.JAXBElement;
import javax.xml.datatype.*;
import javax.xml.namespace.QName;
import javax.xml.ws.*;

/**
 * Calls every operation of every port of the classes that were generated from a WSDL, with beans that reflection fills, and
 * prints what was sent and what came, leaf by leaf: a line of tabs for each call.
 * Original CLASS-OF-SERVICE PORT=ADDRESS...
 */
public class Original {
  static int count = 0;

  public static void main(String[] words) throws Exception {
    Class<?> kind = Class.forName(words[0]);
    Object service = kind.getConstructor().newInstance();
    Map<String, String> addresses = new HashMap<>();
    for (int i = 1; i < words.length; i++) addresses.put(words[i].split("=", 2)[0], words[i].split("=", 2)[1]);
    for (Method get : kind.getMethods()) {
      WebEndpoint endpoint = get.getAnnotation(WebEndpoint.class);
      if (endpoint == null || get.getParameterCount() > 0 || !addresses.containsKey(endpoint.name())) continue;
      Object port = get.invoke(service);
      Class<?> type = get.getReturnType();
      ((BindingProvider) port).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, addresses.get(endpoint.name()));
      Method[] methods = type.getMethods();
      Arrays.sort(methods, Comparator.comparing(Method::getName));
      for (Method each : methods) call(endpoint.name(), port, each);
    }
  }

  static String operation(Method method) {
    for (Annotation each : method.getAnnotations())
      if (each.annotationType().getSimpleName().equals("WebMethod"))
        try {
          String name = (String) each.annotationType().getMethod("operationName").invoke(each);
          if (!name.isEmpty()) return name;
        } catch (ReflectiveOperationException wrong) {
          throw new RuntimeException(wrong);
        }
    return method.getName();
  }

  /** Of a parameter, by its annotation WebParam: whether nothing of it is sent. */
  static boolean isOut(Annotation[] marks) throws ReflectiveOperationException {
    for (Annotation each : marks)
      if (each.annotationType().getSimpleName().equals("WebParam"))
        return each.annotationType().getMethod("mode").invoke(each).toString().equals("OUT");
    return false;
  }

  static void call(String port, Object proxy, Method method) {
    List<String> sent = new ArrayList<>(), came = new ArrayList<>();
    String end = "ok";
    try {
      Type[] types = method.getGenericParameterTypes();
      Object[] given = new Object[types.length];
      for (int i = 0; i < types.length; i++) {
        boolean out = isOut(method.getParameterAnnotations()[i]);
        if (rawOf(types[i]) == Holder.class) {
          Holder<Object> holder = new Holder<>();
          if (!out) holder.value = fill(argument(types[i]), 0);
          given[i] = holder;
          if (!out) leaves(holder.value, sent);
        } else {
          given[i] = fill(types[i], 0);
          leaves(given[i], sent);
        }
      }
      Object answer = method.invoke(proxy, given);
      leaves(answer, came);
      for (int i = 0; i < given.length; i++)
        if (given[i] instanceof Holder) leaves(((Holder<?>) given[i]).value, came);
    } catch (InvocationTargetException thrown) {
      Throwable why = thrown.getCause();
      while (why.getCause() != null) why = why.getCause();
      end = thrown.getCause().getClass().getSimpleName() + ": " + why.getMessage();
    } catch (Throwable wrong) {
      end = "driver: " + wrong;
    }
    System.out.println(String.join("\t", port, operation(method), clean(end), list(sent), list(came)));
  }
  static String clean(String text) { return text.replaceAll("[\\t\\r\\n]+", " "); }
  static String list(List<String> texts) {
    StringBuilder made = new StringBuilder();
    for (String each : texts) made.append(made.length() == 0 ? "" : "\u0001").append(clean(each));
    return made.toString();
  }

  // Values

  static Class<?> rawOf(Type type) {
    return type instanceof Class ? (Class<?>) type : type instanceof ParameterizedType ? (Class<?>) ((ParameterizedType) type).getRawType() : Object.class;
  }
  static Type argument(Type type) {
    Type of = type instanceof ParameterizedType ? ((ParameterizedType) type).getActualTypeArguments()[0] : Object.class;
    return of instanceof WildcardType ? ((WildcardType) of).getUpperBounds()[0] : of;
  }

  static Object fill(Type type, int depth) throws Exception {
    Class<?> raw = rawOf(type);
    count++;
    if (raw == String.class) return "text-" + count;
    if (raw == boolean.class || raw == Boolean.class) return true;
    if (raw == int.class || raw == Integer.class) return count;
    if (raw == long.class || raw == Long.class) return 9007199254740993L + count;
    if (raw == short.class || raw == Short.class) return (short) count;
    if (raw == byte.class || raw == Byte.class) return (byte) (count % 100);
    if (raw == double.class || raw == Double.class) return count + 0.5;
    if (raw == float.class || raw == Float.class) return count + 0.5f;
    if (raw == BigInteger.class) return BigInteger.valueOf(count);
    if (raw == BigDecimal.class) return new BigDecimal(count + ".25");
    if (raw == byte[].class) return ("octets " + count).getBytes();
    if (raw == DataHandler.class) return new DataHandler(new Octets(("attached " + count).getBytes()));
    if (raw == QName.class) return new QName("urn:q", "q" + count);
    if (raw == XMLGregorianCalendar.class) return DatatypeFactory.newInstance().newXMLGregorianCalendar("2026-11-24T10:20:30Z");
    if (raw == Duration.class) return DatatypeFactory.newInstance().newDuration("P1D");
    if (raw.isEnum()) return raw.getEnumConstants()[0];
    if (raw == JAXBElement.class || raw == Object.class || Modifier.isAbstract(raw.getModifiers()) && !List.class.isAssignableFrom(raw)) return null;
    if (List.class.isAssignableFrom(raw)) {
      List<Object> made = new ArrayList<>();
      Object item = depth > 4 ? null : fill(argument(type), depth + 1);
      if (item != null) made.add(item);
      return made;
    }
    if (depth > 6) return null;
    Object bean = raw.getConstructor().newInstance();
    for (Class<?> at = raw; at != Object.class; at = at.getSuperclass())
      for (Field field : at.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers())) continue;
        field.setAccessible(true);
        if (field.getType() == String.class && isGiven(bean, field)) continue;
        Object value = fill(field.getGenericType(), depth + 1);
        if (value != null) field.set(bean, value);
      }
    return bean;
  }
  /** A value that the schema fixes has a getter that gives it. */
  static boolean isGiven(Object bean, Field field) {
    String name = field.getName();
    try {
      return bean.getClass().getMethod("get" + name.substring(0, 1).toUpperCase() + name.substring(1)).invoke(bean) != null;
    } catch (ReflectiveOperationException none) {
      return false;
    }
  }

  static void leaves(Object value, List<String> found) throws Exception {
    if (value == null) return;
    Class<?> raw = value.getClass();
    if (value instanceof JAXBElement) leaves(((JAXBElement<?>) value).getValue(), found);
    else if (value instanceof List) for (Object each : (List<?>) value) leaves(each, found);
    else if (value instanceof byte[]) found.add(Base64.getEncoder().encodeToString((byte[]) value));
    else if (value instanceof DataHandler) {
      ByteArrayOutputStream octets = new ByteArrayOutputStream();
      ((DataHandler) value).writeTo(octets);
      leaves(octets.toByteArray(), found);
    }
    else if (value instanceof XMLGregorianCalendar) found.add(((XMLGregorianCalendar) value).toXMLFormat());
    else if (value instanceof QName) found.add(value.toString());
    else if (value instanceof Enum) found.add(String.valueOf(text((Enum<?>) value)));
    else if (value instanceof org.w3c.dom.Node) found.add("xml");
    else if (raw.getName().startsWith("java")) found.add(value.toString());
    else
      for (Class<?> at = raw; at != Object.class && at != null; at = at.getSuperclass())
        for (Field field : at.getDeclaredFields()) {
          if (Modifier.isStatic(field.getModifiers())) continue;
          field.setAccessible(true);
          leaves(field.get(value), found);
        }
  }
  /** The content of an attachment. */
  static class Octets implements DataSource {
    final byte[] octets;
    Octets(byte[] octets) { this.octets = octets; }
    public String getContentType() { return "application/octet-stream"; }
    public String getName() { return "octets"; }
    public InputStream getInputStream() { return new ByteArrayInputStream(octets); }
    public OutputStream getOutputStream() { throw new UnsupportedOperationException(); }
  }
  static Object text(Enum<?> value) throws Exception {
    try {
      return value.getClass().getMethod("value").invoke(value);
    } catch (NoSuchMethodException plain) {
      return value.name();
    }
  }
}
