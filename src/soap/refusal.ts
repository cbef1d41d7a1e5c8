/**
 * Refusals of messages, and the fault for each: the twin of `rest/refusal.ts`. The table is total:
 * add a kind of refusal, and it stops compiling.
 */
import type { Fault } from '../contract/fault.ts'
import { Busy, Invalid, VersionConflict } from '../contract/fault.ts'
import { describeProblems } from '../contract/field-json.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import type { Current } from '../service/outcome.ts'
import { type Doubt, type Refusal, Refused } from '../service/refusal.ts'
import { faultOfRefusal, hasFault } from '../service/refusal-faults.ts'
import { clarkNotation, escapeText, type Malformed, type Name, writeAttribute } from '../xml/index.ts'
import { type Code, faultReason, type SoapFault, soapPrefix } from './fault.ts'
import { type SoapVersion, versions } from './version.ts'

/** Refusals that only SOAP has. */
export type SoapRefusal =
  /** By the precondition of a GET, the client already has the current state (304). */
  | { readonly kind: 'unchanged'; readonly current: Current }
  /** The Envelope is of a version that this node does not support. */
  | { readonly kind: 'version-mismatch'; readonly found: Name }
  /** Mandatory blocks for this node that it cannot process. */
  | { readonly kind: 'not-understood'; readonly blocks: readonly Name[]; readonly role: string }
  | { readonly kind: 'encoding-unknown'; readonly encoding: string }
  | { readonly kind: 'not-well-formed'; readonly flaw: Malformed }
  /** XML without the structure of a SOAP message. */
  | { readonly kind: 'structure'; readonly detail: string }
  | { readonly kind: 'no-operation'; readonly detail: string }
  | { readonly kind: 'action-disagrees'; readonly action: string; readonly expected: string }
  /** Content that violates its schema; `path` is that of the element. */
  | { readonly kind: 'schema'; readonly path: string; readonly detail: string; readonly inHeader?: true }
  /** Valid content with values outside their bounds. Paths are those of elements. */
  | { readonly kind: 'bounds'; readonly problems: readonly SchemaFlaw[] }
  /** SOAP 1.2 Part 2 §3.1.4, §4.4: a flaw for which the encoding or RPC has a subcode. */
  | { readonly kind: 'encoded'; readonly subcode: Name; readonly path: string; readonly detail: string }
  /** A predefined fault of WS-Addressing. */
  | {
      readonly kind: 'addressing'
      readonly subcodes: readonly Name[]
      readonly detail: string
      readonly about?: string
    }
  /** WSS SOAP Message Security §12: no more detail than helps. */
  | { readonly kind: 'security'; readonly subcode: Name; readonly detail: string }
  /** An invalid multipart package, or one that lacks a part to which its message refers. */
  | { readonly kind: 'package'; readonly detail: string }
  /** The version of the contract is no longer served; `successor`: the address of the newest one. */
  | { readonly kind: 'retired'; readonly successor: string }
  /** A message longer than its operation allows, in octets: 413 without a message. */
  | { readonly kind: 'too-long'; readonly limit: number }
  /** The fault of a block handler. */
  | { readonly kind: 'faulted'; readonly fault: SoapFault }
  /** A bug of ours, identified by its incident. */
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

/** Runs `act` and converts its `schema` refusals with `as`. */
export function asSchemaRefusal<T>(
  act: () => T,
  as: (refusal: Extract<SoapRefusal, { kind: 'schema' }>) => SoapRefusal,
): T {
  try {
    return act()
  } catch (thrown) {
    const refusal = thrown instanceof Refused ? (thrown.refusal as AnySoapRefusal) : undefined // Refused has no other refusals
    if (refusal?.kind !== 'schema') throw thrown
    return refuseMessage(as(refusal))
  }
}

/** Sender: the message is at fault; Receiver: this node is at fault (rule B7.3). */
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
  retired: 'Sender',
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
  unserved: 'Sender',
  declared: 'Sender',
  'key-reused': 'Sender',
  'in-flight': 'Receiver',
  'too-many': 'Receiver',
  unavailable: 'Receiver',
  unimplemented: 'Receiver',
  incident: 'Receiver',
}

/** The HTTP status of a refusal that concerns the request, not its message (rule B7.1). */
export function transportStatusOf({ kind }: AnySoapRefusal): number | undefined {
  if (kind === 'unauthenticated') return 401
  if (kind === 'too-many') return 429
  return kind === 'unavailable' ? 503 : undefined
}

