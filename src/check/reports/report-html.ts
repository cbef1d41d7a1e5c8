/** One self-contained page: no script, no other file; each exchange unfolds under its rule. */

import { escapeMarkup } from '../../base/markup.ts'
import { type CheckReport, type RuleVerdict, sectionOf } from '../rule.ts'
import { type Finding, ruleStatuses } from '../verdict.ts'
import { writeExchange } from './exchange-text.ts'
import { countStatuses } from './report-json.ts'

const style = `body{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
summary{cursor:pointer;padding:.2rem 0}pre{background:#f4f4f4;padding:.6rem;overflow:auto;font-size:.85rem;white-space:pre-wrap;overflow-wrap:anywhere}
details details{margin-left:1.5rem}b{display:inline-block;min-width:9.5rem}.pass b{color:#07622c}.fail b{color:#a40000}.not b{color:#555}
@media (prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#242424}.pass b{color:#6fd08c}.fail b{color:#ff8080}.not b{color:#aaa}}`

/** A report as one page that needs no other file, each exchange included. */
export function writeHtmlReport(report: CheckReport): string {
  const { verdicts, address, startedAt, requests, tookMs } = report
  const counts = countStatuses(verdicts)
  const sections = Map.groupBy(verdicts, ({ rule }) => sectionOf(rule))
  const body = [...sections].map(([name, each]) => `<h2>${escapeMarkup(name)}</h2>\n${each.map(writeVerdict).join('')}`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>diglot check: ${escapeMarkup(address)}</title>
<style>${style}</style></head>
<body><h1>${escapeMarkup(address)}</h1>
<p>${startedAt}: ${requests} requests in ${(tookMs / 1000).toFixed(1)} s. ${ruleStatuses.map(status => `${counts[status]} ${status}`).join(', ')}.</p>
${writeNamedList('Not removed', report.leftBehind)}${writeNamedList('Of this run', report.remarks)}${body.join('')}</body></html>
`
}

const writeNamedList = (name: string, texts: readonly string[]): string =>
  texts.length === 0 ? '' : `<p>${name}:</p><ul>${texts.map(each => `<li>${escapeMarkup(each)}</li>`).join('')}</ul>\n`

function writeVerdict({ rule, status, reason, findings }: RuleVerdict): string {
  const found = findings.length > 0 ? findings.map(writeFinding).join('') : `<p>${escapeMarkup(reason)}</p>\n`
  return `<details class="${status.split(' ')[0]}"${status === 'fail' ? ' open' : ''}><summary><b>${status}</b> ${rule.id} ${escapeMarkup(rule.says)}</summary>
<p>Probe: ${escapeMarkup(rule.how)}.</p>
${found}</details>
`
}

const writeFinding = ({
  holds,
  says,
  evidence,
}: Finding): string => `<details><summary>${holds ? '✓' : '✗'} ${escapeMarkup(says)}</summary>
${evidence
  .map(writeExchange)
  .map(({ request, response }) => `<pre>${escapeMarkup(request)}</pre>\n<pre>${escapeMarkup(response)}</pre>\n`)
  .join('')}</details>
`
