// Values of the generated classes from XML and to XML, by gSOAP's serialisers, and what a failed call says.
#pragma once
#include "nsmap.h"
#include "proxy.h"
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using json = nlohmann::json;

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
