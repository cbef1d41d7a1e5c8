/**
 * A sink that posts each change to an address, signed as Standard Webhooks 1.0 says. What it
 * guards:
 *  (1) It sends to the addresses of the allow-list, over TLS, and follows no redirect.
 *  (2) It never reaches into the network it runs in: whatever a name resolves to is looked at when
 *      the connection is made, so that a name cannot change its mind in between.
 *  (3) What is answered is not read beyond its status, and is not waited for longer than the sink's
 *      time.
 */
import { createHmac } from 'node:crypto'
import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './safe-post.ts'
import { type EventSink, Gone, Later } from './sinks.ts'

export interface WebhookOptions {
  readonly name: string
  readonly url: string
  /**
   * `whsec_` and at least 24 octets in base64. Several, while one takes the other's place: each
   * signs.
   */
  readonly secret: string | readonly string[]
  readonly resources?: readonly string[]
  /** Hosts that may be sent to: `hooks.example.org`. The url's must be one. */
  readonly allow: readonly string[]
  /**
   * Addresses of this machine and its network are taken, and http: for what never leaves the
   * machine.
   */
  readonly private?: boolean
}

/** Throws when it could not be used, with the cure. */
export function createWebhook({
  name,
  url,
  secret,
  resources,
  allow,
  private: inside = false,
}: WebhookOptions): EventSink {
  const target = new URL(url)
  if (target.protocol !== 'https:' && !(inside && target.protocol === 'http:'))
    throw new Error(`webhook ${name}: ${url} is not https:`)
  if (!allow.includes(target.hostname)) throw new Error(`webhook ${name}: ${target.hostname} is not in its allow-list`)
  if (!inside && isIP(withoutBrackets(target.hostname)) !== 0 && !isPublicAddress(withoutBrackets(target.hostname)))
    throw new Error(`webhook ${name}: ${target.hostname} is an address of this network: set private to allow it`)
  const keys = (typeof secret === 'string' ? [secret] : secret).map(each => keyOf(name, each))
  return {
    name,
    ...(resources && { resources }),
    deliver: async (event, signal) => {
      const content = JSON.stringify(event)
      const fields = {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'content-length': String(Buffer.byteLength(content)),
        'user-agent': 'Diglot',
        ...signWebhook(`msg_${event.id}`, Math.floor(Date.now() / 1000), content, keys),
      }
      settle(await postEvent(target, fields, content, inside, signal))
    },
  }
}

/**
 * Standard Webhooks, "Signature scheme": over id, time and content, each key's signature after the
 * other.
 */
export function signWebhook(id: string, time: number, content: string, keys: readonly Uint8Array[]) {
  const sign = (key: Uint8Array): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${time}.${content}`).digest('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': keys.map(sign).join(' ') }
}

function keyOf(name: string, secret: string): Uint8Array {
  const key = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret) ? Buffer.from(secret.slice(6), 'base64') : Buffer.alloc(0)
  if (key.length < 24) throw new Error(`webhook ${name}: its secret is not whsec_ and 24 octets or more in base64`)
  return key
}

interface WebhookReply {
  readonly status: number
  readonly after: string | undefined
}

function settle({ status, after }: WebhookReply): void {
  if (status >= 200 && status < 300) return
  if (status === 410) throw new Gone('it answers 410 (Gone)')
  const seconds = /^\d{1,6}$/.test(after ?? '') ? Number(after) : undefined
  if (seconds !== undefined && (status === 429 || status === 503)) throw new Later(seconds)
  throw new Error(`it answers ${status}`)
}

function postEvent(
  target: URL,
  headers: Record<string, string>,
  content: string,
  inside: boolean,
  signal: AbortSignal,
): Promise<WebhookReply> {
  return new Promise((done, fail) => {
    const { request } = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http')
    const options = { method: 'POST', headers, signal, agent: false, ...(!inside && { lookup: lookUpPublic }) }
    const asked = request(target, options, answer => {
      answer.on('error', () => {}) // (3)
      done({ status: answer.statusCode ?? 0, after: answer.headers['retry-after'] })
      answer.destroy()
    })
    asked.on('error', fail).end(content)
  })
}

/** (2) */
const lookUpPublic: LookupFunction = (name, options, told) => {
  resolve(name, { ...options, all: true }, (error, found) => {
    if (error) return told(error, '')
    const safe = found.filter(({ address }) => isPublicAddress(address))
    const [first] = safe
    if (!first) return told(new Error(`${name} is an address of this network`), '')
    if (options.all) return told(null, safe)
    told(null, first.address, first.family)
  })
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')
