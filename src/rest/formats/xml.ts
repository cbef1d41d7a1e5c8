/**
 * Documents as XML and XML content as JSON, by the rules of `contract/xml-message.ts`: fields are elements in the contract's
 * order and the version's namespace, a list is its element around one element per item. Links are Atom's (RFC 4287 §4.2.7).
 * What is read becomes the JSON that would say the same, so that one reader checks both.
 */

import type { Json } from '../../base/objects.ts'
import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields, Shape } from '../../contract/field.ts'

import { isScalar, writeScalar as lexical } from '../../contract/lexical/scalar.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { clark, type Element, escapeText, Malformed, parseXml } from '../../xml/index.ts'
import { writeAttribute } from '../../xml/write.ts'
import type { DocumentContext, RepresentationDocument } from './document.ts'
import { readTextValue } from './untyped-text.ts'

const atom = 'http://www.w3.org/2005/Atom'
const schemaInstance = 'http://www.w3.org/2001/XMLSchema-instance'
const head = '<?xml version="1.0" encoding="UTF-8"?>\n'

export const writeXml = (document: RepresentationDocument, { namespace, only }: DocumentContext): string =>
  head + writeDocumentElement(document, only, ` xmlns=${writeAttribute(namespace)}`)

function writeDocumentElement(
  document: RepresentationDocument,
  only: ReadonlySet<string> | undefined,
  declared: string,
): string {
  const name = toXmlName(document.name)
  const links = document.links.filter(link => !link.templated).map(linkXml)
  const selected = document.items ? undefined : only
  const items = (document.items ?? []).map(item => writeDocumentElement(item, only, ''))
  const attributes = attributesXml(document.fields, document.value)
  return `<${name}${declared}${attributes}>${items.join('')}${membersXml(document.fields, document.value, selected)}${links.join('')}</${name}>`
}

const linkXml = ({ rel, href }: RepresentationDocument['links'][number]): string =>
  `<link xmlns="${atom}" rel=${writeAttribute(rel)} href=${writeAttribute(href)}/>`

type XmlMembers = Readonly<Record<string, unknown>>

function attributesXml(fields: Fields, value: XmlMembers): string {
  let written = ''
  for (const [name, field] of Object.entries(fields))
    if (field.isAttribute && ownMember(value, name) !== undefined && isScalar(field.shape))
      written += ` ${toXmlName(name)}=${writeAttribute(lexical(field.shape, value[name]))}`
  return written
}

function membersXml(fields: Fields, value: XmlMembers, only?: ReadonlySet<string>): string {
  let written = ''
  for (const [name, field] of Object.entries(fields)) {
    if (field.isInternal || field.isAttribute || ownMember(value, name) === undefined || (only && !only.has(name)))
      continue
    written += valueXml(toXmlName(name), name, field, value[name])
  }
  return written
}

/** Each takes a value that the contract's checks have passed: the assertions rest on that. */
function valueXml(tag: string, name: string | undefined, field: AnyField, value: unknown): string {
  const { shape } = field
  if (value === null) return `<${tag} xmlns:xsi="${schemaInstance}" xsi:nil="true"/>`
  if (isScalar(shape)) return `<${tag}>${escapeText(lexical(shape, value))}</${tag}>`
  if (shape.kind === 'list') {
    const item = itemName(shape, name)
    const items = (value as readonly unknown[]).map(each => valueXml(item, undefined, shape.item, each))
    return `<${tag}>${items.join('')}</${tag}>`
  }
  const members = value as XmlMembers
  if (shape.kind === 'object')
    return `<${tag}${attributesXml(shape.fields, members)}>${membersXml(shape.fields, members)}</${tag}>`
  const which = String(members[shape.on])
  const inner = toXmlName(which)
  return `<${tag}><${inner}>${membersXml(shape.of[which] ?? {}, members)}</${inner}></${tag}>`
}

/** The JSON that says what a document of these fields says; `problem` when it is no such document. */
export function readXmlContent(
  bytes: Uint8Array,
  name: string,
  namespace: string,
  fields: Fields,
): { readonly json: Json } | { readonly problem: string } {
  const document = parseXml(bytes)
  if (document instanceof Malformed) return { problem: `${document.reason}, at octet ${document.at}` }
  const { root } = document
  if (root.name.local !== toXmlName(name) || (root.name.uri !== namespace && root.name.uri !== ''))
    return { problem: `the root must be ${name} in ${namespace}` }
  return { json: membersJson(root, fields, namespace) }
}

function membersJson(of: Element, fields: Fields, namespace: string): Json {
  const names = new Map(Object.entries(fields).map(([name, field]) => [toXmlName(name), [name, field] as const]))
  const found: [string, Json][] = []
  for (const { name, value } of of.attributes) {
    const known = names.get(name.local)
    if (known?.[1].isAttribute) found.push([known[0], scalarJson(known[1].shape, value)])
  }
  for (const child of of.elements()) {
    if (child.name.uri === atom) continue
    const own = child.name.uri === namespace || child.name.uri === ''
    const [name, field] = (own && names.get(child.name.local)) || [clark(child.name), undefined]
    // What comes twice is no value of any type: the contract's reader says so.
    const twice = found.findIndex(([other]) => other === name)
    const json = field ? valueJson(child, name, field, namespace) : child.text
    if (twice < 0) found.push([name, json])
    else found[twice] = [name, [json]]
  }
  return Object.fromEntries(found)
}

function valueJson(of: Element, name: string | undefined, field: AnyField, namespace: string): Json {
  const { shape } = field
  if (of.attributes.some(each => each.name.uri === schemaInstance && each.name.local === 'nil' && isTrue(each.value)))
    return null
  if (isScalar(shape)) return of.elements().length > 0 ? {} : scalarJson(shape, of.text)
  if (shape.kind === 'list') {
    const item = itemName(shape, name)
    return of
      .elements()
      .map(each => (each.name.local === item ? valueJson(each, undefined, shape.item, namespace) : {}))
  }
  if (shape.kind === 'object') return membersJson(of, shape.fields, namespace)
  const [chosen] = of.elements()
  const which = Object.keys(shape.of).find(each => toXmlName(each) === chosen?.name.local)
  if (!chosen || which === undefined) return {}
  return { ...Object(membersJson(chosen, shape.of[which] ?? {}, namespace)), [shape.on]: which }
}

const isTrue = (value: string): boolean => value.trim() === 'true' || value.trim() === '1'
const scalarJson = (shape: Shape, value: string): Json => readTextValue(shape, value)
