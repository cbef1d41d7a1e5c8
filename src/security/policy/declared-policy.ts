/** What the contract's `security` means for the checks: one declaration, enforced here. */
import { type CallerProof, type ExchangeSecurity, proofOf, type SecurityRule } from '../../contract/endpoint-rule.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import type { CoveredPart, Demand, ExchangePolicy, SecurityPolicy } from './policy.ts'

/** The policy of a rule that a contract declares, for an endpoint that demands it. */
export function compileDeclaredPolicy(rule: SecurityRule): SecurityPolicy {
  const own = Object.entries(rule.operations ?? {})
  return {
    required: true,
    ...compileExchangePolicy(rule),
    ...(own.length > 0 && {
      operations: new Map(own.map(([name, each]) => [toXmlName(name), compileExchangePolicy(each)])),
    }),
  }
}

const compileExchangePolicy = ({ callers, encrypted = false, answers }: ExchangeSecurity): ExchangePolicy => ({
  anyOf: callers.map(each => compileDemand(proofOf(each), encrypted)),
  ...(answers && { answers }),
})

function compileDemand(proof: CallerProof & { readonly signed: boolean }, encrypted: boolean): Demand {
  const { by: caller, passwords, confirmations, signed } = proof
  const parts: readonly CoveredPart[] = ['Body', 'Timestamp', ...(isTokenApart(proof) ? (['Token'] as const) : [])]
  return {
    caller,
    ...(passwords && { passwords }),
    ...(confirmations && { confirmations }),
    ...(signed && { timestamp: true, signed: parts }),
    ...(encrypted && { encrypted: ['Body'] }),
  }
}

/** Whether the token that names the caller is not the one whose key signs. */
const isTokenApart = ({ by, confirmations = [] }: CallerProof): boolean =>
  by === 'username' || by === 'kerberos' || (by === 'saml' && confirmations.some(kind => kind !== 'holder-of-key'))
