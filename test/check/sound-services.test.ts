/** What a sound service may do: no rule fails falsely, and the run sees as much as there is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { type CheckRule, checkRules, createMemoryTransport, runCheck, Unreachable } from '../../src/check/index.ts'
import { asRecord } from '../../src/check/probe-content.ts'
import { writeHtmlReport } from '../../src/check/reports/report-html.ts'
import { writeTerminalReport } from '../../src/check/reports/report-terminal.ts'
import { findMismatch } from '../../src/check/schema-judge.ts'
import { parseJson } from '../../src/http/json.ts'
import { ann, bob, checkSmall, createNotes, describeNotes, listVerdicts, type SmallService } from './small-services.ts'

const callers = [ann, bob]

describe('no rule fails falsely', () => {
  const ticketsOf = (caller: string | undefined): Json =>
    ['open', 'closed'].map((state, at) => ({
      id: `${at + 1}`,
      state,
      _links: {
        self: { href: `/notes/${at + 1}` },
        ...(caller === 'ann' && state === 'open' && { close: { href: `/notes/${at + 1}/closing` } }),
      },
    }))
  const serveTickets: SmallService = ({ path, caller }) =>
    path === '/openapi.json' ? { status: 200, json: describeNotes() } : { status: 200, json: ticketsOf(caller) }

  it('A4.6: an item is kept while its state does not allow its removal', async () => {
    const notes = createNotes()
    const given = await checkSmall(
      asked => (asked.method === 'DELETE' ? { status: 409, json: { title: 'still open' } } : notes(asked)),
      ['A4.6'],
    )
    assert.deepEqual(listVerdicts(given), ['A4.6 not observable: an item that may be removed in its first state'])
  })

  for (const key of ['*/*', 'application/*', 'application/json; charset=utf-8'])
    it(`A1.6: the description names the media type as ${key}`, async () => {
      const document = structuredClone(describeNotes()) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, Json> }> }>> } // biome-ignore format: one row
      const answer = document.paths['/notes/{id}']!['get']!.responses['200']!
      answer.content = { [key]: answer.content['application/json']! }
      const given = listVerdicts(
        await checkSmall(createNotes({ document: document as unknown as ReturnType<typeof describeNotes> }), [
          'A1.6',
          'A2.1',
        ]),
      )
      assert.ok(!given.some(each => / fail/.test(each)), given.join())
      assert.ok(given.includes('A2.1 pass'), given.join())
    })

  for (const path of [
    '/add-ons',
    '/call-logs',
    '/list-prices',
    '/run-logs',
    '/set-pieces',
    '/make-models',
    '/processes',
  ])
    it(`A1.9: ${path} is a noun`, async () => {
      const document = describeNotes(undefined, { [path]: { get: { responses: {} } } })
      assert.deepEqual(listVerdicts(await checkSmall(createNotes({ document }), ['A1.9'])), ['A1.9 pass'])
    })
  for (const path of ['/getNotes', '/cancelOrder', '/create-note', '/list_notes'])
    it(`A1.9: ${path} begins with a verb`, async () => {
      const document = describeNotes(undefined, { [path]: { get: { responses: {} } } })
      assert.match(listVerdicts(await checkSmall(createNotes({ document }), ['A1.9'])).join(), /A1\.9 fail/)
    })

  it('A4.23: a database may order texts by a collation, and a filter may match part of a text', async () => {
    const document = structuredClone(describeNotes()) as unknown as {
      paths: Record<string, Record<string, { parameters?: Json }>>
    }
    document.paths['/notes']!['get']!.parameters = ['title', 'sort'].map(name => ({ name, in: 'query' }))
    const all = ['apple', 'apple pie', 'Banana'].map((title, at) => ({ id: `${at + 1}`, title }))
    const service: SmallService = ({ path, query }) => {
      const asked = new URLSearchParams(query)
      if (path === '/openapi.json') return { status: 200, json: document as unknown as Json }
      const found = all.filter(({ title }) => title.includes(asked.get('title') ?? ''))
      if (path === '/notes')
        return {
          status: 200,
          json: asked.has('sort') ? found.toSorted((a, b) => a.title.localeCompare(b.title)) : found,
        }
      const one = all.find(({ id }) => path === `/notes/${id}`)
      return one ? { status: 200, json: one } : { status: 404, json: {} }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A4.23'])), ['A4.23 pass'])
  })

  describe('an integer beyond 2^53 keeps its digits', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'integer', readOnly: true }, size: { type: 'integer', minimum: 2n ** 62n } },
    }
    const serve = (read: (text: string) => Json): [SmallService, Map<string, Json>] => {
      const kept = new Map<string, Json>([[`${2n ** 60n + 1n}`, { id: 2n ** 60n + 1n, size: 2n ** 62n + 1n }]])
      const service: SmallService = ({ method, path, text }) => {
        const [, id = ''] = /^\/notes\/(\d+)$/.exec(path) ?? []
        const made = path === '/notes' && method === 'POST' ? `${2n ** 60n + BigInt(kept.size) + 1n}` : id
        if (path === '/openapi.json') return { status: 200, json: describeNotes(schema) }
        if (method === 'POST' || method === 'PUT') kept.set(made, { ...asRecord(read(text)), id: BigInt(made) })
        if (method === 'DELETE') return { status: kept.delete(id) ? 204 : 404 }
        if (method === 'POST') return { status: 201, json: kept.get(made) ?? {} }
        if (path === '/notes') return { status: 200, json: [...kept.values()] }
        const json = kept.get(id)
        return json === undefined ? { status: path === '/' ? 200 : 404, json: {} } : { status: 200, json }
      }
      return [service, kept]
    }

    it('A4.4, A2.1: an item is copied back as it was read, to the address that it states', async () => {
      const [service, kept] = serve(text => parseJson(text).value ?? null)
      const verdicts = listVerdicts(await checkSmall(service, ['A4.4', 'A2.1']))
      assert.deepEqual(verdicts, ['A2.1 pass', 'A4.4 pass'])
      assert.equal(kept.size, 1, 'what the run has created is removed')
    })

    it('A4.4: a service that rounds a number has another state', async () => {
      const [service] = serve(text => JSON.parse(text) as Json)
      const [verdict = ''] = listVerdicts(await checkSmall(service, ['A4.4']))
      assert.match(verdict, /A4\.4 fail.*the state is what the first PUT sent/)
    })

    it('A2.1: a bound is compared exactly', () => {
      const judge = (value: Json) => findMismatch({}, { type: 'integer', minimum: 2n ** 62n, multipleOf: 2 }, value)
      assert.equal(judge(2n ** 62n), undefined)
      assert.equal(judge(2n ** 62n - 2n), `the content is ${2n ** 62n - 2n}: the schema has minimum ${2n ** 62n}`)
      assert.equal(judge(2n ** 62n + 1n), `the content is ${2n ** 62n + 1n}: the schema has multipleOf 2`)
    })
  })

  it('A4.1: values without a unique name may appear on two pages', async () => {
    const service: SmallService = asked => {
      if (asked.path !== '/notes' || asked.method !== 'GET') return createNotes()(asked)
      const page = Number(new URLSearchParams(asked.query).get('page') ?? '1')
      const self = { href: `/notes?page=${page}` }
      const links = { self, ...(page < 2 ? { next: { href: '/notes?page=2' } } : { previous: { href: '/notes' } }) }
      return { status: 200, json: { items: ['red', 'green'], _links: links } }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A4.1'])), ['A4.1 pass'])
  })

  it('A4.1: pages that only Link leads to are followed', async () => {
    const service: SmallService = asked => {
      if (asked.query === 'page=2') return { status: 500, json: {} }
      if (asked.path !== '/notes' || asked.method !== 'GET') return createNotes()(asked)
      return { status: 200, json: [{ id: '1', title: 'a' }], fields: { link: '</notes?page=2>; rel="next"' } }
    }
    assert.match(listVerdicts(await checkSmall(service, ['A4.1'])).join(), /a next page is answered 200, not 500/)
  })

  it('A5.1: a cookie that every client gets is not a session', async () => {
    const cookie = { 'set-cookie': 'affinity=1; Path=/' }
    const notes = createNotes()
    const service: SmallService = asked => {
      if (asked.path.startsWith('/notes') && asked.caller === undefined)
        return { status: 401, json: {}, fields: { 'www-authenticate': 'Basic realm="x"', ...cookie } }
      const answer = notes(asked)
      return { ...answer, fields: { ...answer.fields, ...cookie } }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A5.1'], { callers: [ann] })), ['A5.1 pass'])
  })

  it('A5.1, A5.3: a caller may have an API key in a field of its own', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      asked.path.startsWith('/notes') && asked.fields['x-api-key'] !== 's3cret'
        ? { status: 401, json: {}, fields: { 'www-authenticate': 'ApiKey realm="x"' } }
        : notes(asked)
    const key = { name: 'key 1', fields: { 'x-api-key': 's3cret' } }
    const report = await checkSmall(service, ['A5.1', 'A5.3'], { callers: [key] })
    assert.deepEqual(listVerdicts(report), ['A5.1 pass', 'A5.3 pass'])
    assert.doesNotMatch(writeTerminalReport(report, new Set()) + writeHtmlReport(report), /s3cret/)
  })

  for (const tag of ['"1"', 'W/"1"'])
    it(`A4.20: a service with the entity tag ${tag} compares it strongly`, async () => {
      const notes = createNotes()
      const service: SmallService = asked => {
        const match = asked.fields['if-match']
        const isHeld = match === undefined || match.split(', ').includes('"1"')
        if (asked.method !== 'GET' && !isHeld) return { status: 412, json: {} }
        const answer = notes(asked)
        return { ...answer, fields: { ...answer.fields, etag: tag } }
      }
      assert.deepEqual(listVerdicts(await checkSmall(service, ['A4.20'])), ['A4.20 pass'])
    })

  it('A7.10: a PUT may create again what was removed, and POST may be redirected', async () => {
    const notes = createNotes()
    const service: SmallService = asked => {
      const made = asked.method === 'PUT' && notes({ ...asked, method: 'GET' }).status === 404
      if (made) return { status: 201, json: JSON.parse(asked.text) }
      if (asked.method === 'POST' && asked.path.includes('no-such')) return { status: 308, fields: { location: '/' } }
      return notes(asked)
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A7.10'])), ['A7.10 pass'])
  })

  it('A1.6: XML may have a document type', async () => {
    const document = structuredClone(describeNotes()) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, Json> }> }>> } // biome-ignore format: one row
    document.paths['/notes/{id}']!['get']!.responses['200']!.content = { 'application/json': {}, 'application/xml': {} }
    const notes = createNotes({ document: document as unknown as ReturnType<typeof describeNotes> })
    const transport = createMemoryTransport(async ({ method, target, fields }) => {
      if (fields['accept'] === 'application/xml' && target.startsWith('/notes/'))
        return { status: 200, fields: { 'content-type': 'application/xml' }, content: '<!DOCTYPE note><note/>' }
      const asked = { method, path: target, query: '', caller: undefined, fields, text: '' }
      const { status, json } = notes(asked)
      return { status, fields: { 'content-type': 'application/json' }, content: JSON.stringify(json ?? {}) }
    })
    const rules = checkRules.filter(({ id }) => id === 'A1.6')
    assert.deepEqual(listVerdicts(await runCheck(transport, { rules, rate: 100_000 })), ['A1.6 pass'])
  })

  it('A7.18: an odd identifier may be redirected to its normal form', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      /^\/notes\/.{30,}/.test(asked.path)
        ? { status: 308, json: {}, fields: { location: `${asked.path}/` } }
        : notes(asked)
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A7.18'])), ['A7.18 pass'])
  })

  it('an identifier that is not valid in UTF-8 does not end the run', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      asked.path === '/notes' ? { status: 200, json: [{ id: '\ud800', title: 'x' }] } : notes(asked)
    assert.equal((await checkSmall(service, ['A1.3', 'A4.1', 'A4.3'])).verdicts.length, 3)
  })

  it('a probe that is cut off proves nothing', async () => {
    const notes = createNotes()
    const service: SmallService = asked => {
      if (asked.fields['if-none-match'] === '*') throw new Unreachable('the connection was closed')
      const answer = notes(asked)
      const isKnown = asked.fields['if-none-match']?.includes('"1"') === true
      return { ...answer, status: isKnown ? 304 : answer.status, fields: { ...answer.fields, etag: '"1"' } }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A4.3'])), [
      'A4.3 not observable: the connection was closed',
    ])
  })

  it('A3.4: links may depend on the state only for callers that may act', async () => {
    assert.deepEqual(listVerdicts(await checkSmall(serveTickets, ['A3.4'], { callers })), ['A3.4 pass'])
    const [verdict = ''] = listVerdicts(await checkSmall(serveTickets, ['A3.4'], { callers: [bob] }))
    assert.match(verdict, /^A3\.4 fail: .*depend on the state/)
  })

  it('A3.4: a collection whose items are in one state does not hide the others', async () => {
    const others = { '/all': describeNotes().paths['/notes'], '/all/{id}': describeNotes().paths['/notes/{id}'] }
    const service: SmallService = asked => {
      if (asked.path === '/openapi.json') return { status: 200, json: describeNotes({ type: 'object' }, others) }
      const all = ticketsOf('ann') as readonly Json[]
      return { status: 200, json: asked.path === '/notes' ? all.slice(0, 1) : all }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A3.4'])), ['A3.4 pass'])
  })

  it('A5.2: callers with equal rights are refused nothing, which proves nothing', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      asked.fields['if-match'] === '"no-such-version"' ? { status: 412, json: {} } : notes(asked)
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A5.2'], { callers })), [
      'A5.2 not observable: a second caller with fewer rights: --caller',
    ])
  })

  it('A5.2: where no caller can change any item, the rule does not apply', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      /^\/notes\//.test(asked.path) && asked.method !== 'GET' ? { status: 405, json: {} } : notes(asked)
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A5.2'], { callers })), [
      'A5.2 not applicable: no item can be changed: DELETE, PUT and PATCH are answered 405',
    ])
  })

  for (const [title, schema] of [
    ['allOf', { allOf: [{ properties: { id: { type: 'string', readOnly: true } } }], properties: { title: { type: 'string' } } }], // biome-ignore format: one row
    ['oneOf', { oneOf: [{ properties: { id: {} } }, { properties: { title: { type: 'string' }, id: {} } }] }],
    ['additionalProperties', { properties: { id: {} }, additionalProperties: { type: 'string' } }],
  ] as const)
    it(`A2.1: members are declared by ${title}, too (JSON Schema 2020-12 §10.2)`, async () => {
      const service = createNotes({ document: describeNotes(schema as unknown as Json) })
      assert.deepEqual(listVerdicts(await checkSmall(service, ['A2.1'])), ['A2.1 pass'])
    })

  it('A2.1: a flag reveals no secret, and a link is not a member', async () => {
    const properties = { id: {}, hasPassword: { type: 'boolean' }, passwordChangedAt: { type: ['string', 'null'] } }
    const notes = createNotes({ document: describeNotes({ type: 'object', properties } as unknown as Json) })
    const note = { id: '1', hasPassword: true, passwordChangedAt: null, _links: { password: { href: '/notes/1' } } }
    const service: SmallService = asked => {
      if (asked.path === '/notes') return { status: 200, json: [note] }
      return asked.path === '/notes/1' ? { status: 200, json: note } : notes(asked)
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A2.1'])), ['A2.1 pass'])
  })

  it('A1.7, A2.3: a collection may grow while it is read', async () => {
    const notes = createNotes()
    let size = 0
    const service: SmallService = asked => {
      if (asked.path !== '/notes') return notes(asked)
      size++
      const items = Array.from({ length: Math.ceil(size / 2) }, (_, at) => ({ id: `${at + 1}` }))
      return { status: 200, json: { items, _links: { self: { href: '/notes' } } } }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A1.7', 'A2.3'])), ['A1.7 pass', 'A2.3 pass'])
  })

  it('A2.2: the target of a link may have been removed, and an action need not be readable', async () => {
    const others = { '/people/{id}': { get: {} }, '/closings': { post: {} } }
    const notes = createNotes({ document: describeNotes(undefined, others) as unknown as Json })
    const listed = ['1', '2'].map(id => ({
      id,
      _links: { self: { href: `/notes/${id}` }, author: { href: `/people/${id}` }, close: { href: '/closings' } },
    }))
    const service: SmallService = asked => {
      if (asked.path === '/notes') return { status: 200, json: listed }
      return { ...notes(asked), ...(asked.path === '/people/2' && { status: 200, json: { id: '2' } }) }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A2.2'])), ['A2.2 pass'])
    const losing: SmallService = asked => (asked.path === '/people/2' ? { status: 404, json: {} } : service(asked))
    assert.match(
      listVerdicts(await checkSmall(losing, ['A2.2'])).join(),
      /the link author of items leads to a resource/,
    )
  })

  it('A4.14: a search may find similar words', async () => {
    const parameters = [{ name: 'q', in: 'query' }]
    const document = describeNotes(undefined, { '/search': { get: { parameters, responses: {} } } } as never)
    const serveSearch =
      (isLooking: boolean): SmallService =>
      asked => {
        if (asked.path !== '/search') return createNotes({ document: document as unknown as Json })(asked)
        const word = isLooking ? (new URLSearchParams(asked.query).get('q') ?? '') : ''
        const near = (id: string): number =>
          [...`${word}${id}`].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 97, 7)
        const found = word === '' ? ['1', '2', '3', '4'] : ['1', '2', '3', '4'].toSorted((a, b) => near(b) - near(a))
        return { status: 200, json: found.map(id => ({ id })) }
      }
    assert.deepEqual(listVerdicts(await checkSmall(serveSearch(true), ['A4.14'])), ['A4.14 pass'])
    assert.match(listVerdicts(await checkSmall(serveSearch(false), ['A4.14'])).join(), /q selects results/)
  })

  it('A4.19: Expires may be 0, a tag weak for differing content, and a validator may change once', async () => {
    const notes = createNotes()
    let reads = 0
    const service: SmallService = asked => {
      const answer = notes(asked)
      if (!/^\/notes\/\d$/.test(asked.path) || asked.method !== 'GET') return answer
      reads++
      const etag = reads < 6 ? 'W/"one"' : 'W/"two"'
      if (asked.fields['if-none-match'] === etag) return { status: 304, fields: { etag } }
      const json = { ...(answer.json as { readonly [name: string]: Json }), shownAt: reads }
      return { status: 200, json, fields: { etag, expires: '0', 'cache-control': 'max-age=0, private' } }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A4.19'], { allowChanges: false })), [
      'A4.19 not applicable: no exchange of the run concerns it',
    ])
  })

  it('A9.1: a version may add a collection', async () => {
    const { '/notes': list, '/notes/{id}': one } = describeNotes().paths
    const paths = Object.fromEntries(
      ['/api/v1/notes', '/api/v2/albums', '/api/v2/notes'].flatMap(path => [
        [path, list],
        [`${path}/{id}`, one],
      ]),
    )
    const service: SmallService = ({ path }) => {
      if (path === '/openapi.json') return { status: 200, json: { ...describeNotes(), paths } }
      return { status: path in paths ? 200 : 404, json: [] }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A9.1'])), ['A9.1 pass'])
  })
})

describe('a run continues, and reads what is available', () => {
  const pathsOf = (document: ReturnType<typeof describeNotes>, move: (path: string) => string) => ({
    ...document,
    paths: Object.fromEntries(Object.entries(document.paths).map(([path, each]) => [move(path), each])),
  })
  const seeing = ['A4.1', 'A4.2', 'A4.4', 'A4.6', 'A7.18']
  const passes = seeing.map(id => `${id} pass`)

  it('a broken collection is a remark', async () => {
    const document = describeNotes(undefined, { '/broken': { get: {} }, '/broken/{id}': { get: {} } })
    const notes = createNotes({ document })
    const service: SmallService = asked => {
      if (asked.path === '/broken') throw new Unreachable('the connection was closed without a response')
      return notes(asked)
    }
    const report = await checkSmall(service, seeing)
    assert.deepEqual(listVerdicts(report), passes)
    assert.deepEqual(report.remarks, ['/broken was left out: the connection was closed without a response'])
  })

  for (const [title, schema] of [
    ['a reference that is not percent-encoded', { $ref: '#/components/schemas/%zz' }],
    ['a text of two milliards of characters', { required: ['title'], properties: { title: { type: 'string', minLength: 2 ** 31 } } }], // biome-ignore format: one row
  ] as const)
    it(`${title} of a description is accepted`, async () => {
      const document = describeNotes(schema as unknown as Json)
      for (const known of [['1'], []]) {
        const report = await checkSmall(createNotes({ document, known }), ['A4.1'])
        assert.deepEqual(listVerdicts(report), ['A4.1 pass'])
      }
    })

  it('a probe that throws does not change the verdict of another rule', async () => {
    const [one, two] = ['A4.1', 'A1.9'].map(id => checkRules.find(each => each.id === id)) as [CheckRule, CheckRule]
    const broken: CheckRule = {
      ...one,
      probe: () => {
        throw new RangeError('Invalid string length')
      },
    }
    const report = await checkSmall(createNotes(), [], { rules: [broken, two] })
    assert.deepEqual(listVerdicts(report), [
      'A4.1 not observable: a checker without this mistake, please report it: Invalid string length',
      'A1.9 pass',
    ])
  })

  it('an empty collection gets an item, which is removed in the end', async () => {
    const removed: string[] = []
    const notes = createNotes({ known: [] })
    const service: SmallService = asked => {
      if (asked.method === 'DELETE') removed.push(asked.path)
      return notes(asked)
    }
    const report = await checkSmall(service, seeing)
    assert.deepEqual(listVerdicts(report), passes)
    assert.ok(removed.includes('/notes/3'))
    assert.deepEqual([report.leftBehind, report.remarks], [[], []])
  })

  it('an empty collection that refuses the sample is a remark, and nothing is sent without permission', async () => {
    const notes = createNotes({ known: [] })
    const service: SmallService = asked => (asked.method === 'POST' ? { status: 422, json: {} } : notes(asked))
    const [remark] = (await checkSmall(service, seeing)).remarks
    assert.match(remark ?? '', /^\/notes is empty, and the run lacks an item: POST was answered 422; give `samples`/)
    assert.deepEqual((await checkSmall(service, seeing, { allowChanges: false })).remarks, [])
  })

  it('addresses may end in a slash', async () => {
    const document = pathsOf(describeNotes(), path => `${path}/`) as unknown as Json
    assert.deepEqual(listVerdicts(await checkSmall(createNotes({ document, end: '/' }), seeing)), passes)
  })

  it('an identifier may have any name that the description gives it', async () => {
    const document = pathsOf(describeNotes(), path => path.replace('{id}', '{noteId}')) as unknown as Json
    assert.deepEqual(listVerdicts(await checkSmall(createNotes({ document, member: 'noteId' }), seeing)), passes)
  })

  it('the description may stand at the base path, and its server have variables (OpenAPI 3.1 §4.8.6)', async () => {
    const servers = [
      { url: 'https://{host}/{at}', variables: { host: { default: 'x.example' }, at: { default: 'app' } } },
    ]
    const notes = createNotes({ document: { ...describeNotes(), servers } as unknown as Json })
    const service: SmallService = asked =>
      asked.path.startsWith('/app') ? notes({ ...asked, path: asked.path.slice(4) || '/' }) : { status: 404, json: {} }
    const report = await checkSmall(service, ['A4.1'], { basePath: '/app' })
    assert.deepEqual(listVerdicts(report), ['A4.1 pass'])
  })

  it('A1.4 the entry may link to a resource that a PUT creates; other dead links fail', async () => {
    const serve =
      (allow: string): SmallService =>
      ({ method, path }) => {
        if (path === '/') return { status: 200, json: { _links: { settings: { href: '/settings' } } } }
        return method === 'OPTIONS' ? { status: 204, fields: { allow } } : { status: 404, json: {} }
      }
    assert.deepEqual(listVerdicts(await checkSmall(serve('GET, HEAD, OPTIONS, PUT'), ['A1.4'])), ['A1.4 pass'])
    assert.deepEqual(listVerdicts(await checkSmall(serve('GET, HEAD, OPTIONS'), ['A1.4'])), [
      'A1.4 fail: the link to /settings leads to a resource',
    ])
  })

  it('a single item that can be edited is not a collection, though it holds a list', async () => {
    const serve =
      (links: Json): SmallService =>
      ({ path }) => {
        if (path === '/') return { status: 200, json: { _links: { settings: { href: '/settings' } } } }
        return { status: 200, json: { items: [{ id: 1 }], _links: links } }
      }
    const self = { href: '/settings' }
    assert.match(
      String(listVerdicts(await checkSmall(serve({ self, edit: self }), ['A2.3']))),
      /a collection: an OpenAPI/,
    )
    assert.deepEqual(listVerdicts(await checkSmall(serve({ self }), ['A2.3'])), ['A2.3 pass'])
  })

  it('a redirect of the address is followed and reported; one to another host is only reported (RFC 9110 §15.4)', async () => {
    const notes = createNotes()
    const serveAt =
      (location: string): SmallService =>
      asked => {
        if (asked.path === '/start') return { status: 200, json: { _links: { all: { href: '/notes' } } } }
        return asked.path === '/' ? { status: 302, fields: { location } } : notes(asked)
      }
    const followed = await checkSmall(serveAt('/start'), ['A1.4'])
    assert.deepEqual([listVerdicts(followed), followed.remarks], [['A1.4 pass'], ['/ leads to /start']])
    const { remarks } = await checkSmall(serveAt('https://elsewhere.example/'), ['A1.4'])
    assert.match(remarks.join(), /^\/ leads to https:\/\/elsewhere\.example\/, which is not of http:\/\/memory\.test/)
  })
})

describe('rules about things that a description lacks do not apply', () => {
  it('A3.1, A4.11, A4.12: no job, no search, no action', async () => {
    const report = await checkSmall(createNotes(), ['A3.1', 'A4.11', 'A4.12'])
    assert.deepEqual(listVerdicts(report), [
      'A3.1 not applicable: the description has no POST that starts a job',
      'A4.11 not applicable: the description has no POST below an item',
      'A4.12 not applicable: the description has no POST that makes a search',
    ])
  })

  it('A4.2: no collection in which items are created', async () => {
    const { paths, ...document } = describeNotes()
    const { post: _, ...reading } = paths['/notes']
    const service = createNotes({
      document: { ...document, paths: { ...paths, '/notes': reading } } as unknown as Json,
    })
    const [verdict] = listVerdicts(await checkSmall(service, ['A4.2']))
    assert.equal(verdict, 'A4.2 not applicable: no collection of the description has POST')
  })

  it('A3.1: where no caller may start a job, the verdict says what is missing', async () => {
    const others = { '/reports': { post: { responses: { 202: { description: 'started' } } } } }
    const notes = createNotes({ document: describeNotes(undefined, others) as unknown as Json })
    for (const [status, need] of [
      [403, 'a caller that may do it: --caller'],
      [422, '`samples` of the profile'],
    ] as const) {
      const report = await checkSmall(
        asked => (asked.path === '/reports' ? { status, json: {} } : notes(asked)),
        ['A3.1'],
      )
      assert.deepEqual(listVerdicts(report), [
        `A3.1 not observable: a POST that starts a job and succeeds: POST /reports was answered ${status}; give ${need}`,
      ])
    }
  })
})
