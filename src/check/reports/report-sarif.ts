/** SARIF 2.1.0 (OASIS), for code scanning: a result for each rule that fails. */
import { type CheckReport, sectionOf } from '../rule.ts'
import { writeExchange } from './exchange-text.ts'

/** A report in SARIF 2.1.0: a result for each failure. */
export function writeSarifReport({ verdicts, address, startedAt, tookMs }: CheckReport): string {
  const rules = verdicts.map(({ rule }) => ({
    id: rule.id,
    shortDescription: { text: rule.says },
    help: { text: `${sectionOf(rule)}. Probe: ${rule.how}` },
  }))
  const results = verdicts.flatMap(({ rule, status, reason, findings }, ruleIndex) =>
    status === 'fail'
      ? [
          {
            ruleId: rule.id,
            ruleIndex,
            level: 'error',
            message: { text: reason },
            locations: [{ physicalLocation: { artifactLocation: { uri: locationOf(address, findings) } } }],
            properties: {
              evidence: findings.filter(({ holds }) => !holds).flatMap(each => each.evidence.map(writeExchange)),
            },
          },
        ]
      : [],
  )
  const ended = new Date(Date.parse(startedAt) + tookMs).toISOString()
  const run = {
    tool: { driver: { name: 'diglot check', rules } },
    invocations: [{ executionSuccessful: true, startTimeUtc: startedAt, endTimeUtc: ended }],
    results,
  }
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, undefined, 2)}\n`
}

type Findings = CheckReport['verdicts'][number]['findings']
const locationOf = (address: string, findings: Findings): string => {
  const [exchange] = findings.find(({ holds }) => !holds)?.evidence ?? []
  return URL.parse(exchange?.request.target ?? '', address)?.href ?? address
}
