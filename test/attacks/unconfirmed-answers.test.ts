/**
 * Signed answers that confirm no signature (`confirmed: false`; WS-SecurityPolicy 1.3 §9.2), and an
 * attacker between client and service who keeps all messages: what an answer is tied to its request
 * by, and that nothing else is taken for one.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerMemory } from '../../src/client/answer-memory.ts'
import { AnswerError, createSoapClient, FaultError } from '../../src/client/index.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import type { ClientTransport, TransportResponse } from '../../src/client/transport.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { startHosted } from '../host/hosted-service.ts'
import { bankRoot, issueBank, issuePartner, type PemPair, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'

const rules = {
  '/soap/signed': { callers: ['x509'], answers: 'signed', confirmed: false },
  '/soap/encrypted': { callers: ['x509'], encrypted: true, answers: 'encrypted', confirmed: false },
  '/soap/direct': { callers: ['x509'], symmetric: 'direct', answers: 'signed', confirmed: false },
  '/soap/derived': { callers: ['x509'], symmetric: 'derived', answers: 'signed', confirmed: false },
  '/soap/confirmed': { callers: ['x509'], answers: 'signed' },
} as const satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const loosePaths = ['/soap/signed', '/soap/encrypted'] as const
const keyedPaths = ['/soap/direct', '/soap/derived'] as const
const endpoints = Object.fromEntries(
  Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }]),
)
const contract = { ...shop, endpoints }
const secured = { ...app, contract } as unknown as typeof app

const bank = issueBank()
const maria = issuePartner('CN=maria')
const start = (pair: PemPair, behindMs = 0) =>
  startHosted(
    {
      messageSecurity: { authorities: partnerRoot, keyFiles: [writeKeyFiles(pair).files] },
      clock: () => Date.now() - behindMs,
      flood: 100_000,
    },
    secured,
  )
const honest = await start(bank)

/** What an attacker makes of answers, and all of them that came. */
interface Wire {
  readonly came: TransportResponse[]
  change: (response: TransportResponse) => TransportResponse
}
const createWire = (): Wire => ({ came: [], change: response => response })

function tapped(target: string, wire: Wire): ClientTransport {
  return {
    close: () => {},
    prepare: fields => async sending => {
      const headers = { ...fields, 'accept-encoding': 'identity' }
      const response = await fetch(target, { method: 'POST', headers, body: sending.content as string })
      const raw: TransportResponse = {
        status: response.status,
        fields: Object.fromEntries(response.headers),
        content: Buffer.from(await response.arrayBuffer()),
      }
      wire.came.push(raw)
      return wire.change(raw)
    },
  }
}
const newKeys = (): ClientKeys => ({
  ...maria,
  service: { authorities: bankRoot, name: 'bank.example' },
  encryptTo: bank.certificate,
})
/** A client, by default with a memory of its own. */
function connect(path: Path, wire: Wire, { addressing = false, keys = newKeys(), at = honest } = {}) {
  const address = `${at.server.url}${path}`
  return createSoapClient(contract, { address, version: 'v2', addressing, keys, transport: tapped(address, wire) })
}
const ask = (client: ReturnType<typeof connect>, id = 'o-1') => client.GetOrder({ id })

const refused =
  (why: RegExp, kind: AnswerError['why'] = 'unproven') =>
  (thrown: unknown) => {
    assert.ok(thrown instanceof AnswerError, String(thrown))
    assert.equal(thrown.why, kind)
    assert.match(thrown.message, why)
    return true
  }
const textOf = ({ content }: TransportResponse) => Buffer.from(content).toString()
const rewrite = (from: RegExp, to: string) => (response: TransportResponse) => {
  const changed = textOf(response).replace(from, to)
  assert.notEqual(changed, textOf(response))
  return { ...response, content: Buffer.from(changed) }
}

