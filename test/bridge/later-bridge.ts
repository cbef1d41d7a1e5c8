/**
 * A bridge whose replies come later, in this process: callers call by `fetch`, the backend is
 * a function, and its replies are posted to where the message said.
 */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { BridgeLimits } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { type LaterLimits, markLater } from '../../src/bridge/later-limits.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createPortDress, type PortDressOptions } from '../../src/client/port-dress.ts'
import type { ClientTransport, TransportRequest, TransportResponse } from '../../src/client/transport.ts'
import type { PortPolicy } from '../../src/contract/endpoint-rule.ts'
import { exchange, type Port, port } from '../../src/contract/exchange.ts'
import { anyone, type Caller, type Grant } from '../../src/contract/policy.ts'
import { x } from '../../src/contract/xml-type.ts'
import { openService } from '../../src/host/open-service.ts'
import { type Logger, quietLogger } from '../../src/host/operations/log.ts'
import { openAllOrNothing } from '../../src/host/options.ts'
import { createMemoryFetch } from '../../src/testing/memory-fetch.ts'

const shop = x.namespace('urn:shop')
const Ask = shop.element('Ask', x.object({ item: x.element(x.string) }))
const Price = shop.element(
  'Price',
  x.object({
    item: x.element(x.string),
    amount: x.element(x.decimal),
    rate: x.element(x.double).optional(),
    stock: x.element(x.long).optional(),
    picture: x.element(x.base64Binary).optional(),
  }),
)
const NoSuchItem = shop.element('NoSuchItem', x.object({ item: x.element(x.string) }))
const Quota = shop.element('Quota', x.object({ left: x.element(x.int) }))
export const shopPort = port('Shop', {
  namespace: 'urn:shop:wsdl',
  soap: '1.1',
  exchanges: {
    GetPrice: exchange({
      action: 'urn:GetPrice',
      input: Ask,
      output: Price,
      faults: { NoSuchItem },
      replyHeaders: { Quota },
    }),
    Tell: exchange({ action: 'urn:Tell', input: Ask }),
    Ping: exchange({ action: 'urn:Ping', input: 'empty', output: 'empty' }),
  },
})

export const soapUri = 'http://schemas.xmlsoap.org/soap/envelope/'
export const wsaUri = 'http://www.w3.org/2005/08/addressing'
export const price = (amount = '1.50', more = ''): string =>
  `<s:Price xmlns:s="urn:shop"><s:item>tea</s:item><s:amount>${amount}</s:amount>${more}</s:Price>`
export const fault = (detail: string, reason = 'no tea'): string =>
  `<e:Fault><faultcode>e:Client</faultcode><faultstring>${reason}</faultstring><detail>${detail}</detail></e:Fault>`
export const noTea = '<s:NoSuchItem xmlns:s="urn:shop"><s:item>tea</s:item></s:NoSuchItem>'
const block = (local: string, text: string): string => `<a:${local} xmlns:a="${wsaUri}">${text}</a:${local}>`
export const envelope = (body: string, blocks = ''): string =>
  `<e:Envelope xmlns:e="${soapUri}"><e:Header>${blocks}</e:Header><e:Body>${body}</e:Body></e:Envelope>`

/** A message as it was sent. */
export interface Sent {
  readonly text: string
  readonly id: string
  readonly replyTo: string
}
const firstGroup = (pattern: RegExp, text: string): string => pattern.exec(text)?.[1] ?? ''
const readSent = ({ content }: TransportRequest): Sent => {
  const text = typeof content === 'string' ? content : Buffer.concat(content).toString()
  return {
    text,
    id: firstGroup(/<wsa:MessageID[^>]*>([^<]*)</, text),
    replyTo: firstGroup(/<wsa:ReplyTo[^>]*><wsa:Address>([^<]*)</, text),
  }
}

export type Behind = (sent: Sent) => Promise<TransportResponse> | TransportResponse
export const accepted: TransportResponse = { status: 202, fields: {}, content: new Uint8Array(0) }
export const respondWith = (status: number, text: string): TransportResponse => ({
  status,
  fields: { 'content-type': 'text/xml' },
  content: Buffer.from(text),
})

