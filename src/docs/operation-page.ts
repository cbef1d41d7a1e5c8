/** The page of one operation: REST and SOAP side by side, and what applies to both. */

import { escapeMarkup } from '../base/markup.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import { Field, type Fields } from '../contract/field.ts'
import { findFilterField } from '../contract/filter-field.ts'
import { headersOfOperation } from '../contract/header.ts'
import { type DeclaredOperation, demandsPrecondition } from '../contract/operation.ts'
import { describeGrantee, textsOfOperation } from '../contract/operation-texts.ts'
import type { Resource } from '../contract/resource.ts'
import { joinSentences } from '../contract/texts.ts'
import { compileMessages, faultsOfOperation, type Message } from '../contract/xml-message.ts'
import { buildElement, type PageMarkup, writeAnchor, writeParagraph, writeSection } from '../html/element.ts'
import { drawMachine } from '../html/machine-drawing.ts'
import { writeRowTable } from '../html/value-views.ts'
import { compileRoutes } from '../rest/route.ts'
import type { ExampleCaller, ShownExchange } from './example-bench.ts'
import { writeFieldTable } from './field-rows.ts'
import { findRequestLines, type OperationExample } from './run-examples.ts'
import {
  addressFrom,
  type DescribedEdition,
  placeOfEdition,
  placeOfJob,
  placeOfOperation,
  placeOfResource,
  type SitePage,
  sitePlaces,
} from './site-frame.ts'

export function buildOperationPage(edition: DescribedEdition, operation: DeclaredOperation): SitePage {
  const { version } = edition
  const path = placeOfOperation(version, operation.name)
  const example = edition.examples.get(operation.name)
  const home = homeOf(edition, operation)
  const main = [
    writeText(describePurpose(operation)),
    writeParagraph(textsOfOperation(operation).description),
    writeFacts(edition, operation, path),
    buildElement('div', { class: 'faces' }, writeRest(edition, operation, path), writeSoap(edition, operation, path)),
    writeShownExample(edition, example),
    writeFaults(operation, path),
    writeDrawing(operation),
  ].join('\n')
  return {
    path,
    title: operation.name,
    main,
    trail: [{ href: sitePlaces.start, text: 'Start' }, editionCrumb(version), home],
  }
}

export const writeText = (text: string): PageMarkup => buildElement('p', {}, escapeMarkup(text))
export const writeCode = (text: string): PageMarkup => buildElement('code', {}, escapeMarkup(text))
export const editionCrumb = (version: string) => ({ href: placeOfEdition(version), text: `Version ${version}` })
const homeOf = ({ version }: DescribedEdition, operation: DeclaredOperation) =>
  'resource' in operation
    ? { href: placeOfResource(version, operation.resource), text: operation.resource.name }
    : { href: placeOfJob(version, operation.job), text: operation.job.job }

/** The purpose of the operation, in one sentence. */
export function describePurpose(operation: DeclaredOperation): string {
  switch (operation.kind) {
    case 'list':
      return `Lists ${operation.resource.name}, page by page.`
    case 'get':
      return `Reads ${describeTarget(operation.resource)}.`
    case 'create':
      return operation.resource.isSingle
        ? `Creates the ${operation.resource.name}, once.`
        : `Creates one of ${operation.resource.name}.`
    case 'replace':
      return `Replaces ${describeTarget(operation.resource)} as a whole.`
    case 'patch':
      return `Changes some fields of ${describeTarget(operation.resource)}.`
    case 'remove':
      return `Removes ${describeTarget(operation.resource)}.`
    case 'bulk':
      return `Removes all of ${operation.resource.name} that a filter selects.`
    case 'search':
      return `Searches ${operation.resource.name} by words.`
    case 'createSearch':
      return `Stores a search over ${operation.resource.name}, whose results have an address of their own.`
    case 'getSearch':
      return `Reads the results of a stored search over ${operation.resource.name}.`
    case 'act':
      return describeTransition(operation)
    case 'look':
      return `Reads the ${operation.action.rel} of ${describeTarget(operation.resource)}.`
    case 'kept':
      return `Reads the ${operation.action.rel} that ${operation.verb} has produced.`
    case 'getFile':
      return `Reads the ${operation.part} of ${describeTarget(operation.resource)}.`
    case 'putFile':
      return `Stores the ${operation.part} of ${describeTarget(operation.resource)}: ${operation.file.mediaTypes.join(', ')}, at most ${operation.file.max} octets.`
    case 'startJob':
      return `Starts one of ${operation.job.job}: work that takes longer than a response.`
    case 'getJob':
      return `Reports the progress of one of ${operation.job.job}.`
    case 'cancelJob':
      return `Cancels one of ${operation.job.job} that has not ended.`
    case 'getResult':
      return `Reads the result of one of ${operation.job.job}.`
  }
}
/** `one of orders`, `the settings`. */
const describeTarget = ({ name, isSingle }: Resource): string => (isSingle ? `the ${name}` : `one of ${name}`)
function describeTransition({ resource, verb, action }: DeclaredOperation & { readonly kind: 'act' }): string {
  const from = action.from.length === 0 ? 'any state' : `the state ${action.from.join(' or ')}`
  if (resource.states.length === 0) return `Does ${verb} to ${describeTarget(resource)}.`
  if (action.effect === 'move') return `Replaces ${describeTarget(resource)} with another, from ${from}.`
  return `Leads ${describeTarget(resource)} from ${from}${action.to === undefined ? ', which stays' : ` to ${action.to}`}.`
}

