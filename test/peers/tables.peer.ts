/** `diglot new --from postgres://…`: the rows of a PostgreSQL database by both faces, as they are there. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { linkPackages, runDiglot, runTests, runTypes, serveProject } from '../support/linked-project.ts'
import { database, noDatabase } from './database.ts'

const skip = noDatabase()
const tables = `
create type level as enum ('basic', 'gold');
create domain amount as numeric(8,2);
create table reader (
  id integer generated always as identity primary key, full_name varchar(80) not null, email text not null unique,
  "level" level not null default 'basic', since timestamptz not null default now(), card uuid, photo bytea);
create table book (isbn text primary key, price amount check (price > 0), pages smallint check (pages between 1 and 5000),
  kind text not null check (kind in ('paper', 'sound')), tags text[]);
create table loan (id bigserial primary key, reader_id integer not null references reader, book text references book, due date);
create view gold as select * from reader where "level" = 'gold';
insert into reader (full_name, email, "level", since, card, photo) values
  ('Rita', 'rita@example.org', 'gold', '2026-01-02 03:04:05+00', '0f8fad5b-d9cb-469f-a165-70867728950e', '\\x00ff'),
  ('Rob', 'rob@example.org', 'basic', '2026-01-01 03:04:05.5+02', null, null);
insert into book values ('978-1', 4.95, 10, 'paper', '{a}'), ('978-2', null, null, 'sound', null);
insert into loan (reader_id, book, due) select 1 + n % 2, '978-1', date '2026-01-01' + n from generate_series(1, 12) n;
`

describe('diglot new --from a PostgreSQL database', { skip }, async () => {
  if (skip) return
  const { url, ask: sql } = await database()
  await sql(tables)
  const folder = mkdtempSync(join(tmpdir(), 'diglot-tables-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'lending')
  const address = url.replace('//tests@', '//tests:secret@')
  const made = runDiglot(['new', project, '--from', address], folder)
  assert.equal(made.status, 0, made.stderr)
  linkPackages(project)

  test('what a contract cannot say is reported, and the password is not written down', () => {
    assert.deepEqual(made.stderr.trim().split('\n'), [
      'gold: a view has no key, and is left out',
      'book.tags: a contract has no type for text[]: it is left out',
    ])
    for (const file of ['contract.ts', 'service.ts', 'README.md'])
      assert.doesNotMatch(readFileSync(join(project, file), 'utf8'), /secret@/)
    const contract = readFileSync(join(project, 'contract.ts'), 'utf8')
    for (const line of [
      `level: t.enum('basic', 'gold').optional()`,
      'since: t.dateTime().optional()',
      `price: t.decimal(8, 2, { min: '0.01' }).optional()`,
      'pages: t.int({ min: 1, max: 5000 }).optional()',
      `kind: t.enum('paper', 'sound')`,
      `reader: t.ref('readers')`,
    ])
      assert.ok(contract.includes(line), line)
  })

  test('its types hold, and its tests pass: each row is the same in both faces', () => {
    const types = runTypes(project)
    assert.equal(types.status, 0, types.stdout)
    const tests = runTests(project)
    assert.equal(tests.status, 0, tests.stdout)
  })

  test('rows are read, paged, created and changed in place', async t => {
    const served = await serveProject(project)
    t.after(served.stop)
    const ask = async (method: string, path: string, content?: unknown, fields: Record<string, string> = {}) => {
      const response = await fetch(`${served.url}${path}`, {
        method,
        headers: { authorization: `Basic ${btoa('ann:ann-secret')}`, 'content-type': 'application/json', ...fields },
        ...(content !== undefined && { body: JSON.stringify(content) }),
      })
      return { status: response.status, fields: response.headers, json: JSON.parse((await response.text()) || '{}') }
    }
    const rita = await ask('GET', '/api/readers/1')
    assert.deepEqual(
      [rita.json.level, rita.json.since, rita.json.card, rita.json.photo],
      ['gold', '2026-01-02T03:04:05Z', '0f8fad5b-d9cb-469f-a165-70867728950e', 'AP8='],
    )
    assert.equal((await ask('GET', '/api/readers/2')).json.since, '2026-01-01T01:04:05.5Z')
    const ids: string[] = []
    for (let next = '/api/loans?size=5'; next; ) {
      const { json } = await ask('GET', next)
      ids.push(...json.items.map(({ id }: { id: string }) => id))
      next = json._links.next?.href
    }
    assert.deepEqual(ids, ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'], 'in the order of numbers')
    const late = (await ask('GET', '/api/loans?sort=-due&size=2&reader=1')).json.items
    assert.deepEqual(
      late.map(({ due }: { due: string }) => due),
      ['2026-01-13', '2026-01-11'],
    )
    const made = await ask('POST', '/api/readers', { fullName: 'Ann', email: 'ann@example.org' })
    assert.deepEqual([made.status, made.json.id, made.json.level], [201, '3', 'basic'])
    assert.equal((await ask('POST', '/api/readers', { fullName: 'Ann', email: 'ann@example.org' })).status, 409)
    await sql(`update reader set full_name = 'Rita Hill' where id = 1`)
    const stale = { 'if-match': rita.fields.get('etag') ?? '' }
    assert.equal((await ask('PUT', '/api/readers/1', { fullName: 'R', email: 'rita@example.org' }, stale)).status, 412)
    const fresh = { 'if-match': (await ask('GET', '/api/readers/1')).fields.get('etag') ?? '' }
    const changed = await ask('PUT', '/api/readers/1', { fullName: 'R', email: 'rita@example.org' }, fresh)
    assert.equal(changed.status, 200, JSON.stringify(changed.json))
    assert.deepEqual(await sql('select full_name, "level", card, photo from reader where id = 1'), [
      { full_name: 'R', level: 'gold', card: null, photo: null },
    ])
  })
})
