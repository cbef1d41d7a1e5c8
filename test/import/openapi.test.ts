/** OpenAPI documents of others and of our own: imported, compiled strictly, described again, imported again after edits. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import clinic from '../../examples/clinic/service.ts'
import orders from '../../examples/orders/service.ts'
import type { Json } from '../../src/base/objects.ts'
import { type Implementation, implement } from '../../src/contract/implement.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { compareServices } from '../../src/diff/compare-services.ts'
import { readRestDescription } from '../../src/diff/read-openapi.ts'
import { writeJson } from '../../src/http/json.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { createDocumentFinder } from '../../src/import/document-files.ts'
import { importContract } from '../../src/import/import-command.ts'
import { type ImportedService, readImportedService } from '../../src/import/openapi/imported-service.ts'
import { writeServiceTypescript } from '../../src/import/openapi/write-service.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { describeService } from '../../src/pages/openapi.ts'
import { startTestService } from '../../src/testing/index.ts'
import { assertCpuMsBelow, assertLinear } from '../support/cost.ts'
import { linkPackages, runTypes } from '../support/linked-project.ts'

const documents = join(import.meta.dirname, 'openapi')
const folder = mkdtempSync(join(tmpdir(), 'diglot-import-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const parse = await loadAnyParser()
const importText = (text: string, location = 'test.json'): ImportedService =>
  readImportedService(text, location, { find: createDocumentFinder([]), parse })
const importDocument = (name: string): ImportedService => {
  const path = join(documents, name)
  return importText(readFileSync(path, 'utf8'), path)
}
const lossesOf = ({ losses }: ImportedService): readonly string[] =>
  losses.map(({ place, detail }) => `${place}: ${detail}`)
const withPaths = (paths: object, components: object = {}): string =>
  writeJson({ openapi: '3.1.0', info: { title: 'Tried' }, paths: paths as Json, components: components as Json })
const withSchema = (properties: object, schemas: object = {}): string => {
  const schema = {
    type: 'object',
    required: Object.keys(properties),
    properties: { id: { type: 'string' }, ...properties },
  }
  const content = { 'application/json': { schema } }
  return withPaths(
    { '/api/v1/things/{id}': { get: { responses: { 200: { description: 'It.', content } } } } },
    { schemas },
  )
}
const fieldsOf = (text: string): string => {
  const code = writeServiceTypescript(importText(text), 'test')
  return /fields: ([\s\S]*?),\n\}\)\.rules/.exec(code)?.[1]?.replace(/\s+/g, ' ') ?? assert.fail(code)
}

// One of a kind

const itOf = (...names: readonly string[]) => {
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]))
  return { description: 'It.', content: { 'application/json': { schema: { type: 'object', properties } } } }
}
const doing = (answer: object, ...statuses: readonly number[]) => ({
  requestBody: { content: (answer as { content: object }).content },
  responses: Object.fromEntries(statuses.map(status => [status, answer])),
})
const reading = (answer: object) => ({ responses: { 200: answer } })

test('an address that is read and changed, and has no items below it, is a single resource', () => {
  const settings = itOf('opens', 'id')
  const made = importText(
    withPaths({
      '/settings': { get: reading(settings), put: doing(settings, 200), delete: { responses: { 204: {} } } },
      '/settings/logo': { get: { responses: { 200: { content: { 'image/png': {} } } } } },
      '/settings/closing': { post: { responses: { 200: settings } } },
      '/charter': { get: reading(itOf('text')), put: doing(itOf('text'), 201) },
      '/profile': { get: reading(itOf('name')), patch: doing(itOf('name'), 200), delete: { responses: { 204: {} } } },
      '/status': { get: reading(itOf('load')) },
      '/user': { get: reading(itOf('mail')), patch: doing(itOf('mail'), 200) },
      '/users/{id}': { get: reading(itOf('id', 'login')) },
    }),
  )
  const { resources, ports } = made.service
  const told = resources.map(({ name, isSingle, given, files, actions }) => [
    name,
    isSingle,
    Object.keys(given.allow).join(),
    [...Object.keys(files), ...Object.keys(actions)].join(),
  ])
  assert.deepEqual(told, [
    ['users', false, 'read', ''],
    ['settings', true, 'read,create,change,remove,doClosing', 'logo,doClosing'],
    ['charter', true, 'read,create', ''],
    ['profile', true, 'read,change', ''],
  ])
  assert.deepEqual(
    ports.flatMap(({ exchanges }) => Object.keys(exchanges)),
    ['GetStatus', 'GetUser', 'PatchUser'],
  )
  assert.ok(lossesOf(made).includes('settings.id: is left out: a single resource has no identifier'))
  assert.ok(lossesOf(made).includes('DELETE /profile: removes an item that nothing creates: it is left out'))
  assert.ok(!lossesOf(made).some(each => each.includes('does not start')))
  assert.match(
    writeServiceTypescript(made, 'test'),
    /resource\('charter', \{\n {2}single: true,\n {2}fields: \{ text: t\.string\(\)\.optional\(\) \},/,
  )
})

// Served back

/** What our own descriptions do not say, so that a contract made of them cannot either. */
const unsaid: Readonly<Record<string, RegExp>> = {
  'a media type written by a handler': /application\/pdf/,
  'a field that a grant binds to the caller may be left out': /Draft\/(?:customer|patient)$/,
  'an input that refers to an item has the pattern of an identifier':
    /(?:merger content application\/json|MergeCustomerInput)\/into$/,
  'the field that a field of an older version has become':
    /(?:\/details|\/specialty|v1\S* query (?:details|specialty)(?:\[\w+\])?)$/,
}
for (const [name, app] of [
  ['orders', orders],
  ['clinic', clinic],
] as const)
  test(`the contract of our own description of ${name} serves the same operations`, async () => {
    const text = await describeService(app as Implementation)
    const made = importText(text)
    const again = await describeService({ contract: made.service, handlers: {} } as unknown as Implementation)
    const [old, now] = [text, again].map(each => readRestDescription(parse(each).value ?? null, name))
    assert.ok(old && now)
    assert.deepEqual([...now.operations.keys()].sort(), [...old.operations.keys()].sort())
    const places = compareServices(old, now).map(({ place }) => place)
    assert.deepEqual(
      places.filter(place => !Object.values(unsaid).some(each => each.test(place))),
      [],
    )
  })

