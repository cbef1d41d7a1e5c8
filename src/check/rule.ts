/** A rule as data, and its outcome: the vocabulary of the checker. */
import type { Trial } from './trial.ts'
import type { Finding, RuleStatus } from './verdict.ts'

/** A rule of the catalogue, with the probe that observes it. */
export interface CheckRule {
  /** As in the catalogue of rules: `A4.20`. */
  readonly id: string
  readonly says: string
  /** What the checker sends, and what it compares. */
  readonly how: string
  /** Observed on all exchanges of the other rules, and therefore checked after them. */
  readonly isPassive?: true
  readonly probe: (trial: Trial) => Promise<void> | void
}

/** The conventions have one section with each number for both styles. */
export const sectionOf = ({ id }: Pick<CheckRule, 'id'>): string => {
  const [, style = '', section = ''] = /^([ABCD])(\d+)\./.exec(id) ?? []
  return `section ${section}, ${styleNames[style] ?? 'both styles'}`
}
const styleNames: Readonly<Record<string, string>> = { A: 'style A (HTTP)', B: 'style B (SOAP)', D: 'attacks' }

/** The verdict of one run on one rule. */
export interface RuleVerdict {
  readonly rule: CheckRule
  readonly status: RuleStatus
  /** Why it fails, does not apply or cannot be observed; if it passes, what was compared. */
  readonly reason: string
  readonly findings: readonly Finding[]
}

/** The outcome of one run, from which each report is written. */
export interface CheckReport {
  readonly address: string
  readonly startedAt: string
  readonly tookMs: number
  readonly requests: number
  readonly verdicts: readonly RuleVerdict[]
  /** What the run created and could not remove. */
  readonly leftBehind: readonly string[]
  /** Remarks for the reader about the run itself. */
  readonly remarks: readonly string[]
}
