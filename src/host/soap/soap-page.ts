/**
 * The pages of an endpoint of the contract: each operation has a form with its fields, which writes
 * a message in either version.
 */
import { escapeMarkup } from '../../base/markup.ts'
import { readFields, readOptions } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import { namespaceOf } from '../../contract/service.ts'
import { compileMessages, type Message } from '../../contract/xml-message.ts'
import { type Entry, originOf, prefixOf } from '../../front/entry.ts'
import { endOfVersion } from '../../front/version-end.ts'
import {
  changeRows,
  type FormState,
  findRedraw,
  normalizeRows,
  redrawNames,
  writeControls,
} from '../../html/controls.ts'
import { buildElement, type PageMarkup, writeAnchor, writeSection } from '../../html/element.ts'
import { indentXml } from '../../html/indent.ts'
import { nameControl, parseTextTree } from '../../html/text-tree.ts'
import { type Pairs, writeQuery } from '../../http/uri.ts'
import { readFormValues } from '../../rest/formats/untyped-text.ts'
import type { FaceContext } from '../../service/face-context.ts'
import type { Endpoint } from '../../soap/endpoint.ts'
import { writeEnvelope } from '../../soap/envelope.ts'
import type { SoapEndpoint } from '../../soap/http/binding.ts'
import type { SoapVersion } from '../../soap/version.ts'
import {
  isForPage,
  listSpoken,
  ownControls,
  type SoapTrial,
  servePage,
  writeAbout,
  writeAddress,
  writeAnswer,
  writeDescriptions,
  writeEnvelopeForm,
  writeOperations,
  writeOtherEndpoints,
  writeSecureNote,
} from './endpoint-page.ts'
import { writeRequestBody } from './soap-messages.ts'

interface SoapPage {
  readonly context: FaceContext
  readonly endpoint: Endpoint
  readonly messages: readonly Message[]
  readonly namespace: string
}

/** The endpoint with its pages: requests that are not a browser's reach the endpoint as before. */
export function addSoapPage(context: FaceContext, endpoint: Endpoint, served: SoapEndpoint): SoapEndpoint {
  const { contract } = context.app
  const { version, path } = endpoint
  const messages = compileMessages(contract, version)
  const page: SoapPage = { context, endpoint, messages, namespace: namespaceOf(contract, version) }
  const paged = {
    context,
    served,
    path,
    title: `${contract.title} ${version} as SOAP`,
    home: `/api/${version}`,
    spoken: endpoint.versions,
    find: (name: string) => messages.find(({ operation }) => operation.name === name),
    nameOf: ({ operation }: Message) => operation.name,
    actionOf: ({ action }: Message) => action,
    writeEndpoint: (entry: Entry) => writeEndpoint(page, entry),
    writeTrial: (entry: Entry, message: Message, trial: SoapTrial) => writeTrial(page, entry, message, trial),
    begin: () => ({ version: listSpoken(endpoint.versions)[0] }),
    readTyped: (entry: Entry, message: Message, pairs: Pairs, spoken: SoapVersion) =>
      readControls(page, entry, message, pairs, spoken),
  }
  const endsAt = endOfVersion(contract.versions[version] ?? {})
  return {
    ...served,
    serve: entry => (isForPage(path, entry) && entry.now < endsAt ? servePage(paged, entry) : served.serve(entry)),
  }
}

const styleTexts: Readonly<Record<Endpoint['style'], string>> = {
  document: 'document/literal wrapped',
  rpc: 'RPC/literal',
  encoded: 'RPC/encoded',
}

function writeEndpoint({ endpoint, context, messages }: SoapPage, entry: Entry): PageMarkup {
  const { version, path, style, versions } = endpoint
  const at = prefixOf(context.settings) + path
  const security = endpoint.secure ? ' Each message proves its sender by WS-Security.' : ''
  const lines = messages.map(({ operation, response, faults }) => ({
    name: operation.name,
    isOneWay: response === undefined,
    isSafe: operation.safe,
    faults: faults.map(({ fault }) => fault),
    grants: operation.grants,
  }))
  const texts = Object.fromEntries(listDescriptions(versions).map(query => [query, descriptionTexts[query]]))
  return [
    writeAddress(versions, originOf(entry) + path, `, ${styleTexts[style]}.${security}`),
    writeSection('Operations', { class: 'face soap' }, writeOperations(at, lines)),
    writeSection('Descriptions', {}, writeDescriptions(at, texts)),
    writeSection('Header blocks', {}, writeBlocks(messages)),
    writeSection('Other endpoints', {}, writeOtherEndpoints(context, version, path)),
  ].join('\n')
}

const descriptionTexts = {
  wsdl: 'WSDL 1.1, all versions of SOAP',
  'wsdl=1.1': 'WSDL 1.1 with SOAP 1.1 only',
  'wsdl=1.2': 'WSDL 1.1 with SOAP 1.2 only',
  wsdl2: 'WSDL 2.0',
  xsd: 'XML Schema',
} as const
type DescriptionQuery = keyof typeof descriptionTexts

/** The queries to which an endpoint of these SOAP versions responds with descriptions. */
export const listDescriptions = (spoken: Endpoint['versions'] = 'both'): readonly DescriptionQuery[] =>
  (Object.keys(descriptionTexts) as DescriptionQuery[]).filter(
    query => spoken === 'both' || !query.includes('=') || query.endsWith(spoken),
  )

