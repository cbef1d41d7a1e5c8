<?php
// A client of the orders service made from its OpenAPI, by SOAP: the address of its WSDL; prints what it was answered.
ini_set('soap.wsdl_cache_enabled', '0');
$client = new SoapClient($argv[1], ['exceptions' => true, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
$listed = $client->V2ListProducts(['size' => 2, 'sort' => 'name']);
$one = $client->V2GetProduct(['id' => $listed->items[0]->id]);
try {
    $client->V2GetProduct(['id' => 'p-none']);
    $unknown = null;
} catch (SoapFault $fault) {
    $unknown = $fault->detail->NotFound->type;
}
echo json_encode(['listed' => count($listed->items), 'same' => $one->name === $listed->items[0]->name, 'price' => $one->price, 'unknown' => $unknown]);
