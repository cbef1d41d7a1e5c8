/**
 * Calls whose responses come later (WS-Addressing 1.0 Core §3.4, with a separate [reply endpoint]
 * for each call). What always holds, by number:
 *  (1) A call is stored before it is sent, so its response finds it even after a restart.
 *  (2) It ends once: by the first message that relates to it and proves what it must, by its time
 *      limit, or by its caller. A copy of the message that ended it is acknowledged, and changes
 *      nothing.
 *  (3) The address for a response contains 192 random bits, of which a digest is stored. Nothing in
 *      a message is read before its address is recognized.
 *  (4) A message that is not a response to the call changes nothing, and its sender is told why.
 *  (5) The number of waiting calls is limited, for one caller and for all.
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64Url } from '../base/base64.ts'
import type { LaterReply } from '../client/port-exchange.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import type { Figure } from '../contract/implement.ts'
import {
  type ArrivedMessage,
  type KeptLaterCall,
  type LaterCall,
  type LaterCalls,
  type LaterLedger,
  type LaterReceiver,
  laterJobName,
  type MessageReceipt,
  repliesSegment,
  StartedCall,
} from '../contract/later-call.ts'
import type { ExchangeContext } from '../contract/port-handlers.ts'
import { refuse } from '../service/refusal.ts'
import { type LineBounds, WaitingLines } from '../service/waiting-lines.ts'
import { readKeptAnswer, writeKeptAnswer } from './kept-answer.ts'
import { LaterFigures, type LaterOutcome } from './later-figures.ts'
import type { LaterLimits } from './later-limits.ts'
import { digestLater, type LaterProof, matchesSecret, readProof, writeProof, writeTakenProof } from './later-proof.ts'
import type { LaterReader, PortAnswer } from './port-caller.ts'
import {
  acceptReply,
  type ReceiptRefusal,
  refuseForeignReply,
  refuseLongReply,
  refuseRelation,
  refuseUnknownReply,
} from './reply-receipt.ts'

/** Ends the call of the bridge's caller, as the backend's answer demands. */
export interface EndContext extends Pick<ExchangeContext, 'setHeader'> {
  /** @param status that of a fault which the contract declares without one */
  fail(fault: string, detail: unknown, reason?: string, status?: number): never
}

/** An exchange whose responses come later. */
export interface LaterPlace {
  readonly port: Port
  readonly name: string
  readonly exchange: PortExchange
  readonly reader: LaterReader
}

export interface DeskOptions {
  /** The address of the bridge for the backend, without a slash at its end. */
  readonly replies: string
  readonly limits: LaterLimits
  /** How many messages are received at once. */
  readonly receivedMax: number
  readonly note: (line: string) => void
  /** Ends the call as an answer demands; `isTold`: the operator already knows of it. */
  readonly pass: (place: LaterPlace, answer: PortAnswer, ends: EndContext, isTold: boolean) => unknown
  /** The name of the fault that ends a call; undefined: none does. */
  readonly failureOf: (pass: () => unknown) => string | undefined
}

/** Milliseconds within which a message has to be received when many arrive. */
const turnLimitMs = 30_000
/** The messages that wait for their turn, and those of one call. */
const receivingBounds = ({ receivedMax, limits }: DeskOptions): LineBounds => ({
  ...{ running: receivedMax, runningOfCaller: 1, waiting: limits.answers, waitingOfCaller: 4 },
})

interface DeskSite {
  readonly ledger: LaterLedger
  readonly clock: () => number
  readonly id: (prefix: string) => string
  readonly timer: NodeJS.Timeout
}

type WaitingCall = Pick<LaterCall, 'job' | 'party' | 'due'>
/** A call that is being sent. */
export interface LaterCaller extends Pick<ExchangeContext, 'caller' | 'party' | 'mayStart' | 'once'> {
  /** Milliseconds that a caller waits for the answer if it cannot receive a job. */
  readonly waitMs: number
}

