/** Which OCSP responses are kept, when responders are queried again, and which messages wait. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import { readCrlList } from '../../src/security/crypto/key-source.ts'
import { OcspStatuses } from '../../src/security/crypto/ocsp-statuses.ts'
import { CertificatePool } from '../../src/security/crypto/path-building.ts'
import { RevocationLists } from '../../src/security/crypto/revocation.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import * as x from './issue.ts'

const hour = 3_600_000
const day = 24 * hour
const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const root = new Certificate(x.issueCertificate({ ...bank, by: bank, extensions: [x.authority(), x.usage(0, 5, 6)] }))
const maria = new Certificate(x.issueCertificate({ name: 'CN=maria', key: x.createEcKey(), by: bank, serial: 7 }))
const desk: x.Holder = { name: 'CN=Desk', key: x.createEcKey() }
const deskCertificate = x.issueCertificate({
  ...desk,
  by: bank,
  extensions: [x.purposes(['1.3.6.1.5.5.7.3.9'], false)],
})
const none = new CertificatePool([])

type Answer = () => Buffer | Promise<Buffer>
const about = (draft: Partial<x.OcspAnswerDraft> = {}) => [{ issuer: bank, ...draft }]
const said =
  (draft: Partial<x.OcspAnswerDraft> = {}) =>
  () =>
    x.issueOcsp({ by: bank, answers: about(draft) })
const silent: Answer = () => Promise.reject(new Error('no connection'))

function ask(...first: readonly Answer[]) {
  const world = { now: x.testTime, answers: first, asked: [] as string[], again: 0, failures: [] as string[] }
  const statuses = new OcspStatuses({
    addresses: first.map((_, at) => `http://responder${at}/`),
    nonce: false,
    hash: 'sha1',
    send: async ({ address, isCacheable }) => {
      if (isCacheable) world.asked.push(address)
      else world.again++
      return world.answers[Number(/\d/.exec(address))]!()
    },
    clock: () => world.now,
    failed: thrown => void world.failures.push((thrown as Error).message),
  })
  const find = (lists?: RevocationLists) => {
    const search = { anchors: new CertificatePool([root]), between: none, signers: none, rules: {}, lists }
    return statuses.find({ path: [maria, root], search: { ...search, revocation: 'required', now: world.now } })
  }
  const status = async (lists?: RevocationLists) => (await find(lists))?.status
  /** What counts at once; the question that it causes is answered before this resolves. */
  const statusAtOnce = async () => {
    const found = find()
    assert.ok(!(found instanceof Promise), 'nothing is known')
    await new Promise(resolve => setImmediate(resolve))
    return found?.status
  }
  return { world, find, status, statusAtOnce }
}

test('a response is renewed after an hour, and no message waits while the former one is valid', async () => {
  const { world, status, statusAtOnce } = ask(said({ nextUpdate: x.testTime + day }))
  assert.deepEqual([await status(), await statusAtOnce(), world.asked.length], ['good', 'good', 1])
  world.answers = [said({ status: 'revoked', thisUpdate: x.testTime, nextUpdate: x.testTime + day })]
  world.now += hour - 1
  assert.deepEqual([await statusAtOnce(), world.asked.length], ['good', 1])
  world.now += 1
  assert.equal(await statusAtOnce(), 'good')
  assert.deepEqual([await statusAtOnce(), world.asked.length], ['revoked', 2])
})

test('after a clock that was ahead is put back, a response is fetched at once', async () => {
  const { world, status, statusAtOnce } = ask(said({ thisUpdate: x.testTime - day, nextUpdate: x.testTime + day }))
  await status()
  world.now -= 5 * hour
  await statusAtOnce()
  assert.equal(world.asked.length, 2)
})

test('a response ends with its next update: the next message waits for another, or has none', async () => {
  const { world, status } = ask(said({ nextUpdate: x.testTime + 600_000 }))
  assert.equal(await status(), 'good')
  world.now += 600_000
  world.answers = [silent]
  assert.equal(await status(), undefined)
})

test('an unreachable responder is tried again after ten seconds, and its failure is reported', async () => {
  const { world, status, statusAtOnce } = ask(silent)
  assert.equal(await status(), undefined)
  assert.deepEqual(world.failures, ['the OCSP responder http://responder0/ does not respond: no connection'])
  world.now += 9999
  assert.equal(await statusAtOnce(), undefined)
  world.now += 1
  world.answers = [said()]
  assert.deepEqual([await status(), world.asked.length], ['good', 2])
})

test('a failure is reported once, until the responder responds; an unusable response once an hour', async () => {
  const { world, status, statusAtOnce } = ask(silent)
  const after = async (ms: number, answer: Answer) => {
    world.now += ms
    world.answers = [answer]
    await status()
    return world.failures.length
  }
  await status()
  assert.deepEqual([await after(10_000, silent), await after(10_000, silent)], [1, 1])
  assert.equal(await after(10_000, said({ serial: 9 })), 2)
  assert.match(world.failures[1] ?? '', /of http:\/\/responder0\/ about "maria" cannot be used: it is about another/)
  assert.deepEqual([await after(10_000, said({ serial: 9 })), await after(10_000, silent)], [2, 3])
  assert.equal(await after(hour, said({ serial: 9 })), 4)
  assert.equal(await statusAtOnce(), undefined)
})

