/**
 * A client of a REST service, made from its description at run time: it calls one exchange of
 * `RestPort`, and ends in the ways of `PortAnswer`. What it guards, by number:
 *  (1) No value from a caller leads to another resource: a path member is one segment, encoded.
 *  (2) No value from a caller ends a field or begins another (RFC 9110 §5.5).
 *  (3) A response that is invalid by the description is not passed on; unknown members are left
 *      out.
 *  (4) Redirects are not followed, since they would carry credentials elsewhere.
 */
import { attempt } from '../base/attempt.ts'
import { markPassing } from '../base/marked-octets.ts'
import { isJsonObject, type Json, type JsonObject, stringOf } from '../base/objects.ts'
import { PassingOctets } from '../base/passing-octets.ts'
import { mayBeLarge } from '../client/passing-answer.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { createXmlJsonCodec, UnfitMessage, type XmlJsonCodec } from '../contract/xml-json.ts'
import type { AnyRootElement, TypeMembers } from '../contract/xml-type.ts'
import { parseJson, writeJson } from '../http/json.ts'
import { isJsonType, parseMediaType } from '../http/media-type.ts'
import type { HttpFields } from '../http/message.ts'
import { reasonPhrases } from '../http/status.ts'
import { percentEncode, writeQuery } from '../http/uri.ts'
import type { ContentPart, ParameterPart } from '../import/openapi/exchange-types.ts'
import type { RestExchange, RestPort } from '../import/openapi/rest-port.ts'
import { fetchResponse } from './fetch-transport.ts'
import { reserveInPath, reserveInQuery, writeParameter, writePlainValue } from './parameter-text.ts'
import {
  type CallerOptions,
  type DeclaredAnswer,
  describeGarbage,
  type PortAnswer,
  type PortCall,
  type PortCaller,
  readOverload,
  readSeconds,
} from './port-caller.ts'
import { FlowingForm, type FlowingPart, isOctetsMember } from './rest-passing.ts'
import {
  type BackendRequest,
  FlowingContent,
  type PassingBody,
  type RestHead,
  type RestResponse,
  type RestTransport,
} from './rest-transport.ts'
import { RestValues, typeMembersOf } from './rest-values.ts'

/**
 * @param to the address to which the paths of the description are appended
 * @param transport carries the requests; default `fetch`, which holds each response
 */
export function createRestCaller(
  rest: RestPort,
  to: string,
  options: CallerOptions,
  transport: RestTransport = fetchResponse,
): PortCaller {
  const url = URL.parse(to)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new TypeError(`${to} is not the base of addresses: give one such as https://shop.example/api/v1`)
  const base = url.href.replace(/\/+$/, '')
  const callers = new Map(
    [...rest.exchanges].map(([name, each]) => [name, new ExchangeCaller(base, rest, name, each, options, transport)]),
  )
  return async (name, call) => {
    const caller = callers.get(name)
    if (!caller) throw new Error(`${name} is not an operation of ${rest.name}`)
    return await caller.ask(call)
  }
}

/**
 * The same for a bridge: a refusal of the bridge's own credentials, a timeout of a gateway and an
 * overload are failures of the backend, not answers to its callers.
 */
export function createBridgedRestCaller(
  rest: RestPort,
  to: string,
  options: CallerOptions,
  transport: RestTransport,
): PortCaller {
  const ask = createRestCaller(rest, to, options, transport)
  return async (exchange, call) => hideOwnRefusal(await ask(exchange, call))
}
function hideOwnRefusal(answer: PortAnswer): PortAnswer {
  if (answer.kind !== 'fault' || answer.status === undefined) return answer
  const { status, reason, declared, after } = answer
  if (status === 401 || status === 407)
    return describeGarbage(status, `${status}: the backend does not admit the bridge: ${reason}`)
  if (declared) return answer
  if (status === 504) return { kind: 'silence', why: 'late', mayHaveRun: true }
  return readOverload(status, after) ?? answer
}

const codecOf = (root: AnyRootElement): XmlJsonCodec => createXmlJsonCodec(root, () => undefined)

