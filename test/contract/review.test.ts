/** Mistakes of a contract are found at start, each with its cure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import orders from '../../examples/orders/service.ts'
import { singularName } from '../../src/contract/field.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import { listOperations } from '../../src/contract/operation.ts'
import type { Grant } from '../../src/contract/policy.ts'
import { resourceHandlers } from '../../src/contract/reserved-names.ts'
import { ContractMistakes, findContractMistakes, requireSoundContract } from '../../src/contract/review.ts'
import { findContractWarnings } from '../../src/contract/review-warnings.ts'
import { anyone, exchange, fault, implement, job, port, resource, role, service, t, x } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

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

const one = { single: true, fields: { a: t.string() } }
type MistakenCase = readonly [string, Implementation, RegExp]

/** Of `notes` within `orders`, with something wrong. */
function nestedCases(): readonly MistakenCase[] {
  const everything = { allow: { read: [anyone], create: [anyone] } }
  const order = t.ref('orders')
  const orders = (more: object = {}) => js('orders', { fields: { id: t.id('o') } }).rules({ ...everything, ...more })
  const notes = (declared: object, rules: object = {}, more: object = {}) =>
    js('notes', { within: 'order', fields: { id: t.id('n'), order, ...declared }, ...more }).rules({
      ...everything,
      ...rules,
    })
  const both = (declared: object, rules: object = {}, more: object = {}) =>
    app([orders(), notes(declared, rules, more)])
  const chain = (name: string, by: string, to: string) =>
    js(name, { within: by, fields: { id: t.id('c'), [by]: t.ref(to) } }).rules(everything)
  const deep = [chain('b', 'a', 'orders'), chain('c', 'b', 'b'), chain('d', 'c', 'c'), chain('e', 'd', 'd')]
  return [
    [
      'within names nothing',
      both({}, {}, { within: 'x' }),
      /notes: within names "x", which is not a t\.ref\(\): declare it as x: t\.ref\('…'\)/,
    ],
    ['within names text', both({ order: t.string() }), /notes: within names "order", which is not a t\.ref\(\)/],
    ['within names a list', both({ order: t.list(order) }), /notes: within names "order", which is not a t\.ref\(\)/],
    [
      'a parent that may be absent',
      both({ order: order.optional() }),
      /within names "order", which may be absent: each item belongs to one of orders/,
    ],
    ['a parent that may be null', both({ order: order.nullable() }), /within names "order", which may be absent/],
    ['a parent of an unknown resource', both({ order: t.ref('x') }), /notes\.order refers to the unknown resource "x"/],
    [
      'a parent that is single',
      app([js('orders', one).rules(read), notes({})]),
      /notes\.order refers to orders, which is single and has no identifier/,
    ],
    [
      'a single resource in another',
      app([orders(), js('notes', { single: true, within: 'order', fields: { order } }).rules(read)]),
      /notes is single and within "order": remove one of the two/,
    ],
    [
      'a parent with a name of lists',
      app([orders(), chain('notes', 'page', 'orders')]),
      /within names "page", which has another meaning in lists/,
    ],
    [
      'a filter by the parent',
      both({}, { filter: ['order'] }),
      /notes: filter names "order", the parent that each list is in: leave it out/,
    ],
    [
      'a resource within itself',
      app([chain('orders', 'up', 'orders')]),
      /orders is within itself, by up: leave one within out/,
    ],
    [
      'two resources within each other',
      app([chain('orders', 'note', 'notes'), chain('notes', 'order', 'orders')]),
      /orders is within itself, by note, order/,
    ],
    ['a chain without an end', app([orders(), ...deep]), /e is more than 4 deep: leave within out/],
    [
      'two parents of one name',
      app([orders(), chain('notes', 'up', 'orders'), chain('replies', 'up', 'notes')]),
      /replies has two parents called "up" in its address/,
    ],
    [
      'a parent that no caller may read',
      app([orders({ allow: { create: [anyone] } }), notes({})]),
      /within names "order", of which no caller may read any: allow\.read of orders/,
    ],
    [
      'a file with the address of a collection',
      app([
        js('orders', { fields: { id: t.id('o') }, files: { notes: { mediaTypes: ['text/plain'], max: 1 } } }).rules(
          everything,
        ),
        notes({}),
      ]),
      /orders uses the path \/notes twice/,
    ],
    [
      'a list of what is in another',
      app([
        js('people', { fields: { id: t.id('p') } }).rules({
          ...everything,
          relations: { mine: { of: 'notes', by: 'author' } },
        }),
        orders(),
        notes({ author: t.ref('people') }),
      ]),
      /people: relation mine leads to a list of notes, whose items are listed only in one order/,
    ],
    [
      'another name for the collection in it',
      app([orders({ relations: { remarks: { of: 'notes', by: 'order' } } }), notes({})]),
      /orders: relation remarks leads to the notes in it, to which each item has a link of that name: call it notes/,
    ],
    [
      'a link to what is in another',
      app([
        orders(),
        notes({}),
        js('tasks', { fields: { id: t.id('t'), note: t.ref('notes') } }).rules({
          ...everything,
          relations: { note: { by: 'note' } },
        }),
      ]),
      /tasks: relation note leads to one of notes, whose address needs its order/,
    ],
    [
      'stored searches of what is in another',
      app([orders(), notes({ text: t.string() }, { search: ['text'] })], {
        searches: { of: 'notes', allow: [anyone] },
      }),
      /searches name notes, whose items are found only in one order/,
    ],
    [
      'a version without the parent',
      app([orders(), notes({})], { versions: { v1: { without: { notes: ['order'] } }, v2: {} } }),
      /v1 leaves out notes\.order, which names the parent/,
    ],
    [
      'a rule of access for the parent',
      both({ order: order.settableBy(anyone) }),
      /notes\.order is read-only and has settableBy/,
    ],
  ]
}
const cases: readonly MistakenCase[] = [
  ...[
    ['filter', ['a']],
    ['sort', ['a']],
    ['order', ['a']],
    ['indexes', [['a']]],
    ['unique', [['a']]],
    ['unserved', 'accept'],
    ['search', ['a']],
    ['searchBy', ['a']],
    ['putCreates', true],
    ['bulk', true],
  ].map(
    ([rule, value]) =>
      [
        `a single resource has no list: ${rule}`,
        app([js('x', one).rules({ ...read, [String(rule)]: value })]),
        new RegExp(`x is single and has no list: leave ${rule} out of its rules`),
      ] as const,
  ),
  ...nestedCases(),
  [
    'a single resource with an identifier',
    app([js('x', { single: true, fields: id }).rules(read)]),
    /x is single, so its item has no identifier: leave id out/,
  ],
  [
    'a bulk removal of what is single',
    app([js('x', one).rules({ allow: { read: [anyone], bulk: [anyone] } })]),
    /x is single and has no list: leave bulk out of allow/,
  ],
  [
    'a message that lists what is single',
    app([js('x', one).rules({ ...read, messages: ['get', 'list'] })]),
    /x is single and has no list: leave "list" out of messages/,
  ],
  [
    'what is single and moves',
    app([
      js('x', { ...one, actions: (on: JsOn) => ({ join: on().moves({ rel: 'union' }) }) }).rules({
        allow: { read: [anyone], join: [anyone] },
      }),
    ]),
    /x\.join moves the one item that there is: let it lead to a state, or stay/,
  ],
  [
    'what is single, may be removed and never made',
    app([js('x', one).rules({ allow: { read: [anyone], remove: [anyone] } })]),
    /x is single, and may be removed but never created again: allow create, or do not allow remove/,
  ],
  [
    'a grant of what is single by its identifier',
    app([js('x', one).rules({ allow: { read: [role('a').owning({ id: 'a' })] } })]),
    /x: allow\.read binds the id, which a single resource does not have: bind another field/,
  ],
  [
    'a reference to what is single',
    app([js('x', one).rules(read), resource('y', { fields: { ...id, to: t.ref('x') } }).rules(read)]),
    /y\.to refers to x, which is single and has no identifier: leave the field out/,
  ],
  [
    'a relation to a list of what is single',
    app([
      js('x', { single: true, fields: { to: t.ref('y') } }).rules(read),
      resource('y', { fields: id }).rules({ ...read, relations: { xs: { of: 'x', by: 'to' } } }),
    ]),
    /y: relation xs leads to a list of x, which is single and has none: leave the relation out/,
  ],
  [
    'stored searches over what is single',
    app([js('x', one).rules(read)], { searches: { of: 'x', allow: [anyone] } }),
    /searches name x, which is single: name a resource that has a list/,
  ],
  [
    'a transition to an unknown state',
    app([
      js('x', {
        fields: id,
        states: ['open', 'paid'],
        actions: (on: JsOn) => ({ pay: on('open').to('payed', { rel: 'payment' }) }),
      }).rules(read),
    ]),
    /x\.pay leads from or to the unknown state "payed": use open, paid/,
  ],
  [
    'a rule about states where there are none',
    app([js('x', { fields: id }).rules({ ...read, edit: [], remove: ['open'] })]),
    /x: edit names states, but x has none: leave edit out, or declare states\nx: remove names states, but x has none/,
  ],
  [
    'a condition without a function',
    app([
      js('x', { fields: id }).rules({
        allow: { ...read.allow, create: [role('clerk').given('cheap', undefined as never)] },
      }),
    ]),
    /x: allow\.create has a condition without a function: write given\('cheap', /,
  ],
  [
    'the name of a fault instead of the fault',
    app([js('x', { fields: id }).rules({ ...read, faults: { create: ['Late'] } })]),
    /faults names "Late", which is not a fault: declare it by fault\(/,
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
    /x\.pay has the rel "pay", which is not a noun of its own/,
  ],
  [
    'a state that is never reached',
    app([resource('x', { fields: id, states: ['a', 'b'] }).rules(read)]),
    /x never reaches the state "b": add a transition that leads there from "a"/,
  ],
  [
    'a reference to an unknown resource',
    app([resource('x', { fields: { ...id, y: t.ref('ys') } }).rules(read)]),
    /x\.y refers to the unknown resource "ys": use x/,
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
    'XML Schema Part 1 §3.2.6 an attribute named xmlns, which is a declaration',
    app([
      resource('x', { fields: { ...id, xmlns: t.string(), y: t.object({ xmlns: t.string().attribute() }) } }).rules(
        read,
      ),
    ]),
    /^(?:(?!x\.xmlns).)*x\.y\.xmlns cannot be an attribute: in XML it declares a namespace/,
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
    /fault Broken\.why: pattern \( is not a valid regular expression: /,
  ],
  [
    'A1.9 a file whose name is no path',
    app([resource('x', { fields: id, files: { 'front cover': { mediaTypes: ['image/png'], max: 1 } } }).rules(read)]),
    /x\.front cover is not a valid path segment/,
  ],
  [
    'Part 2 §4.3.8 a decimal that allows no value',
    app([resource('x', { fields: { ...id, n: t.decimal(4, 2, { min: '10', max: '9.5' }) } }).rules(read)]),
    /x\.n allows no value: min 10 is above max 9\.5/,
  ],
  [
    'Part 2 §4.3.10 a bound of a whole number that is a fraction',
    app([resource('x', { fields: { ...id, n: t.int({ min: 0.5 }) } }).rules(read)]),
    /x\.n: the bound 0\.5 is not a whole number/,
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
    /x uses the path \/ys twice/,
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
    /x uses the path \/ys twice/,
  ],
  ['a reserved address', app([resource('searches', { fields: id }).rules(read)]), /"searches" is a reserved address/],
  [
    'a link of every entry',
    app([resource('changes', { fields: id }).rules(read)]),
    /"changes" is a link of every entry/,
  ],
  ['the link of a version', app([resource('v1', { fields: id }).rules(read)]), /"v1" is the link of a version/],
  ['a member of every client', app([resource('close', { fields: id }).rules(read)]), /"close" is a member of every/],
  [
    'an action that is a rule and a method of every resource',
    app([js('x', { fields: id, actions: (on: JsOn) => ({ remove: on().stay({ rel: 'removal' }) }) }).rules(read)]),
    /x\.remove is an operation of every resource: give the action another name/,
  ],
  [
    'a file with the name of a method',
    app([resource('x', { fields: id, files: { list: { mediaTypes: ['image/png'], max: 1 } } }).rules(read)]),
    /x\.list is a method of its clients already: give the file another name/,
  ],
  [
    'A2.2 a relation that every item has',
    app([resource('x', { fields: { ...id, to: t.ref('x') } }).rules({ ...read, relations: { self: { by: 'to' } } })]),
    /x\.self has the relation "self", a link of every item/,
  ],
  [
    'a filter by an unknown field',
    app([js('x', { fields: { ...id, sum: t.int().computed() } }).rules({ ...read, filter: ['colour'] })]),
    /filter names "colour", which is neither a scalar field nor leads to a t\.ref\(\): use id, or a path/,
  ],
  ...['parts', 'parts.n', 'parts.of.id', 'parts.', 'by.of', '__proto__'].map(
    name =>
      [
        `a filter that leads to no reference: ${name}`,
        app([
          js('x', {
            fields: {
              ...id,
              parts: t.list(t.object({ n: t.int(), of: t.ref('x') })),
              by: t.map(t.object({ of: t.ref('x') })),
            },
          }).rules({ ...read, filter: ['parts.of', name] }),
        ]),
        new RegExp(`x: filter names "${name.replaceAll('.', '\\.')}", which is neither a scalar field nor leads to`),
      ] as const,
  ),
  [
    'B2.12 two filters of one name in a message',
    app([
      resource('x', {
        fields: { ...id, parts: t.list(t.object({ of: t.ref('x') })), partsOf: t.string().optional() },
      }).rules({ ...read, filter: ['parts.of', 'partsOf'] }),
    ]),
    /x: two names of filter are partsOf in a message: rename a field, or leave one of them out/,
  ],
  ...(['filter', 'sort', 'order', 'searchBy'] as const).map((rule): (typeof cases)[number] => [
    `A2.1 ${rule} by an internal field, which it would reveal`,
    app([
      js('x', { fields: { ...id, pin: t.string({ max: 9 }).internal().optional() } }).rules({
        ...read,
        [rule]: ['pin'],
      }),
    ]),
    new RegExp(`x: ${rule} names "pin", which is internal and would be revealed by it: use another field`),
  ]),
  [
    'A2.1 a unique key with an internal field, which a conflict would name',
    app([
      resource('x', { fields: { ...id, pin: t.string({ max: 9 }).internal().optional() } }).rules({
        ...read,
        unique: [['pin']],
      }),
    ]),
    /x: unique names "pin", which is internal/,
  ],
  [
    'A2.1 a search behind a reference in an internal field',
    app([
      resource('ys', { fields: { id: t.id('y'), pin: t.string().internal().optional() } }).rules(read),
      resource('x', { fields: { ...id, of: t.ref('ys') } }).rules({ ...read, search: ['of.pin'] }),
    ]),
    /x: search names "of\.pin", which is internal/,
  ],
  ...['x y', 'a/b', '1', 'ä'].map((prefix): (typeof cases)[number] => [
    `an identifier with the prefix ${prefix}`,
    app([resource('x', { fields: { id: t.id(prefix) } }).rules(read)]),
    new RegExp(`x\\.id needs a prefix of a letter, then letters, digits, .*, and has "${prefix}"`),
  ]),
  ...[t.int(), t.long(), t.double(), t.boolean(), t.bytes()].map((n): (typeof cases)[number] => [
    `A5.2 a claim that shall equal ${n.shape.kind}`,
    app([resource('x', { fields: { ...id, n } }).rules({ allow: { read: [role('a').owning({ n: 'x' })] } })]),
    new RegExp(
      `x: allow\\.read binds "n" to a claim, which is text and never equals ${n.shape.kind}: bind a t\\.string`,
    ),
  ]),
  ...[-1, 1.5, 1e30, Number.NaN].map((maxAge): (typeof cases)[number] => [
    `RFC 9111 §1.2.2: max-age is no ${maxAge}`,
    app([resource('x', { fields: id }).rules({ ...read, cache: { maxAge } })]),
    new RegExp(`x: cache has maxAge ${String(maxAge).replace('+', '\\+')}: use whole seconds from 0`),
  ]),
  [
    'a fault of remove that a removal of many would not declare',
    app([
      resource('x', { fields: id }).rules({
        ...read,
        filter: ['id'],
        bulk: true,
        faults: { remove: [fault('Kept', { status: 409, title: 'Kept' })] },
      }),
    ]),
    /x: faults has Kept for remove and not for bulk, though `removing` is called for both: add it to bulk/,
  ],
  ['no grants', app([resource('x', { fields: id })]), /x grants nothing to any role/],
  [
    'a grant by an unknown field',
    app([resource('x', { fields: id }).rules({ allow: { read: [role('a').owning({ owner: 'o' })] } })]),
    /allow\.read names "owner", which is not a scalar field: use id/,
  ],
  [
    'a grant for an unknown operation',
    app([js('x', { fields: id }).rules({ allow: { fly: [anyone] } })]),
    /"fly" is not an operation to allow or limit: use read, create/,
  ],
  [
    'a grant for a file',
    app([
      js('x', { fields: id, files: { scan: { mediaTypes: ['image/png'], max: 9 } } }).rules({
        allow: { scan: [anyone] },
      }),
    ]),
    /"scan" is not an operation to allow or limit: use .*bulk \(whoever may change an item may put its files\)/,
  ],
  [
    'a bound above a bound',
    app([resource('x', { fields: { ...id, n: t.int({ min: 2, max: 1 }) } }).rules(read)]),
    /x\.n allows no value: min 2 is above max 1/,
  ],
  [
    'Part 2 §3.3.24 a bound outside of the type',
    app([resource('x', { fields: { ...id, n: t.int({ min: 300, xsd: 'unsignedByte' }) } }).rules(read)]),
    /x\.n allows no value: min 300 is above max 255/,
  ],
  [
    'Part 2 §3.3.25 a bound outside of the type',
    app([resource('x', { fields: { ...id, n: t.long({ max: 0n, xsd: 'positiveInteger' }) } }).rules(read)]),
    /x\.n allows no value: min 1 is above max 0/,
  ],
  [
    'a pattern that can take exponential time',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '(a+)+' }) } }).rules(read)]),
    /x\.n: pattern \(a\+\)\+ can take exponential time, as for a text such as "a+…A": write it so that each text has one/,
  ],
  [
    'a pattern that nests counted repetitions',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '((a{2,3}){2,3})*' }) } }).rules(read)]),
    /pattern \(\(a\{2,3\}\)\{2,3\}\)\* can take exponential time/,
  ],
  [
    'a pattern that takes a power of the length of a text without a max',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '.*foo.*' }) } }).rules(read)]),
    /x\.n: pattern \.\*foo\.\* takes some 10\^11 steps for a text of 1048576 characters such as "a(fooa)+…\\n": give it a max of 2000, or write it/,
  ],
  [
    'a pattern whose time cannot be judged',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '(a?b?c?d?)*'.repeat(100) }) } }).rules(read)]),
    /is too complex for its time to be judged: write it with fewer parts that are optional or repeated/,
  ],
  [
    'a pattern that is too long',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: 'ab'.repeat(2001) }) } }).rules(read)]),
    /x\.n: the pattern has 4002 characters: write one of 4000 at most/,
  ],
  [
    'a pattern that is not an expression',
    app([resource('x', { fields: { ...id, n: t.string({ pattern: '(' }) } }).rules(read)]),
    /x\.n: pattern \( is not a valid regular expression: /,
  ],
  [
    'a built-in fault',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', { rel: 'payment', faults: [fault('NotFound', { status: 404, title: '' })] }),
        }),
      }).rules(read),
    ]),
    /fault NotFound is built into Diglot: use another name/,
  ],
  [
    'a fault without a title',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', { rel: 'payment', faults: [fault('Broke', { status: 409 } as never)] }),
        }),
      }).rules(read),
    ]),
    /fault Broke has no title: give it some words for people/,
  ],
  [
    'RFC 9457 §3.1, §3.2 a member of a detail that has the name of one that every problem has',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', {
            rel: 'payment',
            faults: [
              fault('Broke', {
                status: 409,
                title: 'Broke',
                detail: { type: t.int(), title: t.int(), status: t.int(), detail: t.string(), instance: t.string() },
              }),
            ],
          }),
        }),
      }).rules(read),
    ]),
    new RegExp(
      ['type', 'title', 'status', 'detail', 'instance']
        .map(
          name =>
            `^.*fault Broke\\.${name} has the name of a member .* such as "fault${name.charAt(0).toUpperCase()}${name.slice(1)}"$`,
        )
        .join('\n'),
      'm',
    ),
  ],
  [
    'a fault whose title is empty',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', { rel: 'payment', faults: [fault('Broke', { status: 409, title: ' ' })] }),
        }),
      }).rules(read),
    ]),
    /fault Broke has no title/,
  ],
  [
    'a fault with half a status',
    app([
      js('x', {
        fields: id,
        states: ['a', 'b'],
        actions: (on: JsOn) => ({
          pay: on('a').to('b', { rel: 'payment', faults: [fault('Broke', { status: 409.5, title: 'Broke' })] }),
        }),
      }).rules(read),
    ]),
    /fault Broke has the invalid status 409\.5/,
  ],
  [
    'a mandatory field hidden from a version',
    app([resource('x', { fields: { ...id, n: t.string() } }).rules(read)], {
      versions: { v1: { without: { x: ['n'] } }, v2: {} },
    }),
    /v1 leaves out x\.n, which its clients then cannot send: make it optional or read-only/,
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
  ...resourceHandlers.map(
    (verb): MistakenCase => [
      `an action named like a handler of its resource: ${verb}`,
      app([
        js('x', {
          fields: id,
          states: ['a', 'b'],
          actions: (on: JsOn) => ({ [verb]: on('a').to('b', { rel: 'r' }) }),
        }).rules(read),
      ]),
      new RegExp(`x\\.${verb} in implement\\(\\) is another handler than an action's: give the action another name`),
    ],
  ),
  [
    'an action without a policy',
    app(
      [
        resource('x', {
          fields: id,
          states: ['a', 'b'],
          actions: on => ({ pay: on('a').to('b', { rel: 'payment' }) }),
        }).rules(read),
      ],
      {},
      { x: { actions: { pay: () => undefined } } },
    ),
    /^x\.pay has no policy, so it is offered to no caller: name it in rules\(\{ allow: \{ pay: \[…\] \} \}\), with \[\] to switch/,
  ],
  [
    'a rule that is not known',
    app([js('x', { fields: id }).rules({ ...read, filters: ['id'] })]),
    /^x\.rules: unknown member "filters": use one, relations, filter, sort/,
  ],
  [
    'a facet that is not known',
    // biome-ignore lint/suspicious/noExplicitAny: written in JavaScript
    app([js('x', { fields: { ...id, n: t.string({ length: 3 } as any) } }).rules(read)]),
    /^x\.n: unknown member "length": use kind, min, max, pattern, xsd$/,
  ],
  [
    'a member of a version that is not known',
    app([resource('x', { fields: id }).rules(read)], { versions: { v1: { hides: { x: ['n'] } } } }),
    /^v1: unknown member "hides": use without, renames, retypes, reshapes, deprecated, sunset, retired, security, description$/,
  ],
  [
    'handlers of an unknown resource',
    app([resource('x', { fields: id }).rules(read)], {}, { y: { actions: {} } }),
    /^implement\(\) has handlers of "y", which is not a resource or job of the contract: remove them$/,
  ],
  [
    'a handler of an unknown action',
    app([resource('x', { fields: id }).rules(read)], {}, { x: { actions: { derives: () => undefined } } }),
    /^implement\(\) has a handler x\.derives, which is not an action of the contract: remove it$/,
  ],
  [
    'a missing derive',
    app([resource('x', { fields: { ...id, n: t.string().readOnly() } }).rules(read)]),
    /^x has fields that the service alone sets \(n\): give implement\(\) a function x\.derive that calculates them, or mark/,
  ],
  [
    'a search that does not lead to text',
    app([resource('x', { fields: { ...id, n: t.int() } }).rules({ ...read, search: ['n'] })]),
    /search "n" does not lead to text/,
  ],
  ...(['read', 'bulk'] as const).map(
    doing =>
      [
        `a condition under ${doing}, which lists could not keep`,
        app([
          resource('x', { fields: { ...id, n: t.int() } }).rules({
            filter: ['n'],
            bulk: true,
            allow: {
              ...read.allow,
              [doing]: [role('member').given('small', ({ value }) => Number(value?.['n']) < 10)],
            },
          }),
        ]),
        new RegExp(`x: allow\\.${doing} has a condition \\(given\\).*use owning\\(\\)`),
      ] as const,
  ),
]
/** Names, handlers and numbers that the types would refuse, and that a service cannot start with. */
function unusableCases(): readonly MistakenCase[] {
  const fields = { ...id, a: t.string({ max: 9 }) }
  const things = (rules: object = {}, more: object = {}) =>
    js('things', { fields: { ...fields, ...more } }).rules({ ...read, ...rules })
  const withJob = (more: object, handlers: object = { run: () => ({}) }) =>
    app(
      [things()],
      { jobs: [job('works', { input: {}, output: {}, allow: [anyone], ...more })] },
      { works: { actions: {}, ...handlers } },
    )
  const broke = (name: string) => fault(name, { status: 409, title: 'Broke' })
  const withFault = (name: string) => app([things({ faults: { create: [broke(name)] } })])
  return [
    ['a fault with a blank in its name', withFault('bad thing'), /fault "bad thing" is not a valid name in XML/],
    ['a fault without a name', withFault(''), /fault "" is not a valid name in XML/],
    ['one without a name', app([things({ one: '' })]), /things: one is "", which names no operation/],
    ['one with a blank', app([things({ one: 'a b' })]), /things: one is "a b", which names no operation/],
    ['one of a job', withJob({ one: 'a b' }), /the job works: one is "a b", which names no operation/],
    ['a direction in sort', app([things({ sort: ['-a'] })]), /things: sort names "-a", which is not a scalar field/],
    ['a direction in unique', app([things({ unique: [['-a']] })]), /things: unique names "-a", which is not/],
    [
      'a union without cases',
      app([things({}, { u: t.union('kind', {}) })]),
      /things\.u allows no value: give it cases/,
    ],
    [
      'a derive that is no function',
      app([things()], {}, { things: { actions: {}, derive: 5 as never } }),
      /implement\(\) has things\.derive, which is not a function: write/,
    ],
    ['a run that is no function', withJob({}, { run: 'x' }), /implement\(\) has works\.run, which is not a function/],
    [
      'a time limit that no timer holds',
      withJob({ timeLimit: Number.POSITIVE_INFINITY }),
      /timeLimit is (Infinity|3000000), and may be at most 2147483/,
    ],
    [
      'a time limit above that of timers',
      withJob({ timeLimit: 3_000_000 }),
      /timeLimit is (Infinity|3000000), and may be at most 2147483/,
    ],
    ['a time limit that is a text', withJob({ timeLimit: '60' }), /the job works: timeLimit must be a number above 0/],
  ]
}

