/**
 * Several processes on one machine (rule A1.2): one address, one file, one limit, and no difference
 * to a client.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createMemoryWindows, createSharedLimiter } from '../../src/service/limiter.ts'
import { bearer, json, sendRequest } from './hosted-service.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-cluster-'))
const orders = join(root, 'examples', 'orders', 'service.ts')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

function startCli(...words: string[]) {
  const child = spawn(process.execPath, [...cli, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const said = { out: '', err: '' }
  child.stdout.on('data', piece => (said.out += piece))
  child.stderr.on('data', piece => (said.err += piece))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  return { child, said, ended }
}

async function waitUntil(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await holds()) return
    await pause(50)
  }
  assert.fail(what)
}

describe('diglot serve --workers 2', async () => {
  const data = join(folder, 'orders.sqlite')
  const { child, said, ended } = startCli('serve', orders, '--port', '0', '--data', data, '--workers', '2')
  await waitUntil(() => said.out.includes('listening on'), 'it does not listen')
  const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said.out)?.[1])
  const ask = (method: string, path: string, fields = {}, content?: string) =>
    sendRequest(port, method, path, fields, content)
  const token = (subject: string, role: string) =>
    execFileSync(process.execPath, [...cli, 'token', '--subject', subject, '--role', role, '--data', data], {
      encoding: 'utf8',
    }).trim()
  const manager = bearer(token('maria', 'manager'))
  const workers = (): number[] =>
    execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
      .map(Number)

  test('prints once where it listens', () => {
    assert.equal(said.out.match(/listening on/g)?.length, 1)
    assert.equal(workers().length, 2)
  })

  test('a request for figures gets a response even if it is the first to a worker', async () => {
    for (let i = 0; i < 4; i++) assert.equal((await ask('GET', '/metrics')).status, 200)
  })

  test('A8.1 one limit: each response has one less remaining, from any process', async () => {
    const left: number[] = []
    for (let i = 0; i < 10; i++) {
      const { fields } = await ask('GET', '/api/v1/products/p-1')
      left.push(Number(/;r=(\d+)/.exec(String(fields['ratelimit']))?.[1]))
    }
    assert.deepEqual(
      left,
      left.map((_, i) => (left[0] ?? 0) - i),
    )
  })

  test('both write to one file: each change is there, versions rise by one, none is lost', async () => {
    const product = JSON.stringify({ name: 'Lamp', price: '1.00', stock: 0 })
    const made = await ask('POST', '/api/v1/products', { ...manager, ...json }, product)
    const target = new URL(String(made.fields['location']), 'http://x').pathname
    const add = async (): Promise<void> => {
      for (;;) {
        const seen = await ask('GET', target, manager)
        const { stock } = JSON.parse(seen.text)
        const next = JSON.stringify({ stock: stock + 1 })
        const fields = {
          ...manager,
          'content-type': 'application/merge-patch+json',
          'if-match': String(seen.fields['etag']),
        }
        const { status } = await ask('PATCH', target, fields, next)
        if (status === 200) return
        assert.equal(status, 412)
      }
    }
    await Promise.all(Array.from({ length: 24 }, add))
    assert.equal(JSON.parse((await ask('GET', target, manager)).text).stock, 24)
  })

  test('a key is used once, by any process', async () => {
    const product = JSON.stringify({ name: 'Vase', price: '1.00', stock: 0 })
    const fields = { ...manager, ...json, 'idempotency-key': '"one"' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', '/api/v1/products', fields, product)))
    const made = answers.filter(each => each.status === 201)
    assert.ok(made.length > 0)
    assert.equal(new Set(made.map(each => each.fields['location'])).size, 1)
    for (const { status } of answers) assert.ok(status === 201 || status === 409, `${status}`)
  })

  test('the figures are totals of all of them', async () => {
    const sum = async () =>
      Number(
        /diglot_http_responses_total\{face="rest",status="200"\} (\d+)/.exec((await ask('GET', '/metrics')).text)?.[1],
      )
    const before = await sum()
    for (let i = 0; i < 7; i++) await ask('GET', '/api/v1/products/p-1')
    assert.equal(await sum(), before + 7)
  })

  test('a worker that dies is replaced, and what it had written is there', async () => {
    const made = await ask(
      'POST',
      '/api/v1/products',
      { ...manager, ...json },
      JSON.stringify({ name: 'Kettle', price: '1.00', stock: 0 }),
    )
    const [first = 0] = workers()
    process.kill(first, 'SIGKILL')
    await waitUntil(() => workers().length === 2 && !workers().includes(first), 'it is not replaced')
    await waitUntil(() => said.err.includes('a worker ended (SIGKILL)'), 'nobody says so')
    await waitUntil(
      async () => (await ask('GET', '/health/ready').catch(() => undefined))?.status === 200,
      'it does not answer',
    )
    const target = new URL(String(made.fields['location']), 'http://x').pathname
    for (let i = 0; i < 4; i++) assert.equal((await ask('GET', target)).status, 200)
  })

  test('a signal ends all of them cleanly', async () => {
    const all = workers()
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    for (const each of all) assert.throws(() => process.kill(each, 0))
  })
})

test('a service that cannot start ends with the cause, and leaves no process', async () => {
  const data = join(folder, 'other.sqlite')
  writeFileSync(data, 'a text that is no database')
  const { said, ended } = startCli('serve', orders, '--port', '0', '--data', data, '--workers', '2')
  assert.equal(await ended, 1)
  assert.equal(said.out, '')
  assert.match(said.err, /^diglot: the database file .*other\.sqlite cannot be used: file is not a database/)
})

test('A8.1 a limit over instances is exact, and needs one query for many requests', async () => {
  const count = createMemoryWindows()
  let asks = 0
  const ask = async (counts: Parameters<typeof count>[0]) => {
    asks++
    await pause(5)
    return count(counts, 0)
  }
  const [one, two] = [createSharedLimiter(ask), createSharedLimiter(ask)]
  const rate = { count: 30, seconds: 60 }
  const taken = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).take('caller', rate, 0)))
  assert.equal(taken.filter(each => each.exceeded).length, 10)
  assert.deepEqual(
    taken
      .map(each => each.remaining)
      .filter(left => left > 0)
      .sort((a, b) => a - b),
    Array.from({ length: 29 }, (_, i) => i + 1),
  )
  assert.ok(asks <= 4, `${asks} asks`)
})

test('A8.1 a large limit over instances is never exceeded, is used but for one in a hundred each, and needs few queries', async () => {
  const count = createMemoryWindows()
  let asks = 0
  let now = 0
  const ask = async (counts: Parameters<typeof count>[0]) => {
    asks++
    return count(counts, now)
  }
  const all = Array.from({ length: 3 }, () => createSharedLimiter(ask))
  const rate = { count: 1000, seconds: 60 }
  let admitted = 0
  let fewest = rate.count
  for (let i = 0; i < 200; i++) {
    const taken = await Promise.all(Array.from({ length: 10 }, async () => all[i % 3]?.take('caller', rate, i)))
    for (const one of taken) {
      if (one && !one.exceeded) admitted++
      fewest = Math.min(fewest, one?.remaining ?? 0)
    }
  }
  assert.ok(admitted <= rate.count && admitted >= rate.count - 3 * 10, `${admitted} let in`)
  assert.equal(fewest, 0)
  now = 60_001
  const next = await all[0]?.take('caller', rate, now)
  assert.equal(next?.exceeded, false, 'another window')
  asks = 0
  for (let i = 0; i < 100; i++)
    for (const caller of ['busy', 'too'])
      await Promise.all(
        Array.from({ length: 10 }, async () => all[0]?.take(caller, { count: 10_000, seconds: 60 }, now)),
      )
  assert.ok(asks < 50, `${asks} asks for two hundred times ten`)
})

test('A8.1 counts that an instance takes ahead end with the window, to the millisecond', async () => {
  const count = createMemoryWindows()
  let now = 0
  const shared = createSharedLimiter(async counts => count(counts, now))
  const rate = { count: 10_000, seconds: 60 }
  await Promise.all(Array.from({ length: 10 }, () => shared.take('a', rate, now)))
  now = 59_999
  assert.equal((await shared.take('a', rate, now)).remaining, 9_989)
  now = 60_000
  assert.equal((await shared.take('a', rate, now)).remaining, 9_999)
})

test('A8.1 while the windows are unreachable, each instance counts for itself', async () => {
  const alone = createSharedLimiter(async () => {
    throw new Error('out of reach')
  })
  const rate = { count: 2, seconds: 60 }
  const taken = [await alone.take('a', rate, 0), await alone.take('a', rate, 0), await alone.take('a', rate, 0)]
  assert.deepEqual(
    taken.map(each => each.exceeded),
    [false, false, true],
  )
})

test('A8.1 windows that do not respond delay one caller a second, and count again for all when they are back', async () => {
  let gone = true
  let asks = 0
  const outages: PromiseWithResolvers<never>[] = []
  const fail = async (): Promise<void> => {
    while (outages.length === 0) await pause(1)
    outages.pop()?.reject(new Error('out of reach'))
  }
  const count = createMemoryWindows()
  const shared = createSharedLimiter(async counts => {
    asks++
    if (!gone) return count(counts, 0)
    const outage = Promise.withResolvers<never>()
    outages.push(outage)
    return outage.promise
  })
  const rate = { count: 100, seconds: 60 }
  const takeNine = (now: number) => Promise.all(Array.from({ length: 9 }, () => shared.take('a', rate, now)))
  const held = shared.take('a', rate, 0)
  await fail()
  await held
  await takeNine(999) // nobody waits
  const first = shared.take('a', rate, 1000)
  await takeNine(1000) // nobody waits with the one that asks
  await fail()
  await first
  assert.equal(asks, 2)
  gone = false
  await shared.take('a', rate, 2000)
  const other = createSharedLimiter(async counts => count(counts, 0))
  assert.equal((await other.take('a', rate, 2000)).remaining, 98)
  assert.equal((await shared.take('a', rate, 2001)).remaining, 97)
})

test('A8.1 a worker that loops endlessly is killed and replaced, and keeps no service from stopping', async () => {
  const script = join(import.meta.dirname, 'looping-workers-process.ts')
  const child = spawn(process.execPath, ['--conditions=diglot-source', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let out = ''
  for await (const piece of child.stdout) out += piece
  const [killed, ended, replaced, ...later] = out.trim().split('\n')
  assert.match(killed ?? '', /^worker \d+ has not responded for 0\.9 s, and is ended$/)
  assert.deepEqual([ended, replaced], ['a worker ended (SIGKILL)', 'replaced'])
  assert.deepEqual(
    later.map(line => line.replace(/\d+/, '')),
    [...Array(2).fill('worker  has not responded for 0.9 s, and is ended'), 'closed'],
  )
})
