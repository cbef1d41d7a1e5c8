/**
 * Whether a password may travel with this request, and whether it is of this machine: one rule for
 * all faces and pages.
 */
import { isLoopbackAddress } from '../base/address.ts'
import type { Request } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'

type Origin = Pick<Request, 'from' | 'fields'>

/**
 * The client is on this machine. Behind a proxy that says nothing of the client, nothing is known
 * of it.
 */
export function isFromThisMachine({ from, fields }: Origin, { trustProxy }: Pick<Settings, 'trustProxy'>): boolean {
  if (!isLoopbackAddress(from)) return false
  return !trustProxy || fields['forwarded'] !== undefined || fields['x-forwarded-for'] !== undefined
}

/**
 * RFC 7617 §4, rule A5.1: a password is readable on the way unless the way is TLS or never leaves
 * this machine.
 */
export function isConfidential(
  request: Origin & Pick<Request, 'scheme'>,
  settings: Pick<Settings, 'passwordsOnLoopback' | 'trustProxy'>,
): boolean {
  return request.scheme === 'https' || (settings.passwordsOnLoopback && isFromThisMachine(request, settings))
}
