/** Pages about all operations: rights, refusals, headers, message security, ports. */
import { escapeMarkup } from '../base/markup.ts'
import { hasAttachedParts, mayReferToParts, splitBody } from '../contract/attached-parts.ts'
import {
  type AttachmentForm,
  type CallerProof,
  type ExchangeSecurity,
  endpointsOf,
  type NamingForm,
  proofOf,
  type SecurityRule,
  type ServedEndpoint,
} from '../contract/endpoint-rule.ts'
import { type ExchangeBody, portPath } from '../contract/exchange.ts'
import { builtInFaults, declaredFaults, type Fault } from '../contract/fault.ts'
import { fieldOfHeader, headersOf, type NamedHeader } from '../contract/header.ts'
import type { DeclaredOperation } from '../contract/operation.ts'
import { describeGrantee } from '../contract/operation-texts.ts'
import { listRoles } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { buildElement, type PageMarkup, writeParagraph, writeSection } from '../html/element.ts'
import { writeRowTable } from '../html/value-views.ts'
import { explainProblem } from '../rest/problem.ts'
import { type RefusalKind, statusOf } from '../rest/refusal.ts'
import { codeOf } from '../soap/refusal.ts'
import { writeFieldTable } from './field-rows.ts'
import { writeCode, writeText } from './operation-page.ts'
import { type DescribedEdition, type SitePage, sitePlaces } from './site-frame.ts'

const trail = [{ href: sitePlaces.start, text: 'Start' }]

/** Roles and the operations that they may request; a status if no grant fits. */
export function buildAccessPage(
  operations: readonly DeclaredOperation[],
  roles: readonly string[] | undefined,
): SitePage {
  const columns = ['*', ...listRoles(operations.flatMap(({ grants }) => grants))]
  const rows = operations.map(operation => [
    writeCode(operation.name),
    ...columns.map(role => writeRight(operation, role)),
  ])
  const main = [
    writeText(
      'Rights are the same in both faces. If a caller may reach only its own items, all others do not exist for it: 404 and the fault NotFound. 401 requests credentials, 403 says that those sent do not suffice.',
    ),
    roles === undefined
      ? ''
      : writeText(`This site is for ${roles.join(', ')}: it describes what these roles may request.`),
    writeRowTable(
      [
        { name: 'operation' },
        ...columns.map(role => ({
          name: role === '*' ? 'anyone' : role,
          head: escapeMarkup(role === '*' ? 'anyone' : role),
        })),
      ],
      rows,
    ),
  ].join('\n')
  return { path: sitePlaces.access, title: 'Who may do what', main, trail }
}
function writeRight({ grants }: DeclaredOperation, role: string): PageMarkup {
  const fitting = grants.filter(grant => grant.role === role || grant.role === '*')
  if (fitting.length === 0) return buildElement('span', { class: 'no' }, role === '*' ? '– 401' : '– 403')
  const limits = fitting.map(grant => describeGrantee(grant).replace(/^\S+(?: where )?/, ''))
  const isFree = limits.some(each => each === '')
  return buildElement(
    'span',
    { class: 'yes' },
    isFree ? '✓ yes' : escapeMarkup(`✓ if ${[...new Set(limits)].join(' or ')}`),
  )
}

