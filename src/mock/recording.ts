/**
 * Recordings of a real service: one file for each distinct request, with its responses in order.
 * What always holds:
 *  (1) A request is kept as method, target and digest; a response with only those fields that
 *      identify no one. Secrets in either are masked before anything is digested or written.
 *  (2) Requests are the same if their canonical forms are: parameters in any order, members of JSON
 *      in any order, the Body of an envelope without its header blocks.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import type { Json } from '../base/objects.ts'
import { parseJson, writeJson } from '../http/json.ts'
import type { Request, Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { canonicalize, Malformed, parseXml } from '../xml/index.ts'
import { listCredentials, listSecrets, maskForm, maskTarget, maskText } from './masked-text.ts'

interface RecordedAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  /** One of the two has the content; octets as base64. */
  readonly text?: string
  readonly octets?: string
}
export interface Recording {
  readonly method: string
  readonly target: string
  readonly action: string
  /** The digest of the canonical request. */
  readonly key: string
  /** Where the service was, so that its addresses can be replaced by the mock's. */
  readonly origin: string
  readonly answers: RecordedAnswer[]
}

const contentMax = 64 * 1024 * 1024
/** Responses to one request; the last one is repeated. */
const answersMax = 1000

/** Response fields that identify no one, and do not concern only their connection. */
const keptFields = new Set([
  ...['content-type', 'content-language', 'content-disposition', 'content-location', 'content-range', 'location'],
  ...[
    'accept-ranges',
    'allow',
    'cache-control',
    'deprecation',
    'etag',
    'expires',
    'last-modified',
    'link',
    'retry-after',
  ],
  ...['sunset', 'vary'],
])
/** Request fields on which the response depends. */
const decidingFields = [
  'accept',
  'accept-language',
  'range',
  'if-match',
  'if-none-match',
  'prefer',
  'x-http-method-override',
]
/** RFC 9110 §7.6.1, and fields only for the mock. */
const ownFields = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-authorization'],
  ...['host', 'content-length', 'accept-encoding', 'expect', 'mock-behavior'],
])

// Recording

/** Calls the service at this address, and writes each exchange to the folder. */
export function createRecorder(to: string, folder: string): (request: Request) => Promise<Response> {
  const address = URL.parse(to)
  if (!address || !/^https?:$/.test(address.protocol))
    throw new Error(`cannot record ${to}: not an http or https address`)
  mkdirSync(folder, { recursive: true })
  const base = address.href.replace(/\/+$/, '')
  const recordings = new Map<string, Recording>()
  return async request => {
    const content = await request.content.bytes(contentMax)
    if (!content) return respond(413, { detail: `a recording holds ${contentMax} octets at most` })
    const answer = await forward(base, request, content)
    if (!answer) return respond(502, { detail: `${base} did not respond` })
    const known = listKnown(request, content)
    const key = digestRequest(request, content, known)
    const target = maskText(maskTarget(request.target), known)
    const { method, fields } = request
    const start = { method, target, action: actionOf(fields), key, origin: address.origin, answers: [] }
    const recording = recordings.get(key) ?? start
    recordings.set(key, recording)
    if (recording.answers.length < answersMax) recording.answers.push(recordAnswer(answer, known))
    writeFileSync(join(folder, nameFile(recording)), `${JSON.stringify(recording, undefined, 2)}\n`, { mode: 0o600 })
    return replaceOrigin(answer, address.origin, request)
  }
}

/** The credentials of the request and its secrets, since a response may repeat them. */
const listKnown = ({ fields, target }: Request, content: Uint8Array): readonly string[] => [
  ...listCredentials(fields),
  ...listSecrets(target),
  ...listSecrets(Buffer.from(content).toString('latin1')),
]

/** The words of the target, so that a person finds the file, and the digest. */
const nameFile = ({ method, target, key }: Recording): string =>
  `${method}-${target
    .replace(/\?.*$/, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60)}-${key.slice(0, 16)}.json`

interface WholeAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly content: Uint8Array
}

