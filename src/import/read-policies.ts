/**
 * The demands of a WSDL's policies on messages (WS-Policy, WS-SecurityPolicy 1.1 to 1.3), in the
 * terms in which a contract declares them. An alternative that these terms cannot express is left
 * out; if none remains, that is reported, and nothing weaker takes its place.
 */

import {
  type AlgorithmSuite,
  type AttachmentForm,
  type CallerProof,
  type ExchangeParty,
  type ExchangeSecurity,
  type KeyForm,
  type NamingForm,
  type PortPolicy,
  proofOf,
  type SubjectConfirmation,
} from '../contract/endpoint-rule.ts'
import { isTrueText } from '../contract/lexical/text.ts'
import type { WsdlBinding, WsdlMessage, WsdlOperation } from '../describe/reader/wsdl-document.ts'
import { clarkNotation, type Element } from '../xml/index.ts'

/** @param operations the operations of the binding by the names of their exchanges */
export function readPortPolicy(binding: WsdlBinding, operations: ReadonlyMap<string, WsdlOperation>): PortPolicy {
  const {
    common: [common = []],
    of,
  } = createWayLister(binding)
  const unmet = new Map<string, string>()
  const security = [...operations].flatMap(([name, operation]) => {
    const found = attemptDemand(() => readExchangePolicy(of(operation), operation))
    if (found instanceof UnsupportedDemand) unmet.set(name, found.detail)
    return found && !(found instanceof UnsupportedDemand) ? [[name, found] as const] : []
  })
  return {
    security: new Map(security),
    unmet,
    addressing: common.some(isAddressing) || [...operations.values()].some(each => requiresAddressing(of(each))),
    later: listLater(of, operations),
    mtom: common.some(({ name }) => mtomAssertions.has(clarkNotation(name))),
  }
}

/** Other demands, such as reliable messaging, in James Clark's notation. */
export function listUnknownDemands(
  binding: WsdlBinding,
  operations: ReadonlyMap<string, WsdlOperation>,
): ReadonlySet<string> {
  const { of } = createWayLister(binding)
  const ways = [...operations.values()].flatMap(each => Object.values(of(each)).map(([way = []]) => way))
  const found = new Set<string>()
  for (const way of new Set(ways))
    for (const each of way) if (isUnknownAssertion(each)) found.add(clarkNotation(each.name))
  return found
}

/** WS-SecurityPolicy 1.3 §5.4.10: what the client must prove below the message, and the cure. */
const transportDemands: Readonly<Record<string, string>> = {
  RequireClientCertificate:
    'a certificate of the client in TLS: give it in `tls` of the client, or by --client-key and --client-certificate of the bridge',
  HttpBasicAuthentication:
    'Basic credentials: give them in `credentials` of the client, or by --authorization of the bridge',
  HttpDigestAuthentication: 'Digest credentials of HTTP, which neither client nor bridge has: agree on another way',
}

/** What must be proven below the messages, which no contract declares, each with its cure. */
export function listTransportDemands(
  binding: WsdlBinding,
  operations: ReadonlyMap<string, WsdlOperation>,
): ReadonlySet<string> {
  const { common, of } = createWayLister(binding)
  const [all = []] = common
  const ways = [all, ...[...operations.values()].map(each => of(each).operation[0] ?? [])]
  const tokens = [...new Set(ways.flat())].flatMap(each =>
    each.name.local === 'TransportBinding' ? listInside(each).flatMap(listInside) : [],
  )
  const isDemanded = (token: Element, name: string): boolean => hasInside(token, name) || isMarked(token, name)
  const demands = Object.entries(transportDemands)
  return new Set(demands.filter(([name]) => tokens.some(token => isDemanded(token, name))).map(([, text]) => text))
}

/** The alternatives for an operation, its request, and its response. */
type ExchangeWays = Readonly<Record<'operation' | 'request' | 'answer', readonly Alternative[]>>
type WaysOf = (operation: WsdlOperation) => ExchangeWays

