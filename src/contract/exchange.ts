/**
 * Operations whose messages another party has designed: a port of a WSDL, with the names, actions
 * and types that its clients know. They are part of a service, next to its resources.
 */
import type { PortPolicy, SecurityRule } from './endpoint-rule.ts'
import type { Grant } from './policy.ts'
import type { AnyRootElement, AnyXmlType, RootElement } from './xml-type.ts'

/** The child of a Body, or its content (`x.body`); `empty`: the Body has none. */
export type ExchangeBody = AnyRootElement | 'empty'
export type ExchangeFaults = Readonly<Record<string, AnyRootElement>>

/** `wsam:Action` of a request, its reply and its faults (WS-Addressing 1.0 Metadata §4.4.1). */
export interface DeclaredActions {
  readonly request?: string
  readonly reply?: string
  /** By the names of faults: .NET clients read the detail of a fault by its action. */
  readonly faults?: Readonly<Record<string, string>>
}

/** One exchange of a port: the message in, the message out, faults and header blocks. */
export interface PortExchange<
  I extends ExchangeBody = ExchangeBody,
  O extends ExchangeBody | undefined = ExchangeBody | undefined,
  F extends ExchangeFaults = ExchangeFaults,
  H extends ExchangeFaults = ExchangeFaults,
> {
  /** The same as `MessageStyle` for the messages of a contract. */
  readonly style: 'document' | 'rpc' | 'encoded'
  /** The URI in soapAction; it may be empty. */
  readonly action: string
  /** The [action] of WS-Addressing if its WSDL differs from `createActionNamer`. */
  readonly addressedAs: DeclaredActions
  readonly input: I
  /** Undefined: one-way, there is no reply. */
  readonly output: O
  /** By their names in a WSDL: the element in the detail, or in a header block. */
  readonly faults: F
  /**
   * The names of header blocks, each with the faults that are about it: the element of such a fault
   * is a header block of its message, which has no detail (SOAP 1.1 §4.4; WSDL 1.1 §3.7).
   */
  readonly headerFaults: Readonly<Record<string, readonly string[]>>
  /** Header blocks by their names: of the request, and of the reply. */
  readonly requestHeaders: H
  readonly replyHeaders: ExchangeFaults
  readonly mandatoryHeaders: MandatoryHeaders
  /** The callers that may call it; by default those of its port. */
  readonly allow: readonly Grant[]
  /** Whether it changes nothing. */
  readonly isSafe: boolean
  /**
   * The template of the address, after that of the port and a slash, at which GET also calls it
   * (SOAP 1.2 Part 2 §7.4; WSDL 2.0 Part 2 §6.8); undefined: it has no address of its own.
   */
  readonly location: string | undefined
  /** The HTTP statuses of faults whose names do not determine them (`statusOfPortFault`). */
  readonly statuses: Readonly<Record<string, number | undefined>>
  /** What it does, for callers: in its WSDL, in OpenAPI, on pages. */
  readonly description: string | undefined
  /**
   * For a bridge: octets of a form or package whose parts its handler may get as `PassingOctets`.
   */
  readonly passingMax?: number
  /** For a bridge: its answer comes later, so that calling it by REST starts a job. */
  readonly later?: LaterTerms
}

/** Names of header blocks that their sender marks with mustUnderstand (WSDL 2.0 Part 2 §5.9). */
export interface MandatoryHeaders {
  readonly request?: readonly string[]
  readonly reply?: readonly string[]
}

/** How long calls whose answer comes later are kept. */
export interface LaterTerms {
  /** Seconds after their end. */
  readonly keep: number
}

/**
 * Declares an operation by its messages: `exchange({ action: 'urn:GetPrice', input: PriceRequest,
 * output: Price, faults: { NoSuchItem }, allow: [anyone()] })`.
 */
export function exchange<
  const I extends ExchangeBody,
  const O extends ExchangeBody | undefined = undefined,
  F extends ExchangeFaults = {},
  H extends ExchangeFaults = {},
>(declaration: {
  readonly style?: PortExchange['style']
  readonly action: string
  /** With WS-Addressing, where it is neither `action` nor the default of Metadata §4.4.4. */
  readonly addressedAs?: DeclaredActions
  readonly input: I
  readonly output?: O
  readonly faults?: F
  readonly requestHeaders?: H
  readonly replyHeaders?: ExchangeFaults
  /** `{ request: ['Session'] }`: callers mark this header block with mustUnderstand. */
  readonly mandatoryHeaders?: MandatoryHeaders
  /** `{ Session: ['NoSession'] }`: that fault is about this header block, and is sent as one. */
  readonly headerFaults?: Readonly<Record<string, readonly (keyof F & string)[]>>
  readonly allow?: readonly Grant[]
  readonly safe?: boolean
  /**
   * For a GET: `orders/{id}`; the exchange is then safe. Elements outside the template are
   * parameters.
   */
  readonly location?: string
  /** The HTTP statuses of faults: `{ OutOfStock: 409 }`. Default: by their names, otherwise 422. */
  readonly statuses?: { readonly [K in keyof F]?: number }
  /** What it does, for callers. */
  readonly description?: string
}): PortExchange<I, O, F, H> {
  return {
    style: declaration.style ?? 'document',
    action: declaration.action,
    addressedAs: declaration.addressedAs ?? {},
    input: declaration.input,
    output: declaration.output as O, // O defaults to undefined
    faults: declaration.faults ?? ({} as F), // F's default
    requestHeaders: declaration.requestHeaders ?? ({} as H), // H's default
    replyHeaders: declaration.replyHeaders ?? {},
    mandatoryHeaders: declaration.mandatoryHeaders ?? {},
    headerFaults: declaration.headerFaults ?? {},
    allow: declaration.allow ?? [],
    isSafe: declaration.safe === true || declaration.location !== undefined,
    location: declaration.location,
    statuses: declaration.statuses ?? {},
    description: declaration.description,
  }
}

