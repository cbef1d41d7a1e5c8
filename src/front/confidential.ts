/**
 * May a password travel with a request, and is the client on this machine? One rule for all mounts.
 */
import { isLoopbackAddress } from '../base/address.ts'
import type { Request } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'

type Origin = Pick<Request, 'from'>

/**
 * The client is on this machine. Behind a trusted proxy none is: what the proxy says of its client
 * is enough for limits, and not for rights.
 */
export const isFromThisMachine = ({ from }: Origin, { trustProxy }: Pick<Settings, 'trustProxy'>): boolean =>
  trustProxy === false && isLoopbackAddress(from)

/** RFC 7617 §4, rule A5.1: a password can be read on its way, but over TLS or within a machine. */
export function isConfidential(
  request: Origin & Pick<Request, 'scheme'>,
  settings: Pick<Settings, 'passwordsOnLoopback' | 'trustProxy'>,
): boolean {
  return request.scheme === 'https' || (settings.passwordsOnLoopback && isFromThisMachine(request, settings))
}
