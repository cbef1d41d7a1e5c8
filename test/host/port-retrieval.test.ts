/** Ports called by GET: the response pattern of SOAP 1.2 (Part 2 §7.4), by WSDL 2.0 addresses. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { Malformed } from '../../src/xml/index.ts'
import { importFile } from '../import/folder-find.ts'
import { suites } from '../suites.ts'
import { startHosted } from './hosted-service.ts'

const s = x.namespace('urn:s')
const Ask = s.element(
  'Ask',
  x.object({
    year: x.element(x.int),
    month: x.element(x.int).nillable(),
    time: x.element(x.time).many(1, 2),
    kind: x.element(x.simple(x.string, { values: ['a', 'b'] })).optional(),
  }),
)
const Find = s.element('Find', x.object({ name: x.element(x.string) }))
const Answer = s.element('Answer', x.string)
const Plain = s.element('Plain', x.string)
const Desk = port('Desk', {
  namespace: 'urn:desk',
  allow: [anyone],
  exchanges: {
    byPath: exchange({ action: 'urn:a', input: Ask, output: Answer, location: 'day/{year}/{time}-{time}.html' }),
    byQuery: exchange({ action: 'urn:b', input: Ask, output: Answer, location: '' }),
    byName: exchange({ action: 'urn:g', input: Find, output: Answer, location: 'the%20names/{name}' }),
    now: exchange({ action: 'urn:c', input: 'empty', output: Answer, location: 'now' }),
    safe: exchange({ action: 'urn:d', input: Ask, output: Answer, safe: true }),
    plain: exchange({ action: 'urn:e', input: Plain, output: Answer, safe: true }),
    unsafe: exchange({ action: 'urn:f', input: Ask, output: Answer }),
  },
})
const Old = port('Old', {
  ...{ namespace: 'urn:old', allow: [anyone], soap: '1.1' },
  exchanges: { now: Desk.exchanges.now },
})
const contract = service('desk', { namespace: 'urn:desk:service', resources: [], ports: [Desk, Old] })
const told = (name: string) => (input: unknown) => `${name} ${JSON.stringify(input)}`
const app = implement(contract, {
  Desk: {
    ...{ byPath: told('byPath'), byQuery: told('byQuery'), now: told('now'), safe: told('safe') },
    ...{ byName: told('byName'), plain: told('plain'), unsafe: told('unsafe') },
  },
  Old: { now: told('old') },
})
const hosted = startHosted({}, app)
const get = async (path: string, fields = {}) => (await hosted).ask('GET', `/soap/Desk${path}`, fields)
const textOf = (text: string): string => /<n1:Answer [^>]*>(.*)<\/n1:Answer>/.exec(text)?.[1] ?? text

test('WSDL 2.0 Part 2 §6.8.1 an operation is called at the address of its template', async () => {
  const { text, status, fields } = await get('/day/2007/12:00:00-13:00:00.html?month=6')
  assert.equal(status, 200, text)
  assert.match(String(fields['content-type']), /^application\/soap\+xml/)
  assert.equal(textOf(text), 'byPath {"year":2007,"month":6,"time":["12:00:00","13:00:00"]}')
})
test('WSDL 2.0 Part 2 §6.8.1 RFC 3986 §3.3 a value in the path may have any character, escaped or not', async () => {
  for (const path of ['R%26D%3B%20a%2Fb', 'R&D;%20a%2fb']) {
    const { text, status } = await get(`/the%20names/${path}`)
    assert.equal(status, 200, text)
    assert.equal(textOf(text), 'byName {"name":"R&amp;D; a/b"}')
  }
})
test('WSDL 2.0 Part 2 §6.8.2 without a template, its elements are parameters of the endpoint', async () => {
  const { text, status } = await get('?year=1&month=&time=12:00:00&kind=a')
  assert.equal(status, 200, text)
  assert.equal(textOf(text), 'byQuery {"year":1,"month":null,"time":["12:00:00"],"kind":"a"}')
  assert.equal((await get('?wsdl')).status, 200)
  assert.match((await get('?wsdl')).text, /<wsdl:definitions/)
})
test('a nillable element that is absent is nil', async () => {
  assert.match(textOf((await get('?year=1&time=12:00:00')).text), /"month":null/)
})
test('SOAP 1.2 Part 2 §7.4 an operation that sends nothing is called by its address', async () => {
  assert.equal((await get('/now')).status, 200)
})
test('RFC 9110 §12.5.5 Vary names each field with credentials, including that of keys', async () => {
  const answers = [await get('/now'), await get('', { accept: 'text/html' })]
  for (const { fields } of answers) assert.match(String(fields['vary']), /Accept, Authorization(?:, Cookie)?, Api-Key/)
})
test('a safe operation is also called by its name, if an address can have its content', async () => {
  assert.match(textOf((await get('/safe?year=1&time=12:00:00')).text), /^safe \{"year":1/)
  assert.equal((await get('/plain')).status, 404)
  assert.equal((await get('/unsafe?year=1&time=12:00:00')).status, 404)
})
for (const [what, query, detail] of [
  ['a value of another type', 'year=x&time=12:00:00', /year.*must be/],
  ['a value out of the enumeration', 'year=1&time=12:00:00&kind=c', /kind/],
  ['a parameter too often', 'year=1&year=2&time=12:00:00', /year.*at most 1/],
  ['an unknown parameter', 'year=1&time=12:00:00&more=1', /more.*not a known parameter/],
  ['no required parameter', 'year=1', /time.*is required/],
] as const)
  test(`${what} in an address is a Sender fault that names it`, async () => {
    const { text, status } = await get(`/safe?${query}`)
    assert.equal(status, 500, text)
    assert.match(text, /soap:Sender/)
    assert.match(text, detail)
  })
test('SOAP 1.1 has no such pattern', async () => {
  assert.equal((await (await hosted).ask('GET', '/soap/Old/now')).status, 404)
})
test('an address of no operation is 404', async () => {
  for (const path of ['/day/2007', '/day/2007/1-2.htm', '?nothing=1', '/%', '/now/x'])
    assert.ok([400, 404].includes((await get(path)).status), path)
})

const suite = suites('wsdl20-w3c')
if (suite)
  test('wsdl20-w3c LocationTemplate-1G: each endpoint is called at its address', async () => {
    const imported = importFile(join(suite, 'documents/good/LocationTemplate-1G/SOAPservice.wsdl'))
    assert.ok(!(imported instanceof Malformed))
    assert.deepEqual(imported.losses, [])
    const open = imported.ports.map(each => ({
      ...each,
      exchanges: Object.fromEntries(
        Object.entries(each.exchanges).map(([name, of]) => [name, { ...of, allow: [anyone] }]),
      ),
    }))
    const dates = service('dates', { namespace: 'urn:dates', resources: [], ports: open })
    const handlers = open.map(each => [
      each.port,
      { constructReference: (input: unknown) => `urn:${encodeURIComponent(JSON.stringify(input))}` },
    ])
    const { ask } = await startHosted({}, implement(dates, Object.fromEntries(handlers) as never))
    const whole = { year: 2007, month: 6, day: 15, time: ['12:00:00', '13:00:00'] }
    const addresses = [
      ['datespace/2007/6/15/12:00:00-13:00:00.html', whole],
      ['datespace/2007/6.html?day=15;start=12:00:00;end=13:00:00', whole],
      ['datespace.html?year=2007;month=6;day=15;time=12:00:00;time=13:00:00', whole],
      ['datespace/2007/6.html?day=15&time=12:00:00&time=13:00:00', whole],
      ['datespace/2007.html?start=12:00:00', { year: 2007, month: null, day: null, time: ['12:00:00'] }],
      ['datespace/2007.html?timezone=utc&month=6&day=15&time=12:00:00&time=13:00:00', whole],
      [
        'datespace/2007.html?passphrase=12:00:00%7B4(%5E$@!%7D4%5E@*%7D',
        { year: 2007, month: null, day: null, time: ['12:00:00'] },
      ],
    ] as const
    assert.equal(addresses.length, open.length)
    for (const [at, [address, value]] of addresses.entries()) {
      const { text, status } = await ask('GET', `/soap/${open[at]?.port}/${address}`)
      assert.equal(status, 200, text)
      const [, found = ''] = />urn:([^<]*)</.exec(text) ?? []
      assert.deepEqual(JSON.parse(decodeURIComponent(found)), value)
    }
  })
