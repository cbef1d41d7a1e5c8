/** The TLS settings, and the few protocols and ciphers that are allowed. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { messageOf } from '../base/attempt.ts'
import { StartFailure } from './start-failure.ts'

/** Each of `key`, `certificate` and `authorities` is PEM text, or the path of a file with it. */
export interface Tls {
  readonly key: string
  /** The server's own certificate first, then the intermediate ones. */
  readonly certificate: string
  readonly passphrase?: string | undefined
  /** Client certificates are requested; those signed by these authorities reach the request. */
  readonly authorities?: string | undefined
}

/** TLS 1.2 only with forward secrecy and AEAD: CBC invites LUCKY13. TLS 1.3 has no others. */
const ciphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

/** For handshakes. Throws `StartFailure` for files that cannot be read or do not match. */
export function createSecureContext(tls: Tls): SecureContextOptions {
  const options: SecureContextOptions = {
    key: readPem(tls.key, 'the key'),
    cert: readPem(tls.certificate, 'the certificate'),
    ciphers,
    honorCipherOrder: true,
    minVersion: 'TLSv1.2',
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.authorities === undefined ? {} : { ca: readPem(tls.authorities, 'the authorities') }),
  }
  try {
    process.getBuiltinModule('node:tls').createSecureContext(options)
  } catch (cause) {
    throw new StartFailure('key', `the key and the certificate cannot be used: ${messageOf(cause)}`, {
      cause,
      cure: 'give a PEM key, its PEM certificate and, where the key is encrypted, its passphrase',
    })
  }
  return options
}

/** For logs: the names in the certificate, and the end of its validity. */
export function describeServerCertificate({ certificate }: Tls): { readonly names: string; readonly validTo: string } {
  const { subject, subjectAltName, validToDate } = new X509Certificate(readPem(certificate, 'the certificate'))
  return { names: subjectAltName ?? subject, validTo: validToDate.toISOString() }
}

function readPem(source: string, subject: string): string {
  if (source.includes('-----BEGIN ')) return source
  let text: string
  try {
    text = readFileSync(source, 'utf8')
  } catch (cause) {
    throw new StartFailure('key', `${subject} cannot be read: ${messageOf(cause)}`, {
      cause,
      cure: 'check the path, and that this user may read the file',
    })
  }
  if (text.includes('-----BEGIN ')) return text
  throw new StartFailure('key', `${subject} in ${source} is not PEM`, {
    cure: 'convert it: openssl x509 -inform der, or openssl pkey -inform der',
  })
}
