/**
 * A policy as WS-SecurityPolicy 1.2 and 1.3 (one namespace) in WS-Policy: what a partner's stack
 * needs to talk to the endpoint without further configuration. The policy is enforced, not this
 * text; where the standard has no term for a demand (a shared secret), the text only states the
 * signed parts.
 *
 * Each direction has its own attachment (WS-PolicyAttachment §4): the binding of keys covers both
 * directions, so it is attached to the endpoint or the operation only where replies are signed,
 * too; the covered parts are attached to each message.
 */
import type { AlgorithmSuite, ExchangeParty, NamingForm } from '../../contract/endpoint-rule.ts'
import { writeAttribute } from '../../xml/index.ts'
import { wsuNs } from '../vocabulary.ts'
import { algorithmsOf } from './algorithm-suite.ts'
import {
  answeredAttachmentsOf,
  type CoveredPart,
  type Demand,
  type ExchangePolicy,
  type KeyForm,
  type SecurityPolicy,
  signedAttachmentsOf,
} from './policy.ts'

const policyNs = 'http://schemas.xmlsoap.org/ws/2004/09/policy'
const securityPolicyNs = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'

/** The subject to which a policy is attached. */
export type PolicySubject = 'endpoint' | 'operation' | 'input' | 'output'

/** The name of a header block. */
export interface BlockName {
  readonly uri: string
  readonly local: string
}

/** Facts about the messages that the descriptions know and the policy does not. */
export interface DescribedMessages {
  /** The address is an https one. */
  readonly isConfidential: boolean
  /** Blocks that the contract declares. */
  readonly request: readonly BlockName[]
  readonly response: readonly BlockName[]
}

/** The policies of a description, and the identifier of the one attached to a subject. */
export interface PolicyAttachments {
  readonly written: string
  /** @param operation the local name of the element of its request */
  readonly idOf: (subject: PolicySubject, operation?: string) => string | undefined
}

/** Decides where a description attaches which policy. */
export function describeSecurity(policy: SecurityPolicy, messages: DescribedMessages): PolicyAttachments {
  const operations = policy.operations ?? new Map<string, ExchangePolicy>()
  const { suite } = policy
  const usual = describeExchange(policy, suite, 'MessageSecurity', messages)
  const others = new Map(
    [...operations].map(([name, each]) => [
      name,
      each.isOptional ? nothing : describeExchange(each, suite, `${name}MessageSecurity`, messages),
    ]),
  )
  const all = [usual, ...others.values()].flatMap(each => [...each.values()])
  return {
    written: all.map(({ id, content }) => writePolicy(id, content)).join(''),
    idOf: (subject, operation) => {
      const found = (operation === undefined ? undefined : others.get(operation)) ?? usual
      if (subject === 'endpoint') return operations.size === 0 ? found.get('both')?.id : undefined
      if (subject === 'operation') return operations.size > 0 ? found.get('both')?.id : undefined
      return found.get(subject)?.id
    },
  }
}

interface NamedPolicy {
  readonly id: string
  readonly content: string
}
type ExchangeAttachments = ReadonlyMap<'both' | 'input' | 'output', NamedPolicy>
const nothing: ExchangeAttachments = new Map()

function describeExchange(
  policy: ExchangePolicy,
  suite: AlgorithmSuite | undefined,
  name: string,
  messages: DescribedMessages,
): ExchangeAttachments {
  const { anyOf, answers, confirmed = true } = policy
  const isSigned = anyOf.some(({ signed = [] }) => signed.length > 0)
  const encrypts = answers === 'encrypted' || anyOf.some(({ encrypted = [] }) => encrypted.length > 0)
  const how: BindingFacts = { encrypts, confirms: answers !== undefined && confirmed, suite, policy, ...messages }
  const both = writeAlternatives(anyOf.map(demand => writeTokens(demand, how)))
  if (!isSigned) return new Map([['both', { id: name, content: both }]])
  if (!answers) {
    const ways = anyOf.map(demand => `${writeTokens(demand, how)}${writeRequestParts(demand, messages)}`)
    return new Map([['input', { id: `${name}OfRequest`, content: writeAlternatives(ways) }]])
  }
  const [first] = anyOf // each signs and encrypts the same parts, except for its token
  return new Map([
    ['both', { id: name, content: both }],
    ['input', { id: `${name}OfRequest`, content: writeAlternatives([writeRequestParts(first!, messages)]) }],
    ['output', { id: `${name}OfAnswer`, content: writeAlternatives([writeAnswerParts(policy, messages)]) }],
  ])
}