/** Operations without their own policies share those of their binding. */
function createWayLister({ policies = [] }: WsdlBinding): {
  readonly common: readonly Alternative[]
  readonly of: WaysOf
} {
  const common = listAlternatives(policies)
  const listWith = (more: readonly Element[]) => (more.length === 0 ? common : listAlternatives([...policies, ...more]))
  return {
    common,
    of: ({ policies: { operation, input, output } = { operation: [], input: [], output: [] } }) => ({
      operation: listWith(operation),
      request: listWith([...operation, ...input]),
      answer: listWith([...operation, ...output]),
    }),
  }
}

const isAddressing = ({ name }: Element): boolean => name.local === 'Addressing' || name.local === 'UsingAddressing'
/** WS-SecurityPolicy 1.3 §4.3.1: the header blocks that a message must have. */
const listRequired = (assertions: Alternative): readonly Element[] =>
  assertions.flatMap(each => (each.name.local === 'RequiredParts' ? each.elements() : []))
const namespaceOfBlock = (header: Element): string | undefined =>
  header.attributes.find(({ name }) => name.local === 'Namespace')?.value
const nameOfBlock = (header: Element): string =>
  `{${namespaceOfBlock(header)}}${header.attributes.find(({ name }) => name.local === 'Name')?.value}`
const isAddressingHeader = (header: Element): boolean =>
  /^http:\/\/(?:www\.w3\.org\/2005|schemas\.xmlsoap\.org\/ws\/2004)\/08\/addressing$/.test(
    namespaceOfBlock(header) ?? '',
  )
const requiresAddressing = ({ request: [way = []] }: ExchangeWays): boolean =>
  listRequired(way).some(isAddressingHeader)
/** WS-MTOMPolicy of 2004, and MTOM Serialization Policy Assertion 1.1. */
const mtomAssertions: ReadonlySet<string> = new Set([
  '{http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization}OptimizedMimeSerialization',
  '{http://www.w3.org/2007/08/soap12-mtom-policy}MTOM',
])

/** WS-SecurityPolicy 1.1, 1.2 and 1.3: unmet demands are reported with their exchange. */
const securityPolicyNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/ws/2005/07/securitypolicy',
  'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702',
  'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200802',
])
/** About something else, such as reliable messaging; an ignorable assertion demands nothing. */
const isUnknownAssertion = (assertion: Element): boolean =>
  !isAddressing(assertion) &&
  !mtomAssertions.has(clarkNotation(assertion.name)) &&
  !securityPolicyNamespaces.has(assertion.name.uri) &&
  !isMarked(assertion, 'Ignorable')

/** Exchanges whose only form of reply is a message to another address. */
function listLater(of: WaysOf, operations: ReadonlyMap<string, WsdlOperation>): ReadonlySet<string> {
  const found = [...operations].filter(([, each]) => {
    if (each.output === undefined || each.isAnsweredElsewhere) return each.output !== undefined
    return of(each).operation.every(way => way.some(demandsNonAnonymous))
  })
  return new Set(found.map(([name]) => name))
}
/** WS-Addressing 1.0 Metadata §3.1.3, as part of §3.1.1; the older note has no such assertion. */
const demandsNonAnonymous = (assertion: Element): boolean =>
  isAddressing(assertion) &&
  listAlternatives(assertion.elements()).every(way => way.some(({ name }) => name.local === 'NonAnonymousResponses'))

// WS-Policy

type Alternative = readonly Element[]
/** A policy that multiplies without end is read in part: the first alternatives are as good. */
const alternativesMax = 64

/**
 * WS-Policy 1.5 §4.3: each way to meet all these policies, as its assertions; first those without
 * unknown demands, since a client may choose.
 */
