/**
 * What the rules of one run share: the transport, the callers, what was discovered, and all
 * exchanges. What always holds, by number:
 *  (1) Without `allowChanges` only safe methods are sent; with it, nothing is sent to a path that
 *      the profile's `mayCreate` leaves out. A SOAP message counts as safe only if its sender says
 *      so.
 *  (2) Requests are at least `1000 / rate` milliseconds apart, and none begins past the time limit.
 *  (3) A 429 ends the trial of a rule that did not ask for it, since it says nothing about the
 *      rule.
 *  (4) Everything that a probe created is removed at the end, in reverse order, or named in the
 *      report.
 */
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../base/attempt.ts'
import type { EarlierRelease } from '../describe/index.ts'
import { writeJson } from '../http/json.ts'
import { type CheckCaller, type CollectionTarget, type DiscoveredService, isBelowPath } from './discovered-service.ts'
import type { ProbeListener } from './loopback-listener.ts'
import type { Json } from './probe-content.ts'
import {
  type Conversation,
  type ConversationLimits,
  type OctetPiece,
  ProbeExchange,
  type ProbeFields,
  type ProbeTransport,
  type ProbeVersion,
  Unreachable,
} from './probe-message.ts'
import type { CheckProfile } from './profile.ts'
import type { MadeThing, RunJournal } from './run-journal.ts'
import { NotObservable } from './verdict.ts'

export interface Sending {
  readonly as?: CheckCaller | undefined
  readonly fields?: ProbeFields
  readonly content?: string | Uint8Array
  /** Sent as application/json, unless the fields name a type. */
  readonly json?: Json
  readonly version?: ProbeVersion
  readonly announcedOctets?: number
  readonly ownConnection?: boolean
  /** The sender knows that this POST changes nothing: a SOAP read, or a message without effect. */
  readonly isSafe?: boolean
  /** The sender wants to see the 429 itself. */
  readonly expectsLimit?: boolean
}

/** Settings of a run: callers, the profile, and whether it may change anything. */
export interface BenchOptions {
  readonly callers: readonly CheckCaller[]
  readonly profile: CheckProfile
  readonly allowChanges: boolean
  /** WSDL documents at hand, by file name. */
  readonly wsdlFiles?: Readonly<Record<string, Uint8Array>>
  /** An OpenAPI document at hand; its paths follow the base path of the run. */
  readonly openapi?: Json
  /** What callers of an earlier release rely on. Default: this is not observed. */
  readonly earlier?: EarlierRelease
  /** Opens an address that the service can reach. Default: rules that need one are not observed. */
  readonly listen?: () => Promise<ProbeListener>
  /** Records progress, and has that of an interrupted run. Default: none. */
  readonly journal?: RunJournal
  /** Requests a second. */
  readonly rate: number
  readonly timeLimitMs: number
  readonly requestLimitMs: number
  /** How long the run waits, once for each caller, while the service has locked a name. */
  readonly lockLimitMs: number
}

/** A conversation, with its first response as evidence. */
export interface EvidencedConversation extends Conversation {
  readonly exchange: ProbeExchange | undefined
}

export interface CreatedItem {
  readonly collection: CollectionTarget
  readonly as: CheckCaller | undefined
  readonly path: string
  readonly draft: Json
  readonly created: ProbeExchange
}

interface Cleanup {
  readonly cleanup: () => Promise<string | undefined>
  readonly made: MadeThing | undefined
}

const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'BREW']

export class Bench {
  readonly transport: ProbeTransport
  readonly options: BenchOptions
  readonly exchanges: ProbeExchange[] = []
  readonly leftBehind: string[] = []
  readonly remarks: string[] = []
  /** The item created in each collection that was empty, by the path of the collection. */
  readonly fillings = new Map<string, CreatedItem>()
  readonly #memo = new Map<string, Promise<unknown>>()
  readonly #cleanups: Cleanup[] = []
  #deadlineMs: number
  #transportFailure: { readonly thrown: unknown } | undefined = undefined
  #nextMs = 0
  #service: DiscoveredService | undefined = undefined

  constructor(transport: ProbeTransport, options: BenchOptions) {
    this.transport = transport
    this.options = options
    this.#deadlineMs = performance.now() + options.timeLimitMs
    const { exchanges = [], leftBehind = [] } = options.journal?.earlier ?? {}
    this.exchanges.push(...exchanges)
    this.leftBehind.push(...leftBehind)
  }

