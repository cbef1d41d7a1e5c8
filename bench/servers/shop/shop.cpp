// gSOAP's generated server: a thread for each connection, kept alive. See shop.ts for the message.
#include "soapShopSoap11Service.h"
#include "ShopSoap11.nsmap"
#include <csignal>
#include <cstdlib>
#include <thread>

int ShopSoap11Service::CreateOrder(_ns1__CreateOrder *asked, _ns1__CreateOrderResponse &answer)
{
  const ns1__OrderDraft &draft = *asked->order;
  ns1__Order *order = soap_new_ns1__Order(soap, -1);
  order->id = "o-1";
  order->customer = draft.customer;
  order->currency = draft.currency;
  order->delivery = draft.delivery;
  order->express = draft.express;
  order->lines = draft.lines;
  order->note = draft.note;
  order->version = "1";
  answer.order = order;
  return SOAP_OK;
}

int main(int, char **words)
{
  std::signal(SIGPIPE, SIG_IGN);
  ShopSoap11Service service(SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING);
  service.soap->max_keep_alive = 0; // as often as the client likes
  service.soap->accept_flags = 0;
  if (!soap_valid_socket(service.bind("127.0.0.1", std::atoi(words[1]), 100))) return 1;
  for (;;)
  {
    if (!soap_valid_socket(service.accept())) return 1;
    ShopSoap11Service *one = service.copy();
    std::thread([one] {
      one->serve();
      one->destroy();
      delete one;
    }).detach();
  }
}