function listAlternatives(policies: readonly Element[]): readonly Alternative[] {
  const ways = joinAll(policies)
  if (ways.length < 2) return ways
  return [false, true].flatMap(hasUnknown => ways.filter(way => way.some(isUnknownAssertion) === hasUnknown))
}
/** Most policies have one alternative, whose assertions join the earlier ones without a copy. */
function joinAll(policies: readonly Element[]): readonly Alternative[] {
  let ways: Element[][] = [[]]
  for (const policy of policies) {
    const more = readOperator(policy)
    const [only, another] = more
    if (only && !another) for (const way of ways) for (const each of only) way.push(each)
    else ways = ways.flatMap(way => more.map(each => [...way, ...each])).slice(0, alternativesMax)
  }
  return ways
}

function readOperator(element: Element): readonly Alternative[] {
  const { local } = element.name
  if (local === 'Policy' || local === 'All') return joinAll(element.elements())
  if (local === 'ExactlyOne') return element.elements().flatMap(readOperator).slice(0, alternativesMax)
  return isMarked(element, 'Optional') ? [[]] : [[element]]
}
const isMarked = ({ attributes }: Element, mark: string): boolean =>
  attributes.some(({ name, value }) => name.local === mark && isTrueText(value))

// WS-SecurityPolicy

/** Says which part of a policy is not met. */
class UnsupportedDemand {
  readonly detail: string
  constructor(detail: string) {
    this.detail = detail
  }
}
const failUnsupported = (detail: string): never => {
  throw new UnsupportedDemand(detail)
}

interface RequestDemand {
  readonly caller: CallerProof | undefined
  readonly isEncrypted: boolean
  /** It has a Timestamp that nothing signs. */
  readonly isStamped: boolean
  readonly symmetric: KeyForm | undefined
  readonly suite: AlgorithmSuite | undefined
  readonly naming: CertificateNaming
  /** Signatures cover the tokens that made them. */
  readonly protectTokens: boolean
  /** How attachments are signed, if the message has any. */
  readonly attachments: AttachmentForm | undefined
}

/** Which certificates messages name in place of carrying them, and how. */
type CertificateNaming = Pick<ExchangeSecurity, 'reference' | 'unsent'>

/** The first alternative for the request that can be met, and all others with the same demands. */
function readExchangePolicy(
  { request, answer }: ExchangeWays,
  { input, output }: Pick<WsdlOperation, 'input' | 'output'>,
): ExchangeSecurity | undefined {
  const [answered = []] = answer
  const read = request.map(each => attemptDemand(() => readRequest(each, input, answered)))
  const demands = read.filter((each): each is RequestDemand => !(each instanceof UnsupportedDemand))
  const [first] = demands
  const [unmet] = read
  if (!first && unmet instanceof UnsupportedDemand) throw unmet
  if (!first?.caller) return undefined
  const isAlike = (each: RequestDemand) =>
    each.isEncrypted === first.isEncrypted &&
    each.isStamped === first.isStamped &&
    each.symmetric === first.symmetric &&
    each.suite === first.suite &&
    JSON.stringify(each.naming) === JSON.stringify(first.naming) &&
    each.protectTokens === first.protectTokens &&
    each.attachments === first.attachments
  const same = demands.flatMap(each => (each.caller && isAlike(each) ? [each.caller] : []))
  const callers = same.filter((each, at) => same.findIndex(other => isSameProof(each, other)) === at)
  const { isEncrypted, isStamped, symmetric, suite, protectTokens } = first
  const base = {
    callers,
    ...(symmetric && { symmetric }),
    ...(isEncrypted && { encrypted: true }),
    ...(suite && { suite }),
    ...first.naming,
    ...(protectTokens && { protectTokens }),
    ...(isStamped && { timestamp: true }),
  }
  const sayForm = (form: AttachmentForm | undefined) => form === 'complete' && { attachments: form }
  if (!proofOf(callers[0]!).signed) return base // replies could not tell to which request they belong
  const [way = []] = answer
  const answers = readAnswer(way, output !== undefined)
  const isConfirmed = way.some(each => hasInside(each, 'RequireSignatureConfirmation'))
  const inAnswer = answers && readAttachments(way, output)
  if (input?.attached && output?.attached && first.attachments !== (inAnswer ?? first.attachments))
    failUnsupported('that attachments are signed in one message with their fields, and in the other without')
  return {
    ...base,
    ...sayForm(first.attachments ?? inAnswer),
    ...(answers && { answers, ...(!isConfirmed && { confirmed: false }) }),
  }
}
const isSameProof = (one: CallerProof, other: CallerProof): boolean => JSON.stringify(one) === JSON.stringify(other)
function attemptDemand<T>(read: () => T): T | UnsupportedDemand {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof UnsupportedDemand)) throw thrown
    return thrown
  }
}