test('RFC 5019 §6: the responder itself is queried if a cache has an unusable response', async () => {
  const world = { ways: [] as boolean[] }
  const statuses = new OcspStatuses({
    addresses: ['http://responder/'],
    nonce: false,
    hash: 'sha1',
    send: async ({ isCacheable }) => {
      world.ways.push(isCacheable)
      return (isCacheable ? said({ nextUpdate: x.testTime - 1 }) : said())()
    },
    clock: () => x.testTime,
    failed: thrown => assert.fail(String(thrown)),
  })
  const search = { anchors: new CertificatePool([root]), between: none, signers: none, rules: {}, lists: undefined }
  const found = await statuses.find({
    path: [maria, root],
    search: { ...search, revocation: 'required', now: x.testTime },
  })
  assert.deepEqual([found?.status, world.ways], ['good', [true, false]])
})

test('while a responder is unreachable, the last response counts until its end; a revocation stays', async () => {
  for (const [state, later] of [
    ['good', undefined],
    ['revoked', 'revoked'],
  ] as const) {
    const { world, status } = ask(said({ status: state, nextUpdate: x.testTime + 2 * hour }))
    assert.equal(await status(), state)
    world.answers = [silent]
    world.now += 2 * hour - 1
    assert.equal(await status(), state)
    world.now += 10_000
    assert.equal(await status(), later)
  }
})

test('a response that is older than the known one does not replace it', async () => {
  const revoked = said({ status: 'revoked', thisUpdate: x.testTime - 1000, nextUpdate: x.testTime + day })
  const { world, status, statusAtOnce } = ask(revoked)
  assert.equal(await status(), 'revoked')
  world.answers = [said({ nextUpdate: x.testTime + day })]
  world.now += hour
  await statusAtOnce()
  assert.equal(await statusAtOnce(), 'revoked')
  assert.match(world.failures[0] ?? '', /it is older than the one before/)
})

test('many messages share one query; the next responder is queried if the first does not know', async () => {
  const { world, status } = ask(said({ status: 'unknown' }), silent, said())
  assert.deepEqual(await Promise.all([status(), status(), status()]), ['good', 'good', 'good'])
  assert.deepEqual(world.asked, ['http://responder0/', 'http://responder1/', 'http://responder2/'])
})

test('no further responder is queried once the time of a query is over', async () => {
  const { world, status } = ask(silent, said())
  mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  assert.equal(await status(), undefined)
  mock.restoreAll()
  assert.deepEqual(world.asked, [])
})

test('an unknown certificate is queried again after a minute', async () => {
  const { world, status, statusAtOnce } = ask(said({ status: 'unknown' }))
  assert.equal(await status(), 'unknown')
  world.now += 59_999
  assert.equal(await statusAtOnce(), 'unknown')
  world.now += 1
  world.answers = [said()]
  assert.equal(await status(), 'good')
})

test('a response of a delegate that a CRL cleared counts as long as the CRLs are the same', async () => {
  const byDesk: Answer = () => x.issueOcsp({ by: desk, answers: about(), certificates: [deskCertificate] })
  const listsOf = (...revoked: readonly number[]) =>
    new RevocationLists(readCrlList(x.issueCrl({ by: bank, revoked }), 'crls'))
  const { world, status } = ask(byDesk)
  const cleared = listsOf()
  assert.deepEqual([await status(cleared), await status(cleared), world.asked.length], ['good', 'good', 1])
  const revoking = listsOf(Number(new Certificate(deskCertificate).serial))
  world.now += 10_000
  assert.deepEqual([await status(revoking), world.asked.length], [undefined, 2])
  assert.deepEqual([await status(revoking), world.asked.length], [undefined, 2], 'one question in ten seconds')
})

test('RFC 5280 §6.1.3 a 3: responders are queried about every certificate of a path, from the top down', async () => {
  const middle: x.Holder = { name: 'O=Bank/CN=Middle', key: x.createEcKey() }
  const between = x.issueCertificate({ ...middle, by: bank, serial: 5, extensions: [x.authority(), x.usage(0, 5, 6)] })
  const signer = x.issueCertificate({ name: 'CN=signer', key: x.createEcKey(), by: middle, serial: 6 })
  const now = x.testTime
  for (const [above, below, listed, says] of [
    ['good', 'good', [], undefined],
    ['good', 'revoked', [], /^"signer": its responder says that it is revoked/],
    ['revoked', 'good', [], /^"Middle": its responder says that it is revoked/],
    ['unknown', 'good', undefined, /^"Middle": its responder does not know it/],
    ['good', 'good', [5], /^not judged to be trusted: "Middle": it is revoked/],
  ] as const) {
    const answers = [
      x.issueOcsp({ by: middle, answers: [{ issuer: middle, serial: 6, status: below }] }),
      x.issueOcsp({ by: bank, answers: [{ issuer: bank, serial: 5, status: above }] }),
    ]
    const statuses = new OcspStatuses({
      addresses: ['http://responder/'],
      nonce: false,
      hash: 'sha1',
      send: async ({ request }) => answers[request.includes(Buffer.of(2, 1, 6)) ? 0 : 1]!,
      clock: () => now,
      failed: () => {},
    })
    const lists = listed && new RevocationLists(readCrlList(x.issueCrl({ by: bank, revoked: listed }), 'crls'))
    const trust = new CertificateTrust(
      { authorities: root.der, intermediates: between, ...(lists ? {} : { revocation: 'ifKnown' as const }) },
      'trust',
      { lists: () => lists, statuses },
    )
    const found = trust.judge(signer, now)
    const problem = typeof found === 'string' ? `not judged to be trusted: ${found}` : await trust.confirm(found, now)
    if (says) assert.match(problem ?? '', says)
    else assert.equal(problem, undefined)
  }
})
