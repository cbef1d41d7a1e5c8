/**
 * An endpoint in a browser: its operations, each with a page on which a person can send a message.
 * What it guards:
 *  (1) A message sent from a page goes through the endpoint like any other; the page only proves
 *      the sender, by the browser's session.
 *  (2) No page of another origin can send a message for a person.
 */
import { decodeUtf8 } from '../../base/attempt.ts'
import { escapeMarkup } from '../../base/markup.ts'
import { chain, type Maybe, settle } from '../../base/maybe.ts'
import { endpointsOf, type SpokenVersions } from '../../contract/endpoint-rule.ts'
import { portPath } from '../../contract/exchange.ts'
import type { Caller, Grant } from '../../contract/policy.ts'
import { authenticate } from '../../front/authenticate.ts'
import { isCrossOrigin } from '../../front/cross-origin.ts'
import { type Entry, prefixOf } from '../../front/entry.ts'
import { refusePage } from '../../front/page.ts'
import { buildElement, type PageMarkup, writeAnchor, writeNotice, writeSection } from '../../html/element.ts'
import { type PageFrame, type PageVisitor, writePage } from '../../html/frame.ts'
import { indentXml, shortenText } from '../../html/indent.ts'
import type { TextTree } from '../../html/text-tree.ts'
import { writeRowTable } from '../../html/value-views.ts'
import { parseMediaType } from '../../http/media-type.ts'
import { contentOf, type Response } from '../../http/message.ts'
import { parseAccept } from '../../http/negotiate.ts'
import { reasonPhrases } from '../../http/status.ts'
import { type Pairs, parseQuery, writeQuery } from '../../http/uri.ts'
import type { FaceContext } from '../../service/face-context.ts'
import type { SoapEndpoint } from '../../soap/http/binding.ts'
import { type SoapVersion, soap11, soap12 } from '../../soap/version.ts'

/** Octets of a form, whose message may have any length that messages may have. */
const formOctetsMax = 2 * 1024 * 1024
/** Characters of a response that are shown. */
const shownCharacters = 60_000

const formType = 'application/x-www-form-urlencoded'

/** An endpoint with pages, and the parts of an operation that its pages need. */
export interface PagedEndpoint<O> {
  readonly context: FaceContext
  readonly served: SoapEndpoint
  readonly path: string
  readonly title: string
  /** The entry that links to it. */
  readonly home: string
  readonly spoken: SpokenVersions
  readonly find: (name: string) => O | undefined
  readonly nameOf: (operation: O) => string
  /** The URI that names the operation in a version of SOAP. */
  readonly actionOf: (operation: O) => string
  readonly writeEndpoint: (entry: Entry) => PageMarkup
  readonly writeTrial: (entry: Entry, operation: O, trial: SoapTrial) => PageMarkup
  /** The state of an operation's page before a message is sent. */
  readonly begin: (entry: Entry, operation: O) => SoapTrial
  /** Reads the typed fields; the message itself has been read already. */
  readonly readTyped: (entry: Entry, operation: O, pairs: Pairs, version: SoapVersion) => SoapTrial
}

/** The state of a trial: the typed fields, the message, the response. */
export interface SoapTrial {
  readonly version: SoapVersion
  readonly isAddressed?: boolean
  readonly tree?: TextTree
  readonly problems?: ReadonlyMap<string, readonly string[]>
  readonly envelope?: string
  /** The message is not to be sent yet. */
  readonly isDraft?: boolean
  readonly answer?: Response
  readonly text?: string
}

/** Form controls that are not part of a message. */
export const ownControls = {
  version: '_version',
  addressing: '_addressing',
  next: '_next',
  message: '_message',
} as const

/** The versions of SOAP that an endpoint speaks, newest first. */
export const listSpoken = (spoken: SpokenVersions): readonly [SoapVersion, ...SoapVersion[]] =>
  spoken === 'both' ? [soap12, soap11] : [spoken === '1.1' ? soap11 : soap12]

