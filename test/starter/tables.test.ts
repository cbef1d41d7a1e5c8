/** `diglot new --from` tables: the rows that are there are served at once, and changed where they are. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { readCheck } from '../../src/starter/tables/check-conditions.ts'
import { planResources } from '../../src/starter/tables/plan-resources.ts'
import { readSqlScript } from '../../src/starter/tables/sqlite-tables.ts'
import { linkPackages, runDiglot, runTests, runTypes, type Serving, serveProject } from '../support/linked-project.ts'
import { lendingRows, lendingTables } from './lending-tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-tables-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('diglot new --from a file of SQLite', () => {
  const file = join(folder, 'lending.db')
  const project = join(folder, 'lending')
  let served: Serving
  let database: DatabaseSync
  before(async () => {
    database = new DatabaseSync(file)
    database.exec(lendingTables + lendingRows)
    const made = runDiglot(['new', project, '--from', file], folder)
    assert.equal(made.status, 0, made.stderr)
    assert.deepEqual(made.stderr.trim().split('\n'), [
      'gold: a view has no key, and is left out',
      'loan: check (note is null or length(note) < 1000) stays with the database, which ends a call with 500',
      'log: the table has no primary key: it is left out',
      'loan.note: a contract has no type for json: it is left out',
      'loan_event: the key has several columns: clients cannot create rows',
    ])
    linkPackages(project)
    served = await serveProject(project)
  })
  after(async () => {
    await served.stop()
    database.close()
  })

  const ask = async (method: string, path: string, content?: unknown, fields: Record<string, string> = {}) => {
    const response = await fetch(`${served.url}/api/${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa('ann:ann-secret')}`,
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...fields,
      },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    })
    const text = await response.text()
    return { status: response.status, fields: response.headers, json: text === '' ? {} : JSON.parse(text) }
  }

  test('its types hold, and its tests pass: each row is the same in both faces', () => {
    const types = runTypes(project)
    assert.equal(types.status, 0, types.stdout)
    const tests = runTests(project)
    assert.equal(tests.status, 0, tests.stdout)
    assert.match(tests.stdout, /^# pass 4$/m)
  })

  test('rows have their fields, with links to the rows that they refer to', async () => {
    const { json } = await ask('GET', 'loans/1')
    assert.deepEqual(
      [json.reader, json.bookIsbn, json.lentAt, json._links.reader.href, json._links.bookIsbn.href],
      ['1', '978-0~2f1', '2026-02-03T04:05:06Z', '/api/readers/1', '/api/books/978-0~2f1'],
    )
    const book = await ask('GET', 'books/978-0~2f1')
    assert.deepEqual([book.json.title, book.json.price, book.json.titleLength], ['A', '4.95', 1])
    assert.equal((await ask('GET', 'loanEvents/1.2')).json.what, 'renewed')
    for (const path of ['loans/9', 'loans/x', 'loans/01', 'loanEvents/1', 'loanEvents/1.2.3'])
      assert.equal((await ask('GET', path)).status, 404, path)
  })

  test('a partner reads the same row by SOAP', async () => {
    const response = await fetch(`${served.url}/soap/v1`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('ann:ann-secret')}`, 'content-type': 'application/soap+xml' },
      body: `<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body><GetReader xmlns='urn:example:lending:v1'><id>2</id></GetReader></e:Body></e:Envelope>`,
    })
    assert.match(await response.text(), /<fullName>Rob<\/fullName><email>rob@example\.org<\/email>/)
  })

  test('lists are filtered, sorted and paged by the database', async () => {
    const names = async (query: string) =>
      (await ask('GET', `readers?${query}`)).json.items.map((each: { fullName: string }) => each.fullName)
    assert.deepEqual(await names('email=rob@example.org'), ['Rob'])
    assert.deepEqual(
      [await names('sort=joined'), await names('sort=-joined')],
      [
        ['Rob', 'Rita'],
        ['Rita', 'Rob'],
      ],
    )
    const first = (await ask('GET', 'readers?sort=joined&size=1')).json
    assert.equal(first.items.length, 1)
    const next = (await ask('GET', first._links.next.href.replace(/^\/api\//, ''))).json
    assert.equal(next.items[0].fullName, 'Rita')
    const back = (await ask('GET', (next._links.prev ?? next._links.previous).href.replace(/^\/api\//, ''))).json
    assert.equal(back.items[0].fullName, 'Rob')
    // An absent price comes before all others.
    const books = (await ask('GET', 'books?sort=price')).json.items
    assert.deepEqual(
      books.map(({ title }: { title: string }) => title),
      ['B', 'A'],
    )
  })

  test('a new row gets its key and its defaults from the database, unless it has them', async () => {
    const made = await ask('POST', 'readers', { fullName: 'Ann', email: 'ann@example.org' })
    assert.equal(made.status, 201)
    assert.deepEqual([made.json.id, made.json.level, made.json.blocked], ['3', 'basic', false])
    assert.equal(made.fields.get('location'), '/api/readers/3')
    const put = await ask('PUT', 'books/978-3', { title: 'C', price: '7.50' }, { 'if-none-match': '*' })
    assert.equal(put.status, 201, JSON.stringify(put.json))
    assert.deepEqual(
      { ...database.prepare(`select title, price from book where isbn = '978-3'`).get() },
      { title: 'C', price: 7.5 },
    )
  })

  test('a row that another program has changed is not overwritten', async () => {
    const { json, fields } = await ask('GET', 'readers/2')
    const etag = fields.get('etag') ?? ''
    database.exec(`update reader set blocked = 1 where id = 2`)
    const { _links, ...value } = json
    const late = await ask('PUT', 'readers/2', { ...value, fullName: 'Robert' }, { 'if-match': etag })
    assert.equal(late.status, 412)
    const again = (await ask('GET', 'readers/2')).fields.get('etag') ?? ''
    const patched = await fetch(`${served.url}/api/readers/2`, {
      method: 'PATCH',
      headers: {
        authorization: `Basic ${btoa('ann:ann-secret')}`,
        'content-type': 'application/merge-patch+json',
        'if-match': again,
      },
      body: JSON.stringify({ fullName: 'Robert' }),
    })
    assert.equal(patched.status, 200)
    assert.deepEqual(
      { ...database.prepare('select full_name, blocked from reader where id = 2').get() },
      { full_name: 'Robert', blocked: 1 },
    )
  })

  test('violations of table constraints are reported before the database is asked', async () => {
    const twice = await ask('POST', 'readers', { fullName: 'X', email: 'rita@example.org' })
    assert.deepEqual([twice.status, /the same email/.test(JSON.stringify(twice.json))], [409, true])
    const level = await ask('POST', 'readers', { fullName: 'X', email: 'x@example.org', level: 'iron' })
    assert.deepEqual([level.status, level.json.errors?.[0]?.pointer ?? JSON.stringify(level.json)], [422, '/level'])
    assert.equal((await ask('PUT', 'books/978-4', { title: 'D', pages: 0 }, { 'if-none-match': '*' })).status, 422)
    assert.equal((await ask('POST', 'loans', { reader: '99', bookIsbn: '978-2' })).status, 422)
    const etag = (await ask('GET', 'readers/1')).fields.get('etag') ?? ''
    assert.equal((await ask('DELETE', 'readers/1', undefined, { 'if-match': etag })).status, 409)
    assert.equal((await ask('POST', 'loanEvents', { what: 'x' })).status, 405)
  })

  test('a cell of the wrong type ends the call, and the log names its place', async () => {
    database.exec(`insert into loan (id, reader_id, book_isbn, lent_at) values (9, 1, '978-2', 'yesterday')`)
    assert.equal((await ask('GET', 'loans/9')).status, 500)
    database.exec('delete from loan where id = 9')
  })
})

describe('diglot new --from a script', () => {
  test('the project creates the tables at its first start', async t => {
    const script = join(folder, 'lending.sql')
    writeFileSync(script, lendingTables + lendingRows)
    const project = join(folder, 'scripted')
    const made = runDiglot(['new', project, '--from', script], folder)
    assert.equal(made.status, 0, made.stderr)
    linkPackages(project)
    const { url, stop } = await serveProject(project)
    t.after(stop)
    const response = await fetch(`${url}/api/readers/1`, {
      headers: { authorization: `Basic ${btoa('ann:ann-secret')}` },
    })
    assert.equal(((await response.json()) as { fullName: string }).fullName, 'Rita')
    assert.ok(existsSync(join(project, 'data', 'tables.sqlite')))
    assert.equal(readFileSync(join(project, 'tables.sql'), 'utf8'), lendingTables + lendingRows)
  })
})

describe('unusable databases are refused, with the cure', () => {
  const refuse = (from: string, text: RegExp, status = 1): void => {
    const ran = runDiglot(['new', 'refused', '--from', from], folder)
    assert.deepEqual([ran.status, text.test(ran.stderr)], [status, true], ran.stderr)
    assert.ok(!existsSync(join(folder, 'refused')))
  }
  test('a file that is not a database', () => {
    writeFileSync(join(folder, 'text.db'), 'x'.repeat(5000))
    refuse(
      'text.db',
      /text\.db cannot be read \(file is not a database\): give an SQLite file, a script that ends in \.sql/,
    )
  })
  test('a script of another database', () => {
    writeFileSync(join(folder, 'other.sql'), 'create type mood as enum (1);')
    refuse(
      'other.sql',
      /other\.sql cannot be read \(near "type": syntax error\): SQLite reads a script; for one of another/,
    )
  })
  test('tables that cannot be served', () => {
    writeFileSync(join(folder, 'none.sql'), 'create table log (line text);')
    refuse(
      'none.sql',
      /none\.sql has no table that can be served \(log: the table has no primary key: it is left out\)/,
    )
  })
  test('an unreachable database, without its password', () => {
    refuse(
      'postgres://me:secret@127.0.0.1:1/none',
      /^diglot: postgres:\/\/me@127\.0\.0\.1:1\/none cannot be read \((?!.*secret).*ECONNREFUSED/,
    )
  })
  test('a database on several servers, of which the project uses one', () => {
    refuse(
      'postgres://me:secret@one,two:5433/shop',
      /^diglot: postgres:\/\/me@one,two:5433\/shop names several servers: give the address of the one to read the tables from\n$/,
    )
  })
  test('a missing file', () =>
    refuse(
      'lost.db',
      /lost\.db is not an example, and no file has this name: use tickets, hello, empty, clinic, an SQLite file/,
      2,
    ))
})

describe('tables as resources', () => {
  const plan = (script: string) => planResources(readSqlScript(script), false)
  const fieldsOf = (script: string) =>
    Object.fromEntries(plan(script).resources[0]?.fields.map(({ name, text }) => [name, text]) ?? [])

  test('a column becomes the field of its declared type', () => {
    assert.deepEqual(
      fieldsOf(
        'create table a (id integer primary key, a smallint not null, b bigint not null, c real, d numeric(5) not null, e text not null, f datetime, g time, h blob, i bool not null)',
      ),
      {
        a: 't.int()',
        b: 't.long()',
        c: 't.double().optional()',
        d: 't.decimal(5, 0)',
        e: 't.string()',
        f: 't.dateTime().optional()',
        g: 't.time().optional()',
        h: 't.bytes().optional()',
        i: 't.boolean()',
      },
    )
  })

  test('an excluded bound becomes the next value of the column', () => {
    assert.deepEqual(
      fieldsOf(
        `create table a (id integer primary key, n int check (n > -1 and n < 9), d numeric(6,2) check (d > 0 and d <= 99.5), e numeric(6,2) check (e < 0))`,
      ),
      {
        n: 't.long({ min: 0n, max: 8n }).optional()',
        d: "t.decimal(6, 2, { min: '0.01', max: '99.50' }).optional()",
        e: "t.decimal(6, 2, { max: '-0.01' }).optional()",
      },
    )
    const { losses } = plan(
      'create table a (id integer primary key, r real check (r > 0), d numeric(6,2) check (d > 0.005))',
    )
    assert.deepEqual(
      losses.map(({ detail }) => detail),
      [
        'check (r > 0) stays with the database, which ends a call with 500',
        'check (d > 0.005) stays with the database, which ends a call with 500',
      ],
    )
  })

  test('names are spelled as in a contract, each once, and none is reserved', () => {
    const { resources } = plan(
      'create table "Order Line" (nr integer primary key, ID int, "Größe" int, "2nd" int, grosse int); create table city (id integer primary key); create table search (id integer primary key); create table box (id integer primary key)',
    )
    assert.deepEqual(resources.map(({ name }) => name).sort(), ['boxes', 'cities', 'orderLines', 'searchesRows'])
    const lines = resources.find(({ name }) => name === 'orderLines')
    assert.deepEqual(
      lines?.fields.map(({ name }) => name),
      ['ownId', 'grosse', 'column2nd', 'grosse2'],
    )
  })

  test('a reference that leads to no key is a value, and is reported', () => {
    const { losses } = plan(
      'create table a (id integer primary key, code text unique); create table b (id integer primary key, code text references a(code), x int references lost(id))',
    )
    assert.deepEqual(
      losses.map(({ place, detail }) => `${place}: ${detail}`),
      [
        'b.x: it refers to lost, which is left out: it is a value',
        'b.code: it refers to a.code, which is not the key: it is a value',
      ],
    )
  })

  test('rows whose cells do not have the type of the column are reported, and the column is left out', () => {
    const { losses } = plan(
      `create table a (id integer primary key, n int, b boolean); insert into a values (1, 'x', 2), (2, 'y', 1)`,
    )
    assert.deepEqual(
      losses.map(({ place, detail }) => `${place}: ${detail}`),
      [
        'a.n: 2 rows are not of the type INT: correct them, or declare another type; the column is left out',
        'a.b: a row is not of the type boolean: correct it, or declare another type; the column is left out',
      ],
    )
  })
})

describe('conditions become facets', () => {
  const cases: readonly (readonly [check: string, facets: ReturnType<typeof readCheck>])[] = [
    [`a in ('x', 'it''s')`, [{ column: 'a', facet: { values: ['x', "it's"] } }]],
    [`(a = ANY (ARRAY['x'::text, 'y'::text]))`, [{ column: 'a', facet: { values: ['x', 'y'] } }]],
    [`((a)::text = ANY ((ARRAY['x'::character varying])::text[]))`, [{ column: 'a', facet: { values: ['x'] } }]],
    [
      '((a >= 1) AND (a < 9))',
      [
        { column: 'a', facet: { minimum: '1' } },
        { column: 'a', facet: { maximum: '9!' } },
      ],
    ],
    ['a between -1 and 2.5', [{ column: 'a', facet: { minimum: '-1', maximum: '2.5' } }]],
    ['(a > (0)::numeric)', [{ column: 'a', facet: { minimum: '0!' } }]],
    ['char_length(a) <= 8', [{ column: 'a', facet: { length: 8 } }]],
    ['a > b', undefined],
    ['a is null or a > 1', undefined],
    ['a <> 3', undefined],
    [`a in ('x(', 'y')`, undefined],
    ['not a > 1', undefined],
  ]
  for (const [check, facets] of cases) test(check, () => assert.deepEqual(readCheck(check), facets))
})
