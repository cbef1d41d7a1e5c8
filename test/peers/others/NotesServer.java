import java.util.List;
import javax.jws.WebMethod;
import javax.jws.WebParam;
import javax.jws.WebResult;
import javax.jws.WebService;
import javax.jws.soap.SOAPBinding;
import javax.xml.bind.annotation.XmlElement;
import javax.xml.bind.annotation.XmlRootElement;
import javax.xml.ws.BindingType;
import javax.xml.ws.Endpoint;
import javax.xml.ws.WebFault;

/**
 * The notes by JAX-WS, from code to WSDL, in both versions of SOAP: {@code NotesServer PORT}. The runtime on the class path serves:
 * JAX-WS RI, or, with jakarta in place of javax, CXF.
 */
public final class NotesServer {
  static final String NAMESPACE = "urn:example:notes";

  public static class Note {
    @XmlElement(required = true, namespace = NAMESPACE) public String id;
    @XmlElement(required = true, namespace = NAMESPACE) public String title;

    public Note() {}

    Note(String id, String title) {
      this.id = id;
      this.title = title;
    }
  }

  @XmlRootElement(name = "GetNote", namespace = NAMESPACE)
  public static class Wanted {
    @XmlElement(required = true, namespace = NAMESPACE) public String id;
  }

  @XmlRootElement(name = "GetNoteResponse", namespace = NAMESPACE)
  public static class Found {
    @XmlElement(required = true, namespace = NAMESPACE) public Note note;
  }

  @XmlRootElement(name = "ListNotes", namespace = NAMESPACE)
  public static class All {}

  @XmlRootElement(name = "ListNotesResponse", namespace = NAMESPACE)
  public static class Listed {
    @XmlElement(namespace = NAMESPACE) public List<Note> note;
  }

  @XmlRootElement(name = "NoteNotFound", namespace = NAMESPACE)
  public static class Absent {
    @XmlElement(required = true, namespace = NAMESPACE) public String id;
  }

  @WebFault(name = "NoteNotFound", targetNamespace = NAMESPACE)
  public static class NoteNotFound extends Exception {
    private final Absent info;

    public NoteNotFound(String message, Absent info) {
      super(message);
      this.info = info;
    }

    public Absent getFaultInfo() {
      return info;
    }
  }

  @SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
  public static class Notes {
    private static final List<Note> NOTES = List.of(new Note("1", "First"), new Note("2", "Second"));

    @WebMethod(operationName = "GetNote", action = "urn:example:notes/GetNote")
    @WebResult(name = "GetNoteResponse", targetNamespace = NAMESPACE)
    public Found getNote(@WebParam(name = "GetNote", targetNamespace = NAMESPACE) Wanted wanted) throws NoteNotFound {
      Found found = new Found();
      for (Note note : NOTES) if (note.id.equals(wanted.id)) found.note = note;
      if (found.note != null) return found;
      Absent absent = new Absent();
      absent.id = wanted.id;
      throw new NoteNotFound("no such note", absent);
    }

    @WebMethod(operationName = "ListNotes", action = "urn:example:notes/ListNotes")
    @WebResult(name = "ListNotesResponse", targetNamespace = NAMESPACE)
    public Listed listNotes(@WebParam(name = "ListNotes", targetNamespace = NAMESPACE) All all) {
      Listed listed = new Listed();
      listed.note = NOTES;
      return listed;
    }
  }

  @WebService(serviceName = "NotesService", portName = "NotesPort", targetNamespace = NAMESPACE)
  @SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
  public static class Notes11 extends Notes {}

  @WebService(serviceName = "NotesService", portName = "NotesPort", targetNamespace = NAMESPACE)
  @BindingType(javax.xml.ws.soap.SOAPBinding.SOAP12HTTP_BINDING)
  @SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
  public static class Notes12 extends Notes {}

  public static void main(String[] words) {
    String address = "http://127.0.0.1:" + words[0] + "/notes";
    Endpoint.publish(address + "11", new Notes11());
    Endpoint.publish(address + "12", new Notes12());
  }
}
