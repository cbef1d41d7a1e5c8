/**
 * What a contract says of its parts arrives wherever people look for it: each place of declaration,
 * and each place where it has to be found.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findContractMistakes } from '../../src/contract/review.ts'
import { writeAccessMatrix } from '../../src/describe/access-matrix.ts'
import { buildSite } from '../../src/docs/build-site.ts'
import { anyone, fault, header, implement, job, resource, role, service, t } from '../../src/index.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = role('clerk').describe('ROLE people at the desk')
const Torn = fault('Torn', {
  status: 409,
  title: 'Torn',
  description: 'FAULT the letter has to be written again',
  detail: { where: t.string().describe('DETAIL where it is torn', { example: 'the-torn-corner' }) },
})
const Line = t.object({ text: t.string().describe('MEMBER one line of it') }, 'Line')
const letters = resource('letters', {
  title: 'RESOURCETITLE',
  description: 'RESOURCE what people send',
  fields: {
    id: t.id('l'),
    to: t.string().describe('FIELD who gets it', { title: 'FIELDTITLE', example: 'the-example-person' }),
    stamp: t
      .enum('first', 'second')
      .describe('ENUM how fast', { values: { first: 'VALUE by the next day' } })
      .optional(),
    lines: t.list(Line).describe('LIST all of it').optional(),
    state: t.state().describe('PROGRESS where it is'),
  },
  states: ['open', 'sent'],
  stateDescriptions: { open: 'STATE it can be changed' },
  actions: on => ({
    send: on('open').to('sent', {
      rel: 'dispatch',
      title: 'ACTIONTITLE',
      description: 'ACTION hands it to the carrier',
      input: { by: t.string().describe('INPUT the carrier') },
      faults: [Torn],
    }),
  }),
  files: { scan: { mediaTypes: ['image/png'], max: 1000, description: 'FILE a picture of it' } },
}).rules({
  filter: ['to'],
  allow: { read: [anyone], create: [clerk], change: [clerk], send: [clerk.owning({ to: 'name' })] },
})
const counts = job('counts', {
  title: 'JOBTITLE',
  description: 'JOB counts all letters',
  input: { from: t.date().describe('JOBINPUT the first day') },
  output: { count: t.int().describe('JOBOUTPUT how many') },
  allow: [clerk],
})
const post = service('post', {
  namespace: 'urn:post',
  title: 'Post',
  description: 'SERVICE letters from door to door',
  contact: { name: 'CONTACT', email: 'post@example.org' },
  license: { name: 'LICENSE', identifier: 'MIT' },
  resources: [letters],
  jobs: [counts],
  headers: { Branch: header(t.string().describe('HEADER the branch that asks'), { field: 'Branch' }) },
  versions: { v1: { description: 'VERSION the first of them' } },
})
const app = implement(post, { letters: { send: () => {} }, counts: { run: async () => ({ count: 0 }) } })

/** What is declared; the words of the contract above. */
const declared = [
  'SERVICE', 'CONTACT', 'LICENSE', 'VERSION', 'RESOURCE', 'FIELD', 'FIELDTITLE', 'the-example-person', 'ENUM', 'VALUE',
  'LIST', 'MEMBER', 'PROGRESS', 'STATE', 'ACTIONTITLE', 'ACTION', 'INPUT', 'FILE', 'FAULT', 'DETAIL', 'the-torn-corner',
  'JOBTITLE', 'JOB', 'JOBINPUT', 'JOBOUTPUT', 'HEADER', 'ROLE',
] as const // biome-ignore format: a list of words
type Declared = (typeof declared)[number]

const open = await startTestService(post, app)
const ask = open.fetchAs({ subject: 'carl', roles: ['clerk'], claims: { name: 'the-example-person' } })
const pageOf = async (path: string): Promise<string> => {
  const response = await ask(open.address + path, { headers: { accept: 'text/html' } })
  assert.equal(response.status, 200, path)
  return response.text()
}
const textOf = async (path: string): Promise<string> => (await ask(open.address + path)).text()
await open
  .rest({ subject: 'carl', roles: ['clerk'] })
  .letters.create({ to: 'the-example-person', stamp: 'first', lines: [{ text: 'x' }] })
const site = await buildSite(app, { address: 'https://post.example.org', examples: false })

/** Where people look, and what they do not find there: with the reason. */
const arrivals: readonly [string, () => Promise<string> | string, without: readonly Declared[]][] = [
  // Operators and readers of the site learn who may do what.
  ['OpenAPI', () => textOf('/openapi.json'), ['ROLE']],
  // An annotation has no structure: titles and examples are text; whom to ask has no place.
  ['WSDL 1.1', () => textOf('/soap/v1?wsdl'), ['ROLE', 'CONTACT', 'LICENSE']],
  // Parts have no types of their own but for members of objects.
  ['WSDL 1.1, RPC', () => textOf('/soap/v1/rpc?wsdl'), ['ROLE', 'CONTACT', 'LICENSE']],
  ['WSDL 2.0', () => textOf('/soap/v1?wsdl2'), ['ROLE', 'CONTACT', 'LICENSE']],
  ['the site', () => [...site.values()].map(file => String(file)).join('\n'), []],
]
describe('the texts of a contract arrive', () => {
  for (const [where, read, without] of arrivals)
    for (const word of declared)
      test(`${where}: ${word}`, async () => {
        const found = new RegExp(`\\b${word}\\b`).test(await read())
        assert.equal(found, !without.includes(word))
      })
})

