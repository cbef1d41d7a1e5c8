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
