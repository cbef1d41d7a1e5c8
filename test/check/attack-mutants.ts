/** For each attack, the orders service with a hole that lets it through. */
import { setTimeout } from 'node:timers/promises'
import { type CheckProfile, type Conversation, type ProbeTransport, Unreachable } from '../../src/check/index.ts'
import {
  acceptedInstead,
  changing,
  content,
  isSoap,
  json,
  type Mutant,
  type Mutation,
  mutant,
  type Seen,
  sends,
  sentText,
  status,
  text,
  withField,
  writeEnvelope,
} from './mutation.ts'
import { ordersOptions, type Serve } from './orders-in-memory.ts'

const signature = '<w:Security xmlns:w="urn:example:signed"/>'
const wsu = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd'

/** With a message that is taken for signed. */
export const attackProfile: CheckProfile = {
  ...ordersOptions.profile,
  signedMessage: {
    path: '/soap/v2',
    fields: { 'content-type': 'application/soap+xml; charset=utf-8' },
    xml: `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:u="${wsu}"><s:Header>${signature}</s:Header><s:Body u:Id="body-1"><GetProduct xmlns="urn:example:orders:v2"><id>p-1</id></GetProduct></s:Body></s:Envelope>`,
  },
}

/** Takes that message for signed, as long as its Body is where it was. */
export const serveSignedMessages =
  (serve: Serve): Serve =>
  async request => {
    if (!(await sentText(request)).includes(signature)) return serve(request)
    const isWrapped = (await sentText(request)).includes('x:Wrapper')
    const answer = isWrapped ? '<a/>' : '<GetProductResponse xmlns="urn:example:orders:v2"/>'
    const seen = { sent: 'http://www.w3.org/2003/05/soap-envelope' } as Seen
    return {
      status: isWrapped ? 400 : 200,
      fields: { 'content-type': 'application/soap+xml; charset=utf-8' },
      content: writeEnvelope(seen, answer),
    }
  }

/** Asks for the address in a message that has this path. */
const fetching =
  (path: string): Mutation =>
  serve =>
  async request => {
    const [address] = new RegExp(`http://127\\.0\\.0\\.1:\\d+/${path}`).exec(await sentText(request)) ?? []
    if (address !== undefined) await fetch(address)
    return serve(request)
  }

/** No response comes to requests that match. */
export const ending =
  (matches: (seen: Seen) => boolean): Mutation =>
  serve =>
    changing(matches, () => {
      throw new Unreachable('the connection closed without a response')
    })(serve)

const asks =
  (pattern: RegExp) =>
  ({ path, query }: Seen) =>
    pattern.test(`${path}?${query}`)
const asJson = withField('content-type', 'application/json')

/** What is seen from `begins` on is answered otherwise. */
function since(
  begins: (seen: Seen) => boolean,
  matches: (seen: Seen) => boolean,
  ...changes: Parameters<typeof changing>[1][]
): Mutation {
  let hasBegun = false
  return changing(
    seen => {
      hasBegun ||= begins(seen)
      return hasBegun && matches(seen)
    },
    ...changes,
  )
}

