/** Differences as text for a person, as JSON, and as SARIF 2.1.0 (OASIS) for code scanning. */
import { isBreaking, type ServiceDifference } from './compare-services.ts'

export interface DiffReport {
  readonly before: string
  readonly after: string
  readonly differences: readonly ServiceDifference[]
  /** What was not compared, and why: one sentence each. */
  readonly remarks: readonly string[]
}

const faceNames = { rest: 'REST', soap: 'SOAP', contract: 'contract' } as const
/** How many operations a line names; the others are counted. */
const namedOperationsMax = 3

export function writeDiffText({ before, after, differences, remarks }: DiffReport): string {
  const broken = differences.filter(isBreaking).length
  const lines = differences.flatMap(each => [
    `${isBreaking(each) ? 'breaking  ' : 'compatible'}  ${faceNames[each.face]}  ${describePlace(each)}: ${each.text} (${describeParties(each)}; ${each.rule})`,
    ...(each.cure === '' ? [] : [`            ${each.cure}`]),
  ])
  const total = `${count(broken, 'breaking change')}, ${count(differences.length - broken, 'compatible change')} from ${before} to ${after}`
  return [...lines, ...remarks, total, ''].join('\n')
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
const describeParties = ({ readers, writers }: ServiceDifference): string =>
  [readers && `readers ${readers}`, writers && `writers ${writers}`].filter(Boolean).join(', ')

/** A type is followed by the operations that share it; a place in one operation names that. */
function describePlace({ place, operations }: ServiceDifference): string {
  const [first = ''] = operations
  if (operations.length === 1 && place.startsWith(first)) return place
  const named = operations.slice(0, namedOperationsMax).join(', ')
  const more = operations.length - namedOperationsMax
  return `${place} in ${named}${more > 0 ? ` and ${more} more` : ''}`
}

export function writeDiffJson({ before, after, differences, remarks }: DiffReport): string {
  const breaking = differences.filter(isBreaking).length
  const counts = { breaking, compatible: differences.length - breaking }
  return `${JSON.stringify({ before, after, counts, differences, remarks }, undefined, 2)}\n`
}

export function writeDiffSarif({ after, differences }: DiffReport): string {
  const ids = [...new Set(differences.map(({ rule }) => rule))].sort()
  const results = differences.map(each => ({
    ruleId: each.rule,
    ruleIndex: ids.indexOf(each.rule),
    level: isBreaking(each) ? 'error' : 'note',
    message: { text: `${describePlace(each)}: ${each.text}${each.cure === '' ? '' : `; ${each.cure}`}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: encodeURI(after) } },
        logicalLocations: [{ fullyQualifiedName: each.place }],
      },
    ],
  }))
  const run = { tool: { driver: { name: 'diglot diff', rules: ids.map(id => ({ id })) } }, results }
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, undefined, 2)}\n`
}