const expireEveryMs = 1000
/** Seconds after which a caller with too many calls may try again. */
const retryAfter = 30

export class LaterDesk implements LaterCalls {
  readonly #places: ReadonlyMap<string, LaterPlace>
  readonly #options: DeskOptions
  readonly #figures = new LaterFigures()
  readonly #waiting = new Map<string, WaitingCall>()
  readonly #listeners = new Map<string, (answer: PortAnswer) => void>()
  readonly #turns: WaitingLines
  /** Keys of requests that are being sent. */
  readonly #sendingKeys = new Set<string>()
  #isExpiring = false
  #site: DeskSite | undefined

  constructor(places: readonly LaterPlace[], options: DeskOptions) {
    this.#places = new Map(places.map(each => [laterJobName(each.port.port, each.name), each]))
    this.#options = options
    this.#turns = new WaitingLines(receivingBounds(options), 'too many calls wait for later answers')
  }

  listFigures(): readonly Figure[] {
    return this.#figures.listFigures(() => this.#waiting.size)
  }

  readonly open: LaterCalls['open'] = async (ledger, { clock, id }) => {
    const timer = setInterval(() => void this.#expire().catch(this.#noteFailure), expireEveryMs).unref()
    this.#site = { ledger, clock, id, timer }
    for (const { id: known, ...call } of await ledger.listWaiting()) this.#waiting.set(known, call)
    return {
      receive: (...message) => this.#receive(...message),
      forget: known => this.#forget(known, 'cancelled'),
      expire: () => this.#expire(),
      close: () => clearInterval(timer),
    } satisfies LaterReceiver
  }

  readonly answer: LaterCalls['answer'] = (job, text, ends) => {
    const place = this.#placeOf(job)
    return this.#options.pass(place, readKeptAnswer(place.exchange, text), ends, true)
  }

  // Sending

  /**
   * Sends the call and returns it as one that continues; or returns its outcome, if that is known
   * at once or its caller waits for it.
   */
  async start(
    job: string,
    laterCaller: LaterCaller,
    ask: (later: LaterReply) => Promise<PortAnswer>,
  ): Promise<StartedCall | PortAnswer> {
    const { caller, once } = laterCaller
    if (!once) return await this.#ask(job, laterCaller, ask)
    const key = JSON.stringify([caller.subject, job, once.key])
    if (this.#sendingKeys.has(key)) refuse({ kind: 'in-flight' })
    this.#sendingKeys.add(key)
    try {
      const existing = await this.#requireSite().ledger.findMade(job, caller, once)
      return existing === undefined ? await this.#ask(job, laterCaller, ask) : new StartedCall(existing)
    } finally {
      this.#sendingKeys.delete(key)
    }
  }

  async #ask(
    job: string,
    { caller, party, mayStart, waitMs, once }: LaterCaller,
    ask: (later: LaterReply) => Promise<PortAnswer>,
  ): Promise<StartedCall | PortAnswer> {
    const { ledger, clock, id: identify } = this.#requireSite()
    this.#requireRoom(party)
    const [id, created] = [identify('j'), clock()]
    const secret = encodeBase64Url(randomBytes(24))
    const due = created + this.#options.limits.answerLimit
    const call: LaterCall = { id, job, caller, party, created, due, once, proof: '' }
    this.#waiting.set(id, call) // (5): before the first await
    let isKept = false
    const keep: LaterReply['keep'] = async request => {
      await ledger.begin({ ...call, proof: writeProof(secret, request) }) // (1)
      isKept = true
    }
    const ended = mayStart ? undefined : this.#listen(id, waitMs)
    const first = await ask({ replyTo: `${this.#options.replies}${replyPath(id, secret)}`, keep }).catch(
      async thrown => {
        await this.#drop(call)
        throw thrown
      },
    )
    if (isKept && !this.#waiting.has(id)) return (await ended) ?? new StartedCall(id) // the answer was faster
    if (first.kind === 'answer') await this.#settle(job, id, first)
    else if (isKept && mayStillCome(first)) this.#noteDoubt(job, id, first)
    else {
      await this.#drop(call)
      return first
    }
    return (await ended) ?? new StartedCall(id)
  }

  /** (5) */
  #requireRoom(party: string): void {
    const { answers, answersOfCaller } = this.#options.limits
    if (this.#waiting.size >= answers)
      refuse({ kind: 'unavailable', after: retryAfter, cause: `${answers} calls wait for answers that come later` })
    const own = this.#waiting.values().filter(each => each.party === party)
    if (own.take(answersOfCaller).toArray().length >= answersOfCaller)
      refuse({ kind: 'too-many', after: retryAfter, limit: answersOfCaller })
  }

  #noteDoubt(job: string, id: string, first: PortAnswer): void {
    if (first.kind === 'accepted') return
    const reason = first.kind === 'silence' ? `no response (${first.why})` : 'no response of the service'
    this.#options.note(`${dottedJobName(job)}: ${reason}: it may have been carried out, and ${id} waits for its answer`)
  }

  /** The outcome of the call, or that nothing arrived in time. */
  #listen(id: string, waitMs: number): Promise<PortAnswer> {
    return new Promise(resolve => {
      const stop = (answer: PortAnswer) => {
        clearTimeout(timer)
        this.#listeners.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(() => stop({ ...late, job: id }), waitMs)
      this.#listeners.set(id, stop)
    })
  }

  /** Nothing was carried out, or the caller knows the outcome. */
  async #drop(call: LaterCall): Promise<void> {
    this.#waiting.delete(call.id)
    this.#listeners.get(call.id)?.(late)
    await this.#requireSite().ledger.drop(call)
  }

