/**
 * A signed message of 1 KB, from its octets to the Body that was proven: parsed, its certificate trusted, the digests of Body
 * and Timestamp and the signature over them verified; beside the public-key operation alone. The memory against replays is
 * the database's, and not in it.
 */
import { sign, verify } from 'node:crypto'
import { protectMessage } from '../src/security/protect/protect.ts'
import { verifyMessage } from '../src/security/verify/verify.ts'
import {
  createGuard,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signedPolicy,
  soap12Uri,
  trustOf,
} from '../test/security/message.ts'
import { median, quick, type Row, stayOff } from './harness.ts'
import { orderXml } from './servers/shop.ts'

export async function signed(): Promise<Row[]> {
  stayOff()
  const { key, certificate } = keyPair('alice')
  const bits = key.asymmetricKeyDetails?.modulusLength
  const parts = ['Body', 'Timestamp'] as const
  const signature = { key, by: { certificate, refer: 'direct' as const }, parts }
  const { envelope } = protectMessage(plainMessage(soap12Uri, '', orderXml(5)), { timestamp: {}, signature }, now)
  const octets = new TextEncoder().encode(envelope)
  const watch = { ...createGuard(now, { trust: trustOf('ca') }), seen: () => false }
  const ours = async (): Promise<void> => {
    const { caller } = await verifyMessage(openMessage(octets), signedPolicy, watch)
    if (!caller) throw new Error('nobody was proven')
  }
  const text = Buffer.from(/<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(envelope)?.[0] ?? '')
  const value = sign('sha256', text, key)
  const { key: publicKey } = certificate
  const theirs = (): void => {
    if (!verify('sha256', text, publicKey, value)) throw new Error('not verified')
  }
  const found: [number, number][] = []
  const warming = Array<boolean>(quick ? 1 : 10).fill(true) // a second, until all of it is compiled
  for (const warm of [...warming, ...Array<boolean>(quick ? 3 : 11).fill(false)]) {
    const one = [await time(ours, 1000), await time(async () => theirs(), 2000)] as [number, number]
    if (!warm) found.push(one)
  }
  const [a, b] = [median(found.map(([mine]) => mine)), median(found.map(([, other]) => other))]
  return [
    {
      what: `signed SOAP message verified, RSA-${bits}, ${octets.length.toLocaleString('en')} octets`,
      against: 'the public-key operation alone',
      ratio: median(found.map(([mine, other]) => mine / other)),
      goal: '≤ 3',
      note: `${a.toFixed(0)} µs, ${b.toFixed(0)} µs`,
    },
  ]
}

/** Microseconds of CPU for one call. */
async function time(work: () => Promise<void>, calls: number): Promise<number> {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}
