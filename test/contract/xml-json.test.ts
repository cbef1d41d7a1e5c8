/** Values of others' schemas in JSON (docs/import.md, "By REST"): read, written and checked as in XML. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import { type AnyRootElement, type AnyXmlType, x } from '../../src/contract/xml-type.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { createRandom, everything, makeValue } from '../soap/schema-values.ts'

const nameOfXml = (text: string) => {
  const document = parseXml(new TextEncoder().encode(text))
  return document instanceof Malformed ? undefined : document.root.name
}
const elements = createElementCodecs()
const throughXml = (root: AnyRootElement, value: unknown): unknown => readXml(root, elements(root).write(value))
function readXml(root: AnyRootElement, text: string): unknown {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed), text)
  const cursor = walkTree(document.root)
  cursor.next()
  const found: unknown[] = []
  const value = elements(root).read(cursor, {
    flaws: found as never[],
    parts: undefined,
    around: undefined,
    blocks: [],
  })
  if (found.length > 0) throw new Refused({ kind: 'bounds', problems: found } as never)
  return value
}
function readJson(root: AnyRootElement, text: string): { value: unknown; problems: FieldProblem[] } {
  const parsed = parseJson(text)
  assert.ok(!parsed.failure, text)
  const problems: FieldProblem[] = []
  return { value: createXmlJsonCodec(root, nameOfXml).read(parsed.value, problems), problems }
}
const writeText = (root: AnyRootElement, value: unknown): string =>
  writeJson(createXmlJsonCodec(root, nameOfXml).write(value))

test('value → XML → value → JSON → value is the same, for 500 values with all that schemas declare', () => {
  const random = createRandom(11)
  for (let run = 0; run < 500; run++) {
    const value = throughXml(everything, makeValue(random))
    const text = writeText(everything, value)
    assert.deepEqual(readJson(everything, text), { value, problems: [] }, text)
  }
})

test('the JSON of XML has names, arrays, branches and plain values', () => {
  const value = makeValue(createRandom(3))
  const shown = {
    ...value,
    place: null,
    price: [{ value: '1.50', currency: 'EUR' }],
    payment: { cash: { coins: [1], notes: 1152921504606846976n } },
    octets: new Uint8Array([1, 255]),
    vehicle: { $type: 'Car', wheels: 4, doors: 2 },
  }
  const text = writeText(everything, shown)
  for (const part of [
    '"place":null',
    '"price":[{"value":"1.50","currency":"EUR"}]',
    '"payment":{"cash":{"coins":[1],"notes":1152921504606846976}}',
    '"octets":"01FF"',
    '"vehicle":{"$type":"Car","wheels":4,"doors":2}',
  ])
    assert.ok(text.includes(part), `${part} is not in ${text}`)
})

const a = x.namespace('urn:a')
const order = a.element(
  'order',
  x.object({
    id: x.attribute(x.int),
    state: x
      .attribute(x.simple(x.string, { values: ['new', 'done'] }))
      .default('new')
      .optional(),
    first: x.element(x.string),
    line: x.element(x.int).many(1, 2),
    kind: x.element(x.string).fixed('A').optional(),
    way: x.choice({ card: x.element(x.string), cash: x.element(x.string) }).optional(),
    rest: x.any({ of: ['urn:other'] }).optional(),
    vehicle: x
      .element(x.derivable(a.type('Base', {}, { abstract: true }), () => [a.type('Car', { doors: x.element(x.int) })]))
      .optional(),
  }),
)
test('§3.4.4 a default is filled in as in XML, and an optional array that is absent is empty', () => {
  const { value } = readJson(order, '{"id":1,"first":"","line":[1]}')
  assert.deepEqual(value, { id: 1, state: 'new', first: '', line: [1] })
  assert.deepEqual(readXml(order, '<order xmlns="urn:a" id="1"><first/><line>1</line></order>'), value)
})

const refused: readonly (readonly [title: string, json: string, pointer: string, detail: RegExp])[] = [
  ['no object', '[]', '', /must be an object/],
  ['a member that is missing', '{"id":1,"line":[1]}', 'first', /is required/],
  ['an attribute that is missing', '{"first":"","line":[1]}', 'id', /is required/],
  ['an unknown member', '{"id":1,"first":"","line":[1],"x":1}', 'x', /not a known member/],
  ['__proto__', '{"id":1,"first":"","line":[1],"__proto__":{}}', '__proto__', /not a known member/],
  ['$type where no type is derived', '{"id":1,"first":"","line":[1],"$type":"o"}', '$type', /not a known member/],
  ['one occurrence without its array', '{"id":1,"first":"","line":1}', 'line', /must be an array/],
  ['too few', '{"id":1,"first":"","line":[]}', 'line', /must not be empty/],
  ['too many', '{"id":1,"first":"","line":[1,2,3]}', 'line', /at most 2/],
  ['null where nil may not be', '{"id":1,"first":null,"line":[1]}', 'first', /must not be null/],
  ['text for a number', '{"id":"1","first":"","line":[1]}', 'id', /whole number/],
  ['a number out of range', '{"id":1,"first":"","line":[3000000000]}', 'line.0', /at most|between|must/],
  ['another value than the fixed one', '{"id":1,"first":"","line":[1],"kind":"B"}', 'kind', /must be A/],
  ['a value that is not listed', '{"id":1,"first":"","line":[1],"state":"x"}', 'state', /one of new, done/],
  ['both branches', '{"id":1,"first":"","line":[1],"way":{"card":"","cash":""}}', 'way', /exactly one of card, cash/],
  ['no branch', '{"id":1,"first":"","line":[1],"way":{}}', 'way', /exactly one of card, cash/],
  ['text that is no XML', '{"id":1,"first":"","line":[1],"rest":"<a"}', 'rest', /one XML element/],
  ['XML of another namespace', '{"id":1,"first":"","line":[1],"rest":"<a/>"}', 'rest', /must not be the element a/],
  ['an abstract type', '{"id":1,"first":"","line":[1],"vehicle":{}}', 'vehicle.$type', /abstract/],
  ['an unknown $type', '{"id":1,"first":"","line":[1],"vehicle":{"$type":"Bus"}}', 'vehicle.$type', /one of Car/],
]
for (const [title, text, pointer, detail] of refused)
  test(`${title} is refused with its place, and never written`, () => {
    const [first] = readJson(order, text).problems
    assert.equal(first?.path.join('.'), pointer)
    assert.match(first?.detail ?? '', detail)
    // A value of a derived type may be written where its base is declared.
    if (pointer !== '$type') assert.throws(() => writeText(order, JSON.parse(text)), /^Error: order/)
  })

test('the first hundred mistakes are reported, and no more', () => {
  const { problems } = readJson(
    a.element('n', x.object({ n: x.element(x.int).many() })),
    `{"n":[${'"x",'.repeat(500)}1]}`,
  )
  assert.equal(problems.length, 100)
})

/** Facets: the text of an element, and its value in JSON. Both faces take it, or both refuse it. */
const facets: readonly (readonly [title: string, type: AnyXmlType, text: string, json: string])[] = [
  ['enumeration', x.simple(x.string, { values: ['a'] }), 'b', '"b"'],
  ['enumeration of numbers by value', x.simple(x.int, { values: ['1', '2'] }), '2', '2'],
  ['pattern', x.simple(x.string, { patterns: ['[a-z]+'] }), 'A', '"A"'],
  ['pattern of a number', x.simple(x.int, { patterns: ['[0-9]{2}'] }), '123', '123'],
  ['pattern of a number that asks for zeros', x.simple(x.int, { patterns: ['[0-9]{2}'] }), '05', '5'],
  ['length', x.simple(x.string, { length: 2 }), 'abc', '"abc"'],
  ['length of octets', x.simple(x.hexBinary, { maxLength: 1 }), 'FFFF', '"FFFF"'],
  ['length of a list', x.simple(x.list(x.int), { maxLength: 1 }), '1 2', '[1,2]'],
  ['minInclusive', x.simple(x.decimal, { minInclusive: '1.5' }), '1.4', '"1.4"'],
  ['maxExclusive', x.simple(x.long, { maxExclusive: '5' }), '5', '5'],
  ['totalDigits', x.simple(x.decimal, { totalDigits: 2 }), '12.5', '"12.5"'],
  ['fractionDigits', x.simple(x.decimal, { fractionDigits: 1 }), '1.25', '"1.25"'],
  ['bounds of a date', x.simple(x.date, { minInclusive: '2020-01-01' }), '2019-12-31', '"2019-12-31"'],
  ['the type of an unsignedByte', x.unsignedByte, '256', '256'],
  ['the type of a date', x.date, '2020-02-30', '"2020-02-30"'],
  ['a float beyond all', x.float, 'INF', '"INF"'],
  ['a union', x.union(x.int, x.boolean), 'maybe', '"maybe"'],
  ['a union by its second type', x.union(x.int, x.boolean), 'true', 'true'],
  ['octets in base64', x.base64Binary, 'AQI=', '"AQI="'],
  ['an integer beyond 2^53', x.integer, '18446744073709551617', '18446744073709551617'],
  ['a QName', x.QName, 'local', '"{urn:a}local"'],
  ['names in a list', x.NMTOKENS, 'a b', '["a","b"]'],
]
for (const [title, type, text, json] of facets)
  test(`§4.3 ${title}: both faces agree`, () => {
    const root = a.element('v', x.object({ v: x.element(type) }))
    let byXml: unknown
    try {
      byXml = readXml(root, `<v xmlns="urn:a"><v>${text}</v></v>`)
    } catch (thrown) {
      assert.ok(thrown instanceof Refused)
    }
    const { value, problems } = readJson(root, `{"v":${json}}`)
    assert.equal(problems.length > 0, byXml === undefined, JSON.stringify(problems))
    if (byXml === undefined) return
    assert.deepEqual(value, byXml)
    assert.equal(writeText(root, value), `{"v":${json}}`)
  })