  // Ending

  /** False where the call no longer waits (2). */
  async #settle(job: string, id: string, answer: PortAnswer, digest?: string): Promise<boolean> {
    const { ledger } = this.#requireSite()
    const place = this.#placeOf(job)
    const call = await ledger.find(id)
    const { pass, failureOf } = this.#options
    const endBy = (isTold: boolean) => failureOf(() => pass(place, answer, captured, isTold))
    const failure = endBy(true)
    const isEnded =
      call !== undefined &&
      (await ledger.end(id, {
        state: failure === undefined ? 'completed' : 'failed',
        failure,
        answer: writeKeptAnswer(place.exchange, answer),
        proof: writeTakenProof(readProof(call.proof), digest),
      }))
    if (!isEnded) return false
    endBy(false)
    this.#listeners.get(id)?.(answer)
    this.#forget(id, laterOutcomeOf(answer))
    return true
  }

  #forget(id: string, outcome: LaterOutcome): void {
    if (this.#waiting.delete(id)) this.#figures.countEnd(outcome)
    this.#listeners.get(id)?.(late)
  }

  async #expire(): Promise<void> {
    if (this.#isExpiring) return
    this.#isExpiring = true
    try {
      const now = this.#requireSite().clock()
      for (const [id, { job, due }] of this.#waiting) if (due <= now) await this.#expireCall(job, id)
    } finally {
      this.#isExpiring = false
    }
  }
  async #expireCall(job: string, id: string): Promise<void> {
    if (!this.#places.has(job)) return this.#forget(id, 'late')
    if (!(await this.#settle(job, id, late))) this.#forget(id, 'late')
  }

  // Receiving

  async #receive(id: string, secret: string, message: ArrivedMessage): Promise<MessageReceipt> {
    const found = await this.#find(id, secret)
    if (!found) return this.#refuse('unknown', refuseUnknownReply)
    return await this.#turns.take(id, () => this.#take(found.place, id, secret, message), turnLimitMs)
  }

  /** (3) */
  async #find(id: string, secret: string): Promise<FoundCall | undefined> {
    const call = await this.#requireSite().ledger.find(id)
    const place = call && this.#places.get(call.job)
    if (!call || !place) return undefined
    const proof = readProof(call.proof)
    return matchesSecret(proof, secret) ? { call, place, proof } : undefined
  }

  async #take(
    { name, port, reader }: LaterPlace,
    id: string,
    secret: string,
    { fields, read }: ArrivedMessage,
  ): Promise<MessageReceipt> {
    const place = `${port.port}.${name}: ${id}`
    const content = await read(reader.longest)
    if (!content) {
      this.#options.note(`${place}: a message of more than ${reader.longest} octets arrived, and was refused`)
      return this.#refuse('too-long', refuseLongReply(reader))
    }
    const found = await this.#find(id, secret) // another message, or the caller, may have ended it
    if (!found) return this.#refuse('unknown', refuseUnknownReply)
    const { call, proof } = found
    const digest = digestLater(content)
    if (proof.taken === digest) return acceptReply // (2)
    if (call.state !== 'waiting' || !proof.request)
      return this.#refuse('ended', refuseRelation(reader, endedReasons[call.state]))
    if (call.due <= this.#requireSite().clock()) {
      await this.#expireCall(call.job, id)
      return this.#refuse('late', refuseRelation(reader, endedReasons.failed))
    }
    const request = { ...proof.request, cameTo: replyPath(id, secret) }
    const answer = await reader.read(name, { status: 200, fields, content }, request)
    if (answer.kind === 'foreign') {
      this.#options.note(`${place}: a message was refused (${answer.why}): ${answer.detail}`)
      return this.#refuse(answer.why, refuseForeignReply(reader, answer)) // (4)
    }
    if (await this.#settle(call.job, id, answer, digest)) return acceptReply
    return this.#refuse('ended', refuseRelation(reader, endedReasons.completed))
  }

  #refuse(why: ReceiptRefusal, receipt: MessageReceipt): MessageReceipt {
    this.#figures.countRefusal(why)
    return receipt
  }

  #placeOf(job: string): LaterPlace {
    const place = this.#places.get(job)
    if (!place) throw new Error(`the answers of ${dottedJobName(job)} come at once`)
    return place
  }
  #requireSite(): DeskSite {
    if (!this.#site) throw new Error('calls with later answers need a running service')
    return this.#site
  }
  readonly #noteFailure = (thrown: unknown): void =>
    this.#options.note(`calls whose time is over could not be ended: ${String(thrown)}`)
}

