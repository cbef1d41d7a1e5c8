/** Clients of two instances that record what they ask and see, while faults come; then their history is judged. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Deed,
  judgeFeed,
  judgeHistory,
  outcomeOf,
  type QuotedPosition,
  readWholeFeed,
  type ToldChange,
} from '../support/history.ts'

export interface Setting {
  /** Addresses of the instances that answer now; they change as faults come. */
  readonly urls: () => readonly string[]
  readonly token: (client: number) => string
  /** One fault and its end. */
  readonly fault: () => Promise<void>
}
export interface Judged {
  readonly problems: readonly string[]
  readonly reads: number
  readonly changes: number
  readonly unknown: number
  readonly orders: number
  readonly faults: number
}

const keys = ['h-1', 'h-2', 'h-3']
/** What orders that are shipped are of. */
const shipped = 'h-s'
const counting = 8
const quoting = 3
const ordering = 3

const priceAt = (position: number): string => `${position + 1}.00`
const positionOf = (price: string): number => Number(price) - 1
const valueAt = (position: number, mark: string) => ({
  name: 'n',
  price: priceAt(position),
  stock: 1000,
  description: mark,
})

interface Product {
  readonly price: string
  readonly stock: number
  readonly description: string
}
interface Order {
  readonly id: string
  readonly total: string
  readonly lines: readonly { readonly price: string }[]
}

class Clients {
  readonly deeds: Deed[] = []
  readonly quoted: QuotedPosition[] = []
  readonly ordered: string[] = []
  readonly followed: ToldChange[] = []
  readonly #setting: Setting
  going = true

  constructor(setting: Setting) {
    this.#setting = setting
  }

  async ask(client: number, method: string, path: string, content?: unknown, more = {}) {
    const all = this.#setting.urls()
    const url = all[Math.floor(Math.random() * all.length)] ?? ''
    const headers = {
      authorization: `Bearer ${this.#setting.token(client)}`,
      'content-type': 'application/json',
      ...more,
    }
    const body = content === undefined ? undefined : JSON.stringify(content)
    const signal = AbortSignal.timeout(15_000)
    const answer = await fetch(url + path, { method, headers, signal, ...(body !== undefined && { body }) })
    return { status: answer.status, tag: answer.headers.get('etag') ?? undefined, text: await answer.text() }
  }

  /** Until it is answered: by success, or by a refusal that another try would meet again. */
  async insist(...asked: Parameters<Clients['ask']>): Promise<string> {
    const until = performance.now() + 60_000
    for (;;) {
      const answer = await this.ask(...asked).catch(thrown => ({ status: 599, text: String(thrown) }))
      if (answer.status < 300) return answer.text
      const isOver = performance.now() > until || (answer.status < 500 && ![409, 429].includes(answer.status))
      if (isOver) throw new Error(`${asked[1]} ${asked[2]}: ${answer.status} ${answer.text}`)
      await pause(100)
    }
  }

  async product(id: string): Promise<Product> {
    return JSON.parse(await this.insist(0, 'GET', `/api/v2/products/${id}`)) as Product
  }

