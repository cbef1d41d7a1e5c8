/**
 * What a contract's `security` demands of a client, with the client's keys: the protection of each
 * request, and the proof that each answer must bring. Guards: every declared demand is met, or no
 * client is created.
 */
import { chain, type Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import { endpointsOf, type NamingForm, type SecurityRule, type ServedEndpoint } from '../contract/endpoint-rule.ts'
import type { Caller } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { toXmlName } from '../contract/xml-message.ts'
import type { Certificate } from '../security/crypto/certificate.ts'
import { type CertificateSource, type PrivateKeySource, readCertificateList } from '../security/crypto/key-source.ts'
import { type Anchors, CertificateTrust } from '../security/crypto/trust.ts'
import { algorithmsOf, type SuiteAlgorithms, suiteTransport } from '../security/policy/algorithm-suite.ts'
import { compileDeclaredPolicy } from '../security/policy/declared-policy.ts'
import { prepareDecryption } from '../security/policy/means.ts'
import {
  type CoveredPart,
  type Demand,
  type ExchangePolicy,
  type KeyForm,
  protectsAnswers,
  type SecurityPolicy,
  type SignedAttachments,
  signedAttachmentsOf,
} from '../security/policy/policy.ts'
import type { Decryption } from '../security/policy/verification-context.ts'
import type { RequestExchange } from '../security/protect/exchange-protection.ts'
import type { Protection } from '../security/protect/protect.ts'
import { prepareProtection, readReceiver } from '../security/protect/protection-options.ts'
import { AnswerMemory } from './answer-memory.ts'

/** Keys of a client, for endpoints whose security the contract declares. */
export interface ClientKeys {
  /** Signs requests, or endorses their signatures; decrypts answers. */
  readonly key?: PrivateKeySource
  /** Of the key; it is sent along. */
  readonly certificate?: CertificateSource
  /**
   * An assertion as its issuer made it. A function is called for each message; behind a bridge,
   * with the caller.
   */
  readonly assertion?: string | ((caller?: Caller) => Maybe<string>)
  /**
   * The signers of answers: `certificates` of the service, or any certificate with this common name
   * that one of `authorities` issued.
   */
  readonly service?: Anchors & { readonly name?: string }
  /**
   * The receiver for whom requests, or the key of each exchange, are encrypted: then its holder
   * alone can prove answers. Default: the only one of `service.certificates`.
   */
  readonly encryptTo?: CertificateSource
}

/** Of one operation. */
export interface OperationSecurity {
  /** Called for each message. */
  readonly protection: (caller?: Caller) => Maybe<Protection>
  /** Whether messages are signed or encrypted. */
  readonly isCovered: boolean
  /** What an answer must prove; undefined: nothing. */
  readonly answers: AnswerDemand | undefined
}

export interface AnswerDemand {
  readonly isEncrypted: boolean
  /** Whether it confirms the signatures of its request. */
  readonly isConfirmed: boolean
  /** The answers that were accepted with these keys, if nothing ties them to their requests. */
  readonly acceptedAnswers: AnswerMemory
  /** Signatures by SHA-1 are accepted. */
  readonly isWeak: boolean
  /** Its signature covers the certificate that made it. */
  readonly protectsTokens: boolean
  /** How its attachments are signed. */
  readonly attachments: SignedAttachments
  /** The key of the exchange proves it, in this form; the key was sent to the holder of `to`. */
  readonly exchange: { readonly form: KeyForm; readonly to: Certificate } | undefined
  readonly trust: CertificateTrust
  /** The common name that a certificate must have, unless it is pinned. */
  readonly name: string | undefined
  readonly pinned: readonly Certificate[]
  readonly decrypts: readonly Decryption[]
}

/**
 * Whether an answer can only belong to one attempt of its request, whatever it says about itself.
 */
export const isTiedAnswer = ({ isConfirmed, exchange }: AnswerDemand): boolean => isConfirmed || exchange !== undefined

/** Clients and ports with the same keys share what they remember. */
const memoryOf = memoizeByObject((_: ClientKeys) => new AnswerMemory())

/** Where a client sends its messages. */
export interface EndpointChoice {
  readonly address: string
  /** The path of the endpoint in the contract, if its address has another one. */
  readonly endpoint?: string | undefined
}

/**
 * The rule of the endpoint that is named, or whose path ends the address. Behind a gateway, an
 * address may have any path: then all endpoints of the version must have the same rule, so that no
 * message that the contract protects is sent in the clear.
 *
 * @throws TypeError if the endpoint is unknown, or may be one of several with different rules
 */
export function findSecurityRule(
  contract: Service,
  version: string,
  { address, endpoint }: EndpointChoice,
): SecurityRule | undefined {
  const all = endpointsOf(contract).filter(each => each.version === version)
  const paths = all.map(each => each.path).join(', ')
  const { pathname } = new URL(address)
  const declaredEndpoint =
    endpoint === undefined
      ? all.filter(({ path }) => pathname.endsWith(path)).sort((one, other) => other.path.length - one.path.length)[0]
      : all.find(({ path }) => path === endpoint)
  if (declaredEndpoint) return declaredRule(declaredEndpoint)
  if (endpoint !== undefined) throw new TypeError(`${version} has no endpoint ${endpoint}: use ${paths}`)
  const [rule, ...others] = new Set(all.map(declaredRule))
  if (others.length > 0)
    throw new TypeError(
      `${pathname} is not the path of an endpoint of ${version}, and their security differs: give \`endpoint\`, one of ${paths}`,
    )
  return rule
}

/** Undefined if the server's settings decide: a contract does not have their demands. */
const declaredRule = ({ security }: ServedEndpoint): SecurityRule | undefined =>
  security === 'settings' ? undefined : security

/**
 * By the name of an operation in its messages, such as `GetOrder`; undefined: it demands no proof.
 * @param username the client's UsernameToken, if it has credentials for one
 * @throws TypeError if the keys are not sufficient, or one of them is invalid
 */
export function compileOperationSecurity(
  rule: SecurityRule,
  given: ClientKeys | undefined,
  username: Protection['username'],
): (operation: string) => OperationSecurity | undefined {
  const keys = prepareKeys(given ?? {})
  const policy: SecurityPolicy = compileDeclaredPolicy(rule, toXmlName, true)
  const suite = algorithmsOf(policy.suite)
  const operations = new Map<ExchangePolicy, OperationSecurity>()
  const prepare = (exchange: ExchangePolicy): OperationSecurity | undefined => {
    if (exchange.isOptional) return undefined
    const prepared = operations.get(exchange) ?? prepareExchange(exchange, suite, keys, username)
    operations.set(exchange, prepared)
    return prepared
  }
  for (const exchange of [policy, ...(policy.operations?.values() ?? [])]) prepare(exchange)
  return operation => prepare(policy.operations?.get(toXmlName(operation)) ?? policy)
}

interface PreparedKeys {
  readonly given: ClientKeys
  readonly pair: Decryption | undefined
  readonly pinned: readonly Certificate[]
  readonly trust: CertificateTrust
}

function prepareKeys(given: ClientKeys): PreparedKeys {
  const { key, certificate, service: { name, ...anchors } = {} } = given
  if ((key === undefined) !== (certificate === undefined))
    throw new TypeError('keys has a key without a certificate, or a certificate without a key: give both')
  if (anchors.authorities !== undefined && name === undefined)
    throw new TypeError(
      'keys.service has authorities and no name, so any certificate that they issued could sign answers: give its name',
    )
  return {
    given,
    pair: key !== undefined && certificate !== undefined ? prepareDecryption({ key, certificate }, 'keys') : undefined,
    pinned: readCertificateList(anchors.certificates, 'keys.service.certificates'),
    trust: new CertificateTrust(anchors, 'keys.service'),
  }
}

function prepareExchange(
  policy: ExchangePolicy,
  suite: SuiteAlgorithms,
  keys: PreparedKeys,
  username: Protection['username'],
): OperationSecurity {
  const { anyOf, answers, confirmed: isConfirmed = true, reference, unsent = [] } = policy
  const missing = anyOf.map(demand => findMissingKey(demand, keys, username))
  const demand = anyOf[missing.indexOf(undefined)]
  if (!demand) throw new TypeError(`the contract demands proof of the caller: give ${missing.join(', or ')}`)
  if (answers && !demand.symmetric && keys.trust.isEmpty)
    throw new TypeError('the contract demands signed answers: give keys.service, the signers to accept')
  if (answers && unsent.includes('service') && keys.pinned.length === 0)
    throw new TypeError(
      'answers name the certificate of the service and do not carry it: give the certificate itself in keys.service.certificates',
    )
  if (reference === 'key-identifier') requireIdentifiers(demand, keys)
  if (suite.hash === 'sha1' && keys.pair && keys.pair.key.asymmetricKeyType !== 'rsa')
    throw new TypeError(`keys.key is not an RSA key, by which ${suite.name} signs: give one`)
  const { assertion } = keys.given
  const exchange = demand.symmetric && {
    ...exchangeFor(demand, demand.symmetric, keys),
    suite,
    refer: reference,
  }
  if (answers && !isConfirmed && !exchange) requireOtherSigner(keys)
  const fixed: Protection = exchange
    ? { timestamp: {}, exchange }
    : protectionFor(demand, { ...suite, reference }, keys, username)
  return {
    protection: caller =>
      typeof assertion === 'function' && demand.caller === 'saml'
        ? chain(assertion(caller), each => ({ ...fixed, assertion: each }))
        : fixed,
    isCovered: isCovering(fixed),
    answers: answers && {
      isEncrypted: answers === 'encrypted',
      isConfirmed,
      acceptedAnswers: memoryOf(keys.given),
      isWeak: suite.hash === 'sha1',
      protectsTokens: protectsAnswers(policy),
      attachments: attachmentsOf(demand),
      exchange,
      trust: keys.trust,
      name: keys.given.service?.name,
      pinned: keys.pinned,
      decrypts: keys.pair && !exchange ? [keys.pair] : [],
    },
  }
}

/** A certificate has a key identifier only if its authority wrote one. */
function requireIdentifiers(demand: Demand, keys: PreparedKeys): void {
  const to = demand.encrypted || demand.symmetric ? receiverOf(keys) : undefined
  const named = [
    ['keys.certificate', demand.isNamed ? keys.pair?.certificate : undefined],
    ['keys.encryptTo', to === undefined ? undefined : readReceiver(to, 'keys.encryptTo')],
  ] as const
  for (const [place, certificate] of named)
    if (certificate && !certificate.subjectKeyIdentifier)
      throw new TypeError(
        `${place} has no key identifier, by which messages name it: agree on reference: 'issuer-serial'`,
      )
}

/** Without confirmation, a request that is sent back would be an answer by its own signer. */
function requireOtherSigner({ pair, trust, pinned, given }: PreparedKeys): void {
  if (pair && isServiceCertificate(pair.certificate, { trust, pinned, name: given.service?.name }))
    throw new TypeError(
      'keys.certificate may also sign answers, by keys.service, and these confirm no request: give the service a certificate of its own',
    )
}

export const isCovering = ({ signature, encryption, exchange }: Protection): boolean =>
  [signature, encryption, exchange].some(each => each !== undefined)

/** What is missing for a way of proof; undefined if nothing is. */
function findMissingKey(demand: Demand, keys: PreparedKeys, username: Protection['username']): string | undefined {
  const { caller, signed = [], encrypted = [] } = demand
  const { given, pair } = keys
  if (caller === 'kerberos' || caller === 'secret') return `a way other than ${caller}, which keys do not have`
  if (caller === 'username' && !username) return 'credentials with a username'
  if (caller === 'saml' && given.assertion === undefined) return 'keys.assertion'
  if (signed.length > 0 && !pair) return 'keys.key and keys.certificate'
  if ((encrypted.length > 0 || demand.symmetric) && !receiverOf(keys))
    return 'keys.encryptTo, the certificate of the service'
  return undefined
}

const receiverOf = ({ given, pinned }: PreparedKeys): CertificateSource | undefined =>
  given.encryptTo ?? (pinned.length === 1 ? pinned[0] : undefined)

/** @throws TypeError if the certificate of the receiver is not one of `keys.service` */
function exchangeFor(demand: Demand, form: KeyForm, keys: PreparedKeys): RequestExchange {
  const to = readReceiver(receiverOf(keys)!, 'keys.encryptTo') // (a way without one is not open)
  const { trust, pinned, given } = keys
  if (!trust.isEmpty && !isServiceCertificate(to, { trust, pinned, name: given.service?.name }))
    throw new TypeError(
      'keys.encryptTo is not a certificate of keys.service: the key of each exchange goes to its holder',
    )
  const signed: readonly CoveredPart[] = ['Headers', 'Timestamp', 'Body', attachmentsOf(demand)]
  return { to, form, signed, encrypts: (demand.encrypted ?? []).length > 0, endorsedBy: keys.pair! }
}
const attachmentsOf = ({ signed }: Demand): SignedAttachments => signedAttachmentsOf(signed) ?? 'Attachments'

/** Whether a currently trusted certificate belongs to the service: pinned, or with its name. */
export function isServiceCertificate(
  { der }: Pick<Certificate, 'der'>,
  { trust, pinned, name }: Pick<AnswerDemand, 'trust' | 'pinned' | 'name'>,
): boolean {
  const trusted = trust.findTrusted(der, Date.now())
  if (pinned.some(each => each.der.equals(der))) return trusted !== undefined
  return name !== undefined && trusted?.commonNames.length === 1 && trusted.commonNames[0] === name
}

function protectionFor(
  demand: Demand,
  { hash, cipher, reference = 'thumbprint' }: SuiteAlgorithms & { readonly reference: NamingForm | undefined },
  keys: PreparedKeys,
  username: Protection['username'],
): Protection {
  const { caller, signed = [], encrypted = [], confirmations = [] } = demand
  const { pair } = keys
  const isHolder = caller === 'saml' && confirmations.includes('holder-of-key')
  const others = signed.filter(part => part === 'Timestamp' || part === 'Token' || part === 'SigningToken')
  const parts: readonly CoveredPart[] = ['Headers', ...others, 'Body', attachmentsOf(demand)]
  const to = receiverOf(keys)
  const { assertion } = keys.given
  const prepared = prepareProtection(
    {
      ...(signed.length > 0 &&
        pair && {
          signature: {
            key: pair.key,
            by: isHolder ? 'assertion' : { certificate: pair.certificate, ...(demand.isNamed && { refer: reference }) },
            parts,
          },
        }),
      ...(encrypted.length > 0 && to && { encryption: { to, refer: reference, cipher, transport: suiteTransport } }),
    },
    'keys',
  )
  return {
    ...(demand.timestamp && { timestamp: {} }),
    ...(caller === 'username' && username && { username: choosePassword(username, demand) }),
    ...(caller === 'saml' && typeof assertion === 'string' && { assertion }),
    ...prepared,
    ...(prepared.signature && { signature: { ...prepared.signature, hash } }),
    encryptsFirst: true,
  }
}

/** Of the accepted kinds, that of the credentials, or otherwise the other one. */
function choosePassword(username: NonNullable<Protection['username']>, { passwords }: Demand): typeof username {
  const kind = passwords?.includes(username.kind) === false ? passwords[0] : username.kind
  return { ...username, kind: kind ?? username.kind }
}
