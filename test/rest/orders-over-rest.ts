/**
 * The orders service behind its REST face, without a socket, on an in-memory database with a manual
 * clock.
 */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import app from '../../examples/orders/service.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { FrontOptions } from '../../src/front/front.ts'
import { codingStreams, decodings } from '../../src/host/zlib-codings.ts'
import { selectLasting } from '../../src/http/lasting-fields.ts'
import { contentOf, noContent, type Request, type Response } from '../../src/http/message.ts'
import type { RestOptions } from '../../src/rest/compiled-face.ts'
import { createRestFace } from '../../src/rest/face.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import type { FaceContext, Settings } from '../../src/service/face-context.ts'
import { runNextJob } from '../../src/service/job.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { Store } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const people: Readonly<Record<string, Caller>> = {
  alice: { subject: 'alice', roles: ['customer'], claims: { customer: 'c-1' } },
  clara: { subject: 'clara', roles: ['clerk'], claims: {} },
  maria: { subject: 'maria', roles: ['manager'], claims: {} },
}

export interface Answer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly text: string
  readonly bytes: Uint8Array
  /** The content as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of any content by asserting it
  readonly json: any
}
type Ask = (
  method: string,
  target: string,
  fields?: Readonly<Record<string, string>>,
  sent?: string | Uint8Array | object,
  more?: Partial<Request>,
) => Promise<Answer>
export interface OrdersOverRest {
  readonly as: Readonly<Record<'anyone' | 'alice' | 'clara' | 'maria', Ask>>
  readonly face: (request: Request) => Response | Promise<Response>
  readonly clock: { now: number }
  readonly serving: FaceContext
  readonly store: Store
  /** Exceptions that were reported as bugs. */
  readonly incidents: unknown[]
  /** Runs every job that is due. */
  work(): Promise<void>
}

export const json = { 'content-type': 'application/json' }
export const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }

const settings: Settings = { trustProxy: false, trace: true, passwordsOnLoopback: true, origins: [] }
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
export const codings: NonNullable<RestOptions['codings']> = {
  br: bytes => brotliCompressSync(bytes, quick),
  zstd: bytes => zstdCompressSync(bytes),
  gzip: bytes => gzipSync(bytes),
}
export interface OrdersOptions {
  /** One that already has items. */
  readonly store?: Store
  /** The caller closes the store; otherwise the test or suite that starts it does, at its end. */
  readonly staysOpen?: boolean
  readonly settings?: Partial<Settings>
  readonly options?: RestOptions & Pick<FrontOptions, 'gate'>
  readonly app?: Implementation
  /**
   * Repeats each request that may be repeated, with the same fields object: the responses must be
   * equal.
   */
  readonly repeats?: boolean
}

export async function startOrders(how: OrdersOptions = {}): Promise<OrdersOverRest> {
  const implementation = how.app ?? app
  const store = how.store ?? openSqliteStore(implementation.contract, ':memory:')
  if (!how.store && !how.staysOpen) after(() => store.close())
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  let count = 0
  const id = (prefix: string): string => `${prefix}-new${++count}`
  const incidents: unknown[] = []
  const calls = createServiceCalls(implementation, {
    store,
    limiter: createMemoryLimiter(),
    clock: () => clock.now,
    id,
  })
  const { items = {} } = how.store ? {} : implementation.seed()
  await store.write(async writer => {
    for (const { name } of implementation.contract.resources)
      for (const value of items[name] ?? [])
        await writer.put(name, String(value['id']), value, {}, undefined, clock.now)
  })
  const serving: FaceContext = {
    app: implementation,
    calls,
    identities: {
      bearer: token => (Object.hasOwn(people, token) ? people[token] : undefined),
      password: (name, password) => (password === `${name}-secret` ? people[name] : undefined),
      digest: () => undefined,
      known: () => undefined,
      certificate: () => undefined,
      key: () => undefined,
    },
    clock: () => clock.now,
    id: () => `r${++count}`,
    report: (_incident, thrown) => incidents.push(thrown),
    settings: { ...settings, ...how.settings },
  }
  const face = createRestFace(serving, { codings, decodings, streams: codingStreams, ...how.options })
  const as = (name: string | undefined): Ask => {
    const who = name === undefined ? {} : { authorization: `Bearer ${name}` }
    return async (method, target, fields = {}, sent = undefined, more = {}) =>
      askTwice(face, request(method, target, { ...who, ...fields }, sent, more), how.repeats === true)
  }
  const working = {
    app: implementation,
    store,
    clock: () => clock.now,
    id,
    failed: (_: unknown, thrown: unknown) => incidents.push(thrown),
  }
  return {
    as: { anyone: as(undefined), alice: as('alice'), clara: as('clara'), maria: as('maria') },
    face,
    clock,
    serving,
    store,
    incidents,
    work: async () => {
      while (await runNextJob(working, new AbortController().signal));
    },
  }
}

const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Like a connection that repeats its fields: findings for them are recalled in the end. */
async function askTwice(face: OrdersOverRest['face'], asked: Request, isRepeated: boolean): Promise<Answer> {
  const first = await readAnswer(await face(asked))
  if (!isRepeated || !repeatable.has(asked.method) || asked.content !== noContent) return first
  const { authorization } = asked.fields
  const again = { ...asked, lasting: selectLasting(asked.fields), credentials: { authorization } }
  await readAnswer(await face(again)) // what is found now is remembered
  const second = await readAnswer(await face(again))
  const outcome = ({ status, fields, text }: Answer) => {
    const { 'request-id': _, ratelimit, ...same } = fields
    return { status, text: text.replaceAll(/r\d+/g, ''), same }
  }
  assert.deepEqual(outcome(second), outcome(first), `${asked.method} ${asked.target} asked again`)
  return second
}

export function request(
  method: string,
  target: string,
  fields: Readonly<Record<string, string>> = {},
  sent?: string | Uint8Array | object,
  more: Partial<Request> = {},
): Request {
  const made = Object.assign(Object.create(null) as Record<string, string>, { host: 'shop.test' }, fields)
  const bytes =
    sent === undefined
      ? undefined
      : typeof sent === 'string' || sent instanceof Uint8Array
        ? sent
        : JSON.stringify(sent)
  return {
    method,
    target,
    fields: made,
    content: bytes === undefined ? noContent : contentOf(bytes),
    scheme: 'http',
    version: '1.1',
    from: '127.0.0.1',
    ...more,
  }
}

async function octetsOf(content: Exclude<Response['content'], string | undefined>): Promise<Uint8Array> {
  return content instanceof Uint8Array ? content : Buffer.concat(await Array.fromAsync(content))
}

export async function readAnswer(response: Response): Promise<Answer> {
  const { status, content = '' } = response
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.fields)) {
    assert.equal(name, name.toLowerCase())
    fields[name] = typeof value === 'string' ? value : value.join(', ')
  }
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : await octetsOf(content)
  return {
    status,
    fields,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes)
    },
    get json() {
      return JSON.parse(new TextDecoder().decode(bytes))
    },
  }
}
