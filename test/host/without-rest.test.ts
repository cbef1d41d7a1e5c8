/** `rest: false`: a service whose operations are only SOAP messages (docs/message-security.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSoapClient, FaultError } from '../../src/client/index.ts'
import { fault } from '../../src/contract/fault.ts'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { service } from '../../src/contract/service.ts'
import { buildSite } from '../../src/docs/build-site.ts'
import { json, startHosted } from './hosted-service.ts'

const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
  sort: ['text'],
  allow: { read: [anyone], create: [anyone], remove: [anyone] },
})
const contract = service('notes', { namespace: 'urn:notes', resources: [notes], rest: false })
const app = implement(contract, { notes: {} })
const { server, ask } = await startHosted({}, app)

const absent: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api/notes'],
  ['GET', '/api/v1/notes/n-1'],
  ['POST', '/api/notes'],
  ['OPTIONS', '/api/notes'],
  ['DELETE', '/api/v1/notes/n-1'],
  ['GET', '/openapi.json'],
  ['GET', '/changes'],
]
for (const [method, path] of absent)
  test(`${method} ${path} is 404`, async () => {
    const content = method === 'POST' ? '{"text":"a"}' : undefined
    assert.equal((await ask(method, path, content === undefined ? {} : json, content)).status, 404)
  })

test('its operations are messages, with the same store and the same faults', async () => {
  const client = createSoapClient(contract, { address: `${server.url}/soap/v1` })
  const { note } = await client.CreateNote({ note: { text: 'a' } })
  assert.equal((await client.GetNote({ id: note.id })).note.text, 'a')
})

test('the entry leads to SOAP, and to nothing that does not exist', async () => {
  const { status, text } = await ask('GET', '/api', { accept: 'application/hal+json' })
  assert.equal(status, 200)
  const links = Object.entries(JSON.parse(text)._links as Record<string, { href: string }>)
  assert.deepEqual(
    links.map(([rel]) => rel).filter(rel => ['notes', 'service-desc', 'changes'].includes(rel)),
    [],
  )
  for (const [rel, { href }] of links)
    assert.notEqual((await ask('GET', href, { accept: 'text/html, */*;q=0.1' })).status, 404, rel)
})

test('a site for its callers has neither OpenAPI nor addresses of REST', async () => {
  const site = await buildSite(app, { address: 'https://notes.example', examples: true })
  assert.equal(site.has('openapi.json'), false)
  for (const [path, text] of site) assert.doesNotMatch(text, /\/api\b/, path)
})

test('the review refuses a service without any face, and a value of rest that is no boolean', () => {
  const nowhere = service('notes', { namespace: 'urn:notes', resources: [notes], rest: false, endpoints: {} })
  assert.match(findContractMistakes(implement(nowhere, { notes: {} })).join(), /rest: false and no SOAP endpoint/)
  assert.throws(
    () => service('notes', { namespace: 'urn:notes', resources: [notes], rest: 'none' as never }),
    /rest.*true or false/s,
  )
})

test('a fault without REST has details of any name: no problem has members of these names', async () => {
  const Late = fault('Late', { status: 409, title: 'Late', detail: { status: t.string(), detail: t.int() } })
  const late = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone] },
    faults: { create: [Late] },
  })
  const spoken = service('notes', { namespace: 'urn:notes', resources: [late], rest: false })
  const refusing = implement(spoken, {
    notes: { derive: ctx => ctx.fail(Late, { status: 'closed', detail: 7 }) },
  })
  const { server } = await startHosted({}, refusing)
  const client = createSoapClient(spoken, { address: `${server.url}/soap/v1` })
  const thrown = await client.CreateNote({ note: { text: 'a' } }).catch((error: unknown) => error)
  assert.ok(thrown instanceof FaultError && thrown.is(Late))
  assert.deepEqual(thrown.detail, { status: 'closed', detail: 7 })
})
