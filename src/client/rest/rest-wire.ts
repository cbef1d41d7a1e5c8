/**
 * One exchange with the service, its repetitions included. What always holds:
 *  (1) Requests go only to the origin of the entry, after a redirection too, and no other origin
 *      gets credentials.
 *  (2) A request is sent again only if a second one has no further effect: nothing was sent, it is
 *      safe, or it carries an Idempotency-Key. A stream is sent once.
 *  (3) A call ends within its time limit, waits included; the octets of a file may take longer.
 *  (4) A representation is reused only after the service has responded to its tag with 304.
 *  (5) No more of a response is held than the limit, and all of it is UTF-8 (RFC 8259 §8.1).
 */
import { attempt, errorCodeOf } from '../../base/attempt.ts'
import type { HttpFields } from '../../http/message.ts'
import { type CredentialFields, writeHttpCredentials } from '../credentials.ts'
import { CallError, ConnectionError, TransportFailure } from '../errors.ts'
import type { RequestOptions, SentOctets } from '../surface-types.ts'
import { longestTimerMs, type Wait, waitFor, waitUnlessAborted } from '../timer.ts'
import { type FaultsByName, toRefusalError } from './problem-reader.ts'
import type { RestClientOptions } from './rest-options.ts'
import { fieldsOf, type ReceivedText, type RestReply, refuseReply } from './rest-reply.ts'
import { ValidatorCache } from './validator-cache.ts'

export interface RestRequest {
  /** The name in errors: `orders.pay`. */
  readonly operation: string
  readonly method: string
  readonly target: URL
  readonly fields?: HttpFields
  readonly content?: string | SentOctets
  readonly options?: RequestOptions | undefined
}

const timeLimitMs = 30_000
const triesAgain = 2
const longestContent = 2 ** 24
const redirectionsMax = 5
/** Errors are sent as problems in the same syntax. */
const accept = 'application/hal+json, application/json;q=0.9'

export class RestWire {
  readonly wait: Wait
  readonly #options: RestClientOptions
  readonly #credentials: CredentialFields
  readonly #hasKeys: boolean
  readonly #faults: FaultsByName
  readonly #cache: ValidatorCache
  readonly #origin: string
  readonly #closing = new AbortController()

  constructor(options: RestClientOptions, entry: URL, faults: FaultsByName) {
    this.wait = options.wait ?? waitFor
    this.#options = options
    this.#credentials = writeHttpCredentials(options.credentials)
    this.#hasKeys = options.idempotencyKeys ?? options.credentials !== undefined
    this.#faults = faults
    this.#cache = new ValidatorCache(options.cache)
    this.#origin = entry.origin
  }

  close(): void {
    this.#closing.abort(new TransportFailure('closed', 'the client was closed', { mayHaveRun: true }))
  }

