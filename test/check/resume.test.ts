/** `--resume`: an interrupted run goes on where it stood, cleans up, and takes no other for itself. */
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { performCheck } from '../../src/check/command.ts'
import {
  type CheckOptions,
  type CheckReport,
  type CheckRule,
  checkRules,
  createMemoryTransport,
  JournalMismatch,
  RunJournal,
  runCheck,
} from '../../src/check/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { changing, json } from './mutation.ts'
import { ordersOptions, type Serve, serveOrdersInMemory } from './orders-in-memory.ts'

const folder = await mkdtemp(join(tmpdir(), 'diglot-resume-'))
after(() => rm(folder, { recursive: true }))

const summaryOf = ({ verdicts }: CheckReport): readonly string[] =>
  verdicts.map(({ rule, status }) => `${rule.id} ${status}`)

class Killed extends Error {}
/** The program ends: nothing more is sent, and nothing is removed. */
const stopAfter = (serve: Serve, count: number): Serve => {
  let left = count
  return async request => {
    left -= 1
    if (left < 0) throw new Killed()
    return serve(request)
  }
}
const runWith = (serve: Serve, file: string, more: CheckOptions = {}): Promise<CheckReport> =>
  runCheck(createMemoryTransport(serve), { ...ordersOptions, journal: new RunJournal(file), ...more })

const countOrders = async (serve: Serve): Promise<number> => {
  let count = 0
  const counting: Serve = changing(
    ({ method, path, status }) => method === 'GET' && path === '/api/v2/orders' && status === 200,
    json(value => {
      count = value.items.length
      return value
    }),
  )(serve)
  await runCheck(createMemoryTransport(counting), { ...ordersOptions, allowChanges: false, rules: [] })
  return count
}

it('continues where it stopped, says so, repeats nothing, and removes the items created before', async () => {
  const file = join(folder, 'run.jsonl')
  const serve = await serveOrdersInMemory()
  const whole = await runCheck(createMemoryTransport(await serveOrdersInMemory()), ordersOptions)
  const before = await countOrders(serve)
  await assert.rejects(runWith(stopAfter(serve, 250), file), Killed)
  const { earlier } = new RunJournal(file)
  assert.ok(earlier && earlier.verdicts.length > 20, `${earlier?.verdicts.length} rules were tried`)

  let sent = 0
  const tried: string[] = []
  const rules = checkRules.map((rule): CheckRule => {
    const probe: CheckRule['probe'] = trial => {
      tried.push(rule.id)
      return rule.probe(trial)
    }
    return { ...rule, probe }
  })
  const counted: Serve = request => {
    sent += 1
    return serve(request)
  }
  const report = await runWith(counted, file, { rules })
  assert.deepEqual(
    tried.filter(id => earlier.verdicts.some(verdict => verdict.id === id)),
    [],
  )
  assert.deepEqual(summaryOf(report), summaryOf(whole))
  assert.match(
    report.remarks.join('\n'),
    new RegExp(`resumed: ${earlier.verdicts.length} of ${checkRules.length} rules`),
  )
  assert.ok(sent < whole.requests, `${sent} of ${whole.requests} requests`)
  assert.equal(await countOrders(serve), before)
  assert.ok(!existsSync(file), 'the journal of a run that has ended is removed')
})

it('is readable by its owner only, and holds no credential', async () => {
  const file = join(folder, 'secret.jsonl')
  await assert.rejects(runWith(stopAfter(await serveOrdersInMemory(), 300), file), Killed)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const decoded = readFileSync(file, 'utf8').replaceAll(/"content":"([^"]*)"/g, (_, given) =>
    Buffer.from(given, 'base64').toString('latin1'),
  )
  for (const secret of ['alice-secret', Buffer.from('alice:alice-secret').toString('base64')])
    assert.ok(!decoded.includes(secret), secret)
})

it('skips a truncated line, and the rule of that line is tried again', async () => {
  const file = join(folder, 'cut.jsonl')
  const serve = await serveOrdersInMemory()
  await assert.rejects(runWith(stopAfter(serve, 120), file), Killed)
  const count = new RunJournal(file).earlier?.verdicts.length
  appendFileSync(file, '{"verdict":{"id":"B9.1","sta')
  assert.equal(new RunJournal(file).earlier?.verdicts.length, count)
})

it('a run that ran out of time leaves its journal, and the next one tries the missing rules', async () => {
  const file = join(folder, 'time.jsonl')
  const serve = await serveOrdersInMemory()
  const rules = checkRules.filter(({ id }) => id.startsWith('A1.'))
  const timeLimitMs = 3000
  const slow: Serve = async request => {
    if (request.method === 'TRACE') await setTimeout(timeLimitMs + 50)
    return serve(request)
  }
  const first = await runWith(slow, file, { rules, timeLimitMs })
  assert.match(first.remarks.join('\n'), /the time ran out .*--resume/)
  const second = await runWith(serve, file, { rules })
  assert.deepEqual(
    second.verdicts.filter(({ reason }) => /more time than/.test(reason)),
    [],
  )
  assert.ok(!existsSync(file))
})

it('refuses the journal of another address, version, set of rules, callers or permission', async () => {
  const file = join(folder, 'other.jsonl')
  const serve = await serveOrdersInMemory()
  await assert.rejects(runWith(stopAfter(serve, 100), file), Killed)
  const kept = readFileSync(file, 'utf8')
  const renewed = changing(
    ({ path }) => path === '/openapi.json',
    json(value => ({ ...value, info: { ...value.info, version: '9.9' } })),
  )(serve)
  const run = (serve: Serve, more: CheckOptions = {}, origin?: string): Promise<CheckReport> =>
    runCheck(createMemoryTransport(serve, origin === undefined ? {} : { origin }), {
      ...ordersOptions,
      journal: new RunJournal(file),
      ...more,
    })
  const others: readonly (readonly [RegExp, Promise<CheckReport>])[] = [
    [/another address, http:\/\/memory\.test\//, run(serve, {}, 'http://other.test')],
    [/another address/, run(serve, { basePath: '/api' })],
    [/of the service, which has 9\.9 now/, run(renewed)],
    [/other rules/, run(serve, { rules: checkRules.slice(1) })],
    [/other callers, alice, clara, maria/, run(serve, { callers: [] })],
    [/a run with --allow-changes/, run(serve, { allowChanges: false })],
  ]
  for (const [says, started] of others)
    await assert.rejects(started, thrown => thrown instanceof JournalMismatch && says.test(thrown.message))
  assert.equal(readFileSync(file, 'utf8'), kept, 'the journal is as it was')
})

it('the command refuses a file that is not a journal, with status 2', async () => {
  const { server } = await startHosted()
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'milk\neggs\n')
  const flags = { caller: [], token: [], key: [], wsdl: [], rule: ['A1.3'], rate: 1000, time: 60, resume: file }
  await assert.rejects(performCheck(server.url, flags), /notes\.txt is not of an earlier run: give another file/)
  assert.equal(readFileSync(file, 'utf8'), 'milk\neggs\n')
  const { text } = await performCheck(server.url, { ...flags, resume: join(folder, 'new.jsonl') })
  assert.match(text, /1 pass/)
})
