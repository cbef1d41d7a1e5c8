/**
 * A service whose ports are those of another service: each exchange is performed there. Callers use
 * our faces; requests and answers are both checked against the contract. A failure of the backend
 * becomes a problem that says what happened, and the log has the details for the operator.
 */
import { messageOf } from '../base/attempt.ts'
import type { Pieces } from '../base/octets.ts'
import { dropPassing, listEach, PassingOctets, replaceEach } from '../base/passing-octets.ts'
import { type Port, type PortExchange, statusOfPortFault } from '../contract/exchange.ts'
import { BadGateway, type Fault, fault, GatewayDown, GatewayTimeout, gatewayFaults } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { type ErasedExchangeHandler, type Implementation, implement } from '../contract/implement.ts'
import { laterJobName, StartedCall } from '../contract/later-call.ts'
import type { Grant } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { type Service, service } from '../contract/service.ts'
import { UnsendableBlock } from '../service/exchange-context.ts'
import { type Refusal, Refused, refuse } from '../service/refusal.ts'
import { WaitingLines } from '../service/waiting-lines.ts'
import { BackendFigures } from './behind-figures.ts'
import { type BridgeLimits, completeLimits, lineBoundsOf } from './bridge-limits.ts'
import { createBridgeProvider, type ResourceBehind } from './bridged-resource.ts'
import { Circuit } from './circuit.ts'
import { verbOf } from './exchange-members.ts'
import { type BridgedResource, emptyValues } from './guess-resources.ts'
import { type EndContext, FaultEnd, LaterDesk } from './later-desk.ts'
import { completeLaterLimits, type LaterLimits } from './later-limits.ts'
import type { LaterReader, PortAnswer, PortCall, PortCaller } from './port-caller.ts'

export interface BridgeOptions {
  /** The function that calls the exchanges of a port at the backend. */
  readonly callerOf: (port: Port) => PortCaller
  /**
   * Receives a line for the operator about an unusable response, with details that its caller does
   * not get.
   */
  readonly note: (line: string) => void
  /** Milliseconds, by default from Date.now. */
  readonly clock?: () => number
  /** Milliseconds that a call waits for its turn, at most. Default: 30,000. */
  readonly turnLimit?: number
  readonly limits?: Partial<BridgeLimits>
  /** For exchanges whose responses come later. */
  readonly later?: {
    /** The address of the bridge for the backend, without a slash at its end. */
    readonly replies: string
    readonly limits?: Partial<LaterLimits>
  }
}

const turnLimitDefault = 30_000

/** The contract of ports that were just imported. */
export function describeBridge(
  name: string,
  namespace: string,
  ports: readonly Port[],
  resources: readonly Resource[] = [],
): Service {
  return service(name, { namespace, resources, ports }) as unknown as Service // a Service with these parts
}
/** A port open to these callers; the names of its exchanges tell which ones read. */
export const openPort = (port: Port, allow: readonly Grant[]): Port => ({
  ...port,
  exchanges: Object.fromEntries(
    Object.entries(port.exchanges).map(([name, each]) => [
      name,
      { ...each, allow, isSafe: each.isSafe || verbOf(name) === 'read' },
    ]),
  ),
})

/** Implements each port of a contract by calls elsewhere, and the resources on its exchanges. */
export function createBridge(
  contract: Service,
  options: BridgeOptions,
  resources: readonly BridgedResource[] = [],
): Implementation {
  const { callerOf, note, clock = Date.now, turnLimit = turnLimitDefault } = options
  const limits = completeLimits(options.limits)
  const circuit = new Circuit(clock, note, limits)
  const lines = new WaitingLines(lineBoundsOf(limits), 'too many calls wait for the backend')
  const figures = new BackendFigures()
  const callers = new Map(contract.ports.map(port => [port.port, callerOf(port)]))
  const asks = new Map(
    [...callers].map(([port, send]) => {
      const once: Ask = (name, party, call) =>
        keepTurn(lines, party, turnLimit, () => askThrough(circuit, figures, () => send(name, call)))
      return [port, once]
    }),
  )
  const askOf = (port: Port): Ask => retryRead(port, asks.get(port.port) as Ask) // one for each port
  const desk = createDesk(contract.ports, callers, limits, options)
  const handlers = contract.ports.map(port => {
    const exchanges = Object.entries(port.exchanges).map(([name, exchange]) => {
      const exchangeSite = { place: `${port.port}.${name}`, exchange, ask: askOf(port), name, note }
      return [
        name,
        desk && exchange.later
          ? createLaterHandler(port, exchangeSite, desk, turnLimit)
          : createBridgeHandler(exchangeSite),
      ] as const
    })
    return [port.port, Object.fromEntries(exchanges)] as const
  })
  const providers = resources.map(each => {
    const keep = createBridgeProvider(each, reachResource(each.port, askOf(each.port), note))
    return [each.resource.name, { keep, derive: emptyValues }] as const
  })
  // one handler for each exchange, a provider for each resource
  const app = implement(contract, Object.fromEntries([...handlers, ...providers]) as never)
  return {
    ...app,
    faultsBehind: gatewayFaults,
    figures: [...figures.listFigures(lines, circuit), ...(desk?.listFigures() ?? [])],
    ...(desk && { later: desk }),
  }
}

