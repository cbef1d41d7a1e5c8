/**
 * What messages to another party's port wear: what the policies of its WSDL demand, and what the
 * options of a client or the settings of a bridge add.
 */
import {
  type ExchangeSecurity,
  explainWeakness,
  isWeakSuite,
  type PortPolicy,
  type SecurityRule,
} from '../contract/endpoint-rule.ts'
import type { Port } from '../contract/exchange.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import { createMessageDress, type DressOptions, type MessageDress } from './dressed-message.ts'

/** In the map of a bridge: `export const behind: PortDressOptions = { keys: … }`. */
export interface PortDressOptions extends DressOptions {
  /**
   * How messages prove their sender. Default: as the policies of the WSDL demand; `none`: the
   * policies are ignored.
   */
  readonly rule?: SecurityRule | 'none'
}

export const portDressMembers: MembersOf<PortDressOptions> = {
  rule: true, credentials: true, keys: true, security: true, addressing: true, mtom: true,
} // biome-ignore format: a list of names reads best in few lines

/** The place of an option, for errors: the text before its name and after it. */
export type DressPlace = readonly [before: string, after: string]

const isWeakRule = ({ suite }: ExchangeSecurity): boolean => isWeakSuite(suite)

/** @throws TypeError that says what is missing or superfluous, and where to give it */
export function createPortDress(
  of: Pick<Port, 'port' | 'security'>,
  policy: PortPolicy | undefined,
  to: string,
  given: PortDressOptions,
  [before, after]: DressPlace = ['behind.', ' in the map'],
): MessageDress {
  const { port, security } = of
  const ownRule = typeof security === 'object' ? security : undefined
  requireKnownMembers('behind', given, portDressMembers)
  const { rule: own, ...options } = given
  const declared = policy?.security.size ? policy.security : ownRule
  const [first] = own || options.security ? [] : (policy?.unmet ?? [])
  if (first)
    throw new TypeError(
      `the port ${port}: the policy of ${first[0]} demands ${first[1]}: give ${before}rule or ${before}security${after}`,
    )
  const weak = own || options.security ? undefined : [...(policy?.security.values() ?? [])].find(isWeakRule)
  if (weak)
    throw new TypeError(
      `the port ${port}: the policy demands ${explainWeakness(weak.suite)}; if the partner cannot, give ${before}rule with suite: '${weak.suite}'${after}`,
    )
  const rule = own === 'none' ? undefined : (own ?? (options.security ? undefined : declared))
  if (!rule && options.keys)
    throw new TypeError(`the keys are not used: ${port} declares no security, so give ${before}rule${after}`)
  const dressed = { addressing: policy?.addressing ?? false, mtom: policy?.mtom ?? false, ...options }
  try {
    return createMessageDress(rule, to, dressed)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    throw new TypeError(`the port ${port}: ${thrown.message}`, { cause: thrown })
  }
}
