"""zeep's WS-Security: `zeep_secure.py WSDL VERSION WAY KEY CERTIFICATE`; see soap-driver.ts for the lines it reads and prints."""
import datetime
import json
import sys

import xmlsec
import zeep
from zeep.helpers import serialize_object
from zeep.wsse import compose, signature, username, utils

wsdl, version, way, key, certificate = sys.argv[1:6]
client = zeep.Client(wsdl)
if way == "signed":  # it signs no blocks of WS-Addressing, and unsigned ones are refused
    for operation in client.service._binding._operations.values():
        operation.abstract.wsa_action = None


class Timestamp:
    def apply(self, envelope, headers):
        now = datetime.datetime.now(datetime.timezone.utc)
        stamp = utils.WSU("Timestamp")
        stamp.append(utils.WSU("Created", utils.get_timestamp(now)))
        stamp.append(utils.WSU("Expires", utils.get_timestamp(now + datetime.timedelta(minutes=5))))
        utils.get_security_header(envelope).append(stamp)
        return envelope, headers

    def verify(self, envelope):
        """The answers carry none."""


class Signature(signature.BinarySignature):
    def verify(self, envelope):
        """The answers carry none."""


def security(name, password):
    if way in ("text", "digest"):
        return username.UsernameToken(name, password, use_digest=way == "digest")
    methods = {"signature_method": xmlsec.Transform.RSA_SHA256, "digest_method": xmlsec.Transform.SHA256}
    return compose.Compose([Timestamp(), Signature(key, certificate, **methods)])


for line in sys.stdin:
    asked = json.loads(line)
    client.wsse = security(asked["as"], asked["password"])
    try:
        output = client.service[asked["operation"]](**asked["input"])
        said = {"output": json.loads(json.dumps(serialize_object(output, dict), default=str))}
    except zeep.exceptions.Fault as fault:
        codes = [str(fault.code), *(f"{code.text}" for code in fault.subcodes or [])]
        detail = None
        if fault.detail is not None and len(fault.detail):
            entry = fault.detail[0]
            detail = entry.tag + " " + json.dumps(serialize_object(client.wsdl.types.deserialize(entry), dict), default=str)
        said = {"fault": {"code": " ".join(codes), "reason": str(fault.message), "detail": detail}}
    except Exception as failure:
        said = {"error": repr(failure)}
    print(json.dumps(said), flush=True)
