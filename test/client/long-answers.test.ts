/** What an answer may have grows with what it may be long: lists, texts, documents as text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerError } from '../../src/client/errors.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'

const ns = x.namespace('urn:t')
const row = x.object({ a: x.element(x.int), b: x.element(x.string), c: x.element(x.string).optional() })
const All = ns.element('All', x.object({ row: x.element(row).many(), text: x.element(x.string).optional() }))
const Desk = port('Desk', {
  namespace: 'urn:t',
  allow: [anyone],
  exchanges: { all: exchange({ action: '', input: 'empty', output: All }) },
})
const contract = service('desk', { namespace: 'urn:t', resources: [], ports: [Desk] })

async function ask(inside: string, longest?: number) {
  const content = Buffer.from(
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><All xmlns="urn:t">${inside}</All></s:Body></s:Envelope>`,
  )
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async () => ({ status: 200, fields: { 'content-type': 'text/xml' }, content }),
  }
  const options = { address: 'http://desk.example/', transport, ...(longest !== undefined && { longest }) }
  return createPortClient(contract, options).all(undefined)
}
const rows = (count: number) => '<row><a>1</a><b>some text of a record</b><c>more</c></row>'.repeat(count)
const document = (count: number) => '&lt;line&gt;of a document&lt;/line&gt;'.repeat(count)

test('a list of 40,000 records with four elements each', async () => {
  assert.equal((await ask(rows(40_000))).row.length, 40_000)
})

test('a text of ten million characters', async () => {
  assert.equal((await ask(`<text>${'x'.repeat(10_000_000)}</text>`)).text?.length, 10_000_000)
})

test('a document of 60,000 lines as escaped text', async () => {
  assert.equal((await ask(`<text>${document(60_000)}</text>`)).text?.length, 60_000 * 26)
})

test('a document of 600,000 short elements as escaped text', async () => {
  assert.equal((await ask(`<text>${'&lt;a/&gt;'.repeat(600_000)}</text>`)).text?.length, 600_000 * 4)
})

test('attack: elements and references without content, within the octets of an answer', async () => {
  await assert.rejects(ask('<row/>'.repeat(1_000_000)), AnswerError)
  await assert.rejects(ask(`<text>${'&lt;'.repeat(4_000_000)}</text>`), /references/)
})

test('what is longer than an answer may be asks for a client that takes more', async () => {
  const large = rows(100_000)
  await assert.rejects(ask(large), /more than 262144 elements/)
  assert.equal((await ask(large, 64 * 1024 * 1024)).row.length, 100_000)
})
