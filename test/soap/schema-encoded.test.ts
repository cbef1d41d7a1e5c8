/**
 * RPC/encoded by declared types (SOAP 1.1 §5, SOAP 1.2 Part 2 §3): each kind of type is read as it
 * was written, in both versions, and a value that does not fit is refused with its place.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { x } from '../../src/contract/xml-type.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createEncodedCodecs, type EncodedCodec } from '../../src/soap/codecs/schema-encoded.ts'
import { UnfitValue } from '../../src/soap/codecs/schema-write.ts'
import { type SoapVersion, soap11, soap12 } from '../../src/soap/version.ts'
import { Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { a, Car, Price, Tree, Vehicle } from './schema-values.ts'

const Abstract = a.type('Shape', { name: x.element(x.string) }, { abstract: true })
const Circle = a.type('Circle', { radius: x.element(x.int) }, { extends: Abstract })
const Grouped = a.type('Grouped', {
  both: x.sequence({ left: x.element(x.int), right: x.element(x.int).optional() }),
  way: x.choice({ card: x.element(x.string), cash: x.sequence({ coins: x.element(x.int) }) }).optional(),
  steps: x.choice({ up: x.element(x.int), down: x.element(x.int) }).many(),
})
const Open = a.type('Open', { name: x.element(x.string).optional(), other: x.any({ not: 'urn:a' }).many() })
const Paired = a.type('Paired', {
  pair: x.sequence({ key: x.element(x.string), value: x.element(x.int) }).many(0, 2),
  to: x
    .choice({
      person: x.element(x.string),
      account: x.sequence({ bank: x.element(x.string), number: x.element(x.int) }),
      empty: x.sequence({ note: x.element(x.string).optional() }),
    })
    .optional(),
  free: x.sequence({ word: x.element(x.string).optional(), words: x.element(x.string).many() }),
  some: x.element(x.int).many(1, 2),
})
const call = x.call('urn:a', 'put', {
  text: x.element(x.string).optional(),
  number: x.element(x.int).nillable().optional(),
  name: x.element(x.QName).optional(),
  octets: x.element(x.base64Binary).optional(),
  price: x.element(Price).optional(),
  tree: x.element(Tree).optional(),
  way: x.element(x.derivable(Vehicle, () => [Car])).optional(),
  shape: x.element(x.derivable(Abstract, () => [Circle])).optional(),
  grouped: x.element(Grouped).optional(),
  paired: x.element(Paired).optional(),
  list: x.element(x.array(x.int)).optional(),
  table: x.element(x.array(x.array(x.string))).optional(),
  anything: x.element(x.anyType).optional(),
  open: x.element(Open).optional(),
  all: x.element(x.array(x.anyType)).optional(),
  items: x.element(x.int).many(),
})
const codec = createEncodedCodecs()(call)

function read(inside: string, version: SoapVersion = soap11, scope = '', by: EncodedCodec = codec): unknown {
  const text = `<Body xmlns:m="urn:a" xmlns:soap="${version.namespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"${scope}>${inside}</Body>`
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed), text)
  const cursor = walkTree(document.root)
  cursor.next()
  cursor.child()
  return by.read(cursor, { flaws: [], parts: undefined, around: document.root, blocks: [] }, version)
}
const readPut = (inside: string): unknown => read(`<m:put>${inside}</m:put>`)

const values: Readonly<Record<string, object>> = {
  'nothing but a list without items': {},
  'a text with markup, empty text': { text: 'a<b>&"c" ' },
  'an empty text': { text: '' },
  'a number, and nil': { number: 7 },
  nil: { number: null },
  'a name with a namespace': { name: '{urn:other}n' },
  octets: { octets: new Uint8Array([0, 255, 7]) },
  'a text with attributes': { price: { value: '1.50', currency: 'EUR' } },
  'a text with all attributes': { price: { value: '0.1', currency: 'E"<', note: 'n' } },
  'a type in itself': { tree: { name: 'a', branch: [{ name: 'b', branch: [] }] } },
  'a derivable type as it is': { way: { wheels: 3 } },
  'a derived type': { way: { $type: 'Car', wheels: 4, doors: 2, id: 'c' } },
  'a type derived from an abstract one': { shape: { $type: 'Circle', name: 'c', radius: 1 } },
  'a sequence and a repeated choice': {
    grouped: { both: { left: 1, right: 2 }, steps: [{ up: 1 }, { down: 2 }, { up: 3 }] },
  },
  'one branch of a choice': { grouped: { both: { left: 1 }, way: { card: 'x' }, steps: [] } },
  'a sequence in a choice': { grouped: { both: { left: 1 }, way: { cash: { coins: 5 } }, steps: [] } },
  'a sequence that repeats, and one of two members in a choice': {
    paired: {
      pair: [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
      to: { account: { bank: 'b', number: 7 } },
      free: { word: 'w', words: ['x', 'y'] },
      some: [1, 2],
    },
  },
  'a group of which no element has to be there': { paired: { pair: [], free: { words: [] }, some: [1] } },
  'an array': { list: [1, 2, 3] },
  'an array with nil': { list: [1, null, 3] },
  'an empty array': { list: [] },
  'an array of two dimensions': {
    table: [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ],
  },
  'repeated elements': { items: [1, 2, 3] },
}

describe('decode(encode(v)) = v', () => {
  for (const version of [soap11, soap12])
    for (const [title, value] of Object.entries(values))
      test(`${title}, SOAP ${version.number}`, () => {
        const written = codec.write(value, version)
        assert.deepEqual(read(written, version), { items: [], ...value }, written)
      })
  test('XML of any type is unchanged, with the namespaces that it needs', () => {
    for (const member of ['anything', 'all'] as const) {
      const tag = member === 'all' ? 'item' : member
      const xml = `<${tag} xmlns:q="urn:q" q:at="1"><q:b>c</q:b> d</${tag}>`
      const value = { [member]: member === 'all' ? [xml, xml] : xml }
      const written = codec.write(value, soap11)
      const back = read(written) as Record<string, string | readonly string[]>
      for (const text of [back[member] ?? []].flat()) {
        assert.ok(text?.includes('urn:q') && text.includes('c</'), text)
        assert.match(text ?? '', /^<item|^<anything/)
      }
      assert.equal([back[member]].flat().length, member === 'all' ? 2 : 1)
    }
  })
})

test('a wildcard accepts elements of its namespaces that no other part accepts, and keeps their texts', () => {
  const other = ['<q:b xmlns:q="urn:q">c</q:b>', '<name xmlns="urn:q"/>']
  const written = codec.write({ open: { name: 'n', other }, items: [] }, soap11)
  assert.deepEqual(read(written), { open: { name: 'n', other }, items: [] })
  assert.throws(() => codec.write({ open: { other: ['<b xmlns="urn:a"/>'] }, items: [] }, soap11), UnfitValue)
  assert.throws(() => readPut('<open><m:b/></open>'), Refused)
})

test('SOAP 1.1 §5.1 rule 5 an element by itself has its own name, its scope and its type', () => {
  const alone = createEncodedCodecs()(a.element('fault', Price))
  const written = alone.writeAlone({ value: '1.50', currency: 'EUR' }, soap11)
  assert.match(written, /^<(\w+:)?fault /)
  assert.match(written, /encodingStyle="http:\/\/schemas\.xmlsoap\.org\/soap\/encoding\/"/)
  assert.match(written, /:type="\w+:Price"/)
  assert.match(written, / currency="EUR">1\.50<\/(\w+:)?fault>$/)
  const document = parseXml(new TextEncoder().encode(written.replace(/ /, ` xmlns:soap="${soap11.namespace}" `)))
  assert.ok(!(document instanceof Malformed), written)
})

describe('XML Schema Part 1 §3.3.4 5, §3.4.4 3 defaults and fixed values', () => {
  const Marked = a.type('Marked', {
    value: x.text(x.int),
    unit: x.attribute(x.string).default('kg'),
    kind: x.attribute(x.int).fixed('1').optional(),
  })
  const Stamped = a.type('Stamped', { value: x.text(x.int), release: x.attribute(x.int).fixed('2') })
  const initial = createEncodedCodecs()(
    x.call('urn:a', 'put', {
      count: x.element(x.int).default('5').optional(),
      only: x.element(x.int).fixed('7').nillable().optional(),
      mark: x.element(Marked).default('3').optional(),
      stamp: x.element(Stamped).optional(),
      some: x.element(x.int).many(),
    }),
  )
  const readInitial = (inside: string) => read(`<m:put>${inside}</m:put>`, soap11, '', initial)

  test('an empty accessor has its default, and so has an attribute that is absent', () => {
    const mark = { value: 3, unit: 'kg', kind: 1 }
    assert.deepEqual(readInitial('<count/><only/><mark/>'), { count: 5, only: 7, mark, some: [] })
    assert.deepEqual(readInitial('<count>6</count><only>07</only>'), { count: 6, only: 7, some: [] })
  })
  for (const [inside, says] of [
    ['<only>8</only>', /only must be 7|must be 7/],
    ['<mark kind="2">1</mark>', /kind must be 1/],
    ['<stamp>1</stamp>', /must have the attribute release/],
    ['<some i:nil="true"/>', /must not be nil/],
  ] as const)
    test(`${inside} is refused`, () =>
      assert.throws(
        () => readInitial(inside),
        (thrown: unknown) => says.test(JSON.stringify(thrown)),
      ))
  for (const value of [{ only: 8 }, { only: null }, { count: null }, { some: [null] }])
    test(`${JSON.stringify(value)} is not sent`, () =>
      assert.throws(() => initial.write({ some: [], ...value }, soap11), UnfitValue))
})

test('the type of each value is stated, those of arrays with their sizes', () => {
  const value = { text: 'a', list: [1, 2], price: { value: '1', currency: 'E' }, way: { wheels: 3 } }
  const in11 = codec.write(value, soap11)
  const in12 = codec.write(value, soap12)
  for (const text of [in11, in12]) {
    assert.match(text, /<text \w+:type="\w+:string">a</)
    assert.match(text, /<price \w+:type="\w+:Price" /)
    assert.match(text, /<way \w+:type="\w+:Vehicle">/)
    assert.match(text, /<list \w+:type="enc:Array"/)
    assert.match(text, /<item \w+:type="\w+:int">1</)
  }
  assert.match(in11, /arrayType="\w+:int\[2\]"/)
  assert.match(in12, /itemType="\w+:int"/)
  assert.match(in12, /arraySize="2"/)
})

const unreadable: Readonly<Record<string, readonly [inside: string, says: RegExp]>> = {
  'an accessor that is none': ['<other/>', /is not expected here: expected text, number, name/],
  'an accessor of another namespace': ['<m2:text xmlns:m2="urn:b"/>', /is not expected here/],
  'nil of what must not be': ['<grouped><left i:nil="true"/></grouped>', /must not be nil/],
  'an accessor twice': ['<text>a</text><text>b</text>', /is repeated/],
  'a branch of a choice twice': ['<grouped><left>1</left><card>a</card><card>b</card></grouped>', /is repeated/],
  'both branches of a choice': ['<grouped><left>1</left><card>a</card><coins>1</coins></grouped>', /is repeated/],
  'a member that is missing': ['<tree/>', /must have name/],
  'a member of a group that is missing': ['<grouped/>', /must have left/],
  'a second member of a sequence that is missing': ['<grouped><right>1</right></grouped>', /must have left/],
  'a member of a branch that is missing': ['<paired><bank>b</bank><some>1</some></paired>', /must have number/],
  'a member of a sequence that repeats': [
    '<paired><key>a</key><key>b</key><value>1</value><some>1</some></paired>',
    /must have value/,
  ],
  'one sequence too many': [
    `<paired>${'<key>a</key><value>1</value>'.repeat(3)}<some>1</some></paired>`,
    /at most 2 of key/,
  ],
  'elements that have to be there': ['<paired/>', /must have 1 of some/],
  'one element too many': [`<paired>${'<some>1</some>'.repeat(3)}</paired>`, /at most 2 of some/],
  'two branches of several members': ['<paired><bank>b</bank><person>p</person><some>1</some></paired>', /is repeated/],
  'an attribute that is missing': ['<price>1</price>', /must have the attribute currency/],
  'an attribute that is none': ['<tree other="1"><name/></tree>', /other/],
  'text among elements': ['<tree>text<name>a</name></tree>', /has text where elements are expected/],
  'text that is not of its type': ['<number>x</number>', /whole number/],
  'an abstract type that is not derived': [
    '<shape><name>a</name></shape>',
    /has an abstract type: its xsi:type must name another one/,
  ],
  'an item that is not of its type': ['<list><item>x</item></list>', /whole number/],
}
const refusesType = /must not have the xsi:type/
/** What a value states as its type: a value, or why it is refused. */
const stated: readonly [title: string, inside: string, expected: object | RegExp][] = [
  ['the declared type', '<number i:type="xs:int">7</number>', { number: 7 }],
  ['the same of the encoding', '<number i:type="enc:int">7</number>', { number: 7 }],
  ['base64 of the encoding', '<octets i:type="enc:base64">AA==</octets>', { octets: new Uint8Array(1) }],
  ['a derived type', '<number i:type=" xs:byte ">7</number>', { number: 7 }],
  ['a value beyond the derived type', '<number i:type="xs:byte">128</number>', /127/],
  ['another number', '<number i:type="xs:double">7</number>', { number: 7 }],
  ['text, as clients without a schema write it', '<number i:type="xs:string">7</number>', { number: 7 }],
  ['a name that only the sender knows', '<number i:type="o:Number">7</number>', { number: 7 }],
  ['a time for a number', '<number i:type="xs:dateTime">7</number>', refusesType],
  ['a number for octets', '<octets i:type="xs:int">AA==</octets>', refusesType],
  ['what is no type of XML Schema', '<number i:type="xs:nothing">7</number>', refusesType],
  ['a prefix without a namespace', '<number i:type="nowhere:int">7</number>', refusesType],
  ['a struct of the encoding', '<way i:type="enc:Struct"><wheels>1</wheels></way>', { way: { wheels: 1 } }],
  ['a struct that only the sender knows', '<way i:type="o:Way"><wheels>1</wheels></way>', { way: { wheels: 1 } }],
  ['a simple type for a struct', '<tree i:type="xs:string"><name>a</name></tree>', refusesType],
  ['another type of the schema', '<tree i:type="m:Price"><name>a</name></tree>', refusesType],
  ['one that is not derived', '<way i:type="m:Price"><wheels>1</wheels></way>', refusesType],
  ['an item of another type', '<list><item i:type="xs:time">1</item></list>', refusesType],
  ['an array', '<list i:type="enc:Array"><item>1</item></list>', { list: [1] }],
  ['a simple type for an array', '<list i:type="xs:int"><item>1</item></list>', refusesType],
]
/** The type of the items of an array. */
const itemTypes: readonly [stated: string, isTaken: boolean][] = [
  ['xs:int', true],
  ['enc:int', true],
  ['xs:byte', true],
  ['xs:anyType', true],
  ['xs:string', true],
  ['o:Number', true],
  ['xs:dateTime', false],
  ['xs:nothing', false],
  ['nowhere:int', false],
]
const listOf = (version: SoapVersion, type: string): string =>
  `<list ${version === soap11 ? `enc:arrayType="${type}[1]"` : `enc:itemType="${type}"`}><item>7</item></list>`

