/**
 * Conditional changes and jobs under faults: instances killed, the database stopped and crashed, connections cut and silenced,
 * the clock moved, the disk full. What is checked, of what clients were told alone:
 *  (1) No answered write is lost: what stands in the end is at least as new as the newest answer.
 *  (2) No version is used twice: of all writes that were answered, no two have one tag.
 *  (3) No update is lost: a write that was answered stands on the one it was conditional on; of two on the same, one is refused.
 *  (4) Reads follow time: who reads after a write was answered sees it, or a later one.
 *  (5) A job that was accepted comes to its end, and to one result.
 *  (6) An instance ends when it is killed and never by itself, and is ready half a minute after the last fault.
 * A write that nobody answered may or may not have happened. About a minute; `FAULT_MINUTES=10` for longer.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import orders from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { proxy } from '../proxy.ts'
import { type Answer, ask } from './curl-request.ts'
import { type Database, database, noDatabase } from './database.ts'
import { atEnd, folder, type Running, root, run, service } from './peer.ts'

const cli = join(root, 'src', 'cli.ts')
/** What a trial needs of an instance. */
type Served = Pick<Running, 'url' | 'token' | 'stop'> & Partial<Running>

const minutes = Number(process.env['FAULT_MINUTES'] ?? 0.35)

/** An instance that is started again on the same port when it was killed. */
class Instance {
  running: Served
  readonly #start: () => Promise<Served>
  constructor(running: Served, start: () => Promise<Served>) {
    this.running = running
    this.#start = start
  }
  static async of(start: () => Promise<Served>): Promise<Instance> {
    return new Instance(await start(), start)
  }
  async kill(): Promise<void> {
    this.lives()
    await this.running.stop('SIGKILL')
    for (;;) {
      const started = await this.#start().catch(() => undefined) // the database may be out of reach as well
      if (started) {
        this.running = started
        return
      }
      await pause(200)
    }
  }
  lives(): void {
    const { url, process } = this.running
    assert.equal(process?.exitCode ?? null, null, `(6) ${url} has ended by itself`)
  }
}

/** One write that was answered: it stands on the tag it was conditional on. */
interface Written {
  readonly tag: string
  readonly on: string
  readonly value: number
  readonly asked: number
  readonly answered: number
}
interface Seen {
  readonly value: number
  readonly tag: string
  readonly asked: number
}
interface History {
  readonly written: Written[]
  readonly seen: Seen[]
  /** Values of writes that nobody answered. */
  readonly unknown: Set<number>
  refused: number
}

const merge = { 'content-type': 'application/merge-patch+json' }
const bodyOf = (answer: Answer) => JSON.parse(answer.content.toString('utf8'))
let last = 0

/** Reads a product and writes its stock on the condition that nothing has changed; each value is written by one client once. */
async function client(
  url: () => string,
  target: string,
  fields: () => Record<string, string>,
  going: () => boolean,
  history: History,
): Promise<void> {
  while (going()) {
    const asked = performance.now()
    const got = await ask(`${url()}${target}`, { fields: fields() }).catch(() => undefined)
    if (got?.status !== 200) {
      await pause(20)
      continue
    }
    const on = got.fields['etag'] ?? ''
    history.seen.push({ value: bodyOf(got).stock, tag: on, asked })
    const value = ++last
    const sent = performance.now()
    const content = JSON.stringify({ stock: value })
    const put = await ask(`${url()}${target}`, {
      method: 'PATCH',
      fields: { ...fields(), ...merge, 'if-match': on },
      content,
    }).catch(() => undefined)
    if (put?.status === 200) {
      const tag = put.fields['etag'] ?? ''
      history.written.push({ tag, on, value, asked: sent, answered: performance.now() })
    } else if (put?.status === 412 || put?.status === 429) history.refused++
    else history.unknown.add(value) // 500, 502, 503 or nothing: it may have been done
    if (put?.status === 429) await pause(200)
  }
}

