/** B5, B7 and B9: which messages are refused and how, their credentials and their versions. */

import type { WsdlOperation } from '../../describe/index.ts'
import { escapeText } from '../../xml/index.ts'
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import { type ProbeExchange, requireUnreachable, Unreachable } from '../probe-message.ts'
import type { CheckRule } from '../rule.ts'
import { findSafeOperations, listProbeOperations, type ProbeOperation, sendMessage } from '../soap-discovery.ts'
import { isAnswer, readSoapMessage, type SoapWords, soapWords } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { sendOddEnvelopes, unknownBody } from './envelope-checks.ts'
import { listJudgedMessages, sendChanged, writeBlock } from './message-rules.ts'
import { expectSoapKept } from './release-checks.ts'
import { probeWrapping } from './signature-wrapping.ts'
import { collectFailures } from './soap-failures.ts'
import { hasForeignFault, isOfOtherVersion, listSupported } from './version-checks.ts'

const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'
const passwordText = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText'
const quickMs = 5000

export const faultRules: readonly CheckRule[] = [
  {
    id: 'B5.1',
    says: 'a Security header can carry signatures, encryption and tokens',
    how: 'a mandatory Security block with a token that proves nothing is processed, and therefore refused as what it is; so is one with the name of a caller and a wrong password',
    probe: async (trial: Trial) => {
      const probes = await listProbeOperations(trial.bench)
      for (const probe of probes) {
        const refused = await sendChanged(trial, probe, usernameToken('nobody', 'wrong'))
        if (readSoapMessage(refused)?.fault?.code === 'MustUnderstand')
          trial.skip('the endpoint does not understand Security blocks')
        trial.expect(!isAnswer(refused), 'a token with a wrong password is refused', refused)
      }
      // Only once, since a service may count wrong passwords for a name.
      const caller = trial.bench.callers.find(({ password }) => password !== undefined)
      const [first] = probes
      if (!caller || !first) return
      const { endpoint, operation, body } = first
      const header = usernameToken(caller.name, `${caller.password}-wrong`)
      const named = await sendMessage(trial.bench, endpoint, { header, body }, { action: operation.action })
      trial.expect(!isAnswer(named), 'a token with a known name and another password is refused', named)
    },
  },
  {
    id: 'B5.2',
    says: 'UsernameToken, X.509 certificate, SAML assertion, Kerberos token',
    how: 'a UsernameToken of a caller is accepted without other credentials',
    probe: async (trial: Trial) => {
      const caller = trial.bench.callers.find(({ password }) => password !== undefined)
      if (!caller) trial.lack('a caller with a password: --caller; other tokens need a key that the service trusts')
      for (const { endpoint, operation, body } of await listProbeOperations(trial.bench)) {
        const header = usernameToken(caller.name, caller.password ?? '')
        const answered = await sendMessage(trial.bench, endpoint, { header, body }, { action: operation.action })
        if (readSoapMessage(answered)?.fault?.code === 'MustUnderstand')
          trial.skip('the endpoint does not understand Security blocks')
        trial.expect(isAnswer(answered), 'a valid UsernameToken is accepted', answered)
      }
    },
  },
  {
    id: 'B5.3',
    says: 'message-level protection survives a TLS-terminating gateway and can cover parts of a message',
    how: 'not probed from outside: it needs a gateway and a key',
    probe: (trial: Trial) => trial.lack('a gateway in front of the service, and a key that the service trusts'),
  },
  {
    id: 'B5.4',
    says: 'the element that was signed is the element that is processed: signature wrapping fails',
    how: 'the signed message of the profile with its Body moved into a block and a copy in its place, then unchanged: only the last one is accepted',
    probe: probeWrapping,
  },
  {
    id: 'B5.5',
    says: 'external entities, entity expansion, oversized messages, deep nesting, parser exhaustion are refused cheaply',
    how: 'messages with a DTD, with entities that expand a thousandfold, with 20,000 levels and with 5,000 attributes are refused within seconds',
    probe: async (trial: Trial) => {
      for (const { endpoint, as, operation } of await listProbeOperations(trial.bench))
        for (const [subject, text] of hostileMessages(endpoint)) {
          const refused = await sendMessage(trial.bench, endpoint, {}, { as, action: operation.action, text })
          trial.expect(refused.status >= 400, `${subject} is refused`, refused)
          trial.expect(refused.reply.tookMs < quickMs, `${subject} is refused within ${quickMs} ms`, refused)
        }
    },
  },
  {
    id: 'B7.1',
    says: 'the HTTP status is the transport’s outcome, the Fault the message’s',
    how: 'content of a media type that is not of SOAP is answered 4xx; no Fault of the run comes with a status of success',
    isPassive: true,
    probe: async (trial: Trial) => {
      for (const each of trial.bench.exchanges.filter(
        exchange => exchange.isSuccess && readSoapMessage(exchange)?.fault,
      ))
        trial.expect(false, `a Fault comes with ${each.status}`, each)
      for (const { endpoint, as } of await listProbeOperations(trial.bench)) {
        const refused = await sendMessage(
          trial.bench,
          endpoint,
          {},
          { as, text: 'probe', fields: { 'content-type': 'application/x-no-such-type' } },
        ).catch(requireUnreachable)
        const subject = 'a media type that is not of SOAP'
        if (refused instanceof Unreachable) trial.expect(false, `${subject} is answered: ${refused.message}`)
        else trial.expectStatus(refused, [415, 400, 406], subject)
      }
    },
  },
  {
    id: 'B7.2',
    says: 'raised before application logic: unsupported envelope namespace → VersionMismatch; mandatory block not understood → MustUnderstand; unknown encoding → DataEncodingUnknown; malformed XML or structure → Sender',
    how: 'a message of each kind: an Envelope of an unknown version, an unknown encodingStyle (1.2), XML that ends early, and, if they are refused with a Fault, Envelopes with parts that they must not have',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { words } = probe.endpoint
        const version = await sendChanged(trial, probe, undefined, { namespace: 'urn:example:soap-9.9' })
        expectCode(trial, version, ['VersionMismatch'], 'an unknown version')
        const text = `<s:Envelope xmlns:s="${words.namespace}"><s:Body>`
        const malformed = await sendMessage(
          trial.bench,
          probe.endpoint,
          {},
          { as: probe.as, action: probe.operation.action, text },
        )
        expectCode(trial, malformed, [words.sender], 'XML that ends early')
        if (words.number === '1.1') continue
        const body = probe.body.replace(/^<([^\s>]+)/, '<$1 s:encodingStyle="urn:example:encoding"')
        expectCode(
          trial,
          await sendChanged(trial, probe, undefined, { body }),
          ['DataEncodingUnknown'],
          'an unknown encoding',
        )
      }
      // B2.2 judges whether they are refused, B2.10 a code of another namespace.
      for (const { subject, words, answered, isUnknown } of await sendOddEnvelopes(trial.bench))
        if (!isUnknown && hasCodeOf(words, answered)) expectCode(trial, answered, [words.sender], subject)
    },
  },
  {
    id: 'B7.3',
    says: 'Sender: the message was at fault; Receiver: the node was',
    how: 'a message with an operation that does not exist is the sender’s fault; so is content that its schema does not allow, or that lacks what it requires, if it is refused with a Fault that the operation does not declare',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { endpoint, as, operation, body } = probe
        const refused = await sendMessage(trial.bench, endpoint, { body: unknownBody }, { as })
        if (hasCodeOf(endpoint.words, refused))
          expectCode(trial, refused, [endpoint.words.sender], 'an unknown operation')
        const strange = body.replace(/<\/[^<>]*>$/, end => `${writeBlock('Unexpected')}${end}`)
        const answered = await sendChanged(trial, probe, undefined, { body: strange })
        expectSender(trial, { endpoint, operation, answered }, 'content that the schema does not have')
      }
      for (const { endpoint, operation, as, body } of await collectFailures(trial.bench)) {
        const empty = body.replace(/^(<[^<>]*>).*(<\/[^<>]*>)$/s, '$1$2')
        const answered = await sendMessage(trial.bench, endpoint, { body: empty }, { as, action: operation.action })
        expectSender(trial, { endpoint, operation, answered }, 'content without what the schema requires')
      }
    },
  },
  {
    id: 'B7.4',
    says: 'application failures are carried in Detail; the contract says whether a missing record is a Fault or a response',
    how: 'a safe operation with an unknown identifier: a Fault has an element in Detail',
    probe: async (trial: Trial) => {
      const failures = await collectFailures(trial.bench)
      if (failures.length === 0) trial.skip('no safe operation answers an unknown identifier with a Fault')
      for (const { answered } of failures)
        trial.expect((readSoapMessage(answered)?.fault?.detail.length ?? 0) > 0, 'Detail has an element', answered)
    },
  },
  {
    id: 'B7.5',
    says: 'named faults are declared per operation in WSDL and map to typed exceptions in clients',
    how: 'the element in the Detail of a failure is one that the description declares for the operation, and is valid by its schema',
    probe: async (trial: Trial) => {
      const failures = await collectFailures(trial.bench)
      for (const { answered, endpoint, operation } of failures) {
        const [detail] = readSoapMessage(answered)?.fault?.detail ?? []
        if (!detail) continue
        const name = `{${detail.name.uri}}${detail.name.local}`
        if (isOfOtherVersion(trial.bench, endpoint, detail)) continue
        trial.expect(
          listDeclaredFaults(operation).includes(name),
          `${name} is declared for ${operation.name}`,
          answered,
        )
        const judged = listJudgedMessages(trial.bench).find(({ exchange }) => exchange === answered)
        const wrong = judged?.judge.findMismatch(detail)
        if (wrong !== undefined) trial.expect(false, `the Detail is valid by its schema: ${wrong}`, answered)
      }
      if (trial.findings.length === 0) trial.lack('a failure of an operation that changes nothing')
    },
  },
  {
    id: 'B9.1',
    says: 'an endpoint declares the SOAP versions it speaks; it answers in the request’s version; another is a VersionMismatch',
    how: 'the Envelope of each answer and each fault of the run, VersionMismatch apart, has the version of the request, and a Fault that of its Envelope; an Upgrade block of VersionMismatch names a version that the endpoint declares',
    isPassive: true,
    probe: async (trial: Trial) => {
      for (const { endpoint, answered } of await listProbeOperations(trial.bench)) {
        const number = readSoapMessage(answered)?.words.number
        trial.expect(
          number === endpoint.words.number,
          `SOAP ${endpoint.words.number} is answered in its version${number === endpoint.words.number ? '' : `, not ${number}`}`,
          answered,
        )
      }
      for (const each of trial.bench.exchanges) {
        const message = readSoapMessage(each)
        const requested = versionOfRequest(each)
        if (!message || requested === undefined || message.fault?.code === 'VersionMismatch') continue
        if (message.words.number !== requested)
          trial.expect(false, `a message of SOAP ${requested} is answered by one of SOAP ${message.words.number}`, each)
        if (hasForeignFault(message))
          trial.expect(false, `a Fault of SOAP ${requested} is of its Envelope’s version`, each)
      }
      expectDeclaredUpgrade(trial)
    },
  },
  {
    id: 'B9.2',
    says: 'renaming an element or changing its type is found as a breaking change',
    how: 'the WSDL documents describe what callers of those of an earlier release (--before) send, and nothing that they cannot read',
    probe: expectSoapKept,
  },
  {
    id: 'B9.3',
    says: 'service versions have versioned XML namespaces; v1 and v2 are served side by side, each with its contract',
    how: 'documents for several versions have several namespaces, and a message of one is refused by the other, in either direction; no answer and no Detail of the run has the elements of another version',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { soap } = trial.bench.service
      const versions = soap.filter(each => each.document && each.endpoints.length > 0)
      const namespaces = new Set(versions.map(({ document }) => document?.targetNamespace))
      if (namespaces.size < 2) trial.lack('the descriptions of two versions: --wsdl, twice')
      for (const probe of await listProbeOperations(trial.bench)) {
        const other = findOtherVersion(trial.bench, probe.endpoint)
        if (!other) continue
        const [theirs] = await findSafeOperations(trial.bench, other)
        await expectStranger(trial, probe, other)
        if (theirs) await expectStranger(trial, theirs, probe.endpoint)
      }
      for (const { exchange, endpoint, message } of listJudgedMessages(trial.bench)) {
        const shown = message.fault ? message.fault.detail[0] : message.child
        if (shown && isOfOtherVersion(trial.bench, endpoint, shown))
          trial.expect(false, `${endpoint.path} answers with {${shown.name.uri}}${shown.name.local}`, exchange)
      }
    },
  },
]

