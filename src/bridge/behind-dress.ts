/**
 * What messages to the service behind wear: by the policies of its WSDL, and by what the settings
 * of the bridge say, in the words of a client's options.
 */
import { createMessageDress, type DressOptions, type MessageDress } from '../client/dressed-message.ts'
import type { SecurityRule } from '../contract/endpoint-rule.ts'
import { type MembersOf, requireKnownMembers } from '../contract/known-members.ts'
import type { PortPolicy } from '../import/read-policies.ts'

/** Of `behind` in a map: `export const behind: BehindOptions = { keys: … }`. */
export interface BehindOptions extends DressOptions {
  /**
   * How messages prove themselves. Default: as the policies of the WSDL demand it; `none`: they
   * count for nothing.
   */
  readonly rule?: SecurityRule | 'none'
}

const behindMembers: MembersOf<BehindOptions> = {
  rule: true, credentials: true, keys: true, security: true, addressing: true, mtom: true,
} // biome-ignore format: a list of names reads best in few lines

/** @throws TypeError that says what is missing or too much, and where to give it */
export function createPortDress(
  port: string,
  policy: PortPolicy | undefined,
  to: string,
  behind: BehindOptions,
): MessageDress {
  requireKnownMembers('behind', behind, behindMembers)
  const { rule: given, ...options } = behind
  const declared = policy?.security.size ? policy.security : undefined
  const [first] = given || options.security ? [] : (policy?.unmet ?? [])
  if (first)
    throw new TypeError(
      `the port ${port}: the policy of ${first[0]} demands ${first[1]}: give behind.rule or behind.security in the map`,
    )
  const rule = given === 'none' ? undefined : (given ?? (options.security ? undefined : declared))
  if (!rule && options.keys)
    throw new TypeError(`nothing says what the keys are for: ${port} has no policy, so give behind.rule in the map`)
  const dressed = { addressing: policy?.addressing ?? false, mtom: policy?.mtom ?? false, ...options }
  try {
    return createMessageDress(rule, to, dressed)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    throw new TypeError(`the port ${port}: ${thrown.message}`, { cause: thrown })
  }
}
