// gSOAP's server of parts/stock.wsdl, with a thread for each connection: `parts PORT WSDL`.
#include "soapStockSoapService.h"
#include "StockSoap.nsmap"
#include "../gsoap/serve.hpp"
#include <map>
#include <mutex>

struct Row
{
  std::string name, weight;
  bool weighs;
  int version;
};
static std::map<int, Row> rows;
static std::mutex turn;

static ns1__Part *part_of(struct soap *soap, int number, const Row &row)
{
  ns1__Part *part = soap_new_ns1__Part(soap);
  part->partNo = number;
  part->name = row.name;
  part->rowVersion = row.version;
  if (row.weighs)
  {
    part->weight = soap_new_std__string(soap);
    *part->weight = row.weight;
  }
  return part;
}

static int fail(struct soap *soap, const char *reason, int type, void *why)
{
  soap_sender_fault(soap, reason, nullptr);
  soap->fault->detail = soap_new_SOAP_ENV__Detail(soap);
  soap->fault->detail->__type = type;
  soap->fault->detail->fault = why;
  return SOAP_FAULT;
}

static int fail_absent(struct soap *soap, int number)
{
  _ns1__NoSuchPart *why = soap_new__ns1__NoSuchPart(soap);
  why->partNo = number;
  return fail(soap, "no such part", SOAP_TYPE__ns1__NoSuchPart, why);
}

int StockSoapService::GetPart(_ns1__GetPart *input, _ns1__GetPartResponse &output)
{
  const std::lock_guard<std::mutex> mine(turn);
  const auto found = rows.find(input->partNo);
  if (found == rows.end()) return fail_absent(soap, input->partNo);
  output.part = part_of(soap, found->first, found->second);
  return SOAP_OK;
}

int StockSoapService::ListParts(_ns1__ListParts *, _ns1__ListPartsResponse &output)
{
  const std::lock_guard<std::mutex> mine(turn);
  for (const auto &each : rows) output.part.push_back(part_of(soap, each.first, each.second));
  return SOAP_OK;
}

int StockSoapService::CreatePart(_ns1__CreatePart *input, _ns1__CreatePartResponse &output)
{
  const std::lock_guard<std::mutex> mine(turn);
  output.partNo = rows.empty() ? 1 : rows.rbegin()->first + 1;
  rows[output.partNo] = {input->name, input->weight ? *input->weight : "", input->weight != nullptr, 1};
  return SOAP_OK;
}

int StockSoapService::UpdatePart(_ns1__UpdatePart *input, _ns1__UpdatePartResponse &)
{
  const std::lock_guard<std::mutex> mine(turn);
  const ns1__Part &part = *input->part;
  const auto found = rows.find(part.partNo);
  if (found == rows.end()) return fail_absent(soap, part.partNo);
  if (part.name == "meanwhile") // as if another program had been faster
  {
    _ns1__PartConflict *why = soap_new__ns1__PartConflict(soap);
    why->rowVersion = found->second.version + 1;
    return fail(soap, "changed by another", SOAP_TYPE__ns1__PartConflict, why);
  }
  found->second = {part.name, part.weight ? *part.weight : "", part.weight != nullptr, found->second.version + 1};
  return SOAP_OK;
}

int StockSoapService::DeletePart(_ns1__DeletePart *input, _ns1__DeletePartResponse &)
{
  const std::lock_guard<std::mutex> mine(turn);
  return rows.erase(input->partNo) ? SOAP_OK : fail_absent(soap, input->partNo);
}

int main(int, char **words)
{
  return serve_until_killed<StockSoapService>(words);
}
