<?php
// A customer of examples/freight: a WSDL, the address to call, a token; prints what it was answered as JSON.
ini_set('soap.wsdl_cache_enabled', '0');
ini_set('precision', '17');
[, $wsdl, $address, $token] = $argv;
$messages = 'http://carrier.example/freight/messages';

$client = new SoapClient($wsdl, [
    'location' => $address, 'exceptions' => true, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    'stream_context' => stream_context_create(['http' => ['header' => "Authorization: Bearer $token"]]),
]);
$client->__setSoapHeaders(new SoapHeader($messages, 'Customer', 'Tea & Co'));
$booked = $client->BookShipment([
    'reference' => '17', 'locker' => 4,
    'parcel' => [['weight' => '1.5', 'fragile' => true], ['weight' => '0.25', 'note' => 'heavy']],
]);
$client->__setSoapHeaders(null);
$track = $client->TrackShipment($booked->number);
try {
    $client->TrackShipment('D-0');
    $unknown = null;
} catch (SoapFault $fault) {
    $unknown = $fault->detail->UnknownShipment->number;
}
echo json_encode([
    'number' => $booked->number, 'total' => (string) $booked->total,
    'step' => $track->event[0]->_, 'at' => substr($track->event[0]->at, 0, 3), 'unknown' => $unknown,
]);
