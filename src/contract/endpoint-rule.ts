/**
 * The SOAP endpoints of a service, and how messages prove themselves there: what a contract
 * declares, and what follows for each operation. It names no key: keys are settings of each side.
 */

/** The form of a Body (WSDL 1.1 §3.4, §3.5): document/literal wrapped, RPC/literal, RPC/encoded. */
export type MessageStyle = 'document' | 'rpc' | 'encoded'
/** The versions of SOAP that an endpoint speaks. */
export type SpokenVersions = 'both' | '1.1' | '1.2'

/** What can name the sender of a message. */
export type ProofKind = 'username' | 'x509' | 'saml' | 'kerberos' | 'secret'
/** SAML Token Profile 1.1 §3.5. */
export type SubjectConfirmation = 'bearer' | 'holder-of-key' | 'sender-vouches'

/** Whether the key of an exchange is used directly, or keys that are derived from it. */
export type KeyForm = 'direct' | 'derived'

/**
 * Which part of an attachment a signature covers (SwA Profile 1.1 §5.3): its content, or its
 * content and the fields that describe it.
 */
export type AttachmentForm = 'content' | 'complete'

/**
 * The algorithms of both sides (WS-SecurityPolicy 1.3 §6.1). Those without `Sha256` in their names
 * sign with SHA-1, for which collisions can be computed: only for partners who cannot change.
 */
export type AlgorithmSuite =
  | 'Basic256Sha256'
  | 'Basic192Sha256'
  | 'Basic128Sha256'
  | 'Basic256'
  | 'Basic192'
  | 'Basic128'

/** Whether signatures of a suite are by SHA-1. */
export const isWeakSuite = (suite: AlgorithmSuite | undefined): boolean =>
  suite === 'Basic256' || suite === 'Basic192' || suite === 'Basic128'

/** How a message names a certificate that it does not carry (X.509 Token Profile 1.1 §3.2). */
export type NamingForm = 'thumbprint' | 'issuer-serial' | 'key-identifier'
/** The two sides of an exchange. */
export type ExchangeParty = 'caller' | 'service'

/** The weakness of a suite with SHA-1, and the cure. */
export const explainWeakness = (suite: AlgorithmSuite | undefined): string =>
  `${suite}, whose signatures use SHA-1: an attacker who chooses a part of what a partner signs may obtain a signature for something else, so agree on ${suite}Sha256`

/** One way to name the caller. */
export interface CallerProof {
  readonly by: ProofKind
  /** For a UsernameToken. Default: both. */
  readonly passwords?: readonly ('text' | 'digest')[]
  /** For an assertion. Default: `holder-of-key`. */
  readonly confirmations?: readonly SubjectConfirmation[]
  /**
   * A trusted signature covers Body, Timestamp, token, attachments and every header block that is
   * processed. Default: true, except for `username`, `kerberos` and bearer assertions.
   */
  readonly signed?: boolean
}

/** What the messages of one exchange must prove. */
export interface ExchangeSecurity {
  /** The first way that a request meets names its caller. */
  readonly callers: readonly (ProofKind | CallerProof)[]
  /**
   * The content of a request's Body is encrypted to the service, and so are attachments. Default:
   * false.
   */
  readonly encrypted?: boolean
  /**
   * Answers are signed by the service, and confirm the request's signature (WSS 1.1 §8.5); with
   * `encrypted`, their Body and attachments are encrypted to the certificate that signed the
   * request. Default: answers carry no proof.
   */
  readonly answers?: 'signed' | 'encrypted'
  /**
   * False: answers do not confirm the request's signature (WS-SecurityPolicy 1.3 §9.2), as partners
   * demand that know WSS 1.0 alone. An answer is tied to its request by the key of a `symmetric`
   * exchange, otherwise by a signed RelatesTo; without WS-Addressing, by its time alone. Default:
   * true.
   */
  readonly confirmed?: boolean
  /**
   * The client makes a key for each exchange and sends it encrypted to the service; both messages
   * are signed and encrypted with this key, or with keys `derived` from it (WS-SecurityPolicy 1.3
   * §7.4). It names no caller: a signature by `x509` endorses that of the request. Default: each
   * side signs with its own key (§7.5).
   */
  readonly symmetric?: KeyForm
  /** What signatures cover of attachments, which only ports have. Default: `content`. */
  readonly attachments?: AttachmentForm
  /**
   * How messages are signed and encrypted; all operations of an endpoint have the same. Default:
   * `Basic256Sha256`.
   */
  readonly suite?: AlgorithmSuite
  /** How messages name certificates that they do not carry. Default: `thumbprint`. */
  readonly reference?: NamingForm
  /**
   * Whose certificates the messages that they signed do not carry, but name: the other side has
   * them in advance (WS-SecurityPolicy 1.3 §5.1.1, IncludeToken Never). Default: of neither side.
   */
  readonly unsent?: readonly ExchangeParty[]
  /**
   * True: each signature also covers the certificate or the assertion whose key made it, as
   * policies with ProtectTokens demand (WS-SecurityPolicy 1.3 §6.5). Default: signatures may leave
   * it out.
   */
  readonly protectTokens?: boolean
  /**
   * Requests and answers have a Timestamp, although nothing signs it, as a TransportBinding with
   * IncludeTimestamp demands (WS-SecurityPolicy 1.3 §7.3). Default: only signed messages have one.
   */
  readonly timestamp?: boolean
}

