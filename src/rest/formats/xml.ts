/**
 * Documents as XML and XML content as JSON, by the rules of `contract/xml-message.ts`: fields are
 * elements in the contract's order and the version's namespace, a list is its element around one
 * element per item. Links are Atom's (RFC 4287 §4.2.7). Content becomes the JSON with the same
 * meaning, so that one reader checks both.
 */

import { memoizeByObject } from '../../base/memo.ts'
import type { Json } from '../../base/objects.ts'
import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import { compileScalarWriter } from '../../contract/lexical/scalar.ts'
import { listEntries } from '../../contract/map-entries.ts'
import { foldShape, isScalar, type ShapeCases } from '../../contract/shape.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { clarkNotation, type Element, escapeText, Malformed, parseXml } from '../../xml/index.ts'
import { writeAttribute } from '../../xml/write.ts'
import type { DocumentWriter, RepresentationDocument } from './document.ts'
import { entriesJson, readTextValue } from './untyped-text.ts'

const atom = 'http://www.w3.org/2005/Atom'
const schemaInstance = 'http://www.w3.org/2001/XMLSchema-instance'
const head = '<?xml version="1.0" encoding="UTF-8"?>\n'

export const xmlWriter: DocumentWriter = {
  write: (document, { namespace, only }, items) => {
    const { fields, value, links } = document
    const name = toXmlName(document.name)
    const start = `<${name} xmlns=${writeAttribute(namespace)}${attributesXml(fields, value)}>`
    const members = membersXml(fields, value, document.items ? undefined : only)
    return `${head}${start}${items.join('')}${members}${linksXml(links)}</${name}>`
  },
  /** In the namespace of the collection around it. */
  writeItem: ({ name, fields, value, links }, { only }) => {
    const tag = toXmlName(name)
    return `<${tag}${attributesXml(fields, value)}>${membersXml(fields, value, only)}${linksXml(links)}</${tag}>`
  },
}

const linksXml = (links: RepresentationDocument['links']): string =>
  links
    .filter(link => !link.templated)
    .map(linkXml)
    .join('')
const linkXml = ({ rel, href }: RepresentationDocument['links'][number]): string =>
  `<link xmlns="${atom}" rel=${writeAttribute(rel)} href=${writeAttribute(href)}/>`

type XmlMembers = Readonly<Record<string, unknown>>

const attributesXml = (fields: Fields, value: XmlMembers): string => writeAttributesOf(fields)(value)
const writeAttributesOf = memoizeByObject((fields: Fields): ((value: XmlMembers) => string) => {
  const parts = Object.entries(fields).flatMap(([name, { shape, isAttribute }]) =>
    isAttribute && isScalar(shape) ? [{ name, tag: toXmlName(name), write: compileScalarWriter(shape) }] : [],
  )
  return value => {
    let text = ''
    for (const { name, tag, write } of parts) {
      const member = ownMember(value, name)
      if (member !== undefined) text += ` ${tag}=${writeAttribute(write(member))}`
    }
    return text
  }
})

function membersXml(fields: Fields, value: XmlMembers, only?: ReadonlySet<string>): string {
  let text = ''
  for (const { name, write } of elementsOf(fields)) {
    const member = ownMember(value, name)
    if (member !== undefined && (!only || only.has(name))) text += write(member)
  }
  return text
}
const elementsOf = memoizeByObject((fields: Fields) =>
  Object.entries(fields)
    .filter(([, field]) => !field.isInternal && !field.isAttribute)
    .map(([name, field]) => ({ name, write: compileElement(toXmlName(name), name, field) })),
)

