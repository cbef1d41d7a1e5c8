# A SOAP service by Spyne, described by its own WSDL; prints its port. Its arrays and optional members are Spyne's own.
from decimal import Decimal as Exact
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import Application, Array, ComplexModel, Decimal, Fault, Integer, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication


class Item(ComplexModel):
    name = Unicode
    price = Decimal
    tags = Array(Unicode)


class Shop(ServiceBase):
    @rpc(Unicode, Integer, _returns=Array(Item))
    def list_items(ctx, word, count):
        if count > 3:
            raise Fault('Client.TooMany', 'too many')
        return [Item(name=f'{word} {n}', price=Exact('1.50') * n, tags=['a', str(n)]) for n in range(count)]

    @rpc(Item, _returns=Unicode)
    def keep(ctx, item):
        return f'{item.name} {item.price} {",".join(item.tags)}'


class Quiet(WSGIRequestHandler):
    def log_message(self, *words):
        pass


app = Application([Shop], 'urn:spyne:shop', in_protocol=Soap11(validator='lxml'), out_protocol=Soap11())
server = make_server('127.0.0.1', 0, WsgiApplication(app), handler_class=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