/** The wsp:Policy element, to which `#id` refers. */
export const writeSecurityPolicy = (policy: SecurityPolicy, id: string): string => {
  const messages = { isConfidential: false, request: [], response: [] }
  const how: BindingFacts = {
    encrypts: false,
    confirms: policy.answers !== undefined && policy.confirmed !== false,
    suite: policy.suite,
    policy,
    ...messages,
  }
  const ways = policy.anyOf.map(demand => `${writeTokens(demand, how)}${writeRequestParts(demand, messages)}`)
  return writePolicy(id, writeAlternatives(policy.required ? ways : [...ways, '']))
}

const writePolicy = (id: string, content: string): string =>
  `<wsp:Policy xmlns:wsp="${policyNs}" xmlns:sp="${securityPolicyNs}" xmlns:wsu="${wsuNs}" wsu:Id=${writeAttribute(id)}>${content}</wsp:Policy>`

const writeAlternatives = (ways: readonly string[]): string =>
  `<wsp:ExactlyOne>${ways.map(way => (way === '' ? '<wsp:All/>' : `<wsp:All>${way}</wsp:All>`)).join('')}</wsp:ExactlyOne>`

interface BindingFacts extends DescribedMessages {
  readonly encrypts: boolean
  readonly confirms: boolean
  readonly suite: AlgorithmSuite | undefined
  readonly policy: Pick<ExchangePolicy, 'reference' | 'unsent' | 'protectsAnswers'>
}

/** The binding and the tokens of one direction. */
function writeTokens(demand: Demand, how: BindingFacts): string {
  const { signed = [], caller } = demand
  const isKey = caller === 'x509' || (caller === 'saml' && isHolderOfKey(demand))
  const supporting = isKey || caller === 'secret' ? '' : writeSupportingToken(demand, how)
  if (signed.length === 0) return `${how.isConfidential ? writeTransportBinding(demand, how) : ''}${supporting}`
  if (caller === 'secret') return ''
  if (demand.symmetric) return `${writeSymmetricBinding(demand.symmetric, how)}${endorsingToken}${writeWss11(how)}`
  return `${writeBinding(isKey && caller !== 'x509' ? writeToken(demand) : writeSignerToken('caller', how), demand, how)}${supporting}${writeWss11(how)}`
}

const isHolderOfKey = ({ confirmations = [] }: Demand): boolean => confirmations.every(kind => kind === 'holder-of-key')

const wrapInPolicy = (...inside: string[]): string => `<wsp:Policy>${inside.join('')}</wsp:Policy>`
const include = (when: string): string => `sp:IncludeToken="${securityPolicyNs}/IncludeToken/${when}"`
const includeAlways = include('AlwaysToRecipient')
const x509Token = `<sp:X509Token ${includeAlways}>${wrapInPolicy('<sp:WssX509V3Token10/>')}</sp:X509Token>`
const namingAssertions: Readonly<Record<NamingForm, string>> = {
  thumbprint: '<sp:RequireThumbprintReference/>',
  'issuer-serial': '<sp:RequireIssuerSerialReference/>',
  'key-identifier': '<sp:RequireKeyIdentifierReference/>',
}
/**
 * Requests carry the caller's certificate, and replies that of the service, which requests name;
 * unless no message carries them.
 */
function writeSignerToken(
  of: ExchangeParty,
  { policy: { reference = 'thumbprint', unsent = [] } }: Pick<BindingFacts, 'policy'>,
): string {
  const isSent = !unsent.includes(of)
  if (isSent && of === 'caller') return x509Token
  const when = isSent ? 'AlwaysToInitiator' : 'Never'
  const token = wrapInPolicy(namingAssertions[reference], '<sp:WssX509V3Token10/>')
  return `<sp:X509Token ${include(when)}>${token}</sp:X509Token>`
}
/** Metro reads the signature, by its Java name, from an attribute that the standard leaves open. */
function writeSuite(suite: AlgorithmSuite | undefined): string {
  const { name, hash } = algorithmsOf(suite)
  const signature = hash === 'sha256' ? ' signatureAlgorithm="SHA256withRSA"' : ''
  return `<sp:AlgorithmSuite${signature}>${wrapInPolicy(`<sp:${name}/>`)}</sp:AlgorithmSuite>`
}
const layout = `<sp:Layout>${wrapInPolicy('<sp:Lax/>')}</sp:Layout>`