/** A value of the caller that no request can carry. */
class UnsendableValue extends Error {
  readonly problem: FieldProblem
  constructor(problem: FieldProblem, reason = `${problem.path.join('.')}: ${problem.detail}`) {
    super(reason)
    this.problem = problem
  }
}

class ExchangeCaller {
  readonly #base: string
  readonly #exchange: RestExchange
  readonly #options: CallerOptions
  readonly #transport: RestTransport
  readonly #values: RestValues
  readonly #input: XmlJsonCodec
  readonly #inputMembers: TypeMembers
  readonly #output: XmlJsonCodec
  readonly #outputMembers: TypeMembers
  readonly #faults: ReadonlyMap<string, AnyRootElement>
  /** The member with all octets of a response; undefined: its content is not octets. */
  readonly #octetsKey: string | undefined

  constructor(
    base: string,
    rest: RestPort,
    name: string,
    exchange: RestExchange,
    options: CallerOptions,
    transport: RestTransport,
  ) {
    this.#base = base
    this.#transport = transport
    this.#exchange = exchange
    this.#options = options
    this.#values = new RestValues(rest.differences)
    this.#input = codecOf(exchange.input)
    this.#inputMembers = typeMembersOf(exchange.input.type()) ?? {}
    this.#output = codecOf(exchange.output)
    this.#outputMembers = typeMembersOf(exchange.output.type()) ?? {}
    const { answer } = exchange
    const key = answer && 'key' in answer.as && !isJsonType(answer.mediaType) ? answer.as.key : undefined
    this.#octetsKey = key !== undefined && isOctetsMember(this.#outputMembers[key]) ? key : undefined
    this.#faults = new Map(Object.entries(rest.port.exchanges[name]?.faults ?? {}))
  }

  async ask({ input, fields = {}, signal, passing }: PortCall): Promise<PortAnswer> {
    try {
      const mayPass = (head: RestHead) => passing !== undefined && this.#mayPass(head)
      const answer = await this.#transport(this.#buildRequest(input, fields), this.#options, { signal, mayPass })
      return answer.kind === 'response' ? this.#readAnswer(answer) : answer
    } catch (thrown) {
      if (!(thrown instanceof UnsendableValue)) throw thrown
      return {
        kind: 'fault',
        code: 'Sender',
        reason: thrown.message,
        status: 422,
        declared: undefined,
        unsent: thrown.problem,
      }
    }
  }

