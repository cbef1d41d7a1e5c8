/**
 * An endpoint in a browser: its operations, and a form to try each in both versions. What it
 * guards:
 *  (1) A message that a page sends goes through the endpoint like any other; the page proves only
 *      who sends it, by the session of the browser.
 *  (2) No page of another origin sends a message for a person.
 */
import { decodeUtf8 } from '../../base/attempt.ts'
import { escapeMarkup } from '../../base/markup.ts'
import { chain, type Maybe } from '../../base/maybe.ts'
import { endpointsOf } from '../../contract/endpoint-rule.ts'
import { readFields, readOptions } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import type { Caller } from '../../contract/policy.ts'
import { namespaceOf } from '../../contract/service.ts'
import { compileMessages, type Message } from '../../contract/xml-message.ts'
import { authenticate } from '../../front/authenticate.ts'
import { isCrossOrigin } from '../../front/cross-origin.ts'
import { type Entry, originOf, prefixOf } from '../../front/entry.ts'
import { endOfVersion } from '../../front/version-end.ts'
import { changeRows, type FormState, normalizeRows, writeControls } from '../../html/controls.ts'
import { buildElement, type PageMarkup, writeAnchor, writeNotice, writeSection } from '../../html/element.ts'
import { type PageFrame, type PageVisitor, writePage } from '../../html/frame.ts'
import { indentXml, shortenText } from '../../html/indent.ts'
import { nameControl, parseTextTree, type TextTree } from '../../html/text-tree.ts'
import { writeRowTable } from '../../html/value-views.ts'
import { parseMediaType } from '../../http/media-type.ts'
import { contentOf, type Response } from '../../http/message.ts'
import { parseAccept } from '../../http/negotiate.ts'
import { reasonPhrases } from '../../http/status.ts'
import { type Pairs, parseQuery, writeQuery } from '../../http/uri.ts'
import { readFormValues } from '../../rest/formats/untyped-text.ts'
import type { FaceContext } from '../../service/face-context.ts'
import type { Endpoint } from '../../soap/endpoint.ts'
import { writeEnvelope } from '../../soap/envelope.ts'
import type { SoapEndpoint } from '../../soap/http/binding.ts'
import { type SoapVersion, soap11, soap12 } from '../../soap/version.ts'
import { writeRequestBody } from './soap-messages.ts'

/** Octets of a form, whose message may be as long as any. */
const formOctetsMax = 2 * 1024 * 1024
/** Characters of an answer that are shown. */
const shownCharacters = 60_000

const formType = 'application/x-www-form-urlencoded'

interface SoapPage {
  readonly context: FaceContext
  readonly endpoint: Endpoint
  readonly served: SoapEndpoint
  readonly messages: readonly Message[]
  readonly namespace: string
}

/** The endpoint with its page: what no browser asks for reaches the endpoint as before. */
export function addSoapPage(context: FaceContext, endpoint: Endpoint, served: SoapEndpoint): SoapEndpoint {
  const { contract } = context.app
  const page: SoapPage = {
    context,
    endpoint,
    served,
    messages: compileMessages(contract, endpoint.version),
    namespace: namespaceOf(contract, endpoint.version),
  }
  const endsAt = endOfVersion(contract.versions[endpoint.version] ?? {})
  return {
    ...served,
    serve: entry => (isForPage(page, entry) && entry.now < endsAt ? servePage(page, entry) : served.serve(entry)),
  }
}

function isForPage({ endpoint }: SoapPage, { request, path, query }: Entry): boolean {
  const { method, fields } = request
  if (path !== endpoint.path || (query !== '' && !query.startsWith('operation='))) return false
  if (method === 'GET' || method === 'HEAD') return isAcceptOfBrowser(fields['accept'])
  // A form names its operation; `curl -d` sends this type, too, where nothing else is said.
  return method === 'POST' && query !== '' && parseMediaType(fields['content-type'] ?? '')?.essence === formType
}
const isAcceptOfBrowser = (accept: string | undefined): boolean =>
  accept !== undefined && parseAccept(accept).some(({ subtype, quality }) => subtype === 'html' && quality > 0)

