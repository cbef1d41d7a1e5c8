/**
 * Carries one message to an address that a stranger's message named. What it guards:
 *  (1) An address is allowed by its origin and the segments of its path, as a URL is read, never as
 *      text.
 *  (2) A name is resolved once, and the connection goes to what was found: a name that changes its
 *      mind changes nothing.
 *  (3) A name that leads into a private network, to this machine or to nowhere public is refused;
 *      who means such an address writes it, or `localhost`, in the allow-list himself.
 *  (4) No redirect is followed, nothing of the answer but its status is read, and nobody is waited
 *      for longer than `patience`.
 */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { BlockList, isIP } from 'node:net'

export interface OutboundMessage {
  readonly to: string
  readonly mediaType: string
  readonly action: string
  readonly content: string
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>
const byDns: Resolve = name => lookup(name, { all: true })

/** Trying again would change nothing. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

/** What is wrong with a prefix of an allow-list; undefined: nothing. */
export function checkTarget(prefix: string): string | undefined {
  const url = URL.parse(prefix)
  if (!url || !isPlain(url) || url.search !== '')
    return `replies to ${prefix} cannot be allowed: write an http or https address without password, query and fragment`
  return undefined
}

/** (1) Whether an address is one of these, or below one of them. */
export function compileAllowList(prefixes: readonly string[]): (address: string) => boolean {
  const places = prefixes.map(prefix => new URL(prefix))
  return address => {
    const url = URL.parse(address)
    if (!url || !isPlain(url)) return false
    return places.some(({ origin, pathname }) => origin === url.origin && isBelow(url.pathname, pathname))
  }
}
const isPlain = ({ protocol, username, password, hash }: URL): boolean =>
  (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hash === ''
const isBelow = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)

/** Milliseconds for all of it. */
const patience = 10_000

/**
 * Resolves when the other side has taken it. Rejects with `Undeliverable` where another try is of
 * no use.
 */
export async function postSafely(letter: OutboundMessage, stop: AbortSignal, resolve: Resolve = byDns): Promise<void> {
  const url = new URL(letter.to)
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patience)])
  const status = await post(url, await pinAddress(url, resolve, signal), letter, signal)
  if (status >= 200 && status < 300) return
  const why = `${url.origin} answered a reply with ${status}`
  throw passing.has(status) || status >= 500 ? new Error(why) : new Undeliverable(why)
}

/** RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

/** (2), (3) */
async function pinAddress({ hostname }: URL, resolve: Resolve, signal: AbortSignal): Promise<string> {
  const name = hostname.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0) return name
  signal.throwIfAborted()
  const late = once(signal, 'abort').then(() => Promise.reject(signal.reason))
  const found = await Promise.race([resolve(name), late])
  const [first] = found
  if (!first) throw new Error(`${name} has no address`)
  const hidden = found.find(({ address }) => !isPublicAddress(address))
  if (hidden && name !== 'localhost') throw new Undeliverable(`${name} leads to ${hidden.address}, which is not public`)
  return first.address
}

function post(url: URL, host: string, letter: OutboundMessage, signal: AbortSignal): Promise<number> {
  // Loaded when the first is sent: a server by itself needs no client.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const port = url.port === '' ? {} : { port: url.port }
  const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: url.hostname } : {}
  const path = `${url.pathname}${url.search}`
  const headers = { host: url.host, ...fieldsOf(letter) }
  return new Promise((resolve, reject) => {
    const asking = request(
      { method: 'POST', host, ...port, ...servername, path, headers, agent: false, signal },
      answer => {
        answer.on('error', () => {}).destroy() // (4)
        resolve(answer.statusCode ?? 0)
      },
    )
    asking.on('error', reject).end(letter.content)
  })
}

/** The action where each version has it (SOAP 1.1 §6.1.1; RFC 3902). */
function fieldsOf({ mediaType, action }: OutboundMessage): Readonly<Record<string, string>> {
  const type = `${mediaType}; charset=utf-8`
  return mediaType === 'text/xml'
    ? { 'content-type': type, soapaction: `"${action}"` }
    : { 'content-type': `${type}; action="${action}"` }
}

/**
 * IANA's registries of special-purpose addresses: what of these is not globally reachable, and
 * multicast.
 */
const special = new BlockList()
// biome-ignore format: a table
const four = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
]
/**
 * Within 2000::/3, the only global unicast addresses there are: those that hold others, and those
 * for documents.
 */
const six = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
for (const [family, ranges] of [
  ['ipv4', four],
  ['ipv6', six],
] as const)
  for (const range of ranges) {
    const [net = '', bits] = range.split('/')
    special.addSubnet(net, Number(bits), family)
  }
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address can be reached from anywhere. One of IPv4 in one of IPv6 is not: nobody has
 * to write it so.
 */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/s, '')
  if (isIP(bare) === 4) return !special.check(bare, 'ipv4')
  return isIP(bare) === 6 && global.check(bare, 'ipv6') && !special.check(bare, 'ipv6')
}