for (const [title, given, says] of [...cases, ...unusableCases()])
  test(`review: ${title}`, () => assert.match(findContractMistakes(given).join('\n'), says))

const declarations: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['a resource', () => js('x', { feilds: id }), /^the resource x: unknown member "feilds": use fields, states/],
  [
    'an action',
    () =>
      js('x', { fields: id, states: ['a'], actions: (on: JsOn) => ({ go: on('a').stay({ rel: 'r', imput: {} }) }) }),
    /^the action with the rel "r": unknown member "imput": use rel, link, input/,
  ],
  ['a service', () => app([], { resorces: [] }), /^the service shop: unknown member "resorces": use namespace/],
  [
    'a fault',
    () => (fault as typeof js)('Broken', { status: 409, title: '', details: {} }),
    /^the fault Broken: unknown member "details": use status, title, description, detail$/,
  ],
]
for (const [title, declare, says] of declarations)
  test(`an unknown member is refused where JavaScript declares it: ${title}`, () => {
    assert.throws(declare, (thrown: unknown) => thrown instanceof TypeError && says.test(thrown.message))
  })

const free = (more: object = {}) => js('x', { fields: id, states: ['a', 'b'], ...more })
const jsJob = job as unknown as typeof js
const jsOf = t as unknown as Record<string, typeof js>
const kinds: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['no declaration', () => js('x'), /^the resource x: give an object with fields, states, actions, files/],
  ['a field that is a text', () => js('x', { fields: { ...id, n: 'int' } }), /^the resource x: fields must be named f/],
  ['a field that was not called', () => js('x', { fields: { ...id, n: t.int } }), /: fields must be named fields: wr/],
  ['actions that are a record', () => free({ actions: {} }), /^the resource x: actions must be a function: write it/],
  ['a state that is no list', () => free({ states: 'open' }), /^the resource x: states must be a list of texts/],
  ['files without types', () => free({ files: { scan: { max: 1 } } }), /^the resource x: files must be files by name/],
  [
    'an action without a declaration',
    () => free({ actions: (on: JsOn) => ({ go: on('a').to('b') }) }),
    /^the action from a to b: give an object with rel, link/,
  ],
  [
    'an action without a noun',
    () => free({ actions: (on: JsOn) => ({ go: on('a').to('b', {}) }) }),
    /^the action from a to b: rel must be a noun for what the action makes/,
  ],
  ['rules without allow', () => free().rules({}), /^x\.rules: allow must be a list of grants for each operation/],
  ['a grant that is no list', () => free().rules({ allow: { read: anyone } }), /^x\.rules: allow must be a list of/],
  ['a grant that is a text', () => free().rules({ allow: { read: ['clerk'] } }), /^x\.rules: allow must be a list of/],
  [
    'a filter that is a text',
    () => free().rules({ ...read, filter: 'id' }),
    /^x\.rules: filter must be a list of texts/,
  ],
  [
    'a key that is no list',
    () => free().rules({ ...read, unique: ['id'] }),
    /^x\.rules: unique must be a list of lists/,
  ],
  ['an index that is a text', () => free().rules({ ...read, indexes: 'id' }), /^x\.rules: indexes must be a list of l/],
  ['a job without allow', () => jsJob('j', { input: {}, output: {} }), /^the job j: allow must be a list of grants/],
  ['a job without output', () => jsJob('j', { input: {}, allow: [] }), /^the job j: output must be named fields/],
  ['a list of nothing', () => jsOf['list']?.(), /^t\.list\(item\): item must be a field/],
  ['an object of texts', () => jsOf['object']?.({ a: 'int' }), /^t\.object\(fields\): fields must be named fields/],
  ['resources by name', () => app({}), /^the service shop: resources must be a list of what resource\(\) has made/],
  [
    'a job among resources',
    () => app([jsJob('j', { input: {}, output: {}, allow: [] })]),
    /: resources must be a list/,
  ],
  ['a resource among jobs', () => app([], { jobs: [free()] }), /^the service shop: jobs must be a list of what job\(/],
  ['no versions', () => app([], { versions: {} }), /^the service shop: versions must be versions by name, the oldest/],
  ['no namespace', () => app([], { namespace: undefined }), /^the service shop: namespace must be an absolute URI/],
  [
    'a header that is a field',
    () => app([], { headers: { Site: t.string() } }),
    /: headers must be header blocks by n/,
  ],
  [
    'a seed that is no function',
    () => (implement as unknown as typeof js)(app([]).contract, {}, { seed: {} }),
    /^implement\(\) of shop: seed must be a function: write it as/,
  ],
  [
    'a seed that is async',
    () => (implement as unknown as typeof js)(app([]).contract, {}, { seed: async () => ({}) }).seed(),
    /^the seed of shop is async: wait before implement\(\)$/,
  ],
  [
    'no handlers',
    () => (implement as unknown as typeof js)(app([]).contract),
    /^implement\(\) of shop: give handlers by name, /,
  ],
]
for (const [title, declare, says] of kinds)
  test(`a value of the wrong kind is refused where JavaScript declares it: ${title}`, () => {
    assert.throws(declare, (thrown: unknown) => thrown instanceof TypeError && says.test(thrown.message))
  })

