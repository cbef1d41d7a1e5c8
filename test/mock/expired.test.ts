/** The mock's protected answers, also those whose Timestamp is over (docs/mock.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import { anyone, exchange, port, role, service, x } from '../../src/index.ts'
import { startMock } from '../../src/mock/start-mock.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'

const ns = x.namespace('urn:bank')
const bank = port('Bank', {
  namespace: 'urn:bank:wsdl',
  allow: [role('acme')],
  security: { callers: ['x509'], answers: 'signed', operations: { Ping: 'none' } },
  exchanges: {
    GetBalance: exchange({
      action: 'urn:bank:balance',
      input: ns.element('AccountRequest', x.object({ id: x.element(x.string) })),
      output: ns.element('Balance', x.object({ of: x.element(x.string) })),
    }),
    Ping: exchange({ action: 'urn:bank:ping', input: 'empty', output: ns.element('Pong', x.string), allow: [anyone] }),
  },
})
const contract = service('bank', { namespace: 'urn:ledger', resources: [], ports: [bank] })
const keyPair = issueBank()
const messageSecurity = { authorities: partnerRoot, keyFiles: [writeKeyFiles(keyPair).files] }
const keys: ClientKeys = { ...issuePartner('CN=acme'), service: { authorities: bankRoot, name: 'bank.example' } }

for (const soap of ['1.1', '1.2'] as const)
  test(`a client refuses a signed response with an expired Timestamp, by SOAP ${soap}`, async () => {
    await using late = await startMock(contract, { messageSecurity, behavior: 'expired' })
    using client = createPortClient<{ ports: [typeof bank] }>(
      { ports: [bank] },
      { address: `${late.url}/soap/Bank`, soap, keys },
    )
    await assert.rejects(client.GetBalance({ id: 'a-1' }), {
      name: 'AnswerError',
      why: 'unproven',
      message: /an expired Timestamp$/,
    })
  })

test('the same mock responds in time where it is not asked to be late', async () => {
  await using mock = await startMock(contract, { messageSecurity })
  const address = `${mock.url}/soap/Bank`
  using client = createPortClient<{ ports: [typeof bank] }>({ ports: [bank] }, { address, keys })
  assert.equal(typeof (await client.GetBalance({ id: 'a-1' })).of, 'string')
})

for (const [title, path, init] of [
  ['of REST', '/api/v1/Bank/Ping', {}],
  [
    'that no rule protects',
    '/soap/Bank',
    {
      method: 'POST',
      headers: { 'content-type': 'text/xml', soapaction: '"urn:bank:ping"' },
      body: '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>',
    },
  ],
] as const)
  test(`a response ${title} has no Timestamp that could expire: 400, with the reason`, async () => {
    await using late = await startMock(contract, { messageSecurity, behavior: 'expired' })
    const answer = await fetch(late.url + path, init)
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /no Timestamp that could expire/)
  })
