/** `diglot bridge`: how bridge and backend prove themselves to each other in TLS. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Command } from 'commander'
import { messageOf } from '../base/attempt.ts'
import type { BehindAddresses } from './behind-addresses.ts'
import { failUsage } from './usage.ts'

/** Names of PEM files. */
export interface BackendTlsFlags {
  readonly clientKey?: string
  readonly clientCertificate?: string
  readonly backendAuthorities?: string
}

export const addBackendTlsOptions = (command: Command): Command =>
  command
    .option('--client-key <file>', 'PEM key for TLS to a backend that demands a certificate of its clients')
    .option('--client-certificate <file>', 'PEM certificate of that key, then the intermediate ones')
    .option(
      '--backend-authorities <file>',
      'PEM certificates of authorities that issue the certificate of the backend (default: those of Node)',
    )

export interface BackendTls {
  /** Used for each new connection; undefined: there are no flags. */
  readonly tls: SecureContextOptions | undefined
  /** @throws Error if they cannot be used; the earlier ones stay in use */
  reload(): void
}

/**
 * Ends with a usage error if the flags do not fit together. Throws for files that cannot be used.
 */
export function readBackendTls(flags: BackendTlsFlags, to: BehindAddresses): BackendTls {
  const { clientKey, clientCertificate, backendAuthorities } = flags
  if ((clientKey === undefined) !== (clientCertificate === undefined))
    failUsage('--client-key and --client-certificate must be given together')
  if ((clientKey ?? backendAuthorities) === undefined) return { tls: undefined, reload: () => {} }
  if (!Object.values(to).some(address => /^https:/i.test(address)))
    failUsage(
      '--client-key and --backend-authorities are for TLS: give an address with https in --to, or leave them out',
    )
  const tls = readPemFiles(flags)
  return { tls, reload: () => void Object.assign(tls, readPemFiles(flags)) }
}

function readPemFiles({ clientKey, clientCertificate, backendAuthorities }: BackendTlsFlags): SecureContextOptions {
  const read = (name: 'key' | 'cert' | 'ca', file: string | undefined) =>
    file === undefined ? {} : { [name]: readFileSync(file, 'utf8') }
  const options: { readonly key?: string; readonly cert?: string; readonly ca?: string } = {
    ...read('key', clientKey),
    ...read('cert', clientCertificate),
    ...read('ca', backendAuthorities),
  }
  try {
    createSecureContext(options)
    const { key, cert } = options
    // OpenSSL compares them only if they are of the same kind.
    if (key && cert && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new Error('the certificate does not belong to the key')
  } catch (cause) {
    const files = [clientKey, clientCertificate, backendAuthorities].filter(file => file !== undefined)
    const cure = 'give a PEM key that is not encrypted, its PEM certificate, and PEM certificates of authorities'
    throw new Error(`${files.join(', ')} cannot be used for TLS to the backend: ${messageOf(cause)}: ${cure}`, {
      cause,
    })
  }
  return options
}