const runs = { run: () => ({}), actions: {} } as unknown as Implementation['handlers'][string]
const withJob = (more: object) =>
  app(
    [resource('x', { fields: id }).rules(read)],
    { jobs: [jsJob('j', { input: {}, output: {}, allow: [], ...more })] },
    { j: runs },
  )
const withField = (field: unknown) => app([js('x', { fields: { ...id, n: field } }).rules(read)])
const values: typeof cases = [
  ['an enumeration of a list', withField(jsOf['enum']?.(['a', 'b'])), /^x\.n has a value that is not a text: write it/],
  ['a prefix that is missing', app([js('x', { fields: { id: jsOf['id']?.() } }).rules(read)]), /^x\.id needs a prefix/],
  [
    'a bound of a long that is a number',
    withField(jsOf['long']?.({ min: 0 })),
    /^x\.n: the bound 0 is not a bigint: .* 0n$/,
  ],
  [
    'a pattern that is an expression',
    withField(jsOf['string']?.({ pattern: /a+/ })),
    /^x\.n: pattern \/a\+\/ is not a text/,
  ],
  [
    'a reference to a resource itself',
    withField(jsOf['ref']?.({})),
    /^x\.n refers to the unknown resource \(not a text\)/,
  ],
  [
    'a file of an unknown media type',
    app([js('x', { fields: id, files: { scan: { mediaTypes: ['png'], max: 1 } } }).rules(read)]),
    /^x\.scan: "png" is not a media type: write it as image\/png$/,
  ],
  ['a job that is never tried', withJob({ tries: 0 }), /^the job j: tries must be a number above 0$/],
  ['a job with a limit that is a number', withJob({ limit: 5 }), /^the limit of the job j needs count and seconds/],
  [
    'an unknown limit',
    app([], { limits: { read: { count: 1, seconds: 1 } } }),
    /unknown member "read": use reads, changes/,
  ],
  [
    'a limit that is a number',
    app([], { limits: { reads: 100 } }),
    /^the limit of reads needs count and seconds above 0/,
  ],
  [
    'an endpoint of an unknown style',
    app([], { endpoints: { '/soap': { style: 'doc' } } }),
    /^the endpoint \/soap: style "doc" is unknown: use document, rpc, encoded$/,
  ],
]
for (const [title, given, says] of values)
  test(`review: ${title}`, () => assert.match(findContractMistakes(given).join('\n'), new RegExp(says, 'm')))