/** WS-SecurityPolicy §7.3. */
const writeTransportBinding = ({ timestamp }: Demand, { suite }: BindingFacts): string =>
  `<sp:TransportBinding>${wrapInPolicy(
    `<sp:TransportToken>${wrapInPolicy(`<sp:HttpsToken>${wrapInPolicy()}</sp:HttpsToken>`)}</sp:TransportToken>`,
    writeSuite(suite),
    layout,
    timestamp ? '<sp:IncludeTimestamp/>' : '',
  )}</sp:TransportBinding>`

/** WS-SecurityPolicy §7.5. */
function writeBinding(token: string, { signed = [] }: Demand, how: BindingFacts): string {
  const { encrypts, suite, policy } = how
  const isProtected = signed.includes('SigningToken') || policy.protectsAnswers === true
  return `<sp:AsymmetricBinding>${wrapInPolicy(
    `<sp:InitiatorToken>${wrapInPolicy(token)}</sp:InitiatorToken>`,
    `<sp:RecipientToken>${wrapInPolicy(writeSignerToken('service', how))}</sp:RecipientToken>`,
    writeSuite(suite),
    layout,
    '<sp:IncludeTimestamp/>',
    encrypts ? '<sp:EncryptBeforeSigning/>' : '',
    isProtected ? '<sp:ProtectTokens/>' : '',
    '<sp:OnlySignEntireHeadersAndBody/>',
  )}</sp:AsymmetricBinding>`
}

/**
 * WS-SecurityPolicy §7.4: the key of each exchange is encrypted to the certificate of the service,
 * which the messages do not carry.
 */
function writeSymmetricBinding(form: KeyForm, { encrypts, suite, policy: { reference } }: BindingFacts): string {
  const token = wrapInPolicy(
    form === 'derived' ? '<sp:RequireDerivedKeys/>' : '',
    namingAssertions[reference ?? 'thumbprint'],
    '<sp:WssX509V3Token10/>',
  )
  return `<sp:SymmetricBinding>${wrapInPolicy(
    `<sp:ProtectionToken>${wrapInPolicy(`<sp:X509Token ${include('Never')}>${token}</sp:X509Token>`)}</sp:ProtectionToken>`,
    writeSuite(suite),
    layout,
    '<sp:IncludeTimestamp/>',
    encrypts ? '<sp:EncryptBeforeSigning/>' : '',
    '<sp:OnlySignEntireHeadersAndBody/>',
  )}</sp:SymmetricBinding>`
}

/** WS-SecurityPolicy §8.3. */
const endorsingToken = `<sp:EndorsingSupportingTokens>${wrapInPolicy(x509Token)}</sp:EndorsingSupportingTokens>`

const supportedReferences: Readonly<Record<NamingForm, string>> = {
  thumbprint: '<sp:MustSupportRefThumbprint/>',
  'issuer-serial': '<sp:MustSupportRefIssuerSerial/>',
  'key-identifier': '<sp:MustSupportRefKeyIdentifier/>',
}
/** WS-SecurityPolicy §9.2. */
const writeWss11 = ({ confirms, policy: { reference } }: BindingFacts): string =>
  `<sp:Wss11>${wrapInPolicy(supportedReferences[reference ?? 'thumbprint'], confirms ? '<sp:RequireSignatureConfirmation/>' : '')}</sp:Wss11>`

/**
 * WS-SecurityPolicy §8: a signed token where the demand or TLS covers it, an encrypted token where
 * the demand says so.
 */
function writeSupportingToken(demand: Demand, { isConfidential }: BindingFacts): string {
  const isSigned = demand.signed?.includes('Token') || isConfidential
  const kind = `${isSigned ? 'Signed' : ''}${demand.encrypted?.includes('Token') ? 'Encrypted' : ''}SupportingTokens`
  return `<sp:${kind}>${wrapInPolicy(writeToken(demand))}</sp:${kind}>`
}

