"""The whole of an order's life by zeep, from the WSDL alone. Prints one JSON object."""
import json
import sys

import requests
import zeep
from zeep.helpers import serialize_object

url, version, name, password = sys.argv[1:5]
session = requests.Session()
session.auth = (name, password)
client = zeep.Client(f"{url}/soap/v2?wsdl={version}", transport=zeep.Transport(session=session))
call = client.service
said = {"operations": len(client.service._operations)}


def plain(value):
    return json.loads(json.dumps(serialize_object(value, dict), default=str))


def unwrapped(value, field):
    """zeep unwraps a response that holds one element alone."""
    return getattr(value, field, value) if not isinstance(value, dict) else value.get(field, value)


def detail(fault):
    """A fault's Detail, read by the type that the WSDL declares for it."""
    entry = list(fault.detail)[0]
    found = client.wsdl.types.deserialize(entry)
    return {"name": entry.tag, "value": plain(found)}


order = {
    "customer": "c-1",
    "lines": {"line": [{"product": "p-1", "quantity": 2}]},
    "currency": "EUR",
    "note": "Grüße & <tags>",
}
made = unwrapped(call.CreateOrder(order=order), "order")
said["created"] = plain(made)
said["got"] = plain(unwrapped(call.GetOrder(id=made.id), "order"))
try:
    call.PayOrder(id=made.id, method="card", amount="0.01")
except zeep.exceptions.Fault as fault:
    said["declined"] = detail(fault)
said["paid"] = plain(unwrapped(call.PayOrder(id=made.id, method="card", amount=made.total), "payment"))
try:
    call.PayOrder(id=made.id, method="card", amount=made.total)
except zeep.exceptions.Fault as fault:
    said["conflict"] = detail(fault)
said["cancelled"] = plain(unwrapped(call.CancelOrder(id=made.id, reason="changed my mind"), "order"))
try:
    call.GetOrder(id="o-none")
except zeep.exceptions.Fault as fault:
    said["missing"] = detail(fault)
print(json.dumps(said))
