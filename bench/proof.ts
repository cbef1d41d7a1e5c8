/**
 * A signed request verified and its answer signed, from octets to octets; beside the two bare
 * operations of RSA. Each message is another one.
 */
import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { Certificate } from '../src/security/crypto/certificate.ts'
import { CertificateTrust } from '../src/security/crypto/trust.ts'
import { compileDeclaredPolicy } from '../src/security/policy/declared-policy.ts'
import { protectMessage } from '../src/security/protect/protect.ts'
import { createWsSecurity } from '../src/security/ws-security.ts'
import { openEnvelopeTree, strictParsing, writeEnvelope } from '../src/soap/envelope.ts'
import { soap12, versions } from '../src/soap/version.ts'
import { Malformed, parseXml } from '../src/xml/index.ts'
import * as x from '../test/security/issue.ts'
import { cpuOf, paired, quick, type Row, row, stayOff } from './harness.ts'

/** The row of `npm run bench soap`. */
export async function provenExchange(): Promise<Row[]> {
  stayOff()
  const lasting = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 }
  const root: x.Holder = { name: 'CN=Root', key: x.createRsaKey() }
  const authority = x.issueCertificate({ ...root, by: root, extensions: [x.authority(), x.usage(5)], ...lasting })
  const issue = (name: string) => {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const der = x.issueCertificate({ name, key, by: root, extensions: [x.usage(0)], ...lasting })
    return { key: key.privateKey, certificate: new Certificate(der) }
  }
  const [partner, service] = [issue('CN=partner'), issue('CN=service')]
  const nobody = () => undefined
  const identities = { bearer: nobody, key: nobody, password: nobody, digest: nobody, known: nobody }
  const caller = { subject: 'partner', roles: [], claims: {} }
  const trust = new CertificateTrust({ authorities: authority })
  const means = { identities: { ...identities, certificate: () => caller }, trust, signs: service, seen: () => false }
  const secure = createWsSecurity(compileDeclaredPolicy({ callers: ['x509'], answers: 'signed' }), means)

  const order = (id: string) =>
    `<o:order xmlns:o="urn:o"><o:id>${id}</o:id><o:customer>c-1</o:customer><o:total>125.50</o:total><o:state>placed</o:state></o:order>`
  const signature = {
    key: partner.key,
    by: { certificate: partner.certificate, refer: 'direct' },
    parts: ['Headers', 'Timestamp', 'Body'],
  } as const
  const count = 1000
  const ids = Array.from({ length: count }, () => randomBytes(8).toString('hex'))
  const requests = ids.map(id =>
    Buffer.from(protectMessage(writeEnvelope(soap12, order(id)), { timestamp: {}, signature }, Date.now()).envelope),
  )

  async function prove(bytes: Buffer, id: string): Promise<number> {
    const document = parseXml(bytes, strictParsing)
    if (document instanceof Malformed) throw document
    const { version, blocks, element: body } = openEnvelopeTree(document, versions)
    const evidence = {
      version,
      document,
      body,
      blocks,
      targeted: blocks,
      isProcessed: () => false,
      demanded: true,
      now: Date.now(),
    }
    const place = { address: 'urn:here', from: '', confidential: true, parts: new Map() }
    const { protect } = await secure({ ...evidence, ...place })
    const answer = { envelope: writeEnvelope(soap12, order(id)), attached: [] }
    return protect?.(answer, Date.now()).envelope.length ?? 0
  }

  function bare(octets: Buffer): void {
    const value = sign('sha256', octets, service.key)
    if (!verify('sha256', octets, service.certificate.key, value)) throw new Error('never')
  }

  const block = 50
  const next = { ours: 0, theirs: 0 }
  const ours = () =>
    cpuOf(block, () => {
      const at = next.ours++ % count
      return prove(requests[at]!, ids[at]!)
    })
  const theirs = () => cpuOf(block, () => bare(requests[next.theirs++ % count]!.subarray(0, 500)))
  await paired(quick ? 5 : 40, ours, theirs) // until all of it is compiled
  const found = await paired(quick ? 5 : 100, ours, theirs)
  return [row('signed request verified and answer signed, RSA-2048', 'the two bare operations', '≤ 2.2', found)]
}
