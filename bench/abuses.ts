/** What one caller may do within its limits that costs a service most; `worst.ts` measures what others have of it. */
import { request } from 'node:http'
import { connect } from 'node:net'

/** One caller: an address of its own, as a client elsewhere has, and its credentials. */
export interface Attacker {
  readonly port: number
  readonly address: string
  readonly token: string
  /** Set when the abuse is to end. */
  readonly signal: AbortSignal
  /** Answers by their status. */
  readonly statuses: Map<number, number>
}
export interface Abuse {
  readonly name: string
  /** What has to be there first. */
  readonly prepare?: (by: Attacker) => Promise<unknown>
  readonly run: (by: Attacker) => Promise<unknown>
}

type Fields = Readonly<Record<string, string>>
const json = { 'content-type': 'application/json' }

/** The status of one request; 0 where the connection ended without an answer. */
function send(by: Attacker, method: string, path: string, fields: Fields = {}, content?: string): Promise<number> {
  return new Promise(resolve => {
    const headers = { authorization: `Bearer ${by.token}`, ...fields, connection: 'keep-alive' }
    const { port, address: localAddress, signal } = by
    const end = (status: number): void => {
      by.statuses.set(status, (by.statuses.get(status) ?? 0) + 1)
      resolve(status)
    }
    const asked = request({ host: '127.0.0.1', port, localAddress, method, path, headers, signal }, answer =>
      answer
        .resume()
        .on('end', () => end(answer.statusCode ?? 0))
        .on('error', () => end(0)),
    )
    asked.on('error', () => end(0))
    asked.end(content)
  })
}

/** So many at once, each again as soon as it is answered; a refusal is waited for as a polite client never would. */
async function repeat(by: Attacker, atOnce: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let i = 0
  const one = async (): Promise<void> => {
    while (!by.signal.aborted) await work(i++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
const asking =
  (atOnce: number, method: string, path: (i: number) => string, fields: Fields = {}, content?: string) =>
  (by: Attacker): Promise<void> =>
    repeat(by, atOnce, i => send(by, method, path(i), fields, content))

const lines = Array.from({ length: 1000 }, (_, i) => ({ product: `p-${1 + (i % 20)}`, quantity: 1 + (i % 9) }))
const largeOrder = JSON.stringify({ customer: 'c-1', lines, currency: 'EUR', note: 'x '.repeat(250).trim() })
/** As much as one request may hold: 1 MiB. */
const paddedOrder = largeOrder + ' '.repeat(1_048_576 - Buffer.byteLength(largeOrder))
const soapOrder = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><CreateOrder xmlns="urn:diglot:orders:v2"><order><customer>c-1</customer><lines>${lines.map(({ product, quantity }) => `<line><product>${product}</product><quantity>${quantity}</quantity></line>`).join('')}</lines><currency>EUR</currency></order></CreateOrder></e:Body></e:Envelope>`
/** Others each time, and another number of them. */
const wordsOf = (i: number): string => Array.from({ length: 400 + (i % 100) }, (_, at) => `w${i}x${at}`).join('%20')
const report = '{"from":"2020-01-01","to":"2030-12-31","kind":"sales"}'

/** Connections that are held open, until the end. */
function hold(by: Attacker, count: number, open: (socket: ReturnType<typeof connect>) => void): Promise<void> {
  return new Promise(resolve => {
    const sockets = Array.from({ length: count }, () => {
      const socket = connect({ port: by.port, host: '127.0.0.1', localAddress: by.address }, () => open(socket))
      return socket.on('error', () => {}).resume()
    })
    by.signal.addEventListener('abort', () => {
      for (const socket of sockets) socket.destroy()
      resolve()
    })
  })
}
const head = (by: Attacker, method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${by.token}\r\n${more}\r\n`

export const abuses: readonly Abuse[] = [
  {
    name: 'orders of 1,000 lines in 1 MiB of JSON, 8 at once',
    run: asking(8, 'POST', () => '/api/v2/orders', json, paddedOrder),
  },
  {
    name: 'orders of 1,000 lines by SOAP, 8 at once',
    run: asking(8, 'POST', () => '/soap/v2', { 'content-type': 'text/xml' }, soapOrder),
  },
  {
    name: 'lists of 100 orders of 1,000 lines, 16 at once',
    prepare: async by => {
      for (let i = 0; i < 100; i++) await send(by, 'POST', '/api/v2/orders', json, largeOrder)
    },
    run: asking(16, 'GET', i => `/api/v2/orders?size=${90 + (i % 10)}`, { accept: 'application/xml' }),
  },
  { name: 'reports of all sales, as many as may wait', run: asking(4, 'POST', () => '/api/v2/reports', json, report) },
  {
    name: 'streams of changes, 200 connections',
    run: by => hold(by, 200, socket => socket.write(head(by, 'GET', '/changes', 'Accept: text/event-stream\r\n'))),
  },
  {
    name: 'wrong passwords, 16 at once',
    run: asking(16, 'GET', () => '/api/v2/orders/o-1', {
      authorization: `Basic ${Buffer.from('maria:wrong').toString('base64')}`,
    }),
  },
  {
    name: 'GET in a pipeline, 4 connections',
    run: by =>
      hold(by, 4, socket => {
        const many = head(by, 'GET', '/api/v2/orders?size=100').repeat(100)
        const write = (): void => {
          while (!by.signal.aborted && !socket.destroyed && socket.write(many));
        }
        socket.on('drain', write)
        write()
      }),
  },
  { name: 'searches by 400 to 499 words, 16 at once', run: asking(16, 'GET', i => `/api/v2/search?q=${wordsOf(i)}`) },
  {
    name: 'searches by a frequent word with a filter, 16 at once',
    run: asking(16, 'GET', i => `/api/v2/search?q=tenth${i % 10}&state=paid&size=${20 + (i % 9)}`),
  },
  {
    name: 'exact counts, 16 at once',
    run: asking(16, 'GET', i => `/api/v2/orders?total[gte]=${i % 100}.00&sort=total`, { prefer: 'count=exact' }),
  },
  {
    name: 'bulk removals, 4 at once',
    run: asking(4, 'DELETE', i => `/api/v2/orders?state=cancelled&total[gte]=${i % 100}.00`),
  },
  {
    name: 'contents that come slowly, 200 connections',
    run: by =>
      hold(by, 200, socket => {
        socket.write(head(by, 'POST', '/api/v2/orders', 'Content-Type: application/json\r\nContent-Length: 100000\r\n'))
        const drip = setInterval(() => socket.write(' '.repeat(100)), 100)
        socket.on('close', () => clearInterval(drip))
      }),
  },
]
