/** A client of a REST service from its OpenAPI document, at run time (docs/client.md). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  AnswerError,
  ConnectionError,
  createOpenApiClient,
  type DescribedApi,
  InputError,
  OpenApiError,
  readOpenApi,
} from '../../src/bridge/openapi-client.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { type OpenApiMockServer, startOpenApiMock } from '../../src/mock/start-mock.ts'
import { checkout, linkPackages, runDiglot, runTests, runTypes } from '../support/linked-project.ts'

const petsFile = join(import.meta.dirname, '..', 'mock', 'pets.yaml')

/** A part of what `diglot import --operations` writes for pets.yaml. */
const pets = x.namespace('urn:pet-store')
const kind = x.simple(x.string, { values: ['cat', 'dog'] })
const petMembers = { name: x.element(x.string), kind: x.element(kind).optional(), id: x.element(x.long) }
const contract = service('pet-store', {
  namespace: 'urn:pet-store',
  resources: [],
  ports: [
    port('Operations', {
      namespace: 'urn:pet-store',
      exchanges: {
        ListPets: exchange({
          action: 'urn:pet-store/ListPets',
          input: pets.element('ListPets', x.object({ limit: x.element(x.long).optional() })),
          output: pets.element('ListPetsResponse', x.object({ item: x.element(x.object(petMembers)).many() })),
          allow: [],
        }),
        CreatePet: exchange({
          action: 'urn:pet-store/CreatePet',
          input: pets.element('CreatePet', x.object({ name: x.element(x.string), kind: x.element(kind).optional() })),
          output: pets.element('CreatePetResponse', x.object(petMembers)),
          faults: {
            Conflict: pets.element('Conflict', x.object({ code: x.element(x.long), message: x.element(x.string) })),
          },
          allow: [],
        }),
        GetPet: exchange({
          action: 'urn:pet-store/GetPet',
          input: pets.element('GetPet', x.object({ petId: x.element(x.long) })),
          output: pets.element('GetPetResponse', x.object(petMembers)),
          allow: [],
        }),
      },
    }),
  ],
})
type Pets = typeof contract
const createPets = (api: DescribedApi, address: string, more: object = {}) =>
  createOpenApiClient<Pets>(api, { address, credentials: { key: '1', field: 'X-Key' }, ...more })

const useOfPets = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOpenApiClient, readOpenApi } from 'diglot/openapi'
import { startOpenApiMock } from 'diglot/testing'
import type { contract } from './pets.ts'