async function forward(base: string, request: Request, content: Uint8Array): Promise<WholeAnswer | undefined> {
  const headers = Object.entries(request.fields).filter(([name]) => !ownFields.has(name))
  const hasContent = content.length > 0 && request.method !== 'GET' && request.method !== 'HEAD'
  try {
    const answer = await fetch(base + request.target, {
      method: request.method,
      headers: [...headers, ['accept-encoding', 'identity']],
      ...(hasContent && { body: new Uint8Array(content) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    const octets = new Uint8Array(await answer.arrayBuffer())
    return { status: answer.status, fields: Object.fromEntries(answer.headers), content: octets }
  } catch (thrown) {
    // The service is out of reach or late, or its response was cut.
    if (thrown instanceof TypeError || (thrown instanceof Error && thrown.name === 'TimeoutError')) return undefined
    throw thrown
  }
}

const isTextContent = (type: string): boolean => /^text\/|json|xml|x-www-form-urlencoded|javascript/i.test(type)
const isPackage = (type: string): boolean => /^multipart\//i.test(type)

/** (1) */
function recordAnswer({ status, fields, content }: WholeAnswer, known: readonly string[]): RecordedAnswer {
  const keptEntries = Object.entries(fields).filter(([name]) => keptFields.has(name))
  const masked = keptEntries.map(([name, value]) => [name, maskText(value, known)] as const)
  const start = { status, fields: Object.fromEntries(masked) }
  const type = fields['content-type'] ?? ''
  if (content.length === 0) return start
  if (isTextContent(type) && !isPackage(type))
    return { ...start, text: maskText(Buffer.from(content).toString('utf8'), known) }
  const octets = isPackage(type)
    ? Buffer.from(maskText(Buffer.from(content).toString('latin1'), known), 'latin1')
    : content
  return { ...start, octets: encodeBase64(octets) }
}

// Replaying

/** Responds from the recordings in a folder; if there are none, the error says what to do. */
export function createReplay(folder: string): (request: Request) => Promise<Response> {
  const recordings = new Map(readRecordings(folder).map(each => [each.key, each]))
  if (recordings.size === 0)
    throw new Error(`${folder} has no recordings: make some with --record ${folder} --to ADDRESS`)
  const repetitions = new Map<string, number>()
  return async request => {
    const content = (await request.content.bytes(contentMax)) ?? new Uint8Array(0)
    const key = digestRequest(request, content, listKnown(request, content))
    const found = recordings.get(key)
    if (!found)
      return respond(404, {
        detail: `no recording of ${request.method} ${maskTarget(request.target)} with this content`,
      })
    const times = repetitions.get(key) ?? 0
    repetitions.set(key, times + 1)
    const { status, fields, text, octets } = found.answers[Math.min(times, found.answers.length - 1)] ?? {
      status: 404,
      fields: {},
    }
    const whole = text === undefined ? requireBase64(octets ?? '') : Buffer.from(text)
    return replaceOrigin({ status, fields, content: whole }, found.origin, request)
  }
}

function readRecordings(folder: string): readonly Recording[] {
  return readdirSync(folder)
    .filter(each => each.endsWith('.json'))
    .map(each => {
      const found: Partial<Recording> = JSON.parse(readFileSync(join(folder, each), 'utf8'))
      if (typeof found.key !== 'string' || !Array.isArray(found.answers))
        throw new Error(`${join(folder, each)} is not a recording: remove it from the folder`)
      return found as Recording // made by `createRecorder`
    })
}

/** Replaces the service's addresses by the mock's, so that its links lead here. */
function replaceOrigin({ status, fields, content }: WholeAnswer, origin: string, request: Request): Response {
  const address = `${request.scheme}://${request.fields['host'] ?? 'localhost'}`
  const keptEntries = Object.entries(fields).filter(([name]) => keptFields.has(name))
  const moved = keptEntries.map(([name, value]) => [name, value.replaceAll(origin, address)] as const)
  const start = { status, fields: Object.fromEntries(moved) }
  if (content.length === 0) return start
  const isWords = isTextContent(fields['content-type'] ?? '') && !isPackage(fields['content-type'] ?? '')
  return { ...start, content: isWords ? Buffer.from(content).toString('utf8').replaceAll(origin, address) : content }
}

// The canonical request

/** (2) */
export function digestRequest(
  request: Pick<Request, 'method' | 'target' | 'fields'>,
  content: Uint8Array,
  known: readonly string[],
): string {
  const { method, target, fields } = request
  const deciding = decidingFields.flatMap(name =>
    fields[name] === undefined ? [] : [`${name}: ${fields[name].replaceAll(/\s+/g, '')}`],
  )
  const lines = [
    method,
    maskTarget(target),
    actionOf(fields),
    ...deciding,
    canonicalContent(fields['content-type'] ?? '', content),
  ]
  return createHash('sha256')
    .update(maskText(lines.join('\n'), known))
    .digest('hex')
}

/** The action of SOAP: the field of 1.1, the parameter of 1.2. */
const actionOf = (fields: Request['fields']): string =>
  (fields['soapaction'] ?? /action="([^"]*)"/i.exec(fields['content-type'] ?? '')?.[1] ?? '').replaceAll('"', '').trim()

function canonicalContent(type: string, content: Uint8Array): string {
  if (content.length === 0) return ''
  if (isPackage(type)) {
    const [, boundary = ''] = /boundary="?([^";]+)/i.exec(type) ?? []
    const text = Buffer.from(content).toString('latin1')
    return maskText(boundary === '' ? text : text.replaceAll(boundary, ''), [])
  }
  const text = Buffer.from(content).toString('utf8')
  if (/json/i.test(type)) return canonicalJson(maskText(text, [])) ?? text
  if (/xml/i.test(type)) return canonicalXml(maskText(text, [])) ?? text
  return /x-www-form-urlencoded/i.test(type) ? maskForm(text) : text
}

function canonicalJson(text: string): string | undefined {
  const { value } = parseJson(text)
  return value === undefined ? undefined : writeJson(sortMembers(value))
}
function sortMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(members.map(([name, each]) => [name, sortMembers(each)]))
}

/** The Body of an envelope; any other document as a whole. */
function canonicalXml(text: string): string | undefined {
  const document = parseXml(Buffer.from(text))
  if (document instanceof Malformed) return undefined
  const { root } = document
  const body =
    root.name.local === 'Envelope' ? [...root.elements()].find(each => each.name.local === 'Body') : undefined
  return canonicalize(body ?? root, { exclusive: true, comments: false })
}