/** Undefined: no response comes later. */
function createDesk(
  ports: readonly Port[],
  callers: ReadonlyMap<string, PortCaller>,
  { calls }: BridgeLimits,
  { later, note }: BridgeOptions,
): LaterDesk | undefined {
  const places = ports.flatMap(port =>
    Object.entries(port.exchanges).flatMap(([name, exchange]) =>
      exchange.later ? [{ port, name, exchange, reader: requireLaterReader(port, callers.get(port.port)) }] : [],
    ),
  )
  if (places.length === 0) return undefined
  if (!later) throw new TypeError('answers come later: give the address of this bridge for the backend')
  return new LaterDesk(places, {
    replies: later.replies,
    limits: completeLaterLimits(later.limits),
    receivedMax: calls,
    note,
    pass: ({ port, name, exchange }, answer, ends, isTold) =>
      passOutcome(`${port.port}.${name}`, exchange, answer, ends, isTold ? () => {} : note),
    failureOf: findFailure,
  })
}
function requireLaterReader({ port }: Port, caller: PortCaller | undefined): LaterReader {
  if (caller?.later?.dialect) return caller.later
  throw new TypeError(`answers of ${port} come later, which needs WS-Addressing: give addressing`)
}

/** The name of the fault that ends a call; undefined: none does. */
function findFailure(pass: () => unknown): string | undefined {
  try {
    pass()
    return undefined
  } catch (thrown) {
    if (thrown instanceof FaultEnd) return thrown.fault
    if (!(thrown instanceof Refused)) throw thrown
    const refusal = thrown.refusal as Refusal // no other is thrown by `passOn`
    return refusal.kind === 'declared' ? refusal.fault.fault : refusal.kind
  }
}

/** A turn lasts until the octets of its response have passed, since they occupy the connection. */
const keepTurn = (
  lines: WaitingLines,
  party: string,
  turnLimit: number,
  ask: () => Promise<PortAnswer>,
): Promise<PortAnswer> =>
  new Promise((resolve, reject) => {
    const work = async () => {
      const answer = await ask()
      resolve(answer)
      if (answer.kind === 'answer') await answer.passing?.over
    }
    lines.take(party, work, turnLimit).catch(reject)
  })

type Ask = (exchange: string, party: string, call: PortCall) => Promise<PortAnswer>
/** A read is repeated once if its connection was lost. */
const retryRead =
  ({ exchanges }: Port, once: Ask): Ask =>
  async (name, party, call) => {
    const first = await once(name, party, call)
    const isLost = first.kind === 'silence' && first.why === 'lost'
    const isSentAgain = isLost && listEach(call.input, PassingOctets).length === 0
    return exchanges[name]?.isSafe && isSentAgain ? await once(name, party, call) : first
  }

