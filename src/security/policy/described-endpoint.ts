/** What the description of an endpoint or a port says of its policy, besides its contract. */
import type { SecurityRule, ServedEndpoint } from '../../contract/endpoint-rule.ts'
import type { ExchangeFaults, Port } from '../../contract/exchange.ts'
import { isOfRequest, isOfResponse } from '../../contract/header.ts'
import type { Service } from '../../contract/service.ts'
import { compileMessages, toXmlName } from '../../contract/xml-message.ts'
import { compileDeclaredPolicy, compileDeclaredPort } from './declared-policy.ts'
import type { SecurityPolicy } from './policy.ts'
import { describeSecurity, type PolicyAttachments } from './ws-security-policy.ts'

/** The policies of an endpoint or a port, for a description at this address. */
export type PolicyAt = (address: string) => PolicyAttachments | undefined

/** @param policy of an endpoint that demands proof of messages */
export function describeEndpointSecurity(
  contract: Service,
  { version }: ServedEndpoint,
  policy: SecurityPolicy | undefined,
): PolicyAt {
  if (!policy) return () => undefined
  const headers = compileMessages(contract, version).flatMap(message => message.headers)
  const blocks = [...new Map(headers.map(each => [each.name, each])).values()]
  const nameOf = ({ name, uri }: (typeof blocks)[number]) => ({ uri, local: toXmlName(name) })
  const named = {
    request: blocks.filter(isOfRequest).map(nameOf),
    response: blocks.filter(isOfResponse).map(nameOf),
  }
  return address => describeSecurity(policy, { ...named, isConfidential: address.startsWith('https:') })
}

/** The same for a port, whose exchanges declare their own blocks. */
export function describePortSecurity({ exchanges }: Port, policy: SecurityPolicy | undefined): PolicyAt {
  if (!policy) return () => undefined
  const all = Object.values(exchanges)
  const namesOf = (blocks: readonly ExchangeFaults[]) => {
    const names = blocks.flatMap(each => Object.values(each).map(({ name }) => name))
    return [...new Map(names.map(name => [`{${name.uri}}${name.local}`, name])).values()]
  }
  const named = {
    request: namesOf(all.map(each => each.requestHeaders)),
    response: namesOf(all.map(each => each.replyHeaders)),
  }
  return address => describeSecurity(policy, { ...named, isConfidential: address.startsWith('https:') })
}

/** Of an endpoint that is described without its service: what its contract declares. */
export function describeDeclaredEndpoint(contract: Service, endpoint: ServedEndpoint, address: string) {
  const { security, version } = endpoint
  const known = () => compileMessages(contract, version).map(({ operation }) => operation.name)
  const policy = typeof security === 'object' ? compileDeclaredPolicy(narrowRule(security, known())) : undefined
  return { addressing: true, mtom: true, security: describeEndpointSecurity(contract, endpoint, policy)(address) }
}

/** The same for a port. */
export function describeDeclaredPort(port: Port, address: string): PolicyAttachments | undefined {
  const { security, exchanges } = port
  const narrowed = typeof security === 'object' ? narrowRule(security, Object.keys(exchanges)) : security
  return describePortSecurity(port, compileDeclaredPort({ exchanges, security: narrowed }))(address)
}

/** Its reader may know fewer operations than the contract has. */
const narrowRule = ({ operations, ...rule }: SecurityRule, known: readonly string[]): SecurityRule => ({
  ...rule,
  ...(operations && {
    operations: Object.fromEntries(Object.entries(operations).filter(([name]) => known.includes(name))),
  }),
})
