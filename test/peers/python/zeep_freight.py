"""A customer of examples/freight: a WSDL, the address to call, a token; prints what it was answered as JSON."""
import json
import sys
from decimal import Decimal

from zeep import Client, Settings
from zeep.exceptions import Fault

wsdl, address, token = sys.argv[1:]
messages = '{http://carrier.example/freight/messages}'
client = Client(wsdl, settings=Settings(extra_http_headers={'Authorization': f'Bearer {token}'}))
binding = next(iter(client.wsdl.bindings))
freight = client.create_service(binding, address)

booked = freight.BookShipment(
    reference='17', locker=4,
    parcel=[{'weight': Decimal('1.5'), 'fragile': True}, {'weight': Decimal('0.25'), 'note': 'heavy'}],
    _soapheaders={'customer': 'Tea & Co'},
)
events = freight.TrackShipment(booked.number)
try:
    freight.TrackShipment('D-0')
    unknown = None
except Fault as fault:
    unknown = fault.detail.findtext(f'{messages}UnknownShipment/{messages}number')
print(json.dumps({
    'number': booked.number, 'total': str(booked.total),
    'step': events[0]['_value_1'], 'at': str(events[0]['at'])[:3], 'unknown': unknown,
}))