/** What only SOAP 1.2 says of a graph: unique identifiers, and kinds of nodes. */
const graphs: typeof stated = [
  ['§3.1.5.3 a reference', '<text enc:id="1">7</text><number enc:ref="1"/>', { text: '7', number: 7 }],
  ['§3.1.5.3 one with an id', '<text enc:id="1">7</text><number enc:id="2" enc:ref="1"/>', /has an id/],
  ['§3.1.5.3 one with text', '<text enc:id="1">7</text><number enc:ref="1">7</number>', /has content/],
  ['§3.1.5.2 an id that nothing refers to', '<text enc:id="1">7</text>', { text: '7' }],
  ['§3.1.5.2 the same id twice', '<text enc:id="1">7</text><number enc:id="1">7</number>', /DuplicateID/],
  ['§3.1.7 a simple node', '<number enc:nodeType="simple">7</number>', { number: 7 }],
  ['§3.1.7 a struct', '<way enc:nodeType="struct"><wheels>1</wheels></way>', { way: { wheels: 1 } }],
  ['§3.1.7 an array', '<list enc:nodeType="array"><item>1</item></list>', { list: [1] }],
  ['§3.1.7 a simple node that is none', '<number enc:nodeType="struct">7</number>', /where simple is expected/],
  ['§3.1.7 a struct that is none', '<way enc:nodeType="array"><wheels>1</wheels></way>', /where struct is expected/],
  ['§3.1.7 an array that is none', '<list enc:nodeType="struct"><item>1</item></list>', /where array is expected/],
  ['§3.1.7 another word', '<number enc:nodeType="scalar">7</number>', /nodeType scalar/],
]
const listItemRows = (version: SoapVersion): typeof stated =>
  itemTypes.map(([type, isTaken]) => [
    `items of the type ${type}`,
    listOf(version, type),
    isTaken ? { list: [7] } : /must not have items of the type/,
  ])
