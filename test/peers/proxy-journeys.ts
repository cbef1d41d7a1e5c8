/**
 * What clients do, written once, for any number of instances over any store. Each journey is a conversation; what is compared
 * is everything a client can see of it but names, times and what is left of limits.
 */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { likePng } from '../support/png.ts'
import { type Answer, ask, type Fields } from './curl-request.ts'

/** One request and its answer, without what differs from run to run. */
export type Line = readonly [request: string, status: number, fields: Fields, content: unknown]

export interface Place {
  readonly url: string
  /** The certificate of `url`. */
  readonly ca?: string
  /** The same over TLS, where `url` is not a place for passwords. */
  readonly secured?: Place
  token(subject: string, role: string, claim?: string): string
}

export interface Journey {
  readonly title: string
  /** Rule A5.1: behind a proxy, over TLS alone. */
  readonly sendsPassword?: true
  readonly go: (talk: Talk) => Promise<void>
}

const told = ['content-type', 'allow', 'location', 'link', 'retry-after', 'vary', 'cache-control', 'content-range']
/** Behind a proxy content coding is left to the proxy, so the service's answers do not vary with it there. */
const varies = (field: string): string => field.replace(/Accept-Encoding(?:, |$)/, '')
/** Identifiers that were made up, times of this run, and what follows from them. */
const own =
  /\b(o|p|c|s|j|pay|file)-[0-9a-z]{20}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|"[0-9a-f]{16}-[0-9a-f]+"|cursor=[\w-]+|(?<=<version>)\d+(?=<)|urn:(uuid|diglot:message):[\w-]+|127\.0\.0\.1:\d+/g
const plain = (text: string): string =>
  text.replace(own, found => (/^[a-z]+[-=]/.test(found) ? found.replace(/[-=].*/, '-…') : '…'))

export class Talk {
  readonly lines: Line[] = []
  readonly place: Place
  readonly #tokens = new Map<string, string>()

  constructor(place: Place) {
    this.place = place
  }

  /** `who`: '' for nobody, `subject role` or `subject role claim=value`. Texts and octets are sent as they are, other content as JSON. */
  async say(who: string, request: string, content?: unknown, fields: Fields = {}): Promise<Answer> {
    const [method = 'GET', target = '/'] = request.split(' ')
    const isWritten = content === undefined || typeof content === 'string' || Buffer.isBuffer(content)
    const text = isWritten ? content : JSON.stringify(content)
    const typed = !isWritten && { 'content-type': 'application/json' }
    const answer = await ask(new URL(target, this.place.url).href, {
      method,
      fields: { ...typed, ...(who && { authorization: `Bearer ${this.#token(who)}` }), ...fields },
      ...(text !== undefined && { content: text }),
      ...(this.place.ca !== undefined && { ca: this.place.ca }),
    })
    const seen = told.flatMap(name => {
      const shown = varies(plain(answer.fields[name] ?? ''))
      return shown === '' ? [] : [[name, shown]]
    })
    this.lines.push([plain(request), answer.status, Object.fromEntries(seen), plain(answer.content.toString('utf8'))])
    return answer
  }

  #token(who: string): string {
    let found = this.#tokens.get(who)
    if (!found) {
      const [subject = '', role = '', claim] = who.split(' ')
      this.#tokens.set(who, (found = this.place.token(subject, role, claim)))
    }
    return found
  }
}

