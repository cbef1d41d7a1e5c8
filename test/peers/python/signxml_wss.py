"""
signxml as a partner's signer and verifier. One JSON object a line: `{ step: 'sign', envelope, key, certificate, method }` for an
envelope without a Security block, which gets one with a token, a Timestamp and a signature over Body and Timestamp; or
`{ step: 'verify', envelope, certificate }`. It prints `{ envelope }`, `{ signed }` with each signed element in its canonical
form, or `{ error }`.
"""
import datetime
import json
import sys

from lxml import etree
from signxml import (
    CanonicalizationMethod,
    DigestAlgorithm,
    SignatureConfiguration,
    SignatureConstructionMethod,
    SignatureMethod,
    SignatureReference,
    XMLSigner,
    XMLVerifier,
)

OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
WSSE, WSU = f"{OASIS}wssecurity-secext-1.0.xsd", f"{OASIS}wssecurity-utility-1.0.xsd"
X509, BASE64 = f"{OASIS}x509-token-profile-1.0#X509v3", f"{OASIS}soap-message-security-1.0#Base64Binary"
DS = "http://www.w3.org/2000/09/xmldsig#"
EXCLUSIVE = CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0
PARSER = etree.XMLParser(resolve_entities=False)


def der(pem):
    return "".join(line for line in pem.splitlines() if line and not line.startswith("-----"))


def only(root, path):
    found = root.findall(f".//{path}")
    if len(found) != 1:
        raise ValueError(f"{len(found)} of {path}")
    return found[0]


def sign(envelope, key, certificate, method):
    soap = etree.QName(envelope).namespace
    header, body = envelope.find(f"{{{soap}}}Header"), envelope.find(f"{{{soap}}}Body")
    security = etree.SubElement(header, f"{{{WSSE}}}Security", nsmap={"wsse": WSSE, "wsu": WSU})
    security.set(f"{{{soap}}}mustUnderstand", "1")
    token = etree.SubElement(security, f"{{{WSSE}}}BinarySecurityToken", EncodingType=BASE64, ValueType=X509)
    token.set(f"{{{WSU}}}Id", "token")
    token.text = der(certificate)
    stamp = etree.SubElement(security, f"{{{WSU}}}Timestamp")
    now = datetime.datetime.now(datetime.timezone.utc)
    for name, at in (("Created", now), ("Expires", now + datetime.timedelta(minutes=5))):
        etree.SubElement(stamp, f"{{{WSU}}}{name}").text = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    body.set(f"{{{WSU}}}Id", "body")
    stamp.set(f"{{{WSU}}}Id", "stamp")
    key_info = etree.Element(f"{{{DS}}}KeyInfo", nsmap={"ds": DS})
    reference = etree.SubElement(key_info, f"{{{WSSE}}}SecurityTokenReference", nsmap={"wsse": WSSE})
    etree.SubElement(reference, f"{{{WSSE}}}Reference", URI="#token", ValueType=X509)
    hash_name = method.rpartition("_")[2] if "MGF1" not in method else method.partition("_")[0]
    signer = XMLSigner(
        method=SignatureConstructionMethod.detached,
        signature_algorithm=SignatureMethod[method],
        digest_algorithm=DigestAlgorithm[hash_name],
        c14n_algorithm=EXCLUSIVE,
    )
    references = [SignatureReference(URI=uri, c14n_method=EXCLUSIVE) for uri in ("#body", "#stamp")]
    security.append(signer.sign(envelope, key=key, key_info=key_info, reference_uri=references, id_attribute="Id"))
    return {"envelope": etree.tostring(envelope).decode()}


def verify(envelope, certificate):
    """The token that the signature names is the trusted certificate; signxml knows no SecurityTokenReference."""
    security = only(envelope, f"{{{WSSE}}}Security")
    reference = only(only(security, f"{{{DS}}}KeyInfo"), f"{{{WSSE}}}Reference").get("URI")
    tokens = [each for each in security.iter(f"{{{WSSE}}}BinarySecurityToken") if f"#{each.get(f'{{{WSU}}}Id')}" == reference]
    if [der(each.text) for each in tokens] != [der(certificate)]:
        raise ValueError("the token is another certificate")
    config = SignatureConfiguration(location=".//", expect_references=True)
    results = XMLVerifier().verify(envelope, x509_cert=certificate, id_attribute="Id", expect_config=config)
    results = results if isinstance(results, list) else [results]
    return {"signed": [each.signed_data.decode() for each in results]}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        parsed = etree.fromstring(asked["envelope"].encode(), PARSER)
        if asked["step"] == "sign":
            said = sign(parsed, asked["key"], asked["certificate"], asked["method"])
        else:
            said = verify(parsed, asked["certificate"])
    except Exception as failure:
        said = {"error": repr(failure)}
    print(json.dumps(said), flush=True)
