/** Which endpoint's security a client obeys, whatever path a gateway has put before it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payment } from '../../examples/bank/partner.ts'
import { createSoapClient } from '../../src/client/index.ts'
import { anyone, resource, service, t } from '../../src/index.ts'
import { issueBank, issuePartner } from '../host/partner-keys.ts'
import { cannedTransport } from './canned.ts'

const gateway = 'https://gateway.example/bank'
const refuseAll = () =>
  cannedTransport(() => {
    throw new Error('not answered')
  })

test('behind a gateway messages are protected as the one endpoint of the contract requires', async () => {
  const address = gateway
  assert.throws(() => createSoapClient(payment, { address, headers: { Branch: '0042' } }).ListPayments({}), {
    name: 'TypeError',
    message: /the contract demands proof of the caller: give keys\.key/,
  })
  const transport = refuseAll()
  const bank = issueBank()
  const keys = { ...issuePartner('CN=acme'), service: { certificates: bank.certificate } }
  const client = createSoapClient(payment, { address, headers: { Branch: '0042' }, keys, transport })
  await assert.rejects(client.ListPayments({}))
  assert.match(transport.sent[0]?.text ?? '', /<\w+:Security[\s\S]*<\w+:Signature/)
})

const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] } })
const contract = service('notes', {
  namespace: 'urn:notes',
  resources: [notes],
  endpoints: { '/soap/open': {}, '/soap/signed': { security: { callers: ['x509'] } } },
})

test('if the security of endpoints differs, the intended one must be named', async () => {
  const options = { address: gateway, transport: refuseAll() }
  assert.throws(() => createSoapClient(contract, options), {
    name: 'TypeError',
    message:
      '/bank is not the path of an endpoint of v1, and their security differs: give `endpoint`, one of /soap/open, /soap/signed',
  })
  await assert.rejects(createSoapClient(contract, { ...options, endpoint: '/soap/open' }).ListNotes({}))
  assert.doesNotMatch(options.transport.sent[0]?.text ?? '', /Security/)
  assert.throws(() => createSoapClient(contract, { ...options, endpoint: '/soap/signed' }).ListNotes({}), /give keys/)
  assert.throws(() => createSoapClient(contract, { ...options, endpoint: '/soap' }), /v1 has no endpoint \/soap: use/)
})

test('an address that ends with the path of an endpoint belongs to that one', async () => {
  const address = 'https://gateway.example/one/soap/signed'
  assert.throws(() => createSoapClient(contract, { address, transport: refuseAll() }).ListNotes({}), /give keys/)
})
