<?php
// SoapServer by a WSDL (the environment: WSDL): the carrier of examples/freight, and the desk of parts/desk.wsdl.
ini_set('soap.wsdl_cache_enabled', '0');
ini_set('precision', '17');
class Behind {
    private $customer = 'nobody';
    function Customer($name) { $this->customer = $name; }
    function BookShipment($asked) {
        $weights = array_map(fn($each) => $each->weight, $asked->parcel);
        return ['number' => $this->customer . '-' . $asked->reference . '-' . $asked->locker, 'total' => (string) array_sum($weights)];
    }
    function TrackShipment($number) {
        if ($number === 'D-0') throw new SoapFault('Client', 'no such shipment', null, ['number' => $number], 'UnknownShipment');
        return ['event' => [['_' => 'collected', 'at' => '2026-11-24T10:00:00Z'], ['_' => 'lost', 'at' => '2026-11-25T10:00:00Z']]];
    }
    function Order($item, $count, $buyer) { return ['number' => "$item for {$buyer->name}", 'total' => (string) ($count * 1.25)]; }
    // Not Count, which begins with the same element: PHP 8.2 ends by a segmentation fault when it is called.
}
$server = new SoapServer(getenv('WSDL'), ['features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'soap_version' => SOAP_1_1]);
$server->setObject(new Behind());
$server->handle();
