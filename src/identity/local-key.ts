/**
 * The local key, next to the data: it signs the tokens of `diglot token` and seals passwords that
 * must be readable later. Only its owner can read it; it is created on first use. In production a
 * JWKS replaces its signatures.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

import { errorCodeOf, messageOf } from '../base/attempt.ts'
import { Unusable } from './watched-file.ts'

export interface LocalKey {
  readonly private: KeyObject
  readonly public: KeyObject
  /** Made just now, since there was no file. */
  readonly isNew: boolean
  /** 32 octets for one purpose, derived from the key (RFC 5869). */
  secret(purpose: string): Uint8Array
}

/**
 * Reads or creates the key. If several processes do so at once, the first wins, and none reads a
 * partial file.
 */
export function openLocalKey(file: string): LocalKey {
  if (file.startsWith(':memory:')) return createLocalKey(generateKeyPairSync('ed25519').privateKey)
  try {
    const existing = readExisting(file)
    return createLocalKey(createPrivateKey(existing ?? createKeyFile(file)), existing === undefined)
  } catch (cause) {
    const cure =
      errorCodeOf(cause) === 'ENOSPC'
        ? 'free some space on its disk'
        : 'give the PEM file of a private key, or a path where this user may create one'
    throw new Unusable(`the key ${file} cannot be used: ${messageOf(cause)}: ${cure}`, { cause })
  }
}

function readExisting(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (thrown) {
    if (errorCodeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

/** Writes a draft and links it in one step, which fails if another process was first. */
function createKeyFile(file: string): string | Buffer {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, pem, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, file)
    return pem
  } catch (thrown) {
    if (errorCodeOf(thrown) !== 'EEXIST') throw thrown
    return readFileSync(file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function createLocalKey(key: KeyObject, isNew = false): LocalKey {
  const material = key.export({ format: 'der', type: 'pkcs8' })
  return {
    private: key,
    public: createPublicKey(key),
    isNew,
    secret: purpose => new Uint8Array(hkdfSync('sha256', material, '', purpose, 32)),
  }
}

/** A tag of the text, in base64url, that only the holder of the secret can make. */
export const authenticationTag = (secret: Uint8Array, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')

/** Takes the same time wherever the tags differ. */
export function isSameTag(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