function writeFacts(edition: DescribedEdition, operation: DeclaredOperation, path: string): PageMarkup {
  const { limit } = operation
  const headers = headersOfOperation(edition.service, edition.version, operation.name)
  const rows: readonly (readonly [string, PageMarkup])[] = [
    ['Effect', operation.safe ? 'reads only' : 'changes'],
    [
      'Allowed to',
      `${escapeMarkup(operation.grants.map(describeGrantee).join('; '))} (${writeAnchor(addressFrom(path, sitePlaces.access), 'all rights')})`,
    ],
    [
      'Limit',
      escapeMarkup(`${limit.count} in ${limit.seconds} seconds for each caller, counted as ${operation.counted}`),
    ],
    ...(headers.length === 0
      ? []
      : [
          [
            'Headers',
            headers
              .map(each => writeAnchor(`${addressFrom(path, sitePlaces.headers)}#${each.name}`, each.name))
              .join(', '),
          ] as const,
        ]),
  ]
  return buildElement(
    'dl',
    {},
    ...rows.map(([name, text]) => buildElement('div', {}, buildElement('dt', {}, name), buildElement('dd', {}, text))),
  )
}

const writeFace = (face: 'rest' | 'soap', ...content: readonly PageMarkup[]): PageMarkup =>
  buildElement(
    'section',
    { class: face === 'rest' ? 'face' : 'face soap' },
    buildElement('h2', {}, face === 'rest' ? 'REST' : 'SOAP'),
    ...content,
  )
const writePart = (heading: string, content: PageMarkup): PageMarkup =>
  content === '' ? '' : buildElement('h3', {}, escapeMarkup(heading)) + content

function writeRest({ service, version }: DescribedEdition, operation: DeclaredOperation, path: string): PageMarkup {
  const routes = findRequestLines(compileRoutes(service), operation)
  if (routes.length === 0) return writeFace('rest', writeText('This operation is offered by SOAP alone.'))
  const lines = routes.map(({ method, template }) =>
    buildElement('li', {}, writeCode(`${method} /api/${version}${template}`)),
  )
  return writeFace(
    'rest',
    buildElement('ul', {}, ...lines),
    writePart('Query parameters', writeFieldTable(queryFields(operation))),
    writePart('Content of the request', writeRestContent(operation, path, version)),
    writePart('Content of the response', writeRestAnswer(operation, path, version)),
    demandsPrecondition(operation)
      ? writeText('If-Match with the entity tag that was read is required, so that no other change is lost.')
      : '',
  )
}

function queryFields(operation: DeclaredOperation): Fields {
  if (!('resource' in operation) || (operation.kind !== 'list' && operation.kind !== 'bulk')) return {}
  const { resource } = operation
  return Object.fromEntries(
    (resource.given.filter ?? []).flatMap(name => {
      const shape = findFilterField(resource, name)?.shape
      return shape ? [[name, new Field(shape).optional()]] : []
    }),
  )
}

const linkToResource = (text: string, path: string, version: string, resource: { readonly name: string }): PageMarkup =>
  buildElement(
    'p',
    {},
    escapeMarkup(`${text} `),
    writeAnchor(addressFrom(path, placeOfResource(version, resource)), `the fields of ${resource.name}`),
  )

function writeRestContent(operation: DeclaredOperation, path: string, version: string): PageMarkup {
  switch (operation.kind) {
    case 'create':
    case 'replace':
      return linkToResource('An item without the fields that the service sets:', path, version, operation.resource)
    case 'patch':
      return linkToResource('A JSON Merge Patch or a JSON Patch of', path, version, operation.resource)
    case 'act':
      return writeFieldTable(operation.action.input)
    case 'startJob':
      return writeFieldTable(operation.job.input)
    case 'putFile':
      return writeText(`The octets, as ${operation.file.mediaTypes.join(' or ')}.`)
    default:
      return ''
  }
}

function writeRestAnswer(operation: DeclaredOperation, path: string, version: string): PageMarkup {
  switch (operation.kind) {
    case 'get':
    case 'create':
    case 'replace':
    case 'patch':
      return linkToResource('The item with its links:', path, version, operation.resource)
    case 'list':
    case 'search':
    case 'getSearch':
      return linkToResource(
        'Items with their links, and links to the pages before and after:',
        path,
        version,
        operation.resource,
      )
    case 'act':
    case 'look':
    case 'kept':
      return operation.action.output
        ? writeFieldTable(operation.action.output)
        : linkToResource('The item after the call:', path, version, operation.resource)
    case 'getResult':
      return writeFieldTable(operation.job.output)
    case 'startJob':
      return writeText('202 with the address of the job, which reports its progress.')
    default:
      return ''
  }
}