/** A mandatory Security block; without a password it has no Password element either. */
export function usernameToken(name: string, password: string | undefined): string {
  const secret = password === undefined ? '' : `<w:Password Type="${passwordText}">${escapeText(password)}</w:Password>`
  return `<w:Security xmlns:w="${wsse}" s:mustUnderstand="1"><w:UsernameToken><w:Username>${escapeText(name)}</w:Username>${secret}</w:UsernameToken></w:Security>`
}

/** The version of the Envelope that was sent; undefined: neither version. */
function versionOfRequest({ request }: ProbeExchange): '1.1' | '1.2' | undefined {
  const [, uri] = /<(?:[\w-]+:)?Envelope[^>]*? xmlns(?::[\w-]+)?="([^"]*)"/.exec(decodeLatin(request.content)) ?? []
  return Object.values(soapWords).find(({ namespace }) => namespace === uri)?.number
}
const decodeLatin = (octets: Uint8Array | undefined): string => Buffer.from(octets ?? []).toString('latin1', 0, 1000)

/** Whether it is a Fault with a code of this version. */
const hasCodeOf = ({ faultCodes }: SoapWords, answered: ProbeExchange): boolean =>
  faultCodes.includes(readSoapMessage(answered)?.fault?.code ?? '')

const listDeclaredFaults = ({ faults }: WsdlOperation): readonly (string | undefined)[] =>
  faults.flatMap(({ parts }) => parts.map(({ element }) => element))