/** How messages authenticate themselves at an endpoint. */
export interface SecurityRule extends ExchangeSecurity {
  /**
   * Operations by name, such as `CreateTransfer`, that have a rule of their own. `none`: their
   * messages need no proof, and their answers carry none.
   */
  readonly operations?: Readonly<Record<string, ExchangeSecurity | 'none'>>
}

/** What the policies in a WSDL demand from the messages of a port. */
export interface PortPolicy {
  /** By exchange; one that is missing proves nothing. */
  readonly security: ReadonlyMap<string, ExchangeSecurity>
  /** By exchange, an unsupported demand that every alternative contains. */
  readonly unmet: ReadonlyMap<string, string>
  /** Demanded, not merely offered. */
  readonly addressing: boolean
  /** Exchanges whose answers must go to a separate address: any other address is refused. */
  readonly later?: ReadonlySet<string>
  readonly mtom: boolean
}

/** A SOAP endpoint, as a contract declares it under its path. */
export interface EndpointRule {
  /** Default: the newest version. */
  readonly version?: string
  /** Default: `document`. */
  readonly style?: MessageStyle
  /** Default: `both`. */
  readonly soap?: SpokenVersions
  /**
   * Default: that of the version, otherwise none. `settings`: the policy in the settings of the
   * server demands WS-Security.
   */
  readonly security?: SecurityRule | 'settings'
}

/** An endpoint with everything that its contract declares about it. */
export interface ServedEndpoint {
  readonly version: string
  readonly path: string
  readonly style: MessageStyle
  readonly soap: SpokenVersions
  readonly security: SecurityRule | 'settings' | undefined
}

/** The part of a service that declares its endpoints. */
interface EndpointDeclarations {
  readonly versions: Readonly<Record<string, { readonly security?: SecurityRule }>>
  readonly endpoints: Readonly<Record<string, EndpointRule>> | undefined
  readonly resources?: readonly SendingResource[]
  readonly jobs?: readonly { readonly allow: readonly unknown[] }[]
}
/** What tells whether a resource has messages. */
interface SendingResource {
  readonly given: { readonly messages?: readonly string[] }
  readonly actions: Readonly<Record<string, { readonly oneWay?: unknown }>>
}

/**
 * The endpoints of a service. If it declares none, each version has `/soap/v1`, `/soap/v1/rpc`,
 * `/soap/v1/encoded` and `/soap/v1/secure`. A service that has no messages, for example nothing but
 * ports, has none of them, since no message could be sent there.
 */
export function endpointsOf(declared: EndpointDeclarations): readonly ServedEndpoint[] {
  const { versions, endpoints, resources, jobs } = declared
  const newest = Object.keys(versions).at(-1) ?? 'v1'
  const isSilent = resources?.every(hasNoMessages) && jobs?.every(({ allow }) => allow.length === 0)
  if (!endpoints && isSilent) return []
  if (!endpoints) return Object.keys(versions).flatMap(version => usualEndpoints(version, versions[version]?.security))
  return Object.entries(endpoints).map(([path, { version = newest, style = 'document', soap = 'both', security }]) => ({
    version,
    path,
    style,
    soap,
    security: security ?? versions[version]?.security,
  }))
}

const hasNoMessages = ({ given, actions }: SendingResource): boolean =>
  given.messages?.length === 0 && !Object.values(actions).some(({ oneWay }) => oneWay)

function usualEndpoints(version: string, security: SecurityRule | undefined): readonly ServedEndpoint[] {
  const path = `/soap/${version}`
  const endpoint = { version, path, style: 'document', soap: 'both', security } as const
  return [
    endpoint,
    { ...endpoint, path: `${path}/rpc`, style: 'rpc' },
    { ...endpoint, path: `${path}/encoded`, style: 'encoded' },
    { ...endpoint, path: `${path}/secure`, security: security ?? 'settings' },
  ]
}

