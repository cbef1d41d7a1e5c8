/** What a trial can come to. */
import type { ProbeExchange } from './probe-message.ts'

export const ruleStatuses = ['pass', 'fail', 'not applicable', 'not observable'] as const
/** The possible verdicts on a rule: pass, fail, not applicable, not observable. */
export type RuleStatus = (typeof ruleStatuses)[number]

/** One comparison that a probe made. */
export interface Finding {
  readonly holds: boolean
  readonly says: string
  /** What shows it. */
  readonly evidence: readonly ProbeExchange[]
}

/** The rule says nothing of this service. */
export class NotApplicable extends Error {}
/** The rule may say something, but this run cannot see it; the message says what it would need. */
export class NotObservable extends Error {}
