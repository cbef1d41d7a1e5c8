/** REST beside a bare Fastify route on the same database file. */
import { join } from 'node:path'
import { signToken } from '../src/identity/bearer-token.ts'
import { openLocalKey } from '../src/identity/local-key.ts'
import {
  type Ask,
  answerTo,
  compare,
  inFolder,
  peersInstalled,
  type Row,
  row,
  start,
  stayOff,
  stop,
} from './harness.ts'

const get = (target: string, fields: Record<string, string> = {}): string =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** What a clerk asks of the orders in this file. */
export async function orderAsk(data: string) {
  const clara = { subject: 'clara', roles: ['clerk'], expires: 3600 }
  const token = await signToken(openLocalKey(`${data}.key`), 'orders', clara, Date.now())
  const fields = { Authorization: `Bearer ${token}`, Accept: 'application/json' }
  const ask = (target: string, contains: string, more = {}, status = 200): Ask => ({
    request: get(target, { ...fields, ...more }),
    contains,
    status,
  })
  return {
    token,
    item: ask('/api/orders/o-1', '"id":"o-1"'),
    page: ask('/api/orders', '"id":"o-100"'),
    same: (tag: string) => ask('/api/orders/o-1', 'etag', { 'If-None-Match': tag }, 304),
  }
}

export const rest = (): Promise<Row[]> =>
  inFolder(async folder => {
    peersInstalled()
    stayOff()
    const data = join(folder, 'orders.sqlite')
    const diglot = await start('diglot', 'diglot.ts', [data])
    const fastify = await start('fastify', 'fastify.js', [data])
    try {
      const { item, page, same } = await orderAsk(data)
      const [, tag = ''] = /\r\netag: *(.*)\r\n/i.exec(await answerTo(diglot.port, item)) ?? []
      const beside = (each: Ask) => compare({ target: diglot, ask: each }, { target: fastify, ask: each })
      const matched = await compare({ target: diglot, ask: same(tag) }, { target: diglot, ask: item })
      return [
        row('REST item GET, everything on', 'bare Fastify 5, same SELECT', '≥ 1.1', await beside(item)),
        row('list of 20 with links and cursor', 'bare Fastify 5, same SELECT', '≥ 1.1', await beside(page)),
        row('304 by a version tag', 'own 200', '≤ 0.75', matched),
      ]
    } finally {
      for (const each of [diglot, fastify]) stop(each)
    }
  })
