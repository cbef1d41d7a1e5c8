import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.sun.codemodel.JCodeModel;
import com.sun.tools.xjc.api.ErrorListener;
import com.sun.tools.xjc.api.SchemaCompiler;
import com.sun.tools.xjc.api.XJC;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.Unmarshaller;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import javax.xml.XMLConstants;
import javax.xml.namespace.QName;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.InputSource;
import org.xml.sax.SAXParseException;

/**
 * Clients of many releases in one process: XJC makes classes of each schema, javac compiles them all at once, and CXF calls with them and
 * checks what it writes and reads by the schema of the WSDL. Standard input is a line with the releases and one with the calls, see diff-soap.peer.ts.
 */
public final class OldClients {
  private final Map<String, Client> clients = new HashMap<>();

  private record Client(JAXBContext context, Schema schema, Dispatch<Object> dispatch) {}

  public static void main(String[] words) throws Exception {
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    OldClients all = new OldClients();
    all.generate(Path.of(words[0]), new Gson().fromJson(in.readLine(), JsonArray.class));
    JsonArray said = new JsonArray();
    for (JsonElement each : new Gson().fromJson(in.readLine(), JsonArray.class)) said.add(all.call(each.getAsJsonObject()));
    out.println(said);
    System.exit(0);
  }

  private void generate(Path place, JsonArray releases) throws Exception {
    Path sources = Files.createDirectories(place.resolve("sources"));
    for (JsonElement each : releases) {
      SchemaCompiler compiler = XJC.createSchemaCompiler();
      compiler.setErrorListener(new Loud());
      compiler.forcePackageName(text(each, "name"));
      InputSource source = new InputSource(new StringReader(text(each, "xsd")));
      source.setSystemId("file:/" + text(each, "name") + ".xsd");
      compiler.parseSchema(source);
      JCodeModel code = compiler.bind().generateCode(null, new Loud());
      code.build(sources.toFile(), new PrintStream(OutputStream.nullOutputStream()));
    }
    Path classes = compile(sources, Files.createDirectories(place.resolve("classes")));
    URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, OldClients.class.getClassLoader());
    SchemaFactory schemas = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
    for (JsonElement each : releases) {
      String name = text(each, "name");
      JAXBContext context = JAXBContext.newInstance(name, loader);
      Schema schema = schemas.newSchema(new javax.xml.transform.stream.StreamSource(new StringReader(text(each, "xsd"))));
      Service service = Service.create(new File(text(each, "wsdl")).toURI().toURL(), new QName("urn:x", "S"));
      Dispatch<Object> dispatch = service.createDispatch(new QName("urn:x", "A"), context, Service.Mode.PAYLOAD);
      dispatch.getRequestContext().put("schema-validation-enabled", "true");
      clients.put(name, new Client(context, schema, dispatch));
    }
  }

  private static Path compile(Path sources, Path classes) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null); Stream<Path> walk = Files.walk(sources)) {
      List<File> all = walk.filter(each -> each.toString().endsWith(".java")).map(Path::toFile).collect(Collectors.toList());
      List<String> options = List.of("-nowarn", "-proc:none", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
      if (!compiler.getTask(null, files, null, options, null, files.getJavaFileObjectsFromFiles(all)).call())
        throw new IllegalStateException("the classes of XJC do not compile");
    }
    return classes;
  }

  /** The request becomes an object of the generated classes, and the answer does; told is the XML that this one stands for. */
  private JsonObject call(JsonObject asked) {
    JsonObject said = new JsonObject();
    try {
      Client client = clients.get(text(asked, "release"));
      Map<String, Object> context = client.dispatch.getRequestContext();
      context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, text(asked, "address"));
      context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
      context.put(BindingProvider.SOAPACTION_URI_PROPERTY, text(asked, "action"));
      Unmarshaller reader = client.context.createUnmarshaller();
      reader.setSchema(client.schema);
      Object request;
      try {
        request = reader.unmarshal(new StringReader(text(asked, "xml")));
      } catch (Exception thrown) {
        return end(said, "unwritable", thrown);
      }
      StringWriter answer = new StringWriter();
      client.context.createMarshaller().marshal(client.dispatch.invoke(request), answer);
      said.addProperty("end", "ok");
      said.addProperty("xml", answer.toString());
      return said;
    } catch (SOAPFaultException thrown) {
      return end(said, "fault", thrown);
    } catch (Exception thrown) {
      return end(said, "client", thrown);
    }
  }

  private static JsonObject end(JsonObject said, String how, Throwable thrown) {
    StringBuilder why = new StringBuilder();
    for (Throwable each = thrown; each != null && why.length() < 2000; each = each.getCause()) why.append(each).append("; ");
    said.addProperty("end", how);
    said.addProperty("why", why.toString());
    return said;
  }

  private static String text(JsonElement from, String name) {
    return from.getAsJsonObject().get(name).getAsString();
  }

  private static final class Loud implements ErrorListener {
    public void error(SAXParseException found) {
      System.err.println(found);
    }

    public void fatalError(SAXParseException found) {
      System.err.println(found);
    }

    public void warning(SAXParseException found) {}

    public void info(SAXParseException found) {}
  }
}