/** The twin tables of both faces, joined; faults of the contract come first. */
export function buildRefusalPage(service: Service, operations: readonly DeclaredOperation[]): SitePage {
  const used = new Set(operations.flatMap(({ faults }) => faults.map(each => each.fault)))
  const own = declaredFaults(service).filter(each => used.has(each.fault))
  const kinds = (Object.keys(statusOf) as RefusalKind[]).filter(kind => kind !== 'declared')
  const rows = kinds.map(kind => {
    const [title = '', advice = ''] = explainProblem(kind, []) ?? []
    const code = Object.hasOwn(codeOf, kind) ? codeOf[kind as keyof typeof codeOf] : undefined // hasOwn: it is a kind
    return [
      writeCode(`/problems/${kind}`),
      String(statusOf[kind]),
      code ?? 'by HTTP alone',
      escapeMarkup(`${title}. ${advice}`),
    ]
  })
  const main = [
    writeText(
      'A refusal is a problem of RFC 9457 in HTTP, with its address as the type, and a fault in SOAP. Each refusal that callers should handle has the same name in both.',
    ),
    writeSection('Faults of this service', {}, ...own.map(writeFault)),
    writeSection('Faults of every service', {}, ...builtInFaults.map(writeFault)),
    writeSection(
      'Other refusals',
      {},
      writeRowTable(
        [{ name: 'problem type' }, { name: 'status' }, { name: 'code of SOAP' }, { name: 'meaning' }],
        rows,
      ),
    ),
  ].join('\n')
  return { path: sitePlaces.refusals, title: 'Faults and problems', main, trail }
}
const writeFault = ({ fault, status, title, detail }: Fault): PageMarkup =>
  buildElement(
    'section',
    { id: fault, class: 'panel' },
    buildElement('h3', {}, escapeMarkup(fault)),
    writeText(`${title}. Status ${status} in HTTP, code ${status >= 500 ? 'Receiver' : 'Sender'} in SOAP.`),
    writeFieldTable(detail),
  )

/** Undefined if there are no headers. */
export function buildHeaderPage(service: Service): SitePage | undefined {
  const all = headersOf(service)
  if (all.length === 0) return undefined
  const main = [
    writeText(
      'Data that travels with a message and is not part of its content: a header block in SOAP, a field in HTTP.',
    ),
    ...all.map(writeHeaderPanel),
  ].join('\n')
  return { path: sitePlaces.headers, title: 'Headers', main, trail }
}
function writeHeaderPanel(header: NamedHeader): PageMarkup {
  const { name, uri, direction, operations, versions, role, isMandatory, isRequired, field, content } = header
  const lines = [
    `Element ${name} of the namespace ${uri}.`,
    field === undefined ? 'HTTP has no field for it.' : `Field ${field} in HTTP.`,
    {
      request: 'It is sent with requests.',
      response: 'It is sent with answers.',
      both: 'Requests and answers have it.',
    }[direction],
    isRequired ? 'A request without it is refused.' : '',
    isMandatory ? 'Its sender marks it with mustUnderstand.' : '',
    role === undefined ? '' : `It is for the role ${role}.`,
    operations ? `Operations: ${operations.join(', ')}.` : '',
    versions ? `Versions: ${versions.join(', ')}.` : '',
    content === 'xml' ? 'It holds any XML.' : '',
  ].filter(line => line !== '')
  return buildElement(
    'section',
    { id: name, class: 'panel' },
    buildElement('h2', {}, escapeMarkup(name)),
    writeText(lines.join(' ')),
    content === 'xml' ? '' : writeFieldTable({ [name]: fieldOfHeader(header) }),
  )
}

/** The proofs that messages need, for each endpoint that demands any; undefined if none does. */
export function buildSecurityPage(service: Service, editions: readonly DescribedEdition[]): SitePage | undefined {
  const operationsOf = (version: string) => editions.find(each => each.version === version)?.operations ?? []
  const namesOf = (version: string) => operationsOf(version).flatMap(each => (each.message ? [each.name] : []))
  const secured = [
    ...endpointsOf(service).map(({ path, version, security }) => ({
      ...{ path, security, names: namesOf(version), attaching: [] }, // only ports have attachments
    })),
    ...service.ports.flatMap(port => {
      const names = Object.keys(port.exchanges).filter(name => port.exchanges[name]!.allow.length > 0)
      const attaching = names.filter(name => hasAttachedParts(port.exchanges[name]!))
      return names.length > 0 ? [{ path: portPath(port), security: port.security, names, attaching }] : []
    }),
  ].filter(({ security }) => security !== undefined)
  if (secured.length === 0) return undefined
  const main = [
    writeText(
      'Messages to these endpoints prove their sender by WS-Security 1.1. The WSDL of each states the same as WS-SecurityPolicy, for tools that read it.',
    ),
    ...secured.map(writeSecuredEndpoint),
  ].join('\n')
  return { path: sitePlaces.security, title: 'Message security', main, trail }
}
interface SecuredPlace extends Pick<ServedEndpoint, 'path' | 'security'> {
  /** The operations that readers may know of. */
  readonly names: readonly string[]
  /** Those of them that have attachments. */
  readonly attaching: readonly string[]
}

