/**
 * `security` of a port: what messages of others' contracts prove is enforced, published in the WSDL
 * of the port, obeyed by its client, and written by its import (docs/message-security.md).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { importDocument } from '../../src/import/import-command.ts'
import { readWsdl } from '../../src/import/index.ts'
import { describeDeclaredPort } from '../../src/security/policy/described-endpoint.ts'
import { startHosted } from './hosted-service.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot, writeKeyFiles } from './partner-keys.ts'

const bank = issueBank()
const acme = issuePartner('O=Acme/CN=acme')
const rule = {
  callers: ['x509'],
  answers: 'signed',
  operations: {
    Transfer: { callers: ['x509'], encrypted: true, answers: 'encrypted' },
    addAmounts: { callers: ['x509'] },
    Ping: 'none',
  },
} as const satisfies SecurityRule

const ns = x.namespace('urn:bank')
const Account = ns.element('AccountRequest', x.object({ id: x.element(x.string) }))
const Balance = ns.element('Balance', x.object({ of: x.element(x.string), by: x.element(x.string) }))
const Order = ns.element('TransferOrder', x.object({ amount: x.element(x.decimal) }))
const Refused = ns.element('Refused', x.string)
const Branch = ns.element('Branch', x.string)
const declareBank = (security: SecurityRule | 'settings' | undefined) =>
  port('Bank', {
    namespace: 'urn:bank:wsdl',
    allow: [role('partner')],
    security,
    exchanges: {
      GetBalance: exchange({
        action: 'urn:bank:balance',
        input: Account,
        output: Balance,
        faults: { Refused },
        requestHeaders: { Branch },
        replyHeaders: { Branch },
      }),
      Transfer: exchange({ action: 'urn:bank:transfer', input: Order, output: Balance }),
      addAmounts: exchange({
        style: 'rpc',
        action: 'urn:bank:sum',
        input: x.call('urn:bank', 'addAmounts', { a: x.element(x.int), b: x.element(x.int) }),
        output: x.call('urn:bank', 'addAmountsResponse', { sum: x.element(x.int) }),
      }),
      Ping: exchange({ action: 'urn:bank:ping', input: 'empty', output: Branch, allow: [anyone] }),
    },
  })
const open = (security: SecurityRule | 'settings' | undefined) => {
  const contract = service('ledger', { namespace: 'urn:ledger', resources: [], ports: [declareBank(security)] })
  return implement(
    contract,
    {
      Bank: {
        GetBalance: ({ id }, ctx) => {
          if (id === 'closed') ctx.fail('Refused', 'the account is closed')
          ctx.setHeader('Branch', ctx.headers.Branch ?? 'none')
          return { of: id, by: ctx.caller.subject ?? 'nobody' }
        },
        Transfer: ({ amount }, ctx) => ({ of: amount, by: ctx.caller.subject ?? 'nobody' }),
        addAmounts: ({ a, b }) => ({ sum: a + b }),
        Ping: () => 'here',
      },
    },
    { seed: () => ({ people: [{ subject: 'acme', password: 'acme-secret', roles: ['partner'] }] }) },
  )
}
const app = open(rule)
const messageSecurity = { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] }
const { server, ask } = await startHosted({ messageSecurity }, app)
const address = `${server.url}/soap/Bank`
const keys: ClientKeys = {
  ...acme,
  service: { authorities: bankRoot, name: 'bank.example' },
  encryptTo: bank.certificate,
}
const wsdl = (await ask('GET', '/soap/Bank?wsdl')).text

async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'secured-port-'))
  try {
    writeFileSync(join(folder, 'bank.wsdl'), text)
    return await use(join(folder, 'bank.wsdl'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a port is described without its service as it is served', () => {
  const declared = declareBank(rule)
  assert.equal(writePortWsdl(declared, address, describeDeclaredPort(declared, address)), wsdl)
})

const described = await withFile(wsdl, readWsdl)
const descriptions = [
  ['the contract', { ports: [declareBank(rule)] }],
  ['the WSDL that it publishes', described],
] as const

for (const [source, description] of descriptions)
  for (const soap of ['1.1', '1.2'] as const)
    test(`a client of ${source} proves itself as each exchange requires, by SOAP ${soap}`, async () => {
      const client = createPortClient<{ ports: [ReturnType<typeof declareBank>] }>(description, { address, soap, keys })
      const { output, headers } = await client.GetBalance.callForHeaders({ id: 'a-1' }, { headers: { Branch: '0042' } })
      assert.deepEqual(output, { of: 'a-1', by: 'acme' })
      assert.deepEqual(headers, { Branch: '0042' })
      assert.deepEqual(await client.Transfer({ amount: '12.5' }), { of: '12.5', by: 'acme' })
      assert.deepEqual(await client.addAmounts({ a: 1, b: 2 }), { sum: 3 })
      assert.equal(await client.Ping(), 'here')
      await assert.rejects(client.GetBalance({ id: 'closed' }), thrown => client.GetBalance.isFault(thrown, 'Refused'))
    })

const unproven = /discovered processing the <wsse:Security> header/

test('a message without the proof that its exchange requires is refused before a handler runs', async () => {
  const bare = createPortClient({ ports: [declareBank(undefined)] }, { address })
  const weaker = createPortClient({ ports: [declareBank({ callers: ['x509'] })] }, { address, keys: acme })
  await assert.rejects(bare.GetBalance({ id: 'a-1' }), unproven)
  await assert.rejects(bare.addAmounts({ a: 1, b: 2 }), unproven)
  await assert.rejects(weaker.Transfer({ amount: '1' }), unproven, 'signed, and not encrypted')
  assert.equal(await bare.Ping(), 'here')
  assert.equal(await weaker.Ping(), 'here', 'who proves more than is demanded is known by it')
  const stranger = issuePartner('O=Acme/CN=nobody')
  const other = createPortClient({ ports: [declareBank({ callers: ['x509'] })] }, { address, keys: stranger })
  await assert.rejects(
    other.Ping(),
    /could not be authenticated|FailedAuthentication/,
    'a proof that does not hold counts as none nowhere',
  )
})

test('WS-SecurityPolicy: the policies are at the exchanges that have them', () => {
  const operation = (name: string) =>
    new RegExp(`<wsdl:operation name="${name}">\\s*<sec:PolicyReference[^>]*URI="#([^"]*)`).exec(wsdl)?.[1]
  assert.equal(operation('GetBalance'), 'MessageSecurity')
  assert.equal(operation('Transfer'), 'TransferOrderMessageSecurity')
  assert.equal(operation('Ping'), undefined)
  assert.match(wsdl, /<sp:Header Name="Branch" Namespace="urn:bank"\/>/)
})

test("the requirements of a WSDL's policies are the security of the imported port", async () => {
  const { text, losses } = await withFile(wsdl, file => importDocument(file, [], []))
  assert.deepEqual(losses, [])
  assert.match(text, /^const BankSecurity: SecurityRule \| undefined = \{ callers: .*, operations: .*\}$/m)
  assert.match(text, /Ping: 'none'/)
  assert.match(text, /^ {2}security: BankSecurity,$/m)
})

test('a service without the keys that its port needs does not start', async () => {
  await assert.rejects(startHosted({}, app), /no signer is trusted/)
  await assert.rejects(startHosted({ messageSecurity: { authorities: partnerRoot } }, app), /no key to sign with/)
})

test('by the settings: a port whose contract leaves the proof to the server', async () => {
  const { server: other } = await startHosted({}, open('settings'))
  const client = createPortClient(
    { ports: [declareBank('settings')] },
    { address: `${other.url}/soap/Bank`, credentials: { username: 'acme', password: 'acme-secret' } },
  )
  assert.deepEqual(await client.GetBalance({ id: 'a-1' }), { of: 'a-1', by: 'acme' })
})

const mistakes: readonly (readonly [string, SecurityRule | 'settings', RegExp])[] = [
  ['an unknown exchange', { callers: ['x509'], operations: { Pay: 'none' } }, /operations has Pay: use GetBalance/],
  ['no caller', { callers: [] }, /the port Bank: security.callers is empty/],
  ['an unknown member', { callers: ['x509'], signed: true } as never, /the port Bank: security.*"signed"/],
  ['another word', { callers: ['x509'], operations: { Ping: 'open' as never } }, /Ping/],
]
for (const [title, security, expected] of mistakes)
  test(`the review names ${title} in the security of a port`, () => {
    assert.match(findContractMistakes(open(security)).join('\n'), expected)
  })

const Any = x.body(x.object({ one: x.any().optional() }))
const indistinct: readonly (readonly [title: string, input: typeof Account | typeof Any, RegExp])[] = [
  ['begins with the same element', Account, /One and Two begin with the same element, AccountRequest: give them one/],
  ['may begin with any element', Any, /the Body of Two may begin with the element of another exchange/],
]
for (const [title, input, expected] of indistinct)
  test(`no message chooses the rule that it has to meet: an exchange that ${title}`, () => {
    const twins = port('Twins', {
      namespace: 'urn:twins',
      allow: [anyone],
      security: { callers: ['x509'], operations: { One: 'none' } },
      exchanges: {
        One: exchange({ action: 'urn:one', input: Account }),
        Two: exchange({ action: 'urn:two', input: input as typeof Account }),
      },
    })
    const contract = service('twins', { namespace: 'urn:twins', resources: [], ports: [twins] })
    const given = implement(contract, { Twins: { One: () => {}, Two: () => {} } })
    assert.match(findContractMistakes(given).join('\n'), expected)
  })
