// Calls by what wsdl2h and soapcpp2 make of the WSDL; see soap-driver.ts for the lines it reads and prints.
// A request is read into its generated class and a response written from its own by gSOAP's serialisers, so that every
// value goes through the class that a C++ programmer would see.
#include "nsmap.h"
#include "proxy.h"
#include "wsaapi.h"
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using json = nlohmann::json;

struct soap *made(int mode)
{
  struct soap *soap = soap_new1(mode);
  soap_set_namespaces(soap, namespaces);
  soap_register_plugin(soap, soap_wsa);
  return soap;
}

template <class Type, class Read> void read(Type &into, const std::string &xml, Read reader)
{
  std::istringstream in(xml);
  into.soap->is = &in;
  int failed = reader(into.soap, &into);
  into.soap->is = nullptr;
  if (failed)
  {
    soap_set_fault(into.soap);
    throw std::runtime_error(std::string("the request is not read: ") + *soap_faultstring(into.soap));
  }
}

template <class Type, class Write> std::string written(const Type &from, Write writer)
{
  std::ostringstream out;
  struct soap *plain = soap_new1(SOAP_C_UTFSTRING | SOAP_XML_CANONICAL);
  soap_set_namespaces(plain, namespaces);
  plain->os = &out;
  writer(plain, const_cast<Type *>(&from));
  plain->os = nullptr;
  soap_end(plain);
  soap_free(plain);
  return out.str();
}

// With an id or a type the octets go as a part of an MTOM package.
template <class Type> void package(Type &, bool) {}
void package(_ns1__PutProductPicture &asked, bool packaged)
{
  if (packaged) asked.picture.type = soap_strdup(asked.soap, "image/png");
}
template <class Type> void unpackage(Type &) {}
void unpackage(_ns1__GetProductPictureResponse &answered)
{
  answered.picture.id = answered.picture.type = answered.picture.options = nullptr;
}

json failure(struct soap *soap)
{
  soap_set_fault(soap);
  const char *code = *soap_faultcode(soap), *reason = *soap_faultstring(soap);
  if (soap->error != SOAP_FAULT && soap->error != SOAP_MUSTUNDERSTAND && !soap->fault) return {{"error", reason ? reason : "none"}};
  std::string detail;
  SOAP_ENV__Detail *found = soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail;
  if (found)
  {
    if (found->ns1__Forbidden) detail = written(*found->ns1__Forbidden, soap_write__ns1__Forbidden);
    if (found->ns1__Invalid) detail = written(*found->ns1__Invalid, soap_write__ns1__Invalid);
    if (found->ns1__NotFound) detail = written(*found->ns1__NotFound, soap_write__ns1__NotFound);
    if (found->ns1__OutOfStock) detail = written(*found->ns1__OutOfStock, soap_write__ns1__OutOfStock);
    if (found->ns1__PaymentDeclined) detail = written(*found->ns1__PaymentDeclined, soap_write__ns1__PaymentDeclined);
    if (found->ns1__StateConflict) detail = written(*found->ns1__StateConflict, soap_write__ns1__StateConflict);
    if (found->ns1__VersionConflict) detail = written(*found->ns1__VersionConflict, soap_write__ns1__VersionConflict);
  }
  return {{"fault", {{"code", code ? code : ""}, {"reason", reason ? reason : ""}, {"detail", detail}}}};
}

#define CALL(Operation)                                                         \
  if (operation == #Operation)                                                  \
  {                                                                             \
    _ns1__##Operation input;                                                    \
    _ns1__##Operation##Response output;                                         \
    input.soap_default(soap);                                                   \
    read(input, xml, soap_read__ns1__##Operation);                              \
    package(input, packaged);                                                   \
    prepare(namespace_uri + "/" + #Operation);                                  \
    if (proxy.Operation(&input, output) != SOAP_OK) return failure(soap);       \
    if (addressed && soap_wsa_check(soap)) return failure(soap);                \
    unpackage(output);                                                          \
    return {{"xml", written(output, soap_write__ns1__##Operation##Response)}};  \
  }

int main(int count, char **words)
{
  std::set<std::string> wanted(words + 4, words + count);
  const bool packaged = wanted.count("mtom"), addressed = wanted.count("addressing");
  const std::string address(words[1]), endpoint = address.substr(0, address.find('?'));
  int mode = SOAP_C_UTFSTRING | (packaged ? SOAP_ENC_MTOM : 0);
  for (std::string line; std::getline(std::cin, line);)
  {
    const json asked = json::parse(line);
    const std::string operation = asked["operation"], xml = asked["xml"], namespace_uri = asked["namespace"];
    const std::string as = asked["as"], password = asked["password"];
    struct soap *soap = made(mode);
    Proxy proxy(soap);
    proxy.soap_endpoint = endpoint.c_str();
    auto prepare = [&](const std::string &action) {
      soap->userid = as.c_str();
      soap->passwd = password.c_str();
      if (addressed) soap_wsa_request(soap, soap_wsa_rand_uuid(soap), endpoint.c_str(), action.c_str());
      if (wanted.count("mandatory"))
      {
        if (!soap->header) soap_header(soap);
        soap->header->x__Unknown = soap_strdup(soap, "who knows");
      }
    };
    auto call = [&]() -> json {
      CALL(GetOrder) CALL(ListOrders) CALL(CreateOrder) CALL(ReplaceOrder) CALL(DeleteOrder) CALL(PayOrder)
      CALL(CancelOrder) CALL(ShipOrder) CALL(TrackOrder) CALL(DeliverOrder) CALL(SearchOrders)
      CALL(GetCustomer) CALL(ListCustomers) CALL(MergeCustomer)
      CALL(GetProduct) CALL(ListProducts) CALL(CreateProduct) CALL(GetProductPicture) CALL(PutProductPicture)
      CALL(StartReport) CALL(GetReportJob)
      if (operation == "NotifyDelivery")
      {
        _ns1__NotifyDelivery input;
        input.soap_default(soap);
        read(input, xml, soap_read__ns1__NotifyDelivery);
        prepare(namespace_uri + "/NotifyDelivery");
        if (proxy.NotifyDelivery(&input) != SOAP_OK) return failure(soap);
        return {{"output", json::object()}};
      }
      return {{"error", "no " + operation}};
    };
    json said;
    try
    {
      said = call();
    }
    catch (const std::exception &error)
    {
      said = {{"error", error.what()}};
    }
    std::cout << said.dump() << std::endl;
    soap_destroy(soap);
    soap_end(soap);
    soap_free(soap);
  }
}
