<?php
// PHP's SoapServer with the WSDL kept in memory. See shop.ts for the message.
final class Shop
{
    public function CreateOrder(stdClass $asked): array
    {
        $order = $asked->order;
        $order->id = 'o-1';
        $order->version = '1';
        return ['order' => $order];
    }
}
$server = new SoapServer(__DIR__ . '/orders.wsdl', [
    'cache_wsdl' => WSDL_CACHE_MEMORY,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);
$server->setClass(Shop::class);
$server->handle();