function writeSecuredEndpoint({ path, security, names, attaching }: SecuredPlace): PageMarkup {
  const heading = `POST ${path}`
  if (security === 'settings' || security === undefined)
    return writeSection(
      heading,
      {},
      writeText(
        'The settings of the server say what a message must prove here; a UsernameToken with a password over TLS is accepted unless they say otherwise. Ask the operator which certificates and tokens are trusted.',
      ),
    )
  const own = Object.entries(security.operations ?? {}).filter(([name]) => names.includes(name))
  const isCommon = (name: string) => own.every(([other]) => other !== name)
  return writeSection(
    heading,
    {},
    writeExchangeRule('Every message', security, attaching.some(isCommon)),
    ...own.map(([name, rule]) =>
      rule === 'none'
        ? [buildElement('h3', {}, escapeMarkup(name)), writeText('Its messages need no proof.')].join('')
        : writeExchangeRule(name, rule, attaching.includes(name)),
    ),
  )
}
function writeExchangeRule(
  title: string,
  {
    callers,
    encrypted,
    answers,
    confirmed,
    symmetric,
    attachments = 'content',
    suite,
    unsent = [],
    reference = 'thumbprint',
    protectTokens,
    timestamp,
  }: ExchangeSecurity | SecurityRule,
  mayAttach: boolean,
): PageMarkup {
  const texts = (symmetric ? answersByExchangeKey : answersByCertificate)[confirmed === false ? 'loose' : 'confirmed']
  const answer = answers ? texts[answers] : 'Answers carry no proof.'
  return [
    buildElement('h3', {}, escapeMarkup(title)),
    writeText('One of these identifies the sender; the first one that a message satisfies counts.'),
    buildElement('ul', {}, ...callers.map(each => buildElement('li', {}, escapeMarkup(describeProof(proofOf(each)))))),
    ...(symmetric ? [writeText(exchangeKeyTexts[symmetric])] : []),
    writeText(
      encrypted
        ? `The content of the Body is encrypted ${symmetric ? 'by such a key' : 'to the certificate of the service'}.`
        : 'Nothing has to be encrypted; use TLS.',
    ),
    ...(mayAttach ? [writeText(attachmentTexts[attachments])] : []),
    ...(suite ? [writeText(`The algorithms are those of ${suite} (WS-SecurityPolicy §6.1).`)] : []),
    ...(unsent.length > 0
      ? [
          writeText(
            `Messages name the certificate of the ${unsent.join(' and that of the ')}, by ${namingTexts[reference]}, and do not carry it: exchange certificates in advance.`,
          ),
        ]
      : []),
    ...(protectTokens
      ? [writeText('Each signature also covers the token that made it (WS-SecurityPolicy §6.5, ProtectTokens).')]
      : []),
    ...(timestamp ? [writeText('Requests and answers have a Timestamp, although nothing signs it.')] : []),
    writeText(answer),
  ].join('')
}

const namingTexts: Readonly<Record<NamingForm, string>> = {
  thumbprint: 'its thumbprint',
  'issuer-serial': 'issuer and serial number',
  'key-identifier': 'its key identifier',
}
const attachmentTexts: Readonly<Record<AttachmentForm, string>> = {
  content:
    'If the Body is signed, so is the content of each attachment; if the Body is encrypted, so is that content (SwA Profile 1.1 §5).',
  complete:
    'If the Body is signed, so is each attachment, its content and the fields that describe it; if the Body is encrypted, so is that content (SwA Profile 1.1 §5).',
}
const exchangeKeyTexts = {
  direct:
    'A key that is made for each exchange, and sent encrypted to the certificate of the service, signs the message by HMAC; the signature of the sender endorses that signature (WS-SecurityPolicy §7.4).',
  derived:
    'Keys derived from one that is made for each exchange, and sent encrypted to the certificate of the service, sign the message by HMAC; the signature of the sender endorses that signature (WS-SecurityPolicy §7.4, RequireDerivedKeys).',
} as const
const answersByExchangeKey = {
  confirmed: {
    signed:
      'Answers are signed by the same key in the same way, and confirm the signatures of the request (WSS 1.1 §8.5).',
    encrypted:
      'Answers are signed and encrypted by the same key in the same way, and confirm the signatures of the request (WSS 1.1 §8.5).',
  },
  loose: {
    signed:
      'Answers are signed by the same key in the same way, without SignatureConfirmation: the key ties them to the request.',
    encrypted:
      'Answers are signed and encrypted by the same key in the same way, without SignatureConfirmation: the key ties them to the request.',
  },
} as const
const looseText =
  'They have no SignatureConfirmation: use WS-Addressing, whose RelatesTo they sign, to tell which request they answer.'
