// gSOAP's generated server, with WS-Addressing and MTOM, a thread for each connection. What it does: see client.peer.ts.
#include "nsmap.h"
#include "service.h"
#include "wsaapi.h"
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

static std::mutex turn;
static std::string photo;

// The blocks of a reply, where the request had some.
static int reply(struct soap *soap, const std::string &action)
{
  if (!soap->header || !soap->header->wsa5__MessageID) return SOAP_OK;
  if (soap_wsa_check(soap)) return soap->error;
  return soap_wsa_reply(soap, nullptr, soap_strdup(soap, ("urn:diglot:samples:v1/" + action).c_str()));
}

static SOAP_ENV__Detail *torn(struct soap *soap, const char *reason)
{
  soap_sender_fault(soap, soap_strdup(soap, reason), nullptr);
  SOAP_ENV__Detail *detail = soap_new_SOAP_ENV__Detail(soap, -1);
  (soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail) = detail;
  return detail;
}

int Service::CreateSample(_ns1__CreateSample *asked, _ns1__CreateSampleResponse &answer)
{
  const ns1__SampleDraft &from = *asked->sample;
  ns1__Sample *to = soap_new_ns1__Sample(soap, -1);
#define SAME(member) to->member = from.member
  SAME(text), SAME(flag), SAME(byte), SAME(short_), SAME(int_), SAME(unsignedByte), SAME(unsignedShort), SAME(unsignedInt);
  SAME(long_), SAME(unsignedLong), SAME(integer), SAME(decimal), SAME(double_), SAME(float_), SAME(date), SAME(time);
  SAME(dateTime), SAME(duration), SAME(base64), SAME(hex), SAME(token), SAME(uri), SAME(whole), SAME(maybe);
  SAME(names), SAME(parts);
  to->choice = static_cast<decltype(to->choice)>(from.choice); // the same values in the same order
  to->id = "s-1";
  to->version = "1";
  answer.sample = to;
  return reply(soap, "CreateSampleResponse");
}

int Service::GetSample(_ns1__GetSample *asked, _ns1__GetSampleResponse &)
{
  if (reply(soap, "GetSample/Fault/NotFound")) return soap->error;
  torn(soap, ("no " + asked->id).c_str())->ns1__NotFound = soap_new__ns1__NotFound(soap, -1);
  return SOAP_FAULT;
}

int Service::TearSample(_ns1__TearSample *asked, _ns1__TearSampleResponse &)
{
  if (reply(soap, "TearSample/Fault/Torn")) return soap->error;
  if (asked->where == "crash") return soap_receiver_fault(soap, "crashed < here", nullptr);
  _ns1__Torn *detail = soap_new__ns1__Torn(soap, -1);
  detail->where = asked->where;
  detail->pieces = 3;
  detail->when = soap_new_xsd__date(soap, -1);
  *detail->when = "2026-11-21";
  torn(soap, "torn")->ns1__Torn = detail;
  return SOAP_FAULT;
}

int Service::PutSamplePhoto(_ns1__PutSamplePhoto *asked, _ns1__PutSamplePhotoResponse &answer)
{
  std::lock_guard<std::mutex> mine(turn);
  photo.assign(reinterpret_cast<char *>(asked->photo.__ptr), asked->photo.__size);
  answer.version = std::to_string(photo.size());
  return reply(soap, "PutSamplePhotoResponse");
}

// A part of a package: its type is what makes it one.
int Service::GetSamplePhoto(_ns1__GetSamplePhoto *, _ns1__GetSamplePhotoResponse &answer)
{
  std::lock_guard<std::mutex> mine(turn);
  answer.photo.__size = static_cast<int>(photo.size());
  answer.photo.__ptr = static_cast<unsigned char *>(soap_malloc(soap, photo.size()));
  std::memcpy(answer.photo.__ptr, photo.data(), photo.size());
  answer.photo.type = soap_strdup(soap, "image/png");
  answer.mediaType = "image/png";
  answer.version = "1";
  return reply(soap, "GetSamplePhotoResponse");
}

int Service::NotifyFall(_ns1__NotifyFall *asked)
{
  std::ofstream("fallen") << asked->id;
  return send_NotifyFall_empty_response(202);
}

int main(int, char **words)
{
  std::signal(SIGPIPE, SIG_IGN);
  Service service(SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING | SOAP_ENC_MTOM);
  soap_set_namespaces(service.soap, namespaces);
  soap_register_plugin(service.soap, soap_wsa);
  service.soap->bind_flags = SO_REUSEADDR;
  service.soap->max_keep_alive = 0; // as often as the client likes
  if (!soap_valid_socket(service.bind("127.0.0.1", std::atoi(words[1]), 100))) return 1;
  for (;;)
  {
    if (!soap_valid_socket(service.accept())) return 1;
    Service *one = service.copy();
    std::thread([one] {
      one->serve();
      one->destroy();
      delete one;
    }).detach();
  }
}
