/**
 * The backend of a bridge, called by the exchanges of a port. A call ends in one of three ways: an
 * answer that is valid by the contract, a fault of the service, or a reason why neither is known.
 * Nothing that breaks the contract, or lacks a required proof, is passed on.
 */

import type { ReadingOrder } from '../base/passing-octets.ts'
import { createMessageDress, type MessageDress } from '../client/dressed-message.ts'
import {
  AnswerError,
  ConnectionError,
  type FailureReason,
  FaultError,
  InputError,
  type TransportFailure,
} from '../client/errors.ts'
import type { SentRequest } from '../client/opened-answer.ts'
import {
  CallableExchange,
  createPortPlans,
  type LaterReply,
  type PassingReply,
  type PortEndpoint,
  versionOfPort,
} from '../client/port-exchange.ts'
import { isRepeatable, timingOf } from '../client/repeated-post.ts'
import { type ClientTransport, longestDefault, type TransportResponse } from '../client/transport.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Caller } from '../contract/policy.ts'
import { parseRetryAfter } from '../http/fields.ts'
import { refuse } from '../service/refusal.ts'
import type { Forgiven } from '../soap/codecs/mended-element.ts'
import type { Code } from '../soap/fault.ts'
import { type AddressingVersion, isAddressingUri } from '../soap/headers/addressing.ts'
import { securityName } from '../soap/security-port.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { Name } from '../xml/index.ts'
import type { BridgeLeniency } from './leniency.ts'

/** A fault of the contract, and the content of its element. */
export interface DeclaredAnswer {
  readonly name: string
  readonly detail: unknown
  /** That of an HTTP service, if the contract declares none. */
  readonly status?: number
}

export type PortAnswer =
  | {
      readonly kind: 'answer'
      readonly content: unknown
      readonly blocks: Readonly<Record<string, unknown>>
      /** For octets that pass. */
      readonly passing?: {
        /** Settles when no more octets come, however they end. */
        readonly over: Promise<void>
        /** Why they are incomplete; `closed`: their reader here went away. */
        readonly failure: Promise<PortAnswer | undefined>
      }
    }
  /** `declared`: the fault of the contract whose element is in its detail. */
  | {
      readonly kind: 'fault'
      readonly code: Code | undefined
      readonly reason: string
      /** For an HTTP service: its status. */
      readonly status?: number
      readonly declared: DeclaredAnswer | undefined
      /** The declared fault whose element violates its type; it is not passed on. */
      readonly broken?: string
      /** Seconds after which such a service asks to be called again (RFC 9110 §10.2.3). */
      readonly after?: number
      /** Why a request cannot express the input: nothing was sent. */
      readonly unsent?: FieldProblem
      /** A code of WS-Security or WS-Addressing: the dress of the message was refused. */
      readonly dress?: string
    }
  /** No response, and whether the service may have carried out the call. */
  | {
      readonly kind: 'silence'
      readonly why: TransportFailure['why']
      readonly mayHaveRun: boolean
      /** Seconds after which the service asks to be called again (RFC 9110 §10.2.3). */
      readonly after?: number
      /** The job that still waits for its response. */
      readonly job?: string
    }
  /** The response does not belong to this call; the detail is for the operator. */
  | {
      readonly kind: 'garbage'
      readonly status: number
      readonly detail: string
      /** It has to be proven, or to relate to its request, but nothing shows that. */
      readonly isUnproven?: boolean
    }
  /** The response comes later, to the address in `later`. */
  | { readonly kind: 'accepted' }

export interface PortCall {
  readonly input: unknown
  /** The caller on whose behalf the call is made. */
  readonly caller?: Caller
  /** Header blocks of the request by their names. */
  readonly blocks: Readonly<Record<string, unknown>>
  /** Fields of only this request, for an HTTP service. */
  readonly fields?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Octets of the response may be `PassingOctets`, read in this order. */
  readonly passing?: ReadingOrder | undefined
  /** Where the response goes, which may come later. */
  readonly later?: LaterReply
}
/** A message to the address of a later response that does not count as this response. */
export interface ForeignMessage {
  readonly kind: 'foreign'
  readonly why: FailureReason
  readonly detail: string
}
/** Reads messages that arrive at the addresses of later responses. */
export interface LaterReader {
  readonly version: SoapVersion
  /** Undefined: messages have no addressing, so no response can come later. */
  readonly dialect: AddressingVersion | undefined
  /** The limit of a message in octets. */
  readonly longest: number
  readonly read: (
    exchange: string,
    message: TransportResponse,
    request: SentRequest,
  ) => Promise<PortAnswer | ForeignMessage>
}
/** Input that does not fit its declared type is not sent: the call throws, or is `unsent`. */
export interface PortCaller {
  (exchange: string, call: PortCall): Promise<PortAnswer>
  /** Only for a SOAP service. */
  readonly later?: LaterReader
}

export interface CallerOptions {
  /** Milliseconds for one response, including connecting. */
  readonly timeLimit: number
  /** Octets of a response; default 16 MiB. */
  readonly longest?: number
  /** Octets of a package that passes; undefined: each response is held. */
  readonly longestPassing?: number
  /** Fields of each request, such as Authorization. */
  readonly fields?: Readonly<Record<string, string>>
  /** The dress of messages, and what responses have to prove; default: nothing. */
  readonly dress?: MessageDress
  /** What may be wrong in responses of a SOAP service, besides their envelope; default: nothing. */
  readonly lenient?: readonly BridgeLeniency[]
  /** Receives each forgiven flaw; `operation`: `Shop.GetPrice`. */
  readonly forgave?: (operation: string, forgiven: Forgiven) => void
}