/** Whether the request is a browser's, with a query that no description has. */
export function isForPage(path: string, { request, path: requestedPath, query }: Entry): boolean {
  const { method, fields } = request
  if (requestedPath !== path || (query !== '' && !query.startsWith('operation='))) return false
  if (method === 'GET' || method === 'HEAD') return isAcceptOfBrowser(fields['accept'])
  // A form names its operation; `curl -d`, too, sends this type by default.
  return method === 'POST' && query !== '' && parseMediaType(fields['content-type'] ?? '')?.essence === formType
}
const isAcceptOfBrowser = (accept: string | undefined): boolean =>
  accept !== undefined && parseAccept(accept).some(({ subtype, quality }) => subtype === 'html' && quality > 0)

export const servePage = <O>(page: PagedEndpoint<O>, entry: Entry): Maybe<Response> =>
  settle(
    () => respondToVisitor(page, entry),
    thrown => refusePage(entry, thrown, page.context),
  )

function respondToVisitor<O>(page: PagedEndpoint<O>, entry: Entry): Maybe<Response> {
  const { context, title } = page
  return chain(authenticate(entry.request, context, context.app.contract.service), caller => {
    const respond = (status: number, title: string, body: PageMarkup): Response =>
      respondAsPage(page, entry, caller, status, title, body)
    const name = new Map(entry.pairs).get('operation')
    if (name === undefined) return respond(200, title, page.writeEndpoint(entry))
    const operation = page.find(name)
    if (operation === undefined)
      return respond(404, 'No such operation', writeNotice('This endpoint has no operation of this name.'))
    if (entry.request.method !== 'POST')
      return respond(200, name, page.writeTrial(entry, operation, page.begin(entry, operation)))
    if (isCrossOrigin(entry, context.settings))
      return respond(403, 'Request from another site', writeNotice('Another site sent this form.')) // (2)
    return tryOperation(page, entry, caller, operation)
  })
}

function respondAsPage<O>(
  page: PagedEndpoint<O>,
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
      vary: 'Accept, Authorization, Cookie, Api-Key',
    },
    content: writePage(describePage(page, entry, caller, title), body),
  }
}

function describePage<O>(
  { context, path, home, title: endpoint }: PagedEndpoint<O>,
  entry: Entry,
  { subject, roles }: Caller,
  title: string,
): PageFrame {
  const prefix = prefixOf(context.settings)
  const address = `${prefix}${entry.path}${entry.query === '' ? '' : `?${entry.query}`}`
  const visitor: PageVisitor = {
    name: subject,
    roles,
    signIn: `${prefix}/login?to=${encodeURIComponent(address)}`,
    signOut: { href: `${prefix}/logout`, back: address },
  }
  const { title: service } = context.app.contract
  const start = prefix + home
  const above = { href: prefix + path, text: endpoint }
  const trail = [{ href: start, text: 'Start' }, ...(entry.query === '' ? [] : [above])]
  return { title, service, prefix, home: start, trail, visitor, places: [{ href: prefix + path, text: 'SOAP' }] }
}

async function tryOperation<O>(page: PagedEndpoint<O>, entry: Entry, caller: Caller, operation: O): Promise<Response> {
  const respond = (status: number, notice: PageMarkup, trial: SoapTrial): Response =>
    respondAsPage(
      page,
      entry,
      caller,
      status,
      page.nameOf(operation),
      notice + page.writeTrial(entry, operation, trial),
    )
  const octets = await entry.request.content.bytes(formOctetsMax)
  const pairs = octets && parseQuery(decodeUtf8(octets) ?? '%')
  if (!pairs) return respond(400, writeNotice('The form cannot be read, or is too long.'), page.begin(entry, operation))
  const trial = readTrial(page, entry, operation, pairs)
  if (trial.envelope === undefined || trial.isDraft) return respond(trial.problems ? 422 : 200, '', trial)
  const answer = await sendEnvelope(page, entry, caller, operation, trial)
  return respond(200, '', { ...trial, answer, text: await answerText(answer) })
}

function readTrial<O>(page: PagedEndpoint<O>, entry: Entry, operation: O, pairs: Pairs): SoapTrial {
  const parameters = new Map(pairs)
  const spoken = listSpoken(page.spoken)
  const version = spoken.find(each => each.number === parameters.get(ownControls.version)) ?? spoken[0]
  const written = parameters.get(ownControls.message)
  const isDraft = parameters.get(ownControls.next) !== 'send'
  if (written !== undefined) return { version, envelope: written.replaceAll('\r\n', '\n'), isDraft }
  return { isDraft, ...page.readTyped(entry, operation, pairs, version) }
}

