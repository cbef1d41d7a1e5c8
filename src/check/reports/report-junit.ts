/** JUnit XML: a suite for each section, a case for each rule. */
import { escapeMarkup } from '../../base/markup.ts'
import { type CheckReport, type RuleVerdict, sectionOf } from '../rule.ts'
import { writeExchange } from './exchange-text.ts'

/** A report in the XML of JUnit: a test case for each rule. */
export function writeJunitReport({ verdicts, startedAt, tookMs, address }: CheckReport): string {
  const suites = Map.groupBy(verdicts, ({ rule }) => sectionOf(rule))
  const elements = [...suites].map(
    ([name, cases]) =>
      `  <testsuite name="${toXmlText(name)}" hostname="${toXmlText(address)}" timestamp="${startedAt}" ${writeCounts(cases)}>\n${cases.map(writeCase).join('')}  </testsuite>\n`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="diglot check" time="${(tookMs / 1000).toFixed(3)}" ${writeCounts(verdicts)}>\n${elements.join('')}</testsuites>\n`
}

const writeCounts = (verdicts: readonly RuleVerdict[]): string => {
  const failures = verdicts.filter(({ status }) => status === 'fail').length
  const skipped = verdicts.filter(({ status }) => status.startsWith('not')).length
  return `tests="${verdicts.length}" failures="${failures}" errors="0" skipped="${skipped}"`
}

function writeCase({ rule, status, reason, findings }: RuleVerdict): string {
  const head = `    <testcase classname="${rule.id.replace(/\..*/, '')}" name="${toXmlText(`${rule.id} ${rule.says}`)}"`
  if (status === 'pass') return `${head}/>\n`
  if (status !== 'fail') return `${head}><skipped message="${toXmlText(`${status}: ${reason}`)}"/></testcase>\n`
  const evidence = findings.filter(({ holds }) => !holds).flatMap(each => each.evidence.map(writeExchange))
  const text = evidence.map(({ request, response }) => `${request}\n${response}`).join('\n\n')
  return `${head}><failure message="${toXmlText(reason)}">${toXmlText(text)}</failure></testcase>\n`
}

/** XML 1.0 §2.2: other control characters cannot be written in any form. */
const toXmlText = (text: string): string =>
  escapeMarkup(text.replaceAll(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, '\ufffd'))
