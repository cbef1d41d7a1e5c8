/**
 * A service that changes while it runs: the next release starts beside the last one on the same database, both get
 * requests, then the last one is stopped. No request fails, and nothing that was written is lost, forwards or back.
 * In the end a field is dropped under load: the newest release goes on, an older one that was forgotten is not ready.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Server, startService } from '../../src/host/serve.ts'
import { migrateDatabase } from '../../src/host/store/open-store.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { database, noDatabase } from './database.ts'

const plenty = { count: 1e9, seconds: 60 }
function release(fields: Parameters<typeof resource>[1]['fields'], search: readonly string[]) {
  const notes = resource('notes', { fields: { id: t.id('n'), ...fields } }).rules({
    allow: { read: [anyone], create: [anyone], change: [anyone] },
    filter: ['text'],
    search,
  } as never)
  return implement(
    service('notes', {
      namespace: 'urn:diglot:rolling',
      resources: [notes],
      versions: { v1: {} },
      limits: { reads: plenty, changes: plenty },
    }) as never,
    {} as never,
  )
}

const text = t.string({ max: 100 })
/** What each release declares. */
const releases = [
  ['as it began', release({ text, score: t.string({ max: 9 }) }, ['text'])],
  ['a field is added', release({ text, score: t.string({ max: 9 }), hint: text.optional() }, ['text'])],
  ['it is renamed', release({ text, score: t.string({ max: 9 }), remark: text.optional().was('hint') }, ['text'])],
  [
    'a field is about to have another kind',
    release(
      { text, score: t.string({ max: 9 }).optional(), points: t.int().optional(), remark: text.optional().was('hint') },
      ['text'],
    ),
  ],
  ['the old one is left', release({ text, points: t.int().optional(), remark: text.optional().was('hint') }, ['text'])],
] as const

/** What a client of a release writes besides `text`: its own name for the hint, and only what it declares. */
function writeMembers(at: number, note: string, points: number): object {
  return {
    ...(at < 4 && { score: '7' }),
    ...(at === 1 && { hint: note }),
    ...(at > 1 && { remark: note }),
    ...(at > 2 && { points }),
  }
}
/** An item as it was last written, whichever release wrote each member. */
interface WrittenNote {
  readonly text: string
  readonly remark?: string
  readonly points?: number
}
const readMembers = ({ text, hint, remark = hint, points }: WrittenNote & { readonly hint?: string }): WrittenNote => ({
  text,
  ...(remark !== undefined && { remark }),
  ...(points !== undefined && { points }),
})

interface Instance {
  readonly at: number
  readonly server: Server
  isServing: boolean
  busy: number
}

/** An instance that still runs after a field that it declares was dropped. */
async function requireUnavailable(url: string): Promise<void> {
  const ready = await fetch(`${url}/health/ready`)
  assert.equal(ready.status, 503)
  assert.match(await ready.text(), /store without fields that this release declares.*"store":"ok","shape":"failed"/)
  const listed = await fetch(`${url}/api/v1/notes`)
  const headers = { 'content-type': 'application/json' }
  const made = await fetch(`${url}/api/v1/notes`, { method: 'POST', headers, body: '{"text":"late"}' })
  for (const answer of [listed, made]) {
    const said = `${answer.status} ${answer.headers.get('content-type')} ${await answer.text()}`
    assert.match(said, /^503 application\/problem\+json/)
    assert.doesNotMatch(said, /score/)
    assert.ok(answer.headers.has('retry-after'))
  }
}

async function roll(options: { readonly data: string; readonly database?: string }): Promise<void> {
  const failures: string[] = []
  const written = new Map<string, WrittenNote>()
  const instances: Instance[] = []
  const start = async (at: number): Promise<Instance> => {
    const [, app] = releases[at]!
    const logger = { info: () => {}, warn: () => {}, error: () => {} }
    const one = {
      at,
      server: await startService(app, { ...options, port: 0, flood: 1e9, logger }),
      isServing: true,
      busy: 0,
    }
    instances.push(one)
    return one
  }
  const leave = async (one: Instance): Promise<void> => {
    one.isServing = false
    while (one.busy > 0) await new Promise(resolve => setTimeout(resolve, 5))
  }
  const stop = async (one: Instance): Promise<void> => {
    await leave(one)
    await one.server.close()
    instances.splice(instances.indexOf(one), 1)
  }
  let sent = 0
  let isOver = false
  const send = async (method: string, path: string, write?: (at: number) => object): Promise<unknown> => {
    const serving = instances.filter(each => each.isServing)
    const one = serving[sent++ % serving.length]
    if (!one) throw new Error('no instance serves')
    one.busy++
    const content = write?.(one.at)
    try {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const response = await fetch(`${one.server.url}/api/v1${path}`, {
        method,
        headers: { 'content-type': type, ...(method === 'PATCH' && { 'if-match': '*' }) },
        ...(content && { body: JSON.stringify(content) }),
      })
      const answer = await response.text()
      if (!response.ok) failures.push(`${method} ${path}: ${response.status} ${answer}`)
      return answer === '' ? undefined : JSON.parse(answer)
    } catch (thrown) {
      failures.push(`${method} ${path}: ${thrown}`)
      return undefined
    } finally {
      one.busy--
    }
  }
  const client = async (name: number): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      const first = `word${name} ${round}`
      let content: object = {}
      const compose = (text: string) => (at: number) => {
        content = { text, ...writeMembers(at, `note of ${text}`, round) }
        return content
      }
      const made = (await send('POST', '/notes', compose(first))) as { id?: string }
      if (made?.id === undefined) continue
      const before = readMembers(content as WrittenNote) // what `compose` made for the release that was asked
      written.set(made.id, before)
      const second = `changed${name} ${round}`
      if (await send('PATCH', `/notes/${made.id}`, compose(second)))
        written.set(made.id, { ...before, ...readMembers(content as WrittenNote) })
      const read = (await send('GET', `/notes/${made.id}`)) as { text?: string } | undefined
      if (read?.text !== second) failures.push(`${made.id} has ${read?.text}, not ${second}`)
    }
  }
  const more = async (count: number): Promise<void> => {
    const before = written.size
    while (written.size < before + count && failures.length === 0) await new Promise(resolve => setTimeout(resolve, 10))
  }
  let last = await start(0)
  const clients = [1, 2, 3, 4].map(client)
  for (const at of [1, 2, 1, 0, 1, 2, 3, 4, 3] as const) {
    const next = await start(at)
    await more(20)
    await stop(last)
    last = next
  }
  const forgotten = last
  last = await start(4)
  await leave(forgotten)
  const [, app] = releases[4]
  const drop = (now: number) =>
    migrateDatabase(app, options, { drop: ['notes.score'], now, isPlan: false, tell: () => {} })
  await assert.rejects(drop(Date.now()), /notes\.score is declared by a running instance/)
  // As if the forgotten one had stood still for so long that its record has ended.
  await drop(Date.now() + 200_000)
  await more(20)
  await requireUnavailable(forgotten.server.url)
  await stop(forgotten)
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(failures, [])
  for (const [id, expected] of written) {
    const found = (await send('GET', `/notes/${id}`)) as WrittenNote
    assert.deepEqual(readMembers(found), expected, id)
  }
  await stop(last)
}

