/** Recordings: what was answered comes again, for the same canonical request; what is secret is nowhere in the folder. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { listCredentials, maskTarget, maskText } from '../../src/mock/masked-text.ts'
import { digestRequest } from '../../src/mock/recording.ts'
import { startRecordedMock } from '../../src/mock/start-mock.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-record-'))
let count = 0
const behind = createServer((request, response) => {
  const chunks: Buffer[] = []
  request
    .on('data', chunk => chunks.push(chunk))
    .on('end', () => {
      const { host } = request.headers
      if (request.url === '/count') return response.end(String(++count))
      response.setHeader('set-cookie', 'sid=verysecretcookie')
      response.setHeader('location', `http://${host}/items/1`)
      response.setHeader('content-type', 'application/json')
      const echo = Buffer.concat(chunks).toString()
      response.statusCode = 201
      response.end(
        JSON.stringify({
          access_token: 'leaked-token-1',
          echo,
          seen: request.headers.authorization,
          next: `http://${host}/items`,
        }),
      )
    })
})
before(() => new Promise<void>(resolve => behind.listen(0, '127.0.0.1', resolve)))
after(() => {
  behind.close()
  rmSync(folder, { recursive: true })
})
const address = (): string => `http://127.0.0.1:${(behind.address() as AddressInfo).port}`

const post = (url: string, body: string, password = 'hunter2hunter2') =>
  fetch(`${url}/items?b=2&a=1&api_key=k-secret-1`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${btoa(`ada:${password}`)}`,
      cookie: 'sid=cookie-secret-1',
    },
    body,
  })

test('a recorded service is replayed without it, in the order of its responses, with the addresses of the mock', async () => {
  const told: string[] = []
  {
    await using recorder = await startRecordedMock({ record: folder, to: address() })
    const made = await post(recorder.url, '{"name":"Ada","password":"body-secret-1"}')
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('location'), `${recorder.url}/items/1`)
    assert.equal(made.headers.get('mock-service'), 'record')
    for (let i = 0; i < 2; i++) told.push(await (await fetch(`${recorder.url}/count`)).text())
  }
  behind.close()
  behind.closeAllConnections()
  const all = readdirSync(folder)
    .map(each => readFileSync(join(folder, each), 'utf8'))
    .join('')
  for (const secret of [
    'hunter2',
    btoa('ada:hunter2hunter2'),
    'k-secret-1',
    'cookie-secret-1',
    'verysecretcookie',
    'leaked-token-1',
    'body-secret-1',
  ])
    assert.ok(!all.includes(secret), `${secret} was written`)
  await using replay = await startRecordedMock({ replay: folder })
  const again = await post(replay.url, '{ "password": "another", "name": "Ada" }', 'anotherpassword')
  assert.equal(again.status, 201, 'members in another order, other credentials')
  assert.equal(again.headers.get('location'), `${replay.url}/items/1`)
  const { next } = (await again.json()) as { next: string }
  assert.equal(next, `${replay.url}/items`)
  for (const expected of [...told, told[1]]) assert.equal(await (await fetch(`${replay.url}/count`)).text(), expected)
  const unknown = await post(replay.url, '{"name":"Grace"}')
  assert.equal(unknown.status, 404)
  assert.match(await unknown.text(), /no recording of POST \/items/)
  const cut = await fetch(`${replay.url}/count`, { headers: { 'mock-behavior': 'unavailable=9' } })
  assert.equal(cut.headers.get('retry-after'), '9')
})

test('an empty or foreign folder, and an unreachable service, are reported', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'diglot-record-'))
  await assert.rejects(startRecordedMock({ replay: empty }), /has no recordings.*--record/)
  writeFileSync(join(empty, 'x.json'), '{}')
  await assert.rejects(startRecordedMock({ replay: empty }), /x\.json is not a recording/)
  await using away = await startRecordedMock({ record: empty, to: 'http://127.0.0.1:1' })
  assert.equal((await fetch(`${away.url}/x`)).status, 502)
  await assert.rejects(startRecordedMock({ record: empty, to: 'ftp://x' }), /not an http/)
  rmSync(empty, { recursive: true })
})

const digest = (content: string, type = 'text/xml', target = '/s'): string =>
  digestRequest(
    { method: 'POST', target, fields: { 'content-type': type, soapaction: '"urn:a"' } },
    Buffer.from(content),
    [],
  )
const envelope = (header: string, body: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`

for (const [title, one, other, same] of [
  ['blocks', envelope('<m xmlns="urn:m">1</m>', '<a xmlns="urn:a"/>'), envelope('', '<a xmlns="urn:a"/>'), true],
  [
    'prefixes of attributes apart',
    envelope('', '<a xmlns="urn:a" y="1" x="2"/>'),
    envelope('', '<a x="2"  y="1" xmlns="urn:a"></a>'),
    true,
  ],
  ['the Body', envelope('', '<a xmlns="urn:a">1</a>'), envelope('', '<a xmlns="urn:a">2</a>'), false],
] as const)
  test(`canonical requests of SOAP, by ${title}: ${same ? 'the same' : 'different'}`, () => {
    assert.equal(digest(one) === digest(other), same)
  })
test('parameters are compared in any order, large numbers exactly', () => {
  assert.equal(digest('', '', '/s?a=1&b=2'), digest('', '', '/s?b=2&a=1'))
  assert.notEqual(
    digest('{"a":9007199254740993}', 'application/json'),
    digest('{"a":9007199254740992}', 'application/json'),
  )
})

for (const [text, secret] of [
  ['{"refresh_token" : "abc\\"def","a":1}', 'abc'],
  ['{"pin": 1234}', '1234'],
  ['<Password Type="x">abc</Password>', 'abc'],
  ["<a:login apiKey='abc'/>", 'abc'],
  ['see Bearer abcdefghij.klm', 'abcdefghij'],
  ['jwt eyJhbGciOi.eyJzdWIi.c2ln', 'eyJzdWIi'],
  [
    '<w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><w:UsernameToken><w:Username>abc</w:Username></w:UsernameToken></w:Security>',
    'abc',
  ],
] as const)
  test(`masked: ${text.slice(0, 40)}`, () => assert.ok(!maskText(text, []).includes(secret), maskText(text, [])))
test('values that are not secret are kept', () => {
  for (const text of ['{"nextPageToken":"abc"}', '<Security>bond</Security>', '{"passenger":"Ada"}', '{"tokens":[1]}'])
    assert.equal(maskText(text, []), text)
  assert.equal(maskTarget('/a?z=1&access_token=x&%61pi_key=y'), '/a?%61pi_key=masked&access_token=masked&z=1')
  assert.deepEqual(
    listCredentials({ authorization: `Basic ${btoa('ada:longpassword')}`, accept: 'x' }).includes('longpassword'),
    true,
  )
})
