/** Arrays of SOAP's encoding in several dimensions, in part and sparse (SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.6). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ValueOf, x } from '../../src/contract/xml-type.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createEncodedCodecs } from '../../src/soap/codecs/schema-encoded.ts'
import { UnfitValue } from '../../src/soap/codecs/schema-write.ts'
import { type SoapVersion, soap11, soap12 } from '../../src/soap/version.ts'
import { Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { assertLinear } from '../support/cost.ts'

const Table = x.array(x.int, 2)
const call = x.call('urn:a', 'put', {
  words: x.element(x.array(x.string)).optional(),
  table: x.element(Table).optional(),
  cube: x.element(x.array(x.int, 3)).optional(),
  tables: x.element(x.array(Table)).optional(),
})
const codec = createEncodedCodecs()(call)
const scope = `xmlns:m="urn:a" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema"`
function readBody(text: string, version: SoapVersion): unknown {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed), text)
  const cursor = walkTree(document.root)
  cursor.next()
  cursor.next()
  const reading = { flaws: [], parts: undefined, around: document.root, blocks: [] }
  return codec.read(cursor, reading, version)
}
const read11 = (inside: string, after = ''): unknown =>
  readBody(`<Body ${scope} xmlns:c="${soap11.encoding}"><m:put>${inside}</m:put>${after}</Body>`, soap11)
const read12 = (inside: string): unknown =>
  readBody(`<Body ${scope} xmlns:c="${soap12.encoding}"><m:put>${inside}</m:put></Body>`, soap12)
const items = (...texts: readonly (string | number)[]): string => texts.map(each => `<i>${each}</i>`).join('')

const readings: readonly (readonly [clause: string, read: () => unknown, value: unknown])[] = [
  [
    '§5.4.2 a table in row-major order',
    () => read11(`<table c:arrayType="xs:int[2,3]">${items(1, 2, 3, 4, 5, 6)}</table>`),
    {
      table: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    },
  ],
  [
    '§5.4.2 three dimensions',
    () => read11(`<cube c:arrayType="xs:int[2,1,2]">${items(1, 2, 3, 4)}</cube>`),
    { cube: [[[1, 2]], [[3, 4]]] },
  ],
  [
    '§5.4.2 tables in an array, referred to',
    () =>
      read11(
        '<tables c:arrayType="xs:int[,][2]"><i href="#a"/><i href="#a"/></tables>',
        `<x id="a" c:arrayType="xs:int[1,2]">${items(1, 2)}</x>`,
      ),
    { tables: [[[1, 2]], [[1, 2]]] },
  ],
  [
    '§5.4.2 white space in the brackets (RFC 822 §2.7)',
    () =>
      read11(
        `<table c:arrayType="xs:int[ 1 , 2 ]">${items(1, 2)}</table><words c:arrayType="xs:string[ 1 ]">${items('a')}</words>`,
      ),
    { table: [[1, 2]], words: ['a'] },
  ],
  ['§5.4.2 a table without rows', () => read11('<table c:arrayType="xs:int[0,3]"/>'), { table: [] }],
  ['§5.4.2 a table without columns', () => read11('<table c:arrayType="xs:int[2,0]"/>'), { table: [[], []] }],
  ['§5.4.2 a table that is empty', () => read11('<table/>'), { table: [] }],
  [
    '§5.4.2.1 a part of an array',
    () => read11(`<words c:arrayType="xs:string[5]" c:offset="[2]">${items('c', 'd')}</words>`),
    { words: [null, null, 'c', 'd', null] },
  ],
  [
    '§5.4.2.1 a part of a table',
    () => read11(`<table c:arrayType="xs:int[2,2]" c:offset="[0,1]">${items(2, 3)}</table>`),
    {
      table: [
        [null, 2],
        [3, null],
      ],
    },
  ],
  [
    '§5.4.2.2 a sparse array',
    () => read11('<words c:arrayType="xs:string[4]"><i c:position="[3]">d</i><i c:position="[1]">b</i></words>'),
    { words: [null, 'b', null, 'd'] },
  ],
  [
    '§5.4.2.2 a sparse array of no size ends with its last item',
    () => read11('<words c:arrayType="xs:string[]"><i c:position="[1]">b</i><i>c</i></words>'),
    { words: [null, 'b', 'c'] },
  ],
  [
    '§5.4.2.2 a sparse table',
    () => read11('<table c:arrayType="xs:int[2,2]"><i c:position="[1,0]">3</i></table>'),
    {
      table: [
        [null, null],
        [3, null],
      ],
    },
  ],
  [
    'Part 2 §3.1.6 sizes of SOAP 1.2',
    () => read12(`<table c:itemType="xs:int" c:arraySize="2 2">${items(1, 2, 3, 4)}</table>`),
    {
      table: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  [
    'Part 2 §3.1.6 the first size may be open',
    () => read12(`<table c:itemType="xs:int" c:arraySize="* 2">${items(1, 2, 3, 4)}</table>`),
    {
      table: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
]
for (const [clause, read, value] of readings) test(clause, () => assert.deepEqual({ ...(read() as object) }, value))

const refused: readonly (readonly [clause: string, read: () => unknown, reason: RegExp])[] = [
  ['an item too few', () => read11(`<table c:arrayType="xs:int[2,2]">${items(1)}</table>`), /2 by 2 items and has 1/],
  ['another rank', () => read11(`<table c:arrayType="xs:int[2]">${items(1, 2)}</table>`), /sizes of its 2 dimensions/],
  [
    'a rank where none is declared',
    () => read11(`<words c:arrayType="xs:string[1,1]">${items('a')}</words>`),
    /one dim/,
  ],
  ['no sizes', () => read11(`<table>${items(1)}</table>`), /sizes of its 2 dimensions/],
  ['a size that is none', () => read11(`<table c:arrayType="xs:int[2,x]">${items(1)}</table>`), /not have the size x/],
  ['a place twice', () => read11('<words><i c:position="[1]">a</i><i c:position="[1]">b</i></words>'), /another item/],
  [
    'a place outside',
    () => read11('<words c:arrayType="xs:string[2]"><i c:position="[2]">a</i></words>'),
    /place \[2\]/,
  ],
  ['a column outside', () => read11('<table c:arrayType="xs:int[2,2]"><i c:position="[0,2]">1</i></table>'), /place/],
  [
    'an offset outside',
    () => read11(`<words c:arrayType="xs:string[2]" c:offset="[7]">${items('a')}</words>`),
    /place/,
  ],
  [
    'an item after the end',
    () => read11(`<words c:arrayType="xs:string[2]" c:offset="[1]">${items('a', 'b')}</words>`),
    /after the end/,
  ],
  ['no place', () => read11('<words><i c:position="first">a</i></words>'), /place first/],
  [
    'open sizes with a rest',
    () => read12(`<table c:arraySize="* 2">${items(1, 2, 3)}</table>`),
    /2 by 2 items and has 3/,
  ],
  [
    'sizes of nothing',
    () => read11('<words c:arrayType="xs:string[999999999]" c:offset="[0]"/>'),
    /lead to more elements/,
  ],
  ['rows of nothing', () => read11('<table c:arrayType="xs:int[999999999,0]"/>'), /lead to more elements/],
  ['a far place', () => read11('<words><i c:position="[999999999]">a</i></words>'), /lead to more elements/],
]
for (const [clause, read, reason] of refused)
  test(`§5.4.2 is refused: ${clause}`, () =>
    assert.throws(read, thrown => thrown instanceof Refused && reason.test(JSON.stringify(thrown))))

test('§5.4.2 sparse arrays that are referred to count each time', () => {
  const many = '<i href="#a"/>'.repeat(50)
  const after = '<x id="a" c:arrayType="xs:int[100,99]" c:offset="[0,0]"/>'
  assert.throws(() => read11(`<tables c:arrayType="xs:int[,][50]">${many}</tables>`, after), Refused)
})

const values: readonly ValueOf<typeof call>[] = [
  {
    table: [
      [1, null, 3],
      [4, 5, 6],
    ],
  },
  { table: [] },
  { table: [[], []] },
  {
    cube: [
      [[1], [2]],
      [[3], [4]],
    ],
  },
  {
    tables: [
      [[1]],
      [
        [2, 3],
        [4, 5],
      ],
      null,
    ],
  },
  { words: ['a', null] },
]
for (const version of [soap11, soap12])
  for (const value of values)
    test(`SOAP ${version.number}: decode(encode(v)) = v for ${JSON.stringify(value)}`, () => {
      const text = `<Body xmlns:soap="${version.namespace}">${codec.write(value, version)}</Body>`
      assert.deepEqual({ ...(readBody(text, version) as object) }, value, text)
    })

test('rows of different lengths are not written', () => {
  assert.throws(() => codec.write({ table: [[1], [2, 3]] }, soap11), UnfitValue)
  assert.throws(() => codec.write({ table: [[1], null] }, soap11), UnfitValue)
})

test('a sparse array is read in linear time', () => {
  assertLinear(count => {
    const text = Array.from({ length: count }, (_, at) => `<i c:position="[${count - 1 - at}]">a</i>`).join('')
    return () => void read11(`<words c:arrayType="xs:string[${count}]">${text}</words>`)
  }, 1000)
})
