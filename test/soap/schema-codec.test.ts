/** XML as others declare it: decode(encode(v)) = v; invalid XML is refused (XML Schema Part 1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyRootElement, x } from '../../src/contract/xml-type.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { createEncodedCodecs, type EncodedCodec } from '../../src/soap/codecs/schema-encoded.ts'
import { UnfitValue } from '../../src/soap/codecs/schema-write.ts'
import type { PartSource } from '../../src/soap/codecs/values.ts'
import { collectParts } from '../../src/soap/mime/parts.ts'
import { soap11 } from '../../src/soap/version.ts'
import { Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { assertLinear } from '../support/cost.ts'
import { a, b, Car, createRandom, everything, makeValue, Place, Price, Tree, Vehicle } from './schema-values.ts'

const codecOf = createElementCodecs()
const write = (root: AnyRootElement, value: unknown): string => codecOf(root).write(value)
function read(root: AnyRootElement, text: string, parts?: PartSource): unknown {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed), text)
  const cursor = walkTree(document.root)
  cursor.next()
  const reading = { flaws: [], parts, around: undefined, blocks: [] }
  const value = codecOf(root).read(cursor, reading)
  assert.deepEqual(reading.flaws, [])
  return value
}

test('decode(encode(v)) = v for 500 values of everything that schemas declare', () => {
  const random = createRandom(7)
  for (let run = 0; run < 500; run++) {
    const value = makeValue(random)
    const text = write(everything, value)
    assert.deepEqual(read(everything, text), value, text)
  }
})

test('§3.3.2 names, namespaces and forms are as declared', () => {
  const place = b.element('place', Place)
  assert.equal(
    write(place, { town: 'Ulm', code: '{urn:q}n' }),
    '<n1:place xmlns:n1="urn:b" xmlns:n2="urn:q" n1:code="n2:n"><town>Ulm</town></n1:place>',
  )
})

test('Namespaces in XML §3 a QName in the namespace of XML is written with its one prefix', () => {
  const name = a.element('name', x.QName)
  for (const value of ['{http://www.w3.org/XML/1998/namespace}lang', '{urn:q}n', 'n'])
    assert.equal(read(name, write(name, value)), value)
  assert.match(write(name, '{http://www.w3.org/XML/1998/namespace}lang'), /^<n1:name xmlns:n1="urn:a">xml:lang</)
})

test('§3.8.4 a required group whose elements are all absent has a value without members', () => {
  const gap = a.element(
    'gap',
    x.object({
      outer: x.sequence({
        inner: x.sequence({ some: x.element(x.int).optional(), many: x.element(x.int).many() }),
        free: x.sequence({ one: x.element(x.int) }).optional(),
        last: x.element(x.int).optional(),
      }),
      way: x.choice({
        left: x.sequence({ l: x.element(x.int).optional() }),
        right: x.sequence({ r: x.element(x.int).optional() }),
      }),
    }),
  )
  const value = { outer: { inner: { many: [] } }, way: { left: {} } }
  assert.deepEqual(read(gap, write(gap, value)), value)
})

test('Part 2 §3.2.1.1 anySimpleType takes any type of XML Schema that xsi:type names', () => {
  const any = a.element('any', x.anySimpleType)
  const scope = 'xmlns:a="urn:a" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
  const typed = (uri: string) => read(any, `<a:any ${scope} xmlns:t="${uri}" i:type="t:int">1</a:any>`)
  assert.equal(typed('http://www.w3.org/2001/XMLSchema'), '1')
  assert.throws(() => typed('urn:a'), Refused)
})

test('Part 2 §3.2.17 a URI may have characters that its reader would escape: spaces, braces, letters of any language', () => {
  const page = a.element('page', x.anyURI)
  for (const uri of ['http://h.example/an invoice.pdf', 'http://h.example/{id}|<é>', '', 'C:\\docs\\a.pdf'])
    assert.equal(read(page, write(page, uri)), uri)
  assert.equal(read(page, '<page xmlns="urn:a">\n urn:x </page>'), 'urn:x', 'white space around it is no part of it')
})

test('§3.3.4 xsi:type may name a built-in type that narrows the declared one, and its values then apply', () => {
  const typed = (root: AnyRootElement, type: string, text: string) =>
    read(
      root,
      `<a:n xmlns:a="urn:a" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:s="http://www.w3.org/2001/XMLSchema" i:type="s:${type}">${text}</a:n>`,
    )
  const [decimal, text, long] = [a.element('n', x.decimal), a.element('n', x.string), a.element('n', x.long)]
  assert.equal(typed(decimal, 'int', '12'), '12')
  assert.equal(typed(decimal, 'unsignedByte', '12'), '12')
  assert.equal(typed(text, 'NCName', 'b'), 'b')
  assert.equal(typed(long, 'int', '12'), 12n)
  for (const [root, type, value] of [
    [decimal, 'int', '12.5'],
    [decimal, 'byte', '128'],
    [decimal, 'double', '1'],
    [long, 'integer', '1'],
    [long, 'constructor', '1'],
    [text, 'date', '2026-01-01'],
    [a.element('n', x.simple(x.decimal, { maxInclusive: '9' })), 'int', '1'],
  ] as const)
    assert.throws(() => typed(root, type, value), `${type} ${value}`)
})

test('XOP 1.0 §3.2 in a package octets are in their part, and text beside them stays text', () => {
  const photo = a.element('photo', x.object({ title: x.element(x.string), octets: x.element(x.base64Binary).many() }))
  const text = `<p:photo xmlns:p="urn:a"><p:title>AQID</p:title><p:octets><x:Include
    xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:1@x"/></p:octets><p:octets>AQID</p:octets></p:photo>`
  const parts = collectParts(new Map([['1@x', { type: '', bytes: new Uint8Array([9]) }]]))
  assert.deepEqual(read(photo, text, parts), {
    title: 'AQID',
    octets: [new Uint8Array([9]), new Uint8Array([1, 2, 3])],
  })
})

test('XOP 1.0 §3.2 octets with attributes, as xmime:base64Binary has them, are in their part both ways', () => {
  const xmime = x.namespace('http://www.w3.org/2005/05/xmlmime')
  const Binary = xmime.type('base64Binary', {
    octets: x.text(x.base64Binary),
    contentType: x.attribute(x.string).in('http://www.w3.org/2005/05/xmlmime').optional(),
  })
  const scan = a.element('scan', x.object({ page: x.element(Binary).many() }))
  const include = '<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:1@x"/>'
  const mime = 'xmlns:m="http://www.w3.org/2005/05/xmlmime"'
  const text = `<s:scan xmlns:s="urn:a" ${mime}><s:page m:contentType="image/png">${include}</s:page><s:page>AQID</s:page><s:page/></s:scan>`
  const parts = collectParts(new Map([['1@x', { type: '', bytes: new Uint8Array([9]) }]]))
  const pages = [
    { octets: new Uint8Array([9]), contentType: 'image/png' },
    { octets: new Uint8Array([1, 2, 3]) },
    { octets: new Uint8Array(0) },
  ]
  assert.deepEqual(read(scan, text, parts), { page: pages })
  assert.throws(() => read(scan, text.replace(include, `${include}x`), parts), Refused)
  assert.throws(() => read(scan, text.replace('AQID', 'A?'), parts), Refused)
  const usual = a.element('usual', x.object({ page: x.element(Binary).default('AQID') }))
  assert.deepEqual(read(usual, '<u:usual xmlns:u="urn:a"><u:page/></u:usual>', parts), {
    page: { octets: new Uint8Array([1, 2, 3]) },
  })
  const sent: Uint8Array[] = []
  const written = createElementCodecs()(scan).write(
    { page: pages },
    { attach: each => `cid:${sent.push(each as Uint8Array)}@y` },
  )
  assert.equal(sent.length, 3)
  assert.match(written, /contentType="image\/png"><xop:Include [^>]*href="cid:1@y"\/><\//)
})

test('XOP 1.0 §3.2 octets in a part have the type that xsi:type names, and an empty element has its default', () => {
  const Small = a.simple('Small', x.base64Binary, { maxLength: 1 })
  const small = a.element('small', Small)
  const octets = a.element('octets', x.object({ page: x.element(Small).default('AQ==') }))
  const scope =
    'xmlns="urn:a" xmlns:a="urn:a" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:x="http://www.w3.org/2004/08/xop/include"'
  const partsOf = (bytes: number[]) => collectParts(new Map([['1@x', { type: '', bytes: new Uint8Array(bytes) }]]))
  const include = `<small ${scope} i:type="a:Small"><x:Include href="cid:1@x"/></small>`
  assert.deepEqual(read(small, include, partsOf([9])), new Uint8Array([9]))
  assert.throws(() => read(small, include, partsOf([9, 9])))
  assert.deepEqual(read(octets, `<octets ${scope}><page i:type="a:Small"/></octets>`, partsOf([9])), {
    page: new Uint8Array([1]),
  })
})

const order = a.element(
  'order',
  x.object({
    id: x.attribute(x.int),
    first: x.element(x.string),
    line: x.element(x.int).many(1, 2),
    kind: x.element(x.string).fixed('A').optional(),
    way: x.choice({ card: x.element(x.string), cash: x.element(x.string) }).optional(),
  }),
)
const open = '<o:order xmlns:o="urn:a" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" id="1">'
const refused: readonly (readonly [string, string, RegExp])[] = [
  ['§3.8.4 an element out of order', `${open}<o:line>1</o:line><o:first/></o:order>`, /expected first/],
  ['§3.8.4 an element that is missing', `${open}<o:first/></o:order>`, /must have the element line/],
  ['§3.9.4 one too many', `${open}<o:first/>${'<o:line>1</o:line>'.repeat(3)}</o:order>`, /out of order or repeated/],
  ['§3.3.4 an element without its namespace', `${open}<first/><o:line>1</o:line></o:order>`, /has no namespace/],
  ['§3.8.4 both branches of a choice', `${open}<o:first/><o:line>1</o:line><o:card/><o:cash/></o:order>`, /repeated/],
  ['§3.3.4 nil where it may not be', `${open}<o:first i:nil="true"/><o:line>1</o:line></o:order>`, /must not be nil/],
  [
    '§3.3.4, 3.1 xsi:nil that says false where it may not be',
    `${open}<o:first i:nil="false"/><o:line>1</o:line></o:order>`,
    /nor have xsi:nil/,
  ],
  [
    '§3.4.4 an unknown attribute',
    `${open}<o:first x="1"/><o:line>1</o:line></o:order>`,
    /must not have the attribute x/,
  ],
  ['§3.4.4 an attribute that is missing', '<o:order xmlns:o="urn:a"/>', /must have the attribute id/],
  ['§3.4.4 text between elements', `${open}text<o:first/><o:line>1</o:line></o:order>`, /has text/],
  [
    '§3.3.4 another value than the fixed one',
    `${open}<o:first/><o:line>1</o:line><o:kind>B</o:kind></o:order>`,
    /must be A/,
  ],
  ['§3.14.4 text that is not of its type', `${open}<o:first/><o:line>x</o:line></o:order>`, /whole number/],
  [
    'xml-media-types §2.1 the media type of a text that has no octets',
    `${open}<o:first xmlns:m="http://www.w3.org/2005/05/xmlmime" m:contentType="image/png"/><o:line>1</o:line></o:order>`,
    /must not have the attribute contentType/,
  ],
  [
    '§3.3.4 an xsi:type of XML Schema that the declared type is not',
    `${open}<o:first i:type="s:int" xmlns:s="http://www.w3.org/2001/XMLSchema">1</o:first><o:line>1</o:line></o:order>`,
    /must not have the xsi:type s:int/,
  ],
  ['§3.3.4 another xsi:type', `${open}<o:first i:type="o:Car"/><o:line>1</o:line></o:order>`, /xsi:type/],
]
for (const [title, text, detail] of refused)
  test(`${title} is refused`, () => {
    assert.throws(
      () => read(order, text),
      thrown => thrown instanceof Refused && detail.test(JSON.stringify(thrown.refusal)),
    )
  })

const unfit: readonly (readonly [string, unknown, RegExp])[] = [
  ['lacks a member', { id: 1, line: [1] }, /order must have first/],
  ['has an unknown member', { id: 1, first: '', line: [1], extra: 1 }, /has the member extra/],
  ['has no branch', { id: 1, first: '', line: [1], way: {} }, /order.way must have one of card, cash/],
  ['has two branches', { id: 1, first: '', line: [1], way: { card: '', cash: '' } }, /order.way has card and cash/],
  ['has too many items', { id: 1, first: '', line: [1, 2, 3] }, /at most 2 of line/],
  ['has text of another type', { id: 1, first: '', line: ['x'] }, /order.line must be/],
]
for (const [title, value, detail] of unfit)
  test(`a reply that ${title} is not sent`, () => {
    assert.throws(
      () => write(order, value),
      thrown => thrown instanceof UnfitValue && detail.test(thrown.message),
    )
  })

test('XML that is a value stays one element, with the namespaces it mentions', () => {
  const root = a.element('root', x.object({ rest: x.any().many() }))
  const text = '<r:root xmlns:r="urn:a" xmlns:q="urn:q"><e k="q:n"/></r:root>'
  assert.deepEqual(read(root, text), { rest: ['<e xmlns:q="urn:q" k="q:n"/>'] })
  assert.throws(() => write(root, { rest: ['<e/><f/>'] }), UnfitValue)
  assert.throws(() => write(root, { rest: ['</r:root>'] }), UnfitValue)
})

test('patterns of XML Schema: classes, blocks and subtraction (Part 2, appendix F)', () => {
  const only = (pattern: string) => a.element('p', x.simple(x.string, { patterns: [pattern] }))
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['[a-z-[aeiou]]+', 'bcd', true],
    ['[a-z-[aeiou]]+', 'bad', false],
    ['\\i\\c*', '_a-1', true],
    ['\\p{IsBasicLatin}+', 'é', false],
    ['\\d{2}', '12', true],
    ['a^b$', 'a^b$', true],
    ['[\\w.-]+@x', 'a.b-c@x', true],
  ]
  for (const [pattern, text, fits] of rows) {
    const attempt = () => write(only(pattern), text)
    if (fits) attempt()
    else assert.throws(attempt, UnfitValue, pattern)
  }
})

test('Part 2 §4.3.4 a value is written as the first of its texts that the pattern accepts, and read from each', () => {
  const digits = x.simple(x.integer, { patterns: ['\\d{5,}'] })
  const rows = [
    [x.simple(x.boolean, { patterns: ['0|1'] }), true, '1'],
    [x.simple(x.boolean, { patterns: ['true|false'] }), false, 'false'],
    [digits, 42n, '00042'],
    [x.simple(digits, { patterns: ['\\d{7}'] }), 42n, '0000042'],
    [x.simple(x.int, { patterns: ['[+-]\\d+'] }), 7, '+7'],
    [x.simple(x.double, { patterns: ['\\d+\\.\\d{2}'] }), 1.5, '1.50'],
    [x.simple(x.double, { patterns: ['-?\\d\\.\\d+E-?\\d+'] }), 0.00125, '1.25E-3'],
    [x.simple(x.hexBinary, { patterns: ['[0-9a-f]+'] }), new Uint8Array([171, 205]), 'abcd'],
  ] as const
  for (const [type, value, text] of rows) {
    const root = a.element('p', type as typeof x.int)
    assert.equal(write(root, value), `<n1:p xmlns:n1="urn:a">${text}</n1:p>`)
    assert.deepEqual(read(root, write(root, value)), value)
  }
  const unfit = [
    [x.simple(x.double, { patterns: ['\\d+\\.\\d{2}'] }), 1.125],
    [x.simple(digits, { patterns: ['\\d{7}'] }), -1n],
    [x.simple(x.boolean, { patterns: ['yes'] }), true],
  ] as const
  for (const [type, value] of unfit) assert.throws(() => write(a.element('p', type as typeof x.int), value), UnfitValue)
})

test('§3.10.4 an error names the elements that a wildcard accepts if none is there', () => {
  for (const [namespaces, says] of [
    ['any', /must have any element"/],
    [{ not: '' }, /must have any element of a namespace other than urn:a"/],
    [{ not: 'urn:z' }, /must have any element of a namespace other than urn:z"/],
    [{ of: ['urn:z', ''] }, /must have any element of the namespace urn:z or without a namespace"/],
  ] as const) {
    const alone = a.element('r', x.object({ more: x.any(namespaces) }))
    const either = a.element('r', x.object({ way: x.choice({ one: x.element(x.int), more: x.any(namespaces) }) }))
    for (const [root, expected] of [
      [alone, says],
      [either, /must have one of one, any element/],
    ] as const)
      assert.throws(
        () => read(root, '<r xmlns="urn:a"/>'),
        thrown => thrown instanceof Refused && expected.test(JSON.stringify(thrown.refusal)),
      )
  }
})

test('XSD 1.1 Part 1 §3.8.6.4 an element that a particle declares takes precedence over a wildcard beside it', () => {
  const open = (min: number) =>
    a.element('r', x.object({ more: x.any().many(min), last: x.element(x.int).optional(), end: x.element(x.int) }))
  const [one, must] = [open(0), open(1)]
  const lastElement = '<last xmlns="urn:a">9</last>'
  const value = { more: ['<f/>'], last: 1, end: 2 }
  assert.deepEqual(read(one, write(one, value)), value)
  assert.deepEqual(read(one, write(one, { more: [], end: 2 })), { more: [], end: 2 })
  assert.throws(() => write(one, { more: ['<end xmlns="urn:a">3</end>'], end: 2 }), UnfitValue)
  // Nothing competes with a wildcard that still needs an element.
  const first = { more: [lastElement], last: 1, end: 2 }
  assert.deepEqual(read(must, write(must, first)), first)
  assert.throws(() => write(must, { ...first, more: ['<f/>', lastElement] }), UnfitValue)
  const either = a.element('r', x.object({ way: x.choice({ free: x.any(), known: x.element(x.int) }) }))
  for (const way of [{ known: 1 }, { free: '<f/>' }]) assert.deepEqual(read(either, write(either, { way })), { way })
  assert.throws(() => write(either, { way: { free: '<known xmlns="urn:a">1</known>' } }), UnfitValue)
})

function readEncodedBody(codec: EncodedCodec, text: string): unknown {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed))
  const cursor = walkTree(document.root)
  cursor.next()
  cursor.child()
  return codec.read(cursor, { flaws: [], parts: undefined, around: document.root, blocks: [] }, soap11)
}

test('RPC/encoded: references, any order, arrays of any names; decode(encode(v)) = v', () => {
  const Point = a.type('Point', {
    x: x.element(x.int),
    label: x.element(x.string).nillable(),
    y: x.element(x.int).optional(),
  })
  const call = x.call('urn:a', 'draw', {
    points: x.element(x.array(Point)),
    way: x.element(x.derivable(Vehicle, () => [Car])),
  })
  const codec = createEncodedCodecs()(call)
  const readBody = (text: string) => readEncodedBody(codec, text)
  const value = {
    points: [
      { x: 1, label: null },
      { x: 2, label: 'b', y: 3 },
    ],
    way: { $type: 'Car', wheels: 4, doors: 2 },
  }
  const written = codec.write(value, soap11)
  assert.deepEqual(readBody(`<Body xmlns:soap="${soap11.namespace}">${written}</Body>`), value)
  const shared = `<Body xmlns:m="urn:a"><m:draw><way><doors>2</doors><wheels>4</wheels></way><points><p href="#1"/><q href="#1"/></points></m:draw><m id="1"><label>b</label><x>1</x></m></Body>`
  assert.throws(() => readBody(shared), Refused) // doors are of a Car, which only xsi:type makes of a Vehicle
  const plain = shared.replace('<doors>2</doors>', '')
  assert.deepEqual(readBody(plain), {
    points: [
      { x: 1, label: 'b' },
      { x: 1, label: 'b' },
    ],
    way: { wheels: 4 },
  })
})

const put = createEncodedCodecs()(
  x.call('urn:a', 'put', {
    tree: x.element(Tree).optional(),
    prices: x.element(x.array(Price)).optional(),
    anything: x.element(x.array(x.anyType)).optional(),
    items: x.element(x.int).many(),
  }),
)
const readPut = (inside: string, values = '') =>
  readEncodedBody(put, `<Body xmlns:m="urn:a"><m:put>${inside}</m:put>${values}</Body>`)
const many = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => each(i)).join('')
/** Trees, each the branch of the one before it, by reference. */
const chainOf = (length: number, last: string) =>
  many(length, i => `<t id="${i}"><name/>${i < length - 1 ? `<branch href="#${i + 1}"/>` : last}</t>`)
