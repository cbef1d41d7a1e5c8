/**
 * A sink that posts each change to an address, signed as in Standard Webhooks 1.0. What it guards:
 *  (1) It sends only to addresses of the allow-list, over TLS, and follows no redirect.
 *  (2) It never reaches into the network it runs in: the addresses of a name are checked when the
 *      connection is made, so the name cannot change in between.
 *  (3) Only the status of a response is read, within the sink's time limit.
 */
import { createHmac } from 'node:crypto'
import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { decodeBase64Loosely } from '../../base/base64.ts'
import { type MembersOf, requireKnownMembers } from '../../contract/member-kinds.ts'
import { parseRetryAfter } from '../../http/fields.ts'
import { postContent, type Receipt } from './post-content.ts'
import { isPublicAddress } from './safe-post.ts'
import { type EventSink, RetryLater, SinkGone } from './sinks.ts'

export type { EventSink } from './sinks.ts'

/** The options of `createWebhook`. */
export interface WebhookOptions {
  readonly name: string
  readonly url: string
  /** `whsec_` and at least 24 octets in base64; during a rotation several, each of which signs. */
  readonly secret: string | readonly string[]
  readonly resources?: readonly string[]
  /** Allowed hosts, such as `hooks.example.org`, including that of `url`. */
  readonly allow: readonly string[]
  /** Allows http, and addresses of this machine and its network, for local use. Default: false. */
  readonly private?: boolean
}

const optionMembers: MembersOf<WebhookOptions> = {
  name: true,
  url: true,
  secret: true,
  resources: true,
  allow: true,
  private: true,
}

/** Throws for options that cannot work, with an error that says what to change. */
export function createWebhook(options: WebhookOptions): EventSink {
  requireKnownMembers('the options of createWebhook', options, optionMembers)
  const { name, url, secret = [], resources, allow = [], private: isPrivate = false } = options
  if (!URL.canParse(url)) throw new Error(`webhook ${name}: ${url} is not an address: give one such as https://…`)
  if (secret.length === 0) throw new Error(`webhook ${name}: secret is missing: give whsec_ and 24 octets in base64`)
  const target = new URL(url)
  if (target.protocol !== 'https:' && !(isPrivate && target.protocol === 'http:'))
    throw new Error(`webhook ${name}: ${url} is not an https address: use https, or set private`)
  if (!allow.includes(target.hostname))
    throw new Error(`webhook ${name}: ${target.hostname} is not allowed: add it to allow`)
  if (!isPrivate && isIP(withoutBrackets(target.hostname)) !== 0 && !isPublicAddress(withoutBrackets(target.hostname)))
    throw new Error(`webhook ${name}: ${target.hostname} is an address of this network: set private to allow it`)
  const keys = (typeof secret === 'string' ? [secret] : secret).map(each => parseSecret(name, each))
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
      const request = { headers: fields, signal, ...(!isPrivate && { lookup: lookUpPublic }) }
      requireAccepted(await postContent(target, request, content)) // (3)
    },
  }
}

/**
 * Standard Webhooks, "Signature scheme": a signature with each key over id, time (seconds) and
 * content.
 */
export function signWebhook(id: string, time: number, content: string, keys: readonly Uint8Array[]) {
  const sign = (key: Uint8Array): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${time}.${content}`).digest('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': keys.map(sign).join(' ') }
}

function parseSecret(name: string, secret: string): Uint8Array {
  const key = /^whsec_\S+$/.test(secret) ? decodeBase64Loosely(secret.slice(6)) : undefined
  if (!key || key.length < 24)
    throw new Error(`webhook ${name}: invalid secret: use whsec_ and at least 24 octets in base64`)
  return key
}

/** A delivery is tried again at least once a day. */
const laterSecondsMax = 86_400

function requireAccepted({ status, fields }: Receipt): void {
  if (status >= 200 && status < 300) return
  if (status === 410) throw new SinkGone('the receiver answered 410 (Gone)')
  const waitMs = parseRetryAfter(fields['retry-after'] ?? '', Date.now())
  if (waitMs !== undefined && (status === 429 || status === 503))
    throw new RetryLater(Math.min(Math.ceil(waitMs / 1000), laterSecondsMax))
  throw new Error(`the receiver answered ${status}`)
}

/** (2) */
const lookUpPublic: LookupFunction = (name, options, done) => {
  resolve(name, { ...options, all: true }, (error, found) => {
    if (error) return done(error, '')
    const safe = found.filter(({ address }) => isPublicAddress(address))
    const [first] = safe
    if (!first) return done(new Error(`${name} resolves to an address of this network`), '')
    if (options.all) return done(null, safe)
    done(null, first.address, first.family)
  })
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')