test('patterns whose repetitions have one way each are no mistake', () => {
  const fields = {
    ...id,
    phone: t.string({ pattern: '(\\+[0-9]{2})*' }),
    sum: t.string({ pattern: '([+*][0-9])+' }),
    slug: t.string({ pattern: '[a-z0-9]+(-[a-z0-9]+)*' }),
    list: t.string({ pattern: '([^,]*,)*[^,]*' }),
    host: t.string({ pattern: '([a-z0-9-]+\\.)+[a-z]{2,}' }),
    note: t.string({ max: 2000, pattern: '.*foo.*' }),
    cube: t.string({ max: 100, pattern: '.*.*.*x' }),
  }
  assert.deepEqual(findContractMistakes(app([resource('x', { fields }).rules(read)])), [])
})

test('the max that the error names for a pattern is accepted', () => {
  const fields = (pattern: string, max?: number) => ({ ...id, n: t.string({ pattern, ...(max && { max }) }) })
  for (const pattern of ['.*foo.*', 'a*a*a*b', '.*.*.*x', '(.*)-(.*)-(.*)-(.*)', '\\s*\\w*\\s*\\w*!']) {
    const [mistake = ''] = findContractMistakes(app([resource('x', { fields: fields(pattern) }).rules(read)]))
    const max = Number(/give it a max of (\d+), or/.exec(mistake)?.[1])
    assert.ok(max > 10, mistake)
    assert.deepEqual(findContractMistakes(app([resource('x', { fields: fields(pattern, max) }).rules(read)])), [])
  }
})

