/**
 * Apache CXF behind `diglot bridge`, by the WSDL that it publishes: its policy has every answer go to
 * an address of its own (WS-Addressing 1.0 Metadata §3.1.3).
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './attacker.ts'
import { installed } from './installed.ts'
import { compileJava, cxfJars, hasJava, type Program, quickJava, startProgram } from './others/stacks.ts'
import { atEnd, folder, root, run } from './peer.ts'

const skip = hasJava('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', `${cxfJars}/cxf-core-*.jar`)
const server: Program = {
  command: ({ port, folder: classes }) => {
    compileJava([join(import.meta.dirname, 'behind', 'LaterServer.java')], `${cxfJars}/*`, classes)
    return [...quickJava, `${classes}:${cxfJars}/*`, 'example.later.LaterServer', String(port)]
  },
}

/** `diglot bridge` on one port with one file, which may be killed and started again. */
async function startBridge(words: readonly string[]) {
  const command = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'bridge', ...words]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] })
  atEnd(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (said += piece))
  const until = Date.now() + 60_000
  while (!/bridging \S+ to/.test(said)) {
    if (child.exitCode !== null || Date.now() > until) assert.fail(`the bridge does not stand: ${said}`)
    await pause(20)
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { kill, hear: () => said }
}

describe('Apache CXF with answers that come later, behind a bridge', { skip, timeout: 180_000 }, () => {
  let words: readonly string[]
  let url: string
  let bridge: Awaited<ReturnType<typeof startBridge>>
  before(async () => {
    const origin = await startProgram('Apache CXF', server)
    const wsdl = `${origin}/later?wsdl`
    for (let tries = 0; tries < 300; tries++) {
      const isThere = await fetch(wsdl).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isThere) break
      await pause(100)
    }
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const data = join(folder(), 'later.sqlite')
    words = [wsdl, '--fetch', new URL(origin).host, '--to', `${origin}/later`, '--anyone', '--port', String(port)]
    words = [...words, '--data', data, '--replies', url]
    bridge = await startBridge(words)
  })

  const ask = async (item: string, waitMs: number, fields: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1/LaterPort/getPrice`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...fields },
      body: JSON.stringify({ item, waitMs }),
    })
    const text = await response.text()
    assert.equal(response.status, 202, text)
    return { job: JSON.parse(text), at: response.headers.get('location') ?? '' }
  }
  const read = async (path: string) => {
    const response = await fetch(url + path)
    const text = await response.text()
    return { status: response.status, value: text === '' ? undefined : JSON.parse(text) }
  }
  const waitFor = async (at: string) => {
    for (const until = Date.now() + 60_000; Date.now() < until; await pause(50)) {
      const { value } = await read(at)
      if (value.state !== 'running') return value
    }
    return assert.fail(`${at} does not end: ${bridge.hear()}`)
  }
  const resultOf = (at: string) => read(at.replace('/jobs/', '/'))

  it('is called by its policy alone, and its answer is the result of the job', async () => {
    assert.match(bridge.hear(), /answers come later to/)
    const { job, at } = await ask('tea', 1500)
    assert.equal(job.state, 'running')
    assert.equal((await resultOf(at)).status, 404)
    assert.equal((await waitFor(at)).state, 'completed', bridge.hear())
    const { status, value } = await resultOf(at)
    assert.equal(status, 200)
    assert.deepEqual(value.price, {
      item: 'tea',
      amount: '1.50',
      stock: 9007199254740992,
      picture: 'AAEC/w==',
      calls: 1,
    })
  })

  it('ends a job by a declared fault, and by one of its own', async () => {
    const [none, broken] = [await ask('coffee', 100), await ask('salt', 100)]
    assert.equal((await waitFor(none.at)).failure, 'NoSuchItem', bridge.hear())
    const declared = await resultOf(none.at)
    assert.deepEqual([declared.status, declared.value.fault], [404, { item: 'coffee' }])
    assert.equal((await waitFor(broken.at)).state, 'failed')
    assert.equal((await resultOf(broken.at)).status, 502)
    assert.match(bridge.hear(), /the shelves are closed/)
  })

  it('many clients wait for it at once by Prefer: wait', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('tea', 300, { prefer: 'wait=20' })))
    assert.deepEqual(new Set(all.map(({ job }) => job.state)), new Set(['completed']))
    const results = await Promise.all(all.map(({ at }) => resultOf(at)))
    const calls = new Set(results.map(({ value }) => value.price.calls))
    assert.equal(calls.size, 20, 'each has the answer to its own message')
  })

  it('finds its job after the bridge was killed and started again', async () => {
    const { at } = await ask('tea', 8000)
    await bridge.kill()
    bridge = await startBridge(words)
    assert.equal((await read(at)).value.state, 'running')
    assert.equal((await waitFor(at)).state, 'completed', bridge.hear())
    assert.equal((await resultOf(at)).value.price.item, 'tea')
  })

  const generated = { skip: installed('openapi-clients') }
  it('is called by a generated client, with types of the job and of its result', generated, async () => {
    const place = folder()
    const clients = join(import.meta.dirname, 'openapi-clients', 'node_modules')
    const bin = (name: string): string => join(clients, '.bin', name)
    symlinkSync(clients, join(place, 'node_modules'))
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(place, 'later.json'), await (await fetch(`${url}/openapi.json`)).text())
    run(process.execPath, [
      bin('openapi-typescript'),
      ...[join(place, 'later.json'), '--default-non-nullable=false', '-o', join(place, 'later.d.ts')],
    ])
    const program = join(place, 'call.ts')
    writeFileSync(
      program,
      `import createClient from 'openapi-fetch'
import type { paths } from './later.d.ts'
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
const body = { item: process.argv[3] ?? '', waitMs: 200 }
const started = await client.POST('/api/v1/LaterPort/getPrice', { body, headers: { prefer: 'wait=20' } })
const id: string = started.data?.id ?? ''
const job = await client.GET('/api/v1/LaterPort/getPrice/jobs/{id}', { params: { path: { id } } })
const state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | undefined = job.data?.state
const result = await client.GET('/api/v1/LaterPort/getPrice/{id}', { params: { path: { id } } })
const amount: string | undefined = result.data?.price?.amount
const problem = result.error
const fault = problem && 'fault' in problem ? problem.fault : undefined
const missing: unknown = fault && 'item' in fault ? fault.item : undefined
// @ts-expect-error the job has no price
const wrong = started.data?.price
console.log(JSON.stringify([started.response.status, state, amount ?? null, missing ?? null, wrong ?? null]))
`,
    )
    const strict = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext']
    run(process.execPath, [bin('tsc'), ...strict, '--types', 'node', program])
    const call = (item: string): unknown => JSON.parse(run(process.execPath, [program, url, item]))
    assert.deepEqual(call('tea'), [202, 'completed', '1.50', null, null])
    assert.deepEqual(call('coffee'), [202, 'failed', null, 'coffee', null])
  })
})
