// Calls by what wsdl2h and soapcpp2 make of the WSDL; see soap-driver.ts for the lines it reads and prints.
// A request is read into its generated class and a response written from its own by gSOAP's serialisers, so that every
// value goes through the class that a C++ programmer would see.
#include "values.h"
#include "wsaapi.h"
#include <set>

struct soap *made(int mode)
{
  struct soap *soap = soap_new1(mode);
  soap_set_namespaces(soap, namespaces);
  soap_register_plugin(soap, soap_wsa);
  return soap;
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