test('review: two versions of a port under one name are a mistake, since one would hide the other', () => {
  const body = x.namespace('urn:p').element('Ping', x.string)
  const of = (name: string, year: number) =>
    port(name, { namespace: `urn:p:${year}`, exchanges: { Ping: exchange({ action: 'urn:ping', input: body }) } })
  const given = (...ports: readonly ReturnType<typeof of>[]): Implementation => ({
    ...app([], { ports }),
    ports: { Claims: { Ping: () => {} }, Claims2026: { Ping: () => {} } },
  })
  const told = /^"Claims" is declared twice: give each resource, job and port a name of its own$/m
  assert.match(findContractMistakes(given(of('Claims', 2019), of('Claims', 2026))).join('\n'), told)
  assert.doesNotMatch(findContractMistakes(given(of('Claims', 2019), of('Claims2026', 2026))).join('\n'), /twice/)
})

test('a contract without mistakes starts; one with several is refused with all of them', () => {
  const good = app([resource('x', { fields: id }).rules(read)])
  assert.equal(requireSoundContract(good), good)
  const bad = app([resource('x', { fields: { n: t.int({ min: 2, max: 1 }) } })])
  assert.throws(
    () => requireSoundContract(bad),
    (thrown: unknown) => thrown instanceof ContractMistakes && thrown.mistakes.length === 3,
  )
})