function servePage(page: SoapPage, entry: Entry): Maybe<Response> {
  return chain(authenticate(entry.request, page.context, page.context.app.contract.service), caller => {
    const name = new Map(entry.pairs).get('operation')
    if (name === undefined)
      return respondAsPage(page, entry, caller, 200, endpointTitle(page), writeEndpoint(page, entry))
    const message = page.messages.find(({ operation }) => operation.name === name)
    if (!message)
      return respondAsPage(
        page,
        entry,
        caller,
        404,
        'No such operation',
        writeNotice('This endpoint has no operation of this name.'),
      )
    if (entry.request.method !== 'POST')
      return respondAsPage(
        page,
        entry,
        caller,
        200,
        name,
        writeTrial(page, entry, message, { version: spokenVersionsOf(page.endpoint)[0] }),
      )
    if (isCrossOrigin(entry, page.context.settings))
      // (2)
      return respondAsPage(
        page,
        entry,
        caller,
        403,
        'Request from another site',
        writeNotice('Another site sent this form.'),
      )
    return tryOperation(page, entry, caller, message)
  })
}

const endpointTitle = ({ context, endpoint: { version } }: SoapPage): string =>
  `${context.app.contract.title} ${version} as SOAP`

function respondAsPage(
  page: SoapPage,
  entry: Entry,
  caller: Caller,
  status: number,
  title: string,
  body: PageMarkup,
): Response {
  return {
    status,
    fields: {
      'content-type': 'text/html;charset=utf-8',
      'cache-control': 'private, no-cache',
      vary: 'Accept, Authorization, Cookie',
    },
    content: writePage(describePage(page, entry, caller, title), body),
  }
}

function describePage(
  { context, endpoint }: SoapPage,
  entry: Entry,
  { subject, roles }: Caller,
  title: string,
): PageFrame {
  const prefix = prefixOf(context.settings)
  const here = `${prefix}${entry.path}${entry.query === '' ? '' : `?${entry.query}`}`
  const visitor: PageVisitor = {
    name: subject,
    roles,
    signIn: `${prefix}/login?to=${encodeURIComponent(here)}`,
    signOut: { href: `${prefix}/logout`, back: here },
  }
  const { title: service } = context.app.contract
  const home = `${prefix}/api/${endpoint.version}`
  const above = { href: prefix + endpoint.path, text: endpointTitle({ context, endpoint } as SoapPage) }
  const trail = [{ href: home, text: 'Start' }, ...(entry.query === '' ? [] : [above])]
  return { title, service, prefix, home, trail, visitor, places: [{ href: prefix + endpoint.path, text: 'SOAP' }] }
}

const styleTexts: Readonly<Record<Endpoint['style'], string>> = {
  document: 'document/literal wrapped',
  rpc: 'RPC/literal',
  encoded: 'RPC/encoded',
}

function writeEndpoint(page: SoapPage, entry: Entry): PageMarkup {
  const { endpoint, context } = page
  const address = originOf(entry) + endpoint.path
  const security = endpoint.secure ? ' Each message proves its sender by WS-Security.' : ''
  return [
    buildElement(
      'p',
      {},
      'POST messages of SOAP 1.1 or 1.2 to ',
      buildElement('code', {}, escapeMarkup(address)),
      escapeMarkup(`, ${styleTexts[endpoint.style]}.${security}`),
    ),
    writeSection('Operations', { class: 'face soap' }, writeOperations(page)),
    writeSection('Descriptions', {}, writeDescriptions(page)),
    writeSection('Header blocks', {}, writeBlocks(page)),
    writeSection('Other endpoints', {}, writeOtherEndpoints(context, endpoint)),
  ].join('\n')
}

function writeOperations({ messages, endpoint, context }: SoapPage): PageMarkup {
  const path = prefixOf(context.settings) + endpoint.path
  const rows = messages.map(({ operation, response, faults }) => [
    writeAnchor(`${path}?${writeQuery([['operation', operation.name]])}`, operation.name),
    escapeMarkup(response === undefined ? 'one way' : operation.safe ? 'reads' : 'changes'),
    escapeMarkup(faults.map(({ fault }) => fault).join(', ')),
    escapeMarkup([...new Set(operation.grants.map(({ role }) => (role === '*' ? 'anyone' : role)))].join(', ')),
  ])
  return writeRowTable([{ name: 'operation' }, { name: 'effect' }, { name: 'faults' }, { name: 'who may' }], rows)
}

const descriptionTexts = {
  wsdl: 'WSDL 1.1, all versions of SOAP',
  'wsdl=1.1': 'WSDL 1.1 with SOAP 1.1 alone',
  'wsdl=1.2': 'WSDL 1.1 with SOAP 1.2 alone',
  wsdl2: 'WSDL 2.0',
  xsd: 'XML Schema',
} as const
type DescriptionQuery = keyof typeof descriptionTexts

