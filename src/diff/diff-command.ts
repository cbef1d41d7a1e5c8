/**
 * `diglot diff`: from words of a command line to a report. The exit status is 0 if nothing breaks,
 * 1 if something does, 2 if the two cannot be compared.
 */
import { writeFile } from 'node:fs/promises'
import { compareServices, isBreaking } from './compare-services.ts'
import { type ContractLoader, loadDescriptions } from './diff-sources.ts'
import { type DiffReport, writeDiffJson, writeDiffSarif, writeDiffText } from './report-differences.ts'
import { DiffImpossible, type ServiceDescription } from './service-description.ts'

export { DiffImpossible }

export interface DiffFlags {
  readonly against?: string
  readonly json?: string
  readonly sarif?: string
  /** Leaves compatible changes out of the text. */
  readonly breaking?: boolean
}

/** @returns what to print, and the exit status */
export async function performDiff(
  [first, second]: readonly [string, string | undefined],
  flags: DiffFlags,
  loadContract: ContractLoader,
): Promise<{ readonly text: string; readonly status: 0 | 1 }> {
  const [before, after] = orderSources(first, second, flags.against)
  const report = await compareSources(before, after, loadContract)
  if (flags.json !== undefined) await writeReportFile(flags.json, writeDiffJson(report))
  if (flags.sarif !== undefined) await writeReportFile(flags.sarif, writeDiffSarif(report))
  const breaking = report.differences.filter(isBreaking)
  const text = writeDiffText(flags.breaking ? { ...report, differences: breaking } : report)
  return { text, status: breaking.length > 0 ? 1 : 0 }
}

const writeReportFile = (file: string, text: string): Promise<void> =>
  writeFile(file, text).catch(() => {
    throw new DiffImpossible(`${file} cannot be written: give a file in a folder that exists and may be written`)
  })

/** `old new`, or `new --against old`. */
function orderSources(
  first: string,
  second: string | undefined,
  against: string | undefined,
): readonly [string, string] {
  if (second !== undefined && against !== undefined)
    throw new DiffImpossible('two releases are compared: give OLD NEW, or NEW --against OLD')
  if (second !== undefined) return [first, second]
  if (against !== undefined) return [against, first]
  throw new DiffImpossible('the other release is missing: give OLD NEW, or NEW --against git:main')
}

async function compareSources(before: string, after: string, loadContract: ContractLoader): Promise<DiffReport> {
  const old = await loadDescriptions(before, loadContract, after)
  const now = await loadDescriptions(after, loadContract, before)
  return compareReleases([before, old], [after, now])
}

type NamedRelease = readonly [source: string, faces: readonly ServiceDescription[]]
/** Compares face by face; a face described by only one release becomes a remark. */
export function compareReleases([before, old]: NamedRelease, [after, now]: NamedRelease): DiffReport {
  const pairs = old.flatMap(each => now.filter(other => other.face === each.face).map(other => [each, other] as const))
  if (pairs.length === 0)
    throw new DiffImpossible(
      `${before} and ${after} describe no face in common: ${listFaces(old)}, and ${listFaces(now)}`,
    )
  return {
    before,
    after,
    differences: pairs.flatMap(([one, other]) => compareServices(one, other)),
    remarks: [
      ...[...old, ...now].flatMap(each => each.remarks ?? []),
      ...findLoneFaces(old, now),
      ...findLoneFaces(now, old),
    ],
  }
}

const listFaces = (of: readonly ServiceDescription[]): string => of.map(({ face }) => face).join(' and ')
const findLoneFaces = (some: readonly ServiceDescription[], others: readonly ServiceDescription[]): readonly string[] =>
  some
    .filter(({ face }) => !others.some(other => other.face === face))
    .map(({ face, source }) => `not compared: ${face}, which only ${source} describes`)