/** (1) */
function sendEnvelope<O>(
  { served, actionOf }: PagedEndpoint<O>,
  entry: Entry,
  caller: Caller,
  operation: O,
  { version, envelope = '' }: SoapTrial,
): Maybe<Response> {
  const action = actionOf(operation)
  const type = `${version.mediaType}; charset=utf-8`
  const fields: Readonly<Record<string, string>> =
    version.actionIn === 'media type'
      ? { 'content-type': action === '' ? type : `${type}; action="${action}"` }
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

// Markup

/** An operation as a line in the list of operations. */
export interface OperationLine {
  readonly name: string
  readonly isOneWay: boolean
  readonly isSafe: boolean
  readonly faults: readonly string[]
  readonly grants: readonly Grant[]
}
export function writeOperations(address: string, lines: readonly OperationLine[]): PageMarkup {
  const rows = lines.map(({ name, isOneWay, isSafe, faults, grants }) => [
    writeAnchor(`${address}?${writeQuery([['operation', name]])}`, name),
    escapeMarkup(isOneWay ? 'one way' : isSafe ? 'reads' : 'changes'),
    escapeMarkup(faults.join(', ')),
    escapeMarkup([...new Set(grants.map(({ role }) => (role === '*' ? 'anyone' : role)))].join(', ')),
  ])
  return writeRowTable([{ name: 'operation' }, { name: 'effect' }, { name: 'faults' }, { name: 'who may' }], rows)
}

/** The address for messages, its versions of SOAP, and then `more`. */
export const writeAddress = (spoken: SpokenVersions, address: string, more: string): PageMarkup =>
  buildElement(
    'p',
    {},
    `POST messages of SOAP ${spoken === 'both' ? '1.1 or 1.2' : spoken} to `,
    buildElement('code', {}, escapeMarkup(address)),
    escapeMarkup(more),
  )

/** @param texts the descriptions of the endpoint, by query */
export function writeDescriptions(address: string, texts: Readonly<Record<string, string>>): PageMarkup {
  const cards = Object.entries(texts).map(([query, text]) =>
    buildElement(
      'li',
      { class: 'card soap' },
      writeAnchor(`${address}?${query}`, `?${query}`),
      buildElement('p', {}, escapeMarkup(text)),
    ),
  )
  return buildElement('ul', { class: 'cards' }, ...cards)
}

/** Links to the other endpoints of a version, and to the ports. */
export function writeOtherEndpoints({ app, settings }: FaceContext, version: string, path: string): PageMarkup {
  const prefix = prefixOf(settings)
  const { contract } = app
  const paths = [
    ...endpointsOf(contract)
      .filter(other => other.version === version)
      .map(other => other.path),
    ...contract.ports.map(portPath),
  ]
  const links = paths
    .filter(other => other !== path)
    .map(other => buildElement('li', {}, writeAnchor(prefix + other, other)))
  return buildElement('ul', { class: 'links' }, ...links)
}

/** The text about an operation, then its faults, each with a text. */
export function writeAbout(text: string, faults: readonly (readonly [name: string, text: string])[]): PageMarkup {
  const names = faults.map(([name, title]) =>
    buildElement('li', {}, buildElement('code', {}, escapeMarkup(name)), escapeMarkup(title && `: ${title}`)),
  )
  const folded = () =>
    buildElement(
      'details',
      {},
      buildElement('summary', {}, 'Faults that it may have'),
      buildElement('div', { class: 'inside' }, buildElement('ul', {}, ...names)),
    )
  return buildElement('p', {}, escapeMarkup(text)) + (names.length === 0 ? '' : folded())
}

export const writeSecureNote = (): PageMarkup =>
  buildElement('p', { class: 'panel' }, 'Messages here prove their sender by WS-Security, which a browser cannot do.')

/** The message itself, to be edited by hand and sent. */
export function writeEnvelopeForm({ query }: Entry, { envelope, version }: SoapTrial): PageMarkup {
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
    buildElement('div', { class: 'buttons' }, buildElement('button', { class: 'soap' }, 'Send as shown here')),
  )
}

export function writeAnswer({ answer, text = '' }: SoapTrial): PageMarkup {
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