export const attackMutants: readonly Mutant[] = [
  mutant('D1.9', 'a line break in a target writes a field', () =>
    changing(asks(/%0d%0ax-probe-split/), withField('x-probe-split', '1')),
  ),
  mutant('D1.10', 'a page shows the path as it is', () =>
    changing(asks(/%3Cscript/), content('<p><script>alert(7)</script></p>'), withField('content-type', 'text/html')),
  ),
  mutant('D1.11', 'two dots lead out of the service', () =>
    changing(asks(/%2e%2e\/etc\/passwd/), content('root:x:0:0:root:/root:/bin/sh')),
  ),
  mutant('D1.12', 'any origin is let in with credentials', () =>
    changing(
      ({ fields }) => fields['origin'] !== undefined,
      seen => withField('access-control-allow-origin', seen.fields['origin'] ?? '')(seen),
      withField('access-control-allow-credentials', 'true'),
    ),
  ),
  mutant('D1.13', 'two slashes are a host', () =>
    changing(asks(/^\/\/attacker/), status(302), withField('location', '//attacker.example/')),
  ),
  mutant('D1.14', 'each range is a copy', () =>
    changing(({ fields }) => /0-,0-/.test(fields['range'] ?? ''), status(206), content('a'.repeat(200_000))),
  ),
  mutant('D1.15', 'an attack stops the service', () =>
    since(({ fields }) => fields['content-encoding'] === 'gzip', asks(/^\/\?$/), status(503)),
  ),
  mutant('D1.15', 'an attack ends the service', () => {
    let hasEnded = false
    return ending(({ path, query, fields }) => {
      hasEnded ||= fields['content-encoding'] === 'gzip'
      return hasEnded && path === '/' && query === ''
    })
  }),
  mutant('D2.1', 'an operator in a query breaks the service', () => changing(asks(/%7B%22%24ne/), status(500))),
  mutant('D2.2', 'a token without a signature is believed', () =>
    changing(seen => /^Bearer ey/.test(seen.fields['authorization'] ?? ''), status(200)),
  ),
  mutant('D2.3', 'deep JSON breaks the service', () => changing(({ sent }) => /\[{99}/.test(sent), status(500))),
  mutant('D2.4', '__proto__ is inherited by all', () =>
    since(
      ({ sent }) => /"__proto__"/.test(sent),
      seen => seen.method === 'GET' && seen.path.startsWith('/api/v2/') && seen.status === 200,
      json(value => ({ ...value, probeTainted7f3a: 1 })),
    ),
  ),
  mutant('D2.5', 'a client sets what the server sets', () =>
    changing(
      ({ method, sent }) => method === 'POST' && sent.includes('"probe-7f3a"'),
      status(201),
      seen => content(seen.sent)(seen),
      asJson,
      withField('location', '/api/v2/orders/assigned'),
    ),
  ),
  mutant('D3.1', 'a DTD is read', () =>
    acceptedInstead(({ sent }) => sent.startsWith('<!DOCTYPE') && !sent.includes('/entity')),
  ),
  mutant('D3.2', 'an external entity is fetched', () => fetching('entity')),
  mutant('D3.3', 'a schema is fetched', () => fetching('hint')),
  mutant('D3.4', 'deep nesting is accepted', () => acceptedInstead(sends(/(?:<a>){50}/))),
  mutant('D3.4', 'deep nesting ends the connection', () => ending(sends(/(?:<a>){50}/))),
  mutant('D3.5', 'many attributes break the service', () => changing(sends(/b4999=/), status(500), content(''))),
  mutant('D3.6', 'names that collide take long', () => {
    let usualMs = 0
    return serve => async request => {
      const startMs = performance.now()
      const sent = await sentText(request)
      const response = await serve(request)
      if (sent.includes('AbAbAbAbAbAbAbAbAbAbAb')) usualMs = performance.now() - startMs
      if (sent.includes('AaAaAaAaAaAaAaAaAaAaAa')) await setTimeout(1500 + 30 * usualMs)
      return response
    }
  }),
  mutant('D3.7', '__proto__ is a failure of the service', () =>
    changing(
      sends(/p:__proto__/),
      text(given => given.replace(/:Sender</, ':Receiver<').replace(/:Client</, ':Server<')),
    ),
  ),
  mutant('D3.8', 'text after the end is ignored', () => acceptedInstead(sends(/Envelope>probe$/))),
  mutant('D3.9', 'an overlong form is a character', () => acceptedInstead(sends(/\xc0\xbc/))),
  mutant('D3.10', 'the first of two Bodies counts', () => acceptedInstead(sends(/<\/s:Body><s:Body>/))),
  mutant('D3.11', 'a mustUnderstand of yes is false', () => acceptedInstead(sends(/mustUnderstand="yes"/))),
  mutant('D3.12', 'the last of two addresses counts', () => acceptedInstead(sends(/<a:To .*<a:To /))),
  mutant('D3.13', 'a reply goes where a stranger says', () => fetching('reply-to')),
  mutant('D3.14', 'content is fetched', () => fetching('xop')),
  mutant('D3.15', 'a name is enough', () => acceptedInstead(sends(/<\/w:Username><\/w:UsernameToken>/))),
  mutant('D3.16', 'the Body is read where it was not signed', () => acceptedInstead(sends(/x:Wrapper/))),
  mutant('D3.17', 'gzip that is not is taken', () =>
    acceptedInstead(seen => isSoap(seen) && seen.fields['content-encoding'] === 'gzip'),
  ),
  mutant('D3.18', 'an array that announces more than it has is accepted', () => acceptedInstead(sends(/2147483647/))),
  mutant('D3.18', 'references that double end the connection', () => ending(sends(/probe11/))),
  mutant('D3.18', 'after a circle the operation is a failure', () =>
    since(
      sends(/id="probe0"><a (?:href="#|e:ref=")probe0/),
      seen => /encoded/.test(seen.path) && seen.status === 200,
      status(500),
    ),
  ),
  mutant('D3.19', 'parts that nothing refers to are passed over', () => acceptedInstead(sends(/<p1999>/))),
  mutant('D3.19', 'a package in a package ends the connection', () => ending(sends(/probe-boundary-499/))),
  mutant('D3.19', 'the last of two parts with one Content-ID counts', () =>
    acceptedInstead(sends(/<p>\r\n\r\na\r\n--probe-boundary\r\nContent-ID: <p>/)),
  ),
]

type Converse = NonNullable<ProbeTransport['converse']>
export interface WireMutant {
  readonly rule: string
  readonly make: (converse: Converse) => Converse
}

/** A connection on which octets that match are answered so. */
const answering =
  (matches: (octets: string, pieces: number) => boolean, code = 200, more: Partial<Conversation> = {}) =>
  (converse: Converse): Converse =>
  async (pieces, limits) => {
    const octets = Buffer.concat(pieces.map(piece => piece.octets)).toString('latin1')
    if (!matches(octets, pieces.length)) return converse(pieces, limits)
    const reply = { status: code, lines: [], content: new Uint8Array(0), isWhole: true, tookMs: 1 }
    return { reply, replies: 1, isClosed: false, ...more }
  }

export const wireMutants: readonly WireMutant[] = [
  { rule: 'D1.1', make: answering(octets => octets.split('\r\nHost: ').length === 3) },
  {
    rule: 'D1.2',
    make: answering(octets => /\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n/.test(octets), 200, {
      replies: 2,
    }),
  },
  { rule: 'D1.3', make: answering(octets => octets.includes('Content-Length: 0, 2')) },
  { rule: 'D1.4', make: answering(octets => octets.includes('xchunked')) },
  { rule: 'D1.5', make: answering(octets => octets.includes('\r\n0x0')) },
  { rule: 'D1.6', make: answering(octets => octets.length > 100_000) },
  { rule: 'D1.7', make: answering((_, pieces) => pieces > 2) },
  { rule: 'D1.8', make: answering(octets => octets.includes('/%ff'), 500) },
]
