/**
 * No part of a credential is in a log, a problem, a fault, a trace or a database; and every change
 * logs a line.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { errorFields } from '../../src/host/operations/log.ts'
import { issueKey } from '../../src/identity/api-key.ts'
import { basic, bearer, form, json, startHosted } from './hosted-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-secrets-'))
after(() => rmSync(folder, { recursive: true }))
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'
const message = (name: string, password: string) =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header><s:Security xmlns:s="${wsse}" e:mustUnderstand="true"><s:UsernameToken><s:Username>${name}</s:Username><s:Password>${password}</s:Password></s:UsernameToken></s:Security></e:Header><e:Body><GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder></e:Body></e:Envelope>`

test('a credential, right or wrong, is in no response, no log and no file', async () => {
  const data = join(folder, 'orders.sqlite')
  const key = issueKey(`${data}.keys`, { subject: 'robot', roles: ['clerk'], claims: {} })
  const { ask, server, lines } = await startHosted({ data, settings: { trace: true } })
  const token = await server.token('clara', ['clerk'])
  const signed = await ask('POST', '/login', form, 'name=maria&password=maria-secret')
  const cookie = String(signed.fields['set-cookie']).split(';')[0] ?? ''
  const wrong = 'correct-horse-battery'
  const secrets = [
    token,
    token.split('.')[2] ?? token,
    key,
    key.slice(3),
    'maria-secret',
    wrong,
    cookie.split('.')[2] ?? cookie,
    btoa(`clara:${wrong}`),
  ]
  const shown: readonly Record<string, string>[] = [
    bearer(token),
    bearer(`${token}x`),
    basic('clara', wrong),
    basic('maria', 'maria-secret'),
    { 'api-key': key },
    { 'api-key': `${key}x` },
    { cookie },
  ]
  const said: string[] = []
  for (const fields of shown)
    for (const [method, path, content] of [
      ['GET', '/api/v1/orders/o-1'],
      ['GET', '/api/v1/orders?nothing=1'],
      ['POST', '/api/v1/orders', '{"customer":"c-9"}'],
      ['POST', '/api/v1/orders', '{'],
      ['POST', '/soap/v1', message('maria', 'maria-secret')],
      ['POST', '/soap/v1', message('clara', wrong)],
    ] as const) {
      const type = path === '/soap/v1' ? { 'content-type': 'application/soap+xml' } : json
      for (const accept of ['application/json', 'text/html', 'application/xml']) {
        const { fields: got, text } = await ask(method, path, { ...fields, ...type, accept }, content)
        said.push(JSON.stringify(got), text)
      }
    }
  const failed = await ask('POST', '/login', form, `name=clara&password=${wrong}&to=/x`)
  said.push(JSON.stringify(failed.fields), failed.text, JSON.stringify(lines))
  for (const secret of secrets) assert.ok(!said.some(text => text.includes(secret)), `${secret} was said`)
  await server.close(0)
  for (const file of readdirSync(folder)) {
    const octets = readFileSync(join(folder, file))
    for (const secret of secrets) assert.ok(!octets.includes(secret), `${secret} is in ${file}`)
  }
})

describe('what an error may say', () => {
  const rows: readonly [string, string, string][] = [
    ['a token', 'no: Bearer abc.def-ghi', 'no: [redacted]'],
    ['a password', 'Authorization: Basic YTpi==', 'Authorization: [redacted]'],
    ['a JWT by itself', 'token eyJhbGciOiJub25lIn0.e30.x is bad', 'token [redacted] is bad'],
    [
      'the password of a database',
      'cannot reach postgres://app:hunter2@db:5432/x',
      'cannot reach postgres://app:[redacted]@db:5432/x',
    ],
    ['an API key', `dk-${'a'.repeat(43)}`, '[redacted]'],
    ['nothing secret', 'the disk is full', 'the disk is full'],
  ]
  for (const [title, given, said] of rows)
    test(title, () => {
      assert.deepEqual(errorFields(given), { error: said })
      const thrown = Object.assign(new Error(given), { code: 'X', config: { password: 'hunter2' } })
      const { error, code } = errorFields(thrown) as { error: string; code: string } // of an Error
      assert.ok(error.startsWith(`Error: ${said}\n`))
      assert.equal(code, 'X')
      assert.ok(!JSON.stringify(errorFields(thrown)).includes('hunter2'))
    })
})

describe('the audit', () => {
  test('a change leaves a row and a line, in either face; a read or a refused call leaves none', async () => {
    const data = join(folder, 'audit.sqlite')
    const { ask, lines, server } = await startHosted({ data })
    const clara = basic('clara', 'clara-secret')
    const key = { 'idempotency-key': '"once"' }
    const order = '{"customer":"c-1","lines":[{"product":"p-1","quantity":1}],"currency":"EUR"}'
    const made = await ask('POST', '/api/v1/orders', { ...clara, ...json, ...key }, order)
    const again = await ask('POST', '/api/v1/orders', { ...clara, ...json, ...key }, order)
    assert.deepEqual([made.status, again.status], [201, 201])
    const { id, total }: { id: string; total: string } = JSON.parse(made.text)
    await ask('GET', `/api/v1/orders/${id}`, clara)
    await ask('POST', '/api/v1/orders', { ...basic('alice', 'alice-secret'), ...json }, order.replace('c-1', 'c-2'))
    const pay = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><PayOrder xmlns="urn:diglot:orders:v1"><id>${id}</id><method>card</method><amount>${total}</amount></PayOrder></e:Body></e:Envelope>`
    assert.equal((await ask('POST', '/soap/v1', { ...clara, 'content-type': 'text/xml' }, pay)).status, 200)
    const changes = lines.filter(line => line.message === 'changed').map(line => line.fields)
    assert.deepEqual(
      changes.map(({ request, version, ...rest }) => ({ ...rest, numbered: typeof version, known: typeof request })),
      [
        {
          subject: 'clara',
          operation: 'CreateOrder',
          resource: 'orders',
          id,
          face: 'rest',
          numbered: 'number',
          known: 'string',
        },
        {
          subject: 'clara',
          operation: 'PayOrder',
          resource: 'orders',
          id,
          face: 'soap',
          numbered: 'number',
          known: 'string',
        },
      ],
    )
    await server.close(0)
    const rows = new DatabaseSync(data, { readOnly: true }).prepare('SELECT * FROM _deed').all()
    assert.deepEqual(
      rows.map(row => row['request']),
      changes.map(change => change['request']),
    )
  })

  test("the service's own logger is pino: one JSON object in a line, on standard error only", () => {
    const program = `
      const { createLogger } = await import('./src/host/operations/log.ts')
      createLogger().info({ subject: 'clara', password: 'hunter2', in: { authorization: 'hunter2' } }, 'changed')`
    const node = ['--conditions=diglot-source', '--input-type=module', '-e', program]
    const { stdout, stderr } = spawnSync(process.execPath, node, {
      cwd: join(import.meta.dirname, '..', '..'),
      encoding: 'utf8',
    })
    assert.equal(stdout, '')
    const { time, ...line } = JSON.parse(stderr)
    assert.match(time, /^\d{4}-/)
    assert.deepEqual(line, {
      level: 30,
      subject: 'clara',
      password: '[redacted]',
      in: { authorization: '[redacted]' },
      msg: 'changed',
    })
  })

  test('a log that accepts no lines ends nothing, and says how many were lost once it accepts them again', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'diglot-full-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = join(folder, 'log')
    const program = `
      const { createLogger } = await import('./src/host/operations/log.ts')
      const { truncateSync } = await import('node:fs')
      const logger = createLogger()
      for (let line = 1; line <= 5000; line++) logger.info({ line, text: 'x'.repeat(1000) }, 'answered')
      truncateSync(process.argv[1])
      logger.info({}, 'room again')
      console.log('goes on')`
    // A file may have 2 MiB: a write beyond that fails, as on a full disk.
    const limited = `trap '' XFSZ; ulimit -f 4096; exec "$0" --conditions=diglot-source --input-type=module -e "$1" "$2" 2>>"$2"`
    const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, program, file], {
      cwd: join(import.meta.dirname, '..', '..'),
      encoding: 'utf8',
    })
    assert.equal(stdout, 'goes on\n')
    const [rest, ...after] = (await readFile(file, 'utf8')).trim().split('\n')
    assert.match(rest ?? '', /x","msg":"answered"\}$/, 'the end of the line that was taken in part')
    const [lost, room] = after.map(line => JSON.parse(line))
    assert.ok(lost.lines > 2500 && lost.lines < 4000)
    assert.deepEqual([lost.msg, room.msg], ['lines of the log were lost: it could not be written', 'room again'])
  })

  test('an internal error is a line with the incident that the client was given, and the client gets no more', async () => {
    const derive = (): never => {
      throw new Error('SELECT hunter2 FROM orders: Bearer hunter3')
    }
    const orders = { actions: {}, ...app.handlers['orders'], derive }
    const { ask, lines } = await startHosted({}, { ...app, handlers: { ...app.handlers, orders } })
    const clara = basic('clara', 'clara-secret')
    const order = '{"customer":"c-1","lines":[{"product":"p-1","quantity":1}],"currency":"EUR"}'
    const create = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CreateOrder xmlns="urn:diglot:orders:v1"><order><customer>c-1</customer><lines><line><product>p-1</product><quantity>1</quantity></line></lines><currency>EUR</currency></order></CreateOrder></e:Body></e:Envelope>`
    const answers = [
      await ask('POST', '/api/v1/orders', { ...clara, ...json, accept: 'application/json' }, order),
      await ask('POST', '/api/v1/orders', { ...clara, ...json, accept: 'text/html' }, order),
      await ask('POST', '/soap/v1', { ...clara, 'content-type': 'application/soap+xml' }, create),
    ]
    const errors = lines.filter(each => each.level === 'error')
    assert.equal(errors.length, answers.length)
    for (const [i, { status, text, fields }] of answers.entries()) {
      assert.equal(status, 500)
      const said = text + JSON.stringify(fields)
      assert.ok(said.includes(String(errors[i]?.fields['incident'])), said)
      assert.ok(!/hunter|SELECT|\bat (?!row \d)\w|\.ts\b|node:|\/work|sqlite/i.test(said), said)
      const told = String(errors[i]?.fields['error'])
      assert.match(told, /^Error: SELECT hunter2 FROM orders: \[redacted\]\n +at Object.derive/)
    }
  })
})
