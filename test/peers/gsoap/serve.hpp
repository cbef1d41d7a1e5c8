// What the small servers of gSOAP have in common: their WSDL, and a thread for each connection.
#pragma once
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

static std::string wsdl;

static int send_wsdl(struct soap *soap)
{
  if (!strstr(soap->path, "?wsdl")) return SOAP_GET_METHOD;
  soap->http_content = "text/xml";
  soap_response(soap, SOAP_FILE);
  soap_send_raw(soap, wsdl.data(), wsdl.size());
  return soap_end_send(soap);
}

// `words` of main: the program, its port, the file of its WSDL.
template <class Service> int serve_until_killed(char **words)
{
  std::stringstream text;
  text << std::ifstream(words[2]).rdbuf();
  wsdl = text.str();
  Service service(SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING);
  service.soap->fget = send_wsdl;
  service.soap->bind_flags = SO_REUSEADDR;
  service.soap->recv_timeout = service.soap->send_timeout = 2;
  if (!soap_valid_socket(service.bind("127.0.0.1", atoi(words[1]), 100))) return 1;
  while (soap_valid_socket(service.accept()))
  {
    Service *one = service.copy();
    std::thread([one]() {
      one->serve();
      one->destroy();
      delete one;
    }).detach();
  }
  return 0;
}