test('the contract of an OpenAPI document is served: an item is created, found by a filter, and acted on', async () => {
  const { service } = importDocument('pets.yaml')
  const app = implement(service, {
    pets: {
      derive: () => ({ arrived: '2026-01-01T00:00:00Z' }),
      doAdopt: () => ({}),
    },
    ...Object.fromEntries(
      service.ports.map(({ port, exchanges }) => [
        port,
        Object.fromEntries(Object.keys(exchanges).map(name => [name, () => ({})])),
      ]),
    ),
  } as never)
  await using served = await startTestService(service, app)
  const keeper = served.fetchAs({ subject: 'kim', roles: ['write:pets', 'user'] })
  const send = (path: string, body: object) =>
    keeper(`${served.address}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await send('/pets', { name: 'Mimi', species: 'cat', born: null })
  assert.equal(made.status, 201, await made.clone().text())
  const { id, arrived } = (await made.json()) as { id: string; arrived: string }
  assert.equal(arrived, '2026-01-01T00:00:00Z')
  assert.equal((await send('/pets', { name: 'Rex', species: 'horse' })).status, 422)
  const listed = await served.fetchAs()(`${served.address}/api/v1/pets?species=cat`)
  assert.deepEqual(
    ((await listed.json()) as { items: { name: string }[] }).items.map(({ name }) => name),
    ['Mimi'],
  )
  assert.equal((await served.fetchAs()(`${served.address}/api/v1/pets`, { method: 'POST' })).status, 401)
  assert.equal((await send(`/pets/${id}/adopt`, { by: 'Ada' })).status, 200)
  const { incidents } = served
  assert.deepEqual(incidents, [])
})

test('names that every service has are replaced, or their operations stay exchanges', () => {
  const schema = {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'string' }, name: { type: 'string' } },
  }
  const content = { 'application/json': { schema } }
  const answer = { description: 'It.', content }
  const get = { responses: { 200: answer } }
  const post = { requestBody: { content }, responses: { 200: answer } }
  const picture = { responses: { 200: { description: 'It.', content: { 'image/png': {} } } } }
  const paths = {
    ...Object.fromEntries(['changes', 'login', 'close', 'v1', 'searches'].map(name => [`/${name}/{id}`, { get }])),
    '/things/{id}': { get },
    ...Object.fromEntries(['edit', 'delete', 'self'].map(word => [`/things/{id}/${word}`, { post }])),
    '/things/{id}/list': { get: picture },
    '/things/{id}/searching': { post: { ...post, operationId: 'searchThing' } },
  }
  const { service } = importText(withPaths(paths))
  const [first] = Object.values(service.versions)
  assert.ok(first)
  const contract = service as unknown as Implementation['contract']
  const names = findContractMistakes({ contract, handlers: {}, seed: () => ({}) })
  assert.deepEqual(
    names.filter(each => /reserved|every|another name|twice/.test(each)),
    [],
  )
  assert.deepEqual(
    service.resources.map(each => each.name),
    ['other-changes', 'other-login', 'other-close', 'things'],
  )
})

// Documents of others

test('schemas that contain themselves, in whatever way, get a name where they refer back to themselves', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const schemas = {
    Direct: { type: 'object', properties: { next: ref('Direct') } },
    Row: { type: 'array', items: { type: 'object', properties: { rows: ref('Row') }, required: ['rows'] } },
    Map: { type: 'object', additionalProperties: ref('Map') },
    Either: { type: 'object', properties: { child: { oneOf: [ref('Either'), { type: 'string' }] } } },
    // A description beside a reference, as documents of 3.0 write it.
    Told: { type: 'object', properties: { next: { description: 'The next.', allOf: [ref('Told')] } } },
    Joined: {
      type: 'object',
      properties: { next: { allOf: [ref('Joined'), { properties: { more: { type: 'string' } } }] } },
    },
  }
  for (const name of Object.keys(schemas)) {
    const content = { 'application/json': { schema: ref(name) } }
    const answer = { 'application/json': { schema: { type: 'object', properties: { it: ref(name) } } } }
    const operation = { requestBody: { content }, responses: { 200: { description: 'It.', content: answer } } }
    const text = JSON.stringify({
      ...{ openapi: '3.0.3', info: { title: 'T', version: '1' } },
      ...{ paths: { '/run': { post: operation } }, components: { schemas } },
    })
    const code = writeServiceTypescript(importText(text), 'test')
    assert.match(code, name === 'Row' ? /Row_?[iI]tem/ : new RegExp(`\\b${name}\\b`), name)
    if (name === 'Told') assert.match(code, /The next\.[\s\S]{0,40}next: .*Told/)
  }
})

test('the TypeScript of documents in four styles compiles in strict mode, and has no any', async () => {
  const files = ['pets.yaml', 'payments.json', 'forge.yaml', 'records.json']
  const project = join(folder, 'strict')
  linkPackages(project)
  for (const name of files) {
    const code = writeServiceTypescript(importDocument(name), name)
    assert.doesNotMatch(code, /\bany\b(?=[;,)>\]]| \|)/, name)
    writeFileSync(join(project, `${name.replace(/\..*/, '')}.ts`), code)
  }
  writeFileSync(join(project, 'orders.ts'), writeServiceTypescript(importText(await describeService(orders)), 'orders'))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const base = join(import.meta.dirname, '..', '..', 'tsconfig.json')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ extends: base, include: ['*.ts'] }))
  symlinkSync(join(import.meta.dirname, '..', '..', 'src'), join(project, 'src'))
  const { status, stdout } = runTypes(project)
  assert.equal(stdout, '')
  assert.equal(status, 0)
})

const styles: readonly (readonly [document: string, what: string, code: RegExp])[] = [
  ['pets.yaml', 'an identifier by the parameter of its path', /resource\('pets', \{\s+fields: \{\s+id: t\.id\('p'\)/],
  ['pets.yaml', 'descriptions and examples', /\/\*\* What it listens to\. Example: "Mimi"\. \*\//],
  ['pets.yaml', 'a comment cannot end early', /Kilograms\. \* \/ never/],
  ['pets.yaml', 'null of OpenAPI 3.0', /born: t\.date\(\)\.optional\(\)\.nullable\(\)/],
  ['pets.yaml', 'what only the server sets', /arrived: t\.dateTime\(\)\.readOnly\(\)/],
  ['pets.yaml', 'scopes are roles', /const writePets = role\('write:pets'\)/],
  ['pets.yaml', 'no credentials is anyone', /read: \[anyone\]/],
  ['pets.yaml', 'a fault from an error response', /fault\('CageTaken', \{\s+status: 422,\s+title: '[^']+',\s+detail: \{ message: t\.string\(\)\.optional\(\), cage: t\.int\(\) \}/],
  ['pets.yaml', 'a file', /photo: \{ mediaTypes: \['image\/jpeg', 'image\/png'\]/],
  ['pets.yaml', 'an action', /doAdopt: on\(\)\.stay\(\{ rel: 'adopt', input: \{ by: t\.string\(\{ max: 80 \}\) \} \}\)/],
  ['pets.yaml', 'filter and order', /filter: \['species'\],\s+sort: \['name', 'born'\]/],
  ['pets.yaml', 'an exchange where there is no item', /GetInventory: exchange\(\{[\s\S]*safe: true/],
  ['payments.json', 'a union by its discriminator', /t\.union\('type', \{\s+card: \{ last4: t\.string\(\{ pattern: '\\\\d\{4\}' \}\), wallet/],
  ['payments.json', 'a machine by the names of actions', /states: \['created', 'captured', 'refunded', 'cancelled'\]/],
  ['payments.json', 'where actions lead', /doCapture: on\('created'\)\.to\('captured'/],
  ['payments.json', 'a status of its own is a fault', /fault\('Declined', \{\s+status: 402/],
  ['payments.json', 'a reference by its name', /customer: t\.ref\('customers'\)/],
  ['payments.json', 'a list below an item is a relation', /charges: \{ of: 'charges', by: 'customer' \}/],
  ['payments.json', 'a pattern that is searched', /pattern: '\[\\\\s\\\\S\]\*\[a-z\]\{3\}\[\\\\s\\\\S\]\*'/],
  ['payments.json', '202 with Location is a job', /job\('runs', \{\s+input: \{ day: t\.date\(\) \},\s+output: \{ paid: t\.int\(\)\.optional\(\) \}/],
  ['payments.json', 'items below items have fields for the path', /resource\('line-items', \{\s+fields: \{[^}]*invoice: t\.string\(\)/],
  ['forge.yaml', 'schemas of a document beside it', /const User = t\.object\(\{\s+login: t\.string\(\)/],
  ['forge.yaml', 'one address for several items', /fields: \{[^}]*owner: t\.string\(\),\s+repo: t\.string\(\)/],
  ['records.json', 'a text of several', /gender: t\.enum\('male', 'female', 'other', 'unknown'\)/],
  ['records.json', 'PUT with 201 creates', /putCreates: true/],
] // biome-ignore format: a row for each promise
for (const [document, what, code] of styles)
  test(`${document}: ${what}`, () => assert.match(writeServiceTypescript(importDocument(document), document), code))

const told: readonly (readonly [document: string, line: RegExp])[] = [
  ['pets.yaml', /^pets\.secret: is never returned/],
  ['pets.yaml', /^Pet\.mother: contains itself/],
  ['pets.yaml', /^GET \/shelter\/inventory: belongs to no resource: it is the exchange GetInventory$/],
  ['payments.json', /^charges\.balance: has one of several schemas, and no member says which; it is left out$/],
  ['payments.json', /^GET \/v1\/customers: addresses begin with \/api\/v1, as this one: \/api\/v1\/customers$/],
  ['forge.yaml', /^missing\.yaml#\/Reactions: is referred to and was not found$/],
  ['forge.yaml', /^PUT .*\/lock: belongs to no resource/],
  ['records.json', /^GET \/Patient: the query parameter family is not a field of an item$/],
]
for (const [document, line] of told)
  test(`the import of ${document} reports what a contract cannot say: ${line.source}`, () => {
    const lines = lossesOf(importDocument(document))
    assert.ok(
      lines.some(each => line.test(each)),
      lines.join('\n'),
    )
  })

const named = { b: { type: 'string' } }
const anyLine = 'may be any value; it is left out'
const openLine = 'members of any name are left out: a contract names all of them'
const text = { type: 'string' }
const maps: readonly (readonly [what: string, schema: object, written: string, loss?: string])[] = [
  ['§10.3.2.3 additionalProperties of one type', { type: 'object', additionalProperties: text }, 't.map(t.string(), { max: Infinity })'],
  ['§10.3.2.3 additionalProperties alone', { additionalProperties: { type: 'boolean' } }, 't.map(t.boolean(), { max: Infinity })'],
  ['§10.3.2.2 patternProperties alone', { patternProperties: { '^x-': text } }, "t.map(t.string(), { key: t.string({ pattern: 'x-[\\\\s\\\\S]*' }), max: Infinity })"],
  ['§10.3.2.2 only names of a pattern', { type: 'object', patternProperties: { '^[a-z]{2}$': text }, additionalProperties: false }, "t.map(t.string(), { key: t.string({ pattern: '[a-z]{2}' }), max: Infinity })"],
  ['§11.3 unevaluatedProperties', { type: 'object', unevaluatedProperties: text }, 't.map(t.string(), { max: Infinity })'],
  ['§10.3.2.4 propertyNames with a length', { additionalProperties: text, propertyNames: { maxLength: 5 } }, 't.map(t.string(), { key: t.string({ max: 5 }), max: Infinity })'],
  ['§10.3.2.4 propertyNames that are listed', { additionalProperties: text, propertyNames: { enum: ['de', 'en'] } }, "t.map(t.string(), { key: t.enum('de', 'en'), max: Infinity })"],
  ['§6.5.1, §6.5.2 numbers of members', { additionalProperties: text, minProperties: 1, maxProperties: 9 }, 't.map(t.string(), { min: 1, max: 9 })'],
  ['a map of maps', { additionalProperties: { additionalProperties: { type: 'integer' } } }, 't.map(t.map(t.long(), { max: Infinity }), { max: Infinity })'],
  ['a map of an allOf', { allOf: [{ type: 'object', additionalProperties: text }] }, 't.map(t.string(), { max: Infinity })'],
  ['a map of any values', { type: 'object', additionalProperties: true }, '', `{}: ${anyLine}`],
  ['names of two patterns', { type: 'object', patternProperties: { '^x-': text, '^y-': text } }, '', ': is a map whose values are of several schemas, by their names; it is left out'],
  ['next to properties, of one type', { properties: named, additionalProperties: text }, '', `: ${openLine}`],
  ['next to properties, of any type', { properties: named, additionalProperties: true }, '', `: ${openLine}`],
  ['next to properties, a pattern', { properties: named, patternProperties: { '^x-': {} }, additionalProperties: false }, '', `: ${openLine}`],
  ['properties only', { properties: named, additionalProperties: false, unevaluatedProperties: false }, ''],
  ['a pattern that no member may match', { properties: named, patternProperties: { '^x-': false } }, ''],
  ['no additionalProperties', { type: 'object', properties: named }, ''],
  ['neither properties nor additionalProperties', { type: 'object' }, '', ': is an object whose members are not named; it is left out'],
] // biome-ignore format: a row for each form
for (const [what, schema, written, loss] of maps)
  test(`an OpenAPI map is imported as a map, and each loss is reported once: ${what}`, () => {
    const service = importText(withSchema({ a: schema, c: { type: 'string' } }))
    const { losses } = service
    const text = writeServiceTypescript(service, 'test')
    const own = losses.flatMap(({ place, detail }) => (/\.a(\{\})?$/.test(place) ? [`${place}: ${detail}`] : []))
    assert.deepEqual(
      own.map(line => line.replace(/^.*?\.a(?=\{|:)/, '')),
      loss === undefined ? [] : [loss],
    )
    if (loss === undefined || written !== '') assert.ok(text.includes(`a: ${written}`), text)
  })

test('a default of content is the default of the field, if the field accepts it', () => {
  const members = {
    a: { type: 'string', enum: ['x', "y'"], default: "y'" },
    b: { type: 'integer', default: 5 },
    c: { type: 'boolean', default: false },
    d: { type: 'string', maxLength: 2, default: 'long' },
    e: { type: 'string', default: null },
    f: { type: 'integer', default: 6 },
  }
  const content = (properties: object, required: readonly string[]) => ({
    'application/json': { schema: { type: 'object', required, properties: { id: { type: 'string' }, ...properties } } },
  })
  const shown = Object.fromEntries(Object.entries(members).map(([name, { default: _, ...each }]) => [name, each]))
  const text = withPaths({
    '/things': {
      post: {
        requestBody: { content: content(members, ['f']) },
        responses: { 201: { description: 'It.', content: content(shown, Object.keys(shown)) } },
      },
    },
    '/things/{id}': {
      get: { responses: { 200: { description: 'It.', content: content(shown, Object.keys(shown)) } } },
    },
  })
  assert.equal(
    fieldsOf(text),
    String.raw`{ id: t.id('t'), a: t.enum('x', 'y\'').default('y\''), b: t.long().default(5n), c: t.boolean().default(false), d: t.string({ max: 2 }).optional(), e: t.string().optional(), f: t.long(), }`,
  )
})

const contents: readonly (readonly [string, object, RegExp])[] = [
  ['is a map of any values', { additionalProperties: {} }, /^count\w*(\.\w+)*: may be any JSON: it is a text here$/i],
  ['has a map', { properties: { m: { additionalProperties: true } } }, /^count\w*\.m\.value: may be any JSON: it is a text/i],
  ['is open inside', { properties: { m: { properties: named, additionalProperties: true } } }, /^count\w*\.m: members of any/i],
  ['is open', { properties: named, additionalProperties: true }, /^count: members of any name are left out/i],
] // biome-ignore format: a row for each form
for (const [what, schema, line] of contents)
  test(`the import of an exchange reports what it leaves out of content that ${what}`, () => {
    const requestBody = { content: { 'application/json': { schema } } }
    const post = { operationId: 'count', requestBody, responses: { 204: { description: 'Counted.' } } }
    const lines = lossesOf(importText(withPaths({ '/count': { post } })))
    assert.ok(
      lines.some(each => line.test(each)),
      lines.join('\n'),
    )
  })

// Types

const types: readonly (readonly [string, object, string])[] = [
  ['bounds of 32 bits', { a: { type: 'integer', minimum: 0, maximum: 9 } }, 't.int({ min: 0, max: 9 })'],
  ['integers without bounds', { a: { type: 'integer' } }, 't.long()'],
  ['a format with bounds inside its range, at its end and outside', { a: { type: 'integer', format: 'uint16', minimum: 0, maximum: 1000 } }, "t.int({ xsd: 'unsignedShort', max: 1000 })"],
  ['a format with bounds outside its range', { a: { type: 'integer', format: 'int8', minimum: -1000, maximum: 1000 } }, "t.int({ xsd: 'byte' })"],
  ['a type that our own descriptions name', { a: { type: 'integer', format: 'int64', 'x-xsd': 'positiveInteger', minimum: 1 } }, "t.long({ xsd: 'positiveInteger' })"],
  ['bounds of 64 bits without a sign', { a: { type: 'integer', minimum: 0, maximum: 18446744073709551615n } }, "t.long({ xsd: 'unsignedLong' })"],
  ['a bound of more than 64 bits', { a: { type: 'integer', minimum: -18446744073709551616n } }, "t.long({ xsd: 'integer', min: -18446744073709551616n })"],
  ['a default of a 64-bit type', { a: { type: 'array', items: { type: 'integer', format: 'uint8' } } }, "t.list(t.int({ xsd: 'unsignedByte' }), { max: Infinity })"],
  ['an unknown format', { a: { type: 'integer', format: 'double' } }, 't.long()'],
  ['§6.2.5 exclusiveMinimum', { a: { type: 'integer', format: 'int32', exclusiveMinimum: 0 } }, 't.int({ min: 1 })'],
  ['OpenAPI 3.0 exclusiveMaximum', { a: { type: 'integer', maximum: 5, minimum: 1, exclusiveMaximum: true } }, 't.int({ min: 1, max: 4 })'],
  ['base64', { a: { type: 'string', format: 'byte', maxLength: 8 } }, 't.bytes({ max: 6 })'],
  ['an address', { a: { type: 'string', format: 'uri' } }, "t.string({ xsd: 'anyURI' })"],
  ['null of 3.1', { a: { type: ['string', 'null'] } }, 't.string().nullable()'],
  ['a list without bound', { a: { type: 'array', items: { type: 'boolean' } } }, 't.list(t.boolean(), { max: Infinity })'],
  ['alternatives in a pattern', { a: { type: 'string', pattern: '^a|b$' } }, "t.string({ pattern: 'a[\\\\s\\\\S]*|[\\\\s\\\\S]*b' })"],
] // biome-ignore format: a row for each type
for (const [what, properties, expected] of types)
  test(`the field of an imported member: ${what}`, () =>
    assert.ok(fieldsOf(withSchema(properties)).includes(`a: ${expected}`), fieldsOf(withSchema(properties))))

const readingJson = (schema: object) => reading({ content: { 'application/json': { schema } } })
const componentOf = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const listing = (name: string) => readingJson({ type: 'array', items: componentOf(name) })
for (const [what, customer, parts] of [
  ['a member that may be an identifier or a whole item is no reference', { anyOf: [{ type: 'string' }, {}] }, {}],
  ['a member of another type is no reference', {}, {}],
  ['content with a key that is no media type is no file', { type: 'string' }, { photo: 'allOf' }],
] as const)
  test(`the contract of an import is sound: ${what}`, () => {
    const identified = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
    const text = withPaths(
      {
        '/customers': { get: listing('customer') },
        '/customers/{customer}': { get: readingJson(componentOf('customer')) },
        '/customers/{customer}/charges': { get: listing('charge') },
        '/charges': { get: listing('charge') },
        '/charges/{charge}': { get: readingJson(componentOf('charge')) },
        ...Object.fromEntries(
          Object.entries(parts).map(([name, key]) => [
            `/customers/{customer}/${name}`,
            { get: { responses: { 200: { content: { [key]: [] } } } } },
          ]),
        ),
      },
      {
        schemas: {
          customer: identified,
          charge: { ...identified, properties: { ...identified.properties, customer } },
        },
      },
    )
    const { service } = importText(text)
    assert.deepEqual(findContractMistakes(createMock(service)), [])
  })

// Attacks

const nest = (depth: number): object => (depth === 0 ? { type: 'string' } : { type: 'array', items: nest(depth - 1) })
const flood = (keyword: string): object =>
  Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => {
      const next = { $ref: `#/components/schemas/s${i + 1}` }
      const last = { type: 'object', properties: { z: { type: 'string' } } }
      const body = keyword === 'properties' ? { a: next, b: next } : [next, next]
      return [`s${i}`, i === 59 ? last : { type: 'object', [keyword]: body }]
    }),
  )
