/**
 * The report for programs. The shape is stable: members are added, and none changes its meaning.
 */

import { asArray, asText, memberAt, parseLooseJson } from '../probe-content.ts'
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

/** @param text a report of `--json`; undefined if it is not one */
export function readBaseline(text: string): ReadonlySet<string> | undefined {
  const verdicts = memberAt(parseLooseJson(text), 'verdicts')
  if (!Array.isArray(verdicts)) return undefined
  const failed = asArray(verdicts).filter(each => memberAt(each, 'status') === 'fail')
  return new Set(failed.flatMap(each => asText(memberAt(each, 'id')) ?? []))
}

/** The failures of rules that did not fail in the run of the baseline. */
export const findNewFailures = (verdicts: readonly RuleVerdict[], known: ReadonlySet<string>): readonly RuleVerdict[] =>
  verdicts.filter(({ rule, status }) => status === 'fail' && !known.has(rule.id))