/** The assertions that change what a message carries and are not met. */
const unmetAssertions =
  /^(?:.+EndorsingSupportingTokens|.*EndorsingEncryptedSupportingTokens|SignedElements|EncryptedElements|ContentEncryptedElements|RequiredElements)$/
const sayTokens = (holder: Element): string => [holder, ...listInside(holder)].map(({ name }) => name.local).join(' ')
const supportingTokens = /^(?:Signed)?(?:Encrypted)?SupportingTokens$/

/** Of either message. */
function refuseUnreadDemands(assertions: Alternative): void {
  const unmet = assertions.find(({ name }) => unmetAssertions.test(name.local))
  if (unmet) failUnsupported(unmet.name.local)
  if (assertions.some(each => each.name.local === 'EncryptedParts' && hasChild(each, 'Header')))
    failUnsupported('encrypted header blocks')
}

function readRequest(assertions: Alternative, message: WsdlMessage | undefined, answer: Alternative): RequestDemand {
  refuseUnreadDemands(assertions)
  const binding = findBinding(assertions)
  const [supporting, ...others] = assertions.filter(({ name }) => supportingTokens.test(name.local))
  const another = supporting && others.find(each => sayTokens(each) !== sayTokens(supporting))
  if (another) failUnsupported(`${supporting.name.local} beside ${another.name.local}`)
  const endorsing = assertions.find(({ name }) => name.local === 'EndorsingSupportingTokens')
  const isEncrypted = hasBody(assertions, 'EncryptedParts')
  const isOverTls = !binding && assertions.some(({ name }) => name.local === 'TransportBinding')
  if (supporting?.name.local.includes('Encrypted') && !isOverTls) failUnsupported('an encrypted token')
  if (isEncrypted && !binding) failUnsupported('encryption that nothing signs')
  if (isEncrypted && binding && !hasInside(binding, 'EncryptBeforeSigning'))
    failUnsupported('that messages are signed before they are encrypted')
  const block = listRequired(assertions).find(each => !isAddressingHeader(each) && !declaresBlock(message, each))
  if (block) failUnsupported(`the header block ${nameOfBlock(block)}, which the WSDL does not describe`)
  const attachments = binding && readAttachments(assertions, message)
  const isStamped = !binding && isTransportStamped(assertions)
  const suite = binding && readSuite(binding, [...assertions, ...answer])
  const naming = binding ? readUnsentNaming(binding, { request: assertions, answer }) : {}
  const protectTokens = binding !== undefined && hasInside(binding, 'ProtectTokens')
  const facts = { isEncrypted, isStamped, symmetric: undefined, suite, naming, protectTokens, attachments }
  if (binding?.name.local === 'SymmetricBinding')
    return { ...facts, caller: readEndorser(endorsing, supporting), symmetric: readKeyForm(binding) }
  if (endorsing) failUnsupported(endorsing.name.local)
  const named = supporting && readTokens(supporting, 'bearer')
  const holder = binding && requireInside(binding, ['InitiatorToken', 'InitiatorSignatureToken'])
  const initiator = holder && readTokens(holder, 'holder-of-key')
  const isNamed = named !== undefined && named.by !== 'x509'
  if (isNamed) return { ...facts, caller: { ...named, signed: binding !== undefined } }
  const caller = initiator ?? named
  if (isStamped && !caller) failUnsupported('a Timestamp without a token')
  return { ...facts, caller, isStamped: isStamped && caller !== undefined && !proofOf(caller).signed }
}

