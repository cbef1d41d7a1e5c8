package example.parts;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import javax.jws.Oneway;
import javax.jws.WebParam;
import javax.jws.WebService;
import javax.xml.bind.annotation.XmlAccessType;
import javax.xml.bind.annotation.XmlAccessorType;
import javax.xml.bind.annotation.XmlAttribute;
import javax.xml.bind.annotation.XmlElement;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.ws.Endpoint;

/**
 * A stock of parts by JAX-WS, from code to WSDL as its tools write it without a hint: {@code PartsServer PORT}. The runtime on the class path
 * serves: JAX-WS RI, or, with jakarta in place of javax, CXF.
 */
@WebService(serviceName = "PartsService", portName = "PartsPort", targetNamespace = "urn:example:parts")
public class PartsServer {
  public enum Shelf { NORTH, SOUTH }

  @XmlAccessorType(XmlAccessType.FIELD)
  public static class Part {
    @XmlAttribute public String kind;
    public int partId;
    @XmlElement(required = true) public String name;
    public BigDecimal weight;
    public Shelf shelf;
    public XMLGregorianCalendar seen;
    @XmlElement(nillable = true) public Integer count;
    public byte[] picture;
    public List<String> tags = new ArrayList<>();
    public long version;
  }

  public static class PartNotFound extends Exception {
    private final int partId;

    public PartNotFound(int partId) {
      super("no part " + partId);
      this.partId = partId;
    }

    public int getPartId() {
      return partId;
    }
  }

  public static class PartConflict extends Exception {
    public PartConflict(String message) {
      super(message);
    }
  }

  private final TreeMap<Integer, Part> parts = new TreeMap<>();

  public synchronized Part getPart(@WebParam(name = "partId") int partId) throws PartNotFound {
    Part found = parts.get(partId);
    if (found == null) throw new PartNotFound(partId);
    return found;
  }

  public synchronized List<Part> listParts() {
    return new ArrayList<>(parts.values());
  }

  public synchronized Part createPart(@WebParam(name = "part") Part part) {
    part.partId = parts.isEmpty() ? 1 : parts.lastKey() + 1;
    part.version = 1;
    parts.put(part.partId, part);
    return part;
  }

  public synchronized void updatePart(@WebParam(name = "part") Part part) throws PartNotFound, PartConflict {
    if (getPart(part.partId).version != part.version) throw new PartConflict("changed meanwhile");
    part.version++;
    parts.put(part.partId, part);
  }

  public synchronized void deletePart(@WebParam(name = "partId") int partId) throws PartNotFound {
    getPart(partId);
    parts.remove(partId);
  }

  public synchronized int takePart(@WebParam(name = "partId") int partId, @WebParam(name = "count") int count)
      throws PartNotFound, PartConflict {
    getPart(partId);
    if (count > 5) throw new PartConflict("too few");
    return 5 - count;
  }

  public void recount(@WebParam(name = "reason") String reason) {
    throw new IllegalStateException("the shelves are closed");
  }

  @Oneway
  public void note(@WebParam(name = "text") String text) {}

  public static void main(String[] words) {
    Endpoint.publish("http://127.0.0.1:" + words[0] + "/parts", new PartsServer());
  }
}
