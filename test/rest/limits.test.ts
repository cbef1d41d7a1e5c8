/** What one request may cost: each limit is the largest allowed value, as documented. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { contentOf } from '../../src/http/message.ts'
import { restLimits } from '../../src/rest/limits.ts'
import { largeContentOctets } from '../../src/service/large-work.ts'
import { json, order, startOrders } from './orders-over-rest.ts'

const KiB = 1024
const MiB = 1024 * KiB

it('docs/operations.md names the octet limits of a page, a change and compressed content', () => {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  for (const sentence of [
    `once its items have ${restLimits.pageOctets / MiB} MiB as they are stored`,
    `A change with content of ${largeContentOctets / KiB} KiB or more`,
    `Content over ${restLimits.codedAtOnceOctets / KiB} KiB is compressed outside the event loop`,
  ])
    assert.ok(text.includes(sentence), sentence)
})

describe('a request', async () => {
  const shop = await startOrders()
  const padded = (octets: number): string => JSON.stringify(order).padEnd(octets)

  for (const [what, more] of [
    ['announced', {}],
    ['in chunks', { isChunked: true }],
  ] as const)
    it(`A8.3 has a content of 1 MiB at most, ${what}`, async () => {
      const send = async (octets: number) => {
        const content = contentOf(padded(octets))
        const sent = 'isChunked' in more ? { ...content, length: undefined } : content
        return (await shop.as.clara('POST', '/api/v2/orders', json, undefined, { content: sent })).status
      }
      assert.deepEqual([await send(MiB), await send(MiB + 1)], [201, 413])
    })

  it('A1.8 has a key of 255 characters at most', async () => {
    const send = async (length: number) => {
      const key = { ...json, 'idempotency-key': `"${'k'.repeat(length)}"` }
      const { status, json: told } = await shop.as.clara('POST', '/api/v2/orders', key, order)
      return status === 201 ? status : told.detail
    }
    assert.equal(await send(255), 201)
    assert.equal(await send(256), 'Idempotency-Key must be a quoted string of at most 255 characters')
  })

  it('A8.3 has 100 parameters at most, and asks for 100 items at most', async () => {
    const ask = async (count: number) => {
      const query = Array.from({ length: count }, (_, i) => `x${i}=1`).join('&')
      return (await shop.as.clara('GET', `/api/v2/orders?${query}`)).json.detail as string
    }
    assert.doesNotMatch(await ask(100), /more than/)
    assert.match(await ask(101), /more than 100 parameters: send fewer/)
    const sizes = await Promise.all([1, 100, 0, 101].map(size => shop.as.clara('GET', `/api/v2/orders?size=${size}`)))
    assert.deepEqual(
      sizes.map(({ status }) => status),
      [200, 200, 400, 400],
    )
  })

  for (const [octets, isRead] of [
    [16 * KiB, true],
    [16 * KiB + 1, false],
    [undefined, false],
  ] as const)
    it(`rows 22–24 with ${octets ?? 'unknown'} octets ${isRead ? 'is' : 'is not'} read before its precondition fails`, async () => {
      let reads = 0
      const text = padded(octets ?? 100)
      const content = {
        ...contentOf(text),
        length: octets,
        bytes: () => {
          reads++
          return new TextEncoder().encode(text)
        },
      }
      const stale = { ...json, 'if-match': '"none"' }
      const { status } = await shop.as.clara('PUT', '/api/v2/orders/o-1', stale, undefined, { content })
      assert.deepEqual([status, reads], [412, isRead ? 1 : 0])
    })

  it('RFC 9110 §8.4 gets a coded response from 1,025 octets on', async () => {
    const lines = ['p-1', 'p-2', 'p-3', 'p-4', 'p-5'].map(product => ({ product, quantity: 1 }))
    const made = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, lines, note: 'n' })
    const at = made.fields['location'] ?? ''
    const asIs = { accept: 'application/json', 'accept-encoding': 'identity' }
    const { bytes } = await shop.as.clara('GET', at, asIs)
    for (const [octets, coding, letter] of [
      [1024, undefined, ''],
      [1025, 'gzip', ''],
      [1024, undefined, '€'],
      [1025, 'gzip', '€'],
    ] as const) {
      const more = 1 + octets - bytes.length
      const note = letter.repeat(more / 3) + 'n'.repeat(letter === '' ? more : more % 3)
      const patch = { 'content-type': 'application/merge-patch+json', 'if-match': '*' }
      await shop.as.clara('PATCH', at, patch, { note })
      assert.equal((await shop.as.clara('GET', at, asIs)).bytes.length, octets)
      const { fields } = await shop.as.clara('GET', at, { ...asIs, 'accept-encoding': 'gzip' })
      assert.equal(fields['content-encoding'], coding)
    }
  })
})

describe('long work in turns', async () => {
  const shop = await startOrders()
  let steps = 0
  const perform = (_caller: string, work: Iterator<unknown, unknown>): unknown => {
    for (;;) {
      const next = work.next()
      if (next.done) return next.value
      steps++
    }
  }
  const run = (_caller: string, work: () => unknown): unknown => work()
  Object.assign(shop.serving, { turns: { perform, run } })
  const stored = (await shop.as.clara('POST', '/api/v2/searches', json, { q: 'lamp' })).fields['location'] ?? ''

  for (const [what, at] of [
    ['a list', '/api/v2/orders?size=10'],
    ['a search', '/api/v2/search?q=lamp&size=10'],
    ['a stored search', `${stored}?size=10`],
  ] as const)
    for (const accept of ['application/json', 'text/html', 'text/csv', 'application/xml'])
      it(`the page of ${what} is written in steps, one for an item at least: ${accept}`, async () => {
        steps = 0
        const { status } = await shop.as.clara('GET', at, { accept })
        assert.equal(status, 200)
        assert.ok(steps >= 10, `${steps} steps`)
      })
})

describe('RFC 7240 §4.3 a caller who waits for a job', async () => {
  let slept: number[] = []
  let doneAfter = Number.POSITIVE_INFINITY
  const shop = await startOrders({
    options: {
      sleep: async (ms: number) => {
        slept.push(ms)
        if (slept.length === doneAfter) await shop.work()
      },
    },
  })
  const report = { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }
  const start = async (prefer: string) => {
    slept = []
    const { json: told, fields } = await shop.as.clara('POST', '/api/v2/reports', { ...json, prefer }, report)
    assert.ok(slept.every(ms => ms === 50))
    return [slept.length, told.state, fields['preference-applied']]
  }
  for (const [prefer, told] of [
    ['wait=1', [20, 'queued', 'wait=1']],
    ['wait=31', [600, 'queued', 'wait=30']],
    ['wait=99999', [600, 'queued', 'wait=30']],
    ['wait=100000', [0, 'queued', undefined]],
    ['wait=0', [0, 'queued', 'wait=0']],
    ['wait=-1', [0, 'queued', undefined]],
    ['wait', [0, 'queued', undefined]],
    ['respond-async', [0, 'queued', 'respond-async']],
    ['respond-async, wait=1', [20, 'queued', 'wait=1, respond-async']],
  ] as const)
    it(`${prefer}: reads it ${told[0]} times while it has not ended`, async () =>
      assert.deepEqual(await start(prefer), told))
  it('gets the response as soon as it has ended', async () => {
    doneAfter = 3
    assert.deepEqual(await start('wait=9'), [3, 'completed', 'wait=9'])
  })
})

describe('a page of any resource', async () => {
  const all = {
    text: t.string(),
    flag: t.boolean(),
    whole: t.int(),
    long: t.long(),
    money: t.decimal(8, 2),
    real: t.double(),
    day: t.date(),
    hour: t.time(),
    moment: t.dateTime(),
    span: t.duration(),
    kind: t.enum('a', 'b'),
  } as const
  const names = Object.keys(all) as (keyof typeof all)[]
  const things = resource('things', { fields: { id: t.id('t'), ...all } }).rules({
    filter: ['id', ...names],
    allow: { read: [anyone] },
  })
  const contract = service('all', { namespace: 'urn:all', resources: [things] })
  const shop = await startOrders({ app: implement(contract, {}) })

  it('has two controls for ordered values, one for the rest, and none for octets', async () => {
    const { text } = await shop.as.anyone('GET', '/api/v1/things', { accept: 'text/html' })
    const labels = [...text.matchAll(/<label for="find-[^"]*">([^<]+)/g)].map(([, label]) => label)
    const both = (name: string) => [`${name} from`, `${name} to`]
    assert.deepEqual(labels, [
      'Id',
      'Text',
      'Flag',
      ...['Whole', 'Long', 'Money', 'Real', 'Day', 'Hour'].flatMap(both),
      'Moment from (UTC)',
      'Moment to (UTC)',
      'Span',
      'Kind',
    ])
  })
})
