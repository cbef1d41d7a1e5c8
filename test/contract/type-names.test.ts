/** The names of published types (rules B2.7, B2.12): one for each type, and none taken twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import { Field, type Fields, t } from '../../src/contract/field.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileTypeNames, type TypeForm, type TypeRoot, typeRootsOf } from '../../src/contract/type-names.ts'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { services } from '../describe/contracts.ts'
import { shop } from '../describe/orders-contract.ts'

const namesOf = (roots: readonly TypeRoot[]): readonly string[] => compileTypeNames(roots).all.map(({ name }) => name)
const one = (fields: Fields, form: TypeForm = 'qualified', element = 'Do'): readonly string[] =>
  namesOf([{ element, fields, form }])
const styles: readonly MessageStyle[] = ['document', 'rpc', 'encoded']

const state = t.enum('on', 'off')
const Job = t.object({ state: t.enum('queued') }, 'Job')
const Line = t.object({ product: t.string() }, 'Line')
const rows: readonly (readonly [title: string, names: readonly string[], expected: readonly string[]])[] = [
  ['a built-in type has no name', one({ at: t.duration(), on: t.boolean(), many: t.int() }), []],
  [
    'times of one rule about zones share a name',
    one({
      from: t.dateTime({ zone: 'prohibited' }),
      until: t.dateTime({ zone: 'prohibited' }),
      at: t.time({ zone: 'required' }),
    }),
    ['LocalDateTime', 'ZonedTime'],
  ],
  ['a zone that a message may have, or need not', one({ from: t.dateTime(), on: t.date(), at: t.time() }), []],
  ['a narrowed one is named after its field', one({ page: t.int({ min: 1 }), state }), ['Page', 'State']],
  ['an identifier has the name that all share', one({ id: t.id('x'), owner: t.ref('people') }), ['Identifier']],
  ['a list and its items', one({ tags: t.list(t.string({ max: 3 })) }), ['Tags', 'Tag']],
  ['a list of lists', one({ grid: t.list(t.list(t.int())) }), ['Grid', 'GridGrid']],
  [
    'a union and its cases',
    one({ way: t.union('by', { card: { no: t.string() }, cash: {} }) }),
    ['Way', 'Card', 'Cash'],
  ],
  ['an object without a name', one({ place: t.object({ zip: t.string({ max: 5 }) }) }), ['Place', 'Zip']],
  ['a declared name stays', one({ line: Line }), ['Line']],
  [
    'a made name gives way to a declared one, whichever comes first',
    one({ line: t.enum('a'), item: Line, LINE: t.enum('b') }),
    ['Line2', 'Line', 'LINE3'],
  ],
  ['a made name gives way to an element', one({ pay: t.enum('a') }, 'qualified', 'Pay'), ['Pay2']],
  [
    'case tells no names apart',
    one({ kind: t.enum('a'), Kind: t.enum('b'), kIND: t.enum('c') }),
    ['Kind', 'Kind2', 'KIND3'],
  ],
  [
    'B2.12 an underscore tells no names apart, of which JAXB makes one class',
    one({ a_1: t.enum('a'), a1: t.enum('b'), b1_: t.enum('c'), b_1: t.enum('d'), job: Job, j_o_b: t.enum('x') }),
    ['A_1', 'A12', 'B1_', 'B_12', 'Job', 'State', 'J_o_b2'],
  ],
  ['the same twice is one', one({ a: t.object({ state }), b: t.object({ state }) }), ['A', 'State', 'B']],
  ['another of its name has the name of the type around it', one({ state, job: Job }), ['State', 'Job', 'JobState']],
  [
    'a number where that is taken',
    one({ state, jobState: t.enum('x'), job: Job }),
    ['State', 'JobState', 'Job', 'State2'],
  ],
  [
    'two declarations of one name: a number',
    one({ a: Line, b: t.object({ product: t.string() }, 'Line'), c: t.object({}, 'Line') }),
    ['Line', 'Line2'],
  ],
  [
    'a number gives way too',
    one({ a: Line, b: t.object({}, 'Line'), c: t.object({}, 'Line2') }),
    ['Line', 'Line3', 'Line2'],
  ],
  [
    'values with commas are not values apart',
    one({ a: t.object({ s: t.enum('x,y') }), b: t.object({ s: t.enum('x', 'y') }) }),
    ['A', 'S', 'B', 'BS'],
  ],
  [
    'the order of facets is no difference',
    one({ a: t.object({ s: t.string({ min: 1, max: 2 }) }), b: t.object({ s: t.string({ max: 2, min: 1 }) }) }),
    ['A', 'S', 'B'],
  ],
  ['what is internal has no type', one({ secret: t.enum('a').internal() }), []],
  ['a name is an NCName', one({ 'a b': t.enum('x'), '1st': t.enum('y') }), ['A_x0020_b', '_x0031_st']],
  [
    'an array of SOAP encoding',
    one({ lines: t.list(Line), words: t.list(t.string({ max: 9 })) }, 'encoded'),
    ['Line', 'ArrayOfLine', 'ArrayOfString'],
  ],
  ['encoded scalars are built in', one({ state, id: t.id('x') }, 'encoded'), []],
  ['an array of arrays', one({ grid: t.list(t.list(t.int())) }, 'encoded'), ['ArrayOfInt', 'ArrayOfArrayOfInt']],
  [
    'a type of elements in a namespace is another than one without',
    namesOf([
      { element: 'Do', fields: { line: Line, state }, form: 'unqualified' },
      { element: 'Fail', fields: { line: Line, state }, form: 'qualified' },
    ]),
    ['Line', 'State', 'Line2'],
  ],
]
for (const [title, names, expected] of rows) test(`B2.7 ${title}`, () => assert.deepEqual(names, expected))

test('B2.12 the types of the example are a readable vocabulary', () => {
  const names = namesOf(typeRootsOf(compileMessages(shop, 'v2'), 'document'))
  assert.equal(
    names.join(' '),
    'Identifier Order Lines Line Quantity Price Currency Total Note State Carrier Page Size Orders Total2 OrderDraft ' +
      'OrderDraftLines LineDraft Method Amount Payment Reason Tracking Customer Name Email Tier Customers Product Stock ' +
      'Description Products ProductDraft Picture MediaType Kind Job JobState Progress Report Rows Row RowAmount Totals ' +
      'CurrencyTotal Problems Problem Possible RetryAfter',
  )
})

test('B2.7 no name collides, in any contract: neither with another name nor with an element, even in other letter case', () => {
  const law = (service: Service, style: MessageStyle) => {
    const roots = typeRootsOf(compileMessages(service, 'v1'), style)
    const { all, nameOf } = compileTypeNames(roots)
    const names = all.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length, `twice: ${names}`)
    const made = all
      .filter(({ shape }) => !(shape.kind === 'object' && shape.name))
      .map(({ name }) => name.toLowerCase())
    const lower = names.map(name => name.toLowerCase())
    for (const name of made) {
      assert.equal(lower.filter(each => each === name).length, 1, `${name} twice in ${names}`)
      assert.ok(!roots.some(({ element }) => element.toLowerCase() === name), `${name} is an element`)
    }
    for (const each of all) assert.equal(nameOf(each.shape, each), each.name)
  }
  fc.assert(fc.property(services, fc.constantFrom(...styles), law), { numRuns: 100 })
})

test('B9.4 an addition to a vocabulary changes none of its names', () => {
  const law = (service: Service, style: MessageStyle) => {
    const roots = typeRootsOf(compileMessages(service, 'v1'), style)
    const before = namesOf(roots.slice(0, -1))
    const added = {
      ...roots.at(-1)!,
      fields: { plain: t.enum('appended'), more: new Field({ kind: 'object', fields: {} }) },
    }
    assert.deepEqual(namesOf([...roots.slice(0, -1), added]).slice(0, before.length), before)
  }
  fc.assert(fc.property(services, fc.constantFrom(...styles), law), { numRuns: 50 })
})

test('B2.7 deeply nested types are named in time that grows with their members', () => {
  const deep = (depth: number): Fields => {
    let fields: Fields = { text: t.string({ max: 3 }) }
    for (let i = 0; i < depth; i++) fields = { [`a${i}`]: t.object(fields) }
    return fields
  }
  assert.equal(one(deep(40)).length, 41) // text inside of text has 2^40 escapes
})
