/** What a sound service may do: no rule fails falsely, and the run sees as much as there is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
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

  it('A3.4: links may depend on the state for those alone who may act', async () => {
    assert.deepEqual(listVerdicts(await checkSmall(serveTickets, ['A3.4'], { callers })), ['A3.4 pass'])
    const [verdict = ''] = listVerdicts(await checkSmall(serveTickets, ['A3.4'], { callers: [bob] }))
    assert.match(verdict, /^A3\.4 fail: .*depend on the state/)
  })

  it('A3.4: a collection in one state hides none of the others', async () => {
    const others = { '/all': describeNotes().paths['/notes'], '/all/{id}': describeNotes().paths['/notes/{id}'] }
    const service: SmallService = asked => {
      if (asked.path === '/openapi.json') return { status: 200, json: describeNotes({ type: 'object' }, others) }
      const all = ticketsOf('ann') as readonly Json[]
      return { status: 200, json: asked.path === '/notes' ? all.slice(0, 1) : all }
    }
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A3.4'])), ['A3.4 pass'])
  })

  it('A5.2: callers of equal rights are refused nothing, which shows nothing', async () => {
    const notes = createNotes()
    const service: SmallService = asked =>
      asked.fields['if-match'] === '"no-such-version"' ? { status: 412, json: {} } : notes(asked)
    assert.deepEqual(listVerdicts(await checkSmall(service, ['A5.2'], { callers })), [
      'A5.2 not observable: a second caller with fewer rights: --caller',
    ])
  })

  it('A5.2: where no item can be changed by anybody, the rule says nothing', async () => {
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
