/** The access matrix and the machine, printed from what is served. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { anyone, isAllowed, mayEverBeAllowed, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
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
for (const [operation, who, says] of cells)
  test(`A5.2 A5.3 ${operation} by ${who}: ${says}`, () => assert.equal(cell(operation, who), says))

test('A5.2 the table says what the policy answers, for every operation and role', () => {
  for (const { name, grants } of listOperations(shop))
    for (const who of head.slice(1)) {
      const caller = { subject: 's', roles: who === 'anyone' ? [] : [who], claims: { customer: 'c-1' } }
      assert.equal(
        !['401', '403'].includes(cell(name, who) ?? ''),
        mayEverBeAllowed(grants, caller, 0),
        `${name} ${who}`,
      )
      assert.equal(
        cell(name, who) === 'yes',
        isAllowed(grants, caller, 0, { customer: 'c-2', id: 'c-2' }),
        `${name} ${who}`,
      )
    }
})
test('A5.2 a condition is named', () => {
  const open = role('clerk').given('the shop is open', () => true)
  const things = resource('things', { fields: { id: t.id('x') } }).rules({ allow: { read: [anyone], create: [open] } })
  const text = writeAccessMatrix(service('test', { namespace: 'urn:t', resources: [things] }) as never) // only names are narrower
  assert.match(text, /CreateThing *\| 401 *\| if the shop is open/)
})

test('A3.4 a state whose name is no identifier of a diagram has one beside it', () => {
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

test('A3.4 the machine is drawn with each transition, what only reads included', () => {
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
