using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.Serialization;
using System.ServiceModel;
using System.ServiceModel.Description;
using System.Threading;

// A stock of parts by WCF, from code to a WSDL in several documents: WcfParts PORT.
namespace Example
{
    [DataContract(Namespace = "http://schemas.example.org/2004/07/Stock")]
    public enum Shelf { [EnumMember] North, [EnumMember] South }

    [DataContract(Namespace = "http://schemas.example.org/2004/07/Stock")]
    public class Part
    {
        [DataMember] public int PartId;
        [DataMember] public string Name;
        [DataMember] public decimal Weight;
        [DataMember] public Shelf Shelf;
        [DataMember] public DateTime Seen;
        [DataMember] public DateTime? Ends;
        [DataMember] public byte[] Picture;
        [DataMember] public string[] Tags;
        [DataMember] public Guid Mark;
        [DataMember] public TimeSpan Lasts;
        [DataMember] public Dictionary<string, int> Counts;
    }

    [DataContract(Namespace = "http://schemas.example.org/2004/07/Stock")]
    public class OutOfStock
    {
        [DataMember] public int Left;
    }

    [DataContract(Namespace = "http://schemas.example.org/2004/07/Stock")]
    public class NoPart
    {
        [DataMember] public int PartId;
    }

    [ServiceContract(Namespace = "http://tempuri.org/")]
    public interface IStock
    {
        [OperationContract, FaultContract(typeof(NoPart))] Part GetPart(int partId);
        [OperationContract] List<Part> GetParts();
        [OperationContract] int CreatePart(Part part);
        [OperationContract, FaultContract(typeof(NoPart))] void UpdatePart(Part part);
        [OperationContract, FaultContract(typeof(NoPart))] void DeletePart(int partId);
        [OperationContract, FaultContract(typeof(OutOfStock))] int TakePart(int partId, int count);
        [OperationContract] int Recount(string reason);
        [OperationContract(IsOneWay = true)] void Note(string text);
    }

    [ServiceBehavior(InstanceContextMode = InstanceContextMode.Single)]
    public class Stock : IStock
    {
        private readonly SortedDictionary<int, Part> parts = new SortedDictionary<int, Part>();
        private int last;

        public Part GetPart(int partId)
        {
            Part found;
            if (!parts.TryGetValue(partId, out found)) throw new FaultException<NoPart>(new NoPart { PartId = partId }, "Part not found");
            return found;
        }

        public List<Part> GetParts() { return parts.Values.ToList(); }

        public int CreatePart(Part part)
        {
            part.PartId = ++last;
            parts[last] = part;
            return last;
        }

        public void UpdatePart(Part part) { parts[GetPart(part.PartId).PartId] = part; }

        public void DeletePart(int partId) { parts.Remove(GetPart(partId).PartId); }

        public int TakePart(int partId, int count)
        {
            if (count > 5) throw new FaultException<OutOfStock>(new OutOfStock { Left = 5 }, "too few");
            return 5 - count;
        }

        public int Recount(string reason) { throw new InvalidOperationException("the shelves are closed"); }

        public void Note(string text) { }
    }

    public static class Program
    {
        public static void Main(string[] words)
        {
            var host = new ServiceHost(new Stock(), new Uri("http://127.0.0.1:" + words[0] + "/stock"));
            host.Description.Behaviors.Add(new ServiceMetadataBehavior { HttpGetEnabled = true });
            host.AddServiceEndpoint(typeof(IStock), new BasicHttpBinding(), "");
            host.Open();
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
