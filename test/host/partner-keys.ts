/** Keys of a bank and its partner, issued by authorities of their own, and what both configure. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import * as x from '../security/issue.ts'

const day = 86_400_000
const lasting = { notBefore: Date.now() - day, notAfter: Date.now() + day }

export interface PemPair {
  readonly key: string
  readonly certificate: string
}

const createAuthority = (name: string): x.Holder => ({ name, key: x.createEcKey() })
const authorityPem = (by: x.Holder): string =>
  x.writePem('CERTIFICATE', x.issueCertificate({ ...by, by, extensions: [x.authority(), x.usage(5, 6)], ...lasting }))

const partners = createAuthority('O=Partners/CN=Root')
const banks = createAuthority('O=Bank/CN=Root')
export const partnerRoot = authorityPem(partners)
export const bankRoot = authorityPem(banks)

/** A key pair of RSA, since answers are encrypted to it. */
function issuePair(
  by: x.Holder,
  name: string,
  key: x.TestKey = x.createRsaKey(),
  more: readonly Uint8Array[] = [],
): PemPair {
  return {
    key: key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    certificate: x.writePem(
      'CERTIFICATE',
      x.issueCertificate({ name, key, by, extensions: [x.usage(0, 2), ...more], ...lasting }),
    ),
  }
}
export const issuePartner = (name: string, key?: x.TestKey, ...more: readonly Uint8Array[]): PemPair =>
  issuePair(partners, name, key, more)
/** The bank's certificate of another kind of key, use or time. */
export function issueUnusual({ key = x.createRsaKey(), usage = [0, 2], notBefore, notAfter }: UnusualPair): PemPair {
  const name = 'O=Bank/CN=bank.example'
  const times = { notBefore: notBefore ?? lasting.notBefore, notAfter: notAfter ?? lasting.notAfter }
  const certificate = x.issueCertificate({ name, key, by: banks, extensions: [x.usage(...usage)], ...times })
  return {
    key: key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    certificate: x.writePem('CERTIFICATE', certificate),
  }
}
interface UnusualPair {
  readonly key?: x.TestKey
  /** Bits of keyUsage (RFC 5280 §4.2.1.3). */
  readonly usage?: readonly number[]
  readonly notBefore?: number
  readonly notAfter?: number
}

export const issueBank = (name = 'O=Bank/CN=bank.example', ...more: readonly Uint8Array[]): PemPair =>
  issuePair(banks, name, undefined, more)

/** The bank's pair in files, which a test may change. */
export function writeKeyFiles(pair: PemPair) {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-keys-'))
  after(() => rmSync(folder, { recursive: true }))
  const files = { key: join(folder, 'bank.key'), certificate: join(folder, 'bank.pem') }
  const change = (next: Partial<PemPair>) => {
    for (const part of ['key', 'certificate'] as const) if (next[part]) writeFileSync(files[part], next[part])
  }
  change(pair)
  return { files, change }
}
