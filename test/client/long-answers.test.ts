/** The bounds of a reply grow with its allowed length: lists, texts, documents as text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerError } from '../../src/client/errors.ts'
import { refuseFlaws } from '../../src/client/opened-answer.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import { parserLimitsFor } from '../../src/client/reply.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { t } from '../../src/contract/field.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { compileEncodedReader } from '../../src/soap/codecs/encoded-read.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { createEncodedCodecs } from '../../src/soap/codecs/schema-encoded.ts'
import { type LiteralReading, typesIn } from '../../src/soap/codecs/values.ts'
import { soap11 } from '../../src/soap/version.ts'
import { type Element, Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { assertLinear } from '../support/cost.ts'

const ns = x.namespace('urn:t')
const row = x.object({ a: x.element(x.int), b: x.element(x.string), c: x.element(x.string).optional() })
const All = ns.element('All', x.object({ row: x.element(row).many(), text: x.element(x.string).optional() }))
const Desk = port('Desk', {
  namespace: 'urn:t',
  allow: [anyone],
  exchanges: {
    all: exchange({ action: '', input: 'empty', output: All }),
    encoded: exchange({
      style: 'encoded',
      action: '',
      input: x.call('urn:t', 'encoded', {}),
      output: x.call('urn:t', 'encodedResponse', {
        row: x.element(x.array(row)),
        text: x.element(x.string).optional(),
      }),
    }),
  },
})
const contract = service('desk', { namespace: 'urn:t', resources: [], ports: [Desk] })

const ask = (inside: string, longest?: number) =>
  openAnswering(`<All xmlns="urn:t">${inside}</All>`, longest).all(undefined)
const askEncoded = (inside: string, longest?: number) =>
  openAnswering(`<m:encodedResponse xmlns:m="urn:t">${inside}</m:encodedResponse>`, longest).encoded({})
function openAnswering(body: string, longest?: number) {
  const content = Buffer.from(
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`,
  )
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async () => ({ status: 200, fields: { 'content-type': 'text/xml' }, content }),
  }
  const options = { address: 'http://desk.example/', transport, ...(longest !== undefined && { longest }) }
  return createPortClient(contract, options)
}
function parse(text: string): Element {
  const document = parseXml(Buffer.from(text), parserLimitsFor(16 * 1024 * 1024))
  assert.ok(!(document instanceof Malformed))
  return document.root
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

test('a reply that is too long gives an error that suggests a client with a higher limit', async () => {
  const large = rows(100_000)
  await assert.rejects(ask(large), /more than 262144 elements/)
  assert.equal((await ask(large, 64 * 1024 * 1024)).row.length, 100_000)
})

test('SOAP 1.1 §5 the bound on referenced values of a reply grows with its allowed length', async () => {
  const long = 64 * 1024 * 1024
  const large = `<row>${rows(80_000)}</row>`
  await assert.rejects(askEncoded(large), /more than 262144 elements/)
  assert.equal((await askEncoded(large, long)).row.length, 80_000)
  const text = `<row/><text>${'x'.repeat(17 * 1024 * 1024)}</text>`
  assert.equal((await askEncoded(text, long)).text?.length, 17 * 1024 * 1024)
  const shared = `<row>${'<a href="#1"/>'.repeat(200_000)}</row></m:encodedResponse><m id="1"><a>1</a><b/></m><m:encodedResponse xmlns:m="urn:t">`
  await assert.rejects(askEncoded(shared), /leads to more than 262144 elements/, 'what is referred to counts each time')
  assert.equal((await askEncoded(shared, long)).row.length, 200_000)
})

test('attack: a reply whose items are all wrong is judged in linear time, as a tree too, and reported by the first ten', async () => {
  const item = x.simple(x.string, { maxLength: 1 })
  const Items = ns.element('Items', x.object({ item: x.element(item).many() }))
  const wrong = (count: number) => {
    const items = '<item>long</item>'.repeat(count)
    return parse(`<Items xmlns="urn:t">${items}</Items>`)
  }
  const codec = createElementCodecs()(Items)
  assertLinear(count => {
    const root = wrong(count)
    return () => {
      const cursor = walkTree(root)
      cursor.next()
      const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
      codec.read(cursor, reading)
      assert.deepEqual([reading.flaws.length, reading.flaws.at(-1)?.path], [100, '/Items[1]/item[100]'])
    }
  }, 4000)
  const flaws = (length: number) =>
    Array.from({ length }, (_, at) => ({ path: `/a[${at}]`, code: 'bound' as const, detail: 'is long' }))
  assert.throws(() => refuseFlaws(flaws(12)), { detail: /\/a\[9\] is long; and 2 more$/ })
  assert.throws(() => refuseFlaws(flaws(100)), { detail: /\/a\[9\] is long; and at least 90 more$/ })
})

test('attack: a group of SOAP’s encoding that repeats is read in linear time', () => {
  const pair = x.sequence({ a: x.element(x.int), b: x.element(x.int) }).many()
  const codec = createEncodedCodecs()(x.call('urn:t', 'ask', { pair }))
  assertLinear(count => {
    const root = parse(`<Body><m:ask xmlns:m="urn:t">${'<a>1</a><b>2</b>'.repeat(count)}</m:ask></Body>`)
    return () => {
      const cursor = walkTree(root)
      cursor.next()
      cursor.child()
      const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
      assert.equal((codec.read(cursor, reading, soap11) as { readonly pair: readonly object[] }).pair.length, count)
    }
  }, 4000)
})

test('attack: wrong items of an array of SOAP’s encoding are reported in linear time', () => {
  const fields = { items: t.list(t.string({ max: 1 }), { max: Infinity }) }
  const read = compileEncodedReader('urn:t', fields, typesIn('urn:t'))
  assertLinear(count => {
    const items = '<item>long</item>'.repeat(count)
    const root = parse(`<Body><m:ask xmlns:m="urn:t"><items>${items}</items></m:ask></Body>`)
    return () => {
      const cursor = walkTree(root)
      cursor.next()
      cursor.child()
      const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
      read(cursor, reading, soap11)
      assert.deepEqual([reading.flaws.length, reading.flaws.at(-1)?.path], [100, '/ask[1]/items[1]/item[100]'])
    }
  }, 20_000)
})
