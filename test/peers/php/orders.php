<?php
// Calls by PHP's SoapClient from the WSDL alone; see soap-driver.ts for the lines it reads and prints.
ini_set('soap.wsdl_cache_enabled', '0');
ini_set('precision', '17');
[, $wsdl, $version, $style] = $argv;
$words = array_slice($argv, 4);
$clients = [];

/** One client for each caller: SoapClient takes credentials when it is made. */
function client(string $name, string $password): SoapClient
{
    global $wsdl, $version, $words, $clients;
    return $clients[$name] ??= new SoapClient($wsdl, [
        'soap_version' => $version === '1.2' ? SOAP_1_2 : SOAP_1_1,
        'login' => $name, 'password' => $password, 'exceptions' => true, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    ] + (in_array('gzip', $words) ? ['compression' => SOAP_COMPRESSION_ACCEPT | SOAP_COMPRESSION_GZIP | 5] : []));
}

/** The parameters of an RPC operation by position, as its WSDL has them. In RPC/literal SoapClient writes null as an empty element. */
function arguments(SoapClient $client, string $operation, array $input): array
{
    foreach ($client->__getFunctions() as $signature) {
        if (preg_match("/\\b$operation\\((.*)\\)$/", $signature, $found)) {
            preg_match_all('/\$(\w+)/', $found[1], $names);
            return array_map(fn($name) => $input[$name] ?? null, $names[1]);
        }
    }
    throw new Exception("no $operation");
}

/** base64Binary is octets to PHP, and JSON has none. */
function picture(mixed $value): mixed
{
    if (is_object($value)) $value = (array) $value;
    if (is_array($value) && isset($value['picture'])) $value['picture'] = base64_encode($value['picture']);
    return $value;
}

while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    $operation = $asked['operation'];
    $input = $asked['input'];
    if (isset($input['picture'])) $input['picture'] = base64_decode($input['picture']);
    try {
        $client = client($asked['as'], $asked['password']);
        $values = $style === 'document' ? [$input] : arguments($client, $operation, $input);
        $said = ['output' => picture($client->__soapCall($operation, $values))];
    } catch (SoapFault $fault) {
        // SoapClient's own failures are SoapFaults too: HTTP, WSDL, encoding
        $detail = json_encode($fault->detail ?? null);
        $said = ['fault' => ['code' => $fault->faultcode, 'reason' => $fault->faultstring, 'detail' => $detail]];
    }
    echo json_encode($said, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
}
