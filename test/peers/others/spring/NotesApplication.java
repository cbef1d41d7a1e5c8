package example.notes;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlRootElement;
import jakarta.xml.bind.annotation.XmlType;
import java.util.List;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.FileSystemResource;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.ws.config.annotation.EnableWs;
import org.springframework.ws.server.endpoint.annotation.Endpoint;
import org.springframework.ws.server.endpoint.annotation.PayloadRoot;
import org.springframework.ws.server.endpoint.annotation.RequestPayload;
import org.springframework.ws.server.endpoint.annotation.ResponsePayload;
import org.springframework.ws.soap.SoapVersion;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;
import org.springframework.ws.soap.server.endpoint.annotation.FaultCode;
import org.springframework.ws.soap.server.endpoint.annotation.SoapFault;
import org.springframework.ws.transport.http.MessageDispatcherServlet;
import org.springframework.ws.wsdl.wsdl11.SimpleWsdl11Definition;

/**
 * Spring Data REST and Spring-WS in one Spring Boot application: {@code NotesApplication VERSION WSDL}. The notes are rows of H2 at
 * /notes; SOAP of that version is at /soap, with the WSDL at /soap/notes.wsdl.
 */
@SpringBootApplication
@EnableWs
@EnableJpaRepositories(considerNestedRepositories = true)
public class NotesApplication {
  static final String NAMESPACE = "urn:example:notes";
  static String version;
  static String wsdl;

  public static void main(String[] words) {
    version = words[0];
    wsdl = words[1];
    SpringApplication.run(NotesApplication.class, words);
  }

  @Bean
  CommandLineRunner seed(Notes notes) {
    return words -> List.of("First", "Second").forEach(title -> notes.save(new Note(title)));
  }

  @Bean
  ServletRegistrationBean<MessageDispatcherServlet> soap(ApplicationContext context) {
    MessageDispatcherServlet servlet = new MessageDispatcherServlet();
    servlet.setApplicationContext(context);
    return new ServletRegistrationBean<>(servlet, "/soap/*");
  }

  @Bean
  SaajSoapMessageFactory messageFactory() {
    SaajSoapMessageFactory factory = new SaajSoapMessageFactory();
    factory.setSoapVersion(version.equals("1.2") ? SoapVersion.SOAP_12 : SoapVersion.SOAP_11);
    return factory;
  }

  @Bean(name = "notes")
  SimpleWsdl11Definition description() {
    return new SimpleWsdl11Definition(new FileSystemResource(wsdl));
  }

  @Entity(name = "note")
  public static class Note {
    @Id @GeneratedValue private Long id;
    private String title;
    private boolean done;

    public Note() {}

    Note(String title) {
      this.title = title;
    }

    public String getTitle() {
      return title;
    }

    public void setTitle(String title) {
      this.title = title;
    }

    public boolean isDone() {
      return done;
    }

    public void setDone(boolean done) {
      this.done = done;
    }
  }

  public interface Notes extends CrudRepository<Note, Long> {}

  @XmlType(namespace = NAMESPACE, propOrder = {"id", "title"})
  public static class Page {
    @XmlElement(namespace = NAMESPACE) public String id;
    @XmlElement(namespace = NAMESPACE) public String title;

    public Page() {}

    Page(String id, String title) {
      this.id = id;
      this.title = title;
    }
  }

  @XmlRootElement(name = "GetNote", namespace = NAMESPACE)
  public static class GetNote {
    @XmlElement(namespace = NAMESPACE) public String id;
  }

  @XmlRootElement(name = "GetNoteResponse", namespace = NAMESPACE)
  public static class GetNoteResponse {
    @XmlElement(namespace = NAMESPACE) public Page note;
  }

  @XmlRootElement(name = "ListNotes", namespace = NAMESPACE)
  public static class ListNotes {}

  @XmlRootElement(name = "ListNotesResponse", namespace = NAMESPACE)
  public static class ListNotesResponse {
    @XmlElement(namespace = NAMESPACE) public List<Page> note;
  }

  @SoapFault(faultCode = FaultCode.CLIENT, faultStringOrReason = "no such note")
  public static class NoteNotFound extends RuntimeException {}

  @Endpoint
  public static class Answers {
    private static final List<Page> PAGES = List.of(new Page("1", "First"), new Page("2", "Second"));

    @PayloadRoot(namespace = NAMESPACE, localPart = "GetNote")
    @ResponsePayload
    public GetNoteResponse getNote(@RequestPayload GetNote wanted) {
      GetNoteResponse found = new GetNoteResponse();
      found.note = PAGES.stream().filter(page -> page.id.equals(wanted.id)).findFirst().orElseThrow(NoteNotFound::new);
      return found;
    }

    @PayloadRoot(namespace = NAMESPACE, localPart = "ListNotes")
    @ResponsePayload
    public ListNotesResponse listNotes(@RequestPayload ListNotes all) {
      ListNotesResponse listed = new ListNotesResponse();
      listed.note = PAGES;
      return listed;
    }
  }
}
