/** Mistakes of a contract are found at start, and each says its cure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Implementation } from '../../src/contract/implement.ts'
import { ContractMistakes, findContractMistakes, requireSoundContract } from '../../src/contract/review.ts'
import { anyone, fault, resource, role, service, t } from '../../src/index.ts'

const id = { id: t.id('x') }
const read = { allow: { read: [anyone] } }
type Given = Parameters<typeof service>[1]
const app = (resources: unknown, more: object = {}, handlers: Implementation['handlers'] = {}): Implementation => ({
  contract: service('shop', {
    namespace: 'urn:x',
    resources: resources as Given['resources'],
    ...more,
  }) as Implementation['contract'],
  handlers,
  seed: () => ({}),
})
// biome-ignore lint/suspicious/noExplicitAny: a contract written in JavaScript, without the types that would refuse it
const js = resource as (...all: any[]) => any
type JsOn = typeof js

const cases: readonly (readonly [string, Implementation, RegExp])[] = [
  [
    'a transition to no state',
    app([
      js('x', {
        fields: id,
        states: ['open', 'paid'],
        actions: (on: JsOn) => ({ pay: on('open').to('payed', { rel: 'payment' }) }),
      }).rules(read),
    ]),
    /x\.pay leads from or to "payed"; states are open, paid/,
  ],
  [
    'an action named by a verb without a noun',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({ pay: on('a').to('b', { rel: 'pay' }) }),
      }).rules(read),
    ]),
    /x\.pay needs a noun/,
  ],
  ['a state nobody reaches', app([resource('x', { fields: id, states: ['a', 'b'] }).rules(read)]), /can never be "b"/],
  [
    'a reference to nothing',
    app([resource('x', { fields: { ...id, y: t.ref('ys') } }).rules(read)]),
    /x\.y refers to "ys"; resources are x/,
  ],
  ['no identifier', app([resource('x', { fields: { name: t.string() } }).rules(read)]), /has no identifier/],
  [
    'a name twice',
    app([resource('x', { fields: id }).rules(read), resource('x', { fields: id }).rules(read)]),
    /"x" is declared twice/,
  ],
  [
    'XML Schema Part 1 §2.6.2 an attribute that may be null',
    app([resource('x', { fields: { ...id, n: t.string().nullable().attribute() } }).rules(read)]),
    /x\.n cannot be null: an attribute has no xsi:nil/,
  ],
  [
    'B7.4 a detail of a fault that cannot be read',
    app([
      js('x', {
        fields: id,
        actions: (on: JsOn) => ({
          go: on().stay({
            rel: 'going',
            faults: [fault('Broken', { status: 409, title: '', detail: { why: t.string({ pattern: '(' }) } })],
          }),
        }),
      }).rules(read),
    ]),
    /fault Broken\.why: pattern \( cannot be read/,
  ],
  [
    'A1.9 a file whose name is no path',
    app([resource('x', { fields: id, files: { 'front cover': { mediaTypes: ['image/png'], max: 1 } } }).rules(read)]),
    /x\.front cover cannot be a path segment/,
  ],
  [
    'Part 2 §4.3.8 a decimal that holds nothing',
    app([resource('x', { fields: { ...id, n: t.decimal(4, 2, { min: '10', max: '9.5' }) } }).rules(read)]),
    /x\.n holds nothing: min 10 is above max 9\.5/,
  ],
  [
    'Part 2 §4.3.10 a bound of a whole number that is none',
    app([resource('x', { fields: { ...id, n: t.int({ min: 0.5 }) } }).rules(read)]),
    /x\.n: the bound 0\.5 is no whole number/,
  ],
  [
    'A2.2 two relations at one address',
    app([
      resource('x', { fields: id }).rules({
        ...read,
        relations: { bought: { of: 'ys', by: 'buyer' }, sold: { of: 'ys', by: 'seller' } },
      }),
      resource('ys', { fields: { ...id, buyer: t.ref('x'), seller: t.ref('x') } }).rules(read),
    ]),
    /x has two things at \/ys/,
  ],
  [
    'A2.2 a relation where a file is',
    app([
      resource('x', { fields: id, files: { ys: { mediaTypes: ['image/png'], max: 1 } } }).rules({
        ...read,
        relations: { bought: { of: 'ys', by: 'buyer' } },
      }),
      resource('ys', { fields: { ...id, buyer: t.ref('x') } }).rules(read),
    ]),
    /x has two things at \/ys/,
  ],
  ['an address of our own', app([resource('searches', { fields: id }).rules(read)]), /address of Diglot's own/],
  [
    'a filter that is no field',
    app([js('x', { fields: id }).rules({ ...read, filter: ['colour'] })]),
    /filter names "colour"/,
  ],
  [
    'an order by what nobody is told (A2.1)',
    app([
      resource('x', { fields: { ...id, rank: t.int().internal().optional() } }).rules({ ...read, order: ['-rank'] }),
    ]),
    /in the order of "rank", which is internal/,
  ],
  ['nobody granted', app([resource('x', { fields: id })]), /grants nobody anything/],
  [
    'a grant by an unknown field',
    app([resource('x', { fields: id }).rules({ allow: { read: [role('a').owning({ owner: 'o' })] } })]),
    /allow\.read names "owner"/,
  ],
  [
    'a grant for nothing',
    app([js('x', { fields: id }).rules({ allow: { fly: [anyone] } })]),
    /nothing is done by the name "fly"/,
  ],
  [
    'a bound above a bound',
    app([resource('x', { fields: { ...id, n: t.int({ min: 2, max: 1 }) } }).rules(read)]),
    /min 2 is above max 1/,
  ],
  [
    'a pattern that can take for ever',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '(a+)+' }) } }).rules(read)]),
    /can take for ever/,
  ],
  [
    'a pattern that is none',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '(' }) } }).rules(read)]),
    /cannot be read/,
  ],
  [
    'a fault of ours',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', { rel: 'payment', faults: [fault('NotFound', { status: 404, title: '' })] }),
        }),
      }).rules(read),
    ]),
    /fault NotFound is Diglot's own/,
  ],
  [
    'a mandatory field hidden from a version',
    app([resource('x', { fields: { ...id, n: t.string() } }).rules(read)], {
      versions: { v1: { without: { x: ['n'] } }, v2: {} },
    }),
    /v1 leaves out x\.n/,
  ],
  [
    'a missing handler',
    app([
      resource('x', {
        fields: id,
        states: ['a', 'b'],
        actions: on => ({ pay: on('a').to('b', { rel: 'payment' }) }),
      }).rules(read),
    ]),
    /x\.pay has no handler/,
  ],
  [
    'a missing derive',
    app([resource('x', { fields: { ...id, n: t.string().readOnly() } }).rules(read)]),
    /give implement\(\) a x\.derive/,
  ],
  [
    'a search that leads to no text',
    app([resource('x', { fields: { ...id, n: t.int() } }).rules({ ...read, search: ['n'] })]),
    /search "n" does not lead to text/,
  ],
]
for (const [title, given, says] of cases)
  test(`review: ${title}`, () => assert.match(findContractMistakes(given).join('\n'), says))

test('a plus that is a character repeats nothing', () => {
  const fields = { ...id, phone: t.string({ pattern: '(\\+[0-9]{2})*' }), sum: t.string({ pattern: '([+*][0-9])+' }) }
  assert.deepEqual(findContractMistakes(app([resource('x', { fields }).rules(read)])), [])
})

test('a contract without mistakes starts, one with several names them all at once', () => {
  const good = app([resource('x', { fields: id }).rules(read)])
  assert.equal(requireSoundContract(good), good)
  const bad = app([resource('x', { fields: { n: t.int({ min: 2, max: 1 }) } })])
  assert.throws(
    () => requireSoundContract(bad),
    (thrown: unknown) => thrown instanceof ContractMistakes && thrown.mistakes.length === 3,
  )
})
