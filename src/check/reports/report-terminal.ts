/**
 * The report for a reader at a terminal: first the failures, each with its exchange; then what
 * could not be observed.
 */
import { showControls } from '../../base/markup.ts'
import type { CheckReport, RuleVerdict } from '../rule.ts'
import { writeExchange } from './exchange-text.ts'
import { countStatuses } from './report-json.ts'

const linesMax = 14

/**
 * A report for a terminal: failures with their exchanges, what could not be observed, counts. Rules
 * in `known` failed before.
 */
export function writeTerminalReport(report: CheckReport, known: ReadonlySet<string> = new Set()): string {
  const { verdicts } = report
  const failed = verdicts.filter(({ status }) => status === 'fail')
  const unseen = verdicts.filter(({ status }) => status === 'not observable')
  const counts = Object.entries(countStatuses(verdicts)).map(([status, count]) => `${count} ${status}`)
  const parts = [
    ...failed.map(verdict => writeFailure(verdict, known.has(verdict.rule.id))),
    ...(unseen.length > 0
      ? [
          `not observable, and what it needs:\n${unseen.map(({ rule, reason }) => `  ${rule.id.padEnd(6)} ${reason}\n`).join('')}`,
        ]
      : []),
    ...(report.leftBehind.length > 0 ? [`not removed:\n${report.leftBehind.map(each => `  ${each}\n`).join('')}`] : []),
    ...report.remarks.map(each => `${each}\n`),
    `${report.address}: ${counts.join(', ')}; ${report.requests} requests in ${(report.tookMs / 1000).toFixed(1)} s\n`,
  ]
  return showControls(parts.join('\n'))
}

function writeFailure({ rule, findings }: RuleVerdict, isKnown: boolean): string {
  const [first, ...others] = findings.filter(({ holds }) => !holds)
  const exchanges = (first?.evidence ?? []).slice(-2).map(exchange => {
    const { request, response } = writeExchange(exchange)
    return `${indentLines(request, '    > ')}${indentLines(response, '    < ')}`
  })
  const more = others.map(({ says }) => `  and: ${says}\n`).join('')
  return `${isKnown ? 'KNOWN' : 'FAIL '} ${rule.id}  ${rule.says}\n  ${first?.says ?? ''}\n${exchanges.join('')}${more}`
}

function indentLines(text: string, mark: string): string {
  const lines = text.trimEnd().split(/\r?\n/)
  const cut = lines.length > linesMax ? [...lines.slice(0, linesMax), '…'] : lines
  return cut.map(line => `${mark}${line.slice(0, 160)}\n`).join('')
}
