"""A client of the orders service made from its OpenAPI, by SOAP: the address of its WSDL; prints what it was answered."""
import json
import sys

from zeep import Client
from zeep.exceptions import Fault

client = Client(sys.argv[1])
listed = client.service.V2ListProducts(size=2, sort='name')
one = client.service.V2GetProduct(id=listed['items'][0]['id'])
try:
    client.service.V2GetProduct(id='p-none')
    unknown = None
except Fault as fault:
    unknown = fault.detail.findtext('{urn:orders}NotFound/{urn:orders}type')
print(json.dumps({
    'listed': len(listed['items']), 'same': one['name'] == listed['items'][0]['name'], 'price': one['price'],
    'unknown': unknown,
}, default=str))
