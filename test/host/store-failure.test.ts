/** Why a database cannot be used, in one line with its place and its cure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensurePostgresAddress, explainStoreFailure, StoreFailure } from '../../src/host/store/store-failure.ts'

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
    /^the database file \/data\/x\.sqlite cannot be opened: attempt to write a readonly database: check the path, and that this user may read and write/,
  ],
  [
    'a locked file',
    withCode('ERR_SQLITE_ERROR', 'database is locked'),
    undefined,
    /wait for the process that holds it/,
  ],
  [
    'a server that is not there, without its credentials',
    withCode('ECONNREFUSED', 'connect ECONNREFUSED'),
    postgres,
    /^the database at db\.example:5432 cannot be used: connect ECONNREFUSED: check that it runs/,
  ],
]
for (const [what, thrown, database, says] of rows)
  test(what, () => {
    const explained = explainStoreFailure(thrown, database, '/data/x.sqlite')
    assert.ok(explained instanceof StoreFailure)
    assert.match(explained.message, says)
    assert.doesNotMatch(explained.message, /secret/)
  })

test('an error of another kind is told as it is', () => {
  const thrown = new TypeError('a bug')
  assert.equal(explainStoreFailure(thrown, undefined, 'x'), thrown)
})

for (const [address, says] of [
  ['postgres://shop:secret@one.example:5432,two.example:5432/shop', /names several servers/],
  ['postgres://shop:secret@one.example,two.example/shop?target_session_attrs=read-write', /leads to the primary/],
  ['postgresql://one.example,two.example', /names several servers/],
  ['postgres:///shop?user=shop&host=one.example,two.example', /names several servers/],
  ['host=one.example dbname=shop password=secret', /give postgres:/],
] as const)
  test(`an address that no driver understands is told with its cure: ${address}`, () => {
    assert.throws(() => ensurePostgresAddress(address), says)
    assert.throws(
      () => ensurePostgresAddress(address),
      thrown => thrown instanceof StoreFailure && !/secret/.test(thrown.message),
    )
  })

for (const address of [
  'postgres://shop:a,b@one.example/shop',
  'postgres://one.example/a,b',
  'postgresql://shop@/shop?host=/run/postgresql',
])
  test(`a comma elsewhere names no second server: ${address}`, () => ensurePostgresAddress(address))