/** The backend for the provider of a resource. */
function reachResource(port: Port, ask: Ask, note: BridgeOptions['note']): ResourceBehind {
  const exchangeOf = (name: string) => port.exchanges[name] as PortExchange // the guess found it there
  const pass = (name: string, answer: PortAnswer) =>
    passOutcome(`${port.port}.${name}`, exchangeOf(name), answer, resourceEnds(exchangeOf(name)), note)
  const refuseAfter = (name: string, why: string, reason: string): never => {
    note(`${port.port}.${name}: ${why}`)
    return refuseAs(BadGateway, reason)
  }
  return {
    read: async (name, { party, caller }, input) => {
      const answer = await ask(name, party, { input, blocks: {}, caller })
      const isAbsent = answer.kind === 'fault' && statusOfAnswer(exchangeOf(name), answer) === 404
      return isAbsent ? undefined : pass(name, answer)
    },
    change: async ({ exchange: name, path, inputOf }, { party, caller }, item) => {
      try {
        return pass(name, await ask(name, party, { input: inputOf(item), blocks: {}, caller }))
      } catch (thrown) {
        throw thrown instanceof Refused ? new Refused(placeInItem(thrown.refusal as Refusal, path)) : thrown
      }
    },
    refusePart: (name, why) => refuseAfter(name, why, 'the backend returned only a part of the list'),
    refuseUnread: (name, why) => refuseAfter(name, why, 'the backend has carried it out, but does not return the item'),
  }
}
/** A flaw that the message's schema finds, at its place in the item. */
function placeInItem(refusal: Refusal, path: readonly string[]): Refusal {
  if (refusal.kind !== 'invalid') return refusal
  const isInItem = (at: FieldProblem['path']) => path.every((key, i) => at[i] === key)
  const place = (each: FieldProblem) => (isInItem(each.path) ? { ...each, path: each.path.slice(path.length) } : each)
  return { ...refusal, problems: refusal.problems.map(place) }
}
const resourceEnds = (exchange: PortExchange): EndContext => ({
  setHeader: () => {},
  fail: (name, _detail, reason = name, status = statusOfPortFault(exchange, name)) =>
    refuseAs(fault(name, { status, title: name }), reason),
})

async function askThrough(
  circuit: Circuit,
  figures: BackendFigures,
  ask: () => Promise<PortAnswer>,
): Promise<PortAnswer> {
  const after = circuit.admit()
  if (after > 0) return refuse({ kind: 'unavailable', after, cause: 'the backend does not respond' })
  const settle = (answer: PortAnswer | undefined) => {
    if (answer) figures.count(answer)
    circuit.settle(answer?.kind !== 'silence' || !unanswered.has(answer.why))
  }
  const answer = await ask().catch(thrown => {
    settle(undefined)
    throw thrown
  })
  if (answer.kind !== 'answer' || !answer.passing) {
    settle(answer)
    return answer
  }
  circuit.begin()
  const end = (failure: PortAnswer | undefined) =>
    hasReaderLeft(failure) ? figures.count(answer) : settle(failure ?? answer)
  void answer.passing.failure.then(end, () => settle(undefined))
  return answer
}
/** The rest of a response is not known once its reader has left. */
const hasReaderLeft = (failure: PortAnswer | undefined): boolean =>
  failure?.kind === 'silence' && failure.why === 'closed'
/** The other reasons arise after a response, or on this side. */
const unanswered: ReadonlySet<SilenceReason> = new Set(['unreachable', 'late', 'lost', 'no-http'])

interface AskedExchange {
  /** The place, for the operator. */
  readonly place: string
  readonly name: string
  readonly exchange: PortExchange
  readonly ask: Ask
  readonly note: BridgeOptions['note']
}

/** The call continues as a job; a caller that cannot receive a job waits for the answer instead. */
function createLaterHandler(
  { port }: Port,
  { place, name, exchange, ask, note }: AskedExchange,
  desk: LaterDesk,
  waitMs: number,
): ErasedExchangeHandler {
  return async (input, context) => {
    const { caller, party, mayStart = false, once, headers: blocks } = context
    const found = await desk.start(laterJobName(port, name), { caller, party, mayStart, once, waitMs }, later =>
      ask(name, party, { input, blocks, caller, later }),
    )
    return found instanceof StartedCall ? found : passOutcome(place, exchange, found, context, note)
  }
}

function createBridgeHandler({ place, name, exchange, ask, note }: AskedExchange): ErasedExchangeHandler {
  return async (input, context) => {
    const answer = await ask(name, context.party, {
      input,
      blocks: context.headers,
      caller: context.caller,
      passing: context.passing,
    })
    return passOutcome(place, exchange, answer, context, note)
  }
}

