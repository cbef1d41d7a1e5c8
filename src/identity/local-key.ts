/**
 * The local key beside the data: it signs the tokens of `diglot token` and seals passwords that
 * must be known again. Readable by its owner alone, made on first use. In production a JWKS takes
 * the place of its first duty.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'

export interface LocalKey {
  readonly private: KeyObject
  readonly public: KeyObject
  /** 32 octets for one purpose, derived from the key (RFC 5869). */
  secret(purpose: string): Uint8Array
}

const isCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code

/**
 * Reads the key, or makes it. Several processes may start at once: the first wins, and nobody sees
 * a file half written.
 */
export function openLocalKey(file: string): LocalKey {
  if (file.startsWith(':memory:')) return keyOf(generateKeyPairSync('ed25519').privateKey)
  return keyOf(createPrivateKey(readExisting(file) ?? createKeyFile(file)))
}

function readExisting(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (thrown) {
    if (isCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/** Written beside it, and given its name in one step, which fails where another had it first. */
function createKeyFile(file: string): string | Buffer {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, pem, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
    return pem
  } catch (thrown) {
    if (!isCode(thrown, 'EEXIST')) throw thrown
    return readFileSync(file)
  } finally {
    unlinkSync(draft)
  }
}

function keyOf(key: KeyObject): LocalKey {
  const material = key.export({ format: 'der', type: 'pkcs8' })
  return {
    private: key,
    public: createPublicKey(key),
    secret: purpose => new Uint8Array(hkdfSync('sha256', material, '', purpose, 32)),
  }
}

/** A tag that only this key makes. */
export const authenticationTag = (secret: Uint8Array, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')
