/** Messages for the tests of WS-Security: opened as the SOAP face opens them, and people, keys and a clock to check them with. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Caller } from '../../../src/contract/policy.ts'
import { Insecure, type SecurityFault } from '../../../src/soap/security/failure.ts'
import type { Guard } from '../../../src/soap/security/guard.ts'
import type { SecurityPolicy } from '../../../src/soap/security/policy.ts'
import { type Incoming, type Secured, secure } from '../../../src/soap/security/secure.ts'
import { versions } from '../../../src/soap/version.ts'
import { Malformed, parse } from '../../../src/xml/index.ts'

/** The message in this envelope, with all header blocks for this node. */
export function open(text: string | Uint8Array): Incoming {
  const document = parse(typeof text === 'string' ? new TextEncoder().encode(text) : text, { instructions: 'refuse' })
  assert.ok(!(document instanceof Malformed), String((document as Malformed).reason))
  const envelope = document.root
  const version = versions.find(version => version.envelope === envelope.name)
  assert.ok(version, 'no envelope')
  const [header] = envelope.elements(version.header)
  const [body] = envelope.elements(version.body)
  assert.ok(body, 'no Body')
  return { envelope, header, body, blocks: header?.elements() ?? [], from: '127.0.0.1' }
}

export const people: Readonly<Record<string, { readonly password: string; readonly roles: readonly string[] }>> = {
  alice: { password: 'open sesame', roles: ['customer'] },
  Bert: { password: 'Ernie', roles: ['customer'] },
  clara: { password: 'clara-secret', roles: ['clerk'] },
}

const caller = (name: string): Caller | undefined =>
  Object.hasOwn(people, name) ? { subject: name, roles: people[name]!.roles, claims: {} } : undefined

/** A guard with people and a memory of its own. */
export function guard(
  now: string | number,
  more: Partial<Guard> = {},
): Guard & { readonly memory: Map<string, number> } {
  const memory = new Map<string, number>()
  const at = typeof now === 'number' ? now : Date.parse(now)
  return {
    memory,
    now: () => at,
    identities: {
      bearer: () => undefined,
      key: () => undefined,
      password: (name, password) => (people[name]?.password === password ? caller(name) : undefined),
      secret: name => people[name]?.password,
      known: caller,
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

export type Result = Secured | Insecure

/** What becomes of a message. */
export async function outcome(message: Incoming, policy: SecurityPolicy, guard: Guard): Promise<Result> {
  try {
    return await secure(message, policy, guard)
  } catch (thrown) {
    if (thrown instanceof Insecure) return thrown
    throw thrown
  }
}

export async function refused(result: Promise<Result>, fault: SecurityFault, why?: RegExp): Promise<void> {
  const found = await result
  assert.ok(found instanceof Insecure, 'the message was taken')
  assert.equal(`${found.fault}: ${found.why}`.startsWith(`${fault}: `), true, `${found.fault}: ${found.why}`)
  if (why) assert.match(found.why, why)
}

export async function taken(result: Promise<Result>): Promise<Secured> {
  const found = await result
  assert.ok(!(found instanceof Insecure), found instanceof Insecure ? `${found.fault}: ${found.why}` : '')
  return found
}

export const read = (path: string): string => readFileSync(path, 'utf8')
