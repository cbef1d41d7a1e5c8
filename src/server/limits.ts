/** What one peer may use of the server. Times in milliseconds, sizes in octets. */
export interface ServerLimits {
  /** All field lines of a request; above, 431. */
  readonly fields: number
  /**
   * From the first octet of a request (or from connecting) to the end of its fields; after that,
   * 408.
   */
  readonly head: number
  /** From the first octet of a request to the last of its content; after that, 408. */
  readonly request: number
  /** A connection without a request in progress is closed after this time. */
  readonly idle: number
  /** A peer that is to send content must move `pace` octets (or all there is) within this time. */
  readonly stall: number
  readonly pace: number
  /**
   * A peer that is to read a response must keep the same pace, seen over this time: systems hold
   * megabytes of it and take the next in lumps, so that an honest reader seems to stand still for
   * long.
   */
  readonly unread: number
  /**
   * Chunks or DATA frames of content, in addition to one for every 16 octets; above, 400.
   */
  readonly pieces: number
  /**
   * Octets kept of contents that are still arriving, of all requests together; above, a content of
   * the address that has most of them ends with 503.
   */
  readonly held: number
  /** Unread content up to this size is read and dropped, so that the connection can be kept. */
  readonly dump: number
  /**
   * How long, and for how many octets, a connection that ends after its response still reads.
   */
  readonly linger: number
  readonly lingerOctets: number
  /**
   * Once the listener closes: how long a kept connection may still send a request, which is its
   * last.
   */
  readonly drain: number
  /** Connections at once; the next is answered 503. */
  readonly connections: number
  /**
   * Of them, those of one address (64 bits of IPv6); the next is answered 429. This machine's own
   * and those of a Unix socket are not counted. Behind a proxy all come from its address: set it to
   * Infinity.
   */
  readonly connectionsPerAddress: number
  /** HTTP/2: streams at once on one connection. */
  readonly streams: number
  /** HTTP/2: streams that a client may reset at once, and from then on in a second. */
  readonly resets: number
  readonly resetRate: number
  /** HTTP/2: SETTINGS and PING frames that a client may send within ten seconds. */
  readonly controls: number
}

export const defaultLimits: ServerLimits = {
  fields: 32 * 1024,
  head: 10_000,
  request: 300_000,
  idle: 15_000,
  stall: 10_000,
  pace: 1024,
  unread: 60_000,
  pieces: 16_384,
  held: 512 * 1024 * 1024,
  dump: 64 * 1024,
  linger: 2_000,
  lingerOctets: 16 * 1024 * 1024,
  drain: 250,
  connections: 16_384,
  connectionsPerAddress: 1_024,
  streams: 100,
  resets: 200,
  resetRate: 50,
  controls: 100,
}

/** Behind a proxy every client comes from its address; limits that are given come first. */
export const proxiedLimits = (
  isBehindProxy: boolean,
  given: Partial<ServerLimits> | undefined,
): Partial<ServerLimits> => ({ ...(isBehindProxy && { connectionsPerAddress: Infinity }), ...given })

/**
 * What the parsers themselves accept: more than the limits above, so that a long target reaches the
 * face
 * (414) and large fields are refused by us (431), and still a bound on what one connection can make
 *       us
 * hold.
 */
export const parserLimit = 128 * 1024
