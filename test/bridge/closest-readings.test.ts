/** What a REST service sends, where its description allows several readings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRestCaller } from '../../src/bridge/rest-caller.ts'
import { typeMembersOf } from '../../src/bridge/rest-values.ts'
import { x } from '../../src/contract/xml-type.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'

const text = { type: 'string' }
const list = (items: object) => ({ type: 'array', items })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const oneOf = (...names: string[]) => ({ oneOf: names.map(ref) })
const object = (properties: object, ...required: string[]) => ({ type: 'object', properties, required })
const get = (operationId: string, responses: object) => ({ get: { operationId, responses } })
const schemas = {
  Bulk: object({ payments: list(ref('Single')), note: text }, 'payments'),
  Single: object({ creditor: text, note: text }, 'creditor'),
  Iban: object({ iban: text }),
  Bban: object({ bban: text }),
  Message: object({ text, code: text }),
  Named: object({ text, code: { const: 'N' } }, 'code'),
  Long: object({ text, code: text, more: text }),
  Errors: object({ errors: list(text) }, 'errors'),
  Duplicate: object({ original: text }, 'original'),
  Gone: object({ type: { const: 'urn:gone' }, since: text }, 'type'),
  Href: object({ href: text }),
  Problem: object({ type: text, title: text, status: { type: 'integer' } }),
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Bank', version: '1' },
  paths: {
    '/payment': get('payment', {
      200: json(oneOf('Bulk', 'Single')),
      409: json(oneOf('Errors', 'Duplicate')),
      410: json(oneOf('Gone', 'Problem')),
      default: json(ref('Errors')),
    }),
    '/started': get('started', {
      200: json(object({ _links: { type: 'object', additionalProperties: ref('Href') } }, '_links')),
    }),
    '/account': get('account', { 200: json(oneOf('Iban', 'Bban')) }),
    '/message': get('message', { 200: json(oneOf('Message', 'Named', 'Long')) }),
    '/note': get('note', { 200: { description: '', content: { 'text/plain': { schema: text } } } }),
  },
  components: { schemas },
}
const how = { find: () => undefined, parse: await loadAnyParser() }
const rest = readRestPort(JSON.stringify(document), 'bank.json', [], how)

async function call(name: string, content: Uint8Array, status = 200, type = 'application/json') {
  const limits = { timeLimit: 10_000, longest: 10_000 }
  const response = { kind: 'response', status, fields: { 'content-type': type }, content } as const
  return await createRestCaller(
    rest,
    'http://bank.example',
    limits,
    async () => response,
  )(name, {
    input: {},
    blocks: {},
  })
}
const answer = (name: string, value: object, status?: number) => call(name, Buffer.from(JSON.stringify(value)), status)
async function branch(name: string, value: object) {
  const read = await answer(name, value)
  assert.equal(read.kind, 'answer')
  return (read as unknown as { content: { value: { oneOf: object } } }).content.value.oneOf
}
const declared = async (value: object, status: number) => {
  const read = await answer('Payment', value, status)
  return read.kind === 'fault' ? read.declared : read
}

test('a value without a required list of the first schema is read by a later one', async () => {
  assert.deepEqual(await branch('Payment', { creditor: 'c', note: 'n' }), { single: { creditor: 'c', note: 'n' } })
  assert.deepEqual(await branch('Payment', { payments: [] }), { bulk: { payments: [] } })
  assert.deepEqual(await branch('Payment', { note: 'n' }), { bulk: { payments: [], note: 'n' } })
})
test('a value is read by the schema that knows more of its members, else by the first', async () => {
  assert.deepEqual(await branch('Account', { bban: '1' }), { bban: { bban: '1' } })
  assert.deepEqual(await branch('Account', { iban: '1', bban: '2' }), { iban: { iban: '1' } })
  assert.deepEqual(await branch('Account', {}), { iban: {} })
  assert.deepEqual(await branch('Message', { text: 't', code: 'x' }), { message: { text: 't', code: 'x' } })
  assert.deepEqual(await branch('Message', { text: 't', more: 'm' }), { long: { text: 't', more: 'm' } })
})
test('a constant of a schema names it, whatever others know', async () => {
  assert.deepEqual(await branch('Message', { code: 'N', more: 'm' }), { named: { code: 'N' } })
  const gone = { type: 'urn:gone', title: 'Gone', status: 410 }
  assert.deepEqual((await declared(gone, 410)) as object, { name: 'Gone', detail: { type: 'urn:gone' } })
})
test('an error is read as the declared one that it is closest to', async () => {
  const original = { original: 'p-1' }
  assert.deepEqual(await declared(original, 409), { name: 'ConflictDuplicate', detail: original })
  const errors = { errors: ['a'] }
  assert.deepEqual(await declared(errors, 409), { name: 'ConflictErrors', detail: errors })
})
test('an error that is declared without its status keeps that of the response', async () => {
  const errors = { errors: ['a'] }
  assert.deepEqual(await declared(errors, 503), { name: 'Failure', detail: errors, status: 503 })
  assert.deepEqual(await declared(errors, 400), { name: 'Failure', detail: errors, status: 400 })
})
test('RFC 9110 §8.3.2 text is read in its charset, and not in an unknown one', async () => {
  const latin = await call('Note', Buffer.from('café', 'latin1'), 200, 'text/plain; charset=ISO-8859-1')
  assert.deepEqual(latin, { kind: 'answer', content: { content: 'café' }, blocks: {} })
  const plain = await call('Note', Buffer.from('café'), 200, 'text/plain')
  assert.deepEqual(plain, { kind: 'answer', content: { content: 'café' }, blocks: {} })
  const unknown = await call('Note', Buffer.from('x'), 200, 'text/plain; charset=klingon')
  assert.equal(unknown.kind, 'garbage')
})
test('links are content of a service of others, and left out of one of ours', async () => {
  const read = await answer('Started', { _links: { scaRedirect: { href: 'https://bank.example/sca' } } })
  assert.equal(read.kind, 'answer')
  const entry = [{ key: 'scaRedirect', value: { href: 'https://bank.example/sca' } }]
  assert.deepEqual((read as unknown as { content: object }).content, { _links: { entry } })
  const paths = { ...document.paths, '/changes': get('ListChanges', { 200: json(text) }) }
  const own = readRestPort(JSON.stringify({ ...document, paths }), 'own.json', [], how)
  assert.deepEqual(Object.keys(typeMembersOf(own.exchanges.get('Started')?.output.type() ?? x.string) ?? {}), [])
})
