"""zeep's WS-Security: `zeep_wss.py STEP KEY CERTIFICATE` for the envelope on standard input."""
import datetime
import sys

import xmlsec
from lxml import etree
from zeep.wsse import signature, username, utils

step, key, certificate = sys.argv[1:4]
envelope = etree.fromstring(sys.stdin.buffer.read())
if step == "read":
    signature.verify_envelope(envelope, certificate)
elif step in ("text", "digest"):
    token = username.UsernameToken("alice", "open sesame", use_digest=step == "digest")
    envelope, _ = token.apply(envelope, {})
else:
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp = utils.WSU("Timestamp")
    stamp.append(utils.WSU("Created", utils.get_timestamp(now)))
    stamp.append(utils.WSU("Expires", utils.get_timestamp(now + datetime.timedelta(minutes=5))))
    utils.get_security_header(envelope).append(stamp)
    kind = signature.BinarySignature if step == "sign-binary" else signature.Signature
    signer = kind(key, certificate, signature_method=xmlsec.Transform.RSA_SHA256, digest_method=xmlsec.Transform.SHA256)
    envelope, _ = signer.apply(envelope, {})
sys.stdout.buffer.write(etree.tostring(envelope))
