/** The entry in a browser: everything that exists, in both faces, and what the caller may do. */
import { escapeMarkup } from '../../base/markup.ts'
import { mayEverBeAllowed } from '../../contract/policy.ts'
import {
  buildElement,
  labelOf,
  type PageMarkup,
  writeAnchor,
  writeParagraph,
  writeSection,
} from '../../html/element.ts'
import { writeRowTable } from '../../html/value-views.ts'
import type { Exchange } from '../exchange.ts'
import type { DocumentLink, RepresentationDocument } from '../formats/document.ts'
import { writeFolded, writeForm } from './forms.ts'
import { specsOf } from './item-view.ts'

export function writeEntryView(exchange: Exchange, document: RepresentationDocument): PageMarkup {
  const { caller } = exchange
  const links = document.links.filter(
    ({ templated, form, rel }) =>
      !templated && !form && rel !== 'self' && (rel !== 'login' || caller.subject === undefined),
  )
  const names = new Set(exchange.edition.service.resources.map(({ name }) => name))
  const collections = links.filter(({ rel }) => names.has(rel))
  const soap = links.filter(({ rel }) => ['soap', 'wsdl', 'wsdl2', 'xsd'].includes(rel))
  const ports = exchange.edition.service.ports.map(({ port }) => port)
  const toPorts = links.filter(({ rel }) => ports.includes(rel))
  const others = links.filter(link => ![...collections, ...soap, ...toPorts].includes(link))
  const forms = document.links
    .filter(({ rel }) => mayStart(exchange, rel))
    .flatMap(link => specsOf(exchange, document, link, undefined))
  const { service, version } = exchange.edition
  return [
    writeParagraph(service.description),
    writeParagraph(service.versions[version]?.description),
    buildElement('p', {}, escapeMarkup(`Version ${version}. ${service.hasRest ? facesText : soapAloneText}`)),
    writeSection('Resources', {}, writeCards(collections, 'card', describeCollection(exchange))),
    writeSection(
      'Start something',
      { id: 'actions' },
      ...forms.map(form =>
        writeFolded(
          labelOf(form.rel),
          false,
          writeForm({ ...form, title: `Start ${labelOf(form.rel).toLowerCase()}` }),
        ),
      ),
    ),
    writeSection(
      'Messages',
      {},
      writeCards(soap, 'card soap', soapTexts),
      writeCards(toPorts.map(leadToPage), 'card soap', textOfPort(exchange)),
    ),
    writeSection('Also here', {}, writeCards(others, 'card', otherTexts)),
    writeSection('What you may do', { id: 'rights' }, writeRights(exchange)),
  ].join('\n')
}

const facesText = 'One contract, two faces: the same resources over HTTP and as SOAP messages.'
const soapAloneText = 'Its operations are only SOAP messages.'

/** The entry is the same for all callers; its page only offers what this caller may do. */
function mayStart({ edition, caller, entry }: Exchange, rel: string): boolean {
  const started = edition.routes.all
    .flatMap(({ methods }) => [...methods.values()])
    .find(each =>
      each.kind === 'startJob' ? each.job.job === rel : each.kind === 'createSearch' && rel === 'searches',
    )
  return started === undefined || mayEverBeAllowed(started.grants, caller, entry.now)
}

function writeCards(links: readonly DocumentLink[], kind: string, texts: (rel: string) => string): PageMarkup {
  if (links.length === 0) return ''
  const items = links.map(({ rel, href }) =>
    buildElement(
      'li',
      { class: kind },
      writeAnchor(href, titles[rel] ?? labelOf(rel), { rel }),
      buildElement('p', {}, escapeMarkup(texts(rel))),
    ),
  )
  return buildElement('ul', { class: 'cards' }, ...items)
}

const titles: Readonly<Record<string, string>> = {
  soap: 'SOAP endpoint',
  wsdl: 'WSDL 1.1',
  wsdl2: 'WSDL 2.0',
  xsd: 'XML Schema',
  'service-desc': 'OpenAPI',
  'service-doc': 'Documentation',
  login: 'Sign in',
}
const soapText: Readonly<Record<string, string>> = {
  soap: 'Operations, and a place to try each',
  wsdl: 'The description for clients of SOAP 1.1 and 1.2',
  wsdl2: 'The same description in the newer format',
  xsd: 'The types of all messages',
}
const soapTexts = (rel: string): string => soapText[rel] ?? ''
const otherText: Readonly<Record<string, string>> = {
  'service-desc': 'The description of the HTTP face',
  'service-doc': 'Every operation in both faces, with examples',
  changes: 'The changes, one after the other',
  health: 'Whether the service is ready',
  login: 'As a person, with a name and a password',
}
const otherTexts = (rel: string): string => otherText[rel] ?? (/^v\d+$/.test(rel) ? 'A version of the contract' : '')

/** A program gets the WSDL of a port, a person its page. */
const leadToPage = (link: DocumentLink): DocumentLink => ({ ...link, href: link.href.replace(/\?wsdl$/, '') })
const textOfPort =
  ({ edition }: Exchange) =>
  (rel: string): string =>
    edition.service.ports.find(({ port }) => port === rel)?.description ?? soapTexts('soap')

const describeCollection =
  ({ edition }: Exchange) =>
  (name: string): string => {
    const resource = edition.service.resources.find(each => each.name === name)
    if (resource?.texts.description !== undefined) return resource.texts.description
    const verbs = Object.entries(resource?.actions ?? {})
      .filter(([name, { effect }]) => effect === 'read' || (resource?.given.allow[name] ?? []).length > 0)
      .map(([name]) => labelOf(name).toLowerCase())
    if (resource?.isSingle) return verbs.length === 0 ? 'To read and change' : `Actions: ${verbs.join(', ')}`
    return verbs.length === 0 ? 'Items to read and change' : `Items with actions: ${verbs.join(', ')}`
  }

/** By the contract only: whether the caller may ever do it to some item. */
function writeRights({ edition, caller, entry }: Exchange): PageMarkup {
  const rows = edition.routes.all.flatMap(({ template, methods }) =>
    [...methods].map(([method, operation]) => {
      const may = mayEverBeAllowed(operation.grants, caller, entry.now)
      return [
        buildElement('code', {}, escapeMarkup(operation.name)),
        escapeMarkup(`${method} ${template}`),
        buildElement('span', { class: may ? 'yes' : 'no' }, may ? '✓ yes' : '– no'),
      ]
    }),
  )
  const name = caller.subject === undefined ? 'Without signing in' : `As ${caller.subject}`
  return writeFolded(
    `${name}: ${rows.filter(([, , may]) => may?.includes('yes')).length} of ${rows.length} operations`,
    false,
    buildElement(
      'div',
      { class: 'inside' },
      writeRowTable([{ name: 'operation' }, { name: 'request' }, { name: 'allowed' }], rows),
    ),
  )
}