/** Writes faults and paths in the terms of an endpoint. */
export interface FaultWording {
  /** The element of a declared fault with its detail, as XML. */
  readonly element: (fault: Fault, detail: Values) => string
  /** The name of a declared fault's element. */
  readonly nameOf: (fault: Fault) => Name
  /** The description is that of another party, so a Detail has only what that declares (B7.5). */
  readonly isForeign?: boolean
  /** The XPath in the request for a path from the root of the content. */
  readonly place: (path: FieldProblem['path']) => string
}

/** The faults of one code in the terms of a contract. */
interface FaultForms {
  readonly reasonOnly: (detail: string) => SoapFault
  readonly inBody: (detail: string, content?: string) => SoapFault
  readonly declared: (fault: Fault, reason: string, detail?: Values) => SoapFault
}

function createForms(code: Code, wording: FaultWording): FaultForms {
  const reasonOnly = (detail: string): SoapFault => ({ code, reasons: faultReason(detail) })
  return {
    reasonOnly,
    inBody: (detail, content = '') => ({ ...reasonOnly(detail), detail: content }),
    declared: (fault, reason, detail = {}) => ({
      code: fault.status >= 500 ? 'Receiver' : code,
      subcodes: [wording.nameOf(fault)],
      reasons: faultReason(reason),
      detail: wording.element(fault, detail),
    }),
  }
}

/** The fault for a refusal: SOAP's of the message, or the service's of its call. */
export function createFault(refusal: AnySoapRefusal, wording: FaultWording): SoapFault {
  const fault = formFault(refusal, wording)
  return wording.isForeign && refusal.kind !== 'faulted' ? explainInReason(fault, refusal, wording) : fault
}

/** Namespaces of standards: other subcodes would be in that of the other party. */
const standardNames = /^http:\/\/(?:www\.w3\.org|docs\.oasis-open\.org|schemas\.xmlsoap\.org)\//

/**
 * The text has the details for which the WSDL of another party declares no element. An empty Detail
 * remains, since it means that the Body could not be processed (SOAP 1.1 §4.4).
 */
function explainInReason(fault: SoapFault, refusal: AnySoapRefusal, { place }: FaultWording): SoapFault {
  const { detail, subcodes = [], ...others } = fault
  const [first] = fault.reasons
  const standard = subcodes.filter(({ uri }) => standardNames.test(uri))
  return {
    ...others,
    reasons: faultReason(explainUndeclared(refusal, first?.text ?? '', place), first?.language),
    ...(standard.length > 0 && { subcodes: standard }),
    ...(detail !== undefined && refusal.kind !== 'incident' && { detail: '' }),
  }
}

const describeFlaws = (flaws: readonly SchemaFlaw[]): string =>
  describeProblems(flaws.map(({ path, detail }) => ({ path: [path], detail })))

function explainUndeclared(refusal: AnySoapRefusal, text: string, place: FaultWording['place']): string {
  switch (refusal.kind) {
    case 'malformed':
      return `${place(refusal.path ?? [])} ${text}`
    case 'too-many':
    case 'unavailable':
      return refusal.kind === 'unavailable' && refusal.doubt ? text : `${text}, in ${refusal.after} s`
    case 'incident':
      return `${text}: incident ${refusal.incident}`
    default:
      return text
  }
}