const first = { $ref: '#/components/schemas/s0' }
const attacks: readonly (readonly [string, string])[] = [
  ['a reference to itself', withSchema({ a: { $ref: '#/components/schemas/s' } }, { s: { $ref: '#/components/schemas/s' } })],
  ['an object within itself', withSchema({ a: first }, { s0: { type: 'object', properties: { a: first, b: { type: 'string' } } } })],
  ['a list of itself', withSchema({ a: first }, { s0: { type: 'array', items: first } })],
  ['a part of itself', withSchema({ a: first }, { s0: { allOf: [first, first], properties: { b: { type: 'string' } } } })],
  ['an alternative of itself', withSchema({ a: first }, { s0: { anyOf: [first, { type: 'null' }] } })],
  ['2^60 members', withSchema({ a: first }, flood('properties'))],
  ['2^60 parts', withSchema({ a: first }, flood('allOf'))],
  ['2^60 alternatives', withSchema({ a: first }, flood('oneOf'))],
  ['200 lists within each other', withSchema({ a: nest(200) })],
  ['a name that every object inherits', withSchema({ constructor: { type: 'string' }, a: JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') })],
  ['a reference to nothing', withSchema({ a: { $ref: '#/components/%zz/~1' } })],
  ['a format that every object inherits', withSchema({ a: { type: 'string', format: 'constructor' } })],
  ['a type that every object inherits', withSchema({ a: { type: '__proto__', enum: ['a'] } })],
  ['an order by a name that every object inherits', withPaths({
    '/pets': { get: { parameters: [{ name: 'sort', in: 'query', schema: { enum: ['constructor', '-name'] } }], responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/s' } } } } } } } },
    '/pets/{id}': { get: { responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/s' } } } } } } },
  }, { schemas: { s: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, name: { type: 'string' } } } } })],
  ['paths that are not an object', withPaths(['x', null] as unknown as object)],
] // biome-ignore format: a row for each attack
for (const [what, text] of attacks)
  test(`an import survives ${what}`, () =>
    assertCpuMsBelow(2000, () => assert.ok(writeServiceTypescript(importText(text), 'attack').length < 200_000)))
test('aliases of YAML that stand for billions of values are refused', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `x${i}: &a${i} [${i === 0 ? '1' : `*a${i - 1}, *a${i - 1}`}]`)
  assert.throws(() => importText(`openapi: 3.1.0\n${lines.join('\n')}\n`), /is not YAML: .*alias/i)
})
for (const [what, text, message] of [
  ['Swagger 2.0', '{ "swagger": "2.0" }', /is Swagger 2\.0: convert it/],
  ['another document', '{ "a": 1 }', /is not an OpenAPI document of version 3\.0 to 3\.2: "openapi" is missing/],
  ['a key that occurs twice', 'openapi: 3.1.0\ninfo: {}\ninfo: {}\n', /is not YAML: the key info occurs twice/],
  ['YAML that is not closed', 'openapi: [', /is not YAML: .* at line 1/],
  ['half a document', '{ "openapi": ', /is not JSON/],
] as const)
  test(`${what} is refused in one line`, () => assert.throws(() => importText(text), { message }))

for (const write of [JSON.stringify, stringify])
  test(`a document is imported in linear time: ${write === stringify ? 'YAML' : 'JSON'}`, () => {
    assertLinear(count => {
      const schema = (i: number) => ({
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string' },
          name: { type: 'string' },
          other: { $ref: `#/components/schemas/S${(i + 1) % count}` },
        },
      })
      const answer = (i: number) => ({
        200: {
          description: 'It.',
          content: { 'application/json': { schema: { $ref: `#/components/schemas/S${i}` } } },
        },
      })
      const indexes = Array.from({ length: count }, (_, i) => i)
      const text = withPaths(
        Object.fromEntries(
          indexes.flatMap(i => [
            [`/r${i}/{id}`, { get: { responses: answer(i) } }],
            [`/r${i}/{id}/run`, { post: { responses: answer(i) } }],
            [`/lone${i}`, { get: { responses: answer(i) } }],
          ]),
        ),
        { schemas: Object.fromEntries(indexes.map(i => [`S${i}`, schema(i)])) },
      )
      const written = write(JSON.parse(text))
      return () => {
        const imported = importText(written)
        assert.equal(imported.service.resources.length, count)
        assert.equal(Object.keys(imported.service.ports[0]?.exchanges ?? {}).length, count)
        writeServiceTypescript(imported, 'big.json')
      }
    }, 300)
  })

// The command

const said: string[] = []
const print = { text: (text: string) => said.push(text), note: (line: string) => said.push(line) }
const importTo = async (name: string, document: string, flags: object = {}): Promise<string> => {
  said.length = 0
  const output = join(folder, name)
  await importContract(document, { output, from: [], fetch: [], ...flags }, print)
  return readFileSync(output, 'utf8')
}
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('a second import keeps edited, added and removed lines, and brings what is new', async () => {
  const thing = (more: object, others: object = {}) => withSchema({ name: { type: 'string' }, ...more }, others)
  const document = write(
    'things.json',
    thing(
      { part: { $ref: '#/components/schemas/Part' } },
      { Part: { type: 'object', properties: { a: { type: 'string' } } } },
    ),
  )
  const first = await importTo('things.ts', document)
  assert.equal(await importTo('things.ts', document), first, 'nothing was edited, nothing is new')
  const edited = first
    .replace(
      "const user = role('user')",
      "const user = role('clerk')\n\n/** Mine. */\nexport const mine = t.string({ max: 3 })",
    )
    .replaceAll('\n  ', '\n    ')
    .replaceAll("'urn:tried'", '"urn:tried"')
    .replace("from 'diglot'", "from 'diglot'\nimport { other } from './other.ts'")
  write('things.ts', edited)
  write(
    'things.json',
    thing(
      { part: { $ref: '#/components/schemas/Part' } },
      { Part: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'boolean' } } } },
    ),
  )
  const again = await importTo('things.ts', document)
  assert.match(again, /role\('clerk'\)/, 'an edit stays')
  assert.match(again, /role\('clerk'\)\n\n\/\*\* Mine\. \*\/\nexport const mine/, 'an addition stays at its place')
  assert.match(again, /import \{ other \} from '\.\/other\.ts'/)
  assert.match(again, /b: t\.boolean\(\)/, 'what was only formatted is written anew')
  assert.equal(await importTo('things.ts', document), again, 'edits are known as edits the next time')
  write('things.ts', again.replace('max: 3', 'max: 4').replace(/const Part = [\s\S]*?'Part'\)\n/, ''))
  const removed = await importTo('things.ts', document)
  assert.match(removed, /max: 4/)
  assert.doesNotMatch(removed, /^const Part = /m)
  assert.ok(said.includes('Part: was removed from the file and is left out'))
})
test('an edit that conflicts with a change of the document is reported, and the edit stays', async () => {
  const document = write('clash.json', withSchema({ name: { type: 'string' } }))
  const text = await importTo('clash.ts', document)
  write('clash.ts', text.replace('name: t.string()', 'name: t.string({ max: 9 })'))
  write('clash.json', withSchema({ name: { type: 'string' }, size: { type: 'boolean' } }))
  assert.match(await importTo('clash.ts', document), /name: t\.string\(\{ max: 9 \}\)/)
  assert.ok(said.includes('things: was edited and is kept; the document has changed it too'), said.join('\n'))
  assert.match(await importTo('clash.ts', document, { force: true }), /size: t\.boolean\(\)/)
})
test('a second import of a WSDL keeps edits too', async () => {
  const document = write(
    'types.xsd',
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:complexType name="A"><xs:sequence><xs:element name="b" type="xs:int"/></xs:sequence></xs:complexType></xs:schema>',
  )
  const text = await importTo('types.ts', document)
  write('types.ts', `${text.replace('x.int', 'x.short')}`)
  assert.match(await importTo('types.ts', document), /x\.short/)
})
test('a file that was not written by an import is not touched', async () => {
  const document = write('own.json', withSchema({}))
  write('own.ts', 'export const own = 1\n')
  await assert.rejects(importTo('own.ts', document), /own\.ts exists, and no import has written it/)
  assert.equal(readFileSync(join(folder, 'own.ts'), 'utf8'), 'export const own = 1\n')
})

let asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url ?? '')
  if (request.url === '/away.json') response.writeHead(302, { location: 'http://127.0.0.2/x.json' }).end()
  else if (request.url === '/cut.json')
    response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy())
  else
    response.end(
      JSON.stringify({ Part: { type: 'object', properties: { fetched: { $ref: 'more.json' } } }, type: 'string' }),
    )
})
before(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
after(() => server.close())
test('a document is fetched only from hosts that --fetch names', async () => {
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const host = `127.0.0.1:${address.port}`
  const document = write('far.json', withSchema({ part: { $ref: `http://${host}/parts.json#/Part` } }))
  asked = []
  assert.doesNotMatch(await importTo('far.ts', document), /fetched/)
  assert.deepEqual(asked, [])
  assert.match(said.join('\n'), /name their folder with --from, or their host with --fetch/)
  assert.match(await importTo('far.ts', document, { fetch: [host] }), /fetched: t\.string\(\)/)
  assert.deepEqual(asked, ['/parts.json', '/more.json'])
  const away = write('away.json', withSchema({ part: { $ref: `http://${host}/away.json#/Part` } }))
  await assert.rejects(
    importTo('away.ts', away, { fetch: [host] }),
    /redirects to http:\/\/127\.0\.0\.2\/x\.json: give that address, and name its host/,
  )
  const cut = write('cut.json', withSchema({ part: { $ref: `http://${host}/cut.json#/Part` } }))
  await assert.rejects(importTo('cut.ts', cut, { fetch: [host] }), /http:.*\/cut\.json cannot be read: /)
})