/** Receives a value that has passed the contract's checks: the assertions rely on that. */
type WriteElement = (value: unknown) => string
function compileElement(tag: string, name: string | undefined, { shape }: AnyField): WriteElement {
  const write = foldShape(shape, elementWriters, tag, name)
  const nil = `<${tag} xmlns:xsi="${schemaInstance}" xsi:nil="true"/>`
  return value => (value === null ? nil : write(value))
}
const elementWriters: ShapeCases<WriteElement, [tag: string, name: string | undefined]> = {
  scalar: (shape, tag) => {
    const write = compileScalarWriter(shape)
    return value => `<${tag}>${escapeText(write(value))}</${tag}>`
  },
  list: (shape, tag, name) => {
    const write = compileElement(itemName(shape, name), undefined, shape.item)
    return value => `<${tag}>${(value as readonly unknown[]).map(write).join('')}</${tag}>`
  },
  map: ({ entries }, tag, name) => {
    const write = elementWriters.list(entries, tag, name)
    return value => write(listEntries(value))
  },
  object:
    ({ fields }, tag) =>
    value => {
      const members = value as XmlMembers
      return `<${tag}${attributesXml(fields, members)}>${membersXml(fields, members)}</${tag}>`
    },
  union:
    ({ on, of }, tag) =>
    value => {
      const members = value as XmlMembers
      const which = String(members[on])
      const inner = toXmlName(which)
      const fields = of[which] ?? {}
      return `<${tag}><${inner}${attributesXml(fields, members)}>${membersXml(fields, members)}</${inner}></${tag}>`
    },
}

/**
 * The JSON with the same meaning as a document of these fields; `problem` for any other document.
 * @param charset of the media type (RFC 7303 §3.2)
 */
export function readXmlContent(
  bytes: Uint8Array,
  charset: string | undefined,
  name: string,
  namespace: string,
  fields: Fields,
): { readonly json: Json } | { readonly problem: string } {
  const document = parseXml(bytes, charset === undefined ? {} : { charset })
  if (document instanceof Malformed) return { problem: `${document.reason}, at octet ${document.at}` }
  const { root } = document
  if (root.name.local !== toXmlName(name) || (root.name.uri !== namespace && root.name.uri !== ''))
    return { problem: `the root element must be ${name} in the namespace ${namespace}` }
  return { json: membersJson(root, fields, namespace) }
}

function membersJson(of: Element, fields: Fields, namespace: string): Json {
  const names = new Map(Object.entries(fields).map(([name, field]) => [toXmlName(name), [name, field] as const]))
  const members: [string, Json][] = []
  for (const { name, value } of of.attributes) {
    const known = names.get(name.local)
    if (known?.[1].isAttribute && isScalar(known[1].shape))
      members.push([known[0], readTextValue(known[1].shape, value)])
  }
  for (const child of of.elements()) {
    if (child.name.uri === atom) continue
    const isOwn = child.name.uri === namespace || child.name.uri === ''
    const [name, field] = (isOwn && names.get(child.name.local)) || [clarkNotation(child.name), undefined]
    // A repeated member gives a value that fits no type: the contract's reader reports it.
    const twice = members.findIndex(([other]) => other === name)
    const json = field ? valueJson(child, name, field, namespace) : child.text
    if (twice < 0) members.push([name, json])
    else members[twice] = [name, [json]]
  }
  return Object.fromEntries(members)
}

function valueJson(of: Element, name: string | undefined, { shape }: AnyField, namespace: string): Json {
  if (of.attributes.some(each => each.name.uri === schemaInstance && each.name.local === 'nil' && isTrue(each.value)))
    return null
  return foldShape(shape, elementReaders, of, name, namespace)
}
const elementReaders: ShapeCases<Json, [of: Element, name: string | undefined, namespace: string]> = {
  scalar: (shape, of) => (of.elements().length > 0 ? {} : readTextValue(shape, of.text)),
  list: (shape, of, name, namespace) => {
    const item = itemName(shape, name)
    return of
      .elements()
      .map(each => (each.name.local === item ? valueJson(each, undefined, shape.item, namespace) : {}))
  },
  map: ({ entries }, of, name, namespace) => entriesJson(elementReaders.list(entries, of, name, namespace)),
  object: ({ fields }, of, _name, namespace) => membersJson(of, fields, namespace),
  union: (shape, of, _name, namespace) => {
    const [chosen] = of.elements()
    const which = Object.keys(shape.of).find(each => toXmlName(each) === chosen?.name.local)
    if (!chosen || which === undefined) return {}
    return { ...Object(membersJson(chosen, shape.of[which] ?? {}, namespace)), [shape.on]: which }
  },
}

const isTrue = (value: string): boolean => value.trim() === 'true' || value.trim() === '1'
