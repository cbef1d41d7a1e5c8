/**
 * Why a message gets a fault instead of its answer, and which fault: the twin of `rest/refusal.ts`.
 * The table is total at compile time; add a kind of refusal and it stops compiling.
 */
import type { Fault } from '../contract/fault.ts'
import { Busy, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { Values } from '../contract/implement.ts'
import type { Current } from '../service/outcome.ts'
import { type Refusal, Refused } from '../service/refusal.ts'
import { clark, escapeText, type Malformed, type Name, writeAttribute } from '../xml/index.ts'
import { type Code, faultReason, type SoapFault, soapPrefix } from './fault.ts'
import { type SoapVersion, versions } from './version.ts'

/** What only SOAP can refuse. */
export type SoapRefusal =
  /** Asked by GET, under a precondition: the client has what stands (304). */
  | { readonly kind: 'unchanged'; readonly current: Current }
  /** The Envelope is of a version that is not spoken here. */
  | { readonly kind: 'version-mismatch'; readonly found: Name }
  /** Mandatory blocks for this node that it cannot process. */
  | { readonly kind: 'not-understood'; readonly blocks: readonly Name[] }
  | { readonly kind: 'encoding-unknown'; readonly encoding: string }
  | { readonly kind: 'not-well-formed'; readonly why: Malformed }
  /** XML that is no SOAP message, or not in the order of one. */
  | { readonly kind: 'structure'; readonly detail: string }
  | { readonly kind: 'no-operation'; readonly detail: string }
  | { readonly kind: 'action-disagrees'; readonly action: string; readonly expected: string }
  /** Content that is not of its schema; `path` is that of the element. */
  | { readonly kind: 'schema'; readonly path: string; readonly detail: string; readonly inHeader?: true }
  /** Content of its schema whose values are outside their bounds. Paths are those of elements. */
  | { readonly kind: 'bounds'; readonly problems: readonly SchemaFlaw[] }
  /**
   * SOAP 1.2 Part 2 §3.1.4, §4.4: data that the encoding or the RPC representation has a subcode
   * for.
   */
  | { readonly kind: 'encoded'; readonly subcode: Name; readonly path: string; readonly detail: string }
  /** A predefined fault of WS-Addressing. */
  | {
      readonly kind: 'addressing'
      readonly subcodes: readonly Name[]
      readonly detail: string
      readonly about?: string
    }
  /** WSS SOAP Message Security §12: told with as little as helps. */
  | { readonly kind: 'security'; readonly subcode: Name; readonly detail: string }
  /** A multipart package that does not hold what its message refers to. */
  | { readonly kind: 'package'; readonly detail: string }
  /** A message longer than its operation takes: 413, and no message is answered. */
  | { readonly kind: 'too-long'; readonly limit: number }
  /** What a handler of header blocks decided. */
  | { readonly kind: 'faulted'; readonly fault: SoapFault }
  /** Our bug, under an incident id. */
  | { readonly kind: 'incident'; readonly incident: string }

/** A value outside its bounds, and the path of its element. */
export interface SchemaFlaw {
  readonly path: string
  readonly code: string
  readonly detail: string
}

export function refuseMessage(refusal: SoapRefusal): never {
  throw new Refused(refusal)
}

export type AnySoapRefusal = Refusal | SoapRefusal
export { Refused }

/** What `act` refuses for its schema is refused as `as` makes it. */
export function asSchemaRefusal<T>(
  act: () => T,
  as: (refusal: Extract<SoapRefusal, { kind: 'schema' }>) => SoapRefusal,
): T {
  try {
    return act()
  } catch (thrown) {
    const refusal = thrown instanceof Refused ? (thrown.refusal as AnySoapRefusal) : undefined // all that is thrown as Refused
    if (refusal?.kind !== 'schema') throw thrown
    return refuseMessage(as(refusal))
  }
}

/** Sender: the message was at fault; Receiver: this node was (rule B7.3). */
export const codeOf: Readonly<Record<AnySoapRefusal['kind'], Code>> = {
  'version-mismatch': 'VersionMismatch',
  'not-understood': 'MustUnderstand',
  'encoding-unknown': 'DataEncodingUnknown',
  'not-well-formed': 'Sender',
  structure: 'Sender',
  'no-operation': 'Sender',
  'action-disagrees': 'Sender',
  schema: 'Sender',
  bounds: 'Sender',
  encoded: 'Sender',
  addressing: 'Sender',
  security: 'Sender',
  package: 'Sender',
  'too-long': 'Sender',
  faulted: 'Sender',
  'not-found': 'Sender',
  gone: 'Sender',
  moved: 'Sender',
  unauthenticated: 'Sender',
  forbidden: 'Sender',
  stale: 'Sender',
  unchanged: 'Sender',
  'precondition-required': 'Sender',
  conflict: 'Sender',
  invalid: 'Sender',
  malformed: 'Sender',
  declared: 'Sender',
  'key-reused': 'Sender',
  'in-flight': 'Receiver',
  'too-many': 'Receiver',
  unavailable: 'Receiver',
  incident: 'Receiver',
}

/**
 * How a fault's own element is written, and how a path of content is: each endpoint has its
 * vocabulary.
 */
export interface FaultWording {
  /** The element of a declared fault with its detail. */
  readonly element: (fault: Fault, detail: Values) => string
  /** Its name. */
  readonly nameOf: (fault: Fault) => Name
  /** Where in the request a path from the content's root is. */
  readonly place: (path: FieldProblem['path']) => string
}

/** The fault that tells of a refusal. */
export function createFault(refusal: AnySoapRefusal, wording: FaultWording): SoapFault {
  const code = codeOf[refusal.kind]
  const plain = (detail: string): SoapFault => ({ code, reasons: faultReason(detail) })
  const inBody = (detail: string, more = ''): SoapFault => ({ ...plain(detail), detail: more })
  const declared = (fault: Fault, says: string, detail: Values = {}): SoapFault => ({
    code: fault.status >= 500 ? 'Receiver' : code,
    subcodes: [wording.nameOf(fault)],
    reasons: faultReason(says),
    detail: wording.element(fault, detail),
  })
  switch (refusal.kind) {
    case 'version-mismatch':
      return { ...plain(`no SOAP version spoken here has the Envelope ${clark(refusal.found)}`) }
    case 'not-understood':
      return { ...plain(`a mandatory header block is not understood: ${refusal.blocks.map(clark).join(', ')}`) }
    case 'encoding-unknown':
      return inBody(`the encoding ${refusal.encoding} is not known here`)
    case 'not-well-formed':
      return inBody(
        `not well-formed, or beyond a limit: ${refusal.why.reason} (octet ${refusal.why.at})`,
        describeLimit(refusal.why),
      )
    case 'structure':
      return plain(refusal.detail)
    case 'no-operation':
      return { ...inBody(refusal.detail), subcodes: [procedureNotPresent] }
    case 'action-disagrees':
      return plain(`the action is ${refusal.action}, and that of what is in the Body is ${refusal.expected}`)
    case 'schema':
      if (refusal.inHeader) return plain(`${refusal.path} ${refusal.detail}`) // SOAP 1.1 §4.4: detail is for the Body
      return inBody(`${refusal.path} ${refusal.detail}`, describeViolation(refusal.path, refusal.detail))
    case 'bounds':
      return declared(Invalid, 'values are outside their bounds', { problems: refusal.problems })
    case 'encoded':
      return {
        ...inBody(`${refusal.path} ${refusal.detail}`, describeViolation(refusal.path, refusal.detail)),
        subcodes: [refusal.subcode],
      }
    case 'addressing':
      return {
        ...plain(refusal.detail),
        subcodes: refusal.subcodes,
        ...(refusal.subcodes[0] && { faultcode: refusal.subcodes.at(-1) ?? refusal.subcodes[0] }),
        ...(refusal.about !== undefined && { about: refusal.about }),
      }
    case 'security':
      return { ...plain(refusal.detail), subcodes: [refusal.subcode], faultcode: refusal.subcode }
    case 'package':
      return inBody(refusal.detail)
    case 'too-long':
      return plain(`the message is longer than ${refusal.limit} octets`)
    case 'faulted':
      return refusal.fault
    case 'incident':
      return {
        ...plain('the service failed'),
        detail: `<incident xmlns=${writeAttribute(own)}>${escapeText(refusal.incident)}</incident>`,
      }
    case 'not-found':
    case 'gone':
      return declared(NotFound, refusal.kind === 'gone' ? 'it is not there any more' : 'it is not there')
    case 'moved':
      return declared(NotFound, `it is ${refusal.to} now`)
    case 'unauthenticated':
      return plain('credentials are missing, or prove nothing')
    case 'forbidden':
      return declared(Forbidden, 'this caller may not do this')
    case 'stale':
      return declared(
        VersionConflict,
        'the version has changed',
        refusal.version === undefined ? {} : { version: String(refusal.version) },
      )
    case 'unchanged':
    case 'precondition-required':
      return declared(VersionConflict, 'the version that is meant has to be given')
    case 'conflict':
      return declared(StateConflict, refusal.detail ?? 'the state does not offer this', {
        ...(refusal.state !== undefined && { state: refusal.state }),
        ...(refusal.possible && { possible: refusal.possible }),
      })
    case 'invalid':
      return declared(Invalid, 'the content breaks a rule', {
        problems: refusal.problems.map(({ path, code, detail }) => ({ path: wording.place(path), code, detail })),
      })
    case 'malformed':
      return inBody(refusal.detail, describeViolation(wording.place(refusal.path ?? []), refusal.detail))
    case 'declared':
      return declared(refusal.fault, refusal.fault.title, refusal.detail)
    case 'too-many':
    case 'unavailable':
      return declared(Busy, 'too busy: try again later', { retryAfter: refusal.after })
    case 'in-flight':
      return declared(Busy, 'a message with this MessageID is being worked on', { retryAfter: 1 })
    case 'key-reused':
      return plain('this MessageID was used for another message')
  }
}

/** Elements of Detail that no contract declares. */
const own = 'urn:diglot:fault'
const describeViolation = (path: string, detail: string): string =>
  `<violation xmlns=${writeAttribute(own)}><path>${escapeText(path)}</path><detail>${escapeText(detail)}</detail></violation>`
const describeLimit = ({ limit }: Malformed): string =>
  limit === undefined ? '' : `<limit xmlns=${writeAttribute(own)}>${limit}</limit>`

/** SOAP 1.2 Part 2 §4.4. */
const rpc = 'http://www.w3.org/2003/05/soap-rpc'
const procedureNotPresent: Name = { uri: rpc, local: 'ProcedureNotPresent' }
export const asBadArguments: Name = { uri: rpc, local: 'BadArguments' }

/** SOAP 1.2 Part 1 §5.4.7: the envelopes that are spoken here, best first. */
export function writeUpgrade(spoken: readonly SoapVersion[]): string {
  const supported = spoken.map(
    ({ namespace }) => `<up:SupportedEnvelope qname="s:Envelope" xmlns:s=${writeAttribute(namespace)}/>`,
  )
  return `<up:Upgrade xmlns:up=${writeAttribute(versions[0]!.namespace)}>${supported.join('')}</up:Upgrade>`
}

/** SOAP 1.2 Part 1 §5.4.8. */
export function writeNotUnderstood({ uri, local }: Name): string {
  return `<${soapPrefix}:NotUnderstood qname="block:${local}" xmlns:block=${writeAttribute(uri)}/>`
}
