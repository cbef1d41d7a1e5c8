import jakarta.jws.WebService;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.WebServiceClient;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import javax.xml.transform.stream.StreamSource;
import org.apache.cxf.tools.common.ToolContext;
import org.apache.cxf.tools.wsdlto.WSDLToJava;

/**
 * For each folder: wsdl2java makes a client of `service.wsdl`, which is compiled, and creates a thing
 * with the values of each line of `messages.txt`, as its classes read and write them. Prints a line
 * for each: the folder, the number of the message, and the identifier of the thing or the error.
 */
public final class GeneratedCalls {
  private static final PrintStream answers = System.out;

  public static void main(String[] folders) throws Exception {
    // The tools say much, and no answers.
    System.setOut(new PrintStream(new ByteArrayOutputStream()));
    for (String folder : folders) {
      try {
        call(Path.of(folder));
      } catch (Throwable thrown) {
        answers.println(folder + "\t-1\t! " + rootOf(thrown));
      }
    }
  }

  private static void call(Path folder) throws Exception {
    URL wsdl = folder.resolve("service.wsdl").toUri().toURL();
    Path made = Files.createDirectory(folder.resolve("made"));
    // -validate: by the schema of WSDL, by Xerces and by CXF's own WSDLValidator
    String[] words = {"-validate=all", "-bareMethods", "-p", "made", "-d", made.toString(), wsdl.toString()};
    new WSDLToJava(words).run(new ToolContext());
    ClassLoader loader = compile(made);
    Thread.currentThread().setContextClassLoader(loader);
    Class<?> service = null;
    Class<?> type = null;
    for (String name : namesIn(made.resolve("made"))) {
      Class<?> found = loader.loadClass("made." + name);
      if (found.isAnnotationPresent(WebServiceClient.class)) service = found;
      if (found.isAnnotationPresent(WebService.class) && found.isInterface()) type = found;
    }
    Object port = ((Service) service.getConstructor(URL.class).newInstance(wsdl)).getPort(type);
    Method create = Stream.of(type.getMethods()).filter(each -> each.getName().equals("createThing")).findFirst().get();
    JAXBContext context = JAXBContext.newInstance("made", loader);
    int number = 0;
    for (String message : Files.readString(folder.resolve("messages.txt")).split("\n")) {
      answers.println(folder + "\t" + number++ + "\t" + answerTo(port, create, context, message));
    }
  }

  private static String answerTo(Object port, Method create, JAXBContext context, String message) throws Exception {
    StreamSource source = new StreamSource(new StringReader(message));
    Object request = context.createUnmarshaller().unmarshal(source, create.getParameterTypes()[0]).getValue();
    try {
      Object response = create.invoke(port, request);
      Object thing = response.getClass().getMethod("getThing").invoke(response);
      return (String) thing.getClass().getMethod("getId").invoke(thing);
    } catch (InvocationTargetException thrown) {
      return "! " + rootOf(thrown);
    }
  }

  private static ClassLoader compile(Path made) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
    List<Path> sources = new ArrayList<>();
    for (String name : namesIn(made.resolve("made"))) sources.add(made.resolve("made").resolve(name + ".java"));
    StringWriter said = new StringWriter();
    List<String> words = List.of("-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", made.toString());
    if (!compiler.getTask(said, null, null, words, null, files.getJavaFileObjectsFromPaths(sources)).call())
      throw new IllegalStateException(said.toString());
    return new URLClassLoader(new URL[] {made.toUri().toURL()}, GeneratedCalls.class.getClassLoader());
  }

  private static List<String> namesIn(Path folder) throws Exception {
    try (Stream<Path> found = Files.list(folder)) {
      return found
          .map(each -> each.getFileName().toString())
          .filter(name -> name.endsWith(".java"))
          .map(name -> name.substring(0, name.length() - 5))
          .toList();
    }
  }

  private static String rootOf(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null) cause = cause.getCause();
    return cause.toString().replaceAll("\\s+", " ");
  }
}