export function createPortCaller(port: Port, transport: ClientTransport, options: CallerOptions): PortCaller {
  const { dress = plainDress, fields, longest, longestPassing, lenient = [], forgave = () => {} } = options
  const endpoint: PortEndpoint = {
    version: versionOfPort(port),
    transport,
    dress,
    fields,
    longest,
    lenient: new Set(['envelope', ...lenient]),
    // `bridged-service.ts` repeats a read, and counts the failed calls.
    mayRepeat: (_, failure) => failure.why !== 'unreachable' && isRepeatable(failure, dress.addressing?.once === true),
  }
  const plans = createPortPlans(port)
  const operations = new Map(
    Object.entries(port.exchanges).map(([name, each]) => [name, new CallableExchange(name, each, endpoint, plans)]),
  )
  const requireExchange = (name: string) => {
    const operation = operations.get(name)
    const exchange = port.exchanges[name]
    if (!operation || !exchange) throw new Error(`${name} is not an exchange of the port ${port.port}`)
    return { operation, exchange }
  }
  const tell = (name: string, forgiven: readonly Forgiven[]) => {
    for (const each of forgiven) forgave(`${port.port}.${name}`, each)
  }
  const later: LaterReader = {
    version: endpoint.version,
    dialect: dress.addressing?.dialect,
    longest: longest ?? longestDefault,
    read: async (name, message, request) => {
      const { operation, exchange } = requireExchange(name)
      try {
        const { output, headers: blocks, forgiven } = await operation.readLater(message, request)
        tell(name, forgiven)
        return { kind: 'answer', content: output, blocks }
      } catch (thrown) {
        if (thrown instanceof AnswerError && !isOfAnswer.has(thrown.why))
          return { kind: 'foreign', why: thrown.why, detail: thrown.detail }
        return explainThrown(exchange, thrown)
      }
    },
  }
  const ask: PortCaller = async (name, { input, blocks: headers, passing: reading, caller, later: replying }) => {
    const { operation, exchange } = requireExchange(name)
    try {
      const passingMax = reading && longestPassing
      const {
        output,
        headers: blocks,
        passing,
        isAccepted,
        forgiven,
      } = await operation.call(input, {
        ...timingOf(options, {}),
        headers,
        passingMax,
        reading,
        onBehalfOf: caller,
        later: replying,
      })
      if (isAccepted) return { kind: 'accepted' }
      tell(name, forgiven)
      return { kind: 'answer', content: output, blocks, ...(passing && { passing: explainPassing(exchange, passing) }) }
    } catch (thrown) {
      return explainThrown(exchange, thrown)
    }
  }
  return Object.assign(ask, { later })
}
/** Flaws of a message that relates to its request and is proven. */
const isOfAnswer: ReadonlySet<FailureReason> = new Set(['invalid', 'unexpected'])
const plainDress: MessageDress = createMessageDress(undefined, '', {})

const explainPassing = (exchange: PortExchange, { over, failure }: PassingReply) => ({
  over,
  failure: failure.then(thrown => (thrown === undefined ? undefined : explainThrown(exchange, thrown))),
})

/** @throws any error that is not about the response */
function explainThrown(exchange: PortExchange, thrown: unknown): PortAnswer {
  const overload = isUndeclared(thrown) && readOverload(thrown.status, readSeconds(thrown.fields['retry-after']))
  if (overload) return overload
  if (thrown instanceof FaultError) return explainFault(exchange, thrown)
  if (thrown instanceof ConnectionError) return { kind: 'silence', why: thrown.why, mayHaveRun: thrown.mayHaveRun }
  if (thrown instanceof InputError) return refuse({ kind: 'invalid', problems: thrown.problems })
  if (!(thrown instanceof AnswerError)) throw thrown
  const { why, status, fields, detail } = thrown
  const isUnproven = why === 'unproven' || why === 'uncorrelated'
  const type = fields['content-type'] ?? 'no media type'
  return { ...describeGarbage(status, `${type}: ${detail}`), ...(isUnproven && { isUnproven }) }
}

/** A declared fault says more than its status. */
const isUndeclared = (thrown: unknown): thrown is FaultError | AnswerError =>
  thrown instanceof AnswerError || (thrown instanceof FaultError && thrown.fault === undefined)

/**
 * A service that is overloaded, according to itself or to a gateway: 429 means that nothing was
 * done (RFC 6585 §4), 503 does not promise that (RFC 9110 §15.6.4).
 */
export function readOverload(status: number, after: number | undefined): PortAnswer | undefined {
  if (status !== 429 && status !== 503) return undefined
  return { kind: 'silence', why: 'busy', mayHaveRun: status === 503, ...(after !== undefined && { after }) }
}

/** A Retry-After field as seconds from now. */
export function readSeconds(retryAfter: string | undefined): number | undefined {
  const waitMs = parseRetryAfter(retryAfter ?? '', Date.now())
  return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000)
}

type Garbage = Extract<PortAnswer, { kind: 'garbage' }>
export const describeGarbage = (status: number, detail: string): Garbage => ({ kind: 'garbage', status, detail })

function explainFault({ faults }: PortExchange, thrown: FaultError): PortAnswer {
  const { code, codes, reasons, entries, fault, detail } = thrown
  const reason = reasons[0]?.text ?? 'a fault without a reason'
  if (fault !== undefined) return { kind: 'fault', code, reason, declared: { name: fault, detail } }
  const isEntry = ({ uri, local }: Name) => entries.some(({ name }) => name.uri === uri && name.local === local)
  const [broken] = Object.entries(faults).find(([, { name }]) => isEntry(name)) ?? []
  const dress = codes.find(({ uri }) => uri === securityName.uri || isAddressingUri(uri))?.local
  return {
    kind: 'fault',
    code,
    reason,
    declared: undefined,
    ...(broken !== undefined && { broken }),
    ...(dress !== undefined && { dress }),
  }
}