/** WS-SecurityPolicy 1.3 §7.3, §6.2: a message over TLS has a Timestamp. */
const isTransportStamped = (assertions: Alternative): boolean =>
  assertions.some(each => each.name.local === 'TransportBinding' && hasInside(each, 'IncludeTimestamp'))

const declaresBlock = (message: WsdlMessage | undefined, required: Element): boolean =>
  message?.headers.some(({ element }) => element === nameOfBlock(required)) === true

/**
 * WS-SecurityPolicy 1.3 §5.1.1, §5.4.3: whose certificates no message carries, and how messages
 * name them. Without a term for that, a partner of WSS 1.0 (§9.1) knows no thumbprints.
 */
function readUnsentNaming(
  binding: Element,
  { request, answer }: { readonly request: Alternative; readonly answer: Alternative },
): CertificateNaming {
  const caller = findTokens(binding, ['InitiatorToken', 'InitiatorSignatureToken'])
  const service = findTokens(binding, ['RecipientToken', 'RecipientSignatureToken', 'ProtectionToken'])
  const isSymmetric = binding.name.local === 'SymmetricBinding'
  const isCallerUnsent = caller.some(each => isTokenIncluded(each, /\/(?:Never|AlwaysToInitiator)$/))
  const isServiceUnsent = !isSymmetric && service.some(each => isTokenIncluded(each, /\/(?:Never|AlwaysToRecipient)$/))
  const unsent: readonly ExchangeParty[] = [
    ...(isCallerUnsent ? (['caller'] as const) : []),
    ...(isServiceUnsent ? (['service'] as const) : []),
  ]
  const named = [
    ...(isCallerUnsent || hasBody(answer, 'EncryptedParts') ? caller : []),
    ...(isSymmetric || isServiceUnsent || hasBody(request, 'EncryptedParts') ? service : []),
  ]
  if (unsent.length > 0 && [...caller, ...service].some(({ name }) => name.local !== 'X509Token'))
    failUnsupported('a token that messages refer to and do not carry')
  const form = named.length > 0 ? (readNamingForm(named) ?? readSupportedForm(request)) : undefined
  return {
    ...(form && form !== 'thumbprint' && { reference: form }),
    ...(unsent.length > 0 && { unsent }),
  }
}
const findTokens = (binding: Element, holders: readonly string[]): readonly Element[] => {
  const holder = findInside(binding, holders)
  return holder ? listInside(holder) : []
}
const isTokenIncluded = ({ attributes }: Element, when: RegExp): boolean =>
  attributes.some(({ name, value }) => name.local === 'IncludeToken' && when.test(value.trim()))

const namingForms: ReadonlyMap<string, NamingForm> = new Map([
  ['RequireThumbprintReference', 'thumbprint'],
  ['RequireIssuerSerialReference', 'issuer-serial'],
  ['RequireKeyIdentifierReference', 'key-identifier'],
])
function readNamingForm(tokens: readonly Element[]): NamingForm | undefined {
  const forms = tokens.flatMap(listInside).flatMap(({ name }) => namingForms.get(name.local) ?? [])
  const [form, another] = new Set(forms)
  return another ? failUnsupported('certificates that are named in two ways') : form
}
/** WS-SecurityPolicy 1.3 §9.1. */
function readSupportedForm(assertions: Alternative): NamingForm | undefined {
  const named = (local: string) => assertions.find(({ name }) => name.local === local)
  const options = named('Wss10')
  if (!options || named('Wss11')) return undefined
  const supports = (form: string) => hasInside(options, `MustSupportRef${form}`)
  return supports('KeyIdentifier') && !supports('IssuerSerial') ? 'key-identifier' : 'issuer-serial'
}