describe('SOAP 1.1 §5.1, SOAP 1.2 Part 2 §3.1: what a message states of its values', () => {
  for (const [version, rows] of [
    [soap11, [...stated, ...listItemRows(soap11)]],
    [soap12, [...stated, ...listItemRows(soap12), ...graphs]],
  ] as const)
    for (const [title, inside, expected] of rows)
      test(`${version.number} ${title}: ${expected instanceof RegExp ? 'refused' : 'taken'}`, () => {
        const scope = ` xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:enc="${version.encoding}" xmlns:o="urn:other"`
        const receive = () => read(`<m:put>${inside}</m:put>`, version, scope)
        if (!(expected instanceof RegExp)) assert.deepEqual(receive(), { items: [], ...expected })
        else
          assert.throws(receive, error => {
            assert.ok(error instanceof Refused)
            assert.match(JSON.stringify(error.refusal), expected)
            return true
          })
      })
})

describe('refused, with its place', () => {
  for (const [title, [inside, says]] of Object.entries(unreadable))
    test(title, () => {
      assert.throws(
        () => readPut(inside),
        thrown => thrown instanceof Refused && says.test(JSON.stringify(thrown.refusal)),
      )
    })
  test('and a nil value that may be absent is absent', () => {
    assert.deepEqual(readPut('<text i:nil="true"/><number i:nil="1"/>'), { number: null, items: [] })
  })
})

const unwritable: Readonly<Record<string, readonly [value: object, says: RegExp]>> = {
  'a member that the type does not have': [{ other: 1 }, /has the member other, which its type does not have/],
  'a text in place of an object': [{ tree: 'a' }, /tree.*must be an object/],
  'null in place of an object': [{ grouped: { both: null, steps: [] } }, /must be an object/],
  'a member that is missing': [{ tree: { branch: [] } }, /must have name/],
  'a type that is not derived': [
    { way: { $type: 'Bus', wheels: 1 } },
    /has the \$type Bus, which is not derived from its type/,
  ],
  'a value of another type': [{ number: 'x' }, /number/],
  'an attribute of another type': [{ price: { value: '1', currency: 5 } }, /price/],
}
describe('a value that does not fit is not written', () => {
  for (const [title, [value, says]] of Object.entries(unwritable))
    test(title, () => {
      assert.throws(
        () => codec.write(value, soap11),
        thrown => thrown instanceof UnfitValue && says.test(String(thrown.message)),
      )
    })
  test('and an undefined member is absent', () => {
    assert.deepEqual(read(codec.write({ text: undefined, other: undefined }, soap11)), { items: [] })
  })
})
