/**
 * Values that may tell two schemas apart: a pool of texts and structures, with each bound and each
 * listed value of the two. libxml2 says which of them a schema takes.
 */

import { judge } from '../../describe/oracle.ts'
import { eachWay, type Shape, writeSchema, xs } from '../../diff/soap-change-table.ts'

const texts = [
  ...['x', '1', 'x  y', '', '16777217', '1e300', 'y', 'X', 'xx', 'yy', 'xxx', 'xxxxx', 'xxxxxxxxx', ' x'],
  ...['0', '2', '3', '7', '-1', '1 2', '1 2 3', '2147483647', '2147483648', '9223372036854775807'],
  ...['0.5', '1.25', '1.0625', '0.1', '1e2', 'INF', 'AAAA', 'ABCD', 'ABC=', 'urn:any'],
  ...['2025-06-30', '2026-06-30', '2025-06-30T12:00:00', '2025-06-30T12:00:00Z', '11:00:00', '11:00:00Z'],
  ...['2025', '--01-31', 'PT1S', 'P1M', 'PT744H'],
]
const other = '<o:other xmlns:o="urn:other">1</o:other>'
const structures = [
  '',
  '<t:a>x</t:a><t:b>y</t:b>',
  '<t:b>y</t:b><t:a>x</t:a>',
  '<t:b>y</t:b>',
  '<t:c>z</t:c>',
  '<t:a>x</t:a><t:c>z</t:c>',
  '<t:b>y</t:b><t:d>z</t:d>',
  '<t:e>x</t:e><t:c>z</t:c>',
  '<t:a>x</t:a><t:a>y</t:a>',
  '<t:a>x</t:a><t:a>y</t:a><t:a>z</t:a>',
  '<t:a xsi:nil="true"/>',
  `<t:a>x</t:a>${other}`,
  '<t:a>x</t:a><t:Taken><t:mark>m</t:mark></t:Taken>',
  '<t:a>x</t:a><t:Taken><t:wrong/></t:Taken>',
  '<t:a>x</t:a><t:unknown>1</t:unknown>',
  `<t:a>${other}</t:a>`,
  '<t:a><t:a>x</t:a></t:a>',
  '<t:a xsi:type="t:More"><t:a>x</t:a><t:b>y</t:b></t:a>',
]
const attributes = ['at="x"', 'at="1"', 'at="2"', 't:at="1"', 'o:at="1" xmlns:o="urn:other"']

/** The contents of `thing`, each with its attributes; texts of the two schemas come first. */
function listContents(shapes: readonly Shape[]): readonly string[] {
  const stated = shapes.flatMap(({ schema }) =>
    Array.from(schema.matchAll(/value="([^"]*)"/g), ([, text = '']) => text),
  )
  const simple = [...new Set([...stated, ...texts])].map(text => `><t:a>${text}</t:a>`)
  return [...structures.map(each => `>${each}`), ...attributes.map(each => ` ${each}><t:a>x</t:a>`), ...simple]
}

const namespaces = `xmlns:t="urn:x" xmlns:xsi="${xs}-instance"`
/** The value in its element, with names as the schema has those of local elements. */
function writeThing(content: string, form = 'qualified'): string {
  const name = form === 'qualified' ? 't:thing' : 'thing'
  return `<${name}${form === 'qualified' ? content : content.replaceAll(/(<\/?)t:/g, '$1')}</${name}>`
}
/** The request that asks to take a value, under a mark. */
export const writeTake = (content: string, mark: string, form?: string): string =>
  `<t:Take ${namespaces}><t:mark>${mark}</t:mark>${writeThing(content, form)}</t:Take>`
export const writeGive = (mark: string): string => `<t:Give ${namespaces}><t:mark>${mark}</t:mark></t:Give>`
export const writeGiven = (content: string, form?: string): string =>
  `<t:Given ${namespaces}>${writeThing(content, form)}</t:Given>`

/** libxml2 passes over what is no letter of base64, and takes any date for octets. */
const isFalseBase64 = (content: string, { schema }: Shape): boolean =>
  schema.includes('xs:base64Binary') && /[-:]/.test(content.replaceAll(/<\/?\w+:/g, '<'))

/**
 * libxml2 puts a time without a zone before or after a bound that has one; XML Schema Part 2
 * §3.2.7.4 has no order between them, so that we refuse it, as Xerces does.
 */
const hasNoOrder = (content: string, { schema }: Shape): boolean => {
  const bound = /Inclusive value="[^"]*\d\d:\d\d:\d\d[\d.]*([^"]*)"/.exec(schema)
  const time = />[^<]*\d\d:\d\d:\d\d[\d.]*([^<]*)</.exec(content)
  return bound !== null && time !== null && (bound[1] === '') !== (time[1] === '')
}

const witnessesMax = 8

/** What the first schema takes: values that the second one refuses come first, then others. */
export function chooseWitnesses(taking: Shape, comparing: Shape): readonly string[] {
  const [one, two] = [taking, comparing].map(each => judge(writeSchema(each, eachWay)))
  const isTaken = (content: string) =>
    one?.flaw(writeTake(content, 'm', taking.form)) === undefined &&
    !isFalseBase64(content, taking) &&
    !hasNoOrder(content, taking)
  const all = listContents([taking, comparing]).filter(isTaken)
  const { decisive = [], common = [] } = Object.groupBy(all, content =>
    two?.flaw(writeTake(content, 'm', comparing.form)) === undefined ? 'common' : 'decisive',
  )
  return [...decisive.slice(0, witnessesMax / 2), ...common].slice(0, witnessesMax)
}
