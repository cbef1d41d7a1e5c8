/**
 * `diglot bridge` before servers of other stacks, by the WSDL that each of them publishes: all of
 * their operations by REST, their parts as a resource, and clients that are generated.
 */
import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type PartsStack, partsStacks } from './behind/parts-stacks.ts'
import { type BridgeCommand, startBridgeCommand } from './bridge-command.ts'
import { installed } from './installed.ts'
import { startProgram } from './others/stacks.ts'
import { folder, run } from './peer.ts'

async function startBridge({ name, program, path }: PartsStack): Promise<BridgeCommand> {
  const origin = await startProgram(name, program)
  const wsdl = `${origin}${path}?wsdl`
  const isThere = () =>
    fetch(wsdl).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let tries = 0; tries < 300 && !(await isThere()); tries++) await pause(100)
  return await startBridgeCommand([wsdl, '--fetch', new URL(origin).host, '--to', origin + path])
}
const bridges = new Map<PartsStack, Promise<BridgeCommand>>()
function bridgeOf(stack: PartsStack): Promise<BridgeCommand> {
  const bridge = bridges.get(stack) ?? startBridge(stack)
  bridges.set(stack, bridge)
  return bridge
}

type Content = Readonly<Record<string, unknown>>
/** Sends content as JSON, unless it is text. */
async function send(url: string, method = 'GET', content?: object | string, fields: Record<string, string> = {}) {
  const body = typeof content === 'object' ? JSON.stringify(content) : content
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method,
    headers: { ...type, ...fields },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  const value: Content = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: response.status, text, value, etag: response.headers.get('etag') ?? '', fields: response.headers }
}
const has = (value: object, least: object): boolean =>
  Object.entries(least).every(([name, inner]) => {
    const found = (value as Content)[name]
    const isInside = typeof inner === 'object' && inner !== null && typeof found === 'object' && found !== null
    return isInside ? has(found, inner) : found === inner
  })
const listOf = (value: Content) => (value['items'] ?? []) as readonly Content[]

for (const stack of partsStacks)
  describe(`${stack.name} behind a bridge`, { skip: stack.skip, timeout: 120_000 }, () => {
    const { part, named, port } = stack
    const kept = { ...part, ...stack.kept }

    test('parts are a resource: created, listed, compared by tags, changed and removed', async () => {
      const { url, said } = await bridgeOf(stack)
      assert.match(said, stack.says)
      const parts = `${url}/v1/parts`
      const none = await send(parts)
      assert.deepEqual([none.status, listOf(none.value)], [200, []], none.text)

      const made = await send(parts, 'POST', part)
      assert.equal(made.status, 201, made.text)
      assert.match(made.fields.get('location') ?? '', /\/parts\/1$/)
      assert.ok(has(made.value, kept), made.text)
      const listed = await send(parts, 'GET', undefined, { 'if-none-match': none.etag })
      assert.deepEqual([listed.status, listOf(listed.value).length], [200, 1], 'the tag of a list follows its items')
      for (const [content, status] of [
        [{ ...part, [named]: 7 }, 422],
        ['{', 400],
      ] as const)
        assert.equal((await send(parts, 'POST', content)).status, status)
      assert.equal((await send(parts, 'GET', undefined, { 'if-none-match': listed.etag })).status, 304)

      const one = `${parts}/1`
      const first = await send(one)
      assert.equal((await send(one, 'GET', undefined, { 'if-none-match': first.etag })).status, 304)
      const renamed = { ...first.value, [named]: 'screw' }
      assert.equal((await send(one, 'PUT', renamed)).status, 428)
      const second = await send(one, 'PUT', renamed, { 'if-match': first.etag })
      assert.deepEqual([second.status, second.value[named]], [200, 'screw'], second.text)
      const { etag } = await send(one)
      assert.equal((await send(one, 'PUT', renamed, { 'if-match': first.etag })).status, 412)
      assert.equal((await send(one, 'GET', undefined, { 'if-none-match': first.etag })).status, 200)
      const patched = { 'if-match': etag, 'content-type': 'application/merge-patch+json' }
      const third = await send(one, 'PATCH', { [named]: 'gear' }, patched)
      const { version: _, ...unchanged } = { ...kept, [named]: 'gear' } as Content
      assert.ok(third.status === 200 && has(third.value, unchanged), third.text)
      assert.match((await send(one, 'GET', undefined, { accept: 'application/xml' })).text, />gear</)
      for (const [name, count] of [
        ['gear', 1],
        ['screw', 0],
      ] as const)
        assert.equal(listOf((await send(`${parts}?${named}=${name}`)).value).length, count)
      for (const id of ['99', 'x']) assert.equal((await send(`${parts}/${id}`)).status, 404)

      const other = await send(parts, 'POST', part)
      assert.match(other.fields.get('location') ?? '', /\/parts\/2$/)
      assert.equal((await send(`${parts}/2`, 'DELETE')).status, 428)
      assert.equal((await send(`${parts}/2`, 'DELETE', undefined, { 'if-match': other.etag })).status, 204)
      assert.equal((await send(`${parts}/2`)).status, 404)
    })

    test('each operation returns its response, refusals and failures have fitting statuses', async () => {
      const { url } = await bridgeOf(stack)
      for (const [operation, input, status, answer] of stack.actions) {
        const came = await send(`${url}/v1/${port}/${operation}`, 'POST', input)
        assert.ok(came.status === status && has(came.value, answer), `${operation}: ${came.status} ${came.text}`)
        assert.doesNotMatch(came.text, /closed|\bat Example|Traceback/, 'what a service says of itself')
      }
      const described = await send(`${new URL(url).origin}/openapi.json`)
      const paths = Object.keys(described.value['paths'] ?? {}).filter(each => each.includes(`/${port}/`))
      const tried = new Set(stack.actions.map(([operation]) => `/api/v1/${port}/${operation}`))
      assert.deepEqual(paths.sort(), [...tried].sort(), 'all operations are tried')
    })

    test('responses are XML too, with tags; content that breaks the schema is 422, and is not sent', async () => {
      const { url } = await bridgeOf(stack)
      const [get, member] = stack.get
      const operation = `${url}/v1/${port}/${get}`
      const xml = await send(operation, 'POST', { [member]: 1 }, { accept: 'application/xml' })
      assert.match(xml.text, new RegExp(`<\\w+:${get}Response .*>gear<`, 's'))
      const again = await send(operation, 'QUERY', { [member]: 1 }, { accept: 'application/xml', 'if-none-match': xml.etag }) // biome-ignore format: one question
      assert.equal(again.status, 304, again.text)
      const wrong = await send(operation, 'POST', { [member]: 'x' })
      assert.ok(wrong.status === 422 && has(wrong.value, { errors: [{ pointer: `/${member}` }] }), wrong.text)
    })
  })

