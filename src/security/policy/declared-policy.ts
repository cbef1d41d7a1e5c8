/** Turns the contract's `security` into the policy that the checks enforce. */
import { hasAttachedParts } from '../../contract/attached-parts.ts'
import {
  type CallerProof,
  type ExchangeSecurity,
  isWeakSuite,
  proofOf,
  type SecurityRule,
} from '../../contract/endpoint-rule.ts'
import type { Port } from '../../contract/exchange.ts'
import { firstNameOf } from '../../contract/port-security.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { type CoveredPart, coverAttachments, type Demand, type ExchangePolicy, type SecurityPolicy } from './policy.ts'

/**
 * The policy of a rule that a contract declares, for an endpoint that demands it.
 * @param firstOf the local name of the element that identifies an operation
 * @param mayAttach whether parts may travel next to its messages
 */
export function compileDeclaredPolicy(rule: SecurityRule, firstOf = toXmlName, mayAttach = false): SecurityPolicy {
  const operations = Object.entries(rule.operations ?? {})
  const compile = (each: ExchangeSecurity) => compileExchangePolicy(each, mayAttach)
  const usual = compile(rule)
  // A sender that proves more than it has to is known by that proof, which is checked like any
  // other.
  const open: ExchangePolicy = { anyOf: usual.anyOf, isOptional: true }
  return {
    required: true,
    ...usual,
    ...(rule.suite && { suite: rule.suite }),
    ...(isWeakSuite(rule.suite) && { allow: ['sha1'] as const }),
    ...(operations.length > 0 && {
      operations: new Map(operations.map(([name, each]) => [firstOf(name), each === 'none' ? open : compile(each)])),
    }),
  }
}

/**
 * The policy of a port, whose exchanges are identified by the first element of the Body.
 * @param usual the policy of the settings
 */
export function compilePortPolicy(port: DeclaredPort, usual: SecurityPolicy): SecurityPolicy {
  return compileDeclaredPort(port) ?? (mayHaveParts(port) ? coverAttachments(usual) : usual)
}

/** Undefined: the contract leaves it to the settings of the service. */
export function compileDeclaredPort(port: DeclaredPort): SecurityPolicy | undefined {
  const { exchanges, security } = port
  const nameOf = (name: string) => firstNameOf(exchanges[name]!) ?? name
  return typeof security === 'object' ? compileDeclaredPolicy(security, nameOf, mayHaveParts(port)) : undefined
}

type DeclaredPort = Pick<Port, 'exchanges' | 'security'>
const mayHaveParts = ({ exchanges }: DeclaredPort): boolean => Object.values(exchanges).some(hasAttachedParts)

const compileExchangePolicy = (rule: ExchangeSecurity, mayAttach: boolean): ExchangePolicy => ({
  anyOf: rule.callers.map(each => compileDemand(proofOf(each), rule, mayAttach)),
  ...(rule.answers && { answers: rule.answers }),
  ...(rule.confirmed !== undefined && { confirmed: rule.confirmed }),
  ...(rule.reference && { reference: rule.reference }),
  ...(rule.unsent && { unsent: rule.unsent }),
  ...(rule.protectTokens && { protectsAnswers: !rule.unsent?.includes('service') }),
  ...(rule.timestamp && { isStamped: true }),
})

function compileDemand(
  proof: CallerProof & { readonly signed: boolean },
  {
    encrypted = false,
    symmetric,
    attachments = 'content',
    unsent = [],
    protectTokens = false,
    timestamp = false,
  }: ExchangeSecurity,
  mayAttach: boolean,
): Demand {
  const { by: caller, passwords, confirmations, signed } = proof
  const attached = attachments === 'complete' ? 'CompleteAttachments' : 'Attachments'
  const parts: readonly CoveredPart[] = [
    'Body',
    'Timestamp',
    ...(isTokenApart(proof) ? (['Token'] as const) : []),
    ...(protectTokens && !unsent.includes('caller') ? (['SigningToken'] as const) : []),
    ...(mayAttach ? ([attached] as const) : []),
  ]
  const sealed: readonly CoveredPart[] = mayAttach ? ['Body', 'Attachments'] : ['Body']
  return {
    caller,
    ...(passwords && { passwords }),
    ...(confirmations && { confirmations }),
    ...((signed || timestamp) && { timestamp: true }),
    ...(signed && { signed: parts }),
    ...(encrypted && { encrypted: sealed }),
    ...(unsent.includes('caller') && { isNamed: true }),
    ...(symmetric && { symmetric }),
  }
}

/** Whether the token that names the caller is not the one whose key signs. */
const isTokenApart = ({ by, confirmations = [] }: CallerProof): boolean =>
  by === 'username' || by === 'kerberos' || (by === 'saml' && confirmations.some(kind => kind !== 'holder-of-key'))
