<?php
// PHP's SoapServer with the WSDL, behind `php -S`, which ends a connection with each answer. What it does: see client.peer.ts.
ini_set('precision', '17');
ini_set('serialize_precision', '17');

final class Samples
{
    public function CreateSample(stdClass $asked): array
    {
        $sample = $asked->sample;
        $sample->id = 's-1';
        $sample->version = '1';
        return ['sample' => $sample];
    }

    public function GetSample(stdClass $asked): never
    {
        $this->declared("no $asked->id", 'NotFound', new stdClass());
    }

    public function TearSample(stdClass $asked): never
    {
        if ($asked->where === 'crash') throw new SoapFault('Server', 'crashed < here');
        $this->declared('torn', 'Torn', ['where' => $asked->where, 'pieces' => 3, 'when' => '2026-11-21']);
    }

    public function PutSamplePhoto(stdClass $asked): array
    {
        file_put_contents($this->file(), $asked->photo);
        return ['version' => (string) strlen($asked->photo)];
    }

    public function GetSamplePhoto(stdClass $asked): array
    {
        return ['photo' => file_get_contents($this->file()), 'mediaType' => 'image/png', 'version' => '1'];
    }

    public function NotifyFall(stdClass $asked): void
    {
        file_put_contents($this->file('fallen'), $asked->id);
    }

    private function file(string $name = 'photo'): string
    {
        return dirname(getenv('WSDL')) . "/$name";
    }

    private function declared(string $reason, string $name, mixed $detail): never
    {
        throw new SoapFault(getenv('SOAP') === '1.2' ? 'Sender' : 'Client', $reason, null, $detail, $name);
    }
}

$server = new SoapServer(getenv('WSDL'), [
    'soap_version' => getenv('SOAP') === '1.2' ? SOAP_1_2 : SOAP_1_1,
    'cache_wsdl' => WSDL_CACHE_NONE,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);
$server->setClass(Samples::class);
$server->handle();
