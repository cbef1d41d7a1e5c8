/* A client of parts/desk.wsdl, whose messages have several elements: the address to call. */
#include "soapH.h"
#include "nsmap.h"

int main(int count, char **words) {
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING);
  struct _ns2__Buyer buyer = {"Ada", "Ulm"};
  struct __ns1__OrderResponse answer;
  struct _ns2__Counted counted;
  if (count < 2 || soap_call___ns1__Order(soap, words[1], NULL, "tea", 3, &buyer, &answer) ||
      soap_call___ns1__Count(soap, words[1], NULL, "tea", &counted)) {
    soap_print_fault(soap, stderr);
    return 1;
  }
  printf("{\"number\":\"%s\",\"total\":\"%s\",\"count\":%d,", answer.ns2__Number, answer.ns2__Total, counted.count);
  int refused = soap_call___ns1__Order(soap, words[1], NULL, "tea", 3, NULL, &answer) != SOAP_OK;
  printf("\"refused\":%s}", refused ? "true" : "false");
  return 0;
}
