/** The XML vocabulary of a contract: wrappers, children, faults, names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Fields } from '../../src/contract/field.ts'
import { t } from '../../src/contract/field.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { compileMessages, faultAction, itemName, replyAction, toXmlName } from '../../src/contract/xml-message.ts'
import { services } from './contracts.ts'
import { shop } from './orders-contract.ts'

const v1 = compileMessages(shop, 'v1')
const signatureOf = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, field]) => name + (field.isOptional ? '?' : ''))
    .join(' ')

const operations = [
  ['GetOrder', 'id', 'order', 'NotFound Forbidden'],
  [
    'ListOrders',
    'page? size? cursor? sort? id? customer? linesProduct? currency? total? placedAt? state? paidAt? carrier? trackingNumber?',
    'orders total? next?',
    'Forbidden',
  ],
  ['CreateOrder', 'order', 'order', 'Invalid Forbidden'],
  ['ReplaceOrder', 'id version? order', 'order', 'NotFound VersionConflict Invalid Forbidden StateConflict'],
  ['DeleteOrder', 'id version?', '', 'NotFound VersionConflict Invalid Forbidden StateConflict'],
  [
    'PayOrder',
    'id version? method amount',
    'payment',
    'PaymentDeclined StateConflict NotFound VersionConflict Forbidden',
  ],
  ['CancelOrder', 'id version? reason?', 'order', 'StateConflict NotFound VersionConflict Forbidden'],
  ['ShipOrder', 'id version? carrier', 'order', 'OutOfStock StateConflict NotFound VersionConflict Forbidden'],
  ['TrackOrder', 'id', 'tracking', 'NotFound Forbidden'],
  ['DeliverOrder', 'id version?', 'order', 'StateConflict NotFound VersionConflict Forbidden'],
  ['NotifyDelivery', 'id version?', undefined, ''],
  ['SearchOrders', 'q? page? size? cursor? state? customer?', 'orders total? next?', 'Forbidden'],
  ['GetCustomer', 'id', 'customer', 'NotFound Forbidden'],
  ['ListCustomers', 'page? size? cursor? sort? id? name? email? tier?', 'customers total? next?', 'Forbidden'],
  ['MergeCustomer', 'id version? into', 'customer', 'StateConflict NotFound VersionConflict Invalid Forbidden'],
  ['GetProduct', 'id', 'product', 'NotFound'],
  ['ListProducts', 'page? size? cursor? sort? id? name? price? stock? details?', 'products total? next?', ''],
  ['CreateProduct', 'product', 'product', 'Invalid Forbidden'],
  ['GetProductPicture', 'id', 'picture mediaType version', 'NotFound'],
  ['PutProductPicture', 'id version? picture mediaType', 'version', 'NotFound VersionConflict Invalid Forbidden'],
  ['StartReport', 'from to kind', 'job', 'Invalid Forbidden'],
  ['GetReportJob', 'id', 'job report?', 'NotFound Forbidden'],
] as const
for (const [name, request, response, faults] of operations)
  test(`B2.7 B7.5 ${name}(${request}) → ${response ?? 'nothing'}${faults && `, or ${faults}`}`, () => {
    const message = v1.find(each => each.operation.name === name)
    assert.ok(message)
    assert.equal(message.request.name, name)
    assert.equal(signatureOf(message.request.fields), request)
    assert.equal(message.response && signatureOf(message.response.fields), response)
    assert.equal(message.response?.name, response === undefined ? undefined : `${name}Response`)
    assert.equal(message.faults.map(({ fault }) => fault).join(' '), faults)
  })
test('B2.7 no other operation is a message', () => {
  assert.deepEqual(
    v1.map(({ operation }) => operation.name),
    operations.map(([name]) => name),
  )
})

const pay = v1.find(each => each.operation.name === 'PayOrder')
test('B4.3 an action is a URI below the namespace of the version', () => {
  assert.ok(pay)
  assert.equal(pay.action, 'urn:diglot:orders:v1/PayOrder')
  assert.equal(replyAction(pay), 'urn:diglot:orders:v1/PayOrderResponse')
  assert.equal(faultAction(pay, 'NotFound'), 'urn:diglot:orders:v1/PayOrder/Fault/NotFound')
})

const part = (name: string, which: 'request' | 'response', version = 'v1') => {
  const found = compileMessages(shop, version).find(each => each.operation.name === name)?.[which]
  const main = found?.fields[found.main ?? '']?.shape
  return main?.kind === 'object' ? signatureOf(main.fields) : undefined
}
test('B2.7 the last child of an item is its version', () => {
  assert.match(part('GetOrder', 'response') ?? '', /^id customer lines currency total placedAt state .* version$/)
})
test('B9.3 a version without a field is without it in its messages', () => {
  assert.doesNotMatch(part('GetOrder', 'response') ?? '', /note/)
  assert.match(part('GetOrder', 'response', 'v2') ?? '', /note\?/)
})
test('B2.7 a draft may omit read-only fields, and fields that a grant binds to the caller', () => {
  assert.match(part('CreateOrder', 'request') ?? '', /^id\? customer\? lines currency total\? placedAt\? state\?/)
})

test('D5 content with names of control children is in an element of its own', () => {
  const clashing = resource('things', {
    fields: { id: t.id('x'), page: t.int(), version: t.string(), secret: t.string().internal() },
    actions: on => ({ use: on().stay({ rel: 'usage', input: { id: t.string(), more: t.int() } }) }),
    files: { mediaType: { mediaTypes: ['a/b'], max: 1 } },
  }).rules({
    filter: ['page', 'version'],
    allow: { read: [anyone], create: [anyone], change: [role('x')], use: [anyone] },
  })
  const all = compileMessages(service('test', { namespace: 'urn:t', resources: [clashing] }) as never, 'v1') // only names are narrower
  const messageOf = (name: string) => all.find(each => each.operation.name === name)
  assert.equal(signatureOf(messageOf('UseThing')?.request.fields ?? {}), 'id version? input')
  assert.equal(messageOf('UseThing')?.request.main, 'input')
  assert.equal(signatureOf(messageOf('ListThings')?.request.fields ?? {}), 'page? size? cursor? sort? where?')
  assert.equal(signatureOf(messageOf('PutThingMediaType')?.request.fields ?? {}), 'id version? mediaType2 mediaType')
  assert.equal(messageOf('GetThing')?.version, 'version2')
  const item = messageOf('GetThing')?.response?.fields['thing']?.shape
  assert.equal(item?.kind === 'object' && signatureOf(item.fields), 'id page version version2')
})
test('D5 siblings have different names, in any contract', () => {
  fc.assert(
    fc.property(services, contract => {
      for (const { request, response } of compileMessages(contract, 'v1'))
        for (const each of [request, response]) {
          const names = Object.keys(each?.fields ?? {}).map(toXmlName)
          assert.equal(new Set(names).size, names.length)
        }
    }),
    { numRuns: 50 },
  )
})

const escapes = [
  ['total', 'total'],
  ['order line', 'order_x0020_line'],
  ['1st', '_x0031_st'],
  ['a:b', 'a_x003A_b'],
  ['_x0041_', '_x005F_x0041_'],
  ['größe', 'größe'],
  ['数', '_x6570_'],
  ['🛒', '_x0001F6D2_'],
  ['', '_'],
] as const
for (const [name, written] of escapes)
  test(`D5 "${name}" is written ${written}`, () => assert.equal(toXmlName(name), written))
test('D5 an escaped name is an NCName, and no two names share one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (one, other) => {
      assert.match(toXmlName(one), /^[A-Za-z_À-ÖØ-öø-ÿ][A-Za-z0-9_À-ÖØ-öø-ÿ.·-]*$/)
      if (one !== other && one !== '' && other !== '') assert.notEqual(toXmlName(one), toXmlName(other))
    }),
  )
})
test('B2.7 an item has its declared name, else the singular of its list', () => {
  assert.equal(itemName({}, 'categories'), 'category')
  assert.equal(itemName({ element: 'entry' }, 'lines'), 'entry')
  assert.equal(itemName({}, undefined), 'item')
})