/** The first endpoint of a version, in its order; undefined if it has none. */
export const mainEndpoint = (declared: EndpointDeclarations, version: string): ServedEndpoint | undefined =>
  endpointsOf(declared).find(each => each.version === version)

/** A proof with its defaults. */
export function proofOf(given: ProofKind | CallerProof): CallerProof & { readonly signed: boolean } {
  const proof = typeof given === 'string' ? { by: given } : given
  const confirmations = proof.confirmations ?? ['holder-of-key']
  const isBound = proof.by === 'saml' ? confirmations.some(each => each !== 'bearer') : !unbound.has(proof.by)
  return { ...proof, ...(proof.by === 'saml' && { confirmations }), signed: proof.signed ?? isBound }
}
/** Kinds that name the caller without a signature. */
const unbound: ReadonlySet<ProofKind> = new Set(['username', 'kerberos'])

/** Mistakes in a rule that no settings could correct, each with its cure. */
export function findRuleMistakes(
  rule: SecurityRule,
  place: string,
  operations: readonly string[],
  hasAttachments: (operation: string) => boolean,
): readonly string[] {
  const own = Object.entries(rule.operations ?? {})
  const common = operations.filter(each => !rule.operations || !Object.hasOwn(rule.operations, each))
  return [
    ...findExchangeMistakes(rule, place),
    ...findIdleAttachments(rule, place, common.some(hasAttachments)),
    ...findOtherSuites(rule, place),
    ...own.flatMap(([name, each]) => [
      ...(operations.includes(name) ? [] : [`${place}.operations has ${name}: use ${operations.join(', ')}`]),
      ...(each === 'none'
        ? []
        : [
            ...findExchangeMistakes(each, `${place}.operations.${name}`),
            ...findIdleAttachments(each, `${place}.operations.${name}`, hasAttachments(name)),
          ]),
    ]),
  ]
}

/** The algorithms of a message are checked before its Body says which operation it is for. */
const findOtherSuites = ({ suite, operations = {} }: SecurityRule, place: string): readonly string[] =>
  Object.entries(operations).flatMap(([name, each]) =>
    each === 'none' || each.suite === suite
      ? []
      : [`${place}.operations.${name}.suite differs from that of ${place}: give all operations one suite`],
  )

const findIdleAttachments = ({ attachments }: ExchangeSecurity, place: string, hasAny: boolean): readonly string[] =>
  attachments === undefined || hasAny
    ? []
    : [`${place}.attachments says what covers attachments, which no message here has: remove it`]

/** The names that the types allow, for contracts that no compiler has checked. */
const known = {
  by: ['username', 'x509', 'saml', 'kerberos', 'secret'],
  passwords: ['text', 'digest'],
  confirmations: ['bearer', 'holder-of-key', 'sender-vouches'],
  answers: ['signed', 'encrypted'],
  symmetric: ['direct', 'derived'],
  attachments: ['content', 'complete'],
  reference: ['thumbprint', 'issuer-serial', 'key-identifier'],
  unsent: ['caller', 'service'],
  suite: ['Basic256Sha256', 'Basic192Sha256', 'Basic128Sha256', 'Basic256', 'Basic192', 'Basic128'],
  truth: [true, false],
} as const

function findUnknownValues(exchange: ExchangeSecurity, place: string): readonly string[] {
  const { callers, encrypted, answers, confirmed, symmetric, attachments, suite, reference, unsent = [] } = exchange
  const { protectTokens, timestamp } = exchange
  const tell = (where: string, values: readonly unknown[], of: readonly unknown[]) =>
    values
      .filter(each => each !== undefined && !of.includes(each))
      .map(each => `${place}.${where} has ${JSON.stringify(each)}: use ${of.join(', ')}`)
  if (!Array.isArray(unsent)) return [`${place}.unsent is not a list: name sides such as ['service']`]
  if (!Array.isArray(callers)) return [`${place}.callers is not a list: name ways such as ['x509']`]
  const proofs = callers.map(each => (typeof each === 'object' && each !== null ? each : { by: each }) as CallerProof)
  return [
    ...tell(
      'callers',
      proofs.map(({ by }) => by),
      known.by,
    ),
    ...tell(
      'callers',
      proofs.flatMap(({ passwords }) => passwords ?? []),
      known.passwords,
    ),
    ...tell(
      'callers',
      proofs.flatMap(({ confirmations }) => confirmations ?? []),
      known.confirmations,
    ),
    ...tell(
      'callers',
      proofs.map(({ signed }) => signed),
      known.truth,
    ),
    ...tell('encrypted', [encrypted], known.truth),
    ...tell('answers', [answers], known.answers),
    ...tell('confirmed', [confirmed], known.truth),
    ...tell('symmetric', [symmetric], known.symmetric),
    ...tell('attachments', [attachments], known.attachments),
    ...tell('suite', [suite], known.suite),
    ...tell('reference', [reference], known.reference),
    ...tell('unsent', unsent, known.unsent),
    ...tell('protectTokens', [protectTokens], known.truth),
    ...tell('timestamp', [timestamp], known.truth),
  ]
}

