/** Members of messages of which an OpenAPI document says more than their type. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRestCaller } from '../../src/bridge/rest-caller.ts'
import type { BackendRequest } from '../../src/bridge/rest-transport.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'

const parse = await loadAnyParser()
const text = { type: 'string' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const isKind = (kind: object, members: object) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind, ...members },
})
const schemas = {
  User: { type: 'object', required: ['id', 'name', 'password', 'keys'], properties: { id: { ...text, readOnly: true }, name: text, password: { ...text, writeOnly: true }, keys: { type: 'array', items: ref('Key') }, home: ref('Place'), made: { allOf: [ref('Place')], readOnly: true } } },
  Key: { type: 'object', required: ['print', 'secret'], properties: { print: { ...text, readOnly: true }, secret: { ...text, writeOnly: true } } },
  Place: { type: 'object', properties: { city: text } },
  Shape: { oneOf: [ref('Circle'), ref('Square')], discriminator: { propertyName: 'kind', mapping: { round: '#/components/schemas/Circle', sq: 'Square' } } },
  Circle: isKind(text, { size: { type: 'integer' } }),
  Square: isKind(text, { size: { type: 'integer' } }),
  Pet: { ...isKind(text, { friend: ref('Pet') }), discriminator: { propertyName: 'kind' } },
  Cat: { allOf: [ref('Pet'), { properties: { lives: { type: 'integer' } } }] },
  Lion: { allOf: [ref('Cat'), { properties: { mane: text } }] },
  Vehicle: { ...isKind(text, {}), discriminator: { propertyName: 'kind', mapping: { car: 'Car' } } },
  Car: { allOf: [ref('Vehicle'), { properties: { seats: { type: 'integer' } } }] },
} // biome-ignore format: a table
const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Users', version: '1' },
  paths: {
    '/users/{id}': {
      put: { operationId: 'put', parameters: [{ in: 'path', name: 'id', required: true, schema: text }], requestBody: json(ref('User')), responses: { 200: json(ref('User')) } },
    },
    '/shapes': { get: { operationId: 'shapes', responses: { 200: json({ type: 'array', items: ref('Shape') }) } } },
    '/pets': { get: { operationId: 'pets', security: [{ inQuery: [] }, { inCookie: [] }, { inField: [] }], responses: { 200: json(ref('Pet')) } }, put: { operationId: 'keepPet', requestBody: json(ref('Pet')), responses: { 204: {} } } },
    '/vehicles': { get: { operationId: 'vehicles', responses: { 200: json({ type: 'array', items: ref('Vehicle') }) } } },
  },
  components: { schemas, securitySchemes: { inQuery: { type: 'apiKey', in: 'query', name: 'api_key' }, inCookie: { type: 'apiKey', in: 'cookie', name: 'sid' }, inField: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
}) // biome-ignore format: a table
const rest = readRestPort(document, 'users.json', [], { find: () => undefined, parse })

/** What is sent, and what its answer is read as. */
async function exchange(name: string, input: object, answer: object) {
  const asked: BackendRequest[] = []
  const limits = { timeLimit: 10_000, longest: 10_000 }
  const caller = createRestCaller(rest, 'http://users.example', limits, async ask => {
    asked.push(ask)
    const content = Buffer.from(JSON.stringify(answer))
    return { kind: 'response', status: 200, fields: { 'content-type': 'application/json' }, content }
  })
  const got = await caller(name, { input, blocks: {} })
  return {
    address: asked[0]?.address,
    cookie: asked[0]?.fields['cookie'],
    sent: asked[0]?.content,
    got: got.kind === 'answer' ? got.content : got,
  }
}

test('OpenAPI §4.8.24 readOnly members are not sent, writeOnly members are not in responses, at any depth', async () => {
  const input = { id: 'u1', name: 'Ann', password: 'x', keys: [{ secret: 's' }], home: { city: 'Rome' } }
  const answer = { id: 'u1', name: 'Ann', keys: [{ print: 'p' }], home: { city: 'Rome' }, made: { city: 'Oslo' } }
  const { sent, got } = await exchange('Put', input, answer)
  assert.equal(sent, '{"name":"Ann","password":"x","keys":[{"secret":"s"}],"home":{"city":"Rome"}}')
  assert.deepEqual(got, answer)
})
test('OpenAPI §4.8.24 a readOnly member in a message is refused with its name', async () => {
  const { sent, got } = await exchange('Put', { id: 'u1', name: 'Ann', password: 'x', keys: [], made: {} }, {})
  assert.equal(sent, undefined)
  assert.match(JSON.stringify(got), /"status":422.*made/)
})
test('OpenAPI §4.8.25 the discriminator says what a value is: by its mapping, or the name of the schema', async () => {
  const values = ['round', 'sq', 'Square', 'other'].map(kind => ({ kind, size: 1 }))
  const { got } = await exchange('Shapes', {}, values)
  assert.deepEqual(
    (got as { item: readonly { oneOf: object }[] }).item.map(({ oneOf }) => Object.keys(oneOf)[0]),
    ['circle', 'square', 'square', 'circle'],
  )
})
test('OpenAPI §4.8.25.1 a schema with a discriminator is one of those that extend it, or itself', async () => {
  const cat = { kind: 'Cat', lives: 9, friend: { kind: 'Lion', lives: 1, mane: 'red' } }
  const { got } = await exchange('Pets', {}, cat)
  const lion = { oneOf: { lion: { kind: 'Lion', lives: 1n, mane: 'red' } } }
  assert.deepEqual(got, { value: { oneOf: { cat: { kind: 'Cat', friend: lion, lives: 9n } } } })
  assert.deepEqual((await exchange('Pets', {}, { kind: 'Pet' })).got, {
    value: { oneOf: { petAlone: { kind: 'Pet' } } },
  })
  const { sent } = await exchange('KeepPet', { value: { oneOf: { cat: { kind: 'Cat', lives: 9n } } } }, {})
  assert.equal(sent, '{"kind":"Cat","lives":9}')
  assert.ok(rest.losses.every(({ detail }) => !/these add/.test(detail)))
})
test('OpenAPI §4.8.25 a mapping that leaves the schema out gives an error that says so', async () => {
  const { got } = await exchange('Vehicles', {}, [
    { kind: 'car', seats: 4 },
    { kind: 'Car', seats: 5 },
  ])
  assert.deepEqual(got, {
    item: [4n, 5n].map((seats, at) => ({ oneOf: { car: { kind: at === 0 ? 'car' : 'Car', seats } } })),
  })
  const { got: unknown } = await exchange('Vehicles', {}, [{ kind: 'Vehicle' }])
  assert.doesNotMatch(JSON.stringify(unknown), /alone/i)
})
test('OpenAPI §4.8.27 an API key of the query or a cookie is a member of the message if the operation takes it', async () => {
  const { address } = await exchange('Pets', { api_key: 'a b' }, { kind: 'x' })
  assert.equal(address, 'http://users.example/pets?api_key=a%20b')
  assert.equal((await exchange('Pets', {}, { kind: 'x' })).address, 'http://users.example/pets')
  assert.equal((await exchange('Pets', { sid: 's' }, { kind: 'x' })).cookie, 'sid=s')
  assert.match(JSON.stringify((await exchange('Shapes', { api_key: 'a' }, [])).got), /"status":422/)
})