/** The status that the name of a fault suggests; the first pattern that matches counts. */
const statusesByName: readonly (readonly [status: number, pattern: RegExp])[] = [
  [404, /not_?found|no_?such|unknown|(?:does)?_?not_?exists?(?![a-z])|missing/i],
  [409, /conflict|already|exists|duplicate|locked|stale|concurren|in_?use|(?:invalid|illegal|wrong)_?state/i],
  [403, /denied|forbidden|un_?authori[sz]ed|not_?(?:authori[sz]ed|allowed|permitted)|permission|security|authenticat/i],
  [429, /too_?many|throttl|rate_?limit|quota/i],
  [503, /unavailable|try_?again|maintenance|overload|busy/i],
]
/** The HTTP status of a declared fault: given, or by its name, or 422. */
export function statusOfPortFault({ statuses }: Pick<PortExchange, 'statuses'>, fault: string): number {
  if (Object.hasOwn(statuses, fault)) return statuses[fault] ?? 422
  return statusesByName.find(([, pattern]) => pattern.test(fault))?.[0] ?? 422
}

/**
 * If a handler names something that its exchange does not declare, that is a bug in the handler,
 * whichever face calls it.
 * @param place `Shop.PlaceOrder`
 */
export function failUndeclared(place: string, kind: 'faults' | 'replyHeaders', name: string): never {
  const noun = kind === 'faults' ? 'fault' : 'header'
  throw new Error(
    `${place} does not declare the ${noun} ${name}: add it to the \`${kind}\` of its exchange in the contract`,
  )
}
/** A handler returned no content, but its exchange has a reply. */
export function failUnanswered(place: string): never {
  throw new Error(`${place}: the handler returned nothing: it must return the content of its reply`)
}

/** Whether the element of this fault is a header block of its message. */
export const isHeaderFault = ({ headerFaults }: Pick<PortExchange, 'headerFaults'>, fault: string): boolean =>
  Object.values(headerFaults).some(names => names.includes(fault))

export type Exchanges = Readonly<Record<string, PortExchange>>
/** The operations at one address: a port type of a WSDL with its binding. */
export interface Port<N extends string = string, E extends Exchanges = Exchanges> {
  readonly port: N
  /** The target namespace of its WSDL. */
  readonly namespace: string
  /** The names that clients generate classes from: of the service, port type and binding. */
  readonly names: { readonly service: string; readonly portType: string }
  readonly soap: '1.1' | '1.2' | 'both'
  /**
   * How its messages authenticate themselves; `settings`: by the policy in the server's settings.
   */
  readonly security: SecurityRule | 'settings' | undefined
  /** Its purpose, for callers: in its WSDL, in OpenAPI, on pages. */
  readonly description: string | undefined
  /** Simple types that no message declares, but that narrow types which messages do. */
  readonly types: readonly AnyXmlType[]
  readonly exchanges: E
}

/** Declares another party's port: its exchanges have the messages that its WSDL dictates. */
export function port<const N extends string, const E extends Exchanges>(
  name: N,
  declaration: {
    readonly namespace: string
    readonly service?: string
    readonly portType?: string
    readonly soap?: Port['soap']
    /** As that of an endpoint; its `operations` are exchanges. Default: messages need no proof. */
    readonly security?: Port['security']
    /** Its purpose, for callers. */
    readonly description?: string | undefined
    /**
     * The callers that may call its exchanges, unless an exchange has its own `allow`. Default:
     * none.
     */
    readonly allow?: readonly Grant[]
    /** Simple types that no message declares: `xsi:type` may name them for one that they narrow. */
    readonly types?: readonly AnyXmlType[]
    readonly exchanges: E
  },
): Port<N, E> {
  const allow = declaration.allow ?? []
  const exchanges = Object.entries(declaration.exchanges).map(([key, each]) => [
    key,
    each.allow.length === 0 ? { ...each, allow } : each,
  ])
  return {
    port: name,
    namespace: declaration.namespace,
    names: { service: declaration.service ?? `${name}Service`, portType: declaration.portType ?? `${name}PortType` },
    soap: declaration.soap ?? 'both',
    security: declaration.security,
    description: declaration.description,
    types: declaration.types ?? [],
    exchanges: Object.fromEntries(exchanges) as E, // the same exchanges with their grants
  }
}

// What a WSDL says of ports besides their messages

/** Where a port is, by the SOAP version spoken there. */
export type PortAddresses = Readonly<Partial<Record<'1.1' | '1.2', string>>>

/** Ports of others, with what their WSDL says about them besides their messages. */
export interface DescribedPorts {
  readonly ports: readonly Port[]
  /** By the name of the port; ports that are missing demand nothing. */
  readonly policies?: ReadonlyMap<string, PortPolicy>
  readonly addresses?: ReadonlyMap<string, PortAddresses>
}

// Handlers

/** The value of a Body: undefined for one without an element. */
export type BodyValue<B> = B extends RootElement<infer T> ? T : undefined
/** Header blocks by their names; each may be absent. */
export type HeaderBlocks<H> = { readonly [K in keyof H]?: H[K] extends RootElement<infer T> ? T : never }

/** The path at which a port is served: `/soap/StockQuote`. */
export const portPath = ({ port }: Pick<Port, 'port'>): string => `/soap/${encodeURIComponent(port)}`
