/**
 * The header by which a proxy that passes connections on undecrypted names its client: the PROXY
 * protocol of HAProxy, versions 1 (text) and 2 (binary), `proxy-protocol.txt` §2. Invariants:
 *  (1) A listener that expects it expects it on every connection: one without a complete and valid
 *      header is closed, and no octet of it is read as a request.
 *  (2) A header names the client, and says whether it speaks TLS with the proxy. It gives no right:
 *      no client of a proxy is on this machine.
 */
import { isIPv4, isIPv6, type Socket } from 'node:net'

/** The client of a connection, as the proxy describes it. */
export interface ProxiedClient {
  /**
   * Its IP address. Undefined if the connection is the proxy's own (a health check), or of a kind
   * that has no IP address.
   */
  readonly address: string | undefined
  /** It speaks TLS with the proxy. */
  readonly isSecure: boolean
}

export interface ProxyHeader {
  readonly client: ProxiedClient
  /** The length of the header: what follows is the client's. */
  readonly octets: number
}

/** Not all of the header has arrived, or these octets are none. */
export type NoProxyHeader = 'partial' | 'invalid'

const ownConnection: ProxiedClient = { address: undefined, isSecure: false }

/** @param octets all that have arrived since the connection began */
export function parseProxyHeader(octets: Buffer): ProxyHeader | NoProxyHeader {
  if (beginsAs(octets, signature)) return parseBinaryHeader(octets)
  if (beginsAs(octets, textStart)) return parseTextHeader(octets)
  return 'invalid'
}

/** Whether the octets begin with the mark, as far as they have arrived. */
const beginsAs = (octets: Buffer, mark: Buffer): boolean => {
  const length = Math.min(octets.length, mark.length)
  return octets.compare(mark, 0, length, 0, length) === 0
}

// Version 1 (§2.1)

const textStart = Buffer.from('PROXY ')
/** With its CRLF. */
const lineOctetsMax = 107
const port = String.raw`(?:0|[1-9]\d{0,4})`
const line = new RegExp(String.raw`^PROXY (?:UNKNOWN(?: [^\r\n]*)?|(TCP[46]) ([^ ]+) ([^ ]+) (${port}) (${port}))$`)

function parseTextHeader(octets: Buffer): ProxyHeader | NoProxyHeader {
  const text = octets.toString('latin1', 0, lineOctetsMax)
  const end = text.indexOf('\r\n')
  if (end < 0) return octets.length < lineOctetsMax ? 'partial' : 'invalid'
  const found = line.exec(text.slice(0, end))
  if (!found) return 'invalid'
  const [, family, address = '', target = '', ...ports] = found
  const header = { octets: end + 2 }
  if (family === undefined) return { ...header, client: ownConnection }
  const isOfFamily = family === 'TCP4' ? isIPv4 : isUnscopedIPv6
  if (![address, target].every(isOfFamily) || ports.some(each => Number(each) > 65_535)) return 'invalid'
  return { ...header, client: { address, isSecure: false } }
}

/** A scope (`%eth0`) means something on its own machine alone. */
const isUnscopedIPv6 = (text: string): boolean => isIPv6(text) && !text.includes('%')

// Version 2 (§2.2)

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** The signature, version and command, family and transport, and the length of what follows. */
const fixedOctets = 16
const localCommand = 0x20
const proxyCommand = 0x21

/** By family: the octets of both addresses and their ports. Undefined: no such family. */
const addressOctets: readonly (number | undefined)[] = [0, 12, 36, 216]
const transportMax = 2

function parseBinaryHeader(octets: Buffer): ProxyHeader | NoProxyHeader {
  const command = octets[12]
  if (command !== undefined && command !== localCommand && command !== proxyCommand) return 'invalid'
  if (octets.length < fixedOctets) return 'partial'
  const length = fixedOctets + octets.readUInt16BE(14)
  if (octets.length < length) return 'partial'
  const client = command === localCommand ? ownConnection : readClient(octets.subarray(0, length))
  return client ? { client, octets: length } : 'invalid'
}