test('a pet', async () => {
  await using mock = await startOpenApiMock(${JSON.stringify(petsFile)})
  const api = await readOpenApi(${JSON.stringify(petsFile)})
  const pets = createOpenApiClient<typeof contract>(api, {
    address: mock.url + '/v1',
    credentials: { key: '1', field: 'X-Key' },
  })
  const made = await pets.CreatePet({ name: 'Rex', born: '2020-02-29' })
  const id: bigint = made.id
  const parents: readonly string[] = made.parents.map(each => each.name)
  assert.equal((await pets.GetPet({ petId: id })).name, 'Rex')
  assert.ok(parents)
  // @ts-expect-error no such member
  await assert.rejects(pets.CreatePet({ name: 'Rex', age: 7 }), /age/)
})
`

describe('a client of a pet store', () => {
  let mock: OpenApiMockServer
  let api: DescribedApi
  before(async () => {
    mock = await startOpenApiMock(petsFile)
    api = await readOpenApi(petsFile)
  })
  after(() => mock.close())

  test('an item is created, read and listed, with its types', async () => {
    const client = createPets(api, `${mock.url}/v1`)
    const made = await client.CreatePet({ name: 'Rex', kind: 'dog' })
    const id: bigint = made.id
    assert.deepEqual([made.name, made.kind], ['Rex', 'dog'])
    assert.equal((await client.GetPet({ petId: id })).name, 'Rex')
    const list = await client.ListPets()
    assert.ok(list.item.some(each => each.id === id))
    assert.ok((await client.ListPets({ limit: 1n })).item.length >= 0)
  })

  test('input that does not fit is not sent', async () => {
    const client = createPets(api, `${mock.url}/v1`)
    await assert.rejects(
      // @ts-expect-error a pet has a name
      client.CreatePet({ kind: 'dog' }),
      (thrown: unknown) => thrown instanceof InputError && /name/.test(thrown.message),
    )
    // @ts-expect-error no such kind
    await assert.rejects(client.CreatePet({ name: 'Rex', kind: 'fish' }), InputError)
    await assert.rejects(
      client.CreatePet({ name: 'R' }),
      (thrown: unknown) => thrown instanceof InputError && thrown.problems[0]?.path.join('.') === 'name',
    )
    // @ts-expect-error an operation of the document, and none of this contract
    client.RemovePet
  })

  test('credentials that are not accepted are reported as that', async () => {
    const stranger = createOpenApiClient<Pets>(api, { address: `${mock.url}/v1` })
    await assert.rejects(
      stranger.CreatePet({ name: 'Rex' }),
      (thrown: unknown) => thrown instanceof OpenApiError && thrown.status === 401,
    )
  })

  test('what diglot import --operations writes gives a client its types, by the public package', () => {
    const project = mkdtempSync(join(tmpdir(), 'diglot-operations-'))
    try {
      linkPackages(project)
      const { status, stderr } = runDiglot(['import', petsFile, '--operations', '-o', 'pets.ts'], project)
      assert.equal(status, 0, stderr)
      writeFileSync(join(project, 'use.test.ts'), useOfPets)
      writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
      const base = join(checkout, 'tsconfig.json')
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ extends: base, include: ['*.ts'] }))
      symlinkSync(join(checkout, 'src'), join(project, 'src'))
      const types = runTypes(project)
      assert.equal(types.stdout, '')
      const tests = runTests(project)
      assert.equal(tests.status, 0, tests.stdout)
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  })

  test('without an address, the first server of the document counts', () => {
    assert.equal(api.address, 'https://pets.example/v1')
    assert.doesNotThrow(() => createOpenApiClient(api))
    assert.throws(() => createOpenApiClient({ ...api, address: '/v1' }), /has the server \/v1: give the option address/)
    assert.throws(() => createOpenApiClient({ ...api, address: '' }), /has no server: give the option address/)
    assert.throws(
      () => createOpenApiClient(api, { address: 'file:///pets' }),
      /file:\/\/\/pets is not an http or https address/,
    )
    const username = { username: 'maria', password: 'x' } as never
    assert.throws(() => createOpenApiClient(api, { credentials: username }), /are for SOAP: give user and password/)
    assert.throws(() => createOpenApiClient(api, { adress: 'x' } as never), /adress/)
  })
})

describe('responses of a service', () => {
  type Said = readonly [status: number, fields: Record<string, string>, content: string] | 'hang' | 'cut'
  let said: Said = [200, {}, '']
  const seen: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    seen.push(request)
    if (said === 'hang') return
    if (said === 'cut') return void request.socket.destroy()
    const [status, fields, content] = said
    response.writeHead(status, { 'content-type': 'application/json', ...fields }).end(content)
  })
  let api: DescribedApi
  let address = ''
  before(async () => {
    api = await readOpenApi(petsFile)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const input = { name: 'Rex' }
  const catchOf = (answer: Said, options: object = {}) => {
    said = answer
    return createPets(api, address, options)
      .CreatePet(input)
      .then(
        () => assert.fail('it must fail'),
        (thrown: unknown) => thrown,
      )
  }

  test('a declared error has its name and its detail', async () => {
    const thrown = await catchOf([409, {}, '{"code":1001,"message":"taken"}'])
    const client = createPets(api, address)
    assert.ok(client.CreatePet.isFault(thrown, 'Conflict'))
    const code: bigint = thrown.detail.code
    assert.deepEqual([thrown.status, code, thrown.detail.message], [409, 1001n, 'taken'])
    // @ts-expect-error the operation declares no such error
    assert.equal(client.CreatePet.isFault(thrown, 'Gone'), false)
    assert.equal(client.GetPet.isFault(thrown, 'Conflict' as never), false)
  })

  test('a declared error that breaks its schema has no detail', async () => {
    const thrown = await catchOf([409, {}, '{"code":"many"}'])
    assert.ok(thrown instanceof OpenApiError)
    assert.deepEqual([thrown.status, thrown.fault, thrown.detail], [409, undefined, undefined])
  })

  test('a refusal of the service has its status and its reason', async () => {
    const thrown = await catchOf([422, { 'content-type': 'application/problem+json' }, '{"detail":"no more room"}'])
    assert.ok(thrown instanceof OpenApiError)
    assert.deepEqual([thrown.status, thrown.fault, thrown.operation], [422, undefined, 'CreatePet'])
    assert.match(thrown.message, /no more room/)
  })

  test('a busy service says when to retry', async () => {
    const thrown = await catchOf([503, { 'retry-after': '7' }, '{}'])
    assert.ok(thrown instanceof OpenApiError)
    assert.deepEqual([thrown.status, thrown.retryAfter], [503, 7])
  })

  const garbage: readonly (readonly [string, Said, RegExp])[] = [
    ['no JSON', [201, {}, '{'], /not JSON/],
    ['another type', [201, { 'content-type': 'text/html' }, '<p>'], /text\/html/],
    ['a member of another type', [201, {}, '{"id":"x","name":"Rex"}'], /id/],
    ['a redirection', [302, { location: '/other' }, ''], /redirection/],
  ]
  for (const [name, answer, detail] of garbage)
    test(`${name} is no answer`, async () => {
      const thrown = await catchOf(answer)
      assert.ok(thrown instanceof AnswerError, String(thrown))
      assert.match(thrown.detail, detail)
    })

  test('a connection that breaks off gives an error that the call may have been carried out', async () => {
    const thrown = await catchOf('cut')
    assert.ok(thrown instanceof ConnectionError)
    assert.equal(thrown.mayHaveRun, true)
  })

  test('a service that is late ends the call', async () => {
    const thrown = await catchOf('hang', { timeLimit: 50 })
    assert.ok(thrown instanceof ConnectionError)
    assert.equal(thrown.why, 'late')
  })

  for (const [servers, expected] of [
    [[{ url: '/v1' }], '/v1'],
    [[{ url: 'v1' }], '/docs/v1'],
    [[], '/'],
    [undefined, '/'],
  ] as const)
    test(`OpenAPI §4.6: the servers ${JSON.stringify(servers)} are relative to the document`, async () => {
      said = [200, {}, JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, servers, paths: {} })]
      const read = await readOpenApi(`${address}/docs/api.json`, { fetch: [new URL(address).host] })
      assert.equal(read.address, `${address}${expected}`)
      await assert.rejects(readOpenApi(`${address}/docs/api.json`), /fetch/)
    })

  test('an unknown option of a call is reported with the known ones', async () => {
    const client = createOpenApiClient<typeof contract>(api)
    const stray = { timelimit: 5 } as object
    await assert.rejects(client.ListPets({}, stray), /the options of ListPets: unknown member "timelimit": use signal/)
  })

  test('a signal ends the call with its reason, and before it begins nothing is sent', async () => {
    said = 'hang'
    const client = createPets(api, address)
    const reason = new Error('no longer wanted')
    const stop = new AbortController()
    const call = client.CreatePet(input, { signal: stop.signal })
    setTimeout(() => stop.abort(reason), 20)
    await assert.rejects(call, reason)
    const count = seen.length
    await assert.rejects(client.CreatePet(input, { signal: AbortSignal.abort(reason) }), reason)
    assert.equal(seen.length, count)
  })

  test('each request has its own credentials and fields', async () => {
    said = [201, {}, '{"id":7,"name":"Rex"}']
    let tokens = 0
    const client = createPets(api, address, {
      credentials: { bearer: () => Promise.resolve(`t${++tokens}`) },
      fields: { 'X-Trace': 'a' },
    })
    await client.CreatePet(input)
    await client.CreatePet(input)
    const [first, second] = seen.slice(-2).map(each => each.headers)
    assert.deepEqual([first?.authorization, second?.authorization], ['Bearer t1', 'Bearer t2'])
    assert.equal(first?.['x-trace'], 'a')
  })
})
