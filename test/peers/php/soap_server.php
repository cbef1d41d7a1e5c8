<?php
// SoapServer by a WSDL (the environment: WSDL): the carrier of examples/freight, desk.wsdl and gate.wsdl of parts/.
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
    function Ticket($ticket) {
        if ($ticket !== 'old') return;
        $about = new SoapHeader('http://gate.example/messages', 'Expired', ['ticket' => $ticket, 'on' => '2026-01-31']);
        return new SoapFault('Client', 'the ticket is over', null, null, null, $about); // one that is thrown loses its block
    }
    function Open($asked) { return ['at' => "gate {$asked->gate}"]; }
    // Not Count, which begins with the same element: PHP 8.2 ends by a segmentation fault when it is called.
}
$server = new SoapServer(getenv('WSDL'), ['features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'soap_version' => SOAP_1_1]);
$server->setObject(new Behind());
$server->handle();
