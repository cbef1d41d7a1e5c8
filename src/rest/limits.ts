/** What one request may cost before anybody is asked for anything. */
export const restLimits = {
  /** Octets of a request-target (RFC 9110 §4.1 asks for 8,000 at least). */
  target: 8 * 1024,
  /** Octets of all fields together, names included: what Node and nginx take by default is half to four times this. */
  fields: 32 * 1024,
  /** Octets of content, where the contract gives a file no other limit. */
  content: 1024 * 1024,
  /** Octets beyond which nothing is read before target and precondition are known to hold (rows 22–24). */
  eager: 16 * 1024,
  /** Octets of content below which a content coding costs more than it saves: it fits one packet. */
  coded: 1024,
  /** Items of one page. */
  page: 100,
  /** Requests of one address in a second, whoever sends them. */
  flood: 1000,
  /** Seconds that `Prefer: wait` may hold an answer back: proxies give up after sixty. */
  wait: 30,
  /** Characters of an idempotency key: twice the longest that clients are known to make. */
  key: 255,
  /** Query parameters of one request. */
  parameters: 100,
} as const
