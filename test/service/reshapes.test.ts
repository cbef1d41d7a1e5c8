/**
 * A9.3, B9.3: a version has some fields in place of others, converted together, the same in both
 * faces; the store, the handlers and the policy know only the newest.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { viewOfVersion } from '../../src/contract/version-view.ts'
import { compareVersions } from '../../src/docs/change-page.ts'
import { implement, reshape, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const desk = role('desk')

const people = resource('people', {
  fields: {
    id: t.id('p'),
    title: t.string().optional(),
    given: t.string({ min: 1, max: 20 }),
    family: t.string({ min: 1, max: 20 }),
    address: t
      .object({ street: t.string(), city: t.string({ max: 10 }), floor: t.int().optional() }, 'Address')
      .optional(),
    net: t.int(),
    tax: t.int().readOnly(),
    gross: t.int().readOnly(),
    state: t.state(),
  },
  states: ['here', 'gone'],
  actions: on => ({ leave: on('here').to('gone', { rel: 'leaving' }) }),
}).rules({
  filter: ['family', 'net'],
  sort: ['family', 'net'],
  order: ['family', 'net'],
  unique: [['given', 'family']],
  search: ['family', 'title'],
  unserved: 'accept',
  allow: { read: [desk], create: [desk], change: [desk], leave: [desk] },
})
const letters = resource('letters', {
  fields: { id: t.id('l'), to: t.ref('people'), text: t.string() },
}).rules({ search: ['to.family', 'to.given', 'text'], allow: { read: [desk], create: [desk] } })

const registry = service('registry', {
  namespace: 'urn:test:registry',
  resources: [people, letters],
  versions: {
    v1: {
      without: { people: ['title'] },
      renames: { people: { pay: 'net' } },
      reshapes: {
        people: [
          reshape(
            people,
            ['given', 'family'],
            { name: t.string({ min: 3, max: 41, pattern: '[^ ]+ .+' }).describe('In full', { example: 'Ann Lee' }) },
            {
              up: ({ name }) => ({
                given: name.slice(0, name.indexOf(' ')),
                family: name.slice(name.indexOf(' ') + 1),
              }),
              down: ({ given, family }) => ({ name: `${given} ${family}` }),
            },
          ),
          reshape(
            people,
            ['address'],
            { street: t.string().optional(), city: t.string({ max: 12 }).default('Bonn') },
            {
              up: ({ street, city }, now) =>
                street === undefined ? {} : { address: { ...now?.address, street, city } },
              down: ({ address }) => (address ? { street: address.street, city: address.city } : { city: 'Bonn' }),
            },
          ),
          reshape(
            people,
            ['tax', 'gross'],
            { sum: t.string().readOnly() },
            {
              up: ({ sum }) => ({ tax: Number(sum.split('+')[1]), gross: 0 }),
              down: ({ tax, gross }) => ({ sum: `${gross - tax}+${tax}` }),
            },
          ),
        ],
      },
    },
    v2: {},
  },
})

const app = implement(
  registry,
  {
    people: {
      derive: (ctx, draft) => {
        if (draft.family === 'Nemo') ctx.invalid(['family'], 'is nobody')
        return { tax: draft.net / 5, gross: draft.net + draft.net / 5 }
      },
      leave: () => {},
    },
  },
  { seed: () => ({ people: [{ subject: 'dana', password: 'dana-secret', roles: ['desk'] }] }) },
)
const open = () => startTestService(registry, app, { now: '2026-03-02T08:00:00Z' })
const newest = {
  title: 'Dr',
  given: 'Ann',
  family: 'van Lee',
  net: 100,
  address: { street: 'Am Hof 1', city: 'Bonn', floor: 3 },
} as const
const draft = { name: 'Tom Ray', pay: 50, street: 'Ring 2', city: 'Köln' } as const
const v1 = { version: 'v1' } as const
const told = (thrown: unknown): string => String((thrown as { message: string }).message)

for (const face of ['rest', 'soap'] as const)
  describe(`a version with other groups of fields, by ${face}`, () => {
    test('A9.3 an item is read and written in the groups of the version', async () => {
      await using shop = await open()
      const [old, now] = [shop[face]('dana', v1), shop[face]('dana')]
      const { id } = await now.people.create(newest)
      const { name, street, city, pay, sum, state, ...rest } = await old.people.get(id)
      assert.deepEqual(
        [name, street, city, pay, sum, state],
        ['Ann van Lee', 'Am Hof 1', 'Bonn', 100, '100+20', 'here'],
      )
      for (const gone of ['given', 'family', 'address', 'tax', 'gross', 'title', 'net'])
        assert.ok(!(gone in rest), gone)
      const made = await now.people.get((await old.people.create(draft)).id)
      assert.deepEqual([made.given, made.family, made.address], ['Tom', 'Ray', { street: 'Ring 2', city: 'Köln' }])
      assert.equal((await old.people.create({ name: 'Eve Ray', pay: 50 })).city, 'Bonn')
    })

    test('A9.3 a group that repeats what the item holds keeps what the version cannot express', async () => {
      await using shop = await open()
      const [old, now] = [shop[face]('dana', v1), shop[face]('dana')]
      const { id } = await now.people.create(newest)
      const replace = async (more: { readonly name?: string; readonly city?: string }) => {
        const item = await old.people.get(id)
        const { name, street = '', city, pay } = item
        await old.people.replace(item, { name, street, city, pay, ...more })
        return now.people.get(id)
      }
      const same = await replace({ name: 'Eva Lee' })
      assert.deepEqual([same.given, same.family, same.title], ['Eva', 'Lee', 'Dr'])
      assert.deepEqual(same.address, newest.address)
      assert.deepEqual((await replace({ city: 'Ulm' })).address, { ...newest.address, city: 'Ulm' })
    })

    test('A9.3 problems are reported at a field of the version', async () => {
      await using shop = await open()
      const old = shop[face]('dana', v1)
      await old.people.create(draft)
      const cases: readonly (readonly [{ readonly name?: string; readonly city?: string }, RegExp, RegExp])[] = [
        [{ name: 'Captain Nemo' }, /name.*is nobody/s, /family/],
        [{ name: `Tom ${'y'.repeat(30)}` }, /name.*no equivalent in the newest version.*family/s, /given/],
        [{ name: 'Eve Ray', city: 'Königsberg X' }, /street.*no equivalent in the newest version/s, /given/],
        [{}, /name/, /given/],
      ]
      for (const [more, expected, hidden] of cases)
        await assert.rejects(old.people.create({ ...draft, ...more }), thrown => {
          assert.match(told(thrown), expected)
          return !hidden.test(told(thrown))
        })
    })

    test('A9.3 lists of the version neither filter nor sort by a group, but search its words', async () => {
      await using shop = await open()
      const [old, now] = [shop[face]('dana', v1), shop[face]('dana')]
      const { id } = await now.people.create(newest)
      await old.letters.create({ to: id, text: 'hello' })
      await old.people.create(draft)
      const namesOf = async (items: AsyncIterable<{ readonly name: string }>) =>
        (await Array.fromAsync(items)).map(each => each.name)
      assert.deepEqual(await namesOf(old.people.list({ where: { pay: 50 } })), ['Tom Ray'])
      assert.deepEqual(await namesOf(old.people.list({ sort: ['pay'] })), ['Tom Ray', 'Ann van Lee'])
      // @ts-expect-error a field of the newest version
      await assert.rejects(Array.fromAsync(old.people.list({ where: { family: 'Ray' } })))
      // @ts-expect-error a field that is converted with others
      await assert.rejects(Array.fromAsync(old.people.list({ sort: ['name'] })))
    })

    test('A9.3 the types of a client are those of its version', async () => {
      await using shop = await open()
      const old = shop[face]('dana', v1)
      const made = await old.people.create(draft)
      const read: { name: string; street?: string; city: string; sum: string } = made
      assert.equal(read.sum, '50+10')
      // @ts-expect-error the newest name of the field
      assert.equal(made.given, undefined)
      assert.ok(made.state === 'here')
      const left = await old.people.leave(made)
      assert.deepEqual([left.state, left.name], ['gone', 'Tom Ray'])
    })

    test('A9.3 down(up(x)) is x: a client of the version reads what it sent', async () => {
      const word = fc.string({ minLength: 1, maxLength: 9, unit: fc.constantFrom(...'abcxyz') })
      const values = fc.record({
        name: fc.tuple(word, word).map(([given, family]) => `${given} ${family}`),
        street: fc.option(word, { nil: undefined }),
      })
      await fc.assert(
        fc.asyncProperty(values, values, async (first, second) => {
          const sent = ({ name, street }: typeof first) => ({
            pay: 10,
            name,
            ...(street === undefined ? {} : { street, city: 'Ulm' }),
          })
          await using shop = await open()
          const old = shop[face]('dana', v1)
          const made = await old.people.create(sent(first))
          assert.deepEqual([made.name, made.street], [first.name, first.street])
          assert.ok(made.state === 'here')
          const { name, street } = await old.people.replace(made, sent(second))
          assert.deepEqual([name, street], [second.name, second.street])
        }),
        { numRuns: 20 },
      )
    })
  })

describe('a version with other groups of fields, as HTTP', () => {
  async function openHttp() {
    const shop = await open()
    const { id } = await shop.rest('dana').people.create(newest)
    const at = `/api/v1/people/${id}`
    const fetchAs = shop.fetchAs('dana')
    const ask = async (method: string, path: string, content?: unknown, fields: Record<string, string> = {}) => {
      const response = await fetchAs(`${shop.address}${path}`, {
        method,
        headers: { ...(content === undefined ? {} : { 'content-type': 'application/json' }), ...fields },
        ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      })
      const text = await response.text()
      return { status: response.status, tag: response.headers.get('etag') ?? '', text, json: JSON.parse(text) }
    }
    const change = async (method: string, content: unknown, type?: string) => {
      const { tag } = await ask('GET', at)
      return ask(method, at, content, { 'if-match': tag, ...(type === undefined ? {} : { 'content-type': type }) })
    }
    const read = async (path: string) => (await fetchAs(`${shop.address}${path}`)).text()
    return { ask, read, change, at, newest: `/api/v2/people/${id}`, [Symbol.asyncDispose]: shop.close }
  }

  test('RFC 7396, RFC 6902 a patch of one member of a group leaves the others as they are', async () => {
    await using http = await openHttp()
    const merged = await http.change('PATCH', { city: 'Ulm' }, 'application/merge-patch+json')
    assert.deepEqual([merged.status, merged.json.street, merged.json.city], [200, 'Am Hof 1', 'Ulm'])
    const patched = await http.change(
      'PATCH',
      [{ op: 'replace', path: '/name', value: 'Eva Lee' }],
      'application/json-patch+json',
    )
    assert.deepEqual([patched.status, patched.json.name], [200, 'Eva Lee'])
    const removed = await http.change('PATCH', { street: null }, 'application/merge-patch+json')
    assert.deepEqual([removed.status, removed.json.street, removed.json.city], [200, undefined, 'Bonn'])
    const { given, family, address, title } = (await http.ask('GET', http.newest)).json
    assert.deepEqual([given, family, address, title], ['Eva', 'Lee', undefined, 'Dr'])
  })

  test('A4.24 fields= takes the names of the version, and no other', async () => {
    await using http = await openHttp()
    assert.equal((await http.ask('GET', `${http.at}?fields=name`)).json.name, 'Ann van Lee')
    assert.equal((await http.ask('GET', `${http.at}?fields=family`)).status, 400)
    assert.equal((await http.ask('GET', `${http.newest}?fields=name`)).status, 400)
  })

  test('a filter or a sort by a group is refused by the names of either version', async () => {
    await using http = await openHttp()
    for (const query of ['name=Ann', 'family=Ray', 'sort=name', 'sort=family'])
      assert.equal((await http.ask('GET', `/api/v1/people?${query}`)).status, 400, query)
  })

  test('read-only members of a group are ignored if equal, and refused if different', async () => {
    await using http = await openHttp()
    const content = { name: 'Ann Lee', pay: 100, street: 'Am Hof 1', city: 'Bonn' }
    assert.equal((await http.change('PUT', { ...content, sum: '100+20' })).status, 200)
    const refused = await http.change('PUT', { ...content, sum: '1+1' })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /sum.*is read-only/)
  })

  test('a key of the newest version is reported by a name of this one', async () => {
    await using http = await openHttp()
    const refused = await http.ask('POST', '/api/v1/people', { name: 'Ann van Lee', pay: 10 })
    assert.equal(refused.status, 409)
    assert.match(refused.text, /name/)
    assert.doesNotMatch(refused.text, /given|family/)
  })

  test('B9.3 the descriptions of the version have only its groups', async () => {
    await using http = await openHttp()
    const wsdl = await http.read('/soap/v1?wsdl')
    assert.match(wsdl, /name="name"/)
    assert.doesNotMatch(wsdl, /name="(?:given|family|address|tax|gross)"/)
    const { paths, components } = (await http.ask('GET', '/openapi.json')).json
    const { properties } =
      components.schemas['v1.Person'] ??
      components.schemas[Object.keys(components.schemas).find(each => /v1.*[pP]e/.test(each)) ?? '']
    assert.deepEqual(Object.keys(properties).slice(0, 5), ['id', 'name', 'street', 'city', 'pay'])
    const sorted = JSON.stringify(paths['/api/v1/people'].get.parameters)
    assert.doesNotMatch(sorted, /family|address|name/)
    const searched = viewOfVersion(registry, 'v1').resources.map(each => each.given.search)
    assert.deepEqual(searched, [['name'], ['to.name', 'text']])
  })
})

test('A9.4 B9.2 from one version to the next, other groups are breaking changes', async () => {
  const [report] = await compareVersions(app)
  const texts = report?.differences.map(each => `${each.face} ${each.place} ${each.text}`).join('\n') ?? ''
  for (const face of ['rest', 'soap'])
    for (const name of ['name', 'given', 'street', 'address'])
      assert.match(texts, new RegExp(`^${face} .*${name}`, 'm'))
})