/** Undefined if the header is invalid. */
function readClient(header: Buffer): ProxiedClient | undefined {
  const kind = header[13]!
  const family = kind >> 4
  const length = addressOctets[family]
  if (length === undefined || (kind & 0xf) > transportMax || header.length < fixedOctets + length) return undefined
  // An unspecified family says nothing of how long its addresses are, so no extension is looked for.
  const extensions = kind === 0 ? [] : readHeaderExtensions(header, fixedOctets + length)
  if (!extensions || !hasCorrectChecksum(header, extensions)) return undefined
  const isTcp = (kind & 0xf) === 1
  return { address: isTcp ? readAddress(header, family) : undefined, isSecure: extensions.some(isTlsMark) }
}

function readAddress(header: Buffer, family: number): string | undefined {
  const octets = header.subarray(fixedOctets)
  if (family === 1) return octets.subarray(0, 4).join('.')
  if (family !== 2) return undefined
  const groups = Array.from({ length: 8 }, (_, at) => octets.readUInt16BE(2 * at).toString(16))
  return isMappedIPv4(octets) ? octets.subarray(12, 16).join('.') : groups.join(':')
}

/** RFC 4291 §2.5.5.2 */
const isMappedIPv4 = (octets: Buffer): boolean =>
  octets.readUInt16BE(10) === 0xff_ff && octets.subarray(0, 10).every(each => each === 0)

// Extensions: a type, a length and a value each (§2.2.1 to §2.2.8)

interface HeaderExtension {
  readonly type: number
  /** Its place in the header. */
  readonly at: number
  readonly value: Buffer
}

/** Undefined if one ends beyond the header. */
function readHeaderExtensions(header: Buffer, from: number): readonly HeaderExtension[] | undefined {
  const found: HeaderExtension[] = []
  for (let at = from; at < header.length; ) {
    const start = at + 3
    if (start > header.length) return undefined
    const end = start + header.readUInt16BE(at + 1)
    if (end > header.length) return undefined
    found.push({ type: header[at]!, at: start, value: header.subarray(start, end) })
    at = end
  }
  return found
}

/** PP2_TYPE_SSL with PP2_CLIENT_SSL (§2.2.6) */
const isTlsMark = ({ type, value }: HeaderExtension): boolean =>
  type === 0x20 && value.length >= 5 && (value[0]! & 1) === 1

/** PP2_TYPE_CRC32C (§2.2.3): counted over the header with zeros in the place of the checksum. */
function hasCorrectChecksum(header: Buffer, extensions: readonly HeaderExtension[]): boolean {
  const checksum = extensions.find(({ type }) => type === 0x03)
  if (!checksum) return true
  if (checksum.value.length !== 4) return false
  const counted = Buffer.from(header)
  counted.fill(0, checksum.at, checksum.at + 4)
  return computeCrc32c(counted) === checksum.value.readUInt32BE(0)
}

/** RFC 9260 Appendix A */
export function computeCrc32c(octets: Uint8Array): number {
  let rest = 0xff_ff_ff_ff
  for (const each of octets) {
    rest ^= each
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0x82_f6_3b_78 : rest >>> 1
  }
  return ~rest >>> 0
}

// The connection

/** The header of a connection, and the octets of the client that came with it. */
export type ProxyGreeting = (client: ProxiedClient, first: Buffer) => void

/**
 * Waits for the header that a connection begins with. The socket is then paused.
 * @param limitMs the time for all of it
 * @param refuse called in place of `greet` for a connection to be closed: with the reason, unless
 *   it ended without an octet, as a probe of the port does
 */
export function receiveProxyHeader(
  socket: Socket,
  limitMs: number,
  greet: ProxyGreeting,
  refuse: (reason?: string) => void,
): void {
  let pieces: Buffer[] = []
  const stop = (): void => {
    clearTimeout(timer)
    socket.off('data', onData).off('end', onEnd).off('close', stop).pause()
  }
  const fail = (reason?: string): void => {
    stop()
    refuse(reason)
  }
  const onData = (octets: Buffer): void => {
    const received = Buffer.concat([...pieces, octets])
    pieces = [received]
    const header = parseProxyHeader(received)
    if (header === 'invalid') fail('the connection does not begin with a header of the PROXY protocol')
    else if (header !== 'partial') {
      stop()
      greet(header.client, received.subarray(header.octets))
    }
  }
  const onEnd = (): void =>
    fail(pieces.length > 0 ? 'the connection ended within its header of the PROXY protocol' : undefined)
  const timer = setTimeout(() => fail('the header of the PROXY protocol did not arrive in time'), limitMs)
  socket.on('data', onData).once('end', onEnd).once('close', stop)
}
