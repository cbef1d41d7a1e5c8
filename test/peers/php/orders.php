<?php
// The whole of an order's life by PHP's SoapClient, from the WSDL alone. Prints one JSON object.
ini_set('soap.wsdl_cache_enabled', '0');
[, $url, $version, $name, $password] = $argv;
$client = new SoapClient("$url/soap/v2?wsdl=$version", [
    'soap_version' => $version === '1.2' ? SOAP_1_2 : SOAP_1_1,
    'login' => $name, 'password' => $password, 'trace' => true, 'exceptions' => true,
]);
$said = ['operations' => count($client->__getFunctions())];
$order = ['customer' => 'c-1', 'lines' => ['line' => [['product' => 'p-1', 'quantity' => 2]]], 'currency' => 'EUR', 'note' => "Grüße & <tags>"];
$made = $client->CreateOrder(['order' => $order])->order;
$said['created'] = $made;
$said['got'] = $client->GetOrder(['id' => $made->id])->order;
try {
    $client->PayOrder(['id' => $made->id, 'method' => 'card', 'amount' => '0.01']);
} catch (SoapFault $fault) {
    $said['declined'] = ['code' => $fault->faultcode, 'reason' => $fault->faultstring, 'detail' => $fault->detail];
}
$said['paid'] = $client->PayOrder(['id' => $made->id, 'method' => 'card', 'amount' => $made->total])->payment;
try {
    $client->PayOrder(['id' => $made->id, 'method' => 'card', 'amount' => $made->total]);
} catch (SoapFault $fault) {
    $said['conflict'] = $fault->detail;
}
$said['cancelled'] = $client->CancelOrder(['id' => $made->id, 'reason' => 'changed my mind'])->order;
$said['lastContentType'] = preg_match('/^Content-Type:\s*(.*)$/mi', $client->__getLastResponseHeaders(), $m) ? trim($m[1]) : null;
try {
    $client->GetOrder(['id' => 'o-none']);
} catch (SoapFault $fault) {
    $said['missing'] = $fault->detail;
}
echo json_encode($said), "\n";
