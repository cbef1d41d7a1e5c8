/** Many requests of every kind over one process: memory and descriptors stay where they are once it is warm. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { service } from './peer.ts'

const seconds = Number(process.env['SOAK_SECONDS'] ?? 40)
/** Each from an address of its own, for one address may ask so often and no more. */
const agents = Array.from({ length: 24 }, (_, i) => new Agent({ keepAlive: true, localAddress: `127.0.1.${i + 1}` }))
let turn = 0

function say(url: string, method: string, fields: Record<string, string>, content?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent: agents[turn++ % agents.length], headers: fields }, reply => {
      reply
        .resume()
        .on('end', () => resolve(reply.statusCode ?? 0))
        .on('error', reject)
    })
    asked.on('error', reject).end(content)
  })
}

const envelope = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><GetProduct xmlns="urn:diglot:orders:v1"><id>p-2</id></GetProduct></e:Body></e:Envelope>`

it(`soak: ${seconds} s of requests, heap and descriptors flat`, { skip: process.platform !== 'linux' }, async t => {
  const { url, token, process: child, stop } = await service()
  // Rates are a caller's: these meet theirs now and then, and 429 is an answer like any other.
  const callers = Array.from({ length: 24 }, (_, i) => ({ authorization: `Bearer ${token(`m-${i}`, 'manager')}` }))
  let count = 0
  const bad = new Map<number, number>()
  const round = async (i: number): Promise<void> => {
    const who = callers[i % callers.length] ?? {}
    const json = { ...who, 'content-type': 'application/json' }
    const product = JSON.stringify({ name: `Soaked ${i}`, price: '1.00', stock: i })
    const kinds: readonly (() => Promise<number>)[] = [
      () => say(`${url}/api/products/p-${(i % 20) + 1}`, 'GET', who),
      () => say(`${url}/api/orders?size=20&sort=-total`, 'GET', { ...who, accept: 'application/json' }),
      () => say(`${url}/soap/v1`, 'POST', { ...who, 'content-type': 'application/soap+xml' }, envelope),
      () => say(`${url}/api/products/p-1`, 'GET', { ...who, accept: 'text/html', 'accept-encoding': 'gzip' }),
      () => say(`${url}/api/nowhere`, 'GET', who),
      () => say(`${url}/api/orders`, 'POST', json, '{"broken":'),
    ]
    const changes = i % 60 === 0 ? () => say(`${url}/api/products/soak-${i % 6000}`, 'PUT', json, product) : undefined
    const status = await (changes ?? kinds[i % kinds.length] ?? (async () => 0))()
    count++
    if (status >= 500) bad.set(status, (bad.get(status) ?? 0) + 1)
  }
  const descriptors = (): number => readdirSync(`/proc/${child.pid}/fd`).length
  const heap = async (): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]) / 2 ** 20
  }
  const samples: { readonly requests: number; readonly heap: number; readonly descriptors: number }[] = []
  const until = performance.now() + seconds * 1000
  let i = 0
  const clients = Array.from({ length: 12 }, async () => {
    while (performance.now() < until) await round(i++)
  })
  while (performance.now() < until) {
    // What is used after a collection is what counts: the least of ten looks comes near it.
    const looks: number[] = []
    for (let look = 0; look < 10 && performance.now() < until; look++) {
      looks.push(await heap())
      await pause(seconds * 10)
    }
    if (looks.length === 10) samples.push({ requests: count, heap: Math.min(...looks), descriptors: descriptors() })
  }
  await Promise.all(clients)
  for (const sample of samples)
    t.diagnostic(`${sample.requests} requests: heap ${sample.heap.toFixed(1)} MB, ${sample.descriptors} descriptors`)
  const half = samples.slice(Math.floor(samples.length / 3))
  const [begin, end] = [half[0], half.at(-1)]
  assert.ok(begin && end)
  assert.deepEqual([...bad], [])
  assert.ok(end.heap < begin.heap * 1.25 + 8, `the heap grows: ${begin.heap} MB, then ${end.heap} MB`)
  assert.ok(end.descriptors <= begin.descriptors + 8, `descriptors grow: ${begin.descriptors}, then ${end.descriptors}`)
  await stop()
})
