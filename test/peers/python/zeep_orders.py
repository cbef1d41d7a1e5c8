"""Calls by zeep from the WSDL alone; see soap-driver.ts for the lines it reads and prints."""
import base64
import json
import sys

import requests
import zeep
from lxml import etree
from suds.store import soap5_encoding_schema
from zeep.helpers import serialize_object

wsdl, version, style, *words = sys.argv[1:]
session = requests.Session()
# Strict it wants every part of RPC in a response; in RPC/literal one without a value can be neither there nor nil (WS-I BP 1.1 R2211)
settings = zeep.Settings(strict=style == "document")


class Transport(zeep.Transport):
    """The schema of the encoding, which zeep fetches from its namespace, is that of suds."""

    def load(self, url):
        return soap5_encoding_schema if url == "http://schemas.xmlsoap.org/soap/encoding/" else super().load(url)


client = zeep.Client(wsdl, transport=Transport(session=session), settings=settings)


def plain(value):
    octets = lambda each: base64.b64encode(each).decode() if isinstance(each, bytes) else str(each)
    return json.loads(json.dumps(serialize_object(value, dict), default=octets))


def parts(operation):
    """The parameters of an RPC operation: zeep asks for each, and writes an empty one as an empty element."""
    found = client.service._binding._operations[operation].input.body
    return [name for name, _ in found.type.elements]


for line in sys.stdin:
    asked = json.loads(line)
    session.auth = (asked["as"], asked["password"])
    values = asked["input"]
    if "picture" in values:
        values["picture"] = base64.b64decode(values["picture"])
    try:
        if style != "document":
            absent = "" if style == "rpc" else zeep.xsd.SkipValue
            values = {name: values.get(name, absent) for name in parts(asked["operation"])}
        said = {"output": plain(client.service[asked["operation"]](**values))}
    except zeep.exceptions.Fault as fault:
        detail = None
        if fault.detail is not None and len(fault.detail):
            entry = fault.detail[0]
            found = client.wsdl.types.deserialize(entry)
            detail = entry.tag + " " + json.dumps(plain(found))
        said = {"fault": {"code": str(fault.code), "reason": str(fault.message), "detail": detail}}
    except Exception as failure:
        said = {"error": repr(failure)}
    print(json.dumps(said), flush=True)