function writeSoap(edition: DescribedEdition, operation: DeclaredOperation, path: string): PageMarkup {
  const { service, version } = edition
  const message = compileMessages(service, version).find(each => each.operation.name === operation.name)
  if (!message) return writeFace('soap', writeText('This operation is offered by REST alone.'))
  const endpoints = endpointsOf(service).filter(each => each.version === version)
  return writeFace(
    'soap',
    buildElement('ul', {}, ...endpoints.map(each => buildElement('li', {}, writeCode(`POST ${each.path}`)))),
    buildElement('p', {}, 'Action ', writeCode(message.action)),
    writePart(`Element ${message.request.name}`, writeMessageFields(message, 'request', operation, path, version)),
    message.response
      ? writePart(`Element ${message.response.name}`, writeMessageFields(message, 'response', operation, path, version))
      : writeText('The message is one-way, without an answer.'),
  )
}

/** A link identifies the item in a message; everything else is in its fields. */
function writeMessageFields(
  message: Message,
  side: 'request' | 'response',
  operation: DeclaredOperation,
  path: string,
  version: string,
): PageMarkup {
  const part = message[side]
  if (!part) return ''
  const { fields, main } = part
  const isItem =
    'resource' in operation &&
    main !== undefined &&
    !(side === 'request' && operation.kind === 'act') &&
    !('action' in operation && operation.action.output) &&
    !('part' in operation) &&
    main !== 'where'
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !isItem || name !== main))
  const table = writeFieldTable(rest)
  const item = isItem ? linkToResource(`${main}:`, path, version, operation.resource) : ''
  return table + item === '' ? writeText('It is empty.') : table + item
}

export const describeCaller = (caller: ExampleCaller): string => {
  if (caller === undefined) return 'a caller without credentials'
  const claims = Object.entries(caller.claims ?? {}).map(([name, value]) => `${name} ${value}`)
  const roles = caller.roles.length === 0 ? '' : `, with the role ${caller.roles.join(' and ')}`
  return `${caller.subject}${roles}${claims.length === 0 ? '' : ` (${claims.join(', ')})`}`
}

function writeShownExample({ hasExamples }: DescribedEdition, example: OperationExample | undefined): PageMarkup {
  if (!hasExamples) return ''
  if (!example)
    return writeSection(
      'Example',
      {},
      writeText('The service accepted no generated content, so this page has no example.'),
    )
  const { caller, rest, soap, refused } = example
  return [
    writeSection('Example', {}, writeText(`Called by ${describeCaller(caller)}.`), writeExchanges(rest, soap)),
    refused
      ? writeSection(
          'The same, refused',
          {},
          writeText('With different content.'),
          writeExchanges(refused.rest, refused.soap, ', refused'),
        )
      : '',
  ].join('\n')
}

/** @param outcome distinguishes these regions from others of the page */
function writeExchanges(rest: ShownExchange | undefined, soap: ShownExchange | undefined, outcome = ''): PageMarkup {
  const face = (name: 'REST' | 'SOAP', shown: ShownExchange | undefined): PageMarkup =>
    shown
      ? buildElement(
          'section',
          { class: name === 'REST' ? 'face' : 'face soap' },
          buildElement('h3', {}, `Request by ${name}`),
          writeMessageText(`Request by ${name}${outcome}`, shown.request),
          buildElement('h3', {}, `Response, ${shown.status}`),
          writeMessageText(`Response by ${name}${outcome}`, shown.response),
        )
      : ''
  return buildElement('div', { class: 'faces' }, face('REST', rest), face('SOAP', soap))
}
/** Focusable, so that the keyboard can scroll it. */
const writeMessageText = (label: string, text: string): PageMarkup =>
  buildElement('pre', { tabindex: 0, role: 'region', 'aria-label': label }, escapeMarkup(text))

function writeFaults(operation: DeclaredOperation, path: string): PageMarkup {
  const rows = faultsOfOperation(operation).map(each => [
    writeAnchor(`${addressFrom(path, sitePlaces.refusals)}#${each.fault}`, each.fault),
    String(each.status),
    each.status >= 500 ? 'Receiver' : 'Sender',
    escapeMarkup(joinSentences(each.title, each.description)),
  ])
  if (rows.length === 0) return ''
  return writeSection(
    'Faults to handle',
    {},
    writeRowTable([{ name: 'fault' }, { name: 'status' }, { name: 'code' }, { name: 'meaning' }], rows),
  )
}

function writeDrawing(operation: DeclaredOperation): PageMarkup {
  if (operation.kind !== 'act' || operation.resource.states.length === 0) return ''
  return writeSection('States', {}, drawMachine(operation.resource))
}