describe('the texts of a contract are on pages, next to their subject', () => {
  const pages: readonly [string, string, readonly Declared[]][] = [
    ['the entry', '/api/v1', ['SERVICE', 'VERSION', 'RESOURCE', 'JOBTITLE', 'JOB', 'JOBINPUT']],
    ['a collection', '/api/v1/letters', ['RESOURCE', 'FIELD', 'FIELDTITLE', 'ENUM', 'VALUE', 'LIST']],
  ]
  for (const [where, path, words] of pages)
    test(where, async () => {
      const page = await pageOf(path)
      assert.deepEqual(
        words.filter(word => !new RegExp(`\\b${word}\\b`).test(page)),
        [],
      )
    })
  test('an item', async () => {
    const [item] = JSON.parse(await textOf('/api/v1/letters')).items
    const page = await pageOf(`/api/v1/letters/${item.id}`)
    const words: Declared[] = ['FIELDTITLE', 'PROGRESS', 'STATE', 'ACTIONTITLE', 'ACTION', 'INPUT']
    assert.deepEqual(
      words.filter(word => !new RegExp(`\\b${word}\\b`).test(page)),
      [],
    )
  })
})

test('the access matrix says who has a role', () => {
  assert.match(writeAccessMatrix(post), /\n- clerk: ROLE people at the desk\n/)
})

test('OpenAPI has each text where its reader looks', async () => {
  const document = JSON.parse(await textOf('/openapi.json'))
  assert.equal(document.info.description, 'SERVICE letters from door to door\n\nv1: VERSION the first of them')
  assert.deepEqual(document.tags[0], { name: 'letters', description: 'RESOURCE what people send' })
  const { to, stamp, state } = document.components.schemas['v1.Letter'].properties
  assert.deepEqual([to.title, to.description, to.examples], ['FIELDTITLE', 'FIELD who gets it', ['the-example-person']])
  assert.equal(stamp.description, 'ENUM how fast\nfirst: VALUE by the next day')
  assert.equal(state.description, 'PROGRESS where it is\nopen: STATE it can be changed')
  const send = document.paths['/api/v1/letters/{id}/dispatch'].post
  assert.deepEqual([send.summary, send.description], ['ACTIONTITLE', 'ACTION hands it to the carrier'])
})

test('an example keeps its exactness, whatever its type', async () => {
  const odd = resource('odd', {
    fields: {
      id: t.id('o'),
      long: t.long().describe('L', { example: 9007199254740993n }),
      octets: t.bytes().describe('B', { example: Uint8Array.of(1, 2) }),
      amount: t.decimal(8, 2).describe('D', { example: '1.50' }),
      part: t.double().describe('P', { example: Number.POSITIVE_INFINITY }),
      lines: t.list(t.object({ at: t.int(), on: t.boolean() })).describe('O', { example: [{ at: 1, on: true }] }),
      kind: t.union('is', { a: { x: t.long() }, b: {} }).describe('U', { example: { is: 'a', x: 2n } }),
    },
  }).rules({ allow: { read: [anyone] } })
  const one = service('one', { namespace: 'urn:one', resources: [odd] })
  await using started = await startTestService(one, implement(one, {}))
  const text = await (await started.fetchAs()(`${started.address}/openapi.json`)).text()
  const examples = [...text.matchAll(/"examples":\s*(\[[^;]*?\])\s*[,}]\s*"(?=[a-z])/g)]
  assert.ok(text.includes('9007199254740993'), 'the long integer has all its digits')
  assert.ok(examples.length > 0)
  const { properties } = JSON.parse(text).components.schemas['v1.Odd']
  const of = (name: string): unknown => properties[name].examples[0]
  assert.deepEqual([of('octets'), of('amount'), of('part')], ['AQI=', '1.50', 'INF'])
  assert.deepEqual([of('lines'), of('kind')], [[{ at: 1, on: true }], { is: 'a', x: 2 }])
})

test('a mock responds with the examples of the contract', async () => {
  const mock = createMock(post)
  const people = JSON.stringify(mock.seed().items?.['letters'] ?? [])
  assert.match(people, /the-example-person/)
})

test('an example that the field does not accept, and a value that it cannot have, end the start', () => {
  const bad = resource('bad', {
    fields: {
      id: t.id('b'),
      name: t.string({ max: 3 }).describe('N', { example: 'long' }),
      kind: t.enum('a').describe('K', { values: { b: 'B' } as object }),
    },
    states: ['open'],
    stateDescriptions: { closed: 'C' } as object,
  }).rules({ allow: { read: [anyone] } })
  const wrong = service('wrong', { namespace: 'urn:wrong', resources: [bad] })
  assert.deepEqual(findContractMistakes(implement(wrong, {})), [
    'bad.name has an example that must have at most 3 characters: give a value that the field accepts',
    'bad.kind describes the value "b", which it cannot have: use a',
    'bad.state describes the value "closed", which it cannot have: use open',
  ])
})

test('an example has the type of its field, and only existing parts can be described', () => {
  // @ts-expect-error a number is no text
  t.string().describe('S', { example: 1 })
  // @ts-expect-error the enumeration has no such value
  t.enum('a', 'b').describe('E', { values: { c: 'C' } })
  // @ts-expect-error the resource has no such state
  resource('r', { fields: { id: t.id('r') }, states: ['open'], stateDescriptions: { closed: 'C' } })
  // @ts-expect-error a title is text
  resource('r', { fields: { id: t.id('r') }, title: 1 })
})