  get callers(): readonly CheckCaller[] {
    return this.options.callers
  }
  get profile(): CheckProfile {
    return this.options.profile
  }
  get service(): DiscoveredService {
    if (!this.#service) throw new NotObservable('the service has not been discovered')
    return this.#service
  }
  set service(service: DiscoveredService) {
    this.#service = service
  }

  /** (1) (2) (3) */
  async send(method: string, target: string, sending: Sending = {}): Promise<ProbeExchange> {
    if (!safeMethods.includes(method) && !sending.isSafe) this.requireChanges(target)
    await this.#awaitTurn()
    const { as, fields, content, json, isSafe: _, expectsLimit, ...rest } = sending
    const text = content ?? (json === undefined ? undefined : writeJson(json))
    const request = {
      method,
      target,
      fields: { ...(json !== undefined && { 'content-type': 'application/json' }), ...as?.fields, ...fields },
      ...(text !== undefined && { content: typeof text === 'string' ? new TextEncoder().encode(text) : text }),
      ...rest,
    }
    const reply = await this.transport.send(request, this.options.requestLimitMs).catch(thrown => {
      if (!(thrown instanceof Unreachable)) this.#transportFailure = { thrown }
      throw thrown
    })
    const exchange = new ProbeExchange(request, reply)
    this.#keep(exchange)
    if (exchange.status === 429 && !expectsLimit) throw new NotObservable(limitReason(exchange))
    return exchange
  }

  /** Octets sent unchanged, which no library would send; target and method are for the report. */
  async sendOctets(text: string): Promise<ProbeExchange> {
    const { sendOctets } = this.transport
    if (!sendOctets) throw new NotObservable('a socket: a service in memory has no octets of a head')
    await this.#awaitTurn()
    const [method = '', target = ''] = text.split(' ', 2)
    const reply = await sendOctets(new TextEncoder().encode(text), this.options.requestLimitMs)
    const exchange = new ProbeExchange({ method, target, fields: { '(octets)': text } }, reply)
    this.#keep(exchange)
    return exchange
  }

  /**
   * Octets that no library would send, on a separate connection; a response becomes an exchange of
   * the run. The first line of the first piece is for the report.
   */
  async converse(pieces: readonly OctetPiece[], limits: ConversationLimits): Promise<EvidencedConversation> {
    const { converse } = this.transport
    if (!converse) throw new NotObservable('a socket: a service in memory has no octets of a head')
    await this.#awaitTurn()
    const conversation = await converse(pieces, limits)
    if (!conversation.reply) return { ...conversation, exchange: undefined }
    const text = Buffer.concat(pieces.map(({ octets }) => octets)).toString('latin1')
    const [method = '', target = ''] = text.slice(0, text.indexOf('\r\n')).split(' ', 2)
    const exchange = new ProbeExchange(
      { method, target, fields: { '(octets)': text.slice(0, 2000) } },
      conversation.reply,
    )
    this.#keep(exchange)
    return { ...conversation, exchange }
  }

  /** Opened on first use, and closed at the end. */
  listen(): Promise<ProbeListener> {
    const { listen } = this.options
    if (!listen) throw new NotObservable('a service on this machine: the check listens on its loopback address')
    return this.once('listener', async () => {
      const listener = await listen()
      this.addCleanup(async () => {
        listener.close()
        return undefined
      })
      return listener
    })
  }

  /** @param target default: any path */
  requireChanges(target?: string): void {
    if (!this.options.allowChanges) throw new NotObservable('permission to change the service: --allow-changes')
    if (target !== undefined && !this.mayChange(target))
      throw new NotObservable(`permission to change ${target}: \`mayCreate\` of the profile`)
  }

  /** Whether the profile allows a change at this path: at those that it names, and below them. */
  mayChange(target: string): boolean {
    const { mayCreate, limit, bulk } = this.profile
    const [path = ''] = target.split('?')
    if (mayCreate === undefined || path === limit?.path || path === bulk?.collection) return true
    return mayCreate.some(each => path === each || isBelowPath(path, each))
  }

  async #awaitTurn(): Promise<void> {
    const now = performance.now()
    if (now > this.#deadlineMs) throw new NotObservable(`more time than ${this.options.timeLimitMs / 1000} s: --time`)
    const turn = Math.max(now, this.#nextMs)
    this.#nextMs = turn + 1000 / this.options.rate
    if (turn > now) await setTimeout(turn - now)
  }

  /** Made once for all rules that need it; a failure is remembered, too. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#memo.get(name)
    if (known) return known as Promise<T> // each name is used for one type
    const result = make()
    result.catch(() => {}) // every rule that asks gets the failure
    this.#memo.set(name, result)
    return result
  }

  /** The things made under these names have changed, so they are made again. */
  forget(...names: readonly string[]): void {
    for (const name of names) this.#memo.delete(name)
  }

  #keep(exchange: ProbeExchange): void {
    this.exchanges.push(exchange)
    this.options.journal?.addExchange(exchange)
  }

  /** Whether the transport threw this, other than for a missing response: then the run is over. */
  isOfTransport(thrown: unknown): boolean {
    return this.#transportFailure !== undefined && this.#transportFailure.thrown === thrown
  }

  /** Whether no further request may begin. */
  get isOutOfTime(): boolean {
    return performance.now() > this.#deadlineMs
  }

  addLeft(left: string): void {
    this.leftBehind.push(left)
    this.options.journal?.addLeft(left)
  }

  /**
   * (4)
   *
   * @param cleanup returns the address of anything it could not remove
   * @param made what it removes, for a run that is interrupted
   */
  addCleanup(cleanup: () => Promise<string | undefined>, made?: MadeThing): void {
    this.#cleanups.push({ cleanup, made })
    if (made) this.options.journal?.addMade(made)
  }

  async cleanUp(): Promise<void> {
    this.#deadlineMs = Number.POSITIVE_INFINITY
    for (const { cleanup, made } of this.#cleanups.splice(0).reverse()) {
      const problem = await cleanup().catch(messageOf)
      if (made && problem === undefined) this.options.journal?.addRemoved(made.path)
      // Anything left is tried again by the next run, if there is one.
      if (made && problem !== undefined) this.leftBehind.push(problem)
      else if (problem !== undefined) this.addLeft(problem)
    }
  }
}

const limitReason = ({ request, fields }: ProbeExchange): string =>
  `a lower rate: ${request.method} ${request.target} was answered 429, and may be sent again after ${fields['retry-after'] ?? 'some'} s`
