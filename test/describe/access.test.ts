/** The access matrix and the state diagram of the contract that is served. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { t } from '../../src/contract/field.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { anyone, isAllowed, mayEverBeAllowed, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { writeAccessMatrix } from '../../src/describe/access-matrix.ts'
import { writeStateDiagram } from '../../src/describe/state-diagram.ts'
import { shop } from './orders-contract.ts'

const rows = writeAccessMatrix(shop)
  .trim()
  .split('\n')
  .map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
const [head = [], , ...body] = rows
const cell = (operation: string, column: string) => body.find(([name]) => name === operation)?.[head.indexOf(column)]

const cells = [
  ['GetProduct', 'anyone', 'yes'],
  ['CreateProduct', 'anyone', '401'],
  ['CreateProduct', 'customer', '403'],
  ['CreateProduct', 'manager', 'yes'],
  ['GetOrder', 'customer', 'own: customer'],
  ['ShipOrder', 'customer', '403'],
  ['ShipOrder', 'clerk', 'yes'],
  ['DeleteOrders', 'clerk', '403'],
  ['GetCustomer', 'customer', 'own: id'],
  ['StartReport', 'anyone', '401'],
] as const
for (const [operation, column, text] of cells)
  test(`A5.2 A5.3 ${operation} by ${column}: ${text}`, () => assert.equal(cell(operation, column), text))

test('A5.2 the table agrees with the policy, for every operation and role', () => {
  for (const { name, grants } of listOperations(shop))
    for (const column of head.slice(1)) {
      const caller = { subject: 's', roles: column === 'anyone' ? [] : [column], claims: { customer: 'c-1' } }
      assert.equal(
        !['401', '403'].includes(cell(name, column) ?? ''),
        mayEverBeAllowed(grants, caller, 0),
        `${name} ${column}`,
      )
      assert.equal(
        cell(name, column) === 'yes',
        isAllowed(grants, caller, 0, { customer: 'c-2', id: 'c-2' }),
        `${name} ${column}`,
      )
    }
})
test('A5.2 a condition is named', () => {
  const open = role('clerk').given('the shop is open', () => true)
  const things = resource('things', { fields: { id: t.id('x') } }).rules({ allow: { read: [anyone], create: [open] } })
  const text = writeAccessMatrix(service('test', { namespace: 'urn:t', resources: [things] }) as never) // only names are narrower
  assert.match(text, /CreateThing *\| 401 *\| if the shop is open/)
})

test('A3.4 a state whose name is not an identifier of a diagram has one next to it', () => {
  const parcels = resource('parcels', {
    fields: { id: t.id('p') },
    states: ['new', 'in transit', 'on-hold'],
    actions: on => ({ send: on('new').to('in transit', { rel: 'sending' }) }),
  })
  assert.deepEqual(
    writeStateDiagram(parcels as never)
      ?.split('\n')
      .slice(1, -1),
    [
      '  state "in transit" as in_x0020_transit',
      '  state "on-hold" as on_x002D_hold',
      '  [*] --> new',
      '  new --> in_x0020_transit: send',
      '  in_x0020_transit --> [*]',
      '  on_x002D_hold --> [*]',
    ],
  )
})

test('A3.4 the diagram has each transition, reading actions included', () => {
  const [orders, customers] = shop.resources
  assert.ok(orders && customers)
  assert.equal(writeStateDiagram(customers), undefined)
  const lines = writeStateDiagram(orders)
    ?.trim()
    .split('\n')
    .map(line => line.trim())
  assert.deepEqual(lines, [
    'stateDiagram-v2',
    '[*] --> placed',
    'placed --> paid: pay',
    'placed --> cancelled: cancel',
    'paid --> cancelled: cancel',
    'paid --> shipped: ship',
    'shipped --> shipped: track',
    'shipped --> delivered: deliver',
    'delivered --> delivered: track',
    'delivered --> [*]',
    'cancelled --> [*]',
  ])
})

test('A5.2 exchanges of ports are in the table, except those that nobody may call', () => {
  const call = x.namespace('urn:parts').element('FindPart', x.object({ number: x.element(x.string) }))
  const find = { action: 'urn:find', input: call, output: call }
  const parts = port('Parts', { namespace: 'urn:parts', exchanges: { Find: exchange({ ...find, allow: [role('partner')] }), Shut: exchange({ ...find, action: 'urn:shut', allow: [] }) } }) // biome-ignore format: one line
  const table = writeAccessMatrix(service('parts', { namespace: 'urn:parts', resources: [], ports: [parts] }))
  assert.match(table, /\| +\| anyone +\| partner +\|\n.*\n\| Parts\.Find +\| 401 +\| yes +\|\n$/)
})