/** WS-SecurityPolicy §5.4. */
function writeToken(demand: Demand): string {
  switch (demand.caller) {
    case 'username':
      return writeUsernameChoice(demand.passwords ?? ['text', 'digest'])
    case 'saml': {
      const versions = ['WssSamlV20Token11', 'WssSamlV11Token11'].map(
        version =>
          `<wsp:All><sp:SamlToken ${includeAlways}>${wrapInPolicy(`<sp:${version}/>`)}</sp:SamlToken></wsp:All>`,
      )
      return `<wsp:ExactlyOne>${versions.join('')}</wsp:ExactlyOne>`
    }
    case 'kerberos':
      return `<sp:KerberosToken ${includeAlways}>${wrapInPolicy('<sp:WssGssKerberosV5ApReqToken11/>')}</sp:KerberosToken>`
    case 'x509':
    case 'secret':
    case 'exchange':
      return x509Token
  }
}

function writeUsernameChoice(passwords: readonly ('text' | 'digest')[]): string {
  const one = (kind: 'text' | 'digest') =>
    `<sp:UsernameToken ${includeAlways}>${wrapInPolicy(kind === 'digest' ? '<sp:HashPassword/>' : '', '<sp:WssUsernameToken10/>')}</sp:UsernameToken>`
  const [only, another] = passwords.map(one)
  return another
    ? `<wsp:ExactlyOne>${passwords.map(kind => `<wsp:All>${one(kind)}</wsp:All>`).join('')}</wsp:ExactlyOne>`
    : (only ?? '')
}

/** Blocks that a signature has to cover where they occur; a Header without a Name means any. */
const addressingHeaders = ['http://www.w3.org/2005/08/addressing', 'http://schemas.xmlsoap.org/ws/2004/08/addressing']
  .map(uri => `<sp:Header Namespace="${uri}"/>`)
  .join('')

function writeRequestParts({ signed = [], encrypted = [] }: Demand, { request }: DescribedMessages): string {
  const blocks = signed.length > 0 ? addressingHeaders + writeHeaders(request) : ''
  return `${writeProtectedParts('SignedParts', signed, blocks)}${writeProtectedParts('EncryptedParts', encrypted)}`
}

function writeAnswerParts(policy: ExchangePolicy, { response }: DescribedMessages): string {
  const attached = answeredAttachmentsOf(policy)
  const parts: readonly CoveredPart[] = attached ? ['Body', attached] : ['Body']
  const signed = writeProtectedParts('SignedParts', parts, addressingHeaders + writeHeaders(response))
  if (policy.answers !== 'encrypted') return signed
  return signed + writeProtectedParts('EncryptedParts', attached ? ['Body', 'Attachments'] : ['Body'])
}

const writeHeaders = (blocks: readonly BlockName[]): string => blocks.map(writeHeader).join('')
const writeHeader = ({ uri, local }: BlockName): string =>
  `<sp:Header Name=${writeAttribute(local)} Namespace=${writeAttribute(uri)}/>`

/** WS-SecurityPolicy 1.3 §4.1.1, §4.2.1: each way to sign a part has its own term. */
function writeAttachments(kind: 'SignedParts' | 'EncryptedParts', listed: readonly CoveredPart[]): string {
  const attached = signedAttachmentsOf(listed)
  if (!attached) return ''
  if (kind === 'EncryptedParts') return '<sp:Attachments/>'
  const transform = attached === 'Attachments' ? 'ContentSignatureTransform' : 'AttachmentCompleteSignatureTransform'
  return `<sp:Attachments><sp13:${transform} xmlns:sp13="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200802"/></sp:Attachments>`
}

/**
 * WS-SecurityPolicy §4.1, §4.2. A Timestamp belongs to the binding, a token to its supporting
 * tokens.
 */
function writeProtectedParts(
  kind: 'SignedParts' | 'EncryptedParts',
  listed: readonly CoveredPart[],
  blocks = '',
): string {
  const has = (part: CoveredPart) => listed.includes(part)
  const named = listed.filter(part => typeof part !== 'string')
  const markup = `${has('Body') ? '<sp:Body/>' : ''}${writeHeaders(named)}${blocks}${writeAttachments(kind, listed)}`
  return markup === '' ? '' : `<sp:${kind}>${markup}</sp:${kind}>`
}