const answersByCertificate = {
  confirmed: {
    signed: 'Answers are signed by the service, and confirm the signature of the request (WSS 1.1 §8.5).',
    encrypted:
      'Answers are signed by the service, confirm the signature of the request, and have a Body that is encrypted to the certificate that signed it.',
  },
  loose: {
    signed: `Answers are signed by the service. ${looseText}`,
    encrypted: `Answers are signed by the service, and have a Body that is encrypted to the certificate that signed the request. ${looseText}`,
  },
} as const

const proofTexts: Readonly<Record<CallerProof['by'], string>> = {
  username: 'A UsernameToken',
  x509: 'An X.509 certificate as a BinarySecurityToken, whose key signs',
  saml: 'A SAML assertion',
  kerberos: 'A Kerberos ticket',
  secret: 'A shared secret, whose key signs',
}
function describeProof({ by, passwords, confirmations, signed }: ReturnType<typeof proofOf>): string {
  const password = by === 'username' ? ` with a password as ${(passwords ?? ['text', 'digest']).join(' or ')}` : ''
  const confirmed = confirmations ? ` confirmed as ${confirmations.join(' or ')}` : ''
  const covers = signed
    ? '; a signature covers the Body, the Timestamp, the token and every header block that is processed'
    : '; nothing has to be signed'
  return `${proofTexts[by]}${password}${confirmed}${covers}.`
}

/** Operations whose messages another party has designed; undefined if there are none. */
export function buildPortPage({ ports }: Service): SitePage | undefined {
  const callable = ports.filter(({ exchanges }) => Object.values(exchanges).some(({ allow }) => allow.length > 0))
  if (callable.length === 0) return undefined
  const sections = callable.map(({ port, namespace, names, soap, description, exchanges }) => {
    const rows = Object.entries(exchanges)
      .filter(([, { allow }]) => allow.length > 0)
      .map(([name, { style, action, input, output, faults, allow }]) => [
        writeCode(name),
        style,
        writeCode(action),
        output === undefined ? 'one-way' : 'answered',
        describeAttachments(input, output ?? 'empty'),
        escapeMarkup(Object.keys(faults).join(', ')),
        escapeMarkup(allow.map(describeGrantee).join('; ')),
      ])
    return writeSection(
      port,
      {},
      writeParagraph(description),
      writeText(
        `Port type ${names.portType} of the service ${names.service}, namespace ${namespace}, SOAP ${soap === 'both' ? '1.1 and 1.2' : soap}. Its WSDL has all messages.`,
      ),
      writeRowTable(
        [
          { name: 'operation' },
          { name: 'style' },
          { name: 'action' },
          { name: 'answer' },
          { name: 'attachments' },
          { name: 'faults' },
          { name: 'allowed to' },
        ],
        rows,
      ),
    )
  })
  return { path: sitePlaces.ports, title: 'Ports of others', main: sections.join('\n'), trail }
}

/** Parts next to the envelopes of an exchange, with the media types that they may have. */
function describeAttachments(input: ExchangeBody, output: ExchangeBody): PageMarkup {
  const described = [
    ['request', input],
    ['answer', output],
  ] as const
  return described
    .flatMap(([message, body]) => {
      const parts = splitBody(body).attached.map(({ name, mediaTypes }) =>
        [writeCode(name), ...(mediaTypes.length > 0 ? [` (${escapeMarkup(mediaTypes.join(', '))})`] : [])].join(''),
      )
      const all = mayReferToParts(body) ? [...parts, 'those that it refers to (swaRef)'] : parts
      return all.length > 0 ? [`${message}: ${all.join(', ')}`] : []
    })
    .join('; ')
}
