"""Clients of zeep, each by the WSDL of its release.

Standard input: [{"wsdl": …, "uri": …, "address": …, "a": "x", "isText": true, "header": "x"}], of which the last may be missing.
Standard output: [{"end": "ok", "value": …}]
"""

import json
import sys

from zeep import Client, Settings
from zeep.exceptions import Fault
from zeep.helpers import serialize_object

clients = {}


def call(wsdl, uri, address, a, isText=True, header=None):
    if wsdl not in clients:
        clients[wsdl] = Client(wsdl, settings=Settings(strict=True))
    desk = clients[wsdl].create_service("{%s}B" % uri, address)
    blocks = {} if header is None else {"_soapheaders": {"branch": header}}
    try:
        answer = desk.Do(thing={"a": a if isText else a.encode()}, **blocks)
    except Fault as thrown:
        return {"end": "fault", "value": thrown.message}
    except Exception as thrown:
        return {"end": "client", "value": f"{type(thrown).__name__}: {thrown}"}
    return {"end": "ok", "value": str(serialize_object(answer, dict))}


print(json.dumps([call(**each) for each in json.load(sys.stdin)]))
