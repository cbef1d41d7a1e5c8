// gSOAP's server of the notes, with a thread for each connection, as its guide writes one: `notes PORT WSDL`.
#include "soapNotesBindingService.h"
#include "NotesBinding.nsmap"
#include "../gsoap/serve.hpp"
#include <map>

static const std::map<std::string, std::string> titles = {{"1", "First"}, {"2", "Second"}};

static ns1__Note *note_of(struct soap *soap, const std::string &id, const std::string &title)
{
  ns1__Note *note = soap_new_ns1__Note(soap);
  note->id = id;
  note->title = title;
  return note;
}

int NotesBindingService::GetNote(_ns1__GetNote *input, _ns1__GetNoteResponse &output)
{
  const auto found = titles.find(input->id);
  if (found != titles.end())
  {
    output.note = note_of(soap, found->first, found->second);
    return SOAP_OK;
  }
  _ns1__NoteNotFound *why = soap_new__ns1__NoteNotFound(soap);
  why->id = input->id;
  soap_sender_fault(soap, "no such note", nullptr);
  struct SOAP_ENV__Detail *detail = soap_new_SOAP_ENV__Detail(soap);
  detail->__type = SOAP_TYPE__ns1__NoteNotFound;
  detail->fault = why;
  if (soap->version == 2) soap->fault->SOAP_ENV__Detail = detail;
  else soap->fault->detail = detail;
  return SOAP_FAULT;
}

int NotesBindingService::ListNotes(_ns1__ListNotes *, _ns1__ListNotesResponse &output)
{
  for (const auto &each : titles) output.note.push_back(note_of(soap, each.first, each.second));
  return SOAP_OK;
}

int main(int, char **words)
{
  return serve_until_killed<NotesBindingService>(words);
}