test('a resource cannot have the name of a link of the entry, or of a member of a client', async () => {
  await using served = await startTestService(shop, orders)
  const own: readonly string[] = [...shop.resources.map(each => each.name), ...shop.jobs.map(each => each.job)]
  const { _links } = (await (await served.fetchAs('clara')(`${served.address}/api`)).json()) as { _links: object }
  const client: object = served.soap('clara')
  const operations = new Set(listOperations(shop as unknown as Implementation['contract']).map(each => each.name))
  const taken = [...Object.keys(_links), ...Object.keys(client).filter(each => !operations.has(each))].filter(
    each => !own.includes(each) && !own.some(name => singularName(name) === each) && each !== 'stocktaking',
  )
  assert.ok(taken.includes('login') && taken.includes('close'))
  const versions = { v1: {}, v2: {} }
  const free = taken.filter(
    name => findContractMistakes(app([js(name, { fields: id }).rules(read)], { versions })).length === 0,
  )
  assert.deepEqual(free, [])
})

const warnings: readonly (readonly [string, Implementation, readonly RegExp[]])[] = [
  [
    'lists without a max, however deep',
    app([
      resource('x', {
        fields: {
          ...id,
          tags: t.list(t.string()),
          few: t.list(t.string(), { max: 3 }),
          all: t.list(t.string(), { max: Infinity }),
          deep: t.object({ rows: t.list(t.list(t.int(), { max: 2 })) }),
          words: t.map(t.string()),
          languages: t.map(t.string(), { key: t.enum('de', 'en') }),
        },
      }).rules(read),
    ]),
    [/^x\.tags has no max, so it holds at most 1000 items/, /^x\.deep\.rows has no max/, /^x\.words has no max/],
  ],
  [
    'references to items that their senders may not read',
    app([
      resource('x', {
        fields: { ...id, y: t.ref('ys'), z: t.ref('ys', { unseen: true }), own: t.ref('ys').readOnly() },
      }).rules({ allow: { read: [anyone], create: [role('member'), role('boss')] } }),
      resource('ys', { fields: id }).rules({ allow: { read: [role('boss')] } }),
    ]),
    [/^x\.y: the role member may not read ys, and so cannot name one: .*unseen/],
  ],
  ['nothing', app([resource('x', { fields: id }).rules(read)]), []],
]
for (const [title, { contract }, expected] of warnings)
  test(`review warns of ${title}`, () => {
    const found = findContractWarnings(contract)
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const [i, says] of expected.entries()) assert.match(found[i] ?? '', says)
  })