/** One of those that describe the same port. */
const ready = partsStacks.filter(
  ({ skip, port }, at) => skip === false && partsStacks.findIndex(each => !each.skip && each.port === port) === at,
)
describe('openapi-typescript and openapi-fetch of the bridges', { skip: installed('openapi-clients') }, () => {
  const clients = join(import.meta.dirname, 'openapi-clients', 'node_modules')
  const bin = (name: string): string => join(clients, '.bin', name)
  const place = folder()
  const fileOf = ({ name }: PartsStack): string => name.replaceAll(/\W+/g, '-')
  const callOf = (stack: PartsStack): string => join(place, `call-${fileOf(stack)}.ts`)
  const programOf = (stack: PartsStack): string => {
    const [operation, member, name] = stack.get
    const fault = stack.fault ? `problem && 'fault' in problem ? problem.${stack.fault} : 0` : 'problem?.status'
    const path = `'/api/v1/${stack.port}/${operation}'`
    return `import createClient from 'openapi-fetch'
import type { paths } from './${fileOf(stack)}.d.ts'
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
const read = await client.GET('/api/v1/parts/{id}', { params: { path: { id: '1' } } })
const name: string | null | undefined = read.data?.${stack.named}
const listed = await client.GET('/api/v1/parts')
const asked = await client.POST(${path}, { body: { ${member}: 1 } })
const found: string | null | undefined = asked.data?.${name}
// @ts-expect-error it is a number
const refused = await client.POST(${path}, { body: { ${member}: 'x' } })
const status: number | undefined = refused.error?.status
const absent = await client.POST(${path}, { body: { ${member}: 9 } })
const problem = absent.error
const fault: number | undefined = ${fault}
console.log(JSON.stringify([name, listed.data?.items?.length, found, status, fault]))
`
  }

  test('they compile in strict mode, with the types of the backend', { timeout: 120_000 }, async () => {
    symlinkSync(clients, join(place, 'node_modules'))
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
    for (const stack of ready) {
      const { url } = await bridgeOf(stack)
      const file = join(place, fileOf(stack))
      writeFileSync(`${file}.json`, (await send(`${new URL(url).origin}/openapi.json`)).text)
      const words = [`${file}.json`, '--default-non-nullable=false', '-o', `${file}.d.ts`]
      run(process.execPath, [bin('openapi-typescript'), ...words])
      writeFileSync(callOf(stack), programOf(stack))
    }
    const strict = [
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      '--target',
      'es2024',
      '--module',
      'nodenext',
      '--types',
      'node',
    ]
    run(process.execPath, [bin('tsc'), ...strict, ...ready.map(callOf)])
  })

  for (const stack of ready)
    test(`the client of ${stack.name} reads a part, and learns what is wrong with its request`, async () => {
      const { url } = await bridgeOf(stack)
      const told = run(process.execPath, [callOf(stack), new URL(url).origin])
      const absent = stack.actions[1]?.[2]
      assert.deepEqual(JSON.parse(told), ['gear', 1, 'gear', 422, stack.fault ? 9 : absent === 200 ? null : absent])
    })
})
