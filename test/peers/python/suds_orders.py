"""Calls by suds from the WSDL alone; see soap-driver.ts for the lines it reads and prints."""
import json
import sys

import suds
from suds.client import Client
from suds.sudsobject import asdict
from suds.transport.http import HttpAuthenticated

wsdl, version, style, *words = sys.argv[1:]
clients = {}


def client(name, password):
    """One for each caller: the transport keeps the credentials."""
    if name not in clients:
        clients[name] = Client(wsdl, transport=HttpAuthenticated(username=name, password=password), cache=None)
    return clients[name]


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "__keylist__"):
        return {name: plain(each) for name, each in asdict(value).items()}
    return value if isinstance(value, (int, bool)) or value is None else str(value)


def arrays(value):
    """An array of SOAP encoding is an object with its items to suds."""
    if isinstance(value, dict):
        return {name: {"item": each} if isinstance(each, list) else arrays(each) for name, each in value.items()}
    return value


for line in sys.stdin:
    asked = json.loads(line)
    values = asked["input"]
    try:
        call = getattr(client(asked["as"], asked["password"]).service, asked["operation"])
        said = {"output": plain(call(**(arrays(values) if style == "encoded" else values)))}
    except suds.WebFault as failure:
        fault = failure.fault
        detail = plain(fault.detail) if hasattr(fault, "detail") else None
        said = {"fault": {"code": str(fault.faultcode), "reason": str(fault.faultstring), "detail": json.dumps(detail)}}
    except Exception as failure:
        said = {"error": repr(failure)}
    print(json.dumps(said), flush=True)
