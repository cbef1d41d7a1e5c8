/**
 * Messages for the tests of WS-Security, opened as the SOAP face opens them; and people, keys and a
 * clock to check them with.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '../../src/contract/policy.ts'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { VerificationContext } from '../../src/security/policy/verification-context.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import type { Signing } from '../../src/security/protect/sign.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import type { Incoming } from '../../src/security/verify/incoming.ts'
import { type VerifiedMessage, verifyMessage } from '../../src/security/verify/verify.ts'
import { SignedInfoName } from '../../src/security/vocabulary.ts'
import { versions } from '../../src/soap/version.ts'
import { canonicalize, type Element, internName, Malformed, parseXml } from '../../src/xml/index.ts'

/** The message in this envelope, with all header blocks for this node. */
export function openMessage(text: string | Uint8Array): Incoming {
  const document = parseXml(typeof text === 'string' ? new TextEncoder().encode(text) : text, {
    instructions: 'refuse',
  })
  assert.ok(!(document instanceof Malformed), String((document as Malformed).reason))
  const envelope = document.root
  const version = versions.find(version => version.envelope === envelope.name)
  assert.ok(version, 'no envelope')
  const [header] = envelope.elements(version.header)
  const [body] = envelope.elements(version.body)
  assert.ok(body, 'no Body')
  return { envelope, header, body, blocks: header?.elements() ?? [], from: '127.0.0.1', confidential: true }
}

export const people: Readonly<Record<string, { readonly password: string; readonly roles: readonly string[] }>> = {
  alice: { password: 'open sesame', roles: ['customer'] },
  Bert: { password: 'Ernie', roles: ['customer'] },
  clara: { password: 'clara-secret', roles: ['clerk'] },
}

const findCaller = (name: string): Caller | undefined =>
  Object.hasOwn(people, name) ? { subject: name, roles: people[name]!.roles, claims: {} } : undefined

/** A guard with people and a memory of its own. */
export function createGuard(
  now: string | number,
  more: Partial<VerificationContext> = {},
): VerificationContext & { readonly memory: Map<string, number> } {
  const memory = new Map<string, number>()
  const at = typeof now === 'number' ? now : Date.parse(now)
  return {
    memory,
    now: () => at,
    identities: {
      bearer: () => undefined,
      key: () => undefined,
      password: (name, password) => (people[name]?.password === password ? findCaller(name) : undefined),
      digest: (name, isMadeOf) => (isMadeOf(people[name]?.password ?? '') ? findCaller(name) : undefined),
      known: findCaller,
      certificate: der => ({ subject: `certificate of ${der.length} octets`, roles: [], claims: {} }),
    },
    seen: (key, expires) => {
      const before = memory.get(key)
      memory.set(key, expires)
      return before !== undefined && before > at
    },
    ...more,
  }
}

export type Result = VerifiedMessage | Insecure

/** The outcome of a message. */
export async function verifyOrRefuse(
  message: Incoming,
  policy: SecurityPolicy,
  guard: VerificationContext,
): Promise<Result> {
  try {
    return await verifyMessage(message, policy, guard)
  } catch (thrown) {
    if (thrown instanceof Insecure) return thrown
    throw thrown
  }
}

export async function expectRefusal(result: Promise<Result>, fault: SecurityFault, why?: RegExp): Promise<void> {
  const found = await result
  assert.ok(found instanceof Insecure, 'the message was accepted')
  assert.equal(`${found.fault}: ${found.why}`.startsWith(`${fault}: `), true, `${found.fault}: ${found.why}`)
  if (why) assert.match(found.why, why)
}

export async function expectAccepted(result: Promise<Result>): Promise<VerifiedMessage> {
  const found = await result
  assert.ok(!(found instanceof Insecure), found instanceof Insecure ? `${found.fault}: ${found.why}` : '')
  return found
}

export const readText = (path: string): string => readFileSync(path, 'utf8')

/** A test-only key and its certificate. */
export function keyPair(name: string): {
  readonly key: KeyObject
  readonly certificate: Certificate
  readonly pem: string
} {
  const file = (kind: string) => readText(join(import.meta.dirname, 'keys', `test-only-${name}.${kind}.pem`))
  return { key: createPrivateKey(file('key')), certificate: new Certificate(file('cert')), pem: file('cert') }
}

export const trustOf = (...names: string[]): CertificateTrust =>
  new CertificateTrust({ authorities: names.map(name => keyPair(name).pem) })

/** The time of all tests. */
export const now = Date.parse('2030-06-01T12:00:00Z')

export const soap11Uri = 'http://schemas.xmlsoap.org/soap/envelope/'
export const soap12Uri = 'http://www.w3.org/2003/05/soap-envelope'

export const plainMessage = (
  version = soap12Uri,
  header = '',
  body = '<o:GetOrder xmlns:o="urn:o"><id>o-1</id></o:GetOrder>',
) =>
  `<s:Envelope xmlns:s="${version}"><s:Header><a:MessageID xmlns:a="urn:a">m-1</a:MessageID>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`

export const messageId = internName('urn:a', 'MessageID')

/** A message with a Timestamp, with these parts signed. */
export const signedMessage = (by = keyPair('alice'), more: Partial<Signing> = {}, rest: Protection = {}): string =>
  protectMessage(
    plainMessage(),
    {
      timestamp: {},
      signature: {
        key: by.key,
        by: { certificate: by.certificate, refer: 'direct' },
        parts: ['Body', 'Timestamp'],
        ...more,
      },
      ...rest,
    },
    now,
  ).envelope

export const signedDemand: Demand = { caller: 'x509', timestamp: true, signed: ['Body', 'Timestamp'] }
export const signedPolicy: SecurityPolicy = { required: true, anyOf: [signedDemand] }
/** The policy of `/soap/v1/secure`. */
export const securePolicy: SecurityPolicy = { required: true, anyOf: [{ caller: 'username' }, signedDemand] }

/**
 * The message with a correct SignatureValue again, after this Reference was added to its
 * SignedInfo.
 */
export function signAgain(text: string, key: KeyObject, reference = ''): string {
  const changed = text.replace('</ds:SignedInfo>', `${reference}</ds:SignedInfo>`)
  const document = parseXml(new TextEncoder().encode(changed))
  assert.ok(!(document instanceof Malformed))
  const found = (element: Element): Element | undefined =>
    element.name === SignedInfoName ? element : element.elements().map(found).find(Boolean)
  const octets = canonicalize(found(document.root)!, { exclusive: true, comments: false })
  const value = sign('sha256', Buffer.from(octets), key).toString('base64')
  return changed.replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${value}`)
}
