/** XML for people: indented, one element per line. */
import { escapeText, writeAttribute } from '../xml/write.ts'

/** Markup, not text: it is not escaped again. */
export type MarkupContent = string | false | undefined | readonly MarkupContent[]
export type Attributes = Readonly<Record<string, string | number | bigint | boolean | undefined>>

/** An element. Undefined attributes are left out. */
export function writeTag(name: string, attributes: Attributes = {}, ...content: readonly MarkupContent[]): string {
  const start = `<${name}${writeAttributes(attributes)}`
  const inner = contentElements(content)
  return inner.length === 0 ? `${start}/>` : `${start}>\n${inner.map(indentMarkup).join('\n')}\n</${name}>`
}

/** An element with only text. */
export const writeTextTag = (name: string, value: string, attributes: Attributes = {}): string =>
  `<${name}${writeAttributes(attributes)}>${escapeText(value.replace(/\s+/g, ' '))}</${name}>`

/** XML Schema Part 1 §3.13: documentation of a declaration, one line for each text line. */
export const writeAnnotation = (text: string | undefined): string | false =>
  text !== undefined &&
  writeTag(
    'xs:annotation',
    {},
    text.split('\n').map(line => writeTextTag('xs:documentation', line)),
  )

/** WSDL 1.1 §2.1.4, WSDL 2.0 §2.1: documentation of a component. */
export const writeDocumentation = (text: string | undefined): string | false =>
  text !== undefined && writeTextTag('wsdl:documentation', text)

export const writeDocument = (root: string): string => `<?xml version="1.0" encoding="utf-8"?>\n${root}\n`

function writeAttributes(attributes: Attributes): string {
  let all = ''
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) all += ` ${name}=${escapeInvisible(writeAttribute(String(value)))}`
  return all
}
const contentElements = (content: MarkupContent): string[] =>
  typeof content === 'string' ? [content] : content ? content.flatMap(contentElements) : []
const indentMarkup = (markup: string): string => markup.replace(/^/gm, '  ')
/** Writes invisible characters as references. */
const escapeInvisible = (value: string): string =>
  value.replace(/[\u00A0\u2028\u2029\uFEFF]/g, each => `&#x${each.charCodeAt(0).toString(16).toUpperCase()};`)