  /** Whether the octets are many, or of unknown number. */
  #mayPass({ status, fields }: RestHead): boolean {
    const isOctets = this.#octetsKey !== undefined && mayBeLarge(fields['content-length'])
    return this.#options.longestPassing !== undefined && status < 300 && isOctets
  }

  // The request

  #buildRequest(input: unknown, own: Readonly<Record<string, string>>): BackendRequest {
    const row = this.#writeInput(input)
    const { method, headers, answer, content } = this.#exchange
    const body = content && this.#writeContent(content, row, input)
    const fields = headers.flatMap(each => this.#writeField(each, row))
    return {
      method,
      address: `${this.#base}${this.#writePath(row)}${this.#writeQuery(row)}`,
      fields: {
        ...Object.fromEntries(fields),
        ...this.#options.fields,
        ...own,
        ...this.#writeCookies(row, own['cookie'] ?? this.#options.fields?.['cookie']),
        accept: answer ? `${answer.mediaType}, application/problem+json;q=0.9, */*;q=0.1` : '*/*',
        ...(content &&
          body !== undefined &&
          !(body instanceof FormData) && { 'content-type': typeOfSent(body, content) }),
      },
      content: body,
    }
  }

  #writeInput(input: unknown): JsonObject {
    try {
      return this.#input.write(markPassing(input)?.value ?? input) as JsonObject // of an object's type
    } catch (thrown) {
      throw thrown instanceof UnfitMessage ? new UnsendableValue(thrown.problem, thrown.message) : thrown
    }
  }

  /** The parameter's value as the service expects it; undefined: it is not sent. */
  #valueOf(key: string, row: JsonObject): Json | undefined {
    const [given, member] = [row[key], this.#inputMembers[key]]
    return given === undefined || given === null || !member ? undefined : this.#values.writeMember(member, given)
  }

  /** (1) `.` and `..` are path steps, encoded or not (RFC 3986 §5.2.4). */
  #writePath(row: JsonObject): string {
    return this.#exchange.template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const { key, how } = this.#exchange.path.find(each => each.name === name) ?? { key: name, how: undefined }
      const value = this.#valueOf(key, row)
      const encode = how?.allowsReserved ? reserveInPath : percentEncode
      const text = (how && value !== undefined && writeParameter(name, value, how, encode)) || ''
      if (text === '' || text === '.' || text === '..')
        throw new UnsendableValue({
          path: [key],
          code: 'type',
          detail: 'must not be empty: it is a segment of an address',
        })
      return text
    })
  }

  #writeQuery(row: JsonObject): string {
    const pieces = this.#exchange.query.flatMap(({ key, name, how }) => {
      const value = this.#valueOf(key, row)
      const encode = how.allowsReserved ? reserveInQuery : percentEncode
      return value === undefined ? [] : (writeParameter(name, value, how, encode) ?? [])
    })
    return pieces.length === 0 ? '' : `?${pieces.join('&')}`
  }

  #writeField({ key, name, how }: ParameterPart, row: JsonObject): readonly (readonly [string, string])[] {
    const value = this.#valueOf(key, row)
    const text = value === undefined ? undefined : writeParameter(name, value, how, fieldText(name))
    return text === undefined ? [] : [[name, text]]
  }

  /** RFC 6265 §4.2.1; OpenAPI §4.8.12.2: values are encoded as in a form, and so are lists. */
  #writeCookies(row: JsonObject, known: string | undefined): Readonly<Record<string, string>> {
    const pairs = this.#exchange.cookies.flatMap(({ key, name, how }) => {
      const value = this.#valueOf(key, row)
      if (value === undefined) return []
      if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
        throw new UnsendableValue({ path: [key], code: 'type', detail: 'has a name that a cookie must not have' })
      const isForm = how.style !== 'cookie'
      const style = {
        ...how,
        style: 'cookie',
        isExploded: how.isExploded && !(isForm && Array.isArray(value)),
      } as const
      return writeParameter(name, value, style, isForm ? percentEncode : cookieText(key)) ?? []
    })
    return pairs.length === 0 ? {} : { cookie: [...(known === undefined ? [] : [known]), ...pairs].join('; ') }
  }

  #writeContent({ mediaType, as, encodings }: ContentPart, row: JsonObject, input: unknown): BackendRequest['content'] {
    if ('key' in as) {
      const [given, member] = [row[as.key], this.#inputMembers[as.key]]
      if (given === undefined || !member) return undefined
      if (isJsonType(mediaType)) return writeJson(this.#values.writeMember(member, given))
      const value = (input as Readonly<Record<string, unknown>>)[as.key]
      if (value instanceof PassingOctets) return new FlowingContent(value.read())
      return value instanceof Uint8Array ? value : stringOf(given)
    }
    const members = selectMembers(this.#inputMembers, as.keys)
    if (/^multipart\//i.test(mediaType)) return this.#writeParts(members, row, input, encodings)
    const written = this.#values.writeMembers(members, row)
    return isJsonType(mediaType) ? writeJson(written) : writeFormContent(written, encodings)
  }

  /** RFC 7578; OpenAPI §4.8.14.5: octets and objects have their media types. */
  #writeParts(
    members: TypeMembers,
    row: JsonObject,
    input: unknown,
    encodings: ContentPart['encodings'],
  ): FormData | FlowingForm {
    const form = new FormData()
    const coming: FlowingPart[] = []
    for (const [key, member] of Object.entries(members)) {
      const value = (input as Readonly<Record<string, unknown>>)[key]
      const name = this.#values.nameOf(key, member)
      const text = this.#values.writeMembers({ [key]: member }, row)[name]
      if (text === undefined || text === null) continue
      const mediaType = encodings?.get(name)?.mediaType
      if (value instanceof PassingOctets) {
        coming.push({ name, octets: value, arrival: value.arrival, ...(mediaType !== undefined && { mediaType }) })
        continue
      }
      const values = [value].flat().every(each => each instanceof Uint8Array) ? [value].flat() : [text].flat()
      for (const each of values) form.append(name, toFormPart(each as Json | Uint8Array, mediaType)) // as written or given
    }
    return coming.length === 0 ? form : new FlowingForm(form, coming)
  }

  // The answer

  #readAnswer(answer: RestResponse): PortAnswer {
    const { status } = answer
    if (status >= 400) return this.#readFailure(answer)
    if (status >= 300)
      return describeGarbage(
        status,
        `a redirection to ${answer.fields['location'] ?? 'nowhere'}, which is not followed`,
      )
    const part = this.#exchange.answer
    if (part && answer.passing) return this.#readPassing(answer, answer.passing)
    if (!part || answer.content.length === 0) return this.#readOutput(answer, {})
    if (!isJsonType(part.mediaType)) return this.#readOctets(answer, part)
    const mediaType = mediaTypeOf(answer)
    if (!isJsonType(mediaType))
      return describeGarbage(status, `${mediaType || 'no media type'} instead of ${part.mediaType}`)
    const { value, failure } = parseJson(answer.content)
    if (failure) return describeGarbage(status, `not JSON: ${failure.reason}, at ${failure.at}`)
    const row =
      'keys' in part.as
        ? isJsonObject(value) && this.#values.readMembers(selectMembers(this.#outputMembers, part.as.keys), value)
        : this.#readMember(this.#outputMembers, part.as.key, value)
    return row ? this.#readOutput(answer, row) : describeGarbage(status, 'JSON, but no object')
  }
  #readMember(members: TypeMembers, key: string, json: Json): JsonObject {
    const value = members[key] && this.#values.readMember(members[key], json)
    return value === undefined ? {} : { [key]: value }
  }
  /** Everything except the octets is known. */
  #readPassing(answer: RestResponse, { octets, over, failure }: PassingBody): PortAnswer {
    const read = this.#readOutput(answer, {})
    if (read.kind !== 'answer' || this.#octetsKey === undefined) {
      octets.drop()
      return read
    }
    const content = { [this.#octetsKey]: octets, ...(read.content as object) } // of an object's type
    return { ...read, content, passing: { over, failure } }
  }
  #readOctets(answer: RestResponse, { as }: ContentPart): PortAnswer {
    const { status, content } = answer
    if (!('key' in as)) return describeGarbage(status, 'a form, which is not read')
    const read = this.#readOutput(answer, {})
    if (read.kind !== 'answer') return read
    const value = this.#octetsKey === as.key ? content : decodeTextIn(answer)
    if (value === undefined)
      return describeGarbage(status, `text in an unknown charset: ${answer.fields['content-type']}`)
    return { ...read, content: { [as.key]: value, ...(read.content as object) } } // of an object's type
  }
  /** (3) */
  #readOutput({ status, fields }: RestResponse, row: JsonObject): PortAnswer {
    const { value, flaw } = checkRead(this.#output, { ...row, ...this.#readFields(fields) })
    return flaw === undefined ? { kind: 'answer', content: value, blocks: {} } : describeGarbage(status, flaw)
  }

  #readFields(given: HttpFields): JsonObject {
    return Object.fromEntries(
      this.#exchange.answerFields.flatMap(({ key, name }) => {
        const [text, member] = [given[name.toLowerCase()], this.#outputMembers[key]]
        const value = text === undefined || !member ? undefined : this.#values.readFieldText(member, text)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  }

  #readFailure(answer: RestResponse): PortAnswer {
    const { status, content, fields } = answer
    const { value } = isJsonType(mediaTypeOf(answer)) ? parseJson(content) : {}
    const members = isJsonObject(value) ? value : {}
    const reason = explainError(members) ?? reasonPhrases[status] ?? `status ${status}`
    const declared = isJsonObject(value) ? this.#readDeclared(status, value) : undefined
    const after = readSeconds(fields['retry-after'])
    const code = status < 500 ? 'Sender' : 'Receiver'
    return { kind: 'fault', code, reason, status, declared, ...(after !== undefined && { after }) }
  }
  #readDeclared(status: number, json: JsonObject): DeclaredAnswer | undefined {
    const { faults } = this.#exchange
    const exact = faults.get(String(status))
    const names = exact ?? faults.get(`${Math.trunc(status / 100)}XX`) ?? faults.get('default')
    const fitting = (names ?? []).flatMap(name => {
      const root = this.#faults.get(name)
      if (!root) return []
      const type = root.type()
      const { value, flaw } = checkRead(codecOf(root), this.#values.readMembers(typeMembersOf(type) ?? {}, json))
      return flaw === undefined ? [{ name, type, detail: value }] : []
    })
    const found = this.#values.closest(fitting, json)
    return found && { name: found.name, detail: found.detail, ...(!exact && { status }) }
  }
}

