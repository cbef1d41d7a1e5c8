/** Pages about the subjects of operations: the start, a version, a resource, a job. */

import { escapeMarkup } from '../base/markup.ts'
import type { Job } from '../contract/job.ts'
import type { DeclaredOperation } from '../contract/operation.ts'
import { describeGrantee } from '../contract/operation-texts.ts'
import type { Relation, Resource } from '../contract/resource.ts'
import { describeVersionLife, type Service } from '../contract/service.ts'
import { buildElement, type PageMarkup, writeAnchor, writeParagraph, writeSection } from '../html/element.ts'
import { drawMachine } from '../html/machine-drawing.ts'
import { writeRowTable } from '../html/value-views.ts'
import { compileRoutes } from '../rest/route.ts'
import { writeFieldTable } from './field-rows.ts'
import { describePurpose, editionCrumb, writeCode, writeText } from './operation-page.ts'
import { findRequestLines } from './run-examples.ts'
import {
  addressFrom,
  type DescribedEdition,
  placeOfEdition,
  placeOfJob,
  placeOfOperation,
  placeOfResource,
  type SiteHead,
  type SitePage,
  sitePlaces,
} from './site-frame.ts'

const startCrumb = { href: sitePlaces.start, text: 'Start' }

/** @param files descriptions for programs in the folder, and what each of them is */
export function buildStartPage(
  service: Service,
  editions: readonly DescribedEdition[],
  head: SiteHead,
  files: SiteHead,
  address: string,
): SitePage {
  const cards = [...editions]
    .reverse()
    .map(({ version, operations }) =>
      buildElement(
        'li',
        { class: 'card' },
        writeAnchor(placeOfEdition(version), `Version ${version}`),
        writeText(`${operations.length} operations${lifeOf(service, version)}`),
      ),
    )
  const links = (all: SiteHead): PageMarkup =>
    buildElement('ul', { class: 'links' }, ...all.map(([to, text]) => buildElement('li', {}, writeAnchor(to, text))))
  const main = [
    writeParagraph(service.description),
    service.hasRest ? describeBothFaces(address) : describeSoapAlone(address),
    writeSection('Versions', {}, buildElement('ul', { class: 'cards' }, ...cards)),
    writeSection('For all versions', {}, links(head)),
    files.length === 0 ? '' : writeSection('For programs', {}, links(files)),
  ].join('\n')
  return { path: sitePlaces.start, title: service.title, main }
}

const describeBothFaces = (address: string): PageMarkup =>
  buildElement(
    'p',
    {},
    'One service with two faces: resources below ',
    writeCode(`${address}/api`),
    ' for HTTP, and messages below ',
    writeCode(`${address}/soap`),
    ' for SOAP 1.1 and 1.2. Both do the same, with the same rights, the same states and the same faults.',
  )
const describeSoapAlone = (address: string): PageMarkup =>
  buildElement('p', {}, 'Messages of SOAP 1.1 and 1.2 below ', writeCode(`${address}/soap`), '.')

function lifeOf({ versions }: Service, version: string): string {
  const life = describeVersionLife(versions[version] ?? {})
  return life === '' ? '' : `, ${life}`
}

export function buildEditionPage(edition: DescribedEdition): SitePage {
  const { service, version, operations } = edition
  const path = placeOfEdition(version)
  const resources = service.resources.filter(each => ownOperations(operations, each).length > 0)
  const jobs = service.jobs.filter(each => operations.some(one => 'job' in one && one.job === each))
  const main = [
    writeParagraph(service.versions[version]?.description),
    ...resources.map(each =>
      writeOperationList(
        edition,
        path,
        { text: each.name, to: placeOfResource(version, each) },
        ownOperations(operations, each),
      ),
    ),
    ...jobs.map(each =>
      writeOperationList(
        edition,
        path,
        { text: each.job, to: placeOfJob(version, each) },
        operations.filter(one => 'job' in one && one.job === each),
      ),
    ),
  ].join('\n')
  return { path, title: `Version ${version}`, main, trail: [startCrumb] }
}

const ownOperations = (all: readonly DeclaredOperation[], { name }: Resource): readonly DeclaredOperation[] =>
  all.filter(each => 'resource' in each && each.resource.name === name)

/** The operations of one resource or job, under a heading that leads to its page. */
function writeOperationList(
  edition: DescribedEdition,
  path: string,
  heading: { readonly text: string; readonly to: string } | undefined,
  operations: readonly DeclaredOperation[],
): PageMarkup {
  const routes = compileRoutes(edition.service)
  const rows = operations.map(operation => {
    const [line] = findRequestLines(routes, operation)
    return [
      writeAnchor(addressFrom(path, placeOfOperation(edition.version, operation.name)), operation.name),
      line ? writeCode(`${line.method} ${line.template}`) : 'SOAP alone',
      operation.message ? writeCode(operation.name) : 'REST alone',
      escapeMarkup(describePurpose(operation)),
    ]
  })
  const table = writeRowTable([{ name: 'operation' }, { name: 'REST' }, { name: 'SOAP' }, { name: 'purpose' }], rows)
  if (!heading) return writeSection('Operations', {}, table)
  return buildElement(
    'section',
    {},
    buildElement('h2', {}, writeAnchor(addressFrom(path, heading.to), heading.text)),
    table,
  )
}