function formFault(refusal: AnySoapRefusal, wording: FaultWording): SoapFault {
  const forms = createForms(codeOf[refusal.kind], wording)
  const { reasonOnly, inBody, declared } = forms
  switch (refusal.kind) {
    case 'version-mismatch':
      return { ...reasonOnly(`unsupported SOAP version: the Envelope is ${clarkNotation(refusal.found)}`) }
    case 'not-understood':
      return {
        ...reasonOnly(`a mandatory header block is not understood: ${refusal.blocks.map(clarkNotation).join(', ')}`),
        role: refusal.role,
      }
    case 'encoding-unknown':
      return inBody(`the encoding ${refusal.encoding} is not supported`)
    case 'not-well-formed':
      return inBody(
        `the XML is not well-formed or exceeds a limit: ${refusal.flaw.reason} (octet ${refusal.flaw.at})`,
        describeLimit(refusal.flaw),
      )
    case 'structure':
      return reasonOnly(refusal.detail)
    case 'no-operation':
      return { ...inBody(refusal.detail), subcodes: [procedureNotPresent] }
    case 'action-disagrees':
      return reasonOnly(`the action ${refusal.action} does not match the Body: expected ${refusal.expected}`)
    case 'schema':
      if (refusal.inHeader) return reasonOnly(`${refusal.path} ${refusal.detail}`) // SOAP 1.1 §4.4: detail is for the Body
      return inBody(`${refusal.path} ${refusal.detail}`, describeViolation(refusal.path, refusal.detail))
    case 'bounds':
      return declared(Invalid, describeFlaws(refusal.problems), { problems: refusal.problems })
    case 'encoded':
      return {
        ...inBody(`${refusal.path} ${refusal.detail}`, describeViolation(refusal.path, refusal.detail)),
        subcodes: [refusal.subcode],
      }
    case 'addressing':
      return {
        ...reasonOnly(refusal.detail),
        subcodes: refusal.subcodes,
        ...(refusal.subcodes[0] && { faultcode: refusal.subcodes.at(-1) ?? refusal.subcodes[0] }),
        ...(refusal.about !== undefined && { about: refusal.about }),
      }
    case 'security':
      return { ...reasonOnly(refusal.detail), subcodes: [refusal.subcode], faultcode: refusal.subcode }
    case 'package':
      return inBody(refusal.detail)
    case 'retired':
      return reasonOnly(`this version is no longer served: send messages of the newest version to ${refusal.successor}`)
    case 'too-long':
      return reasonOnly(`the message is longer than the limit of ${refusal.limit} octets`)
    case 'faulted':
      return refusal.fault
    case 'incident':
      return {
        ...reasonOnly('the service failed'),
        detail: `<incident xmlns=${writeAttribute(ownFaults)}>${escapeText(refusal.incident)}</incident>`,
      }
    case 'unchanged':
      return declared(VersionConflict, versionMissing)
    default:
      return createServiceFault(refusal, wording, forms)
  }
}

const outcomeUnknown = 'the service cannot tell whether the change was made: check before you try again'
const doubtReasons: Readonly<Record<Doubt, string>> = {
  commit: `${outcomeUnknown}; a message with a MessageID may be repeated`,
  record: outcomeUnknown,
}
const versionMissing = 'the request must state the expected version'

function createServiceFault(
  refusal: Refusal,
  wording: FaultWording,
  { reasonOnly, inBody, declared }: FaultForms,
): SoapFault {
  if (refusal.kind === 'unavailable' && refusal.doubt) return reasonOnly(doubtReasons[refusal.doubt])
  if (hasFault(refusal)) {
    const { fault, reason, detail } = faultOfRefusal(refusal, wording.place)
    return declared(fault, reason, detail)
  }
  switch (refusal.kind) {
    case 'unauthenticated':
      return reasonOnly('credentials are missing or invalid')
    case 'precondition-required':
      return declared(VersionConflict, versionMissing)
    case 'malformed':
      return inBody(refusal.detail, describeViolation(wording.place(refusal.path ?? []), refusal.detail))
    case 'in-flight':
      return declared(Busy, 'a message with this MessageID is still in progress: retry later', { retryAfter: 1 })
    case 'unimplemented':
      return reasonOnly(`${refusal.operation} is not implemented yet`)
    case 'key-reused':
      return reasonOnly('this MessageID belongs to another message: use a new one')
  }
}

/** The namespace of Detail's elements that no contract declares. */
const ownFaults = 'urn:diglot:fault'
const describeViolation = (path: string, detail: string): string =>
  `<violation xmlns=${writeAttribute(ownFaults)}><path>${escapeText(path)}</path><detail>${escapeText(detail)}</detail></violation>`
const describeLimit = ({ limit }: Malformed): string =>
  limit === undefined ? '' : `<limit xmlns=${writeAttribute(ownFaults)}>${limit}</limit>`

/** SOAP 1.2 Part 2 §4.4. */
const rpc = 'http://www.w3.org/2003/05/soap-rpc'
const procedureNotPresent: Name = { uri: rpc, local: 'ProcedureNotPresent' }
export const asBadArguments: Name = { uri: rpc, local: 'BadArguments' }

/** SOAP 1.2 Part 1 §5.4.7: the supported envelopes, most preferred first. */
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
