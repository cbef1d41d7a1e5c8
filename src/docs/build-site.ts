/**
 * A contract as a folder of pages. The same contract always makes the same folder: nothing depends
 * on a clock or on chance. What it guards: a site for some roles contains nothing that they may not
 * request (`reader-contract`).
 */

import { mainEndpoint } from '../contract/endpoint-rule.ts'
import { portPath } from '../contract/exchange.ts'
import type { Implementation } from '../contract/implement.ts'
import { listOperations } from '../contract/operation.ts'
import { newestVersion, type Service } from '../contract/service.ts'
import { viewOfVersion } from '../contract/version-view.ts'
import { writePortWsdl } from '../describe/port-wsdl.ts'
import { writeWsdl11 } from '../describe/wsdl11.ts'
import { writeXsd } from '../describe/xsd.ts'
import type { DiffReport } from '../diff/report-differences.ts'
import { lookPaths } from '../html/frame.ts'
import { pageIcon, stylesheet } from '../html/stylesheet.ts'
import { describeService } from '../pages/openapi.ts'
import { describeDeclaredEndpoint, describeDeclaredPort } from '../security/policy/described-endpoint.ts'
import { buildChangePage, compareVersions } from './change-page.ts'
import { buildOperationPage } from './operation-page.ts'
import { contractForReaders } from './reader-contract.ts'
import { buildAccessPage, buildHeaderPage, buildPortPage, buildRefusalPage, buildSecurityPage } from './rule-pages.ts'
import { runExamples } from './run-examples.ts'
import { type DescribedEdition, placeOfEdition, type SiteHead, type SitePage, writeSitePage } from './site-frame.ts'
import { buildEditionPage, buildJobPage, buildResourcePage, buildStartPage } from './subject-pages.ts'

export interface SiteOptions {
  /** The address in examples and descriptions, without a slash at the end. */
  readonly address: string
  /**
   * The roles of the readers; `[]`: callers without credentials. Undefined: readers who may know
   * everything.
   */
  readonly roles?: readonly string[] | undefined
  readonly examples: boolean
  /** The differences from an earlier release. */
  readonly release?: DiffReport | undefined
}

/** Path → text. */
export type SiteFiles = ReadonlyMap<string, string>

export async function buildSite(app: Implementation, options: SiteOptions): Promise<SiteFiles> {
  const contract = contractForReaders(app.contract, options.roles)
  const reduced = { ...app, contract }
  const editions = await describeEditions(app, contract, options)
  const newest = editions.at(-1)
  const rules: readonly SitePage[] = [
    buildAccessPage(newest?.operations ?? [], options.roles),
    buildRefusalPage(
      contract,
      editions.flatMap(({ operations }) => operations),
    ),
    ...[
      buildHeaderPage(contract),
      buildSecurityPage(contract, editions),
      buildPortPage(contract),
      buildChangePage(await compareVersions(reduced), options.release),
    ].filter(page => page !== undefined),
  ]
  const head: SiteHead = [
    ...(newest ? [[placeOfEdition(newest.version), 'Operations'] as const] : []),
    ...rules.map(({ path, title }) => [path, title] as const),
  ]
  const programs = await describeForPrograms(reduced, options.address)
  const files: SiteHead = [...programs].map(([path, [text]]) => [path, text] as const)
  const pages = [
    buildStartPage(contract, editions, head, files, options.address),
    ...rules,
    ...editions.flatMap(buildEditionPages),
  ]
  return new Map([
    ...pages.map(page => [page.path, writeSitePage(page, contract.title, head)] as const),
    ...[...programs].map(([path, [, content]]) => [path, content] as const),
    [lookPaths.style.slice(1), stylesheet],
    [lookPaths.icon.slice(1), pageIcon],
  ])
}

async function describeEditions(
  app: Implementation,
  contract: Service,
  { roles, address, examples }: SiteOptions,
): Promise<readonly DescribedEdition[]> {
  const editions: DescribedEdition[] = []
  for (const version of Object.keys(contract.versions)) {
    const service = viewOfVersion(contract, version)
    const found = examples ? await runExamples({ app, contract, roles, address }, version) : new Map()
    editions.push({ service, version, operations: listOperations(service), examples: found, hasExamples: examples })
  }
  return editions
}

const buildEditionPages = (edition: DescribedEdition): readonly SitePage[] => {
  const { service, operations } = edition
  return [
    buildEditionPage(edition),
    ...service.resources
      .filter(each => operations.some(one => 'resource' in one && one.resource.name === each.name))
      .map(each => buildResourcePage(edition, each)),
    ...service.jobs
      .filter(each => operations.some(one => 'job' in one && one.job === each))
      .map(each => buildJobPage(edition, each)),
    ...operations.map(each => buildOperationPage(edition, each)),
  ]
}

/** Files for generators and tools: path → what it is, and its text. */
async function describeForPrograms(
  app: Implementation,
  address: string,
): Promise<ReadonlyMap<string, readonly [text: string, content: string]>> {
  const { contract } = app
  const newest = newestVersion(contract)
  const found = new Map<string, readonly [text: string, content: string]>()
  if (contract.hasRest) found.set('openapi.json', ['OpenAPI 3.1', await describeService(app, address)])
  for (const version of Object.keys(contract.versions)) {
    const endpoint = mainEndpoint(contract, version)
    if (!endpoint || listOperations(viewOfVersion(contract, version)).every(({ message }) => !message)) continue
    const { path, style, soap } = endpoint
    const name = version === newest ? 'service' : `service-${version}`
    const policy = describeDeclaredEndpoint(contract, endpoint, address + path)
    const wsdl = writeWsdl11(contract, version, { address: address + path, style, soap, policy })
    found.set(`${name}.wsdl`, [`WSDL 1.1 of ${version}`, wsdl])
    found.set(`${name}.xsd`, [`XML Schema of ${version}`, writeXsd(contract, version)])
  }
  for (const port of contract.ports) {
    if (Object.keys(port.exchanges).length === 0) continue
    const at = address + portPath(port)
    const wsdl = writePortWsdl(port, at, describeDeclaredPort(port, at))
    found.set(`port-${port.port}.wsdl`, [`WSDL 1.1 of the port ${port.port}`, wsdl])
  }
  return found
}