const Word = x.namespace('urn:w').element('Word', x.string)
const desk = (allow: readonly Grant[]) =>
  port('Desk', {
    namespace: 'urn:w',
    exchanges: Object.fromEntries(
      ['Ask', 'Tell', 'Show', 'Hide'].map(name => [name, exchange({ action: name, input: Word, allow })]),
    ),
  })
const withDesk = (allow: readonly Grant[], handlers: Record<string, () => unknown>): Implementation => ({
  ...app([], { ports: [desk(allow)] }),
  ports: { Desk: handlers },
})
test('an exchange that no caller may call is a warning', () => {
  assert.deepEqual(findContractWarnings(withDesk([], {}).contract), [
    'Desk: no caller may call Ask, Tell, Show and 1 more: write allow with roles, or anyone, at the port or the exchange',
  ])
  assert.deepEqual(findContractWarnings(withDesk([anyone], {}).contract), [])
})
test('WS-SecurityPolicy 1.3 §6.1: SHA-1 in signatures is a warning at each start', () => {
  const security = { callers: ['x509'], suite: 'Basic128' } as const
  const Signed = port('Signed', { ...desk([anyone]), security })
  const endpoints = { '/soap/old': { security } }
  const found = findContractWarnings(
    app([resource('x', { fields: id }).rules(read)], { ports: [Signed], endpoints }).contract,
  )
  assert.deepEqual(
    found.map(each => each.replace(/: an attacker .*/, '')),
    ['the endpoint /soap/old', 'the port Signed'].map(place => `${place} has Basic128, whose signatures use SHA-1`),
  )
  assert.match(found[0] ?? '', /agree on Basic128Sha256$/)
})
test('WSDL 1.1 §5.11 an attachment is a part of a message', () => {
  const type = x.namespace('urn:t').type('Deep', { octets: x.attachment(x.base64Binary, 'image/png') })
  const Element = x.namespace('urn:t').element('Element', type)
  const octets = x.attachment(x.base64Binary, 'image/png')
  const P = port('P', {
    namespace: 'urn:p',
    allow: [anyone],
    exchanges: {
      a: exchange({ action: '', input: Element }),
      b: exchange({ action: '', input: x.body({ all: octets.many() }) }),
      c: exchange({ action: '', input: x.body({ one: x.choice({ octets, other: x.element(x.int) }) }) }),
      d: exchange({ style: 'rpc', action: '', input: x.call('urn:t', 'd', { octets }), faults: { Element } }),
      sound: exchange({ style: 'rpc', action: '', input: x.call('urn:t', 'e', { octets: octets.optional() }) }),
    },
    security: { callers: ['x509'] },
  })
  const contract = service('p', { namespace: 'urn:p', resources: [], ports: [P] })
  const nothing = () => {}
  const handlers = { a: nothing, b: nothing, c: nothing, d: nothing, sound: nothing }
  assert.throws(
    () => requireSoundContract(implement(contract, { P: handlers })),
    (thrown: unknown) => {
      assert.ok(thrown instanceof ContractMistakes)
      assert.deepEqual(thrown.mistakes, [
        ...['a', 'b', 'c', 'd'].map(
          name =>
            `P.${name} has an x.attachment(…) in an element or a list: make it a member of x.body(…) or x.call(…)`,
        ),
      ])
      return true
    },
  )
})
test('WSDL 1.1 §3.7 faults about header blocks name blocks and faults that their exchange declares', () => {
  const Block = x.namespace('urn:t').element('Block', x.int)
  const P = port('P', {
    namespace: 'urn:p',
    allow: [anyone],
    exchanges: {
      a: exchange({
        action: '',
        input: 'empty',
        faults: { Block },
        headerFaults: { Other: ['Block'] },
        mandatoryHeaders: { reply: ['Gone'] },
      }),
      b: exchange({
        action: '',
        input: 'empty',
        requestHeaders: { Block },
        headerFaults: { Block: ['Gone' as never] },
      }),
    },
  })
  const contract = service('p', { namespace: 'urn:p', resources: [], ports: [P] })
  assert.throws(
    () => requireSoundContract(implement(contract, { P: { a: () => {}, b: () => {} } })),
    (thrown: unknown) => {
      assert.ok(thrown instanceof ContractMistakes)
      assert.deepEqual(thrown.mistakes, [
        'P.a.mandatoryHeaders.reply names the header block "Gone", which it does not declare: add it to its headers',
        'P.a.headerFaults names the header block "Other", which it does not declare: add it to its headers',
        'P.b.headerFaults names the fault "Gone", which it does not declare: add it to its faults',
      ])
      return true
    },
  )
})
test('a Body declared outside a message of document style is a mistake', () => {
  const body = x.body({ any: x.any() })
  const text = x.namespace('urn:t').type('Text', { value: x.text(x.string) })
  const P = port('P', {
    namespace: 'urn:p',
    allow: [anyone],
    exchanges: {
      a: exchange({ action: '', input: 'empty', faults: { Body: body } }),
      b: exchange({ style: 'rpc', action: '', input: body }),
      c: exchange({ action: '', input: body, output: x.body(text) }),
    },
  })
  const contract = service('p', { namespace: 'urn:p', resources: [], ports: [P] })
  const handlers = { a: () => {}, b: () => {}, c: () => ({ value: '' }) }
  assert.throws(
    () => requireSoundContract(implement(contract, { P: handlers })),
    (thrown: unknown) => {
      assert.ok(thrown instanceof ContractMistakes)
      assert.deepEqual(thrown.mistakes, [
        'P.a has an x.body(…) as a fault or a header: declare an element of a namespace for it',
        'P.b has an x.body(…) in the style rpc: use x.call(…), or leave the style out',
        'P.c has an x.body(…) of a type with text or attributes: a Body has only elements',
      ])
      return true
    },
  )
})

