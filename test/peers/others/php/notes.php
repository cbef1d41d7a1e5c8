<?php
// PHP's SoapServer with the WSDL of the notes, behind `php -S`.
final class Notes
{
    private const NOTES = ['1' => ['id' => '1', 'title' => 'First'], '2' => ['id' => '2', 'title' => 'Second']];

    public function GetNote(stdClass $asked): array
    {
        $note = self::NOTES[$asked->id] ?? null;
        if ($note) return ['note' => $note];
        throw new SoapFault(getenv('SOAP') === '1.2' ? 'Sender' : 'Client', 'no such note', null, ['id' => $asked->id], 'NoteNotFound');
    }

    public function ListNotes(): array
    {
        return ['note' => array_values(self::NOTES)];
    }
}

$server = new SoapServer(getenv('WSDL'), [
    'soap_version' => getenv('SOAP') === '1.2' ? SOAP_1_2 : SOAP_1_1,
    'cache_wsdl' => WSDL_CACHE_NONE,
]);
$server->setClass(Notes::class);
$server->handle();
