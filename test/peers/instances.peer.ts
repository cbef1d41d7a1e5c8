/** A1.2, A1.5: one suite of journeys over SQLite, PostgreSQL, and two instances behind nginx; no client can tell which it was. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type Database, database, noDatabase } from './database.ts'
import { nginxOf } from './nginx-balancer.ts'
import { folder, missing, type Running, root, run, service } from './peer.ts'
import { type Journey, journeys, type Line, type Place, Talk } from './proxy-journeys.ts'

const skip = noDatabase() || missing('nginx', 'nginx', ['-v'])

/** Tokens by the key that all instances share. */
const placeOf = (url: string, data: string): Place => ({
  url,
  token: (subject, role, claim) =>
    run(process.execPath, [
      '--conditions=diglot-source',
      join(root, 'src', 'cli.ts'),
      'token',
      ...['--subject', subject, '--role', role, '--data', data, ...(claim ? ['--claim', claim] : [])],
    ]).trim(),
})

async function travelled(journey: Journey, place: Place): Promise<readonly Line[]> {
  const talk = new Talk(journey.sendsPassword ? (place.secured ?? place) : place)
  await journey.go(talk)
  return talk.lines
}

describe('journeys', { skip }, () => {
  const places = new Map<string, Place>()
  const instances: Running[] = []
  let shared: Database
  before(async () => {
    const own = join(folder(), 'orders.sqlite')
    places.set('SQLite', placeOf((await service([], own)).url, own))
    const workers = join(folder(), 'orders.sqlite')
    places.set('SQLite, two processes', placeOf((await service(['--workers', '2'], workers)).url, workers))
    const alone = await database()
    const data = join(folder(), 'keys')
    places.set('PostgreSQL', placeOf((await service(['--database', alone.url], data)).url, data))
    shared = await database()
    const files = join(folder(), 'keys')
    for (let i = 0; i < 2; i++)
      instances.push(await service(['--trust-proxy', '--insecure', '--database', shared.url], files))
    const front = await nginxOf(instances.map(each => each.url))
    const place = placeOf(front.url, files)
    places.set('two instances behind nginx', { ...place, secured: { ...place, ...front.secured } })
  })

  for (const journey of journeys)
    it(journey.title, async () => {
      const told = new Map<string, readonly Line[]>()
      for (const [name, place] of places) told.set(name, await travelled(journey, place))
      const [first, ...others] = [...told]
      for (const [name, lines] of others) assert.deepEqual(lines, first?.[1], `${name} differs from ${first?.[0]}`)
    })

  it('both instances have responded', async () => {
    const { token } = places.get('two instances behind nginx') ?? placeOf('', '')
    // A peer that a trusted proxy does not name is not taken for this machine: figures ask it for credentials.
    const headers = { authorization: `Bearer ${token('maria', 'manager')}` }
    for (const { url } of instances) {
      const text = await (await fetch(`${url}/metrics`, { headers })).text()
      const count = Number(/diglot_http_responses_total\{face="rest",status="200"\} (\d+)/.exec(text)?.[1])
      assert.ok(count > 20, `${count} answers of ${url}`)
    }
  })

  it('row 1 of operations: metrics are not public', async () => {
    const { url } = places.get('two instances behind nginx') ?? { url: '' }
    assert.equal((await fetch(`${url}/metrics`)).status, 404)
  })

  it('one instance stops gracefully: no client is refused', async () => {
    const { url, token } = places.get('two instances behind nginx') ?? placeOf('', '')
    const authorization = `Bearer ${token('maria', 'manager')}`
    let going = true
    const statuses: number[] = []
    const asking = Array.from({ length: 4 }, async () => {
      while (going) {
        const answer = await fetch(`${url}/api/products/p-3`, { headers: { authorization } })
        await answer.arrayBuffer()
        statuses.push(answer.status)
      }
    })
    await new Promise(resolve => setTimeout(resolve, 200))
    await instances[0]?.stop('SIGTERM')
    await new Promise(resolve => setTimeout(resolve, 500))
    going = false
    await Promise.all(asking)
    assert.ok(statuses.length > 50)
    assert.deepEqual([...new Set(statuses)], [200])
  })
})
