using System;
using System.Collections.Generic;
using System.Linq;
using System.Web.Services;
using System.Web.Services.Protocols;
using System.Xml.Serialization;

// A stock of parts by ASP.NET web services, from code to WSDL as they write it without a hint.
namespace Example
{
    public enum Shelf { North, South }

    public class Part
    {
        [XmlAttribute] public string Kind;
        public int PartId;
        public string Name;
        public decimal Weight;
        public Shelf Shelf;
        public DateTime Seen;
        public int? Count;
        public byte[] Picture;
        public string[] Tags;
        public Guid Mark;
    }

    [WebService(Namespace = "http://tempuri.org/")]
    [WebServiceBinding(ConformsTo = WsiProfiles.None)]
    public class Stock : WebService
    {
        private static readonly SortedDictionary<int, Part> parts = new SortedDictionary<int, Part>();
        private static int last;

        [WebMethod]
        public Part GetPart(int partId)
        {
            Part found;
            return parts.TryGetValue(partId, out found) ? found : null;
        }

        [WebMethod]
        public Part[] ListParts() { return parts.Values.ToArray(); }

        [WebMethod]
        public int CreatePart(Part part)
        {
            part.PartId = ++last;
            parts[last] = part;
            return last;
        }

        [WebMethod]
        public void UpdatePart(Part part) { parts[part.PartId] = part; }

        [WebMethod]
        public bool DeletePart(int partId) { return parts.Remove(partId); }

        [WebMethod]
        public int TakePart(int partId, int count)
        {
            if (count > 5) throw new SoapException("too few", SoapException.ClientFaultCode);
            return 5 - count;
        }

        [WebMethod]
        public int Recount(string reason) { throw new InvalidOperationException("the shelves are closed"); }
    }
}
