// gSOAP's wsse plugin proves who calls: `secure WSDL VERSION WAY KEY CERTIFICATE`; see soap-driver.ts for the lines it reads and
// prints.
#include "values.h"
#include "wsseapi.h"
#include <openssl/pem.h>

#define CALL(Operation)                                                         \
  if (operation == #Operation)                                                  \
  {                                                                             \
    _ns1__##Operation input;                                                    \
    _ns1__##Operation##Response output;                                         \
    input.soap_default(soap);                                                   \
    read(input, xml, soap_read__ns1__##Operation);                              \
    prove();                                                                    \
    if (proxy.Operation(&input, output) != SOAP_OK) return failure(soap);       \
    return {{"xml", written(output, soap_write__ns1__##Operation##Response)}};  \
  }

EVP_PKEY *key_in(const char *file)
{
  FILE *from = fopen(file, "r");
  EVP_PKEY *key = from ? PEM_read_PrivateKey(from, nullptr, nullptr, nullptr) : nullptr;
  if (from) fclose(from);
  if (!key) throw std::runtime_error(std::string("no key in ") + file);
  return key;
}

int main(int, char **words)
{
  const std::string address(words[1]), way(words[3]), endpoint = address.substr(0, address.find('?'));
  EVP_PKEY *key = key_in(words[4]);
  for (std::string line; std::getline(std::cin, line);)
  {
    const json asked = json::parse(line);
    const std::string operation = asked["operation"], xml = asked["xml"], as = asked["as"], password = asked["password"];
    struct soap *soap = soap_new1(SOAP_C_UTFSTRING | SOAP_XML_CANONICAL);
    soap_set_namespaces(soap, namespaces);
    soap_register_plugin(soap, soap_wsse);
    Proxy proxy(soap);
    proxy.soap_endpoint = endpoint.c_str();
    auto prove = [&]() {
      if (way == "text") soap_wsse_add_UsernameTokenText(soap, nullptr, as.c_str(), password.c_str());
      else if (way == "digest") soap_wsse_add_UsernameTokenDigest(soap, nullptr, as.c_str(), password.c_str());
      else if (soap_wsse_add_Timestamp(soap, "Time", 300) || soap_wsse_add_BinarySecurityTokenPEM(soap, "Token", words[5]) ||
               soap_wsse_add_KeyInfo_SecurityTokenReferenceX509(soap, "#Token") ||
               soap_wsse_sign_body(soap, SOAP_SMD_SIGN_RSA_SHA256, key, 0))
        throw std::runtime_error("the message is not signed");
    };
    auto call = [&]() -> json {
      CALL(GetOrder) CALL(PayOrder) CALL(ShipOrder)
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
  EVP_PKEY_free(key);
}
