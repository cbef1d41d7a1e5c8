/**
 * Tokens that only their owner can use (claim `cnf`, RFC 7800): bound to the client certificate of
 * the connection (RFC 8705 §3.1), or to a key that signs a proof for each request (RFC 9449 §6.1).
 * What it guards:
 *  (1) A bound token without its certificate or proof is invalid, so a stolen one is useless.
 *  (2) A token whose binding is of an unknown kind is invalid: no client could meet it.
 */
import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { hasMembers } from '../base/objects.ts'

/** SHA-256 thumbprints in base64url; none: the token counts for anyone who has it. */
export interface TokenBinding {
  /** `x5t#S256`: of the certificate in DER. */
  readonly certificate?: string | undefined
  /** `jkt`: of the public key as a JWK (RFC 7638). */
  readonly key?: string | undefined
}

export const unbound: TokenBinding = {}

/** Undefined (2): the token is invalid. */
export function readBinding({ cnf }: JWTPayload & { readonly cnf?: unknown }): TokenBinding | undefined {
  if (cnf === undefined) return unbound
  const { 'x5t#S256': certificate, jkt: key } = hasMembers(cnf) ? cnf : {}
  if (!isThumbprint(certificate) || !isThumbprint(key)) return undefined
  const binding = { certificate, key }
  return hasBinding(binding) ? binding : undefined
}

const isThumbprint = (member: unknown): member is string | undefined =>
  member === undefined || typeof member === 'string'

export const hasBinding = ({ certificate, key }: TokenBinding): boolean =>
  certificate !== undefined || key !== undefined

/**
 * (1) Whether the owner of the certificate (DER) and of the key with this thumbprint may use the
 * token. With a proof, only a token with a key counts (RFC 9449 §7.1), and without, only a token
 * without a key (§7.2).
 */
export function matchesBinding(
  binding: TokenBinding,
  { certificate, key }: { readonly certificate?: Uint8Array | undefined; readonly key?: string | undefined },
): boolean {
  if (binding.key !== key) return false
  return (
    binding.certificate === undefined ||
    (certificate !== undefined && hash('sha256', certificate, 'base64url') === binding.certificate)
  )
}