/** The queries by which an endpoint of these versions of SOAP gives its descriptions. */
export const listDescriptions = (spoken: Endpoint['versions'] = 'both'): readonly DescriptionQuery[] =>
  (Object.keys(descriptionTexts) as DescriptionQuery[]).filter(
    query => spoken === 'both' || !query.includes('=') || query.endsWith(spoken),
  )

function writeDescriptions({ endpoint, context }: SoapPage): PageMarkup {
  const path = prefixOf(context.settings) + endpoint.path
  const cards = listDescriptions(endpoint.versions).map(query =>
    buildElement(
      'li',
      { class: 'card soap' },
      writeAnchor(`${path}?${query}`, `?${query}`),
      buildElement('p', {}, descriptionTexts[query]),
    ),
  )
  return buildElement('ul', { class: 'cards' }, ...cards)
}

function writeBlocks({ messages }: SoapPage): PageMarkup {
  const own = [...new Set(messages.flatMap(({ headers }) => headers.map(({ name }) => name)))]
  const named = own.length === 0 ? '' : ` The contract adds ${own.join(', ')}.`
  return buildElement(
    'p',
    {},
    escapeMarkup(
      `WS-Addressing 1.0 is understood everywhere. A block that has to be understood and is not gets a MustUnderstand fault.${named}`,
    ),
  )
}

function writeOtherEndpoints({ app, settings }: FaceContext, { version, path }: Endpoint): PageMarkup {
  const prefix = prefixOf(settings)
  const links = endpointsOf(app.contract)
    .filter(other => other.version === version && other.path !== path)
    .map(other => buildElement('li', {}, writeAnchor(prefix + other.path, other.path)))
  return buildElement('ul', { class: 'links' }, ...links)
}

/** The versions of SOAP that the endpoint speaks, the newest first. */
function spokenVersionsOf({ versions }: Endpoint): readonly [SoapVersion, ...SoapVersion[]] {
  if (versions === 'both') return [soap12, soap11]
  return [versions === '1.1' ? soap11 : soap12]
}

/** What was typed, written and answered so far. */
interface SoapTrial {
  readonly version?: SoapVersion
  readonly isAddressed?: boolean
  readonly tree?: TextTree
  readonly problems?: ReadonlyMap<string, readonly string[]>
  readonly envelope?: string
  readonly answer?: Response
  readonly text?: string
}

