<?php
// SoapServer of parts/stock.wsdl (the environment: WSDL, and ROWS, a file that keeps the parts between requests).
ini_set('soap.wsdl_cache_enabled', '0');
class Stock {
    private $rows;
    function __construct() { $this->rows = file_exists(getenv('ROWS')) ? unserialize(file_get_contents(getenv('ROWS'))) : []; }
    private function keep() { file_put_contents(getenv('ROWS'), serialize($this->rows)); }
    private function find($number) {
        if (!isset($this->rows[$number])) throw new SoapFault('Client', 'no such part', null, ['partNo' => $number], 'NoSuchPart');
        return $this->rows[$number];
    }
    function GetPart($asked) { return ['part' => $this->find($asked->partNo)]; }
    function ListParts() { return ['part' => array_values($this->rows)]; }
    function CreatePart($asked) {
        $number = count($this->rows) === 0 ? 1 : max(array_keys($this->rows)) + 1;
        $this->rows[$number] = ['partNo' => $number] + (array) $asked + ['rowVersion' => 1];
        $this->keep();
        return ['partNo' => $number];
    }
    function UpdatePart($asked) {
        $part = (array) $asked->part;
        $row = $this->find($part['partNo']);
        if ($part['name'] === 'meanwhile') $row['rowVersion']++; // as if another program had been faster
        if ($row['rowVersion'] !== $part['rowVersion']) throw new SoapFault('Client', 'changed by another', null, ['rowVersion' => $row['rowVersion']], 'PartConflict');
        $part['rowVersion']++;
        $this->rows[$part['partNo']] = $part;
        $this->keep();
        return [];
    }
    function DeletePart($asked) { $this->find($asked->partNo); unset($this->rows[$asked->partNo]); $this->keep(); return []; }
}
$server = new SoapServer(getenv('WSDL'), ['features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
$server->setObject(new Stock());
$server->handle();