const open = x.namespace('urn:t').element('r', x.object({ others: x.anyAttribute() }))
const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
for (const [key, value, flaw] of [
  ['a', '1', undefined],
  ['{urn:o}größe', 'x " < & y', undefined],
  ['{http://www.w3.org/XML/1998/namespace}lang', 'de', undefined],
  ['xmlns', 'urn:o', 'is not allowed here'],
  ['{http://www.w3.org/2000/xmlns/}p', 'urn:o', 'is not allowed here'],
  [`{${xsi}}nil`, 'true', 'is not allowed here'],
  [`{${xsi}}type`, 'xs:int', 'is not allowed here'],
  ['a"b', '1', 'is not allowed here'],
  ['a=""><evil/><r x', '1', 'is not allowed here'],
  ['p:a', '1', 'is not allowed here'],
  ['1a', '1', 'is not allowed here'],
  ['', '1', 'is not allowed here'],
  ['a', 'x\u0000y', 'contains a character that XML cannot carry'],
] as const)
  test(`XML Schema §3.10 an attribute of any name: ${JSON.stringify(key)} = ${JSON.stringify(value)}`, () => {
    const { value: read, problems } = readJson(open, JSON.stringify({ others: { [key]: value } }))
    if (flaw !== undefined) {
      assert.equal(problems.length, 1)
      assert.equal(problems[0]?.detail, flaw)
      return
    }
    assert.deepEqual(problems, [])
    assert.deepEqual(throughXml(open, read), { others: { [key]: value } })
  })
