/** Why a database cannot be used, in one line with its place and its cure. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import hello from '../../examples/hello/service.ts'
import { messageOf } from '../../src/base/attempt.ts'
import { explainOutage, openLimiter, openStore } from '../../src/host/store/open-store.ts'
import { ensurePostgresAddress, explainStoreFailure, StoreFailure } from '../../src/host/store/store-failure.ts'
import { Unavailable } from '../../src/service/store.ts'

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code })
const postgres = 'postgres://shop:secret@db.example:5432/shop'
const rows: readonly (readonly [what: string, thrown: unknown, database: string | undefined, says: RegExp])[] = [
  [
    'I7 the driver of PostgreSQL is not installed',
    withCode('ERR_MODULE_NOT_FOUND', "Cannot find package 'pg'"),
    postgres,
    /^PostgreSQL needs its driver: npm install pg$/,
  ],
  [
    'J3 a read-only database',
    withCode('ERR_SQLITE_ERROR', 'attempt to write a readonly database'),
    undefined,
    /^the database file \/data\/x\.sqlite cannot be used: attempt to write a readonly database: check the path, and that this user may read and write/,
  ],
  [
    'a full disk, which it names',
    withCode('ERR_SQLITE_ERROR', 'database or disk is full'),
    undefined,
    /is full: free some space on the disk of \/data\/x\.sqlite$/,
  ],
  [
    'a failing disk',
    withCode('ERR_SQLITE_ERROR', 'disk I/O error'),
    undefined,
    /disk I\/O error: the disk, or a limit of this process, refuses it: look into the system's log$/,
  ],
  [
    'a locked file',
    withCode('ERR_SQLITE_ERROR', 'database is locked'),
    undefined,
    /wait for the process that holds it/,
  ],
  [
    'several servers, none of which takes changes, without their credentials',
    withCode(
      'ENOSERVER',
      'no server is a primary that takes changes (one:5432: it is standby; two:5433: it is standby)',
    ),
    'postgres://shop:secret@one,two:5433/shop',
    /^the database at one:5432, two:5433 cannot be used: no server is a primary/,
  ],
  [
    'a server that is not there, without its credentials',
    withCode('ECONNREFUSED', 'connect ECONNREFUSED'),
    postgres,
    /^the database at db\.example:5432 cannot be used: connect ECONNREFUSED: check that it runs/,
  ],
  [
    'a file of another program',
    withCode('ERR_SQLITE_ERROR', 'table "orders" already exists'),
    undefined,
    /"orders" already exists: another program has this table: give the service a file of its own/,
  ],
  [
    'a table of another program',
    withCode('42P07', 'relation "orders" already exists'),
    postgres,
    /"orders" already exists: another program has this table: give the service a database or a schema of its own/,
  ],
  [
    'a role that may not create tables',
    withCode('42501', 'permission denied for schema public'),
    postgres,
    /permission denied for schema public: let the owner of the tables run diglot migrate --apply/,
  ],
]
for (const [what, thrown, database, says] of rows)
  test(what, () => {
    const explained = explainStoreFailure(thrown, database, '/data/x.sqlite')
    assert.ok(explained instanceof StoreFailure)
    assert.match(explained.message, says)
    assert.doesNotMatch(explained.message, /secret/)
  })

test('an error of another kind is reported unchanged', () => {
  const thrown = new TypeError('a bug')
  assert.equal(explainStoreFailure(thrown, undefined, 'x'), thrown)
})

for (const [address, says] of [
  ['postgres://shop:secret@one.example,,two.example/shop', /host 2 of its list is empty/],
  ['postgres://shop:secret@one.example:1,two.example:70000/shop', /the port of two\.example is "70000"/],
  ['postgres:///shop?user=shop&password=secret&host=a,b,c&port=1,2', /names 3 hosts and 2 ports/],
  ['postgres://shop:secret@one,two/shop?target_session_attrs=prefer-standby', /give read-write, primary/],
  ['postgres://shop:secret@one,two/shop?target_session_attrs=standby', /the standbys to --replica/],
  ['host=one.example dbname=shop password=secret', /give postgres:/],
] as const)
  test(`an unusable address is reported with its cure: ${address}`, () => {
    assert.throws(
      () => ensurePostgresAddress(address, 'primary'),
      thrown => thrown instanceof StoreFailure && says.test(thrown.message) && !/secret/.test(thrown.message),
    )
  })

for (const [address, role] of [
  ['postgres://shop:a,b@one.example/shop', 'primary'],
  ['postgresql://shop@/shop?host=/run/postgresql', 'primary'],
  ['postgres://one,two/shop?target_session_attrs=read-write', 'primary'],
  ['postgres://one,two/shop?target_session_attrs=standby', 'any'],
] as const)
  test(`a usable address: ${address}`, () => ensurePostgresAddress(address, role))

for (const [code, cure] of [
  ['08P01', /: if it is PgBouncer, let it ignore_startup_parameters = /],
  ['25006', /: it is a standby, or set to read-only: give the address of the primary/],
  ['42501', /: let the owner of the tables run diglot migrate --apply/],
  ['53300', /: an instance needs 12 connections: /],
  ['57P03', /: check that it runs/],
] as const)
  test(`a server that refuses with ${code} is reported with its cure`, () => {
    const refusal = Object.assign(new Error('it does not'), { code })
    const explained = explainStoreFailure(refusal, 'postgres://shop:secret@one.example/shop', '')
    assert.match(messageOf(explained), /^the database at one\.example cannot be used: it does not: /)
    assert.match(messageOf(explained), cure)
  })

test('a server that accepts connections and says nothing is reported with place and cure', async t => {
  const sockets: Socket[] = []
  const server = createServer(socket => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  await assert.rejects(openStore(hello, { database: `postgres://shop:secret@127.0.0.1:${port}/shop` }), thrown => {
    assert.ok(thrown instanceof StoreFailure, String(thrown))
    assert.match(thrown.message, /^the database at 127\.0\.0\.1:\d+ cannot be used: .*timeout: check that it runs/)
    return true
  })
})

test("a connection that is cut while the limits are opened is reported with place and cure, not in the driver's words", async () => {
  const server = createServer(socket => void socket.on('data', () => socket.destroy()).on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await assert.rejects(openLimiter({ database: `postgres://shop:secret@127.0.0.1:${port}/shop` }), thrown => {
      assert.ok(thrown instanceof StoreFailure, String(thrown))
      assert.match(
        thrown.message,
        /^the database at 127\.0\.0\.1:\d+ cannot be used: .*: check that it runs, and its address/,
      )
      return true
    })
  } finally {
    server.close()
  }
})

test('a disk that fills up while a new database is seeded is named; a mistake stays what it is', async () => {
  const full = new Unavailable(1, withCode('ERR_SQLITE_ERROR', 'database or disk is full'))
  const seed = (thrown: unknown) => explainOutage(hello, { data: '/data/x.sqlite' }, () => Promise.reject(thrown))
  await assert.rejects(seed(full), /^StoreFailure: the database file \/data\/x\.sqlite .* is full: free some space/)
  const mistake = withCode('ENOENT', 'no such file: seed.json')
  await assert.rejects(seed(mistake), (thrown: unknown) => thrown === mistake)
})
