using System;
using System.IO;
using System.Net;
using System.Web;
using System.Web.Hosting;

// Mono's ASP.NET behind its HttpListener, one request after the other: AsmxHost PORT FOLDER. The folder has stock.asmx, and this in bin.
public class AsmxHost : MarshalByRefObject
{
    public static void Main(string[] words)
    {
        var host = (AsmxHost)ApplicationHost.CreateApplicationHost(typeof(AsmxHost), "/", words[1]);
        host.Serve(int.Parse(words[0]));
    }

    public override object InitializeLifetimeService()
    {
        return null;
    }

    public void Serve(int port)
    {
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
        listener.Start();
        for (;;) HttpRuntime.ProcessRequest(new ListenedRequest(listener.GetContext()));
    }
}

public class ListenedRequest : SimpleWorkerRequest
{
    private readonly HttpListenerContext context;
    private readonly MemoryStream asked = new MemoryStream();
    private readonly MemoryStream answer = new MemoryStream();

    public ListenedRequest(HttpListenerContext context)
        : base(context.Request.Url.AbsolutePath.TrimStart('/'), context.Request.Url.Query.TrimStart('?'), TextWriter.Null)
    {
        this.context = context;
        context.Request.InputStream.CopyTo(asked);
    }

    public override string GetHttpVerbName() { return context.Request.HttpMethod; }
    public override string GetServerName() { return "127.0.0.1"; }
    public override int GetLocalPort() { return context.Request.LocalEndPoint.Port; }
    public override string GetRawUrl() { return context.Request.RawUrl; }
    public override string GetUnknownRequestHeader(string name) { return context.Request.Headers[name]; }
    public override string GetKnownRequestHeader(int index)
    {
        return index == HeaderContentLength ? asked.Length.ToString() : context.Request.Headers[GetKnownRequestHeaderName(index)];
    }
    public override byte[] GetPreloadedEntityBody() { return asked.ToArray(); }
    public override bool IsEntireEntityBodyIsPreloaded() { return true; }
    public override void SendStatus(int status, string reason) { context.Response.StatusCode = status; }
    public override void SendKnownResponseHeader(int index, string value)
    {
        if (index == HeaderContentType) context.Response.ContentType = value;
    }
    public override void SendUnknownResponseHeader(string name, string value) { }
    public override void SendResponseFromMemory(byte[] octets, int length) { answer.Write(octets, 0, length); }
    public override void FlushResponse(bool isLast) { }
    public override void EndOfRequest()
    {
        try { context.Response.Close(answer.ToArray(), true); }
        catch (IOException) { } // who asked is gone
    }
}