  /** A GET of a representation, conditional if one is kept (4). */
  async read(request: Omit<RestRequest, 'method'>): Promise<RestReply> {
    const key = request.target.href
    const kept = this.#cache.find(key)
    const fields = { ...request.fields, ...(kept && { 'if-none-match': kept.etag }) }
    const reply = await this.ask({ ...request, method: 'GET', fields })
    if (kept && reply.status === 304) return { ...reply, status: 200, fields: kept.fields, text: kept.text }
    this.#cache.forget(key)
    const { etag, 'cache-control': control = '' } = reply.fields
    if (etag === undefined || /\bno-store\b/i.test(control)) return reply
    return { ...reply, keep: () => this.#cache.keep(key, { etag, fields: reply.fields, text: reply.text }) }
  }

  /** @throws CallError, or the reason of the caller's signal */
  ask(request: RestRequest): Promise<RestReply> {
    return this.#repeat(request, async (response, target) => ({ ...(await this.#receive(request, response)), target }))
  }

  /** The octets are left to the caller (3). */
  open(request: RestRequest): Promise<Response> {
    return this.#repeat(request, async response => response)
  }

  async #repeat<T>(request: RestRequest, take: TakeResponse<T>): Promise<T> {
    const { timeLimit = this.#options.timeLimit ?? timeLimitMs, signal } = request.options ?? {}
    const until = Date.now() + timeLimit
    const isSafe = /^(?:GET|HEAD|QUERY)$/.test(request.method)
    const isStream = request.content instanceof ReadableStream
    const hasKey = !isSafe && !isStream && this.#hasKeys
    const fields = { ...request.fields, ...(hasKey && { 'idempotency-key': createKey() }) }
    for (let tries = 0; ; tries++) {
      try {
        return await this.#send({ ...request, fields }, take, until)
      } catch (thrown) {
        const wait = tries < (this.#options.retries ?? triesAgain) ? delayOf(thrown, tries) : undefined
        const mayRepeat = !isStream && (isSafe || hasKey || hasNotRun(thrown)) // (2)
        if (wait === undefined || !mayRepeat || Date.now() + wait >= until) throw thrown
        await this.wait(wait, signal)
      }
    }
  }

  /** One attempt. */
  async #send<T>(request: RestRequest, take: TakeResponse<T>, until: number): Promise<T> {
    const { operation, fields = {}, options } = request
    const own = new AbortController()
    const endLate = () =>
      own.abort(new TransportFailure('late', 'the time limit was over before a response came', { mayHaveRun: true }))
    const timer = setTimeout(endLate, Math.min(until - Date.now(), longestTimerMs)) // (3)
    const signal = AbortSignal.any([own.signal, this.#closing.signal, ...(options?.signal ? [options.signal] : [])])
    try {
      const changing = await waitUnlessAborted(this.#credentials.changing?.(), signal)
      const { response, target } = await this.#follow(request, changing, signal)
      // RFC 9110 §15.3.7, §15.4.5: neither a part of a representation nor 304 was requested.
      const { status } = response
      const isAnswer = status === 304 ? 'if-none-match' in fields : response.ok && status !== 206
      if (isAnswer) return await take(response, target)
      throw toRefusalError(operation, await this.#receive(request, response), this.#faults)
    } catch (thrown) {
      const why: unknown = signal.aborted && !(thrown instanceof CallError) ? signal.reason : thrown
      throw why instanceof TransportFailure ? new ConnectionError(operation, why) : why
    } finally {
      clearTimeout(timer)
    }
  }

  /** (5) */
  async #receive({ operation }: RestRequest, response: Response): Promise<ReceivedText> {
    const { longest = longestContent } = this.#options
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const received = { status: response.status, fields: fieldsOf(response), text: '' }
    let octets = 0
    const decode = (piece?: Uint8Array): void => {
      received.text +=
        attempt(() => decoder.decode(piece, { stream: !!piece }), isTypeError) ??
        refuseReply(operation, 'malformed', 'the content is not UTF-8', received)
    }
    const write = (piece: Uint8Array): void => {
      octets += piece.length
      if (octets > longest)
        throw new TransportFailure('too-long', `the content is longer than ${longest} octets`, { mayHaveRun: true })
      decode(piece)
    }
    await response.body?.pipeTo(new WritableStream({ write })).catch(explainFailure)
    decode()
    return received
  }

  /** RFC 9110 §15.4: a request follows its target to where the service has moved it. */
  async #follow(
    request: RestRequest,
    changing: HttpFields | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly response: Response; readonly target: URL }> {
    let { target } = request
    for (let hops = 0; ; hops++) {
      this.#requireOrigin(request.operation, target)
      const response = await this.#fetch(request, target, changing, signal)
      const location = response.headers.get('location')
      const isMoved = /^30[12378]$/.test(String(response.status)) && location !== null
      if (!isMoved) return { response, target: (response.redirected && URL.parse(response.url)) || target }
      const keepsMethod = request.method === 'GET' || response.status > 303
      if (!keepsMethod || hops === redirectionsMax) refuseRedirection(request.operation, response)
      target = URL.parse(location, target) ?? refuseRedirection(request.operation, response)
    }
  }

  /** (1) */
  #requireOrigin(operation: string, target: URL): void {
    if (target.origin === this.#origin) return
    const detail = `${target.href} is not at ${this.#origin}: links to other origins are not followed`
    refuseReply(operation, 'redirect', detail, { status: 0, fields: {}, text: '' })
  }

  async #fetch(
    { operation, method, fields, content }: RestRequest,
    target: URL,
    changing: HttpFields | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const { fetch: given = fetch } = this.#options
    const send = (...sent: Parameters<typeof fetch>) => given(...sent).catch(explainFailure)
    const init = {
      method,
      headers: { accept, ...this.#options.fields, ...this.#credentials.fields, ...changing, ...fields },
      redirect: 'manual' as const,
      signal,
      ...(content !== undefined && { body: content as NonNullable<RequestInit['body']> }),
      ...(content instanceof ReadableStream && { duplex: 'half' as const }),
    }
    const response = await send(target.href, init)
    if (response.type !== 'opaqueredirect') return response
    // A browser does not reveal the target. It follows by itself, and removes only Authorization
    // for another origin (Fetch §4.4).
    if (method !== 'GET' || 'key' in (this.#options.credentials ?? {})) refuseRedirection(operation, response)
    const end = await send(target.href, { ...init, redirect: 'follow' })
    this.#requireOrigin(operation, URL.parse(end.url) ?? target)
    return end
  }
}

type TakeResponse<T> = (response: Response, target: URL) => Promise<T>

function refuseRedirection(operation: string, response: Response): never {
  const { status } = response
  const to = response.headers.get('location') ?? 'an address that is not shown'
  const detail = `the redirection to ${to} with status ${status} is not followed`
  return refuseReply(operation, 'redirect', detail, { status, fields: fieldsOf(response), text: '' })
}

const isTypeError = (thrown: unknown): boolean => thrown instanceof TypeError

/** For fetch. @throws a `TransportFailure` in place of an error of the platform */
function explainFailure(thrown: unknown): never {
  if (!(thrown instanceof Error) || thrown instanceof CallError) throw thrown
  // Node has the code at the cause, Bun at the error itself.
  const isUnsent = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(errorCodeOf(thrown.cause ?? thrown))
  throw isUnsent
    ? new TransportFailure('unreachable', 'no connection could be opened', { cause: thrown })
    : new TransportFailure('lost', 'the connection failed', { mayHaveRun: true, cause: thrown })
}

/** draft-ietf-httpapi-idempotency-key-header §2.1: a quoted string, new for each call. */
const createKey = (): string => `"${crypto.getRandomValues(new Uint32Array(4)).join('-')}"`

const hasNotRun = (thrown: unknown): boolean => thrown instanceof ConnectionError && !thrown.mayHaveRun

/** Milliseconds to wait before another attempt; undefined if none would help. */
function delayOf(thrown: unknown, tries: number): number | undefined {
  const usual = 100 * 2 ** tries
  if (thrown instanceof ConnectionError) return /^(?:unreachable|lost)$/.test(thrown.why) ? usual : undefined
  if (!isAnswered(thrown)) return undefined
  return retryDelay(thrown.fields) ?? (/^50[234]$/.test(String(thrown.status)) ? usual : undefined)
}

/** A fault, a problem, or content that is not a reply. */
const isAnswered = (thrown: unknown): thrown is CallError & { readonly status: number; readonly fields: HttpFields } =>
  thrown instanceof CallError && 'fields' in thrown

/** RFC 9110 §10.2.3, in milliseconds. The engine parses the date format in use today. */
export function retryDelay({ 'retry-after': field = '' }: HttpFields): number | undefined {
  const wait = /^\d+$/.test(field) ? Number(field) * 1000 : Date.parse(field) - Date.now()
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