interface FoundCall {
  readonly call: KeptLaterCall
  readonly place: LaterPlace
  readonly proof: LaterProof
}

/** Nothing in a stored answer can be set. */
const captured: EndContext = {
  setHeader: () => {},
  fail: fault => {
    throw new FaultEnd(fault)
  },
}
/** The declared fault that an answer contains. */
export class FaultEnd {
  readonly fault: string
  constructor(fault: string) {
    this.fault = fault
  }
}

const late: Extract<PortAnswer, { kind: 'silence' }> = { kind: 'silence', why: 'late', mayHaveRun: true }

/** Whether the answer may still come although the response was not one. */
const mayStillCome = (first: PortAnswer): boolean =>
  first.kind === 'accepted' ||
  (first.kind === 'silence' && first.mayHaveRun && first.why !== 'busy') ||
  (first.kind === 'garbage' && (first.status === 502 || first.status === 504)) // from a gateway in front of it

const laterOutcomeOf = ({ kind }: PortAnswer): LaterOutcome =>
  kind === 'answer' || kind === 'fault' || kind === 'garbage' ? kind : 'late'

const endedReasons: Readonly<Record<KeptLaterCall['state'], string>> = {
  waiting: 'the message that it relates to has been answered',
  completed: 'the message that it relates to has been answered',
  failed: 'the message that it relates to has been answered, or its answer came too late',
  cancelled: 'the call of the message that it relates to was cancelled',
}

const dottedJobName = (job: string): string => job.replace('/', '.')
const replyPath = (id: string, secret: string): string => `/${repliesSegment}/${id}/${secret}`
