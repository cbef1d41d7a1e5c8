"""Spyne behind wsgiref: the notes, from code to WSDL."""
import logging
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import Application, ComplexModel, Fault, Iterable, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication

port, version = sys.argv[1:]
logging.disable(logging.CRITICAL)


class Note(ComplexModel):
    __namespace__ = "urn:example:notes"
    id = Unicode
    title = Unicode


class NoteNotFound(Fault):
    __namespace__ = "urn:example:notes"

    def __init__(self, id):
        super().__init__("Client.NoteNotFound", "no such note", detail={"{urn:example:notes}NoteNotFound": {"id": id}})


notes = {"1": Note(id="1", title="First"), "2": Note(id="2", title="Second")}


class Notes(ServiceBase):
    @rpc(Unicode(min_occurs=1, nillable=False), _returns=Note, _out_variable_name="note", _throws=[NoteNotFound])
    def GetNote(ctx, id):
        if id not in notes:
            raise NoteNotFound(id)
        return notes[id]

    @rpc(_returns=Iterable(Note), _out_variable_name="notes")
    def ListNotes(ctx):
        return notes.values()


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


soap = Soap12 if version == "1.2" else Soap11
application = Application([Notes], "urn:example:notes", in_protocol=soap(validator="lxml"), out_protocol=soap())
make_server("127.0.0.1", int(port), WsgiApplication(application), handler_class=Quiet).serve_forever()
