/**
 * Posts one message to an address that a peer's message named. What it guards:
 *  (1) An address is allowed by its origin and the segments of its path, as a parsed URL, never as
 *      text; a path that another server might read differently is never allowed.
 *  (2) A name is resolved once, and the connection goes to that address: a later change of the name
 *      has no effect.
 *  (3) A name that resolves to a private network, this machine or any other address that is not
 *      public is refused; but the allow-list may contain such an address itself, or `localhost`.
 *  (4) No redirect is followed, only the status of the response is read, and no post takes longer
 *      than `postMs`.
 */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { BlockList, isIP } from 'node:net'
import { postContent } from './post-content.ts'

export interface OutboundMessage {
  readonly to: string
  readonly mediaType: string
  readonly action: string
  readonly content: string
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>
const byDns: Resolve = name => lookup(name, { all: true })

/** Thrown where another attempt would be useless. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

/** What is wrong with a prefix in an allow-list; undefined if it is valid. */
export function checkTarget(prefix: string): string | undefined {
  const url = URL.parse(prefix)
  if (!url || !isBareHttp(url) || url.search !== '')
    return `replies to ${prefix} cannot be allowed: give an http or https address without password, query and fragment`
  if (isAmbiguous(url.pathname))
    return `replies to ${prefix} cannot be allowed: give a path without encoded dots, slashes and backslashes`
  return undefined
}

/** (1) A test whether an address is one of the prefixes, or below one. */
export function compileAllowList(prefixes: readonly string[]): (address: string) => boolean {
  const places = prefixes.map(prefix => new URL(prefix))
  return address => {
    const url = URL.parse(address)
    if (!url || !isBareHttp(url) || isAmbiguous(url.pathname)) return false
    return places.some(({ origin, pathname }) => origin === url.origin && isBelow(url.pathname, pathname))
  }
}
const isBareHttp = ({ protocol, username, password, hash }: URL): boolean =>
  (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hash === ''
/**
 * RFC 3986 §3.3, §6.2.2.3: `..%2f`, `..%5c` and `..;a` are names of segments, but servers that
 * decode twice or strip parameters read them as `..`. Encoded percent signs may hide another
 * encoding.
 */
const isAmbiguous = (path: string): boolean => /%(?:25)*(?:2e|2f|5c)/i.test(path) || /\/\.+[^/\w~.-]/.test(path)
const isBelow = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)

/** For resolution, connection and response together. */
const postMs = 10_000

/**
 * Resolves once the receiver has accepted the message. Rejects with `Undeliverable` if a retry
 * would be useless.
 */
export async function postSafely(message: OutboundMessage, stop: AbortSignal, resolve: Resolve = byDns): Promise<void> {
  const url = new URL(message.to)
  const signal = AbortSignal.any([stop, AbortSignal.timeout(postMs)])
  const status = await sendPost(url, await pinAddress(url, resolve, signal), message, signal)
  if (status >= 200 && status < 300) return
  const problem = `${url.origin} answered a reply with ${status}`
  throw retryableStatuses.has(status) || status >= 500 ? new Error(problem) : new Undeliverable(problem)
}

/** RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429])

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
  if (hidden && name !== 'localhost')
    throw new Undeliverable(`${name} resolves to ${hidden.address}, which is not public`)
  return first.address
}

async function sendPost(url: URL, hostname: string, message: OutboundMessage, signal: AbortSignal): Promise<number> {
  const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: url.hostname } : {}
  const headers = { host: url.host, ...actionFields(message) }
  return (await postContent(url, { hostname, ...servername, headers, signal }, message.content)).status // (4)
}

/** The action, in the place where each version has it (SOAP 1.1 §6.1.1; RFC 3902). */
function actionFields({ mediaType, action }: OutboundMessage): Readonly<Record<string, string>> {
  const type = `${mediaType}; charset=utf-8`
  return mediaType === 'text/xml'
    ? { 'content-type': type, soapaction: `"${action}"` }
    : { 'content-type': `${type}; action="${action}"` }
}

/** IANA's special-purpose addresses that are not globally reachable, and multicast. */
const special = new BlockList()
// biome-ignore format: a table
const special4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
]
/**
 * Exceptions within 2000::/3, which has all global unicast addresses: addresses that embed others,
 * and those for documentation.
 */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
for (const [family, ranges] of [
  ['ipv4', special4],
  ['ipv6', special6],
] as const)
  for (const range of ranges) {
    const [net = '', bits] = range.split('/')
    special.addSubnet(net, Number(bits), family)
  }
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address is globally reachable. An IPv4 address embedded in an IPv6 address is not:
 * no host needs to write it that way.
 */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/s, '')
  if (isIP(bare) === 4) return !special.check(bare, 'ipv4')
  return isIP(bare) === 6 && global.check(bare, 'ipv6') && !special.check(bare, 'ipv6')
}
