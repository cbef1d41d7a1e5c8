/**
 * Faults as errors of the client, in both structures: SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4; rules
 * B2.9, B2.10, B4.5, B7.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { PaymentDeclined } from '../../examples/orders/contract.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import {
  ConnectionError,
  FaultError,
  Forbidden,
  Invalid,
  NotFound,
  type SoapClientOptions,
  StateConflict,
  type TransportResponse,
} from '../../src/client/index.ts'
import { came, envelope, mediaType, ns, ns11, ns12, recordRequests } from './canned.ts'

async function fault(answer: TransportResponse, options: Partial<SoapClientOptions<'v2'>> = {}) {
  const { client } = recordRequests(answer, options)
  const thrown = await client.PayOrder({ id: 'o-1', method: 'card', amount: '1.00' }).then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof FaultError, String(thrown))
  return thrown
}

const fault11 = (inside: string, status = 500) =>
  fault(came(status, mediaType['1.1'], envelope('1.1', `<e:Fault>${inside}</e:Fault>`)), { soap: '1.1' })
const fault12 = (inside: string, status = 500) =>
  fault(came(status, mediaType['1.2'], envelope('1.2', `<e:Fault>${inside}</e:Fault>`)))

const declined = `<PaymentDeclined xmlns="${ns}"><reason>too little</reason></PaymentDeclined>`
const whole11 = `<faultcode>e:Client</faultcode><faultstring xml:lang="de">abgelehnt</faultstring><faultactor>urn:node</faultactor><detail>${declined}</detail>`
const whole12 = `<e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value xmlns:m="urn:m">m:Outer</e:Value><e:Subcode><e:Value xmlns:m="urn:m">m:Inner</e:Value></e:Subcode></e:Subcode></e:Code><e:Reason><e:Text xml:lang="en">declined</e:Text><e:Text xml:lang="de">abgelehnt</e:Text></e:Reason><e:Node>urn:node</e:Node><e:Role>urn:role</e:Role><e:Detail>${declined}</e:Detail>`

test('§4.4 SOAP 1.1: all of it', async () => {
  const found = await fault11(whole11)
  const { code, codes, reasons, node, role, fault, detail, status, message, operation } = found
  assert.deepEqual(
    { code, codes, reasons, node, role, fault, detail, status, message, operation },
    {
      code: 'Sender',
      codes: [{ uri: ns11, local: 'Client' }],
      reasons: [{ language: 'de', text: 'abgelehnt' }],
      node: 'urn:node',
      role: undefined,
      fault: 'PaymentDeclined',
      detail: { reason: 'too little' },
      status: 500,
      message: 'PayOrder: abgelehnt',
      operation: 'PayOrder',
    },
  )
})

test('§4.4 SOAP 1.1: children in the namespace of the Fault are read, too', async () => {
  const { code, reasons, node, fault } = await fault11(
    whole11.replace(/<(\/?)(fault\w+|detail)/g, (_, slash, name) => `<${slash}e:${name}`),
  )
  assert.deepEqual(
    { code, reasons, node, fault },
    {
      code: 'Sender',
      reasons: [{ language: 'de', text: 'abgelehnt' }],
      node: 'urn:node',
      fault: 'PaymentDeclined',
    },
  )
})

test('an uncaught error is printed in a screenful: what failed, and the declared fault', async () => {
  const printed = inspect(await fault12(whole12))
  assert.match(printed, /^FaultError: PayOrder: declined\n +at /)
  assert.match(
    printed,
    /\{\s+fault: 'PaymentDeclined',\s+detail: \{ reason: 'too little' \},\s+code: 'Sender',\s+status: 500\s+\}$/,
  )
  assert.ok(printed.split('\n').length < 20, printed)
  const cause = new Error('connect ECONNREFUSED')
  const lost = new ConnectionError('PayOrder', new TransportFailure('unreachable', 'no connection', { cause }))
  assert.match(inspect(lost), /\{ why: 'unreachable', mayHaveRun: false \}\n\[cause\]: Error: connect ECONNREFUSED/)
})

test('§5.4 SOAP 1.2: all of it', async () => {
  const found = await fault12(whole12)
  const { code, codes, reasons, node, role, fault, detail, status, message } = found
  assert.deepEqual(
    { code, codes, reasons, node, role, fault, detail, status, message },
    {
      code: 'Sender',
      codes: [
        { uri: ns12, local: 'Sender' },
        { uri: 'urn:m', local: 'Outer' },
        { uri: 'urn:m', local: 'Inner' },
      ],
      reasons: [
        { language: 'en', text: 'declined' },
        { language: 'de', text: 'abgelehnt' },
      ],
      node: 'urn:node',
      role: 'urn:role',
      fault: 'PaymentDeclined',
      detail: { reason: 'too little' },
      status: 500,
      message: 'PayOrder: declined',
    },
  )
})

describe('B2.10 codes', () => {
  const rows: readonly (readonly [string, string, FaultError['code']])[] = [
    ['1.1', 'e:Client', 'Sender'],
    ['1.1', 'e:Server', 'Receiver'],
    ['1.1', 'e:VersionMismatch', 'VersionMismatch'],
    ['1.1', 'e:MustUnderstand', 'MustUnderstand'],
    ['1.1', 'e:Client.Authentication', 'Sender'], // §4.4.1
    ['1.1', 'Server', 'Receiver'], // without the namespace, as many write it
    ['1.1', 'unbound:Client', 'Sender'], // and many write it so
    ['1.1', 'x:Client', undefined], // of another vocabulary
    ['1.1', 'x:FailedAuthentication', undefined],
    ['1.2', 'e:Sender', 'Sender'],
    ['1.2', 'e:Receiver', 'Receiver'],
    ['1.2', 'e:VersionMismatch', 'VersionMismatch'],
    ['1.2', 'e:MustUnderstand', 'MustUnderstand'],
    ['1.2', 'e:DataEncodingUnknown', 'DataEncodingUnknown'],
    ['1.2', 'e:Client', 'Sender'], // of the other version
    ['1.2', 'unbound:Server', 'Receiver'],
    ['1.2', 'e:Other', undefined],
    ['1.2', 'e:constructor', undefined],
    ['1.2', 'x:Sender', undefined],
  ]
  for (const [version, code, expected] of rows)
    test(`${version} ${code}`, async () => {
      const found =
        version === '1.1'
          ? await fault11(`<faultcode xmlns:x="urn:x">${code}</faultcode><faultstring>x</faultstring>`)
          : await fault12(`<e:Code><e:Value xmlns:x="urn:x">${code}</e:Value></e:Code>`)
      assert.equal(found.code, expected)
      assert.equal(found.codes[0]?.local, code.replace(/^.*:/, ''))
    })
})

describe('a malformed fault is still a fault', () => {
  for (const [title, found] of [
    ['1.1 empty', () => fault11('')],
    ['1.2 empty', () => fault12('')],
    ['1.1 with a code that is not a name', () => fault11('<faultcode>a b</faultcode>')],
    ['1.2 with a code that is not a name', () => fault12('<e:Code><e:Value>a:b:c</e:Value></e:Code>')],
  ] as const)
    test(title, async () => {
      const { code, codes, message, detail, fault, entries } = await found()
      assert.deepEqual(
        { code, codes, message, detail, fault, entries: entries.length },
        {
          code: undefined,
          codes: [],
          message: 'PayOrder: a fault without a reason',
          detail: {},
          fault: undefined,
          entries: 0,
        },
      )
    })
  for (const [title, found] of [
    ['1.1 with the structure of 1.2', () => fault11(whole12)],
    ['1.2 with the structure of 1.1', () => fault12(whole11)],
  ] as const)
    test(title, async () => {
      const { code, message, fault, detail } = await found()
      assert.deepEqual([code, fault, detail], ['Sender', 'PaymentDeclined', { reason: 'too little' }])
      assert.match(message, /declined|abgelehnt/)
    })
})

describe('B7.1 the status is the transport’s, the fault the message’s', () => {
  for (const status of [200, 400, 401, 413, 429, 500, 503])
    test(`${status}`, async () => assert.equal((await fault12(whole12, status)).status, status))
  test('its fields are there', async () => {
    const found = await fault(
      came(503, mediaType['1.2'], envelope('1.2', `<e:Fault>${whole12}</e:Fault>`), { 'retry-after': '5' }),
    )
    assert.equal(found.fields['retry-after'], '5')
  })
})

test('B9.1 a fault in the version that the service speaks', async () => {
  const mismatch = '<faultcode>e:VersionMismatch</faultcode><faultstring>1.1 only</faultstring>'
  const found = await fault(came(500, mediaType['1.1'], envelope('1.1', `<e:Fault>${mismatch}</e:Fault>`)))
  assert.equal(found.code, 'VersionMismatch')
})

describe('B7.5 declared faults are distinguished', () => {
  const detail = (inside: string) =>
    fault12(`<e:Code><e:Value>e:Sender</e:Value></e:Code><e:Detail>${inside}</e:Detail>`)
  test('by what the contract declares, with the detail typed', async () => {
    const found = await detail(
      `<StateConflict xmlns="${ns}"><state>paid</state><possible><transition>ship</transition></possible></StateConflict>`,
    )
    if (!found.is(PaymentDeclined, StateConflict)) return assert.fail('it is one of them')
    if (found.fault === 'PaymentDeclined') return assert.fail(found.detail.reason)
    const { state, possible }: { state?: string; possible?: readonly string[] } = found.detail
    assert.deepEqual([state, possible], ['paid', ['ship']])
    assert.ok(!found.is(PaymentDeclined) && !found.is())
  })
  test('by what an operation declares', async () => {
    const { client } = recordRequests(came(202, undefined))
    const names = client.PayOrder.faults.map(each => each.fault)
    assert.deepEqual(names, ['PaymentDeclined', 'StateConflict', 'NotFound', 'VersionConflict', 'Forbidden'])
    assert.deepEqual(client.NotifyDelivery.faults, [])
  })
  test('those that any service has, though no operation declares them', async () => {
    const found = await detail(`<Busy xmlns="${ns}"><retryAfter>3</retryAfter></Busy>`)
    assert.deepEqual([found.fault, found.detail], ['Busy', { retryAfter: 3 }])
  })
  test('a list of problems', async () => {
    const found = await detail(
      `<Invalid xmlns="${ns}"><problems><problem><path>/a</path><code>b</code><detail>c</detail></problem></problems></Invalid>`,
    )
    assert.ok(found.is(Invalid))
    assert.deepEqual(found.detail.problems, [{ path: '/a', code: 'b', detail: 'c' }])
  })
  test('a declared one after undeclared elements', async () => {
    const found = await detail(`<trace xmlns="urn:x">at y</trace><Forbidden xmlns="${ns}"/>`)
    assert.ok(found.is(Forbidden))
    assert.deepEqual(
      found.entries.map(each => each.name.local),
      ['trace', 'Forbidden'],
    )
  })
  for (const [title, inside] of [
    ['of another namespace', '<NotFound xmlns="urn:x"/>'],
    ['of another version', '<NotFound xmlns="urn:diglot:orders:v1"/>'],
    ['whose content is not of the schema', `<NotFound xmlns="${ns}"><x/></NotFound>`],
    ['with a value outside its bounds', `<Busy xmlns="${ns}"><retryAfter>-1</retryAfter></Busy>`],
    ['of the vocabulary, and no fault', `<GetOrder xmlns="${ns}"><id>o-1</id></GetOrder>`],
  ] as const)
    test(`none: ${title}`, async () => {
      const found = await detail(inside)
      assert.deepEqual([found.fault, found.detail, found.is(NotFound)], [undefined, {}, false])
      assert.equal(found.entries.length, 1, 'what came is there to be looked at')
    })
})
