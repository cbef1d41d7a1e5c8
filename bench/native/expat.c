/* expat FILE TIMES: namespace-aware events of a document by expat, its parser made once and used again. */
#include "count.h"
#include <expat.h>

static XML_Parser parser;
static long seen;

static size_t local(const char *name)
{
  const char *bar = strchr(name, '|');
  return strlen(bar ? bar + 1 : name);
}
static void XMLCALL start(void *data, const char *name, const char **attributes)
{
  seen += local(name);
  for (; *attributes; attributes += 2) seen += strlen(attributes[1]);
}
static void XMLCALL end(void *data, const char *name) { seen++; }
static void XMLCALL text(void *data, const char *octets, int count) { seen += count; }

static long work(void)
{
  seen = 0;
  XML_ParserReset(parser, NULL);
  XML_SetElementHandler(parser, start, end);
  XML_SetCharacterDataHandler(parser, text);
  if (XML_Parse(parser, content, length, 1) != XML_STATUS_OK) exit(4);
  return seen;
}

int main(int count, char **words)
{
  load(words[1]);
  parser = XML_ParserCreateNS(NULL, '|');
  return measure(work, atoi(words[2]));
}
