/** Addresses of hosts and peers, as text. */

const loopbackAddress = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i

/**
 * Whether an address or host name is this machine's own (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3): IPv4,
 * IPv6 with or without brackets, IPv4 mapped into IPv6, or `localhost` (RFC 6761 §6.3).
 */
export const isLoopbackAddress = (host: string): boolean =>
  /^localhost$/i.test(host) || loopbackAddress.test(host.replace(/^\[(.*)\]$/, '$1'))

/** Whether a source is an address to fetch, rather than the name of a file. */
export const isHttpAddress = (source: string): boolean => /^https?:/i.test(source)

/**
 * The share of the address space that one client has: an IPv4 address, or the 64 bits of an IPv6
 * address that a network gives to each of its links (RFC 4291 §2.5.1, RFC 6177 §2) and within which
 * a client may vary. Loopback addresses stay as they are, so that `isLoopbackAddress` holds for the
 * result, too.
 */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address
  const mapped = mappedIpv4.exec(address)?.[1]
  if (mapped !== undefined || isLoopbackAddress(address)) return mapped ?? address
  const translated = translatedIpv4.exec(address)?.[1]
  if (translated !== undefined && !isLoopbackAddress(translated)) return translated
  const [head = '', tail] = address.split('::', 2)
  const before = splitGroups(head)
  const after = splitGroups(tail ?? '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

/** An IPv4 client of a socket of both versions (RFC 4291 §2.5.5.2). */
const mappedIpv4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i
/** An IPv4 client behind a translator (RFC 6052): another network may write any address there. */
const translatedIpv4 = /^64:ff9b::(\d{1,3}(?:\.\d{1,3}){3})$/i

/** In lower case and without leading zeros (RFC 5952 §4.1, §4.3). */
const splitGroups = (text: string): readonly string[] =>
  text === '' ? [] : text.split(':').map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