const body = (answer: Answer) => JSON.parse(answer.content.toString('utf8'))
const at = (answer: Answer): string => {
  const { location } = answer.fields
  assert.ok(location, `${answer.status} has no Location: ${answer.content}`)
  return new URL(location, 'http://x').pathname
}
const alice = 'alice customer customer=c-1'
const clerk = 'clara clerk'
const manager = 'maria manager'
const order = { lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' }
const merge = { 'content-type': 'application/merge-patch+json' }
const envelope = (inner: string, head = '') =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header>${head}</e:Header><e:Body>${inner}</e:Body></e:Envelope>`
const soap = { 'content-type': 'application/soap+xml' }

async function ordered(talk: Talk): Promise<string> {
  const made = await talk.say(alice, 'POST /api/orders', order)
  assert.equal(made.status, 201)
  return at(made)
}

export const journeys: readonly Journey[] = [
  {
    title: 'A3.4 an order lives from placed to delivered; each answer offers what its state does',
    go: async talk => {
      const target = await ordered(talk)
      await talk.say(alice, `GET ${target}`)
      await talk.say(clerk, `POST ${target}/shipment`, { carrier: 'dhl' })
      await talk.say(alice, `POST ${target}/payment`, { method: 'card', amount: '4.95' })
      await talk.say(alice, `GET ${target}/payment`)
      await talk.say(clerk, `POST ${target}/shipment`, { carrier: 'dhl' })
      await talk.say(alice, `GET ${target}/tracking`)
      await talk.say(clerk, `POST ${target}/delivery`, {})
      assert.equal(body(await talk.say(alice, `GET ${target}`)).state, 'delivered')
      assert.equal((await talk.say(alice, `POST ${target}/cancellation`, {})).status, 409)
      assert.equal((await talk.say('bruno customer customer=c-2', `GET ${target}`)).status, 404)
    },
  },
  {
    title: 'A4.17 conditional requests: what one instance has said, every other one knows',
    go: async talk => {
      const target = await ordered(talk)
      for (let round = 0; round < 6; round++) {
        const seen = await talk.say(clerk, `GET ${target}`)
        const etag = seen.fields['etag'] ?? ''
        assert.equal((await talk.say(clerk, `GET ${target}`, undefined, { 'if-none-match': etag })).status, 304)
        const note = { note: `round ${round}` }
        const changed = await talk.say(clerk, `PATCH ${target}`, note, { ...merge, 'if-match': etag })
        assert.equal(changed.status, 200)
        assert.equal((await talk.say(clerk, `PATCH ${target}`, note, { ...merge, 'if-match': etag })).status, 412)
        assert.equal(body(await talk.say(clerk, `GET ${target}`)).note, note.note)
      }
      assert.equal((await talk.say(clerk, `PATCH ${target}`, { note: 'blind' }, merge)).status, 428)
    },
  },
  {
    title: 'A4.6 pages by cursor: each order once, whoever gives the next page',
    go: async talk => {
      const seen: string[] = []
      let next: string | undefined = '/api/orders?size=9&sort=placedAt&placedAt[lt]=2026-02-01T00:00:00Z'
      while (next) {
        const page = await talk.say(clerk, `GET ${next}`, undefined, { accept: 'application/json' })
        assert.equal(page.status, 200)
        seen.push(...body(page).items.map((item: { id: string }) => item.id))
        next = /<([^>]+)>; rel="next"/.exec(page.fields['link'] ?? '')?.[1]
      }
      assert.equal(new Set(seen).size, seen.length)
      assert.equal(seen.length, 100)
    },
  },
  {
    title: 'A4.12 a search has an address that every instance knows, and its maker alone',
    go: async talk => {
      const made = await talk.say(clerk, 'POST /api/searches', { q: 'fragile' })
      for (let i = 0; i < 4; i++) assert.equal((await talk.say(clerk, `GET ${at(made)}`)).status, 200)
      assert.equal((await talk.say(manager, `GET ${at(made)}`)).status, 404)
    },
  },
  {
    title: 'row 25: a key has one effect, also when all are asked at once',
    go: async talk => {
      const fields = { 'idempotency-key': '"the-one"' }
      const first = await talk.say(alice, 'POST /api/orders', order, fields)
      for (let i = 0; i < 4; i++) {
        const again = await talk.say(alice, 'POST /api/orders', order, fields)
        assert.deepEqual([again.status, at(again)], [201, at(first)])
      }
      assert.equal((await talk.say(alice, 'POST /api/orders', { ...order, currency: 'USD' }, fields)).status, 422)
      const quiet = new Talk(talk.place)
      const together = await Promise.all(
        Array.from({ length: 6 }, () => quiet.say(alice, 'POST /api/orders', order, { 'idempotency-key': '"all"' })),
      )
      const made = together.filter(each => each.status === 201)
      assert.equal(new Set(made.map(at)).size, 1)
      for (const { status } of together) assert.ok(status === 201 || status === 409, `${status}`)
    },
  },
  {
    title: 'A3.1–A3.3 a job started anywhere is seen everywhere, to its result; a cancelled one has none',
    go: async talk => {
      const wish = { from: '2026-01-01', to: '2026-01-31', kind: 'stock' }
      const started = await talk.say(clerk, 'POST /api/reports', wish)
      assert.equal(started.status, 202)
      const quiet = new Talk(talk.place)
      for (let tries = 0; tries < 200; tries++) {
        if (body(await quiet.say(clerk, `GET ${at(started)}`)).state === 'completed') break
        await pause(50)
      }
      const done = await talk.say(clerk, `GET ${at(started)}`)
      const result = body(done)._links.related.href
      const report = await talk.say(clerk, `GET ${result}`)
      assert.equal(report.status, 200)
      assert.equal((await talk.say(clerk, `GET ${result}`, undefined, { accept: 'text/csv' })).status, 200)
      assert.equal((await talk.say(manager, `GET ${result}`)).status, 404)
      const other = await quiet.say(clerk, 'POST /api/reports', wish)
      const cancelled = await quiet.say(clerk, `POST ${at(other)}/cancellation`, {})
      if (cancelled.status < 300) assert.equal(body(await quiet.say(clerk, `GET ${at(other)}`)).state, 'cancelled')
    },
  },
  {
    title: 'A8.1 a limit is one over all instances: thirty searches a minute, and no more',
    go: async talk => {
      const statuses: number[] = []
      for (let i = 0; i < 33; i++)
        statuses.push((await talk.say('busy clerk', 'POST /api/searches', { q: 'gift' })).status)
      assert.deepEqual(statuses, [...new Array(30).fill(201), 429, 429, 429])
    },
  },
  {
    title: 'A4.20 a file put anywhere is read everywhere, in parts as well',
    go: async talk => {
      const fields = { 'content-type': 'image/png' }
      const picture = Buffer.from(likePng(Buffer.from('________not really a picture')))
      await talk.say(manager, 'PUT /api/products/p-7/picture', picture, fields)
      for (let i = 0; i < 3; i++) {
        const part = await talk.say('', 'GET /api/products/p-7/picture', undefined, { range: 'bytes=12-17' })
        assert.deepEqual([part.status, part.content.toString()], [206, 'really'])
      }
    },
  },
  {
    title: 'both faces: what one has written the other reads; a MessageID has one effect',
    go: async talk => {
      const target = await ordered(talk)
      const id = target.split('/').at(-1)
      const get = envelope(`<GetOrder xmlns="urn:diglot:orders:v1"><id>${id}</id></GetOrder>`)
      assert.equal((await talk.say(clerk, 'POST /soap/v1', get, soap)).status, 200)
      const wsa = 'xmlns:a="http://www.w3.org/2005/08/addressing"'
      const head = `<a:MessageID ${wsa}>urn:uuid:6b29fc40-ca47-1067-b31d-00dd010662da</a:MessageID><a:Action ${wsa}>urn:diglot:orders:v1/CancelOrder</a:Action>`
      const cancel = envelope(`<CancelOrder xmlns="urn:diglot:orders:v1"><id>${id}</id></CancelOrder>`, head)
      const first = await talk.say(clerk, 'POST /soap/v1', cancel, soap)
      const again = await talk.say(clerk, 'POST /soap/v1', cancel, soap)
      assert.equal(again.status, first.status)
      const state = body(await talk.say(clerk, `GET ${target}`)).state
      assert.equal(state, first.status === 200 ? 'cancelled' : 'placed')
    },
  },
  {
    title: 'A7.6 what has moved or gone is so for every instance',
    go: async talk => {
      const merged = await talk.say(manager, 'POST /api/customers/c-2/merger', { into: 'c-3' })
      assert.equal(merged.status, 200)
      for (let i = 0; i < 3; i++) assert.equal((await talk.say(manager, 'GET /api/customers/c-2')).status, 301)
      assert.equal((await talk.say(manager, 'DELETE /api/orders/o-5', undefined, { 'if-match': '*' })).status, 204)
      for (let i = 0; i < 3; i++) assert.equal((await talk.say(manager, 'GET /api/orders/o-5')).status, 410)
      assert.equal(
        (await talk.say(manager, 'DELETE /api/orders?state=cancelled&placedAt[lt]=2026-02-01T00:00:00Z')).status,
        200,
      )
    },
  },
  {
    title: 'A5.3 who signs in at one instance is known at the other',
    sendsPassword: true,
    go: async talk => {
      const fields = { 'content-type': 'application/x-www-form-urlencoded' }
      const quiet = new Talk(talk.place)
      const signed = await quiet.say('', 'POST /login', 'name=clara&password=clara-secret', fields)
      const cookie = signed.fields['set-cookie']?.split(';')[0] ?? ''
      assert.notEqual(cookie, '')
      for (let i = 0; i < 4; i++)
        assert.equal((await talk.say('', 'GET /api/orders/o-1', undefined, { cookie })).status, 200)
    },
  },
]
