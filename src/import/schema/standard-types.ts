/** Types and attributes of XML Schema, of SOAP's encodings, and of standard schemas. */
import { type AnyXmlType, builtInNames, swaRefUri, x } from '../../contract/xml-type.ts'

export const encodingUris = [
  'http://schemas.xmlsoap.org/soap/encoding/',
  'http://www.w3.org/2003/05/soap-encoding',
] as const
export const xmlUri = 'http://www.w3.org/XML/1998/namespace'
export const swaRefName = `{${swaRefUri}}swaRef`
/**
 * Attributes of standard schemas: for the media types of binary data, and for XML, whose attributes
 * are the same whatever a document says about them.
 */
export const knownAttributes: Readonly<Record<string, AnyXmlType>> = {
  [`{${xmlUri}}lang`]: x.string,
  [`{${xmlUri}}space`]: x.NCName,
  [`{${xmlUri}}base`]: x.anyURI,
  [`{${xmlUri}}id`]: x.ID,
  '{http://www.w3.org/2005/05/xmlmime}contentType': x.string,
  '{http://www.w3.org/2004/11/xmlmime}contentType': x.string,
  '{http://www.w3.org/ns/wsdl-instance}wsdlLocation': x.list(x.anyURI),
}

/** For media types of binary data, with the name that it had first. */
export const mediaUris = ['http://www.w3.org/2005/05/xmlmime', 'http://www.w3.org/2004/11/xmlmime'] as const
/** `id` and `href`, which the encoding itself reads. */
export const encodingAttributes: ReadonlySet<string> = new Set(encodingUris.map(uri => `{${uri}}commonAttributes`))
/** Octets with their media type (Describing Media Content of Binary Data in XML §2.1). */
export const knownTypes: ReadonlyMap<string, AnyXmlType> = new Map(
  mediaUris.flatMap(uri =>
    (['base64Binary', 'hexBinary'] as const).map(name => {
      const contentType = x.attribute(x.string).in(uri).optional()
      return [`{${uri}}${name}`, x.namespace(uri).type(name, { value: x.text(x[name]), contentType })] as const
    }),
  ),
)

/** Those of XML Schema 1.1 narrow older ones (Part 2 §3.4.26–§3.4.28). */
export const builtInTypes: ReadonlyMap<string, AnyXmlType> = new Map<string, AnyXmlType>([
  ...builtInNames.flatMap(name => (name === 'swaRef' ? [] : [[name, x[name]] as const])),
  ['anyURI', x.anyURI],
  ['ur-type', x.anyType],
  ['base64', x.base64Binary],
  ['timeInstant', x.dateTime],
  ['timeDuration', x.duration],
  ['uriReference', x.anyURI],
  ['CDATA', x.normalizedString],
  ['anyAtomicType', x.anySimpleType],
  ['dateTimeStamp', x.simple(x.dateTime, { patterns: ['.*(Z|[+\\-][0-9]{2}:[0-9]{2})'] })],
  ['yearMonthDuration', x.simple(x.duration, { patterns: ['[^DT]*'] })],
  ['dayTimeDuration', x.simple(x.duration, { patterns: ['[^YM]*(T.*)?'] })],
])