/** The members of a content, without parameters and fields. */
const selectMembers = (members: TypeMembers, keys: readonly string[]): TypeMembers =>
  Object.fromEntries(keys.flatMap(key => (members[key] ? [[key, members[key]]] : [])))

/** In lower case, without parameters; empty: none. */
const mediaTypeOf = ({ fields }: RestHead): string =>
  (fields['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase()

/** RFC 9110 §8.3.2; without a charset: UTF-8. Undefined: no such charset is known. */
function decodeTextIn({ fields, content }: RestResponse): string | undefined {
  const { charset = 'utf-8' } = parseMediaType(fields['content-type'] ?? '')?.parameters ?? {}
  return attempt(
    () => new TextDecoder(charset).decode(content),
    thrown => thrown instanceof RangeError,
  )
}

const typeOfSent = (sent: BackendRequest['content'], { mediaType }: ContentPart): string =>
  sent instanceof FlowingForm ? sent.mediaType : mediaType

function checkRead(codec: XmlJsonCodec, json: Json): { readonly value: unknown; readonly flaw: string | undefined } {
  const problems: Parameters<XmlJsonCodec['read']>[1] = []
  const value = codec.read(json, problems)
  const [first] = problems
  return { value, flaw: first && `${first.path.join('.')} ${first.detail}` }
}

/** The reason in problem details (RFC 9457 §3.1), or in members that other services use for it. */
function explainError(problem: JsonObject): string | undefined {
  const { error } = problem
  const words = [
    problem['title'],
    problem['detail'],
    problem['message'],
    isJsonObject(error) ? error['message'] : error,
  ]
  const texts = [...new Set(words.map(stringOf).filter(Boolean))]
  return texts.length > 0 ? texts.join(': ').slice(0, 1000) : undefined
}

/** OpenAPI §4.8.15.2: a list without a style is repeated, an object is JSON. */
const writeFormContent = (row: JsonObject, encodings: ContentPart['encodings']): string =>
  Object.entries(row)
    .flatMap(([name, value = null]) => {
      const how = encodings?.get(name)?.how
      if (!how) return writeQuery([value ?? ''].flat().map(each => [name, writePlainValue(each as Json)] as const))
      return writeParameter(name, value, how, how.allowsReserved ? reserveInQuery : percentEncode) ?? []
    })
    .filter(each => each !== '')
    .join('&')

function toFormPart(value: Json | Uint8Array, mediaType: string | undefined): string | Blob {
  if (value instanceof Uint8Array)
    return new Blob([value as Uint8Array<ArrayBuffer>], { ...(mediaType !== undefined && { type: mediaType }) })
  const isJson = mediaType === undefined ? typeof value === 'object' : isJsonType(mediaType)
  const text = isJson ? writeJson(value) : writePlainValue(value)
  const type = mediaType ?? (isJson ? 'application/json' : undefined)
  return type === undefined ? text : new Blob([text], { type })
}

/** (2) */
const fieldText =
  (name: string) =>
  (text: string): string => {
    if (!/^[\t\x20-\x7e]*$/.test(text))
      throw new UnsendableValue({ path: [name], code: 'type', detail: 'must be visible ASCII: it is an HTTP field' })
    return text
  }
/** RFC 6265 §4.1.1 */
const cookieText =
  (key: string) =>
  (text: string): string => {
    if (!/^[!#-+\--:<-[\]-~]*$/.test(text))
      throw new UnsendableValue({ path: [key], code: 'type', detail: 'has a character that a cookie must not have' })
    return text
  }
