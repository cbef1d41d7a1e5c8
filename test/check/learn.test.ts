/** `--learn`: a first profile, which changes nothing, holds no secret, and serves a run. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CheckImpossible, performCheck } from '../../src/check/command.ts'
import { createMemoryTransport, learnProfile, readProfile, runCheck } from '../../src/check/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { changing, text } from './mutation.ts'
import { ordersOptions, serveOrdersInMemory } from './orders-in-memory.ts'

const folder = await mkdtemp(join(tmpdir(), 'diglot-learn-'))
after(() => rm(folder, { recursive: true }))

const { callers = [] } = ordersOptions
const rate = 100_000

describe('a learned profile of the orders service', async () => {
  const serve = await serveOrdersInMemory()
  const sent: string[] = []
  const transport = createMemoryTransport(async request => {
    const text = new TextDecoder().decode((await request.content.bytes(1e7)) ?? new Uint8Array(0))
    sent.push(`${request.method} ${text}`)
    return serve(request)
  })
  const learned = await learnProfile(transport, { callers, rate })

  it('is found without changes, even where changes were allowed', async () => {
    const again = await learnProfile(transport, { callers, rate, allowChanges: true })
    assert.deepEqual(again, learned)
    const changing = sent.filter(each => !/^GET |^POST [\s\S]*<p:(?:Get|List|Find)\w+/.test(each))
    assert.deepEqual(changing, [])
  })

  it('names callers, where changes may be made, and states', () => {
    assert.deepEqual(learned.callers?.[0], { name: 'alice', passwordFrom: 'CHECK_ALICE_PASSWORD' })
    assert.ok(!JSON.stringify(learned).includes('alice-secret'))
    assert.deepEqual(learned.mayCreate, ['/api/v2/orders', '/api/v2/customers', '/api/v2/products'])
    assert.match((learned.notes ?? []).join('\n'), /\/api\/v2\/searches: what is created there cannot be removed/)
    assert.equal(learned.machines?.['/api/v2/orders']?.member, 'state')
    assert.ok(learned.machines?.['/api/v2/orders']?.states.includes('delivered'))
  })

  it('notes a declared state that no item is in', async () => {
    const mutated = changing(
      ({ method, path }) => method === 'GET' && path === '/api/v2/orders',
      text(given => given.replaceAll('"state":"cancelled"', '"state":"placed"')),
    )
    const { notes, machines } = await learnProfile(createMemoryTransport(mutated(serve)), { callers, rate })
    assert.deepEqual(machines, learned.machines)
    assert.ok(notes?.includes('/api/v2/orders: no item was seen in cancelled.'), (notes ?? []).join('\n'))
  })

  it('leaves out of mayCreate what no caller may remove', async () => {
    const mutated = changing(
      ({ method, path }) => method === 'GET' && path === '/api/v2/products',
      text(given => given.replaceAll('"delete":', '"remove":')),
    )
    const { mayCreate, notes } = await learnProfile(createMemoryTransport(mutated(serve)), { callers, rate })
    assert.deepEqual(mayCreate, ['/api/v2/orders', '/api/v2/customers'])
    assert.match((notes ?? []).join(), /\/api\/v2\/products: what is created there cannot be removed/)
  })

  it('has content for requests and messages', () => {
    assert.ok(learned.samples?.['POST /api/v2/orders'])
    assert.ok(learned.samples?.['POST /api/v2/searches'])
    assert.deepEqual(learned.messages?.['GetProduct'], { id: 'p-1' })
  })

  it('keeps the entries of an older profile', async () => {
    const samples = { 'POST /api/v2/orders': { note: 'mine' } }
    const profile = { samples, mayCreate: ['/api/v2/orders'], exceptions: { 'A1.9': 'old paths' } }
    const again = await learnProfile(transport, { callers, rate, profile })
    assert.deepEqual(again.samples?.['POST /api/v2/orders'], { note: 'mine' })
    assert.deepEqual(again.mayCreate, ['/api/v2/orders'])
    assert.deepEqual(again.exceptions, { 'A1.9': 'old paths' })
  })

  it('serves a run, which creates nothing where items cannot be removed', async () => {
    const file = join(folder, 'learned.json')
    await writeFile(file, JSON.stringify(learned))
    const options = { ...ordersOptions, profile: await readProfile(file) }
    const report = await runCheck(createMemoryTransport(await serveOrdersInMemory()), options)
    const isFailed = report.verdicts.filter(({ status }) => status === 'fail')
    assert.deepEqual(
      isFailed.map(({ rule, reason }) => `${rule.id} ${reason}`),
      [],
    )
    const unseen = new Set(report.verdicts.filter(each => each.status === 'not observable').map(({ rule }) => rule.id))
    assert.ok(
      ['A8.1', 'A4.22', 'A7.14'].every(id => unseen.has(id)),
      'no limit is stated',
    )
    assert.ok(report.verdicts.filter(({ status }) => status === 'pass').length > 75)
  })
})

it('a run changes nothing but what mayCreate lists', async () => {
  const serve = await serveOrdersInMemory()
  const changed = new Set<string>()
  const transport = createMemoryTransport(async request => {
    const [path = ''] = request.target.split('?')
    if (/^(?:POST|PUT|PATCH|DELETE)$/.test(request.method) && !path.startsWith('/soap'))
      changed.add(path.split('/').slice(0, 4).join('/'))
    return serve(request)
  })
  const { profile, ...options } = ordersOptions
  const { limit: _, bulk: __, ...rest } = profile ?? {}
  await runCheck(transport, { ...options, profile: { ...rest, mayCreate: ['/api/v2/products'] } })
  assert.deepEqual([...changed], ['/api/v2/products'])
})

describe('the command line', async () => {
  const { server } = await startHosted()
  const flags = { caller: ['alice:alice-secret'], token: [], key: [], wsdl: [], rule: [], rate: 1000, time: 60 }
  const file = join(folder, 'profile.json')

  it('writes a readable file, and a run reads its callers from the environment', async () => {
    const { text, status } = await performCheck(server.url, { ...flags, learn: file })
    assert.equal(status, 0)
    assert.match(text, /profile\.json is written:\n {2}What a check of http/)
    assert.match(await readFile(file, 'utf8'), /^\{\n {2}"notes": \[\n/)
    const run = { ...flags, caller: [], profile: file, rule: ['A5.1'] }
    await assert.rejects(performCheck(server.url, run), /set the environment variable CHECK_ALICE_PASSWORD/)
    process.env['CHECK_ALICE_PASSWORD'] = 'alice-secret'
    after(() => delete process.env['CHECK_ALICE_PASSWORD'])
    assert.match((await performCheck(server.url, run)).text, /1 pass/)
  })

  it('reports what is wrong with a profile, and the cure, before any request', async () => {
    const write = async (name: string, value: unknown): Promise<string> => {
      await writeFile(join(folder, name), JSON.stringify(value))
      return join(folder, name)
    }
    const nowhere = 'http://127.0.0.1:9'
    const absent = join(folder, 'nowhere', 'a.html')
    for (const [given, says] of [
      [{ profile: join(folder, 'none.json') }, /none\.json not found: give the file of a profile/],
      [{ baseline: join(folder, 'none.json') }, /none\.json not found: give a file that --json has written/],
      [{ html: absent }, /a\.html cannot be written: give a file in a folder that exists/],
      [{ json: folder }, /cannot be written/],
      [{ profile: await write('1.json', { samples: [1] }) }, /samples of .*1\.json is \[1\]: give an object/],
      [
        { profile: await write('2.json', { callers: 'x' }) },
        /callers of .* is "x": give a list of objects with a name/,
      ],
      [{ profile: await write('3.json', { mayCreate: '/x' }) }, /mayCreate of .* is "\/x": give a list of texts/],
      [
        { profile: await write('4.json', { limit: { path: '/x' } }) },
        /limit of .*: give an object with the texts method/,
      ],
      [{ profile: await write('5.json', { exceptions: { 'A9.99': 'typo' } }) }, /A9\.99 is not a known rule/],
      [{ profile: await write('6.json', { mayCreat: [] }) }, /unknown member mayCreat/],
    ] as const)
      await assert.rejects(performCheck(nowhere, { ...flags, ...given }), (thrown: unknown) => {
        assert.ok(thrown instanceof CheckImpossible)
        assert.match(thrown.message, says)
        return true
      })
  })

  it('replaces no file, and prints only JSON to standard output', async () => {
    await assert.rejects(performCheck(server.url, { ...flags, learn: file }), /already exists/)
    await assert.rejects(performCheck(server.url, { ...flags, learn: join(folder, 'a.ts') }), /give one with \.json/)
    assert.ok(!existsSync(join(folder, 'a.ts')))
  })
})
