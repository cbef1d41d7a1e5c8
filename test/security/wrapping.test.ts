/** Wrapped requests (attack X1): an accepted message must hold nothing of the attacker's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure } from '../../src/security/security-fault.ts'
import type { Incoming } from '../../src/security/verify/incoming.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  keyPair,
  now,
  openMessage,
  plainMessage,
  securePolicy,
  signedMessage,
  trustOf,
  verifyOrRefuse,
} from './message.ts'
import { wrapMessage } from './wrapping.ts'

const trust = trustOf('ca')

/** The message for every Body that a reader could mistake for the signed one. */
function* readEveryWay(text: string): Generator<Incoming> {
  const message = openMessage(text)
  for (const body of message.envelope.elements(message.body.name)) {
    for (const header of message.envelope.elements(message.header!.name)) {
      yield { ...message, body, header, blocks: header.elements() }
    }
  }
}

async function neverAccepted(texts: Iterable<string>, attack: (message: Incoming) => boolean, at: number) {
  const counts = { tried: 0, proven: 0, taken: 0 }
  for (const text of texts) {
    for (const message of readEveryWay(text)) {
      counts.tried++
      const result = await verifyOrRefuse(message, securePolicy, createGuard(at, { trust }))
      if (result instanceof Insecure) counts.proven += Number(/is not signed/.test(result.why))
      else {
        counts.taken++
        assert.equal(result.body, message.body)
        assert.equal(attack(message), false, text)
      }
    }
  }
  return counts
}

const isEvil = ({ body }: Incoming) => writeElement(body).includes('evil')

test('X1: a signed Body moved anywhere never lets another be read', async () => {
  const texts = wrapMessage(signedMessage(), 's:Body', body => body.replace('o-1', 'evil'))
  const { tried, proven } = await neverAccepted(texts, isEvil, now)
  assert.ok(tried >= 400 && proven > 40, `${tried} messages, ${proven} of them pass core validation`)
})

test('X1: nor with the identifiers of the version without a Timestamp first', async () => {
  const { key, certificate } = keyPair('p256')
  const signature = { key, by: { certificate, refer: 'embedded' }, parts: ['Timestamp', 'Body'] } as const
  const text = protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
  const { proven } = await neverAccepted(
    wrapMessage(text, 's:Body', body => body.replace('o-1', 'evil')),
    isEvil,
    now,
  )
  assert.ok(proven > 40)
})

test('X1, X12: a signed Timestamp of the past, moved anywhere, never lets a new one replace it', async () => {
  const later = now + 3_600_000
  const fresh = new Date(later).toISOString()
  const until = new Date(later + 60_000).toISOString()
  const texts = wrapMessage(
    signedMessage(),
    'wsu:Timestamp',
    () => `<wsu:Timestamp><wsu:Created>${fresh}</wsu:Created><wsu:Expires>${until}</wsu:Expires></wsu:Timestamp>`,
  )
  const { tried, proven, taken } = await neverAccepted(texts, () => true, later)
  // Inside a Timestamp, another is refused before the signature is verified.
  assert.ok(tried >= 400 && proven > 30, `${tried}, ${proven}`)
  assert.equal(taken, 0)
})

test('control: the message as it was signed is accepted', async () => {
  const { taken } = await neverAccepted([signedMessage()], isEvil, now)
  assert.equal(taken, 1)
})
