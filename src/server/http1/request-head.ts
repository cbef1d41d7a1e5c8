/**
 * The head of an HTTP/1.1 request, read from its octets as Latin-1 text (RFC 9112 §2.2). What
 * always holds:
 *  (1) Lines end with CRLF and with nothing else; what another reader of the same octets could
 *      split, join or hide is refused: bare CR and LF, NUL, folded lines, white space before a
 *      colon (§2.2, §5.1, §5.2).
 *  (2) The end of the content is certain, or the request is refused (§6.3): never a length and a
 *      coding, never two lengths.
 *  (3) Field names are tokens; values keep every octet except the white space around them.
 * After a refusal the connection ends, because nothing says where the next request begins.
 */
import { memoizeByText } from '../../base/memo.ts'
import { isToken, trimSpace } from '../../http/grammar.ts'
import { hasLasting, type LastingCredentials, type LastingFields, selectLasting } from '../../http/lasting-fields.ts'
import type { HttpFields } from '../../http/message.ts'
import { addFieldLine } from '../field-lines.ts'
import type { ServerLimits } from '../limits.ts'
import { limitRefusals, refusals, type ServerRefusal } from '../refusals.ts'

/** The field lines of a request, and the framing that they state. */
export interface Lines {
  /** As received: if a connection repeats them, they are parsed only once. */
  readonly text: string
  readonly fields: HttpFields
  /** Their names, in order. */
  readonly names: readonly FieldName[]
  /** The same object as for the lines before, if the lasting fields are the same. */
  readonly lasting: LastingFields
  readonly credentials: LastingCredentials
  /** Octets of content; undefined for chunked content. */
  readonly length: number | undefined
  /** RFC 9112 §9.6 and, for HTTP/1.0, §C.2.2. */
  readonly connection: 'close' | 'keep-alive' | undefined
  /** RFC 9110 §10.1.1: the client sends the content after we ask for it. */
  readonly expects: boolean
}

/** A name as a client spells it, with its colon. */
interface FieldName {
  readonly lead: string
  readonly name: string
}

export interface Head {
  readonly method: string
  readonly target: string
  readonly version: '1.0' | '1.1'
  readonly lines: Lines
  /** The lasting fields of `lines`, if the connection has sent them before. */
  readonly lasting: LastingFields | undefined
  readonly credentials: LastingCredentials | undefined
}

/**
 * @param text from the first octet to the CRLF of the last field line
 * @param before the lines that this connection sent last
 */
export function readRequestHead(text: string, before: Lines | undefined, limits: ServerLimits): Head | ServerRefusal {
  const end = text.indexOf('\r\n')
  const first = text.indexOf(' ')
  const last = text.lastIndexOf(' ', end - 1)
  if (first < 0 || first > end) return refusals.requestLine
  const method = tokenOf(text.slice(0, first))
  if (method === undefined) return refusals.method
  if (last === first) return refusals.requestLine
  const version = readVersion(text.slice(last + 1, end))
  if (typeof version !== 'string') return version
  const target = text.slice(first + 1, last)
  if (!visibleOnly.test(target)) return refusals.target
  const fields = text.slice(end + 2)
  if (fields.length > limits.fields) return limitRefusals.fields(limits)
  const lines = before?.text === fields ? before : readLines(fields, before)
  if ('detail' in lines) return lines
  // §6.1: a message of HTTP/1.0 with a transfer coding has faulty framing.
  if (version === '1.0' && lines.length === undefined) return refusals.framing10
  const lasting = lines.lasting === before?.lasting ? lines.lasting : undefined
  const credentials = lines.credentials === before?.credentials ? lines.credentials : undefined
  return { method, target, version, lines, lasting, credentials }
}

/** RFC 9110 §9.1: any token. The face refuses an unknown method, as in HTTP/2. */
const tokenOf = memoizeByText((text: string): string | undefined => (isToken(text) ? text : undefined))

/**
 * §3.2: no white space and no octet that a URI cannot contain. The face refuses fragments and the
 * like.
 */
const visibleOnly = /^[\x21-\x7e]+$/

/**
 * §2.3; RFC 9110 §2.5: a later minor version is read as 1.1. §15.6.6: 505 concerns the major
 * version.
 */
function readVersion(text: string): Head['version'] | ServerRefusal {
  if (text === 'HTTP/1.1' || /^HTTP\/1\.[2-9]$/.test(text)) return '1.1'
  if (text === 'HTTP/1.0') return '1.0'
  return /^HTTP\/\d\.\d$/.test(text) ? refusals.version : refusals.versionSyntax
}

/** (1) In an incomplete line: a control character, such as half of a CRLF. */
const unsoundCharacter = /[^\t\x20-\x7e\x80-\xff]/

/** §5: `text` consists of complete lines with their CRLF. */
function readLines(text: string, before: Lines | undefined): Lines | ServerRefusal {
  const fields: Record<string, string> = Object.create(null)
  const names: FieldName[] = []
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n', at)
    const usual = before?.names[names.length]
    const named = usual && text.startsWith(usual.lead, at) ? usual : readName(text, at, end)
    if ('detail' in named) return named
    const value = readValue(text, at + named.lead.length, end)
    if (unsoundCharacter.test(value)) return refusals.fieldOctets
    names.push(named)
    addFieldLine(fields, named.name, value)
    at = end + 2
  }
  const length = readFraming(fields)
  if (typeof length === 'object') return length
  const lasting = before && hasLasting(fields, before.lasting) ? before.lasting : selectLasting(fields)
  const authorization = fields['authorization']
  const isSameCaller = before && before.credentials.authorization === authorization
  const credentials = isSameCaller ? before.credentials : { authorization }
  const connection = readConnection(fields['connection'])
  return { text, fields, names, lasting, credentials, length, connection, expects: expectsContinue(fields['expect']) }
}

/**
 * (3) A client sends its fields in the same order each time, so most names are those of its
 *     previous request.
 */
function readName(text: string, at: number, end: number): FieldName | ServerRefusal {
  const colon = text.indexOf(':', at)
  return (colon < 0 || colon > end ? undefined : fieldNameOf(text.slice(at, colon))) ?? refusals.fieldLine
}

/** Undefined if it is not a token. */
const fieldNameOf = memoizeByText((text: string): FieldName | undefined =>
  isToken(text) ? { lead: `${text}:`, name: text.toLowerCase() } : undefined,
)

/** §5.1: OWS around a value does not belong to it. */
function readValue(text: string, from: number, to: number): string {
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** (2) §6.3: octets of content, or undefined for chunked content. */
function readFraming(fields: HttpFields): number | undefined | ServerRefusal {
  const coding = fields['transfer-encoding']
  const length = fields['content-length']
  if (coding === undefined) {
    if (length === undefined) return 0
    return /^\d{1,15}$/.test(length) ? Number(length) : refusals.framing
  }
  if (length !== undefined) return refusals.framing
  const codings = coding.split(',').map(each => trimSpace(each).toLowerCase())
  if (codings.length === 1 && codings[0] === 'chunked') return undefined
  // Chunked must be the last coding and occur once, or else the content has no end. No coding
  // before it is supported.
  return codings.indexOf('chunked') === codings.length - 1 ? refusals.coding : refusals.framing
}

function readConnection(field: string | undefined): Lines['connection'] {
  if (field === undefined) return undefined
  const options = field.toLowerCase().split(/[\s,]+/)
  return options.includes('close') ? 'close' : options.includes('keep-alive') ? 'keep-alive' : undefined
}

const expectsContinue = (field: string | undefined): boolean =>
  field !== undefined && field.toLowerCase() === '100-continue'
