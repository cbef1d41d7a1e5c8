<?php
// UsernameToken by a SoapHeader: `secure.php WSDL VERSION WAY`; see soap-driver.ts for the lines it reads and prints.
ini_set('soap.wsdl_cache_enabled', '0');
[, $wsdl, $version, $way] = $argv;
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
const WSSE = WSS . 'wssecurity-secext-1.0.xsd';
const WSU = WSS . 'wssecurity-utility-1.0.xsd';

$client = new SoapClient($wsdl, [
    'soap_version' => $version === '1.2' ? SOAP_1_2 : SOAP_1_1, 'exceptions' => true, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);

function security(string $name, string $password): SoapHeader
{
    global $way;
    $writer = new XMLWriter();
    $writer->openMemory();
    $writer->startElementNs('wsse', 'Security', WSSE);
    $writer->startElementNs('wsse', 'UsernameToken', null);
    $writer->writeElementNs('wsse', 'Username', null, $name);
    $nonce = random_bytes(16);
    $created = gmdate('Y-m-d\TH:i:s\Z');
    $writer->startElementNs('wsse', 'Password', null);
    $kind = $way === 'digest' ? 'PasswordDigest' : 'PasswordText';
    $writer->writeAttribute('Type', WSS . "username-token-profile-1.0#$kind");
    $writer->text($way === 'digest' ? base64_encode(sha1($nonce . $created . $password, true)) : $password);
    $writer->endElement();
    if ($way === 'digest') {
        $writer->writeElementNs('wsse', 'Nonce', null, base64_encode($nonce));
        $writer->writeElementNs('wsu', 'Created', WSU, $created);
    }
    $writer->endElement();
    $writer->endElement();
    return new SoapHeader(WSSE, 'Security', new SoapVar($writer->outputMemory(), XSD_ANYXML), true);
}

while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    try {
        $client->__setSoapHeaders(security($asked['as'], $asked['password']));
        $said = ['output' => $client->__soapCall($asked['operation'], [$asked['input']])];
    } catch (SoapFault $fault) {
        // SoapClient's own failures are SoapFaults too: HTTP, WSDL, encoding
        $detail = json_encode($fault->detail ?? null);
        $said = ['fault' => ['code' => $fault->faultcode, 'reason' => $fault->faultstring, 'detail' => $detail]];
    }
    echo json_encode($said, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
}
