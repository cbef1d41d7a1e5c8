/** libxml2 as the judge of messages by the schemas of a WSDL. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Element, internName, Malformed, parseXml, writeElement } from '../../src/xml/index.ts'
import { type Judge, judge } from '../describe/oracle.ts'
import { elementsWithin } from '../xml/documents.ts'

const xs = 'http://www.w3.org/2001/XMLSchema'

/**
 * Undefined where libxml2 refuses the schemas, or has not all of them.
 * @param folder of the documents that they refer to
 */
export function judgeByWsdl(wsdl: Uint8Array, folder?: string): Judge | undefined {
  const document = parseXml(wsdl)
  if (document instanceof Malformed) return undefined
  const schemas = elementsWithin(document.root).filter(each => each.name === internName(xs, 'schema'))
  const uris = schemas.map(each => each.attribute(internName('', 'targetNamespace')))
  const places = new Map(uris.map((uri, at) => [uri, `schema-${at}.xsd`]))
  const texts = schemas.map((each, at) => [`schema-${at}.xsd`, locate(writeApart(each), places)] as const)
  const files = folder === undefined ? [] : globSync('**/*.xsd', { cwd: folder })
  const read = files.map(each => [each, locate(readFileSync(join(folder ?? '', each), 'utf8'), new Map())] as const)
  try {
    return judge(writeDriver(places), Object.fromEntries([...read, ...texts]))
  } catch {
    return undefined
  }
}

const writeDriver = (places: ReadonlyMap<string | undefined, string>): string =>
  `<xs:schema xmlns:xs="${xs}">${Array.from(places, ([uri, place]) =>
    uri === undefined
      ? `<xs:include schemaLocation="${place}"/>`
      : `<xs:import namespace="${uri}" schemaLocation="${place}"/>`,
  ).join('')}</xs:schema>`

/** An import of a schema in the same WSDL needs no location there; libxml2 takes paths as they are. */
const locate = (text: string, places: ReadonlyMap<string | undefined, string>): string =>
  text
    .replaceAll(/<(?:\w+:)?import (?![^>]*schemaLocation)[^>]*?namespace="([^"]*)"/g, (found, uri: string) => {
      const place = places.get(uri)
      return place === undefined ? found : `${found} schemaLocation="${place}"`
    })
    .replaceAll('schemaLocation="./', 'schemaLocation="')

/** With the namespaces that are declared around it. */
export function writeApart(element: Element): string {
  const declared = new Map<string, string>()
  for (let at: Element | undefined = element; at; at = at.parent)
    for (const { prefix, uri } of at.declarations) if (!declared.has(prefix)) declared.set(prefix, uri)
  const declarations = Array.from(declared, ([prefix, uri]) => ({ prefix, uri }))
  const alone = new Element(undefined, element.name, element.prefix, element.attributes, declarations)
  alone.append(element.children)
  return writeElement(alone)
}
