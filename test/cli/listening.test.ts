/** What listens besides `serve` has its options: a proxy in front, TLS, tokens, pages of others, a log. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keyPair } from '../security/message.ts'
import { exchangeOctets, statuses } from '../server/raw-connection.ts'
import { carrier, folder, pets, runToEnd, startCommand, trackShipment, write } from './listening-command.ts'

const tls = [
  ...['--tls-key', write('key.pem', String(keyPair('alice').key.export({ type: 'pkcs8', format: 'pem' })))],
  ...['--tls-certificate', write('certificate.pem', keyPair('alice').pem)],
]

/** To requests that came behind, each unanswered. */
const held: http.ServerResponse[] = []
const server = http.createServer((request, response) => {
  request.resume()
  held.push(response)
})
await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const behind = `http://127.0.0.1:${(server.address() as AddressInfo).port}/soap`

const bridge = (...words: readonly string[]) =>
  startCommand('bridge', carrier, '--to', behind, '--port', '0', '--anyone', ...words)
const bridgePets = (...words: readonly string[]) =>
  startCommand('bridge', pets, '--to', behind, '--port', '0', '--anyone', ...words)
const unreachable = (url: string): Promise<boolean> =>
  fetch(`${url}/health/live`).then(
    () => false,
    () => true,
  )
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 5_000; !(await holds()); left--) {
    assert.ok(left > 0, 'it did not happen in time')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
const book = (url: string, client: string, headers: Readonly<Record<string, string>> = {}) =>
  trackShipment(url, { 'x-forwarded-for': client, ...headers })

/** Over TLS, by any certificate. */
const getSecurely = (address: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const asking = https.get(address, { rejectUnauthorized: false, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', piece => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asking.on('error', reject)
  })

const narrow = ['--calls', '3', '--calls-of-caller', '1', '--waiting-of-caller', '1']

test('diglot bridge --trust-proxy: callers behind a proxy are distinguished by their addresses', async () => {
  const { url, said, child } = await bridge('--trust-proxy', ...narrow)
  assert.notEqual(url, '', said)
  const before = held.length
  const asked = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map(each => book(url, each).catch(() => undefined))
  await until(() => held.length === before + 2)
  const full = await book(url, '192.0.2.1')
  assert.equal(full.status, 503, 'one of this caller is under way, and one waits')
  assert.equal(held.length, before + 2)
  child.kill('SIGKILL') // what waits is not asked in another test
  await Promise.all(asked)
})

test('diglot bridge without --trust-proxy: an address that a client claims is ignored', async () => {
  const { url, child } = await bridge(...narrow)
  const before = held.length
  const statuses: number[] = []
  for (const client of [1, 2, 3, 4])
    book(url, `192.0.2.${client}`).then(
      ({ status }) => void statuses.push(status),
      () => {},
    )
  await until(() => statuses.length === 2 && held.length === before + 1)
  assert.deepEqual(statuses, [503, 503], 'one is under way and one waits, whatever their fields say')
  child.kill('SIGKILL')
})

const track =
  '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><ShipmentTrack xmlns="http://carrier.example/freight/messages"/></e:Body></e:Envelope>'
const getPet = (url: string, id: number) =>
  fetch(`${url}/soap/Operations`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml', soapaction: '""' },
    body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetPet xmlns="urn:pet-store"><petId>${id}</petId></GetPet></e:Body></e:Envelope>`,
  })
for (const [title, start, ask, type, content] of [
  ['SOAP', () => bridge(), (url: string) => book(url, '192.0.2.1'), 'text/xml', track],
  ['REST', () => bridgePets(), (url: string) => getPet(url, 1), 'application/json', '{"id":1,"name":"Rex"}'],
] as const)
  test(`diglot bridge: SIGTERM lets a call to a ${title} service end`, async () => {
    const { url, child } = await start()
    const before = held.length
    const asked = ask(url)
    await until(() => held.length === before + 1)
    child.kill('SIGTERM')
    await until(() => unreachable(url))
    held.at(-1)?.writeHead(200, { 'content-type': type }).end(content)
    const answer = await asked
    assert.equal(answer.status, 200, await answer.text())
  })

test('diglot bridge: each call to a REST service that gets its turn has a connection', async () => {
  const { url, child } = await bridgePets('--calls', '80')
  const before = held.length
  const asked = Array.from({ length: 40 }, (_, id) => getPet(url, id).catch(() => undefined))
  await until(() => held.length === before + 40)
  child.kill('SIGKILL')
  await Promise.all(asked)
})

test('diglot bridge and diglot relay --proxy-protocol: each connection begins with the header of a proxy', async () => {
  const running = await bridge('--proxy-protocol', '--access-log')
  const relay = await startCommand('relay', '--listen', '0', '--to', behind, '--proxy-protocol')
  const get = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'
  const statusOf = async (url: string, header: string): Promise<number | undefined> =>
    statuses((await exchangeOctets(Number(new URL(url).port), header + get, header === '' ? 'end' : 1)).text)[0]
  const header = 'PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n'
  assert.deepEqual([await statusOf(running.url, header), await statusOf(running.url, '')], [200, undefined])
  assert.deepEqual([await statusOf(relay.url, header), await statusOf(relay.url, '')], [405, undefined])
  await until(() => running.said.includes('"from":"192.0.2.7"'))
})

test('diglot bridge --access-log --trust-proxy: the log has the address of the client', async () => {
  const running = await bridge('--trust-proxy=forwarded', '--access-log')
  await fetch(`${running.url}/api`, { headers: { forwarded: 'for=192.0.2.77', 'x-forwarded-for': '192.0.2.1' } })
  await until(() => /192\.0\.2\.77/.test(running.said))
  assert.doesNotMatch(running.said, /192\.0\.2\.1"/)
})

test('diglot bridge: a WSDL without an absolute namespace', async () => {
  const text = readFileSync(carrier, 'utf8').replaceAll('"http://carrier.example/freight"', '"carrier.wsdl"')
  const own = write('relative.wsdl', text)
  const { url, said } = await startCommand('bridge', own, '--to', behind, '--port', '0', '--anyone')
  assert.notEqual(url, '', said)
})

test('diglot bridge --tls-key: HTTPS, with files that SIGHUP reads again', async () => {
  const { url, child } = await bridge(...tls)
  assert.match(url, /^https:/)
  assert.equal((await getSecurely(`${url}/api`)).status, 200)
  child.kill('SIGHUP')
  assert.equal((await getSecurely(`${url}/api`)).status, 200)
  assert.equal(child.exitCode, null)
})

test('diglot bridge --jwks --issuer: tokens of another issuer; --origin: pages of that origin', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'ES256', use: 'sig' }
  const jwks = write('jwks.json', JSON.stringify({ keys: [jwk] }))
  const { url, said } = await startCommand(
    ...['bridge', carrier, '--to', behind, '--port', '0', '--role', 'clerk', '--data', join(folder, 'tokens.sqlite')],
    ...['--jwks', jwks, '--issuer', 'https://issuer.example', '--audience', 'us', '--roles', 'realm.roles'],
    ...['--origin', 'https://app.example', '--time-limit', '50'],
  )
  assert.notEqual(url, '', said)
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 300
  const claims = { iss: 'https://issuer.example', aud: 'us', sub: 'carla', exp, realm: { roles: ['clerk'] } }
  const signed = `${part({ alg: 'ES256', kid: 'k' })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const token = `${signed}.${signature.toString('base64url')}`
  const origin = 'https://app.example'
  assert.equal((await book(url, '192.0.2.1')).status, 401)
  const allowed = await book(url, '192.0.2.1', { authorization: `Bearer ${token}`, origin })
  assert.equal(allowed.status, 504, 'it was asked behind, where no answer comes')
  assert.equal(allowed.headers.get('access-control-allow-origin'), origin)
})

test('diglot mock and diglot relay work behind a proxy, and with TLS', async () => {
  const mock = await startCommand('mock', carrier, '--port', '0', ...tls, '--public-url', 'http://localhost:1/shop')
  const wsdl = await getSecurely(`${mock.url}/soap/FreightPort?wsdl`)
  assert.match(wsdl.text, /location="http:\/\/localhost:1\/shop\/soap\/FreightPort"/, mock.said)
  const relay = await startCommand(
    'relay',
    '--listen',
    '0',
    '--to',
    behind,
    '--trust-proxy',
    '--time-limit',
    '50',
    ...tls,
  )
  assert.equal((await getSecurely(`${relay.url}/`)).status, 405, relay.said)
})

test('diglot relay prints the address of the next node without its credentials', async () => {
  const { said } = await startCommand('relay', '--listen', '0', '--to', behind.replace('//', '//hop:secret@'))
  assert.ok(said.includes(`to ${behind}\n`) && !said.includes('secret'), said)
})

test('diglot relay --time-limit and --longest: a late response and a long message end', async () => {
  const { url } = await startCommand('relay', '--listen', '0', '--to', behind, '--time-limit', '50', '--longest', '600')
  const send = (text: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><a>${text}</a></e:Body></e:Envelope>`,
    })
  assert.match(await (await send('')).text(), /did not answer in time/)
  assert.equal((await send('x'.repeat(1000))).status, 413)
})

test('unsuitable options of a listener are usage errors, or the command says what other machines can reach', () => {
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['bridge', carrier, '--to', behind, '--anyone', '--tls-key', 'k.pem'], 2, /must be given together/],
    [['bridge', carrier, '--to', behind, '--anyone', '--issuer', 'i'], 2, /--issuer requires --jwks/],
    [['bridge', carrier, '--to', behind, '--anyone', '--trust-proxy=x-real-ip'], 2, /Allowed choices are x-forwarded/],
    [['bridge', carrier, '--to', behind, '--anyone', '--lenient', 'missing'], 2, /must be one of namespace, order, /],
    [['bridge', pets, '--to', behind, '--anyone', '--lenient', 'order'], 2, /--lenient is for answers in XML/],
    [['relay', '--listen', '0', '--to', behind, '--tls-certificate', 'c.pem'], 2, /must be given together/],
    [['mock', carrier, '--port', '0', '--trust-proxy'], 1, /a service behind a proxy .* give --exposed/],
    [['mock', carrier, '--port', '0', '--public-url', 'https://a.example'], 1, /https:\/\/a\.example .* --exposed/],
    [['mock', pets, '--port', '0', '--public-url', 'http://localhost'], 2, /a mock of an OpenAPI document/],
  ]
  for (const [words, status, why] of rows) {
    const said = runToEnd(...words)
    assert.equal(said.status, status, said.stderr)
    assert.match(said.stderr, why)
  }
})

test('A8.1 diglot bridge --changes, --reads: the requests of a caller per minute are limited', async () => {
  const rates = ['--changes', '2', '--reads', '1']
  for (const [{ url, child }, ask, count, refused] of [
    [await bridge(...rates), (url: string) => book(url, '192.0.2.1'), 2, 429],
    [await bridgePets(...rates), (url: string) => getPet(url, 1), 1, 429],
  ] as const) {
    const before = held.length
    const asked = Array.from({ length: count }, () => ask(url).catch(() => undefined))
    await until(() => held.length === before + count)
    const next = await ask(url)
    assert.equal(next.status, refused, await next.text())
    assert.match(next.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal(held.length, before + count, 'the backend is not asked')
    child.kill('SIGKILL')
    await Promise.all(asked)
  }
})
