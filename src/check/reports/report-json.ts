/**
 * The report for programs. The shape is stable: members are added, and none changes its meaning.
 */

import { type CheckReport, type RuleVerdict, sectionOf } from '../rule.ts'
import { ruleStatuses } from '../verdict.ts'
import { writeExchange } from './exchange-text.ts'

export const countStatuses = (verdicts: readonly Pick<RuleVerdict, 'status'>[]): Readonly<Record<string, number>> =>
  Object.fromEntries(ruleStatuses.map(status => [status, verdicts.filter(each => each.status === status).length]))

/** A report for programs, and for `--baseline`. */
export function writeJsonReport({ verdicts, ...run }: CheckReport): string {
  const report = {
    ...run,
    tookMs: Math.round(run.tookMs),
    counts: countStatuses(verdicts),
    verdicts: verdicts.map(({ rule, status, reason, findings }) => ({
      id: rule.id,
      rule: rule.says,
      section: sectionOf(rule),
      probe: rule.how,
      status,
      reason,
      findings: findings.map(({ holds, says, evidence }) => ({ holds, says, evidence: evidence.map(writeExchange) })),
    })),
  }
  return `${JSON.stringify(report, undefined, 2)}\n`
}
