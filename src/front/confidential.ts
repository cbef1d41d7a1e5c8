/**
 * May a password travel with a request, and is the client on this machine? One rule for all mounts.
 */
import { isLoopbackAddress } from '../base/address.ts'
import type { Request } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'

type Origin = Pick<Request, 'from' | 'fields'>

/** The client is on this machine. A proxy that does not name its client proves nothing. */
export function isFromThisMachine({ from, fields }: Origin, { trustProxy }: Pick<Settings, 'trustProxy'>): boolean {
  if (!isLoopbackAddress(from)) return false
  return !trustProxy || fields['forwarded'] !== undefined || fields['x-forwarded-for'] !== undefined
}

/** RFC 7617 §4, rule A5.1: a password can be read on its way, but over TLS or within a machine. */
export function isConfidential(
  request: Origin & Pick<Request, 'scheme'>,
  settings: Pick<Settings, 'passwordsOnLoopback' | 'trustProxy'>,
): boolean {
  return request.scheme === 'https' || (settings.passwordsOnLoopback && isFromThisMachine(request, settings))
}