function writeBlocks(messages: readonly Message[]): PageMarkup {
  const names = [...new Set(messages.flatMap(({ headers }) => headers.map(({ name }) => name)))]
  const named = names.length === 0 ? '' : ` The contract adds ${names.join(', ')}.`
  return buildElement(
    'p',
    {},
    escapeMarkup(
      `WS-Addressing 1.0 is understood everywhere. A mandatory block that is not understood gets a MustUnderstand fault.${named}`,
    ),
  )
}

function writeTrial(page: SoapPage, entry: Entry, message: Message, trial: SoapTrial): PageMarkup {
  const { endpoint } = page
  const { operation, faults, request, response } = message
  const about = writeAbout(
    `Element ${request.name}${response ? `, answered by ${response.name}` : ', without an answer'}. Action ${message.action}.`,
    faults.map(({ fault, title }) => [fault, title]),
  )
  if (endpoint.secure) return about + writeSecureNote()
  if (endpoint.style !== 'document') {
    const path = `${prefixOf(page.context.settings)}/soap/${endpoint.version}?${writeQuery([['operation', operation.name]])}`
    return (
      about +
      buildElement('p', { class: 'panel' }, 'It can be tried at ', writeAnchor(path, 'the endpoint of documents'), '.')
    )
  }
  return [about, writeAnswer(trial), writeTrialForm(page, entry, message, trial), writeEnvelopeForm(entry, trial)].join(
    '\n',
  )
}

function writeTrialForm(
  { context, endpoint }: SoapPage,
  { query }: Entry,
  message: Message,
  trial: SoapTrial,
): PageMarkup {
  const at = (more: string) => `?${query.split('&')[0] ?? ''}${more}`
  const state: FormState = {
    form: 'try',
    problems: trial.problems ?? new Map(),
    redraw: (change, name) => at(`&${writeQuery([[redrawNames[change], name]])}`),
    choices: resource => `${prefixOf(context.settings)}/api/${endpoint.version}/${resource}`,
  }
  const { operation, request } = message
  return buildElement(
    'form',
    { id: 'try', method: 'post', action: at(''), 'aria-labelledby': 'try-title' },
    buildElement('h2', { id: 'try-title' }, escapeMarkup(`Try ${operation.name}`)),
    writeControls(request.fields, trial.tree, state),
    writeVersions(endpoint, trial),
    buildElement(
      'div',
      { class: 'buttons' },
      buildElement('button', { class: 'soap', name: ownControls.next, value: 'send' }, 'Send the message'),
      buildElement('button', { class: 'minor', name: ownControls.next, value: 'write' }, 'Write it only'),
    ),
  )
}

function writeVersions(endpoint: Endpoint, { version, isAddressed = false }: SoapTrial): PageMarkup {
  const radios = listSpoken(endpoint.versions).map(({ number }) =>
    buildElement(
      'label',
      {},
      buildElement('input', {
        type: 'radio',
        name: ownControls.version,
        value: number,
        checked: number === version.number,
      }),
      `SOAP ${number}`,
    ),
  )
  const addressing = buildElement(
    'label',
    {},
    buildElement('input', { type: 'checkbox', name: ownControls.addressing, value: '1', checked: isAddressed }),
    'with WS-Addressing header blocks',
  )
  return buildElement(
    'fieldset',
    {},
    buildElement('legend', {}, 'Message'),
    buildElement('div', { class: 'choices' }, ...radios, addressing),
  )
}

function readControls(page: SoapPage, entry: Entry, message: Message, pairs: Pairs, version: SoapVersion): SoapTrial {
  const isAddressed = pairs.some(([name]) => name === ownControls.addressing)
  const own: ReadonlySet<string> = new Set(Object.values(ownControls))
  const typed = pairs.filter(([name]) => !own.has(name))
  const { fields } = message.request
  const tree = parseTextTree(typed) ?? {}
  const redraw = findRedraw(new Map(entry.pairs))
  if (redraw) return { version, isAddressed, tree: changeRows(tree, redraw.change, redraw.name) }
  const problems: FieldProblem[] = []
  const row = readFields(fields, readFormValues(typed, fields) ?? {}, problems, readOptions())
  const common = { version, isAddressed, tree: normalizeRows(fields, tree) }
  if (problems.length > 0) return { ...common, problems: placeProblems(problems) }
  return { ...common, envelope: writeAskedEnvelope(page, entry, message, row, version, isAddressed) }
}

function placeProblems(problems: readonly FieldProblem[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const { path, detail } of problems) {
    const name = nameControl(path)
    byName.set(name, [...(byName.get(name) ?? []), detail])
  }
  return byName
}

function writeAskedEnvelope(
  { namespace, endpoint, context }: SoapPage,
  entry: Entry,
  message: Message,
  row: Values,
  version: SoapVersion,
  isAddressed: boolean,
): string {
  const wsa = 'http://www.w3.org/2005/08/addressing'
  const block = (name: string, text: string) => `<wsa:${name} xmlns:wsa="${wsa}">${escapeMarkup(text)}</wsa:${name}>`
  const blocks = isAddressed
    ? [
        block('Action', message.action),
        block('To', originOf(entry) + endpoint.path),
        block('MessageID', `urn:uuid:${context.id()}`),
      ]
    : []
  return indentXml(writeEnvelope(version, writeRequestBody(namespace, message, row), blocks))
}
