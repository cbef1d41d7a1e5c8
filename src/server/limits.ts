/** How much of the server one peer may use. Times in milliseconds, sizes in octets. */
export interface ServerLimits {
  /** All field lines of a request; beyond this, 431. */
  readonly fields: number
  /**
   * From the first octet of a request (or from connecting) to the end of its fields; after that,
   * 408.
   */
  readonly head: number
  /** From the first octet of a request to the last of its content; after that, 408. */
  readonly request: number
  /** A connection without a current request is closed after this time. */
  readonly idle: number
  /** A peer that should send content must move `pace` octets (or all there is) within this time. */
  readonly stall: number
  readonly pace: number
  /**
   * A peer that should read a response must keep the same pace, measured over this time: operating
   * systems buffer megabytes and accept more in bursts, so an honest reader may seem to stall for
   * long.
   */
  readonly unread: number
  /** Chunks or DATA frames of content, in addition to one for every 16 octets; beyond this, 400. */
  readonly pieces: number
  /**
   * Octets kept of contents still arriving, for all requests together; beyond this, a content of
   * the address with the most octets ends with 503.
   */
  readonly held: number
  /** Unread content up to this size is read and dropped, so that the connection can be kept. */
  readonly dump: number
  /** How long, and for how many octets, a connection that ends after its response is still read. */
  readonly linger: number
  readonly lingerOctets: number
  /**
   * After the listener begins to close: how long an open connection may still send a request, its
   * last one.
   */
  readonly drain: number
  /** Connections at once; any further one gets 503. */
  readonly connections: number
  /**
   * Of these, connections from one address (64 bits of IPv6); any further one gets 429. This
   * machine's own and those of a Unix socket are not counted. Behind a proxy all come from its
   * address: set it to Infinity.
   */
  readonly connectionsPerAddress: number
  /** HTTP/2: streams at once on one connection. */
  readonly streams: number
  /** HTTP/2: streams that a client may reset at once, and from then on per second. */
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

/**
 * Longer than proxies keep an idle connection (nginx and ALB: 60 s, Traefik: 90 s, Caddy: 120 s): a
 * change that is sent while we close the connection is lost, and a proxy must not repeat it.
 */
const proxiedIdleMs = 150_000

/** Behind a proxy every client has its address; explicitly set limits take precedence. */
export const proxiedLimits = (
  isBehindProxy: boolean,
  limits: Partial<ServerLimits> | undefined,
): Partial<ServerLimits> => ({
  ...(isBehindProxy && { connectionsPerAddress: Infinity, idle: proxiedIdleMs }),
  ...limits,
})

/**
 * Octets of a head that the parsers accept: more than the limits above, so that the face sees a
 * long target (414) and we refuse large fields ourselves (431), and still a bound on what one
 * connection can make us hold.
 */
export const parserHeadOctetsMax = 128 * 1024
