/** PostgreSQL "Specifying Multiple Hosts" (libpq): addresses that name several servers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseServerList } from '../../src/store/server-list.ts'

const rows: readonly (readonly [address: string, first: string, servers: string, role?: string])[] = [
  ['postgres://one,two/shop', 'postgres://one:5432/shop', 'one:5432 two:5432'],
  ['postgresql://u:p%40@one:1,two:2/shop', 'postgresql://u:p%40@one:1/shop', 'one:1 two:2'],
  ['postgres://u@one,two:5433', 'postgres://u@one:5432', 'one:5432 two:5433'],
  ['postgres://u@[::1]:5,[fe80::2]/shop', 'postgres://u@[::1]:5/shop', '::1:5 fe80::2:5432'],
  ['postgres:///shop?user=u&host=one,two', 'postgres://one:5432/shop?user=u', 'one:5432 two:5432'],
  ['postgres:///shop?host=one,two&port=7', 'postgres://one:7/shop', 'one:7 two:7'],
  ['postgres:///shop?port=7,8&host=one,two', 'postgres://one:7/shop', 'one:7 two:8'],
  [
    'postgres://one,two/shop?sslmode=require&target_session_attrs=read-write&options=-c%20search_path%3Dshop',
    'postgres://one:5432/shop?sslmode=require&options=-c%20search_path%3Dshop',
    'one:5432 two:5432',
    'primary',
  ],
  [
    'postgres://one,two/shop?target_session_attrs=read-only',
    'postgres://one:5432/shop',
    'one:5432 two:5432',
    'standby',
  ],
  ['postgres://one,two/shop?target_session_attrs=any', 'postgres://one:5432/shop', 'one:5432 two:5432', 'any'],
]
for (const [address, first, servers, role] of rows)
  test(`several servers: ${address}`, () => {
    const list = parseServerList(address)
    assert.deepEqual(
      [list?.first, list?.servers.map(({ host, port }) => `${host}:${port}`).join(' '), list?.role],
      [first, servers, role],
    )
  })

for (const address of [
  'postgres://shop:a,b@one.example/shop',
  'postgres://one.example/a,b',
  'postgres://one.example:5432/shop?application_name=a,b',
  'postgresql://shop@/shop?host=/run/postgresql',
])
  test(`a comma elsewhere does not name a second server: ${address}`, () =>
    assert.equal(parseServerList(address), undefined))