function findExchangeMistakes(exchange: ExchangeSecurity, place: string): readonly string[] {
  const unknown = findUnknownValues(exchange, place)
  return unknown.length > 0 ? unknown : findContradictions(exchange, place)
}

function findContradictions(exchange: ExchangeSecurity, place: string): readonly string[] {
  const { callers, encrypted, answers, confirmed, symmetric, suite, timestamp } = exchange
  const proofs = callers.map(proofOf)
  const unsigned = proofs.filter(({ signed }) => !signed).map(({ by }) => by)
  const nameless = proofs.filter(({ by }) => by !== 'x509').map(({ by }) => by)
  return [
    ...(callers.length === 0 ? [`${place}.callers is empty: name a way to prove the caller, such as 'x509'`] : []),
    ...proofs
      .filter(({ by, signed }) => !signed && (by === 'x509' || by === 'secret'))
      .map(({ by }) => `${place}: ${by} names the signer, so its messages are signed: remove signed`),
    ...(encrypted && unsigned.length > 0
      ? [`${place} has encrypted requests that nothing signs (${unsigned.join(', ')}): add signed`]
      : []),
    ...(answers && unsigned.length > 0
      ? [
          `${place} has proven answers to requests that nothing signs (${unsigned.join(', ')}), so they cannot tell which request they answer: add signed`,
        ]
      : []),
    ...(timestamp !== undefined && unsigned.length === 0
      ? [`${place}.timestamp is about messages that nothing signs, and all are signed here: remove it`]
      : []),
    ...(confirmed !== undefined && !answers
      ? [`${place}.confirmed says what signed answers confirm, which no message here has: remove it, or add answers`]
      : []),
    ...(suite !== undefined && proofs.every(({ signed }) => !signed)
      ? [`${place}.suite says how messages are signed, and none is signed here: remove it`]
      : []),
    ...findIdleProtection(exchange, proofs, place),
    ...findIdleNaming(exchange, proofs, place),
    ...(symmetric && nameless.length > 0
      ? [`${place} is symmetric, and ${nameless.join(', ')} cannot endorse a signature: name x509 alone`]
      : []),
    ...(answers === 'encrypted' && !symmetric && nameless.length > 0
      ? [
          `${place} has answers encrypted to a certificate, which ${nameless.join(', ')} does not provide: name x509 alone`,
        ]
      : []),
  ]
}

/** WS-SecurityPolicy 1.3 §6.5: only a certificate or an assertion travels with its signature. */
function findIdleProtection(
  { protectTokens, symmetric, unsent = [] }: ExchangeSecurity,
  proofs: readonly (CallerProof & { readonly signed: boolean })[],
  place: string,
): readonly string[] {
  if (protectTokens === undefined) return []
  if (symmetric)
    return [`${place}.protectTokens is about certificates that sign, and a key of the exchange signs here: remove it`]
  if (new Set(unsent).size === 2)
    return [
      `${place}.protectTokens is about certificates in messages, and unsent leaves them out: remove one of the two`,
    ]
  const tokenless = proofs.filter(({ by, signed }) => !signed || by === 'secret').map(({ by }) => by)
  return tokenless.length === 0
    ? []
    : [`${place}.protectTokens is about tokens that sign, and ${tokenless.join(', ')} has none: remove it`]
}

/** Rules for naming certificates where no message names one. */
function findIdleNaming(
  { encrypted, answers, symmetric, reference, unsent = [] }: ExchangeSecurity,
  proofs: readonly (CallerProof & { readonly signed: boolean })[],
  place: string,
): readonly string[] {
  const isNaming = encrypted || answers === 'encrypted' || symmetric || unsent.length > 0
  const isSigning = proofs.some(({ by, signed }) => signed && by !== 'secret')
  return [
    ...(reference !== undefined && !isNaming
      ? [`${place}.reference is about certificates that messages name, and all carry theirs: remove it`]
      : []),
    ...(symmetric && unsent.length > 0
      ? [`${place} is symmetric, where the caller's certificate is sent and signed: remove unsent`]
      : []),
    ...(unsent.includes('service') && !answers
      ? [`${place}.unsent has the service, whose certificate signs nothing here: add answers, or remove it`]
      : []),
    ...(unsent.includes('caller') && !isSigning
      ? [`${place}.unsent has the caller, whose certificate signs nothing here: remove it`]
      : []),
  ]
}
