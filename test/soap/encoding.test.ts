/**
 * Rule B2.8, RPC/encoded: references, arrays, nil and types of both encodings; attacks S8, S9 and
 * P25, P26 in their own form.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { bindCustomOperation } from '../../src/soap/operations/custom-operation.ts'
import { createEchoNode } from './echo.ts'
import { type Answer, envelope, find } from './orders-over-soap.ts'

const Person = t.object({ name: t.string(), age: t.int().optional(), boss: t.string().nullable().optional() }, 'Person')
const seen: unknown[] = []
const echo = createEchoNode([
  bindCustomOperation({
    namespace: 'urn:e',
    name: 'echo',
    style: 'encoded',
    request: {
      people: t.list(Person).optional(),
      words: t.list(t.string()).optional(),
      grid: t.list(t.list(t.int())).optional(),
      one: t.string().optional(),
      two: t.string().optional(),
      octets: t.bytes().optional(),
      amount: t.decimal(12, 2).optional(),
      shape: t.union('kind', { circle: { r: t.int() }, square: { side: t.int() } }).optional(),
    },
    response: {
      people: t.list(Person).optional(),
      words: t.list(t.string()).optional(),
      grid: t.list(t.list(t.int())).optional(),
      shape: t.union('kind', { circle: { r: t.int() }, square: { side: t.int() } }).optional(),
    },
    perform: row => {
      seen.push(row)
      const { people, words, grid, shape } = row
      return { ...(people && { people }), ...(words && { words }), ...(grid && { grid }), ...(shape && { shape }) }
    },
  }),
])

const scope =
  'xmlns:e="urn:e" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:c="http://schemas.xmlsoap.org/soap/encoding/" xmlns:d="http://www.w3.org/2003/05/soap-encoding"'
const call = (inside: string, behind = '') => `<e:echo ${scope}>${inside}</e:echo>${behind}`
const multiReference = (id: string, inside: string, name = 'multiRef') =>
  `<${name} id="${id}" ${scope}>${inside}</${name}>`

async function askEcho(body: string, version: '1.1' | '1.2' = '1.1'): Promise<{ answer: Answer; row: unknown }> {
  seen.length = 0
  const answer = await echo.post({ version, raw: envelope(body, { version }) })
  assert.deepEqual(echo.incidents, [])
  return { answer, row: seen[0] }
}

const taken: readonly (readonly [string, string, unknown, ('1.1' | '1.2')?])[] = [
  ['§5.4.1 a reference to what follows the call', call('<one href="#a"/>', multiReference('a', 'x')), { one: 'x' }],
  [
    'two references to one value',
    call('<one href="#a"/><two href="#a"/>', multiReference('a', 'x')),
    { one: 'x', two: 'x' },
  ],
  ['a reference to an accessor inside the call', call('<one id="a">x</one><two href="#a"/>'), { one: 'x', two: 'x' }],
  [
    'a reference to a reference',
    call('<one href="#a"/>', `<m id="a" href="#b"/>${multiReference('b', 'x')}`),
    { one: 'x' },
  ],
  [
    'XML Schema Part 2 §4.3.6 white space around a reference',
    call('<one href=" #a "/>', multiReference('a ', 'x')),
    { one: 'x' },
  ],
  ['… in SOAP 1.2', call('<one d:ref=" a"/><two d:id="a ">x</two>'), { one: 'x', two: 'x' }, '1.2'],
  ['1.2 §3.1.5.2 ref and id', call('<one d:ref="a"/><two d:id="a">x</two>'), { one: 'x', two: 'x' }, '1.2'],
  [
    'structs by reference, as Axis sends them',
    call(
      '<people c:arrayType="e:Person[2]"><item href="#a"/><item href="#a"/></people>',
      multiReference('a', '<name>n</name><age i:type="xs:int">7</age>'),
    ),
    {
      people: [
        { name: 'n', age: 7 },
        { name: 'n', age: 7 },
      ],
    },
  ],
  [
    'an array by reference',
    call(
      '<words href="#w"/>',
      multiReference('w', '<x>a</x><x>b</x>').replace('<multiRef', '<multiRef c:arrayType="xs:string[2]"'),
    ),
    { words: ['a', 'b'] },
  ],
  [
    '§5.4.2 items whatever they are called',
    call('<words c:arrayType="xs:string[2]"><c:string>a</c:string><other>b</other></words>'),
    { words: ['a', 'b'] },
  ],
  ['an array without length', call('<words c:arrayType="xs:string[]"><i>a</i></words>'), { words: ['a'] }],
  ['an array without arrayType', call('<words><i>a</i></words>'), { words: ['a'] }],
  ['an empty array', call('<words i:type="c:Array" c:arrayType="xs:ur-type[0]"/>'), { words: [] }],
  ['1.2 arraySize *', call('<words d:itemType="xs:string" d:arraySize="*"><i>a</i></words>'), { words: ['a'] }, '1.2'],
  ['1.2 arraySize 2', call('<words d:arraySize="2"><i>a</i><i>b</i></words>'), { words: ['a', 'b'] }, '1.2'],
  [
    'an array of arrays, declared so',
    call(
      '<grid c:arrayType="xs:int[][2]"><i c:arrayType="xs:int[2]"><i>1</i><i>2</i></i><i c:arrayType="xs:int[0]"/></grid>',
    ),
    { grid: [[1, 2], []] },
  ],
  [
    '§4.1.1 an encodingStyle of a parameter: the encoding, and one that is narrower',
    call(
      '<one s:encodingStyle="urn:x http://schemas.xmlsoap.org/soap/encoding/" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">x</one>',
    ),
    { one: 'x' },
  ],
  [
    '§5.4.2.1 §5.4.2.2 the whole of an array, with its offset and the positions of its items',
    call('<words c:arrayType="xs:string[2]" c:offset="[0]"><i c:position="[0]">a</i><i c:position="[1]">b</i></words>'),
    { words: ['a', 'b'] },
  ],
  ['accessors in any order', call('<two>b</two><one>a</one>'), { one: 'a', two: 'b' }],
  ['nil is nothing for what is optional', call('<one i:nil="true"/><two i:nil="1" i:type="xs:string"/>'), {}],
  [
    'nil is null for what is nullable',
    call('<people><i><name>n</name><boss i:nil="true"/></i></people>'),
    { people: [{ name: 'n', boss: null }] },
  ],
  ['peers 11 no xsi:type at all', call('<amount>1.5</amount>'), { amount: '1.50' }],
  [
    'a type guessed from the value',
    call('<amount i:type="xs:float">1.5</amount><one i:type="xs:int">7</one>'),
    { amount: '1.50', one: '7' },
  ],
  [
    'a type of the encoding',
    call('<one i:type="c:string">x</one><octets i:type="c:base64">AQID</octets>'),
    { one: 'x', octets: Uint8Array.of(1, 2, 3) },
  ],
  ['a union', call('<shape><square><side>2</side></square></shape>'), { shape: { kind: 'square', side: 2 } }],
  ['members qualified, as some send them', call('<e:one>x</e:one>'), { one: 'x' }],
]
for (const [title, body, expected, version] of taken)
  test(`B2.8 accepted: ${title}`, async () => {
    const { answer, row } = await askEcho(body, version)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(row, expected)
  })

const refer = '<one d:ref="b"/>'
const blockOf = (attributes: string, inside = 'x') =>
  `<h:data xmlns:h="urn:h" xmlns:d="http://www.w3.org/2003/05/soap-encoding" xmlns:e="http://www.w3.org/2003/05/soap-envelope" ${attributes}>${inside}</h:data>`
const headers: readonly (readonly [title: string, header: string, row: unknown, subcode?: string])[] = [
  ['a block', blockOf('d:id="b"'), { one: 'x' }],
  [
    '§2.2 a block for no role',
    blockOf('d:id="b" e:role="http://www.w3.org/2003/05/soap-envelope/role/none"'),
    { one: 'x' },
  ],
  [
    'a block for another node',
    blockOf('d:id="b" e:role="urn:elsewhere" e:mustUnderstand="true" e:relay="1"'),
    { one: 'x' },
  ],
  ['an element inside of a block', blockOf('', '<a d:id="b">x</a>'), { one: 'x' }],
  [
    'an encoding of its own',
    blockOf('d:id="b" e:encodingStyle="http://www.w3.org/2003/05/soap-encoding"'),
    { one: 'x' },
  ],
  ['a block without the id', blockOf('d:id="c"'), undefined, 'MissingID'],
  ['two blocks with the id', blockOf('d:id="b"') + blockOf('d:id="b"'), undefined, 'DuplicateID'],
  [
    'an attribute of SOAP inside of a block',
    blockOf('', '<a d:id="b" e:role="urn:r">x</a>'),
    undefined,
    'BadArguments',
  ],
]
for (const [title, header, expected, subcode] of headers)
  test(`SOAP 1.2 Part 2 §3.1.5.3 a reference from the Body to the Header: ${title}`, async () => {
    seen.length = 0
    const answer = await echo.post({ version: '1.2', raw: envelope(call(refer), { version: '1.2', header }) })
    assert.deepEqual(answer.fault?.subcodes, subcode && [subcode], answer.text)
    assert.deepEqual(seen[0], expected)
  })

const chainOfReferences = (length: number) =>
  Array.from({ length }, (_, i) => `<m id="a${i}" href="#a${i + 1}"/>`).join('')
const refused: readonly (readonly [string, string, string, ('1.1' | '1.2')?, string?])[] = [
  ['S8 a reference to itself', call('<one id="a" href="#a"/>'), 'Client'],
  ['S8 a circle of references', call('<one href="#a"/>', '<m id="a" href="#b"/><m id="b" href="#a"/>'), 'Client'],
  ['S8 a struct that is part of itself', call('<people id="p"><i href="#p"/></people>'), 'Client'],
  ['S8 a reference to nothing', call('<one href="#nobody"/>'), 'Client'],
  ['S8 1.2 §3.1.7 a nodeType that is not so', call('<one d:nodeType="array">x</one>'), 'Sender', '1.2', 'BadArguments'],
  [
    'S8 1.2 §3.1.5.3 a reference with an id',
    call('<one d:id="b" d:ref="a"/><two d:id="a">x</two>'),
    'Sender',
    '1.2',
    'BadArguments',
  ],
  ['S8 1.2: MissingID', call('<one d:ref="nobody"/>'), 'Sender', '1.2', 'MissingID'],
  [
    'S8 1.2: DuplicateID',
    call(
      '<one d:ref="a"/><two d:id="a">x</two>',
      '<m d:id="a" xmlns:d="http://www.w3.org/2003/05/soap-encoding">y</m>',
    ),
    'Sender',
    '1.2',
    'DuplicateID',
  ],
  ['S8 an id twice', call('<one href="#a"/>', multiReference('a', 'x') + multiReference('a', 'y')), 'Client'],
  ['S8 a reference elsewhere', call('<one href="http://127.0.0.1/x"/>'), 'Client'],
  ['S8 a reference with content', call('<words href="#w"><i>a</i></words>', multiReference('w', '<i>b</i>')), 'Client'],
  ['S8 100,000 references in a row', call('<one href="#a0"/>', chainOfReferences(9_000)), 'Client'],
  [
    'S8 references that multiply',
    call(`<words>${'<i href="#a"/>'.repeat(9_999)}</words>`, multiReference('a', 'x'.repeat(500_000))),
    'Client',
  ],
  [
    'S8 … in two stages',
    call(`<grid>${'<i href="#a"/>'.repeat(9_999)}</grid>`, multiReference('a', '<i>1</i>'.repeat(9_999))),
    'Client',
  ],
  ['S9 arrayType[2147483647]', call('<words c:arrayType="xs:string[2147483647]"><i>a</i></words>'), 'Client'],
  [
    'S9 1.2 arraySize 2147483647',
    call('<words d:arraySize="2147483647"><i>a</i></words>'),
    'Sender',
    '1.2',
    'BadArguments',
  ],
  [
    'S9 arrayType[99999999999999999999]',
    call('<words c:arrayType="xs:string[99999999999999999999]"><i>a</i></words>'),
    'Client',
  ],
  ['S9 two dimensions', call('<words c:arrayType="xs:string[1,1]"><i>a</i></words>'), 'Client'],
  ['S9 1.2 two dimensions', call('<words d:arraySize="1 1"><i>a</i></words>'), 'Sender', '1.2', 'BadArguments'],
  ['S9 jagged where it is not declared', call('<words c:arrayType="xs:string[][1]"><i><i>a</i></i></words>'), 'Client'],
  ['S9 offset', call('<words c:arrayType="xs:string[5]" c:offset="[4]"><i>a</i></words>'), 'Client'],
  ['S9 offset, by no size', call('<words c:arrayType="xs:string[]" c:offset="[4]"><i>a</i></words>'), 'Client'],
  ['S9 sparse', call('<words c:arrayType="xs:string[5]"><i c:position="[4]">a</i></words>'), 'Client'],
  [
    'S9 sparse, by reference',
    call('<words c:arrayType="xs:string[]"><i c:position="[4]" href="#a"/></words>', multiReference('a', 'x')),
    'Client',
  ],
  [
    'S9 items in another order, by reference',
    call(
      '<words c:arrayType="xs:string[2]"><i c:position="[1]" href="#a"/><i c:position="[0]" href="#a"/></words>',
      multiReference('a', 'x'),
    ),
    'Client',
  ],
  ['S9 fewer items than it says', call('<words c:arrayType="xs:string[2]"><i>a</i></words>'), 'Client'],
  ['S9 more items than it says', call('<words c:arrayType="xs:string[1]"><i>a</i><i>b</i></words>'), 'Client'],
  ['P25 a type of another kind', call('<one i:type="xs:base64Binary">AQID</one>'), 'Client'],
  ['P25 a type that nobody declares', call('<one i:type="q:x">x</one>'), 'Client'],
  ['P25 another struct', call('<people><i i:type="e:Boss"><name>n</name></i></people>'), 'Client'],
  ['P26 nil with content', call('<one i:nil="true">x</one>'), 'Client'],
  ['nil for what is not', call('<people><i><name i:nil="true"/></i></people>'), 'Client'],
  ['an accessor twice', call('<one>a</one><one>b</one>'), 'Client'],
  ['an accessor that is none', call('<three>a</three>'), 'Client'],
  ['… in SOAP 1.2: rpc:BadArguments', call('<three>a</three>'), 'Sender', '1.2', 'BadArguments'],
  ['an attribute that is none', call('<one x="1">a</one>'), 'Client'],
  ['elements where a text is', call('<one><b/></one>'), 'Client'],
  ['text where elements are', call('x<one>a</one>'), 'Client'],
  [
    'B7.2 an encoding that nobody knows',
    call('<one>a</one>').replace('<e:echo', '<e:echo s:encodingStyle="urn:x"'),
    'DataEncodingUnknown',
    '1.2',
  ],
  [
    'B7.2 §5.1.1 … of a parameter',
    call('<one s:encodingStyle="urn:x" xmlns:s="http://www.w3.org/2003/05/soap-envelope">a</one>'),
    'DataEncodingUnknown',
    '1.2',
  ],
  [
    'Part 1 §5.1.1 an encodingStyle that names two, which SOAP 1.2 has not',
    call(
      '<one s:encodingStyle="urn:x http://www.w3.org/2003/05/soap-encoding" xmlns:s="http://www.w3.org/2003/05/soap-envelope">a</one>',
    ),
    'DataEncodingUnknown',
    '1.2',
  ],
  [
    'B7.2 … of an item',
    call('<words><i s:encodingStyle="urn:x" xmlns:s="http://www.w3.org/2003/05/soap-envelope">a</i></words>'),
    'DataEncodingUnknown',
    '1.2',
  ],
  [
    'B7.2 §4.1.1 … of what is referred to',
    call(
      '<one href="#a"/>',
      multiReference('a', 'x').replace(
        '>',
        ' s:encodingStyle="urn:x" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">',
      ),
    ),
    'Client',
  ],
]
for (const [title, body, code, version, subcode] of refused)
  test(`refused: ${title}`, async () => {
    const started = process.cpuUsage().user
    const { answer, row } = await askEcho(body, version)
    assert.equal(answer.fault?.code, code, answer.text)
    if (subcode) assert.deepEqual(answer.fault?.subcodes, [subcode])
    assert.equal(row, undefined, 'nothing has run')
    assert.ok(process.cpuUsage().user - started < 500_000, 'it cost too much')
  })

test('a value is read as it was written, in both encodings', async () => {
  const body = call(
    '<people><i><name>a</name><boss i:nil="true"/></i></people><words><i>&lt;</i></words><grid><i><i>1</i></i></grid><shape><circle><r>1</r></circle></shape>',
  )
  for (const version of ['1.1', '1.2'] as const) {
    const { answer, row } = await askEcho(body, version)
    const response = answer.text
      .replace(/^.*?:Body>/, '')
      .replace(/<\/soap:Body>.*$/, '')
      .replaceAll('echoResponse', 'echo')
      .replace(/ soap:encodingStyle="[^"]*"/, '')
    assert.ok(find(answer.body, 'people'))
    const again = await askEcho(response, version)
    assert.deepEqual(again.row, row)
  }
})
