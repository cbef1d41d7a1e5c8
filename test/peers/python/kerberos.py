"""
Kerberos by MIT's library: `kerberos.py ask SERVICE` prints an AP-REQ in the GSS-API framing for the tickets in KRB5CCNAME;
`kerberos.py accept` reads one a line, and prints whose it is by KRB5_KTNAME, or an empty line. Both in Base64.
"""
import base64
import sys

import gssapi

if sys.argv[1] == "ask":
    service = gssapi.Name(sys.argv[2], gssapi.NameType.hostbased_service)
    context = gssapi.SecurityContext(name=service, mech=gssapi.MechType.kerberos, usage="initiate", flags=[])
    print(base64.b64encode(context.step()).decode())
else:
    for line in sys.stdin:
        try:
            context = gssapi.SecurityContext(creds=gssapi.Credentials(usage="accept"), usage="accept")
            context.step(base64.b64decode(line))
            print(context.initiator_name if context.complete else "", flush=True)
        except gssapi.exceptions.GSSError:
            print("", flush=True)