export function buildResourcePage(edition: DescribedEdition, resource: Resource): SitePage {
  const { version, operations } = edition
  const path = placeOfResource(version, resource)
  const { name, states, fields, files } = resource
  const fileRows = Object.entries(files).map(([part, { mediaTypes, max }]) => [
    writeCode(part),
    escapeMarkup(mediaTypes.join(', ')),
    `at most ${max} octets`,
  ])
  const main = [
    writeParagraph(resource.texts.description),
    states.length === 0 ? '' : writeSection('States', {}, drawMachine(resource), writeTransitions(resource)),
    writeSection('Fields', {}, writeFieldTable(fields)),
    fileRows.length === 0
      ? ''
      : writeSection(
          'Files',
          {},
          writeRowTable([{ name: 'file' }, { name: 'media types' }, { name: 'size' }], fileRows),
        ),
    writeSection('Lists and searches', {}, writeSelections(resource)),
    writeSection('Links', {}, writeRelations(edition, resource, path)),
    writeOperationList(edition, path, undefined, ownOperations(operations, resource)),
  ].join('\n')
  return { path, title: name, main, trail: [startCrumb, editionCrumb(version)] }
}

/** The drawing, in words. */
function writeTransitions({ machine }: Resource): PageMarkup {
  const rows = Object.entries(machine).flatMap(([state, ways]) =>
    Object.entries(ways).map(([verb, to]) => [escapeMarkup(state), writeCode(verb), escapeMarkup(to)]),
  )
  return rows.length === 0 ? '' : writeRowTable([{ name: 'from' }, { name: 'transition' }, { name: 'to' }], rows)
}

function writeSelections({ given }: Resource): PageMarkup {
  const lines = [
    given.filter?.length ? `Filters: ${given.filter.join(', ')}.` : '',
    given.sort?.length ? `Orders: ${given.sort.join(', ')}; "-" before a name reverses its order.` : '',
    given.search?.length ? `Words are searched in ${given.search.join(', ')}.` : '',
    given.searchBy?.length ? `A search is narrowed by ${given.searchBy.join(', ')}.` : '',
    given.edit ? `It can be changed while it is ${given.edit.join(' or ')}.` : '',
    given.remove ? `It can be removed while it is ${given.remove.join(' or ')}.` : '',
  ].filter(line => line !== '')
  return lines.map(writeText).join('')
}

function writeRelations(
  { service, version, operations }: DescribedEdition,
  { given, fields }: Resource,
  path: string,
): PageMarkup {
  const rows = Object.entries(given.relations ?? {}).map(([rel, relation]: [string, Relation]) => {
    const shape = 'of' in relation ? undefined : fields[relation.by]?.shape
    const name = 'of' in relation ? relation.of : shape?.kind === 'ref' ? shape.resource : undefined
    const target = operations.some(each => 'resource' in each && each.resource.name === name)
      ? service.resources.find(each => each.name === name)
      : undefined
    const text =
      'of' in relation ? `all of ${relation.of} whose ${relation.by} it is` : `what its ${relation.by} refers to`
    return [
      writeCode(rel),
      target ? writeAnchor(addressFrom(path, placeOfResource(version, target)), text) : escapeMarkup(text),
    ]
  })
  return rows.length === 0 ? '' : writeRowTable([{ name: 'relation' }, { name: 'leads to' }], rows)
}

export function buildJobPage(edition: DescribedEdition, job: Job): SitePage {
  const { version, operations } = edition
  const path = placeOfJob(version, job)
  const own = operations.filter(each => 'job' in each && each.job === job)
  const main = [
    writeParagraph(job.description),
    writeText(
      `Work that takes longer than a response: a request starts it, its job reports the progress, its result has an address of its own. It has at most ${job.tries} tries of at most ${job.timeLimit} seconds each, and is kept for ${job.keep} seconds after its end.`,
    ),
    writeText(`It is started by ${job.allow.map(describeGrantee).join('; ')}.`),
    writeSection('Input', {}, writeFieldTable(job.input)),
    writeSection('Result', {}, writeFieldTable(job.output)),
    writeOperationList(edition, path, undefined, own),
  ].join('\n')
  return { path, title: job.job, main, trail: [startCrumb, editionCrumb(version)] }
}
