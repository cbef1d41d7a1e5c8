/** Converts the demands of a WSDL's policies on the messages of a port to a contract's rule. */
import type { ExchangeSecurity, PortPolicy, SecurityRule } from '../contract/endpoint-rule.ts'
import type { Port } from '../contract/exchange.ts'
import { findPortSecurityMistakes } from '../contract/port-security.ts'
import type { ImportedContract } from './imported-contract.ts'
import type { Loss } from './loss.ts'

/** The rules of ports by name, and what they omit from the policies. */
export interface PortRules {
  readonly rules: ReadonlyMap<string, SecurityRule>
  readonly losses: readonly Loss[]
}

export function readPortRules({ ports, policies }: Pick<ImportedContract, 'ports' | 'policies'>): PortRules {
  const read = ports.flatMap(port => {
    const policy = policies.get(port.port)
    return policy ? [{ port: port.port, ...readPortRule(port, policy) }] : []
  })
  return {
    rules: new Map(read.flatMap(({ port, rule }) => (rule ? [[port, rule]] : []))),
    losses: read.flatMap(({ losses }) => losses),
  }
}

interface PortRule {
  readonly rule: SecurityRule | undefined
  readonly losses: readonly Loss[]
}

/**
 * The rule of the port has what most exchanges demand; other exchanges have their own rules. An
 * exchange whose policy no contract can express gets the rule of the port, so that nothing weaker
 * is served.
 */
function readPortRule(port: Port, { security, unmet }: PortPolicy): PortRule {
  const names = Object.keys(port.exchanges)
  const groups = Map.groupBy(
    names.filter(name => security.has(name)),
    name => JSON.stringify(security.get(name)),
  )
  const [most = []] = [...groups.values()].sort((one, other) => other.length - one.length)
  const usual = most[0] === undefined ? undefined : security.get(most[0])
  if (!usual)
    return { rule: undefined, losses: [...unmet].map(each => lossOf(port, each, 'and its messages prove nothing')) }
  const own = names.flatMap(name => {
    const rule: ExchangeSecurity | 'none' = security.get(name) ?? 'none'
    return most.includes(name) || unmet.has(name) ? [] : [[name, rule] as const]
  })
  const rule = { ...usual, ...(own.length > 0 && { operations: Object.fromEntries(own) }) }
  const lost = [...unmet].map(each => lossOf(port, each, 'and its messages prove what those of the port do'))
  if (findPortSecurityMistakes({ ...port, security: rule }).length === 0) return { rule, losses: lost }
  const mistakes = findPortSecurityMistakes({ ...port, security: usual })
  const detail =
    mistakes.length > 0
      ? `a contract cannot express its policies, and a served port demands no proof: ${mistakes.join('; ')}`
      : `its Bodies do not distinguish its exchanges: ${own.map(([name]) => name).join(', ')} need the proofs of ${most.join(', ')}`
  const loss: Loss = { place: `port ${port.port}`, detail, cause: 'contract' }
  return { rule: mistakes.length > 0 ? undefined : usual, losses: [...lost, loss] }
}

const lossOf = ({ port }: Port, [name, demand]: readonly [string, string], instead: string): Loss => ({
  place: `port ${port}`,
  detail: `the policy of ${name} demands ${demand}, which a contract cannot express: it is left out, ${instead}`,
  cause: 'contract',
})
