/** B5.4, D3.16: a message that is really signed, before a service that really verifies it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CheckProfile, findRule, openSocketTransport, runCheck } from '../../src/check/index.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { startHosted } from '../host/hosted-service.ts'
import { keyPair, now, plainMessage } from '../security/message.ts'

const alice = keyPair('alice')
const signMessage = (): string =>
  protectMessage(
    `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header/><s:Body><GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder></s:Body></s:Envelope>`,
    {
      timestamp: {},
      username: { name: 'clara', password: 'clara-secret', kind: 'text' },
      signature: {
        key: alice.key,
        by: { certificate: alice.certificate, refer: 'direct' },
        parts: ['Body', 'Timestamp', 'Token'],
      },
    },
    now,
  ).envelope

describe('signature wrapping', async () => {
  const { server } = await startHosted({
    clock: () => now,
    messageSecurity: {
      certificates: [alice.pem],
      policy: { anyOf: [{ caller: 'username', timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }] },
    },
  })
  const judge = async (signedMessage: NonNullable<CheckProfile['signedMessage']>) => {
    const transport = await openSocketTransport(server.url)
    const rules = ['B5.4', 'D3.16'].flatMap(id => findRule(id) ?? [])
    const { verdicts } = await runCheck(transport, { profile: { signedMessage }, rules, rate: 1000 })
    transport.close()
    return verdicts.map(({ rule, status, reason }) => `${rule.id} ${status}: ${reason}`)
  }
  const fields = { 'content-type': 'application/soap+xml; charset=utf-8' }

  it('every wrapped Body is refused, and the original message is accepted', async () => {
    const found = await judge({ path: '/soap/v1/secure', fields, xml: signMessage() })
    assert.match(found.join('\n'), /^B5\.4 pass: a wrapped Body.*\nD3\.16 pass: a wrapped Body/)
  })

  it('a message that the service refuses, or that has nothing to wrap, gives no verdict', async () => {
    const changed = signMessage().replace('>o-1<', '>o-2<')
    const refused = await judge({ path: '/soap/v1/secure', fields, xml: changed })
    assert.match(refused.join('\n'), /^B5\.4 not observable: .*was refused\nD3\.16 not observable/)
    const plain = await judge({ path: '/soap/v1/secure', fields, xml: plainMessage() })
    assert.match(plain.join('\n'), /^B5\.4 not observable: a Header and a Body with an Id/)
  })
})
