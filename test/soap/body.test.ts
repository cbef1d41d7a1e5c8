/**
 * Rule B2.7, literal bodies: what a decoder accepts, what it refuses, and the path in the fault
 * (XML Schema Part 1 §3.3.4, Part 2).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { compileTypeNames } from '../../src/contract/type-names.ts'
import { Refused } from '../../src/service/refusal.ts'
import { compileRowReader } from '../../src/soap/codecs/literal-read.ts'
import { compileRowWriter } from '../../src/soap/codecs/literal-write.ts'
import {
  collectFlaw,
  inlineWriting,
  type LiteralReading,
  qualifiedSpace,
  typesIn,
} from '../../src/soap/codecs/values.ts'
import { scanDocument } from '../../src/xml/index.ts'
import { envelope } from './orders-over-soap.ts'

const Address = t.object({ street: t.string(), zip: t.string({ pattern: '[0-9]{5}' }).optional() }, 'Address')
const fields = {
  key: t.int().attribute().optional(),
  id: t.ref('things'),
  count: t.int({ min: 1, max: 9 }).optional(),
  big: t.long({ xsd: 'integer' }).optional(),
  price: t.decimal(9, 2, { min: '0' }).optional(),
  at: t.dateTime().optional(),
  none: t.string().nullable().optional(),
  address: Address.nullable().optional(),
  tags: t.list(t.string({ max: 3 }), { min: 1, max: 3 }).optional(),
  grid: t.list(t.list(t.int())).optional(),
  how: t.union('by', { card: { number: t.string() }, cash: {} }).optional(),
  octets: t.bytes({ max: 3 }).optional(),
  server: t.string().readOnly().optional(),
  secret: t.string().internal(),
}
const types = compileTypeNames([{ element: 'Do', fields, form: 'qualified' }])
const read = compileRowReader(fields, qualifiedSpace('urn:t', typesIn('urn:t', types)))
const write = compileRowWriter(fields, '')
const scope =
  'xmlns="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t"'

function decodeBody(inside: string, attributes = '') {
  const cursor = scanDocument(Buffer.from(envelope(`<Do ${scope}${attributes}>${inside}</Do>`)))
  cursor.next()
  cursor.child()
  cursor.child()
  const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
  try {
    return { row: read(cursor, reading), found: reading.flaws }
  } catch (thrown) {
    if (thrown instanceof Refused)
      return { refusal: thrown.refusal as unknown as { kind: string; path: string; detail: string } }
    throw thrown
  }
}

const taken: readonly (readonly [string, string, Record<string, unknown>, string?])[] = [
  ['what must be there', '<id>a</id>', { id: 'a' }],
  ['white space and comments between elements', ' \n<!-- x --><id>a</id>\t', { id: 'a' }],
  ['a comment and CDATA inside a text', '<id>a</id><none>b<!-- c --><![CDATA[<d>]]></none>', { id: 'a', none: 'b<d>' }],
  ['an attribute', '<id>a</id>', { key: 7, id: 'a' }, ' key=" 7 "'],
  [
    'exact values',
    '<id>a</id><big>123456789012345678901234567890</big><price>7.5</price><at>2026-11-21T12:00:00.123456+01:00</at>',
    { id: 'a', big: 123456789012345678901234567890n, price: '7.50', at: '2026-11-21T12:00:00.123456+01:00' },
  ],
  [
    'nil where it may be',
    '<id>a</id><none i:nil="1"/><address i:nil=" true "></address>',
    { id: 'a', none: null, address: null },
  ],
  [
    'nil that is false',
    '<id>a</id><none i:nil="false">x</none><address i:nil="0"><street>s</street></address>',
    { id: 'a', none: 'x', address: { street: 's' } },
  ],
  [
    'P25 xsi:type that repeats the declared one',
    '<id i:type="t:Identifier">a</id><count i:type="xs:int">1</count><address i:type="t:Address"><street i:type="xs:string">s</street></address>',
    { id: 'a', count: 1, address: { street: 's' } },
  ],
  [
    'P25 xsi:type that narrows a built-in one',
    '<id>a</id><count i:type="xs:short">1</count><price i:type="xs:int">7</price>',
    { id: 'a', count: 1, price: '7.00' },
  ],
  [
    'P25 xsi:type of a type of the contract that narrows a built-in one',
    '<id>a</id><none i:type="t:Zip">12345</none><address><street i:type="t:Identifier">s</street></address>',
    { id: 'a', none: '12345', address: { street: 's' } },
  ],
  ['P27 hints of schemas', '<id i:noNamespaceSchemaLocation="http://127.0.0.1/">a</id>', { id: 'a' }],
  [
    'lists, of lists too',
    '<id>a</id><tags><tag>x</tag><tag></tag></tags><grid><grid><item>1</item></grid><grid/></grid>',
    { id: 'a', tags: ['x', ''], grid: [[1], []] },
  ],
  ['a union by its case', '<id>a</id><how><cash/></how>', { id: 'a', how: { by: 'cash' } }],
  ['the server’s own, left out', '<id>a</id><server>x</server>', { id: 'a' }],
  ['octets with line breaks', '<id>a</id><octets> AQ\nID </octets>', { id: 'a', octets: Uint8Array.of(1, 2, 3) }],
]
for (const [title, inside, row, attributes] of taken)
  test(`B2.7 accepted: ${title}`, () => {
    assert.deepEqual(decodeBody(inside, attributes), { row, found: [] })
  })

const refused: readonly (readonly [string, string, string, RegExp, string?])[] = [
  ['what must be there is not', '', '/Do[1]', /must have the element id/],
  ['order', '<count>1</count><id>a</id>', '/Do[1]/count[1]', /is out of order or repeated: expected id$/],
  ['twice', '<id>a</id><id>b</id>', '/Do[1]/id[2]', /is out of order or repeated: expected one of count, big/],
  ['an element that nobody declares', '<id>a</id><other/>', '/Do[1]/other[1]', /not expected/],
  [
    'an element of another namespace',
    '<id xmlns="urn:u">a</id>',
    '/Do[1]/id[1]',
    /^has the namespace urn:u: expected the namespace urn:t$/,
  ],
  ['what is internal', '<id>a</id><secret>x</secret>', '/Do[1]/secret[1]', /not expected/],
  ['text between elements', '<id>a</id>x', '/Do[1]', /text/],
  ['an element inside a text', '<id><b/></id>', '/Do[1]/id[1]/b[1]', /only text/],
  ['an attribute that nobody declares', '<id x="1">a</id>', '/Do[1]/id[1]', /must not have the attribute x/],
  ['an attribute that is no value', '<id>a</id>', '/Do[1]', /key must be a whole number/, ' key="x"'],
  ['an attribute in a namespace', '<id>a</id>', '/Do[1]', /must not have the attribute key/, ' t:key="1"'],
  ['a value of another type', '<id>a</id><count>1.0</count>', '/Do[1]/count[1]', /whole number/],
  ['a day that is none', '<id>a</id><at>2026-02-30T00:00:00Z</at>', '/Do[1]/at[1]', /date and time/],
  ['a place too many', '<id>a</id><price>1.001</price>', '/Do[1]/price[1]', /places/],
  [
    'P25 another type',
    '<id>a</id><count i:type="xs:string">1</count>',
    '/Do[1]/count[1]',
    /must not have the xsi:type/,
  ],
  [
    'P25 a type without a namespace',
    '<id>a</id><count i:type="q:int">1</count>',
    '/Do[1]/count[1]',
    /must not have the xsi:type/,
  ],
  [
    'P25 a value that is not of the narrower built-in type',
    '<id>a</id><big i:type="xs:byte">200</big>',
    '/Do[1]/big[1]',
    /at most 127/,
  ],
  [
    'P25 a type of the contract that narrows another one',
    '<id>a</id><none i:type="t:Count">1</none>',
    '/Do[1]/none[1]',
    /must not have the xsi:type/,
  ],
  [
    'P25 a narrower type',
    '<id>a</id><address i:type="t:Other"><street>s</street></address>',
    '/Do[1]/address[1]',
    /must not have the xsi:type/,
  ],
  ['P26 nil with text', '<id>a</id><none i:nil="true">x</none>', '/Do[1]/none[1]', /nil and has content/],
  [
    'P26 nil with elements',
    '<id>a</id><address i:nil="true"><street>s</street></address>',
    '/Do[1]/address[1]/street[1]',
    /nil and has content/,
  ],
  ['nil where it may not be', '<id i:nil="true"/>', '/Do[1]/id[1]', /must not be nil/],
  ['nil that is not boolean', '<id>a</id><none i:nil="x"/>', '/Do[1]/none[1]', /boolean xsi:nil/],
  [
    'an item of another name',
    '<id>a</id><tags><tag>x</tag><label>y</label></tags>',
    '/Do[1]/tags[1]/label[1]',
    /is not expected here: expected tag$/,
  ],
  ['a case that is none', '<id>a</id><how><cheque/></how>', '/Do[1]/how[1]/cheque[1]', /card, cash/],
  ['two cases', '<id>a</id><how><cash/><cash/></how>', '/Do[1]/how[1]/cash[2]', /not expected/],
  ['no case', '<id>a</id><how/>', '/Do[1]/how[1]', /must have one of/],
  ['octets that are none', '<id>a</id><octets>A</octets>', '/Do[1]/octets[1]', /base64/],
  [
    'M1 an Include outside of a package',
    '<id>a</id><octets><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:a"/></octets>',
    '/Do[1]/octets[1]/Include[1]',
    /only text/,
  ],
]
for (const [title, inside, path, detail, attributes] of refused)
  test(`B7.2 refused: ${title}`, () => {
    const { refusal } = decodeBody(inside, attributes)
    assert.deepEqual([refusal?.kind, refusal?.path], ['schema', path], refusal?.detail ?? '')
    assert.match(refusal?.detail ?? '', detail)
  })

test('values outside their bounds are collected, each with its path; errors of structure come first', () => {
  const inside =
    '<id>a</id><count>10</count><price>-1</price><address><street>s</street><zip>1</zip></address><tags><tag>x</tag><tag>long</tag></tags><octets>AQIDBA==</octets>'
  const codesOf = (body: string) => decodeBody(body).found?.map(({ path, code }) => `${path} ${code}`)
  assert.deepEqual(codesOf('<id>a</id><none i:type=" t:Zip ">1</none>'), ['/Do[1]/none[1] pattern'])
  assert.deepEqual(codesOf(inside), [
    '/Do[1]/count[1] maximum',
    '/Do[1]/price[1] pattern',
    '/Do[1]/address[1]/zip[1] pattern',
    '/Do[1]/tags[1]/tag[2] maxLength',
    '/Do[1]/octets[1] maxLength',
  ])
  assert.equal(decodeBody(`${inside}<other/>`).refusal?.kind, 'schema')
  assert.deepEqual(
    decodeBody('<id>a</id><tags/>').found?.map(each => each.code),
    ['minItems'],
  )
})

test('B7.2 a hundred values outside their bounds are enough to correct: no more are collected', () => {
  const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
  for (let at = 0; at < 1000; at++)
    collectFlaw(reading, () => `/Do[1]/tag[${at}]`, { code: 'maxLength', detail: 'is long' })
  assert.equal(reading.flaws.length, 100)
})

test('neither internal nor absent values are written', () => {
  assert.equal(
    write({ id: 'a', secret: 'x', none: null }, inlineWriting),
    '<id>a</id><none xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>',
  )
})