const versionOf = (tag: string): number => Number(/^"(\d+)-/.exec(tag)?.[1])

function check(history: History, end: { readonly value: number; readonly tag: string }): void {
  const { written, seen, unknown } = history
  const tags = new Map<string, number>()
  for (const { tag, value } of [...written, ...seen, end]) {
    assert.equal(tags.get(tag) ?? value, value, `(2) ${tag} was of two values`)
    tags.set(tag, value)
  }
  const versions = new Map<number, string>()
  for (const { tag } of [...written, ...seen, end]) {
    assert.equal(versions.get(versionOf(tag)) ?? tag, tag, `(2) version ${versionOf(tag)} was of two representations`)
    versions.set(versionOf(tag), tag)
  }
  const inOrder = [...versions.keys()].sort((a, b) => a - b)
  const following = new Map(inOrder.map((version, at) => [version, inOrder[at + 1]]))
  const onto = new Map<string, Written>()
  for (const write of written) {
    assert.equal(onto.get(write.on), undefined, `(3) two writes stand on ${write.on}`)
    onto.set(write.on, write)
    // Versions are times: later ones are larger, and no other that is known lies between the two.
    assert.equal(
      versionOf(write.tag),
      following.get(versionOf(write.on)),
      `(3) ${write.tag} does not stand on ${write.on}`,
    )
  }
  const known = new Set(written.map(each => each.value))
  for (const { value } of seen)
    assert.ok(value === first || known.has(value) || unknown.has(value), `(3) ${value} was refused, and yet was there`)
  const byAnswer = [...written].sort((a, b) => a.answered - b.answered)
  const byTime = [...seen.map(each => ({ ...each, version: versionOf(each.tag) }))].sort((a, b) => a.asked - b.asked)
  let newest = 0
  let at = 0
  for (const read of byTime) {
    for (; at < byAnswer.length && (byAnswer[at]?.answered ?? 0) < read.asked; at++)
      newest = Math.max(newest, versionOf(byAnswer[at]?.tag ?? ''))
    assert.ok(read.version >= newest, `(4) version ${read.version} was read after ${newest} was answered`)
  }
  for (const write of byAnswer) newest = Math.max(newest, versionOf(write.tag))
  assert.ok(versionOf(end.tag) >= newest, `(1) ${end.tag} stands in the end, and version ${newest} was answered`)
}
/** The stock that a product has at first. */
const first = 0

const wish = JSON.stringify({ from: '2026-01-01', to: '2026-01-31', kind: 'stock' })
const json = { 'content-type': 'application/json' }

/** Starts jobs all the time; answers where they are. */
async function jobs(url: () => string, fields: () => Record<string, string>, going: () => boolean): Promise<string[]> {
  const started: string[] = []
  while (going()) {
    const answer = await ask(`${url()}/api/reports`, {
      method: 'POST',
      fields: { ...fields(), ...json },
      content: wish,
    }).catch(() => undefined)
    if (answer?.status === 202) started.push(answer.fields['location'] ?? '')
    await pause(150)
  }
  return started
}

async function ended(url: string, fields: Record<string, string>, job: string): Promise<string> {
  for (let tries = 0; tries < 900; tries++) {
    const answer = await ask(`${url}${job}`, { fields }).catch(() => undefined)
    assert.notEqual(answer?.status, 404, `(5) ${job} is lost`)
    if (answer?.status === 200 && !['queued', 'running'].includes(bodyOf(answer).state)) return bodyOf(answer).state
    await pause(100)
  }
  return assert.fail(`(5) ${job} does not come to its end`)
}

interface Trial {
  readonly instances: readonly Instance[]
  readonly faults: readonly (readonly [string, () => Promise<void>])[]
  readonly peace?: () => void
}

/** Clients, jobs and faults for a while; then peace, and the check. */
async function trial({ instances, faults, peace }: Trial, forMinutes: number): Promise<string> {
  const running = instances[0]?.running
  assert.ok(running)
  const manager = { authorization: `Bearer ${running.token('maria', 'manager')}` }
  // A customer for each client and one for jobs: no limit is what is tried here.
  const who = Array.from({ length: 8 }, (_, i) => ({
    authorization: `Bearer ${running.token(`manager-${i}`, 'manager')}`,
  }))
  const targets: string[] = []
  for (let i = 0; i < 3; i++) {
    const content = JSON.stringify({ name: `Faulted ${i}`, price: '1.00', stock: first })
    const made = await ask(`${running.url}/api/products`, { method: 'POST', fields: { ...manager, ...json }, content })
    assert.equal(made.status, 201)
    targets.push(made.fields['location'] ?? '')
  }
  const histories = targets.map((): History => ({ written: [], seen: [], unknown: new Set(), refused: 0 }))
  const until = performance.now() + forMinutes * 60_000
  const going = () => performance.now() < until
  const any = (): string => instances[Math.floor(Math.random() * instances.length)]?.running.url ?? ''
  const clients = who.flatMap((fields, i) => {
    const target = targets[i % targets.length]
    const history = histories[i % targets.length]
    return target && history ? [client(any, target, () => fields, going, history)] : []
  })
  const starting = jobs(any, () => manager, going)
  const done: Record<string, number> = {}
  for (let round = shuffled(faults); going(); ) {
    const [name, fault] = round.pop() ?? fail()
    await fault()
    done[name] = (done[name] ?? 0) + 1
    await pause(400)
    if (round.length === 0) round = shuffled(faults)
  }
  await Promise.all(clients)
  const started = await starting
  peace?.()
  await settled(instances)
  const url = instances[0]?.running.url ?? ''
  for (const [i, target] of targets.entries()) {
    const end = await ask(`${url}${target}`, { fields: manager })
    assert.equal(end.status, 200)
    const history = histories[i]
    if (history) check(history, { value: bodyOf(end).stock, tag: end.fields['etag'] ?? '' })
  }
  const results = new Map<string, string>()
  for (const job of started) {
    assert.equal(await ended(url, manager, job), 'completed', `(5) ${job}`)
    const result = await ask(`${url}${job.replace('/jobs/', '/')}`, { fields: manager })
    assert.equal(result.status, 200)
    results.set(job, result.fields['etag'] ?? '')
  }
  await pause(1500)
  for (const [job, tag] of results) {
    const again = await ask(`${url}${job.replace('/jobs/', '/')}`, { fields: manager })
    assert.equal(again.fields['etag'], tag, `(5) ${job} was completed twice`)
  }
  const sum = (of: (history: History) => number) => histories.reduce((all, each) => all + of(each), 0)
  assert.ok(sum(each => each.written.length) > 20, 'hardly anything was written')
  const faulted = Object.entries(done).map(([name, count]) => `${name} ×${count}`)
  return `${sum(each => each.written.length)} written, ${sum(each => each.refused)} refused, ${sum(each => each.unknown.size)} unanswered, ${sum(each => each.seen.length)} read, ${started.length} jobs; ${faulted.join(', ')}`
}

/** Each comes once in a round. */
const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map(each => ({ each, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each)
const fail = (): never => assert.fail('a trial has faults')

/** (6) */
async function settled(instances: readonly Instance[]): Promise<void> {
  const until = performance.now() + 30_000
  for (const instance of instances)
    for (;;) {
      const { url } = instance.running
      const ready = await ask(`${url}/health/ready`).catch(() => undefined)
      if (ready?.status === 200) break
      instance.lives()
      const said = ready ? `${ready.status} ${ready.content}` : 'no answer'
      assert.ok(performance.now() < until, `(6) ${url} does not recover by itself: ${said}`)
      await pause(100)
    }
}

/** Those killed come back on the port they had. */
const again = (flags: readonly string[], data: string): (() => Promise<Running>) => {
  let port: string | undefined
  return async () => {
    const running = await service([...flags, ...(port ? ['--port', port] : [])], data)
    port = new URL(running.url).port
    return running
  }
}

/** Each waits much of its time. */
describe('faults', { skip: noDatabase(), concurrency: 2 }, () => {
  it('two instances on PostgreSQL: killed, its server restarted and crashed, connections cut and silenced', async t => {
    const shared: Database = await database({ durable: true })
    const between = await proxy({ host: '127.0.0.1', port: shared.port })
    atEnd(() => between.close())
    const url = shared.url.replace(`:${shared.port}`, `:${between.port}`)
    const data = join(folder(), 'keys')
    const start = again(['--database', url], data)
    const instances = [await Instance.of(start), await Instance.of(again(['--database', url], data))]
    const faults = [
      ['kill -9 of an instance', () => instances[Math.floor(Math.random() * 2)]?.kill() ?? Promise.resolve()],
      ['connections cut', async () => between.cut()],
      [
        'connections silent',
        async () => {
          between.silence()
          await pause(2000)
          between.speak()
        },
      ],
      [
        'PostgreSQL restarted',
        async () => {
          await shared.stop('SIGINT')
          await pause(300)
          await shared.start()
        },
      ],
      [
        'PostgreSQL crashed',
        async () => {
          await shared.stop('SIGQUIT')
          await shared.start()
        },
      ],
    ] as const
    t.diagnostic(await trial({ instances, faults }, minutes))
  })

  it('two processes on one SQLite file: killed, the disk full for a while', async t => {
    const disk = tmpfs()
    const start = again(['--workers', '2'], join(disk?.at ?? folder(), 'orders.sqlite'))
    const instances = [await Instance.of(start)]
    const faults = [
      ['kill -9 of all', () => instances[0]?.kill() ?? Promise.resolve()],
      ['kill -9 of one', async () => killOne(instances[0]?.running.process?.pid ?? 0)],
      ...(disk ? [['disk full', disk.full] as const] : []),
    ] as const
    if (!disk) t.diagnostic('the disk was not filled: mounting is not permitted here')
    t.diagnostic(await trial({ instances, faults }, minutes))
  })
})

it('two instances on one SQLite file whose clocks jump, each its own way', async t => {
  const data = join(folder(), 'orders.sqlite')
  const made = await Promise.all([moved(data), moved(data)])
  const faults = made.map(
    ({ jump }, i) =>
      [
        `clock ${i + 1} moved`,
        async () => {
          jump((Math.random() - 0.5) * 3_600_000)
          await pause(200)
        },
      ] as const,
  )
  // What was due by the clock that was furthest ahead is due then.
  const peace = (): void => {
    for (const { jump } of made) jump(1_800_000)
  }
  t.diagnostic(await trial({ instances: made.map(each => each.instance), faults, peace }, minutes / 3))
})

it('files that fill a disk leave room for other changes', async t => {
  const disk = tmpfs()
  if (!disk) return t.skip('mounting is not permitted here')
  const { url, token } = await service([], join(disk.at, 'orders.sqlite'))
  const fields = { authorization: `Bearer ${token('maria', 'manager')}` }
  const product = {
    method: 'POST',
    fields: { ...fields, ...json },
    content: '{"name":"Filed","price":"1.00","stock":1}',
  }
  const made = await ask(`${url}/api/products`, product)
  const picture = {
    method: 'PUT',
    fields: { ...fields, 'content-type': 'image/png' },
    content: Buffer.alloc(4_000_000),
  }
  let status = 0
  for (let tries = 0; tries < 20 && status !== 503; tries++) {
    const { location = '' } = (await ask(`${url}/api/products`, product)).fields
    status = (await ask(`${url}${location}/picture`, picture)).status
  }
  assert.equal(status, 503)
  assert.equal((await ask(`${url}/api/products`, product)).status, 201)
  assert.equal((await ask(`${url}/health/ready`)).status, 200)
  assert.equal((await ask(`${url}${made.fields['location']}`, { fields })).status, 200)
})

/** An instance in this process, for the clock is its own. */
async function moved(data: string) {
  let off = 0
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const server = await startService(orders, { port: 0, data, logger, clock: () => Date.now() + off })
  atEnd(() => server.close(0))
  const token = (subject: string, role: string): string =>
    run(process.execPath, [
      '--conditions=diglot-source',
      cli,
      'token',
      '--subject',
      subject,
      '--role',
      role,
      '--data',
      data,
    ]).trim()
  const stop = (): Promise<void> => server.close(0)
  const instance = new Instance({ url: server.url, token, stop }, () => assert.fail('it is not killed'))
  return { instance, jump: (by: number) => (off = by) }
}

function killOne(parent: number): void {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' })
  const [one] = stdout.trim().split(/\s+/).map(Number)
  if (one) process.kill(one, 'SIGKILL')
}

/** A disk of 24 MB that can be filled; undefined where mounting is not permitted. */
function tmpfs(): { readonly at: string; readonly full: () => Promise<void> } | undefined {
  const at = folder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', at]).status !== 0) return undefined
  atEnd(() => void spawnSync('umount', ['-l', at]))
  chmodSync(at, 0o700)
  const filler = join(at, 'filler')
  return {
    at,
    full: async () => {
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { stdio: 'ignore' })
      await pause(700)
      spawnSync('rm', ['-f', filler])
    },
  }
}
