<?php
// A client of parts/desk.wsdl, whose messages have several elements: a WSDL and the address to call.
ini_set('soap.wsdl_cache_enabled', '0');
[, $wsdl, $address] = $argv;
$client = new SoapClient($wsdl, ['location' => $address, 'exceptions' => true]);
$answer = $client->Order('tea', 3, ['name' => 'Ada', 'city' => 'Ulm']);
try {
    $client->Order('tea', 3);
    $refused = false;
} catch (SoapFault $fault) {
    $refused = true;
}
echo json_encode([
    'number' => $answer['number'], 'total' => (string) $answer['total'], 'count' => $client->Count('tea')->count, 'refused' => $refused,
]);
