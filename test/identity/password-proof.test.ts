/**
 * SECURITY.md "guessing" and promise 5, and rule A5.1: one proof of a password, whichever way it
 * comes.
 */
import assert from 'node:assert/strict'
import crypto, { createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, mock, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { openLocalKey } from '../../src/identity/local-key.ts'
import { createPasswordProof } from '../../src/identity/password-proof.ts'
import { createRecord, preparePeople } from '../../src/identity/person-record.ts'
import { passwordDigestUri, passwordTextUri, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import { Unavailable } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { type Answer, basic, type Hosted, startHosted } from '../host/hosted-service.ts'
import { assertInSomeTry } from '../support/cost.ts'

const clock = { now: Date.UTC(2026, 10, 22) }

async function startProof({ accepts = true } = {}) {
  const store = openSqliteStore(orders.contract, ':memory:')
  const key = openLocalKey(':memory:')
  const people = [
    { subject: 'clara', password: 'clara-secret', roles: ['clerk'] },
    { subject: 'maria', password: 'maria-secret', roles: [] },
  ]
  const put = await preparePeople(key, people)
  await store.write(writer => put(writer, clock.now))
  const locked: string[] = []
  const { password, digest } = createPasswordProof({
    store,
    key,
    clock: () => clock.now,
    accepts: () => accepts,
    onLock: from => locked.push(from),
  })
  const guess = async (name: string, text: string, from = '192.0.2.1') => (await password(name, text, from))?.subject
  const guessDigest = async (name: string, text: string, from = '192.0.2.1') =>
    (await digest(name, each => each === text, from))?.subject
  return { guess, guessDigest, locked, close: () => store.close() }
}

test('where node:crypto has no argon2, as in Deno, no password is proven, and none is stored', async t => {
  const { guess, close } = await startProof()
  const { argon2 } = crypto
  t.after(() => Object.assign(crypto, { argon2 }))
  Object.assign(crypto, { argon2: undefined })
  assert.equal(await guess('clara', 'clara-secret'), undefined)
  await assert.rejects(createRecord({ subject: 'ida', password: 'x', roles: [] }, undefined), /has no argon2 here/)
  close()
})

describe('guessing', () => {
  test('simultaneous guesses get no more than successive ones', async () => {
    const { guess, locked, close } = await startProof()
    const all = Array.from({ length: 40 }, (_, i) => guess('clara', i === 30 ? 'clara-secret' : `wrong-${i}`))
    assert.deepEqual([...new Set(await Promise.all(all))], [undefined])
    assert.equal(locked.length, 1)
    assert.equal(await guess('clara', 'clara-secret', '192.0.2.2'), 'clara', 'another address is not locked')
    await close()
  })
  test('simultaneous guesses cannot find a remembered password', async () => {
    const { guess, close } = await startProof()
    assert.equal(await guess('clara', 'clara-secret'), 'clara')
    const wrong = Array.from({ length: 10 }, (_, i) => guess('clara', `wrong-${i}`))
    const right = guess('clara', 'clara-secret')
    assert.equal(await right, undefined, 'ten guesses are under way')
    await Promise.all(wrong)
    await close()
  })
  test('the same password from many requests at once is one guess', async () => {
    const { guess, close } = await startProof()
    const all = await Promise.all(Array.from({ length: 40 }, () => guess('clara', 'clara-secret')))
    assert.deepEqual([...new Set(all)], ['clara'])
    await close()
  })
  test('after a clock is put back, the proofs of a directory no longer count', async () => {
    const store = openSqliteStore(orders.contract, ':memory:')
    let count = 0
    const prove = async () => {
      count++
      return { roles: [] }
    }
    const people = { prove, find: async () => undefined }
    const key = openLocalKey(':memory:')
    const { password } = createPasswordProof({ store, key, clock: () => clock.now, accepts: () => true, people })
    for (let i = 0; i < 2; i++) await password('clara', 'clara-secret', '192.0.2.1')
    assert.equal(count, 1)
    clock.now -= 5 * 3_600_000
    await password('clara', 'clara-secret', '192.0.2.1')
    assert.equal(count, 2)
    await store.close()
  })
  test('many names of one address: its line is full also for a remembered password', async () => {
    const { guess, close } = await startProof()
    assert.equal(await guess('clara', 'clara-secret'), 'clara')
    const flood = Array.from({ length: 90 }, (_, i) => guess(`n${i}`, 'x').catch((thrown: unknown) => thrown))
    const hidden = await guess('clara', 'clara-secret').catch((thrown: unknown) => thrown)
    assert.ok(hidden instanceof Unavailable, 'no answer, and so no uncounted guess')
    assert.equal(await guess('clara', 'clara-secret', '192.0.2.2'), 'clara', 'another address has a turn')
    const refused = (await Promise.all(flood)).filter(each => each instanceof Unavailable)
    assert.equal(refused.length, 90 - 2 - 64)
    await close()
  })
  test('a hundred failures lock every name for the address', async () => {
    const { guessDigest, guess, close } = await startProof()
    for (let i = 0; i < 100; i++) await guessDigest(`n${i}`, 'x')
    assert.equal(await guess('clara', 'clara-secret'), undefined)
    assert.equal(await guess('clara', 'clara-secret', '192.0.2.2'), 'clara')
    await close()
  })
  test('a digest, which may be a replay, resets no count; a password does', async () => {
    const { guess, guessDigest, close } = await startProof()
    for (let i = 0; i < 9; i++) await guessDigest('clara', `wrong-${i}`)
    assert.equal(await guessDigest('clara', 'clara-secret'), 'clara')
    assert.equal(await guess('clara', 'clara-secret'), 'clara')
    for (let i = 0; i < 9; i++) await guessDigest('clara', `wrong-${i}`)
    assert.equal(await guessDigest('clara', 'clara-secret'), 'clara')
    await guessDigest('clara', 'wrong')
    assert.equal(await guessDigest('clara', 'clara-secret'), undefined)
    await close()
  })
})

describe('promise 5: unknown names and wrong passwords get the same response, at the same cost', () => {
  test('a digest is checked against one password, known or not, and each failure is counted', async () => {
    const { guessDigest, locked, close } = await startProof()
    for (const name of ['clara', 'nobody']) {
      for (let i = 0; i < 10; i++) assert.equal(await guessDigest(name, 'wrong'), undefined)
      assert.equal(await guessDigest(name, `${name}-secret`), undefined)
    }
    assert.equal(locked.length, 2)
    await close()
  })
  test('a digest opens one sealed password, whether its name is known or not', async () => {
    const { guessDigest, close } = await startProof()
    const opened = mock.method(crypto, 'createDecipheriv')
    syncBuiltinESMExports()
    try {
      for (const name of ['clara', 'n0bod']) {
        opened.mock.resetCalls()
        await guessDigest(name, 'wrong')
        assert.equal(opened.mock.callCount(), 1, name)
      }
    } finally {
      opened.mock.restore()
      syncBuiltinESMExports()
      await close()
    }
  })
  test('a digest of an unknown name takes as long as one of a person', async () => {
    const { guessDigest, close } = await startProof()
    let callers = 0
    await assertInSomeTry(async () => {
      const took: Record<string, number[]> = { clara: [], n0bod: [] }
      for (let i = 0; i < 400; i++, callers++)
        for (const name of ['clara', 'n0bod']) {
          const from = `198.18.${callers >> 8}.${callers & 255}`
          const began = performance.now()
          await guessDigest(name, 'wrong', from)
          took[name]?.push(performance.now() - began)
        }
      const median = (name: string) => (took[name] ?? []).sort((a, b) => a - b)[200] ?? 0
      const ratio = median('n0bod') / median('clara')
      assert.ok(ratio > 0.8 && ratio < 1.25, `an unknown name takes ${ratio.toFixed(2)} of the time`)
    })
    await close()
  })
  test('if passwords do not count, the right one is a failure like any other', async () => {
    const { guess, guessDigest, close } = await startProof({ accepts: false })
    assert.equal(await guess('clara', 'clara-secret'), undefined)
    assert.equal(await guessDigest('clara', 'clara-secret'), undefined)
    await close()
  })
})

const getOrder = '<GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder>'
let nonces = 0
const token = (password: string, more = '') =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header><w:Security e:mustUnderstand="true" xmlns:w="${wsseNs}" xmlns:u="${wsuNs}"
  ><w:UsernameToken><w:Username>clara</w:Username>${password}${more}</w:UsernameToken></w:Security></e:Header><e:Body>${getOrder}</e:Body></e:Envelope>`
const soap = { 'content-type': 'application/soap+xml' }
const sendText = (hosted: Hosted, password: string): Promise<Answer> =>
  hosted.ask('POST', '/soap/v1/secure', soap, token(`<w:Password Type="${passwordTextUri}">${password}</w:Password>`))
function sendDigest(hosted: Hosted, password: string): Promise<Answer> {
  const nonce = Buffer.from(`nonce ${nonces++}`)
  const created = new Date(clock.now).toISOString()
  const value = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const inside = `<w:Nonce>${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created>`
  const content = token(`<w:Password Type="${passwordDigestUri}">${value}</w:Password>`, inside)
  return hosted.ask('POST', '/soap/v1/secure', soap, content)
}
const ways: readonly [string, (hosted: Hosted, password: string) => Promise<boolean>][] = [
  ['Basic', async ({ ask }, text) => (await ask('GET', '/api/v1/orders/o-1', basic('clara', text))).status === 200],
  ['/login', async ({ signIn }, text) => (await signIn('clara', text)) !== ''],
  ['UsernameToken, text', async (hosted, text) => (await sendText(hosted, text)).status === 200],
  ['UsernameToken, digest', async (hosted, text) => (await sendDigest(hosted, text)).status === 200],
]

describe('SECURITY.md "guessing": lock-out, counted together for each way', () => {
  for (const [title, prove] of ways)
    test(`ten wrong guesses by ${title} end every way for a minute, for a password just proven, too`, async () => {
      const hosted = await startHosted({ clock: () => clock.now })
      for (const [each, way] of ways) assert.ok(await way(hosted, 'clara-secret'), each)
      for (let i = 0; i < 10; i++) assert.equal(await prove(hosted, `wrong-${i}`), false)
      for (const [each, way] of ways) assert.equal(await way(hosted, 'clara-secret'), false, each)
      const warned = hosted.lines.filter(line => line.level === 'warn' && !Object.hasOwn(line.fields, 'endpoint'))
      assert.deepEqual(
        warned.map(line => line.fields),
        [{ from: '127.0.0.1' }],
      )
      clock.now += 61_000
      for (const [each, way] of ways) assert.ok(await way(hosted, 'clara-secret'), each)
    })
})

describe('SECURITY.md "guessing": fair turns', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address, 'x-forwarded-proto': 'https' })
  test('90 guesses of as many addresses do not shut another caller out', async () => {
    const { ask } = await startHosted({ insecure: true, settings: { trustProxy: true } })
    const send = (address: string, fields: Record<string, string>) =>
      ask('GET', '/api/v1/orders/o-1', { ...from(address), ...fields })
    const flood = Array.from({ length: 90 }, (_, i) => send(`2001:db8:${i}::1`, basic('clara', `wrong-${i}`)))
    for (let i = 0; i < 5; i++) assert.equal((await send(`192.0.2.${i}`, basic('clara', 'clara-secret'))).status, 200)
    assert.deepEqual([...new Set((await Promise.all(flood)).map(answer => answer.status))], [401])
  })
})
