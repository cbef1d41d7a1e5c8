/* sax2 FILE TIMES: namespace-aware events of a document by libxml2's SAX2. */
#include "count.h"
#include <libxml/parser.h>

static long seen;

static void start(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                  const xmlChar **declared, int attributes, int defaulted, const xmlChar **each)
{
  seen += strlen((const char *)name);
  for (int i = 0; i < attributes; i++, each += 5) seen += each[4] - each[3];
}
static void end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) { seen++; }
static void text(void *data, const xmlChar *octets, int count) { seen += count; }

static xmlSAXHandler handler = {
    .initialized = XML_SAX2_MAGIC, .startElementNs = start, .endElementNs = end, .characters = text, .ignorableWhitespace = text};

static long work(void)
{
  seen = 0;
  if (xmlSAXUserParseMemory(&handler, NULL, content, length) != 0) exit(4);
  return seen;
}

int main(int count, char **words)
{
  load(words[1]);
  xmlInitParser();
  return measure(work, atoi(words[2]));
}
