/** CRLs at an address: RFC 5280 §6.3 with fetched lists, and while none can be fetched. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { fetchLists } from '../../src/host/trust/fetched-crls.ts'
import { RevocationLists } from '../../src/security/crypto/revocation.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import * as x from '../security/issue.ts'

const hour = 3_600_000
const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const certificate = x.issueCertificate({ ...bank, by: bank, extensions: [x.authority()] })
const trust = new CertificateTrust({ authorities: [certificate] })
const issue = (revoked: readonly number[], from: number, until: number): Buffer =>
  x.issueCrl({ by: bank, revoked, thisUpdate: x.testTime + from, nextUpdate: x.testTime + until })

type Answer = (response: ServerResponse) => void
const listed = (der: Uint8Array) => (response: ServerResponse) => void response.end(der)

/** Lists at a loopback address, whose response a test changes. */
async function publish(first: Answer) {
  const place = { answer: first, asked: 0, paths: [] as string[] }
  const server = createServer((request, response) => {
    place.asked++
    place.paths.push(request.url ?? '')
    place.answer(response)
  }).listen(0, '127.0.0.1')
  after(() => server.closeAllConnections())
  after(() => server.close())
  await once(server, 'listening')
  return Object.assign(place, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/root.crl` })
}

async function watch(first: Answer, anchors = trust) {
  const place = await publish(first)
  const world = { now: x.testTime, failures: [] as string[] }
  const lists = fetchLists(place.url, {
    clock: () => world.now,
    failed: thrown => void world.failures.push(String(thrown)),
    isSigned: list => anchors.hasSigned(list),
  })
  await lists.awaited()
  return { place, world, lists }
}
const sizes = ({ current }: ReturnType<typeof fetchLists>): number[] => current().map(({ size }) => size)

test('a list is fetched at start, waited for, kept for an hour, and fetched again', async () => {
  const { place, world, lists } = await watch(listed(issue([3], -hour, 24 * hour)))
  assert.deepEqual([sizes(lists), place.asked, lists.awaited()], [[1], 1, undefined])
  place.answer = listed(issue([3, 7], -hour / 2, 24 * hour))
  world.now += hour - 1
  assert.deepEqual([sizes(lists), place.asked], [[1], 1])
  world.now += 1
  assert.deepEqual([sizes(lists), lists.awaited()], [[1], undefined], 'nobody waits while the former is fresh')
  while (sizes(lists)[0] !== 2) await new Promise(resolve => setImmediate(resolve))
  assert.equal(place.asked, 2)
})

test('if the last list has expired, the next message waits for the next list', async () => {
  const { place, world, lists } = await watch(listed(issue([3], -hour, 600_000)))
  place.answer = listed(issue([3, 7], 0, 24 * hour))
  world.now += 600_000
  await lists.awaited()
  assert.deepEqual([sizes(lists), place.asked], [[2], 2])
})

test('after a clock that was ahead is put back, a list is fetched at once', async () => {
  const { place, world, lists } = await watch(listed(issue([3], -24 * hour, 24 * hour)))
  world.now -= 5 * hour
  lists.current()
  world.now += 1
  while (place.asked < 2) await new Promise(resolve => setImmediate(resolve))
  lists.current()
  assert.equal(place.asked, 2)
})

const refusals: readonly (readonly [string, Answer, RegExp])[] = [
  ['an older list', listed(issue([], -2 * hour, 24 * hour)), /has an older list than before/],
  ['no list', response => void response.end('not a list'), /cannot be used: .*X509 CRL/],
  ['404', response => void response.writeHead(404).end(), /the status is 404/],
  [
    'a redirect, which is not followed',
    response => void response.writeHead(302, { location: '/elsewhere' }).end(),
    /the status is 302/,
  ],
  ['more octets than any list has', response => void response.end(Buffer.alloc(17_000_000)), /is longer than 16777216/],
  ['an end of the connection', response => void response.destroy(), /cannot be used/],
]
for (const [name, answer, says] of refusals) {
  test(`${name} changes nothing, is reported, and is fetched again after a minute`, async () => {
    const { place, world, lists } = await watch(listed(issue([3, 7], -hour, 600_000)))
    place.answer = answer
    world.now += 600_000
    await lists.awaited()
    assert.deepEqual([sizes(lists), world.failures.length], [[2], 1])
    assert.match(world.failures[0] ?? '', says)
    assert.equal(lists.awaited(), undefined, 'no message waits for a place that failed')
    assert.deepEqual([place.asked, new Set(place.paths)], [2, new Set(['/root.crl'])])
    place.answer = listed(issue([3, 7, 8], 0, 24 * hour))
    world.now += 60_000
    await lists.awaited()
    assert.deepEqual(sizes(lists), [3])
  })
}

const stranger: x.Holder = { ...bank, key: x.createEcKey() }
const partner: x.Holder = { name: 'CN=partner', key: x.createEcKey() }
const signing = x.issueCertificate({ ...partner, by: bank, serial: 3, extensions: [x.usage(0)] })
const forge = (thisUpdate: number): Buffer =>
  x.issueCrl({ by: stranger, thisUpdate, nextUpdate: x.testTime + 9000 * hour })

test('§6.3.3 a list that nobody known has signed takes no list away, and the next signed one counts', async () => {
  const { place, world, lists } = await watch(listed(issue([3], -hour, 24 * hour)))
  const lenient = { authorities: [certificate], revocation: 'ifKnown' } as const
  const soft = new CertificateTrust(lenient, 'trust', { lists: () => new RevocationLists(lists.current()) })
  for (const hours of [1, 2, 3]) {
    place.answer = listed(forge(x.testTime + 8000 * hour + hours))
    world.now += hour
    lists.current()
    while (world.failures.length < hours) await new Promise(resolve => setImmediate(resolve))
    assert.equal(lists.current().length, 2)
    assert.match(String(soft.judge(signing, world.now)), /revoked/)
  }
  assert.match(world.failures[0] ?? '', /signed: the former list stays in force/)
  place.answer = listed(issue([3, 7], 2 * hour, 24 * hour))
  world.now += hour
  lists.current()
  while (sizes(lists)[0] !== 2) await new Promise(resolve => setImmediate(resolve))
  assert.deepEqual([sizes(lists), world.failures.length], [[2], 3])
})

test('a list whose signer only a message has shown stays in force, and so does the next one of this signer', async () => {
  const { place, world, lists } = await watch(listed(issue([3], -hour, 24 * hour)), new CertificateTrust({}))
  const held = { authorities: [certificate] }
  const shown = new CertificateTrust(held, 'trust', { lists: () => new RevocationLists(lists.current()) })
  assert.match(String(shown.judge(signing, world.now)), /revoked/)
  place.answer = listed(forge(x.testTime + 8000 * hour))
  world.now += hour
  lists.current()
  while (lists.current().length < 2) await new Promise(resolve => setImmediate(resolve))
  place.answer = listed(issue([3, 7], hour, 24 * hour))
  world.now += hour
  lists.current()
  while (lists.current().length > 1) await new Promise(resolve => setImmediate(resolve))
  assert.deepEqual(sizes(lists), [2])
})