/** A service may accept it, and a declared Fault belongs to the application. */
function expectSender(
  trial: Trial,
  { endpoint, operation, answered }: Pick<ProbeOperation, 'endpoint' | 'operation' | 'answered'>,
  subject: string,
): void {
  const [detail] = readSoapMessage(answered)?.fault?.detail ?? []
  const isDeclared = detail && listDeclaredFaults(operation).includes(`{${detail.name.uri}}${detail.name.local}`)
  if (hasCodeOf(endpoint.words, answered) && !isDeclared) expectCode(trial, answered, [endpoint.words.sender], subject)
}

function expectCode(trial: Trial, exchange: ProbeExchange, codes: readonly string[], subject: string): void {
  const code = readSoapMessage(exchange)?.fault?.code
  const isOne = code !== undefined && codes.includes(code)
  trial.expect(
    isOne,
    `${subject} gives ${codes.join(' or ')}${isOne ? '' : `, not ${code ?? exchange.status}`}`,
    exchange,
  )
}

/** An endpoint with the same version of SOAP and another version of the service. */
const findOtherVersion = ({ service }: Bench, { words, document }: SoapEndpointTarget) =>
  service.soap
    .flatMap(({ endpoints }) => endpoints)
    .find(each => each.words === words && each.document.targetNamespace !== document.targetNamespace)