function passOutcome(
  place: string,
  exchange: PortExchange,
  answer: PortAnswer,
  context: EndContext,
  note: BridgeOptions['note'],
): unknown {
  switch (answer.kind) {
    case 'answer':
      return passAnswer(place, answer, context, note)
    case 'fault':
      if (answer.declared)
        return context.fail(
          answer.declared.name,
          answer.declared.detail as never,
          cutStack(answer.reason),
          answer.declared.status,
        )
      note(`${place}: fault ${answer.dress ?? answer.code ?? 'without a standard code'}: ${answer.reason}`)
      if (answer.broken !== undefined) note(`${place}: the detail of the fault ${answer.broken} breaks its type`)
      if (answer.dress !== undefined)
        return refuseAs(
          BadGateway,
          `the backend refused the security or addressing of the bridge’s message (${answer.dress})`,
        )
      return refuseAs(
        faultOfReason(exchange, answer),
        answer.code === 'Sender' ? cutStack(answer.reason) : BadGateway.title,
      )
    case 'silence':
      note(`${place}: no answer (${answer.why})${answer.mayHaveRun ? '; it may have been carried out' : ''}`)
      if (answer.after !== undefined && (exchange.isSafe || !answer.mayHaveRun))
        return refuse({ kind: 'unavailable', after: answer.after, cause: 'the backend is busy' })
      return refuseAs(silenceFaults[answer.why], silenceReason(answer))
    case 'garbage':
      note(`${place}: ${answer.detail}`)
      return refuseAs(
        BadGateway,
        answer.isUnproven ? unprovenReason : 'the response of the backend is not an answer to this request',
      )
    case 'accepted':
      note(`${place}: the backend accepted the message, although no later answer was expected`)
      return refuseAs(BadGateway, 'the backend sent no answer: it may have been carried out')
  }
}

function passAnswer(
  place: string,
  { blocks, content, passing }: Extract<PortAnswer, { kind: 'answer' }>,
  context: EndContext,
  note: BridgeOptions['note'],
): unknown {
  try {
    for (const [name, value] of Object.entries(blocks)) context.setHeader(name, value)
  } catch (thrown) {
    dropPassing(content)
    if (!(thrown instanceof UnsendableBlock)) throw thrown
    note(`${place}: ${thrown.message}`)
    return refuseAs(BadGateway, `the backend has responded, but ${thrown.message}`)
  }
  if (!passing) return content
  const cut = (thrown: unknown) => note(`${place}: cut while its octets passed: ${messageOf(thrown)}`)
  const wait = (next: () => Promise<string | undefined>) =>
    next().catch((thrown: unknown): never => {
      cut(thrown)
      throw thrown
    })
  return replaceEach(content, PassingOctets, octets => octets.through(pieces => reportCut(pieces, cut), wait))
}
async function* reportCut(pieces: Pieces, cut: (thrown: unknown) => void): Pieces {
  try {
    yield* pieces
  } catch (thrown) {
    cut(thrown)
    throw thrown
  }
}

const unprovenReason = 'the response of the backend is not authenticated: it may have been carried out'

/** A fault of the sender concerns the caller; any other concerns the backend alone. */
const faultOfReason = (exchange: PortExchange, answer: PortFault): Fault =>
  answer.code === 'Sender'
    ? fault('Refused', { status: statusOfAnswer(exchange, answer), title: 'Refused' })
    : BadGateway

/**
 * A reason without the stack that .NET and Java append: that is about the service itself. .NET
 * writes `at` in the language of its machine; Mono has a space before `(`.
 */
const cutStack = (reason: string): string =>
  reason.split(/\r?\n[ \t]+(?:--- |at \(wrapper |at (?=\S*\.)[^\s(]* \(|\p{L}{1,8} (?=\S*\.)[^\s(]*\()/u, 1)[0] ??
  reason

type PortFault = Extract<PortAnswer, { kind: 'fault' }>
function statusOfAnswer(exchange: PortExchange, answer: PortFault): number {
  const { code, reason, status, declared, broken, dress } = answer
  if (declared) return declared.status ?? statusOfPortFault(exchange, declared.name)
  if (code !== 'Sender' || dress !== undefined) return BadGateway.status
  return status ?? statusOfPortFault(exchange, broken ?? cutStack(reason).replace(/\W+/g, '_'))
}

type SilenceReason = Extract<PortAnswer, { kind: 'silence' }>['why']
const silenceFaults: Readonly<Record<SilenceReason, Fault>> = {
  unreachable: GatewayDown,
  busy: GatewayDown,
  closed: GatewayDown,
  late: GatewayTimeout,
  lost: BadGateway,
  'no-http': BadGateway,
  'too-long': BadGateway,
}
const silenceReason = ({ why, mayHaveRun, job }: Extract<PortAnswer, { kind: 'silence' }>): string =>
  `${silenceFaults[why].title}: ${mayHaveRun ? 'it may have been carried out' : 'nothing was carried out'}${job === undefined ? '' : `; the job ${job} waits for its answer`}`

const refuseAs = (declared: Fault, reason: string): never =>
  refuse({ kind: 'declared', fault: declared, detail: {}, element: { reason } })