/** WS-SecurityPolicy §7.4: the key of an exchange is encrypted to an X.509 certificate. */
function readKeyForm(binding: Element): KeyForm {
  const token = findInside(requireInside(binding, ['ProtectionToken']), ['X509Token'])
  if (!token) return failUnsupported('a ProtectionToken that is not an X509Token')
  if (hasInside(token, 'RequireImpliedDerivedKeys')) failUnsupported('RequireImpliedDerivedKeys')
  if (!findInside(token, ['RequireDerivedKeys', 'RequireExplicitDerivedKeys'])) return 'direct'
  if (binding.name.uri !== securityPolicyUri) failUnsupported('derived keys of WS-SecureConversation before 1.3')
  return 'derived'
}
/** Of WS-SecurityPolicy 1.2 and 1.3, whose tokens are those of WS-SecureConversation 1.3. */
const securityPolicyUri = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'

/** WS-SecurityPolicy §8.3: the party whose certificate endorses the signature. */
function readEndorser(endorsing: Element | undefined, supporting: Element | undefined): CallerProof {
  if (supporting) return failUnsupported(`a SymmetricBinding with ${supporting.name.local}`)
  if (!endorsing) return failUnsupported('a SymmetricBinding that names no caller')
  if (listInside(endorsing).some(each => isTokenIncluded(each, /\/(?:Never|AlwaysToInitiator)$/)))
    return failUnsupported('an endorsement by a certificate that messages do not carry')
  const [unfit] = listInside(endorsing).filter(({ name }) => name.local !== 'X509Token')
  if (unfit) return failUnsupported(`an endorsement by ${unfit.name.local}`)
  if (hasInside(requireInside(endorsing, ['X509Token']), 'RequireDerivedKeys'))
    failUnsupported('an endorsement by a derived key')
  return { by: 'x509' }
}

/** The parts that replies sign or encrypt. */
function readAnswer(assertions: Alternative, isAwaited: boolean): ExchangeSecurity['answers'] {
  refuseUnreadDemands(assertions)
  if (!findBinding(assertions)) return undefined
  if (!hasBody(assertions, 'SignedParts'))
    return isAwaited ? failUnsupported('answers whose Body nothing signs') : undefined
  return hasBody(assertions, 'EncryptedParts') ? 'encrypted' : 'signed'
}

function findBinding(assertions: Alternative): Element | undefined {
  const binding = assertions.find(({ name }) => /^A?[Ss]ymmetricBinding$/.test(name.local))
  if (!binding) return undefined
  if (hasInside(binding, 'EncryptSignature')) failUnsupported('EncryptSignature')
  if (binding.name.local === 'SymmetricBinding' && hasInside(binding, 'ProtectTokens'))
    failUnsupported('ProtectTokens with a SymmetricBinding')
  if (!hasInside(binding, 'IncludeTimestamp')) failUnsupported('signed messages without a Timestamp')
  if (listInside(binding).some(each => each.name.local === 'Layout' && hasInside(each, 'LaxTsLast')))
    failUnsupported('LaxTsLast, a Timestamp after everything else')
  readSuite(binding, assertions)
  return binding
}

/**
 * WS-SecurityPolicy 1.3 §6.1. Suites of one hash sign alike, so where nothing is encrypted another
 * one takes the place of one that could not encrypt; a symmetric binding always encrypts its key.
 */