interface Choice {
  readonly data?: string
  readonly bridged?: Port
  readonly allow?: readonly Grant[]
  readonly limits?: Partial<LaterLimits>
  readonly calls?: Partial<BridgeLimits>
  readonly longest?: number
  readonly timeLimit?: number
  readonly worn?: PortDressOptions
  readonly policy?: PortPolicy
  readonly keep?: number
  /** Default: none. */
  readonly logger?: Logger
  /** Default: answers 202. */
  readonly behind?: Behind
}
const start = Date.parse('2026-03-01T09:00:00Z')

/** @param clock goes on over restarts */
export async function openLaterBridge(choice: Choice = {}, clock = { now: start }) {
  const { data = ':memory:', bridged = shopPort, allow = [anyone], limits = {}, longest, timeLimit = 20_000 } = choice
  const sent: Sent[] = []
  const notes: string[] = []
  const wire = { behind: choice.behind ?? (() => accepted) }
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async sending => {
      const message = readSent(sending)
      sent.push(message)
      return await wire.behind(message)
    },
  }
  const dress = createPortDress(bridged, choice.policy, 'http://behind.test/', {
    addressing: true,
    ...choice.worn,
  })
  const opened = markLater(openPort(bridged, allow), true, undefined, { keep: choice.keep ?? 86_400 })
  const app = createBridge(describeBridge('shop', 'urn:shop', [opened]), {
    callerOf: each => createPortCaller(each, transport, { timeLimit, dress, ...(longest && { longest }) }),
    note: line => void notes.push(line),
    clock: () => clock.now,
    turnLimit: timeLimit,
    limits: choice.calls ?? {},
    later: { replies: 'http://bridge.test', limits },
  })
  const incidents: unknown[] = []
  const options = {
    data,
    clock: () => clock.now,
    flood: 0,
    logger: choice.logger ?? quietLogger,
    onError: (_: string, thrown: unknown) => void incidents.push(thrown),
  }
  const hosted = (carrier: object) => carrier as Caller
  const open = await openAllOrNothing(stack => openService(app, options, stack, { hosted, withoutPeople: true }))
  let isOpen = true
  const close = async () => {
    if (isOpen) await open.close(0)
    isOpen = false
  }
  after(close)
  const fetchAs = (subject?: string, roles: readonly string[] = []) =>
    createMemoryFetch(open.answer, subject === undefined ? {} : { carrier: { subject, roles, claims: {} } })
  const ask = async (
    method: string,
    path: string,
    { as, body, fields = {} }: { as?: string; body?: unknown; fields?: Record<string, string> } = {},
  ) => {
    const response = await fetchAs(as)(`http://bridge.test${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...fields },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, fields: Object.fromEntries(response.headers), text }
  }
  /** A message of the backend, or of anyone else. */
  const reply = async (to: string, message: string | Uint8Array<ArrayBuffer>, type = 'text/xml') => {
    const response = await fetchAs()(to, { method: 'POST', headers: { 'content-type': type }, body: message })
    return { status: response.status, text: await response.text(), fields: Object.fromEntries(response.headers) }
  }
  const answer = (to: Sent, body = price(), blocks = '') =>
    reply(to.replyTo, envelope(body, block('RelatesTo', to.id) + blocks))
  /** Calls, and returns the message that was sent and the address of the job. */
  const begin = async (as?: string) => {
    const started = await ask('POST', '/api/v1/Shop/GetPrice', { ...(as && { as }), body: { item: 'tea' } })
    assert.equal(started.status, 202, started.text)
    return { started, message: sent.at(-1) as Sent, job: started.fields['location'] ?? '' }
  }
  const readFigure = async (name: string) => {
    const { text } = await ask('GET', '/metrics')
    return text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1)
  }
  return {
    ask,
    reply,
    answer,
    begin,
    sent,
    notes,
    wire,
    close,
    clock,
    incidents,
    readFigure,
    open,
    app,
  }
}

export { block }