function writeTrial(page: SoapPage, entry: Entry, message: Message, trial: SoapTrial): PageMarkup {
  const { endpoint } = page
  const { operation, faults, request, response } = message
  const names = faults.map(({ fault, title }) =>
    buildElement('li', {}, buildElement('code', {}, escapeMarkup(fault)), escapeMarkup(`: ${title}`)),
  )
  const about = [
    buildElement(
      'p',
      {},
      escapeMarkup(
        `Element ${request.name}${response ? `, answered by ${response.name}` : ', without an answer'}. Action ${message.action}.`,
      ),
    ),
    names.length === 0
      ? ''
      : buildElement(
          'details',
          {},
          buildElement('summary', {}, 'Faults that it may have'),
          buildElement('div', { class: 'inside' }, buildElement('ul', {}, ...names)),
        ),
  ].join('')
  if (endpoint.secure)
    return (
      about +
      buildElement(
        'p',
        { class: 'panel' },
        'Messages here prove their sender by WS-Security, which a browser cannot do.',
      )
    )
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

const ownControls = { version: '_version', addressing: '_addressing', next: '_next', message: '_message' } as const

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
    redraw: (change, name) => at(`&${writeQuery([[`_${change}`, name]])}`),
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
  const radios = spokenVersionsOf(endpoint).map(({ number }) =>
    buildElement(
      'label',
      {},
      buildElement('input', {
        type: 'radio',
        name: ownControls.version,
        value: number,
        checked: number === version?.number,
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

/** The message itself, to be changed by hand and sent. */
function writeEnvelopeForm({ query }: Entry, { envelope, version = soap12 }: SoapTrial): PageMarkup {
  if (envelope === undefined) return ''
  return buildElement(
    'form',
    { id: 'message', method: 'post', action: `?${query.split('&')[0] ?? ''}`, 'aria-labelledby': 'message-title' },
    buildElement('h2', { id: 'message-title' }, 'The message'),
    buildElement('input', { type: 'hidden', name: ownControls.version, value: version.number }),
    buildElement('input', { type: 'hidden', name: ownControls.next, value: 'send' }),
    buildElement(
      'div',
      { class: 'field' },
      buildElement('label', { for: 'message-text' }, `Envelope of SOAP ${version.number}`),
      buildElement(
        'textarea',
        { id: 'message-text', class: 'message', name: ownControls.message, spellcheck: 'false' },
        `\n${escapeMarkup(envelope)}`,
      ),
    ),
    buildElement('div', { class: 'buttons' }, buildElement('button', { class: 'soap' }, 'Send as it stands here')),
  )
}

function writeAnswer({ answer, text = '' }: SoapTrial): PageMarkup {
  if (!answer) return ''
  const { status, fields } = answer
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  ]
  const isFault = status >= 400
  return writeSection(
    isFault ? 'A fault came back' : 'The answer',
    { id: 'answer', class: isFault ? 'alert' : 'face soap', role: isFault ? 'alert' : 'status' },
    buildElement(
      'pre',
      { tabindex: 0, 'aria-label': 'Answer' },
      escapeMarkup(`${head.join('\n')}\n\n${shortenText(indentXml(text, shownCharacters), shownCharacters)}`),
    ),
  )
}
async function tryOperation(page: SoapPage, entry: Entry, caller: Caller, message: Message): Promise<Response> {
  const octets = await entry.request.content.bytes(formOctetsMax)
  const pairs = octets && parseQuery(decodeUtf8(octets) ?? '%')
  const title = message.operation.name
  if (!pairs)
    return respondAsPage(
      page,
      entry,
      caller,
      400,
      title,
      writeNotice('The form cannot be read, or is too long.') +
        writeTrial(page, entry, message, { version: spokenVersionsOf(page.endpoint)[0] }),
    )
  const trial = readTrial(page, entry, message, pairs)
  if (trial.envelope === undefined || new Map(pairs).get(ownControls.next) !== 'send' || redrawAsked(entry))
    return respondAsPage(
      page,
      entry,
      caller,
      trial.problems ? 422 : 200,
      title,
      writeTrial(page, entry, message, trial),
    )
  const answer = await sendEnvelope(page, entry, caller, message, trial)
  return respondAsPage(
    page,
    entry,
    caller,
    200,
    title,
    writeTrial(page, entry, message, { ...trial, answer, text: await answerText(answer) }),
  )
}

function redrawAsked({ pairs }: Entry): { change: 'add' | 'drop' | 'show'; name: string } | undefined {
  for (const change of ['add', 'drop', 'show'] as const) {
    const name = new Map(pairs).get(`_${change}`)
    if (name !== undefined) return { change, name }
  }
  return undefined
}

function readTrial(page: SoapPage, entry: Entry, message: Message, pairs: Pairs): SoapTrial {
  const given = new Map(pairs)
  const spoken = spokenVersionsOf(page.endpoint)
  const version = spoken.find(each => each.number === given.get(ownControls.version)) ?? spoken[0]
  const isAddressed = given.has(ownControls.addressing)
  const own: ReadonlySet<string> = new Set(Object.values(ownControls))
  const typed = pairs.filter(([name]) => !own.has(name))
  const written = given.get(ownControls.message)
  if (written !== undefined) return { version, envelope: written.replaceAll('\r\n', '\n') }
  const { fields } = message.request
  const tree = parseTextTree(typed) ?? {}
  const redraw = redrawAsked(entry)
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

/** (1) */
function sendEnvelope(
  { served }: SoapPage,
  entry: Entry,
  caller: Caller,
  { action }: Message,
  { version = soap12, envelope = '' }: SoapTrial,
): Maybe<Response> {
  const type = `${version.mediaType}; charset=utf-8`
  const fields: Readonly<Record<string, string>> =
    version.actionIn === 'media type'
      ? { 'content-type': `${type}; action="${action}"` }
      : { 'content-type': type, soapaction: `"${action}"` }
  const { request } = entry
  const message = { ...request, method: 'POST', fields: { ...fields, host: entry.host }, content: contentOf(envelope) }
  return served.serveFor({ ...entry, request: message, query: '', pairs: [] }, caller)
}

async function answerText({ content = '' }: Response): Promise<string> {
  if (typeof content === 'string') return content
  if (content instanceof Uint8Array) return decodeUtf8(content) ?? ''
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of content) text += decoder.decode(piece, { stream: true })
  return text
}