function readSuite(binding: Element, assertions: Alternative): AlgorithmSuite | undefined {
  const [found] = listInside(requireInside(binding, ['AlgorithmSuite']))
  const name = found?.name.local ?? 'of no suite'
  const [, cipher, hash, transport] = /^(Basic(?:128|192|256)|TripleDes)(Sha256)?(Rsa15)?$/.exec(name) ?? []
  if (cipher === undefined) return failUnsupported(`the algorithms ${name}`)
  const isUsable = cipher !== 'TripleDes' && transport === undefined
  const encrypts =
    binding.name.local === 'SymmetricBinding' || assertions.some(each => each.name.local === 'EncryptedParts')
  if (encrypts && !isUsable)
    failUnsupported(`the algorithms ${name}, of which ${transport ? 'RSA PKCS#1 v1.5' : 'Triple DES'} is not supported`)
  if (!isUsable) return hash ? undefined : 'Basic256'
  return name === 'Basic256Sha256' ? undefined : (name as AlgorithmSuite)
}
/**
 * WS-SecurityPolicy 1.3 §4.1.1, §4.2.1: what travels next to an envelope is signed if the Body is,
 * with its fields unless the policy says otherwise, and encrypted if the Body is. Elements may
 * refer to attachments that no binding mentions.
 */
function readAttachments(assertions: Alternative, message: WsdlMessage | undefined): AttachmentForm | undefined {
  const listed = (parts: string) =>
    assertions.flatMap(each =>
      each.name.local === parts ? each.elements().filter(({ name }) => name.local === 'Attachments') : [],
    )
  const [signed] = listed('SignedParts')
  if (message?.attached && hasBody(assertions, 'SignedParts') && !signed)
    failUnsupported('attachments that nothing signs')
  if (message?.attached && hasBody(assertions, 'EncryptedParts') !== listed('EncryptedParts').length > 0)
    failUnsupported('that one of Body and attachments is encrypted, and the other is not')
  return signed && (hasChild(signed, 'ContentSignatureTransform') ? 'content' : 'complete')
}
const hasBody = (assertions: Alternative, parts: string): boolean =>
  assertions.some(each => each.name.local === parts && (each.elements().length === 0 || hasChild(each, 'Body')))
const hasChild = (element: Element, local: string): boolean =>
  element.elements().some(({ name }) => name.local === local)

/** One token, or one in several spellings. */
function readTokens(holder: Element, confirmation: SubjectConfirmation): CallerProof {
  const proofs = listInside(holder).map(each => readPolicyToken(each, confirmation))
  const [first] = proofs
  if (!first) return failUnsupported(`${holder.name.local} without a token`)
  if (proofs.some(each => each.by !== first.by)) return failUnsupported('tokens of several kinds')
  const passwords = [...new Set(proofs.flatMap(each => each.passwords ?? []))]
  return { ...first, ...(passwords.length > 0 && { passwords }) }
}

function readPolicyToken(token: Element, confirmation: SubjectConfirmation): CallerProof {
  switch (token.name.local) {
    case 'X509Token':
      return { by: 'x509' }
    case 'UsernameToken':
      if (hasInside(token, 'NoPassword')) return failUnsupported('a UsernameToken without a password')
      return { by: 'username', passwords: [hasInside(token, 'HashPassword') ? 'digest' : 'text'] }
    case 'SamlToken':
      return { by: 'saml', confirmations: [confirmation] }
    default:
      return failUnsupported(token.name.local)
  }
}

/** What a nested policy asserts, whatever the alternative. */
const listInside = (element: Element): readonly Element[] =>
  element.elements().flatMap(each => (operators.has(each.name.local) ? listInside(each) : [each]))
const operators: ReadonlySet<string> = new Set(['Policy', 'ExactlyOne', 'All'])
const findInside = (element: Element, locals: readonly string[]): Element | undefined =>
  listInside(element).find(({ name }) => locals.includes(name.local))
const hasInside = (element: Element, local: string): boolean => findInside(element, [local]) !== undefined
const requireInside = (element: Element, locals: readonly string[]): Element =>
  findInside(element, locals) ?? failUnsupported(`${element.name.local} without ${locals[0]}`)