for (const path of [...loosePaths, ...keyedPaths])
  for (const addressing of [false, true])
    test(`§9.2: ${path} ${addressing ? 'with' : 'without'} addressing: answers and faults are signed, and confirm nothing`, async () => {
      const wire = createWire()
      const client = connect(path, wire, { addressing })
      for (let i = 0; i < 2; i++) assert.equal((await ask(client)).order.id, 'o-1')
      await assert.rejects(ask(client, 'o-none'), thrown => thrown instanceof FaultError && thrown.fault === 'NotFound')
      for (const each of wire.came) {
        assert.match(textOf(each), /<ds:Signature /)
        assert.doesNotMatch(textOf(each), /SignatureConfirmation/)
      }
    })

const forgeries: readonly (readonly [string, (response: TransportResponse) => TransportResponse])[] = [
  ['is not signed', rewrite(/<ds:Signature .*<\/ds:Signature>/s, '')],
  ['has no Security block', rewrite(/<wsse:Security .*<\/wsse:Security>/s, '')],
  ['has another Body', rewrite(/(<\w+:Body[^>]*>)/, '$1 ')],
  ['has no Timestamp', rewrite(/<wsu:Timestamp .*<\/wsu:Timestamp>/s, '')],
  ['has another time', rewrite(/<wsu:Expires>\d{4}/, '<wsu:Expires>2999')],
]
for (const path of [...loosePaths, ...keyedPaths])
  for (const [what, forge] of forgeries)
    test(`WSS §8: ${path}: an answer that ${what} is refused`, async () => {
      const wire = createWire()
      wire.change = forge
      await assert.rejects(ask(connect(path, wire)), refused(/nothing proves that the reply is the service's/))
    })

describe('X12: without addressing and a key of the exchange', () => {
  for (const path of loosePaths) {
    test(`${path}: an answer is taken once by all clients with the same keys`, async () => {
      const wire = createWire()
      const keys = newKeys()
      const client = connect(path, wire, { keys })
      await ask(client)
      const [former] = wire.came as [TransportResponse]
      wire.change = () => former
      await assert.rejects(ask(client), refused(/seen before/))
      await assert.rejects(ask(connect(path, wire, { keys })), refused(/seen before/))
      wire.change = response => response
      assert.equal((await ask(client)).order.id, 'o-1')
    })
    test(`${path}: a refused answer is not taken, so it stays good for its own request`, async () => {
      const wire = createWire()
      const client = connect(path, wire)
      wire.change = rewrite(/<ds:SignatureValue>.{8}/s, '<ds:SignatureValue>AAAAAAAA')
      await assert.rejects(ask(client), refused(/SignatureValue/))
      wire.change = () => wire.came[0] as TransportResponse
      assert.equal((await ask(client)).order.id, 'o-1', 'of the last minute: this is what confirmation would prevent')
    })
    test(`WSS §10: ${path}: an answer that is older than its request is refused; clocks may differ by a minute`, async t => {
      const wire = createWire()
      await ask(connect(path, wire))
      const [former] = wire.came as [TransportResponse]
      wire.change = () => former
      const { now } = Date
      for (const [lateMs, why] of [
        [40_000, undefined],
        [90_000, /a reply that is older than its request/],
        [310_000, /an expired Timestamp/],
      ] as const) {
        t.mock.method(Date, 'now', () => now() + lateMs)
        const later = ask(connect(path, wire))
        await (why ? assert.rejects(later, refused(why)) : later)
        t.mock.restoreAll()
      }
    })
  }
  test('a service whose clock is behind for so long is understood where answers confirm', async () => {
    const late = await start(bank, 40_000)
    assert.equal((await ask(connect('/soap/confirmed', createWire(), { at: late }))).order.id, 'o-1')
  })
})

describe('with addressing, the signed RelatesTo ties an answer to its request', () => {
  for (const path of loosePaths) {
    test(`${path}: another's answer, and one that names no request, are refused`, async () => {
      const wire = createWire()
      const client = connect(path, wire, { addressing: true })
      await ask(client)
      wire.change = () => wire.came[0] as TransportResponse
      await assert.rejects(ask(client), refused(/it is the reply to urn:uuid:/, 'uncorrelated'))
      const plain = createWire()
      await ask(connect(path, plain))
      wire.change = () => plain.came[0] as TransportResponse
      await assert.rejects(ask(client), refused(/does not name the message it relates to/, 'uncorrelated'))
    })
    test(`${path}: so is a fault that names no request`, async () => {
      const plain = createWire()
      await assert.rejects(ask(connect(path, plain), 'o-none'), FaultError)
      const wire = createWire()
      wire.change = () => plain.came[0] as TransportResponse
      await assert.rejects(
        ask(connect(path, wire, { addressing: true })),
        refused(/does not name the message it relates to/, 'uncorrelated'),
      )
    })
    test(`${path}: a RelatesTo that is changed or added is not signed`, async () => {
      const wire = createWire()
      const client = connect(path, wire, { addressing: true })
      wire.change = rewrite(/(<\w+:RelatesTo[^>]*>)urn/, '$1xrn')
      await assert.rejects(ask(client), refused(/digest/))
      // The answer, whose signed RelatesTo names another request, gets one more.
      const [former] = wire.came as [TransportResponse]
      wire.change = () => {
        const id = /<\w+:RelatesTo[^>]*>(urn[^<]*)/.exec(textOf(wire.came.at(-1) as TransportResponse))?.[1]
        return rewrite(
          /(<(\w+):RelatesTo)/,
          `<$2:RelatesTo xmlns:$2="http://www.w3.org/2005/08/addressing">${id}</$2:RelatesTo>$1`,
        )(former)
      }
      await assert.rejects(ask(client), refused(/RelatesTo is not signed/))
    })
  }
})

for (const path of loosePaths)
  test(`${path}: another trusted party does not sign answers of the service`, async () => {
    const pair = issueBank('O=Bank/CN=other.example')
    const other = await start(pair)
    const keys = { ...newKeys(), encryptTo: pair.certificate }
    await assert.rejects(ask(connect(path, createWire(), { at: other, keys })), refused(/an unknown caller/))
    const pinned = connect(path, createWire(), {
      keys: { ...newKeys(), service: { certificates: issueBank().certificate } },
    })
    await assert.rejects(pinned.GetOrder({ id: 'o-1' }), refused(/not trusted|unknown/))
  })

for (const path of keyedPaths)
  test(`WSS §7.3: ${path}: the key of an exchange ties its answer to it, so nothing is remembered`, async () => {
    const wire = createWire()
    const client = connect(path, wire)
    await ask(client)
    wire.change = () => wire.came[0] as TransportResponse
    await assert.rejects(ask(client), refused(/not in this message/))
  })

test('a client whose own certificate could sign answers is not made where they confirm nothing', () => {
  const keys = { ...bank, service: { certificates: bank.certificate }, encryptTo: bank.certificate }
  assert.throws(
    () => connect('/soap/signed', createWire(), { keys }),
    /keys.certificate may also sign answers, by keys.service, and these confirm no request/,
  )
  assert.doesNotThrow(() => connect('/soap/confirmed', createWire(), { keys }))
})

test('D1 the memory of answers has a bound, at which it takes no more; it forgets in time', () => {
  const memory = new AnswerMemory(2)
  const minute = 60_000
  const at = 1_800_000_000_000
  assert.deepEqual(
    [memory.take('a', at), memory.take('b', at), memory.take('a', at + 1), memory.take('c', at + 2)],
    ['new', 'new', 'known', 'full'],
  )
  assert.equal(memory.take('a', at + 5.9 * minute), 'known', 'a Timestamp lives so long')
  assert.equal(memory.take('c', at + 6.1 * minute), 'new')
  assert.equal(memory.take('b', at + 6.2 * minute), 'known')
  assert.equal(memory.take('b', at + 12.5 * minute), 'new', 'no Timestamp lives so long')
})