/** A release that has its one resource under this name. */
function releaseNamed(name: string, was?: string) {
  const allow = { read: [anyone], create: [anyone], change: [anyone], remove: [anyone] }
  const of = resource(name, { fields: { id: t.id('n'), text }, ...(was !== undefined && { was }) })
  return implement(
    service('notes', {
      namespace: 'urn:diglot:rolling',
      resources: [of.rules({ allow, search: ['text'] })],
      searches: { of: name, allow: [anyone] },
      limits: { reads: plenty, changes: plenty },
    }) as never,
    {} as never,
  )
}

/** Instances with the old and the new name of a resource change the same items in turns. */
async function rename(options: { readonly data: string; readonly database?: string }): Promise<void> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  await using opened = new AsyncDisposableStack()
  const start = async (name: string, was?: string) => {
    const started = await startService(releaseNamed(name, was), { ...options, port: 0, flood: 1e9, logger })
    return { name, server: opened.adopt(started, each => each.close()) }
  }
  type Named = Awaited<ReturnType<typeof start>>
  const send = async ({ name, server }: Named, method: string, path: string, content?: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(`${server.url}/api/v1/${path.replace('*', name)}`, {
      method,
      headers: { 'content-type': type, ...(method !== 'POST' && { 'if-match': '*' }) },
      ...(content && { body: JSON.stringify(content) }),
    })
    const answer = await response.text()
    return { status: response.status, value: answer === '' ? undefined : JSON.parse(answer) }
  }
  const older = await start('notes')
  const newer = await start('papers', 'notes')
  const texts = new Map<string, string>()
  const client = async (of: number, one: Named, other: Named): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      const made = await send(one, 'POST', '*', { text: `first${of}x${round}` })
      assert.equal(made.status, 201)
      const { id } = made.value
      const changed = await send(other, 'PATCH', `*/${id}`, { text: `word${of}x${round}` })
      assert.equal(changed.status, 200)
      const read = await send(one, 'GET', `*/${id}`)
      assert.deepEqual([read.status, read.value.text], [200, `word${of}x${round}`])
      if (round % 2 === 0) texts.set(id, read.value.text)
      else {
        assert.equal((await send(other, 'DELETE', `*/${id}`)).status, 204)
        assert.equal((await send(one, 'GET', `*/${id}`)).status, 410)
      }
    }
  }
  await Promise.all([client(1, older, newer), client(2, newer, older), client(3, older, newer)])
  for (const one of [older, newer]) {
    const page = await fetch(`${one.server.url}/changes?after=0`)
    const { items } = (await page.json()) as { items: readonly { resource: string }[] }
    const names = new Set(items.map(each => each.resource))
    assert.deepEqual([...names], [one.name])
  }
  const back = await start('notes')
  for (const one of [back, await start('papers', 'notes')]) {
    for (const [id, expected] of texts) assert.equal((await send(one, 'GET', `*/${id}`)).value.text, expected)
    const [[id, word] = ['', '']] = texts
    const found = await send(one, 'GET', `search?q=${word}`)
    assert.ok(JSON.stringify(found.value).includes(id), `${one.name}: ${JSON.stringify(found)}`)
  }
}

test('a resource is renamed while instances with either name change its items: SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-rename-'))
  after(() => rmSync(folder, { recursive: true }))
  await rename({ data: join(folder, 'notes.sqlite') })
})

test('a resource is renamed while instances with either name change its items: PostgreSQL', {
  skip: noDatabase(),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-rename-'))
  const { url, stop } = await database()
  after(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })
  await rename({ data: join(folder, 'notes.sqlite'), database: url })
})

test('a rolling change under load, forwards and back: two instances on one file of SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-rolling-'))
  after(() => rmSync(folder, { recursive: true }))
  await roll({ data: join(folder, 'notes.sqlite') })
})

test('a rolling change under load, forwards and back: PostgreSQL', { skip: noDatabase() }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-rolling-'))
  const { url, stop } = await database()
  after(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })
  await roll({ data: join(folder, 'notes.sqlite'), database: url })
})
