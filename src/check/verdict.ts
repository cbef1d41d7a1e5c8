/** The possible outcomes of a trial. */
import type { ProbeExchange } from './probe-message.ts'

export const ruleStatuses = ['pass', 'fail', 'not applicable', 'not observable'] as const
/** The possible verdicts on a rule: pass, fail, not applicable, not observable. */
export type RuleStatus = (typeof ruleStatuses)[number]

/** One comparison that a probe made. */
export interface Finding {
  readonly holds: boolean
  readonly says: string
  /** The exchanges that show it. */
  readonly evidence: readonly ProbeExchange[]
}

/** The rule does not concern this service. */
export class NotApplicable extends Error {}
/**
 * The rule may concern the service, but this run cannot see it; the message says what is needed.
 */
export class NotObservable extends Error {}
