"""Spyne behind wsgiref, which speaks HTTP/1.0. What it does: see client.peer.ts."""
import logging
import os
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import (AnyUri, Application, Boolean, ByteArray, ComplexModel, Date, DateTime, Decimal, Double, Duration, Fault, Float,
                   Integer, Integer8, Integer16, Integer32, Integer64, ServiceBase, Time, Unicode, UnsignedInteger8,
                   UnsignedInteger16, UnsignedInteger32, UnsignedInteger64, rpc)
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication

wsdl, version, port = sys.argv[1:]
namespace = "urn:diglot:samples:v1"
logging.disable(logging.CRITICAL)


def needed(of, **facets):
    return of.customize(min_occurs=1, nillable=False, **facets)


def model(name, *fields):
    return type(ComplexModel)(name, (ComplexModel,), {"__namespace__": namespace, "_type_info": list(fields)})


def listed(name, element, of):
    return needed(model(name, (element, of.customize(min_occurs=0, max_occurs="unbounded"))))


Part = model("Part", ("name", needed(Unicode)), ("weight", Double))
Hex = needed(Unicode)  # its own hexBinary ends in a TypeError
fields = [
    ("text", needed(Unicode)), ("flag", needed(Boolean)), ("byte", needed(Integer8)), ("short", needed(Integer16)),
    ("int", needed(Integer32)), ("unsignedByte", needed(UnsignedInteger8)), ("unsignedShort", needed(UnsignedInteger16)),
    ("unsignedInt", needed(UnsignedInteger32)), ("long", needed(Integer64)), ("unsignedLong", needed(UnsignedInteger64)),
    ("integer", needed(Integer)), ("decimal", needed(Decimal)), ("double", needed(Double)), ("float", needed(Float)),
    ("date", needed(Date)), ("time", needed(Time)), ("dateTime", needed(DateTime)), ("duration", needed(Duration)),
    ("base64", needed(ByteArray)), ("hex", Hex), ("choice", needed(Unicode, values=["red", "dark-blue"])),
    ("token", needed(Unicode)), ("uri", needed(AnyUri)), ("names", listed("Names", "name", Unicode)),
    ("parts", listed("Parts", "part", Part)), ("whole", needed(Part)), ("maybe", Unicode),
]
Draft = model("SampleDraft", ("id", Unicode), *fields, ("version", Unicode))
Sample = model("Sample", ("id", needed(Unicode)), *fields, ("version", needed(Unicode)))


def declared(reason, name, detail):
    members = {"{%s}%s" % (namespace, key): value for key, value in detail.items()}
    return Fault("Client", reason, detail={"{%s}%s" % (namespace, name): members})


def file(name, mode):
    return open(os.path.join(os.path.dirname(wsdl), name), mode)


class Samples(ServiceBase):
    @rpc(Draft, _returns=Sample, _out_variable_name="sample")
    def CreateSample(ctx, sample):
        return Sample(id="s-1", version="1", **{name: getattr(sample, name) for name, _ in fields})

    @rpc(Unicode, _returns=Sample, _out_variable_name="sample")
    def GetSample(ctx, id):
        raise declared("no " + id, "NotFound", {})

    @rpc(Unicode, Unicode, Unicode, _returns=Integer32, _out_variable_name="pieces")
    def TearSample(ctx, id, version, where):
        if where == "crash":
            raise Fault("Server", "crashed < here")
        raise declared("torn", "Torn", {"where": where, "pieces": "3", "when": "2026-11-21"})

    @rpc(Unicode, Unicode, ByteArray, Unicode, _returns=Unicode, _out_variable_name="version")
    def PutSamplePhoto(ctx, id, version, photo, mediaType):
        octets = b"".join(photo)
        with file("photo", "wb") as kept:
            kept.write(octets)
        return str(len(octets))

    @rpc(Unicode, _returns=[ByteArray, Unicode, Unicode], _out_variable_names=["photo", "mediaType", "version"])
    def GetSamplePhoto(ctx, id):
        with file("photo", "rb") as kept:
            return [kept.read()], "image/png", "1"

    @rpc(Unicode, Unicode)
    def NotifyFall(ctx, id, version):
        with file("fallen", "w") as kept:
            kept.write(id)


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


soap = Soap12 if version == "1.2" else Soap11
app = Application([Samples], namespace, in_protocol=soap(validator="lxml"), out_protocol=soap())
make_server("127.0.0.1", int(port), WsgiApplication(app), handler_class=Quiet).serve_forever()
