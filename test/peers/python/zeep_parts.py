"""A client of parts/desk.wsdl, whose messages have several elements: a WSDL and the address to call."""
import json
import sys

from zeep import Client
from zeep.exceptions import Fault, ValidationError

wsdl, address = sys.argv[1:]
client = Client(wsdl)
desk = client.create_service(next(iter(client.wsdl.bindings)), address)
answer = desk.Order('tea', 3, {'name': 'Ada', 'city': 'Ulm'})
try:
    desk.Order('tea', 3)
    refused = False
except (Fault, ValidationError, TypeError):
    refused = True
print(json.dumps({
    'number': answer.number, 'total': str(answer.total), 'count': desk.Count('tea').count, 'refused': refused,
}))
