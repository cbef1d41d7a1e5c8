"""Spyne behind waitress, validating by lxml. See shop.ts for the message."""
import logging
import sys

from spyne import Application, Boolean, ComplexModel, Date, Decimal, Integer32, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication
from waitress import serve

namespace = "urn:diglot:shop:v1"
logging.disable(logging.CRITICAL)


def needed(of, **facets):
    return of.customize(min_occurs=1, nillable=False, **facets)


class Line(ComplexModel):
    __namespace__ = namespace
    _type_info = [
        ("product", needed(Unicode, max_len=40)),
        ("quantity", needed(Integer32, ge=1)),
        ("price", needed(Decimal, total_digits=12, fraction_digits=2, ge=0)),
    ]


class Lines(ComplexModel):
    __namespace__ = namespace
    _type_info = [("line", Line.customize(min_occurs=1, max_occurs="unbounded"))]


fields = [
    ("customer", needed(Unicode, min_len=1, max_len=40)),
    ("currency", needed(Unicode, values=["EUR", "USD", "GBP"])),
    ("delivery", needed(Date)),
    ("express", needed(Boolean)),
    ("lines", needed(Lines)),
    ("note", Unicode(max_len=500)),
]


class OrderDraft(ComplexModel):
    __namespace__ = namespace
    _type_info = [("id", Unicode), *fields, ("version", Unicode)]


class Order(ComplexModel):
    __namespace__ = namespace
    _type_info = [("id", needed(Unicode)), *fields, ("version", needed(Unicode))]


class ShopService(ServiceBase):
    @rpc(OrderDraft, _returns=Order, _out_variable_name="order")
    def CreateOrder(ctx, order):
        same = {name: getattr(order, name) for name, _ in fields}
        return Order(id="o-1", version="1", **same)


app = Application([ShopService], namespace, in_protocol=Soap11(validator="lxml"), out_protocol=Soap11())
serve(WsgiApplication(app), host="127.0.0.1", port=int(sys.argv[1]), threads=4, _quiet=True)
