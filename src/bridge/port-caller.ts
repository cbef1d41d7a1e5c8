/**
 * The backend of a bridge, asked for the exchanges of a port. A call ends in one of three ways:
 * an answer that is valid by the contract, a fault of the service, or a reason why neither is
 * known. Nothing that breaks the contract is passed on, or that has to be proven and is not.
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

export type PortAnswer =
  | {
      readonly kind: 'answer'
      readonly content: unknown
      readonly blocks: Readonly<Record<string, unknown>>
      /** Of octets that pass. */
      readonly passing?: {
        /** Settles when no more of them comes, however they end. */
        readonly over: Promise<void>
        /** Why they did not come whole; `closed`: their reader here went away. */
        readonly failure: Promise<PortAnswer | undefined>
      }
    }
  /** `declared`: the fault of the contract whose element is in its detail. */
  | {
      readonly kind: 'fault'
      readonly code: Code | undefined
      readonly reason: string
      /** Of a service that speaks HTTP: what it answered. */
      readonly status?: number
      readonly declared: { readonly name: string; readonly detail: unknown } | undefined
      /** The fault of the contract whose element breaks its type, which is not passed on. */
      readonly broken?: string
      /** Seconds after which such a service wants to be asked again (RFC 9110 §10.2.3). */
      readonly after?: number
      /** Why the input cannot be said in a request: nothing was sent. */
      readonly unsent?: FieldProblem
      /** A code of WS-Security or WS-Addressing: what is refused is how the message was dressed. */
      readonly dress?: string
    }
  /** No answer, and whether the service may have done what was asked. */
  | {
      readonly kind: 'silence'
      readonly why: TransportFailure['why']
      readonly mayHaveRun: boolean
      /** Seconds after which the service wants to be asked again (RFC 9110 §10.2.3). */
      readonly after?: number
      /** The job that still waits for its answer. */
      readonly job?: string
    }
  /** What came is not an answer to this call; the detail is for the operator. */
  | {
      readonly kind: 'garbage'
      readonly status: number
      readonly detail: string
      /** It has to be proven, or to relate to its request, and nothing shows that. */
      readonly isUnproven?: boolean
    }
  /** The answer comes later, where `later` sends it. */
  | { readonly kind: 'accepted' }

export interface PortCall {
  readonly input: unknown
  /** Whose call it is. */
  readonly caller?: Caller
  /** Header blocks of the request by their names. */
  readonly blocks: Readonly<Record<string, unknown>>
  /** Fields of this request alone, of a service that speaks HTTP. */
  readonly fields?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Octets of the answer may be `PassingOctets`, which are read in this order. */
  readonly passing?: ReadingOrder | undefined
  /** Where its answer goes, which may come later. */
  readonly later?: LaterReply
}
/** A message to the address of a later answer that does not count as that answer. */
export interface ForeignMessage {
  readonly kind: 'foreign'
  readonly why: FailureReason
  readonly detail: string
}
/** Reads messages that came to the addresses of later answers. */
export interface LaterReader {
  readonly version: SoapVersion
  /** Undefined: messages have no addressing, and no answer can come later. */
  readonly dialect: AddressingVersion | undefined
  /** Octets of a message. */
  readonly longest: number
  readonly read: (
    exchange: string,
    message: TransportResponse,
    request: SentRequest,
  ) => Promise<PortAnswer | ForeignMessage>
}
/** Input that does not fit its declared type is not sent: that throws, or is `unsent`. */
export interface PortCaller {
  (exchange: string, call: PortCall): Promise<PortAnswer>
  /** Of a SOAP service. */
  readonly later?: LaterReader
}

export interface CallerOptions {
  /** Milliseconds for one answer, connecting included. */
  readonly timeLimit: number
  /** Octets of an answer; default 16 MiB. */
  readonly longest?: number
  /** Octets of a package that passes; undefined: each answer is held. */
  readonly longestPassing?: number
  /** Fields of each request, such as Authorization. */
  readonly fields?: Readonly<Record<string, string>>
  /** What messages wear, and what answers have to prove; default nothing. */
  readonly dress?: MessageDress
  /** What answers of a SOAP service may have wrong, besides their envelope; default nothing. */
  readonly lenient?: readonly BridgeLeniency[]
  /** Gets each flaw that was forgiven; `operation`: `Shop.GetPrice`. */
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
    // A read is asked again by `bridged-service.ts`, which also counts the calls in vain.
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
/** What is wrong with a message that relates to its request, and is proven. */
const isOfAnswer: ReadonlySet<FailureReason> = new Set(['invalid', 'unexpected'])
const plainDress: MessageDress = createMessageDress(undefined, '', {})

const explainPassing = (exchange: PortExchange, { over, failure }: PassingReply) => ({
  over,
  failure: failure.then(thrown => (thrown === undefined ? undefined : explainThrown(exchange, thrown))),
})

/** @throws what is not about the answer */
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
 * A service that has too much to do, which may also be said by what stands before it: 429 comes
 * before anything is done (RFC 6585 §4), 503 does not promise that (RFC 9110 §15.6.4).
 */
export function readOverload(status: number, after: number | undefined): PortAnswer | undefined {
  if (status !== 429 && status !== 503) return undefined
  return { kind: 'silence', why: 'busy', mayHaveRun: status === 503, ...(after !== undefined && { after }) }
}

/** A field Retry-After in seconds from now. */
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
