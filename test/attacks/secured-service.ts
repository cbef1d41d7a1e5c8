/**
 * A service with an endpoint for each way in which messages may prove themselves, over a socket;
 * and the honest messages that attacks begin with. Its keys are those of `test/security/keys`.
 */
import assert from 'node:assert/strict'
import { createHash, createHmac, createSecretKey, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { ServeOptions } from '../../src/host/serve.ts'
import { header, implement, resource, role, service, t } from '../../src/index.ts'
import { suiteCipher, suiteTransport } from '../../src/security/policy/algorithm-suite.ts'
import type { CoveredPart } from '../../src/security/policy/policy.ts'
import { type Protected, type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { SignedInfoName, wsuId } from '../../src/security/vocabulary.ts'
import { canonicalize, type Element, internName, Malformed, parseXml } from '../../src/xml/index.ts'
import { type Answer, startHosted } from '../host/hosted-service.ts'
import { issueAssertion, writeAssertion, writeKeyInfo } from '../security/assertion.ts'
import { keyPair, soap11Uri, soap12Uri, now as start } from '../security/message.ts'

const partner = role('partner')
const notes = resource('notes', {
  fields: { id: t.id('n'), text: t.string({ max: 10_000 }), by: t.string().readOnly() },
}).rules({ allow: { read: [partner], create: [partner] } })

const saml = (...confirmations: readonly ('bearer' | 'holder-of-key' | 'sender-vouches')[]): SecurityRule => ({
  callers: [{ by: 'saml', confirmations, signed: !confirmations.includes('bearer') }],
})
const rules = {
  signed: { callers: ['x509'], answers: 'signed' },
  protected: { callers: ['x509'], answers: 'signed', protectTokens: true },
  sealed: { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  direct: { callers: ['x509'], symmetric: 'direct', encrypted: true, answers: 'encrypted' },
  derived: { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
  named: { callers: ['username'] },
  vouchedName: { callers: [{ by: 'username', signed: true }] },
  bearer: saml('bearer'),
  holder: saml('holder-of-key'),
  vouched: saml('sender-vouches'),
  secret: { callers: ['secret'] },
} as const satisfies Record<string, SecurityRule>

export type Shape = keyof typeof rules | 'settings' | 'open'
export const shapes = [...Object.keys(rules), 'settings', 'open'] as readonly Shape[]

export const ns = 'urn:example:notes'
const contract = service('notes', {
  namespace: ns,
  resources: [notes],
  headers: { Branch: header(t.string()) },
  endpoints: {
    '/open': {},
    '/settings': { security: 'settings' },
    ...Object.fromEntries(Object.entries(rules).map(([shape, security]) => [`/${shape}`, { security }])),
  },
})

const file = (name: string, kind: string) =>
  join(import.meta.dirname, '..', 'security', 'keys', `test-only-${name}.${kind}.pem`)
const filesOf = (name: string) => ({ key: file(name, 'key'), certificate: file(name, 'cert') })

/** The caller, a trusted party besides, one that nobody knows, and the two pairs of the service. */
export const [caller, other, stranger, signer, receiver] = (['leaf', 'plain', 'stranger', 'alice', 'bob'] as const).map(
  name => keyPair(name),
) as [Pair, Pair, Pair, Pair, Pair]
type Pair = ReturnType<typeof keyPair>
const [ca, between] = [keyPair('ca'), keyPair('between')]
const audience = 'urn:service'
export const secret = createSecretKey(Buffer.alloc(32, 7))

/** The service, its time, and what it has done. */
export async function startSecured(options: ServeOptions = {}) {
  const performed: string[] = []
  const app = implement(
    contract,
    {
      notes: {
        derive: (ctx, { text }, current) => {
          const by = current?.by ?? ctx.caller.subject ?? ''
          performed.push(`${by}: ${text}`)
          return { by }
        },
      },
    },
    {
      seed: () => ({
        people: ['leaf', 'plain'].map(subject => ({ subject, password: `${subject}-secret`, roles: ['partner'] })),
      }),
    },
  )
  const world = { now: start }
  const hosted = await startHosted(
    {
      clock: () => world.now,
      messageSecurity: {
        authorities: [ca.pem],
        intermediates: [between.pem],
        keyFiles: [filesOf('alice'), filesOf('bob')],
        means: {
          secrets: { leaf: secret.export() },
          saml: {
            audiences: [audience],
            issuers: [{ name: 'urn:issuer', certificates: [ca.pem], people: 'same' }],
            vouchers: { certificates: [caller.pem] },
          },
        },
      },
      ...options,
    },
    app as never,
  )
  return { ...hosted, performed, world }
}
export type Secured = Awaited<ReturnType<typeof startSecured>>

export interface Said {
  readonly text?: string
  readonly soap?: '1.1' | '1.2'
  /** Header blocks. */
  readonly blocks?: string
  readonly body?: string
  /** Whose message it is. */
  readonly by?: Pair
  readonly now?: number
  /** In place of what is usual for the shape, or besides it. */
  readonly more?: Protection
}

export const createNote = (text: string): string =>
  `<n:CreateNote xmlns:n="${ns}:v1"><n:note><n:text>${text}</n:text></n:note></n:CreateNote>`
const branch = `<n:Branch xmlns:n="${ns}">0042</n:Branch>`

const parts: readonly CoveredPart[] = ['Headers', 'Timestamp', 'Body']
const signatureOf = ({ key, certificate }: Pair, more: readonly CoveredPart[] = []) => ({
  signature: { key, by: { certificate, refer: 'direct' as const }, parts: [...parts, ...more] },
})
const encryption = {
  to: receiver.certificate,
  parts: ['Body'],
  cipher: suiteCipher,
  transport: suiteTransport,
} as const
const assertionOf = (method: 'bearer' | 'holder-of-key' | 'sender-vouches', at: number, keyInfo = '') =>
  issueAssertion(
    writeAssertion({ subject: 'leaf', method, at, keyInfo, signer: undefined, id: `a${serial++}` }),
    'ca',
    `a${serial - 1}`,
  )
let serial = 0

/** What an honest sender adds for each shape. */
const protections: Readonly<Record<Shape, (by: Pair, now: number) => Protection>> = {
  signed: by => signatureOf(by),
  protected: by => signatureOf(by, ['SigningToken']),
  settings: by => signatureOf(by),
  open: by => signatureOf(by),
  sealed: by => ({ ...signatureOf(by), encryption, encryptsFirst: true }),
  direct: by => ({
    exchange: { to: receiver.certificate, form: 'direct', signed: parts, encrypts: true, endorsedBy: by },
  }),
  derived: by => ({
    exchange: { to: receiver.certificate, form: 'derived', signed: parts, encrypts: true, endorsedBy: by },
  }),
  named: () => ({ username: { name: 'leaf', password: 'leaf-secret', kind: 'digest' } }),
  vouchedName: by => ({
    username: { name: 'leaf', password: 'leaf-secret', kind: 'digest' },
    ...signatureOf(by, ['Token']),
  }),
  bearer: (_by, now) => ({ assertion: assertionOf('bearer', now) }),
  holder: ({ key }, now) => ({
    assertion: assertionOf('holder-of-key', now, writeKeyInfo('leaf', 'certificate')),
    signature: { key, by: 'assertion', parts },
  }),
  vouched: (by, now) => ({ assertion: assertionOf('sender-vouches', now), ...signatureOf(by, ['Token']) }),
  secret: () => ({ signature: { key: secret, by: { name: 'leaf' }, parts } }),
}

/** An honest message of a shape, with what an answer to it has to confirm. */
export function protectNote(shape: Shape, said: Said = {}): Protected {
  const { text = 'genuine', soap = '1.2', by = caller, now = start, blocks = branch, more } = said
  const { body = createNote(text) } = said
  const envelope = `<s:Envelope xmlns:s="${soap === '1.1' ? soap11Uri : soap12Uri}"><s:Header>${blocks}</s:Header><s:Body>${body}</s:Body></s:Envelope>`
  return protectMessage(envelope, { timestamp: {}, ...protections[shape](by, now), ...more }, now)
}
export const writeNote = (shape: Shape, said: Said = {}): string => protectNote(shape, said).envelope

/** Sends a message as SOAP of its version. */
export function sendNote({ ask }: Pick<Secured, 'ask'>, shape: Shape, message: string, fields = {}): Promise<Answer> {
  const type = message.includes(soap11Uri) ? 'text/xml' : 'application/soap+xml'
  return ask('POST', `/${shape}`, { 'content-type': `${type}; charset=utf-8`, ...fields }, message)
}

/**
 * The message after a change, with digests that are right again, and one SignatureValue.
 * @param at of which Signature, in their order
 */
export function signAnew(text: string, key: KeyObject, at = 0): string {
  const digested = text.replace(/<ds:Reference URI="#([^"]*)">.*?<\/ds:Reference>/gs, (reference, id) => {
    const [target] = findElements(text, each => each.attribute(wsuId) === id || each.attribute(idName) === id)
    const value = target && createHash('sha256').update(canonicalOf(target)).digest('base64')
    return value === undefined ? reference : reference.replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>${value}`)
  })
  const signedInfo = findElements(digested, ({ name }) => name === SignedInfoName)[at]
  const octets = Buffer.from(canonicalOf(signedInfo ?? assert.fail('no SignedInfo')))
  const value = key.type === 'secret' ? createHmac('sha256', key).update(octets).digest() : sign('sha256', octets, key)
  let next = 0
  return digested.replace(/<ds:SignatureValue>[^<]*/g, whole =>
    next++ === at ? `<ds:SignatureValue>${value.toString('base64')}` : whole,
  )
}
const idName = internName('', 'Id')
const canonicalOf = (element: Element) => canonicalize(element, { exclusive: true, comments: false })

function findElements(text: string, holds: (element: Element) => boolean): readonly Element[] {
  const document = parseXml(Buffer.from(text))
  assert.ok(!(document instanceof Malformed), String((document as Malformed).reason))
  const find = (element: Element): Element[] => [
    ...(holds(element) ? [element] : []),
    ...element.elements().flatMap(find),
  ]
  return find(document.root)
}