const refusals: Readonly<Record<string, readonly [inside: string, values: string, said: RegExp]>> = {
  'a circle': ['<tree href="#0"/>', chainOf(3, '<branch href="#1"/>'), /circular values are not supported/],
  'a value in itself': ['<tree id="0"><name/><branch href="#0"/></tree>', '', /circular values are not supported/],
  'a chain of 2,000': ['<tree href="#0"/>', chainOf(2000, ''), /is nested deeper than 1000 values/],
  'two branches to each tree, 40 times': [
    '<tree href="#0"/>',
    many(40, i => `<t id="${i}"><name/><branch href="#${i + 1}"/><branch href="#${i + 1}"/></t>`) +
      '<t id="40"><name/></t>',
    /more than 100000 elements/,
  ],
  'attributes that are read again': [
    `<prices>${many(1000, () => '<p href="#0"/>')}</prices>`,
    `<p id="0" currency="${'C'.repeat(10_000)}">1</p>`,
    /more than 8388608 characters/,
  ],
  'XML that is read again': [
    `<anything>${many(1000, () => '<p href="#0"/>')}</anything>`,
    `<p id="0"><q>${'C'.repeat(100_000)}</q></p>`,
    /more than 8388608 characters/,
  ],
}
for (const [title, [inside, values, said]] of Object.entries(refusals))
  test(`attack S8 in a port of others: ${title} is refused`, () => {
    assert.throws(
      () => readPut(inside, values),
      thrown => thrown instanceof Refused && said.test(JSON.stringify(thrown.refusal)),
    )
  })
test('attack S8 in a port of others: a chain of 900 is read, and one value may be in two places', () => {
  assert.ok(readPut('<tree href="#0"/>', chainOf(900, '')))
  const twice = '<tree><name>a</name><branch href="#0"/><branch href="#0"/></tree>'
  const leaf = { name: 'b', branch: [] }
  assert.deepEqual(readPut(twice, '<t id="0"><name>b</name></t>'), {
    tree: { name: 'a', branch: [leaf, leaf] },
    items: [],
  })
})
test('attack S9 in a port of others: 9,000 repeated accessors are read in linear time', () => {
  assertLinear(count => {
    const inside = many(count, () => '<items>1</items>')
    return () => {
      const { items } = readPut(inside) as { items: readonly number[] }
      assert.equal(items.length, count)
    }
  }, 2250)
})