test('an action may be named like a handler of jobs', () => {
  const x = resource('x', {
    fields: id,
    states: ['a', 'b'],
    actions: on => ({ run: on('a').to('b', { rel: 'race' }), starting: on('b').to('a', { rel: 'start' }) }),
  }).rules({ allow: { ...read.allow, run: [anyone], starting: [anyone] } })
  const shop = service('shop', { namespace: 'urn:x', resources: [x] })
  assert.deepEqual(findContractMistakes(implement(shop, { x: { run() {}, starting() {} } })), [])
})

test('an exchange without a handler, and a handler without an exchange, are mistakes', () => {
  const found = findContractMistakes(withDesk([anyone], { Ask() {}, Tell() {}, Show() {}, Seek() {} }))
  assert.deepEqual(found, [
    'Desk.Hide has no handler: give implement() one, or remove the exchange from the port',
    'implement() has a handler Desk.Seek, which is not an exchange of the port: remove it',
  ])
})

test('an unknown state of an action is reported before the states that it leaves unreachable', () => {
  const mistaken = app([
    js('x', {
      fields: { ...id, state: t.state() },
      states: ['open', 'paid'],
      actions: (on: (state: string) => { to(state: string, given: object): unknown }) => ({
        pay: on('open').to('payed', { rel: 'payment' }),
      }),
    }).rules({ allow: { read: [anyone], pay: [anyone] } }),
  ])
  const found = findContractMistakes(mistaken)
  const placeOf = (text: RegExp): number => found.findIndex(each => text.test(each))
  assert.ok(placeOf(/unknown state "payed"/) >= 0, found.join('\n'))
  assert.ok(placeOf(/never reaches the state "paid"/) > placeOf(/unknown state "payed"/), found.join('\n'))
})

test('A5.2 every facet of a field passes the review; with `unseen`, either face may name what a caller may not read', async () => {
  const tags = resource('tags', { fields: { id: t.id('t') } }).rules({ allow: { read: [role('head')] } })
  const fields = {
    id: t.id('x'),
    text: t.string({ min: 0, max: 9, pattern: '.*', xsd: 'token' }).optional(),
    small: t.int({ min: 0, max: 9, xsd: 'short' }).optional(),
    large: t.long({ min: 0n, max: 9n, xsd: 'unsignedLong' }).optional(),
    price: t.decimal(8, 2, { min: '0.00', max: '9.00' }).optional(),
    share: t.double({ min: 0, max: 1, xsd: 'float' }).optional(),
    day: t.date({ zone: 'required' }).optional(),
    hour: t.time({ zone: 'prohibited' }).optional(),
    moment: t.dateTime({ zone: 'optional' }).optional(),
    octets: t.bytes({ max: 9, encoding: 'hex' }).optional(),
    tag: t.ref('tags', { unseen: true }),
    tags: t.list(t.ref('tags', { unseen: true }), { min: 0, max: 9, element: 'one' }).optional(),
  }
  const desk = [role('desk')]
  const things = resource('things', { fields }).rules({ allow: { read: desk, create: desk } })
  const contract = service('shop', { namespace: 'urn:x', resources: [tags, things] })
  const seed = () => ({ items: { tags: [{ id: 't-1' }] } })
  const dirk = { subject: 'dirk', roles: ['desk'] }
  await using shop = await startTestService(contract, implement(contract, {}, { seed }))
  for (const face of [shop.rest(dirk), shop.soap(dirk)]) {
    assert.equal((await face.things.create({ tag: 't-1', tags: ['t-1'] })).tag, 't-1')
    await assert.rejects(face.things.create({ tag: 't-2' }), /tag/)
  }
})
