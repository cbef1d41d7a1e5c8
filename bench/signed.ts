/**
 * Signed messages of 1 KB, each another one, from its octets to the Body that was proven: parsed, its certificate trusted,
 * the digests of Body and Timestamp and the signature over them verified; beside the public-key operation alone. The memory
 * against replays is the database's, and not in it.
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
import { cpuOf, paired, quick, type Row, row, stayOff } from './harness.ts'
import { orderXml } from './servers/shop.ts'

/** Different messages, and those of one measurement. */
const count = 500
const block = 100

export async function signed(): Promise<Row[]> {
  stayOff()
  const { key, certificate } = keyPair('alice')
  const bits = key.asymmetricKeyDetails?.modulusLength
  const parts = ['Body', 'Timestamp'] as const
  const signature = { key, by: { certificate, refer: 'direct' as const }, parts }
  const plain = plainMessage(soap12Uri, '', orderXml(5))
  const messages = Array.from({ length: count }, (_, at) => {
    const { envelope } = protectMessage(plain, { timestamp: {}, signature }, now + at)
    const signedInfo = Buffer.from(/<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(envelope)?.[0] ?? '')
    return { octets: new TextEncoder().encode(envelope), signedInfo, value: sign('sha256', signedInfo, key) }
  })
  const watch = { ...createGuard(now + count, { trust: trustOf('ca') }), seen: () => false }
  const next = { ours: 0, theirs: 0 }
  const verifyNext = async (): Promise<void> => {
    const { octets } = messages[next.ours++ % count]!
    const { caller } = await verifyMessage(openMessage(octets), signedPolicy, watch)
    if (!caller) throw new Error('no caller was proven')
  }
  const { key: publicKey } = certificate
  const verifyBare = (): void => {
    const { signedInfo, value } = messages[next.theirs++ % count]!
    if (!verify('sha256', signedInfo, publicKey, value)) throw new Error('not verified')
  }
  const [ours, theirs] = [() => cpuOf(block, verifyNext), () => cpuOf(block, verifyBare)]
  await paired(quick ? 10 : 80, ours, theirs) // until all of it is compiled
  const found = await paired(quick ? 10 : 300, ours, theirs)
  const size = messages[0]!.octets.length.toLocaleString('en')
  const what = `signed SOAP message verified, RSA-${bits}, ${size} octets`
  return [row(what, 'the public-key operation alone', '≤ 3', found)]
}
