/* validate FILE TIMES SCHEMA: a document parsed into a tree and validated by libxml2, the schema read once. */
#include "count.h"
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>

static xmlSchemaValidCtxtPtr valid;

static long work(void)
{
  xmlDocPtr document = xmlReadMemory(content, length, NULL, NULL, XML_PARSE_NONET | XML_PARSE_COMPACT);
  if (!document || xmlSchemaValidateDoc(valid, document) != 0) exit(4);
  long seen = xmlChildElementCount(xmlDocGetRootElement(document));
  xmlFreeDoc(document);
  return seen;
}

int main(int count, char **words)
{
  load(words[1]);
  xmlSchemaParserCtxtPtr reader = xmlSchemaNewParserCtxt(words[3]);
  xmlSchemaPtr schema = xmlSchemaParse(reader);
  if (!schema) return 5;
  valid = xmlSchemaNewValidCtxt(schema);
  return measure(work, atoi(words[2]));
}
