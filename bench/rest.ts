/** REST beside a bare Fastify route on the same database file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localKey } from '../src/host/key.ts'
import { sign } from '../src/host/token.ts'
import { type Ask, compare, load, peersInstalled, type Row, start, stayOff, stop } from './harness.ts'

const get = (target: string, fields: Record<string, string> = {}): string =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

export async function rest(): Promise<Row[]> {
  peersInstalled()
  stayOff()
  const folder = mkdtempSync(join(tmpdir(), 'diglot-bench-'))
  const data = join(folder, 'orders.sqlite')
  const diglot = await start('diglot', 'diglot.ts', [data])
  const fastify = await start('fastify', 'fastify.js', [data])
  try {
    const token = await sign(
      localKey(`${data}.key`),
      'orders',
      { subject: 'clara', roles: ['clerk'], expires: 3600 },
      Date.now(),
    )
    const bearer = { Authorization: `Bearer ${token}`, Accept: 'application/json' }
    const ask = (target: string, contains: string, fields = {}): Ask => ({
      request: get(target, { ...bearer, ...fields }),
      contains,
      status: 200,
    })
    const item = ask('/api/orders/o-1', '"id":"o-1"')
    const page = ask('/api/orders', '"id":"o-100"')
    const theirs = (each: Ask) => ({ target: fastify, ask: each })
    const one = await compare({ target: diglot, ask: item }, theirs(item))
    const list = await compare({ target: diglot, ask: page }, theirs(page), { count: 800 })
    const head = await fetch(`http://127.0.0.1:${diglot.port}/api/orders/o-1`, { headers: bearer })
    await head.arrayBuffer()
    const same: Ask = {
      request: get('/api/orders/o-1', { ...bearer, 'If-None-Match': head.headers.get('etag') ?? '' }),
      contains: 'etag',
      status: 304,
    }
    const matched = await compare({ target: diglot, ask: same }, { target: diglot, ask: item })
    await load(diglot.port, item, 1)
    const micro = (found: { ours: number; theirs: number }): string =>
      `${found.ours.toFixed(0)} µs, ${found.theirs.toFixed(0)} µs`
    return [
      {
        what: 'REST item GET, everything on',
        against: 'bare Fastify 5, same SELECT',
        ratio: one.ratio,
        goal: '≥ 1.1',
        note: micro(one),
      },
      {
        what: 'list of 20 with links and cursor',
        against: 'Fastify, same SELECT',
        ratio: list.ratio,
        goal: '≥ 1.1',
        note: micro(list),
      },
      {
        what: '304 by a version tag',
        against: 'own 200 (cost as a part of it)',
        ratio: 1 / matched.ratio,
        goal: '≤ 0.75',
        note: micro(matched),
      },
    ]
  } finally {
    stop(diglot)
    stop(fastify)
    rmSync(folder, { recursive: true, force: true })
  }
}