  async #read(client: number, key: string): Promise<Deed | undefined> {
    const began = performance.now()
    const { status, text, tag } = await this.ask(client, 'GET', `/api/v2/products/${key}`).catch(() => nothing)
    if (status !== 200) return undefined
    const { price, description: mark } = JSON.parse(text) as Product
    const position = positionOf(price)
    const deed: Deed = { key, kind: 'read', began, ended: performance.now(), outcome: 'done', position, mark, tag }
    this.deeds.push(deed)
    return deed
  }

  /** Reads a key and writes the next position, if it is still the next one. */
  async count(client: number): Promise<void> {
    for (let n = 0; this.going; n++) {
      const seen = await this.#read(client, keys[(client + n) % keys.length] ?? '')
      if (!seen) {
        await pause(50)
        continue
      }
      const { key, position: before, tag = '' } = seen
      const [position, mark, began] = [before + 1, `c${client}-${n}`, performance.now()]
      const content = valueAt(position, mark)
      const { status } = await this.ask(client, 'PUT', `/api/v2/products/${key}`, content, { 'if-match': tag }).catch(
        () => nothing,
      )
      const outcome = outcomeOf(status)
      const ended = outcome === 'unknown' ? Number.POSITIVE_INFINITY : performance.now()
      this.deeds.push({ key, kind: 'set', began, ended, outcome, position, mark })
    }
  }

  /** Orders take the price of a key as it is when they are made; each is made under a key of its own. */
  async quote(client: number): Promise<void> {
    for (let n = 0; this.going; n++) {
      const key = keys[(client + n) % keys.length] ?? ''
      const content = { customer: 'c-1', currency: 'EUR', lines: [{ product: key, quantity: 1 }] }
      const more = { 'idempotency-key': `"quote-${client}-${n}"` }
      const { id, lines } = JSON.parse(await this.insist(client, 'POST', '/api/v2/orders', content, more)) as Order
      this.quoted.push({ id, key, position: positionOf(lines[0]?.price ?? '') })
    }
  }

  /** Orders that are made, paid and shipped, each under a key, whatever it takes: shipping takes one from the stock. */
  async order(client: number): Promise<void> {
    for (let n = 0; this.going; n++) {
      const once = (what: string) => ({ 'idempotency-key': `"${what}-${client}-${n}"` })
      const content = { customer: 'c-1', currency: 'EUR', lines: [{ product: shipped, quantity: 1 }] }
      const made = await this.insist(client, 'POST', '/api/v2/orders', content, once('order'))
      const { id, total } = JSON.parse(made) as Order
      const at = `/api/v2/orders/${id}`
      await this.insist(client, 'POST', `${at}/payment`, { method: 'card', amount: total }, once('pay'))
      await this.insist(client, 'POST', `${at}/shipment`, { carrier: 'dhl' }, once('ship'))
      this.ordered.push(id)
      await pause(20)
    }
  }

  /** @param after the last sequence that is known */
  async changesAfter(after: number): Promise<readonly ToldChange[]> {
    return (JSON.parse(await this.insist(0, 'GET', `/changes?after=${after}&limit=100`)) as { items: ToldChange[] })
      .items
  }

  async follow(): Promise<void> {
    while (this.going) {
      const found = await this.changesAfter(this.followed.at(-1)?.sequence ?? 0)
      this.followed.push(...found)
      if (found.length === 0) await pause(10)
    }
  }

  allChanges(): Promise<readonly ToldChange[]> {
    return readWholeFeed(sequence => this.changesAfter(sequence))
  }

  async readAll(): Promise<ReadonlyMap<string, number>> {
    const last = new Map<string, number>()
    for (const key of keys) {
      let seen: Deed | undefined
      while (!seen) seen = await this.#read(0, key)
      last.set(key, seen.position)
    }
    return last
  }
}

const nothing = { status: 599, text: '', tag: undefined }

/** @param seconds for which clients ask; faults come one after the other */
export async function judgeService(setting: Setting, seconds: number): Promise<Judged> {
  const clients = new Clients(setting)
  for (const key of keys) await clients.insist(0, 'PUT', `/api/v2/products/${key}`, valueAt(0, 'start'))
  const content = { name: 's', price: '1.00', stock: 1_000_000 }
  await clients.insist(0, 'PUT', `/api/v2/products/${shipped}`, content)
  const { stock } = await clients.product(shipped)
  const failures: string[] = []
  const fail = (thrown: unknown): void => void failures.push(String(thrown))
  const asking = [
    ...Array.from({ length: counting }, (_, i) => clients.count(i)),
    ...Array.from({ length: quoting }, (_, i) => clients.quote(i)),
    ...Array.from({ length: ordering }, (_, i) => clients.order(i)),
    clients.follow(),
  ].map(each => each.catch(fail))
  let faults = 0
  for (const until = performance.now() + seconds * 1000; performance.now() < until; faults++) {
    await pause(1500)
    await setting.fault()
  }
  clients.going = false
  await Promise.all(asking)

  const last = await clients.readAll()
  const told = await clients.allChanges()
  clients.followed.push(...(await clients.changesAfter(clients.followed.at(-1)?.sequence ?? 0)))
  const { deeds, quoted, ordered, followed } = clients
  const problems = [...failures, ...judgeHistory(deeds), ...judgeFeed(told, followed, last, quoted)]
  const taken = stock - (await clients.product(shipped)).stock
  if (taken !== ordered.length) problems.push(`${ordered.length} shipments took ${taken} from the stock`)
  const made = told.filter(each => each.resource === 'orders' && each.what === 'created').length
  const answered = new Set([...ordered, ...quoted.map(each => each.id)])
  if (answered.size !== ordered.length + quoted.length) problems.push('one order answers two keys')
  if (made !== answered.size) problems.push(`${made} orders were made, ${answered.size} were answered`)
  return {
    problems,
    reads: deeds.filter(each => each.kind === 'read').length,
    changes: told.length,
    unknown: deeds.filter(each => each.outcome === 'unknown').length,
    orders: ordered.length,
    faults,
  }
}
