"""
pysaml2 as an issuer of assertions: `pysaml2_issuer.py KEY CERTIFICATE`. One JSON object a line: `{ step: 'issue', issuer,
subject, audience, minutes, holder }` for an assertion that ends after so many minutes, with the certificate of whoever holds
its key, or of a bearer without one; or `{ step: 'verify', assertion }` for one that KEY's owner signed. It prints
`{ assertion }`, `{ subject }` or `{ error }`.
"""
import json
import sys

from saml2 import class_name, config, saml, sigver, xmldsig
from saml2.assertion import Assertion, Policy
from saml2.attribute_converter import ac_factory
from saml2.saml import SCM_BEARER, SCM_HOLDER_OF_KEY

key, certificate = sys.argv[1:3]
settings = {"entityid": "urn:issuer", "key_file": key, "cert_file": certificate, "xmlsec_binary": "/usr/bin/xmlsec1"}
security = sigver.security_context(config.Config().load(settings))
converters = ac_factory()


def der(pem):
    return "".join(line for line in pem.splitlines() if line and not line.startswith("-----"))


def key_info_of(pem):
    data = xmldsig.X509Data(x509_certificate=xmldsig.X509Certificate(text=der(pem)))
    return xmldsig.KeyInfo(x509_data=data)


def issue(issuer, subject, audience, minutes, holder):
    policy = Policy({"default": {"lifetime": {"minutes": minutes}}})
    confirmation = {"method": SCM_HOLDER_OF_KEY if holder else SCM_BEARER, "subject_confirmation_data": {}}
    if holder:
        confirmation["key_info"] = key_info_of(holder)
    made = Assertion({}).construct(
        audience,
        converters,
        policy,
        issuer=saml.Issuer(text=issuer),
        farg={"subject": {"subject_confirmation": confirmation}},
        authn_class="urn:oasis:names:tc:SAML:2.0:ac:classes:Password",
        name_id=saml.NameID(text=subject, format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"),
    )
    with open(certificate) as file:
        made.signature = sigver.pre_signature_part(
            made.id,
            der(file.read()),
            1,
            digest_alg=xmldsig.DIGEST_SHA256,
            sign_alg=xmldsig.SIG_RSA_SHA256,
        )
    text = security.sign_statement(made, class_name(made), key_file=key, node_id=made.id)
    return {"assertion": text.partition("?>")[2].strip() if text.startswith("<?xml") else text}


def verify(text):
    """By its schema (pysaml2 reads it), its issuer's certificate (by xmlsec1) and its identifier."""
    item = saml.assertion_from_string(text)
    item.verify()
    if not security.verify_signature(text, cert_file=certificate, node_name=class_name(item), node_id=item.id):
        raise ValueError("the signature does not hold")
    return {"subject": item.subject.name_id.text}


for line in sys.stdin:
    asked = json.loads(line)
    step = asked.pop("step")
    try:
        said = issue(**asked) if step == "issue" else verify(asked["assertion"])
    except Exception as failure:
        said = {"error": repr(failure)}
    print(json.dumps(said), flush=True)
