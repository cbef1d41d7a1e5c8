/**
 * `diglot people`: people with passwords of their own, who count where the public ones of the seed
 * do not (rules A5.1, A5.3).
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { openLocalKey } from '../../src/identity/local-key.ts'
import { addPeople, changePassword, listPeople, setDisabled } from '../../src/identity/people-directory.ts'
import { passwordDigestUri, passwordTextUri, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { basic, type Hosted, startHosted } from './hosted-service.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-people-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(root, 'examples', 'orders', 'service.ts')
const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'people']
const data = join(folder, 'orders.sqlite')
const key = join(folder, 'own.key')

/** One command, with what it reads and prints. */
function people(input: string, command: string, ...more: string[]) {
  const all = [...words, command, file, ...more, '--data', data]
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8', input, timeout: 120_000 })
  return { status, stdout, stderr }
}
const done = { status: 0, stdout: '', stderr: '' }

const soap = { 'content-type': 'application/soap+xml' }
const message = (name: string, password: string, more = '') =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header><w:Security e:mustUnderstand="true" xmlns:w="${wsseNs}" xmlns:u="${wsuNs}"
  ><w:UsernameToken><w:Username>${name}</w:Username>${password}${more}</w:UsernameToken></w:Security></e:Header
  ><e:Body><GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder></e:Body></e:Envelope>`
function digestOf(name: string, password: string): string {
  const created = new Date().toISOString()
  const nonce = Buffer.from(`${name} ${created} ${Math.random()}`)
  const value = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const more = `<w:Nonce>${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created>`
  return message(name, `<w:Password Type="${passwordDigestUri}">${value}</w:Password>`, more)
}
const textOf = (name: string, password: string) =>
  message(name, `<w:Password Type="${passwordTextUri}">${password}</w:Password>`)

/** Which ways prove a person: Basic, the log-in form, UsernameToken as text and as digest. */
async function waysOf({ ask, signIn }: Hosted, name: string, password: string): Promise<string> {
  const found = [
    ['basic', (await ask('GET', '/api/v1/orders/o-1', basic(name, password))).status === 200],
    ['form', (await signIn(name, password)) !== ''],
    ['text', (await ask('POST', '/soap/v1/secure', soap, textOf(name, password))).status === 200],
    ['digest', (await ask('POST', '/soap/v1/secure', soap, digestOf(name, password))).status === 200],
  ] as const
  return found.flatMap(([way, holds]) => (holds ? [way] : [])).join(' ')
}

test('people of an operator count in production, by each way that their record allows', async () => {
  assert.deepEqual(people('erin has one\n', 'add', 'erin', '--role', 'clerk'), done)
  assert.deepEqual(people('frank has too', 'add', 'frank', '--role', 'clerk', '--digests', '--key', key), done)
  const hosted = await startHosted({ host: '0.0.0.0', key, data })
  assert.equal(await waysOf(hosted, 'erin', 'erin has one'), 'basic form text')
  assert.equal(await waysOf(hosted, 'frank', 'frank has too'), 'basic form text digest')
  assert.equal(await waysOf(hosted, 'erin', 'frank has too'), '')
  assert.equal(await waysOf(hosted, 'clara', 'clara-secret'), '', 'the seed’s passwords are public')

  const cookie = await hosted.signIn('erin', 'erin has one')
  assert.deepEqual(people('a new password\n', 'password', 'erin'), done)
  assert.equal(await waysOf(hosted, 'erin', 'erin has one'), '', 'at once, though it was remembered')
  assert.equal(await waysOf(hosted, 'erin', 'a new password'), 'basic form text')
  const fresh = await startHosted({ host: '0.0.0.0', key, data })
  assert.equal((await fresh.ask('GET', '/api/v1/orders/o-1', { cookie })).status, 401, 'the cookie of the old one')

  assert.deepEqual(people('', 'disable', 'frank'), done)
  assert.equal(await waysOf(hosted, 'frank', 'frank has too'), '', 'at once, though it was remembered')
  assert.deepEqual(people('', 'enable', 'frank'), done)
  assert.equal(await waysOf(hosted, 'frank', 'frank has too'), 'basic form text digest')

  assert.deepEqual(people('clara of her own\n', 'password', 'clara'), done)
  assert.equal(await waysOf(hosted, 'clara', 'clara of her own'), 'basic form text', 'no longer a public password')
})

test('diglot people import adds all or none; list prints nothing of a password', () => {
  const line = (subject: string, password = 'long enough') => JSON.stringify({ subject, password, roles: ['customer'] })
  const failed = people([line('gina'), line('erin')].join('\n'), 'import')
  assert.deepEqual([failed.status, failed.stdout], [1, ''])
  assert.match(failed.stderr, /^diglot: erin already exists: give another name, or change the password\n$/)
  const claims = JSON.stringify({ subject: 'hugo', password: 'long enough', roles: [], claims: { customer: 'c-1' } })
  assert.equal(people(`${line('gina')}\n\n${claims}\n`, 'import').stdout, '2 people added\n')
  const { stdout } = people('', 'list')
  assert.doesNotMatch(stdout, /long enough|salt|hash|sealed"/)
  const listed = stdout
    .trim()
    .split('\n')
    .map(each => JSON.parse(each))
  assert.deepEqual(
    listed.filter(({ subject }) => ['frank', 'hugo', 'maria'].includes(subject)),
    [
      { subject: 'frank', roles: ['clerk'], claims: {}, seeded: false, disabled: false, digests: true },
      { subject: 'hugo', roles: [], claims: { customer: 'c-1' }, seeded: false, disabled: false, digests: false },
      { subject: 'maria', roles: ['manager'], claims: {}, seeded: true, disabled: false, digests: true },
    ],
  )
  for (const name of readdirSync(folder))
    for (const password of ['long enough', 'frank has too', 'a new password'])
      assert.ok(!readFileSync(join(folder, name)).includes(password), `${name} holds a password`)
})

describe('diglot people: a mistake is one line, and changes nothing', () => {
  const rows: readonly (readonly [string, string, readonly string[], RegExp])[] = [
    ['a name that exists', 'long enough', ['add', 'erin'], /erin already exists/],
    ['a name that does not', 'long enough', ['password', 'nobody'], /nobody is not a known person/],
    ['nobody to disable', '', ['disable', 'nobody'], /nobody is not a known person/],
    ['a short password', 'short', ['add', 'ida'], /the password of ida has 5 characters: give 8 to 1024/],
    ['no password', '', ['add', 'ida'], /has 0 characters/],
    ['a long password', 'x'.repeat(1025), ['add', 'ida'], /has 1025 characters/],
    ['two lines', 'long enough\nlong enough', ['add', 'ida'], /more than one line/],
    ['RFC 7617 §2: a colon in the name', 'long enough', ['add', 'i:da'], /the name "i:da" cannot be used/],
    ['a line that is not JSON', 'x', ['import'], /line 1 is not a JSON object/],
    ['a line without roles', '{"subject":"ida","password":"long enough"}', ['import'], /line 1 has no list of roles/],
    [
      'an unknown member',
      '\n{"subject":"ida","password":"long enough","roles":[],"admin":true}',
      ['import'],
      /line 2 has the unknown member "admin"/,
    ],
    [
      'a name twice',
      '{"subject":"ida","password":"long enough","roles":[]}\n'.repeat(2),
      ['import'],
      /ida already exists/,
    ],
  ]
  for (const [title, input, [command = '', ...more], says] of rows)
    test(title, () => {
      const { status, stdout, stderr } = people(input, command, ...more)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, says)
      assert.match(stderr, /^diglot: [^\n]+\n$/)
      assert.doesNotMatch(people('', 'list').stdout, /"ida"/)
    })
})

describe('ServeOptions.people: people of a directory of one’s own, in place of the store’s', async () => {
  const directory = new Map([['kim', { password: 'kim elsewhere', roles: ['clerk'], stamp: '1' }]])
  const asked: string[] = []
  let isDown = false
  const find = (name: string) => {
    if (isDown) throw new Error('the directory is down')
    return directory.get(name)
  }
  const prove = async (name: string, password: string) => {
    asked.push(`${name} ${password}`)
    const found = find(name)
    return found?.password === password ? found : undefined
  }
  const clock = { now: Date.now() }
  const options = { host: '0.0.0.0', key, clock: () => clock.now, people: { prove, find } }
  const status = async ({ ask }: Hosted, fields: Record<string, string>) =>
    (await ask('GET', '/api/v1/orders/o-1', fields)).status

  test('it proves passwords by each way that sends them, and not those of the seed', async () => {
    const hosted = await startHosted(options)
    assert.equal(await waysOf(hosted, 'kim', 'kim elsewhere'), 'basic form text')
    assert.deepEqual(asked, ['kim kim elsewhere'], 'what was proven is remembered')
    assert.equal(await waysOf(await startHosted({ ...options, insecure: true }), 'clara', 'clara-secret'), '')
  })
  test('the lock-out comes first', async () => {
    const hosted = await startHosted(options)
    for (let i = 0; i < 10; i++) assert.equal(await status(hosted, basic('kim', `wrong-${i}`)), 401)
    asked.length = 0
    assert.equal(await status(hosted, basic('kim', 'kim elsewhere')), 401)
    assert.deepEqual(asked, [])
  })
  test('a cookie has the rights of now, and ends with another stamp', async () => {
    const hosted = await startHosted(options)
    const cookie = await hosted.signIn('kim', 'kim elsewhere')
    assert.equal(await status(hosted, { cookie }), 200)
    clock.now += 5 * 60_000 + 1
    directory.set('kim', { password: 'kim elsewhere', roles: [], stamp: '1' })
    assert.equal(await status(hosted, { cookie }), 403)
    clock.now += 5 * 60_000 + 1
    directory.set('kim', { password: 'kim elsewhere', roles: ['clerk'], stamp: '2' })
    assert.equal(await status(hosted, { cookie }), 401)
  })
  test('a directory that fails is 503 with Retry-After, not a wrong password, and a line of the log', async () => {
    const hosted = await startHosted(options)
    isDown = true
    for (let i = 0; i < 11; i++) {
      const { status, fields } = await hosted.ask('GET', '/api/v1/orders/o-1', basic('kim', 'kim elsewhere'))
      assert.deepEqual([status, fields['retry-after']], [503, '5'])
    }
    isDown = false
    assert.equal(await status(hosted, basic('kim', 'kim elsewhere')), 200)
    assert.match(JSON.stringify(hosted.lines), /the directory is down/)
  })
})

test('a change of the password keeps roles, claims and being disabled', async () => {
  const store = openSqliteStore(orders.contract, ':memory:')
  const person = { subject: 'jo', password: 'long enough', roles: ['clerk'], claims: { customer: 'c-1' } }
  await addPeople(store, [person], openLocalKey(':memory:'), 0)
  await setDisabled(store, 'jo', true, 0)
  await changePassword(store, 'jo', 'longer than that', undefined, 0)
  const { password: _, ...rest } = person
  assert.deepEqual(await listPeople(store), [{ ...rest, seeded: false, disabled: true, digests: false }])
  await store.close()
})

describe('a role that no policy of the contract names', () => {
  const says = (role: string) => `no policy of orders names the role ${role}: its roles are customer, clerk, manager`
  const warned = ({ lines }: Hosted) =>
    lines.flatMap(({ fields, message }) =>
      message === 'some people have roles that are probably mistakes' ? [fields['warning']] : [],
    )
  const erin = { subject: 'erin', password: 'erin-password', roles: ['clark', 'clerk'], claims: {} }

  test('of the seed, at each start with the same data', async () => {
    const own = join(folder, 'seeded.sqlite')
    const { people: all = [], ...seed } = orders.seed()
    const app = { ...orders, seed: () => ({ ...seed, people: [...all, erin] }) }
    for (let start = 0; start < 2; start++) {
      const hosted = await startHosted({ data: own }, app)
      assert.deepEqual(warned(hosted), [`erin: ${says('clark')}`])
      await hosted.server.close(0)
    }
  })

  test('of people that an operator has added, once for each role; not of one who is disabled', async () => {
    const own = join(folder, 'added.sqlite')
    const input = ['erin', 'frank', 'grace'].map(subject => JSON.stringify({ ...erin, subject })).join('\n')
    const all = [...words, 'import', file, '--data', own]
    const imported = spawnSync(process.execPath, all, { encoding: 'utf8', input, timeout: 120_000 })
    assert.equal(imported.stderr, `diglot: ${says('clark')}\n`)
    const first = await startHosted({ data: own })
    assert.deepEqual(warned(first), [`erin and 2 more: ${says('clark')}`])
    await first.server.close(0)
    const store = openSqliteStore(orders.contract, own)
    for (const subject of ['erin', 'frank', 'grace']) await setDisabled(store, subject, true, 0)
    await store.close()
    assert.deepEqual(warned(await startHosted({ data: own })), [])
  })
})
