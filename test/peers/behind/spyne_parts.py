"""Spyne behind wsgiref: a stock of parts, from code to WSDL: spyne_parts.py PORT VERSION."""
import datetime
import decimal
import itertools
import logging
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import (
    Application,
    Array,
    ByteArray,
    ComplexModel,
    DateTime,
    Decimal,
    Enum,
    Fault,
    Integer32,
    Iterable,
    ServiceBase,
    Unicode,
    rpc,
)
from spyne.model.complex import XmlAttribute
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication

logging.disable(logging.CRITICAL)
NAMESPACE = "urn:example:parts"
Shelf = Enum("north", "south", type_name="Shelf")
Shelf.__namespace__ = NAMESPACE


class Part(ComplexModel):
    __namespace__ = NAMESPACE
    kind = XmlAttribute(Unicode)
    part_id = Integer32
    name = Unicode(max_len=20, min_occurs=1, nillable=False)
    weight = Decimal
    shelf = Shelf
    seen = DateTime
    picture = ByteArray
    tags = Array(Unicode)


class OutOfStock(Fault):
    __namespace__ = NAMESPACE

    def __init__(self, left):
        super().__init__("Client.OutOfStock", "too few", detail={"{%s}OutOfStock" % NAMESPACE: {"left": str(left)}})


stock = {}
numbers = itertools.count(1)


class Stock(ServiceBase):
    @rpc(Integer32, _returns=Part)
    def get_part(ctx, part_id):
        if part_id not in stock:
            raise Fault("Client", "Part not found")
        return stock[part_id]

    @rpc(_returns=Iterable(Part))
    def list_parts(ctx):
        return list(stock.values())

    @rpc(Part.customize(min_occurs=1, nillable=False), _returns=Integer32)
    def create_part(ctx, part):
        part.part_id = next(numbers)
        part.seen = part.seen or datetime.datetime(2024, 1, 2, 3, 4, 5, 600000, tzinfo=datetime.timezone.utc)
        part.weight = part.weight or decimal.Decimal("1.50")
        stock[part.part_id] = part
        return part.part_id

    @rpc(Part.customize(min_occurs=1, nillable=False))
    def update_part(ctx, part):
        stock[part.part_id] = part

    @rpc(Integer32)
    def delete_part(ctx, part_id):
        del stock[part_id]

    @rpc(Integer32, Integer32, _returns=Integer32, _throws=[OutOfStock])
    def take_part(ctx, part_id, count):
        if count > 5:
            raise OutOfStock(5)
        return 5 - count

    @rpc(Unicode)
    def recount(ctx, reason):
        raise RuntimeError("the shelves are closed")


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


soap = Soap12 if sys.argv[2] == "1.2" else Soap11
application = Application([Stock], NAMESPACE, in_protocol=soap(validator="lxml"), out_protocol=soap())
make_server("127.0.0.1", int(sys.argv[1]), WsgiApplication(application), handler_class=Quiet).serve_forever()
