/** What has changed: from each version to the next one, and from an earlier release to this one. */
import { escapeMarkup } from '../base/markup.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import type { Implementation } from '../contract/implement.ts'
import { newestVersion, type Service } from '../contract/service.ts'
import { writePortWsdl } from '../describe/port-wsdl.ts'
import { writeWsdl11 } from '../describe/wsdl11.ts'
import { isBreaking, type ServiceDifference } from '../diff/compare-services.ts'
import { compareReleases } from '../diff/diff-command.ts'
import { type ContractLoader, type LoadedContract, loadDescriptions, readLoadedContract } from '../diff/diff-sources.ts'
import type { DiffReport } from '../diff/report-differences.ts'
import { buildElement, type PageMarkup, writeSection } from '../html/element.ts'
import { writeRowTable } from '../html/value-views.ts'
import { describeService } from '../pages/openapi.ts'
import { writeText } from './operation-page.ts'
import { type SitePage, sitePlaces } from './site-frame.ts'

/** The descriptions that both faces of a service publish. */
export async function describeFaces(app: Implementation): Promise<LoadedContract> {
  const { contract } = app
  const served = Object.entries(contract.versions).flatMap(([version, rule]) => (rule.retired ? [] : [version]))
  const wsdls = served.map(version => writeWsdl11(contract, version, { address: `http://127.0.0.1/soap/${version}` }))
  const ofPorts = contract.ports.map(port => writePortWsdl(port, `http://127.0.0.1/soap/${port.port}`))
  return { contract, openApi: await describeService(app), wsdls: [...wsdls, ...ofPorts] }
}

/** From each version to the next, the newest first. */
export async function compareVersions(app: Implementation): Promise<readonly DiffReport[]> {
  const { contract } = app
  const versions = Object.keys(contract.versions)
  const newest = newestVersion(contract)
  const faces = await Promise.all(
    versions.map(async version => {
      const alone = contractOfVersion(contract, version, newest)
      return [version, await readLoadedContract(await describeFaces({ ...app, contract: alone }), version)] as const
    }),
  )
  return faces
    .slice(1)
    .map((after, at) => compareReleases(faces[at] ?? after, after))
    .reverse()
}

/** A version on its own, under this name, so that two such contracts differ only in content. */
function contractOfVersion(contract: Service, version: string, name: string): Service {
  const { versions, endpoints, headers } = contract
  const { without, renames, retypes, reshapes } = versions[version] ?? {}
  const own = endpointsOf(contract).filter(each => each.version === version)
  const declared = Object.entries(headers)
    .filter(([, each]) => each.versions?.includes(version) ?? true)
    .map(([header, each]) => [header, { ...each, versions: undefined }] as const)
  return {
    ...contract,
    versions: {
      [name]: {
        ...(without && { without }),
        ...(renames && { renames }),
        ...(retypes && { retypes }),
        ...(reshapes && { reshapes }),
      },
    },
    headers: Object.fromEntries(declared),
    endpoints:
      endpoints &&
      Object.fromEntries(
        own.map(({ path, style, soap, security }) => [
          path,
          { version: name, style, soap, ...(security && { security }) },
        ]),
      ),
  }
}

/** @param against an earlier release, as named for `diglot diff` */
export async function compareWithRelease(
  app: Implementation,
  against: string,
  file: string,
  load: ContractLoader,
): Promise<DiffReport> {
  const old = await loadDescriptions(against, load, file)
  const now = await readLoadedContract(await describeFaces(app), 'this release')
  return compareReleases([against, old], ['this release', now])
}

/** Undefined if there is one version, and nothing to compare it with. */
export function buildChangePage(
  versions: readonly DiffReport[],
  release: DiffReport | undefined,
): SitePage | undefined {
  if (versions.length === 0 && !release) return undefined
  const main = [
    writeText(
      'A breaking change is one that a caller of the older one notices; callers that write and callers that read are listed separately.',
    ),
    ...(release ? [writeReport(`From ${release.before} to this release`, release)] : []),
    ...versions.map(each => writeReport(`From ${each.before} to ${each.after}`, each)),
  ].join('\n')
  return { path: sitePlaces.changes, title: 'Changes', main, trail: [{ href: sitePlaces.start, text: 'Start' }] }
}

const faceNames = { rest: 'REST', soap: 'SOAP', contract: 'both' } as const

function writeReport(heading: string, { differences, remarks }: DiffReport): PageMarkup {
  const rows = differences.map(each => [
    buildElement('span', { class: isBreaking(each) ? 'problem' : 'yes' }, isBreaking(each) ? 'breaking' : 'compatible'),
    faceNames[each.face],
    escapeMarkup(each.place),
    escapeMarkup(each.text),
    escapeMarkup(affectedCallers(each)),
  ])
  return writeSection(
    heading,
    {},
    rows.length === 0
      ? writeText('Nothing has changed.')
      : writeRowTable(
          [{ name: 'verdict' }, { name: 'face' }, { name: 'place' }, { name: 'change' }, { name: 'for' }],
          rows,
        ),
    ...remarks.map(writeText),
  )
}
const affectedCallers = ({ readers, writers }: ServiceDifference): string =>
  [...(readers ? ['callers that read'] : []), ...(writers ? ['callers that write'] : [])].join(', ')