async function expectStranger(trial: Trial, { body, as }: ProbeOperation, at: SoapEndpointTarget): Promise<void> {
  const refused = await sendMessage(trial.bench, at, { body }, { as })
  trial.expect(!isAnswer(refused), 'a message of one version is refused by the other', refused)
}

function expectDeclaredUpgrade(trial: Trial): void {
  const { service, exchanges } = trial.bench
  const declared = Map.groupBy(
    service.soap.flatMap(each => each.endpoints),
    ({ path }) => path,
  )
  for (const each of exchanges) {
    const message = readSoapMessage(each)
    const endpoints = declared.get(each.request.target)
    const supported = message?.fault?.code === 'VersionMismatch' ? listSupported(message) : []
    if (!endpoints || supported.length === 0) continue
    const isDeclared = endpoints.some(({ words }) => supported.includes(`{${words.namespace}}Envelope`))
    if (!isDeclared) trial.expect(false, `Upgrade names a version of ${each.request.target}, not ${supported}`, each)
  }
}

/** Harmless attacks on the parser: each is small, and none names an address. */
function hostileMessages({ words }: Pick<SoapEndpointTarget, 'words'>): readonly (readonly [string, string])[] {
  const envelope = (body: string): string =>
    `<s:Envelope xmlns:s="${words.namespace}"><s:Body>${body}</s:Body></s:Envelope>`
  const entities = ['a', 'b', 'c', 'd'].map(
    (name, at, all) => `<!ENTITY ${name} "${at === 0 ? 'probe' : `&${all[at - 1]};`.repeat(10)}">`,
  )
  return [
    ['a DTD', `<!DOCTYPE s:Envelope>${envelope('<a/>')}`],
    ['an external entity', `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///dev/null">]>${envelope('<a>&x;</a>')}`],
    ['an expanding entity', `<!DOCTYPE a [${entities.join('')}]>${envelope('<a>&d;</a>')}`],
    ['deep nesting', envelope(`${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`)],
    [
      'an element with 5,000 attributes',
      envelope(`<a ${Array.from({ length: 5000 }, (_, at) => `b${at}=""`).join(' ')}/>`),
    ],
  ]
}
