/** What is known to fail: a run is as good as its baseline if no other rule fails. */
import { asArray, asText, memberAt, parseLooseJson } from './probe-content.ts'
import type { RuleVerdict } from './rule.ts'

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
