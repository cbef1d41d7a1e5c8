/** A resource of which there is exactly one: both faces, pages, descriptions, jobs, the feed. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createSoapClient, FaultError } from '../../src/client/index.ts'
import { VersionConflict } from '../../src/contract/fault.ts'
import { anyone, type Item, implement, type Provided, resource, service, t } from '../../src/index.ts'
import { checkService, startTestService } from '../../src/testing/index.ts'
import { createFetchTransport } from '../../src/testing/memory-fetch.ts'
import { server } from '../store/postgres.ts'
import { inn, innWith, Late } from './single-shop.ts'

type Fields = Readonly<Record<string, string>>
interface Answer {
  readonly status: number
  readonly fields: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a document as a test reads it
  readonly json: any
}

async function openInn(seeded?: Parameters<typeof innWith>[0], options: { database?: string } = {}) {
  const service = await startTestService(inn, innWith(seeded), options)
  const ask = async (who: string | undefined, method: string, path: string, fields: Fields = {}, content?: string) => {
    const response = await service.fetchAs(who)(service.address + path, {
      method,
      headers: fields,
      redirect: 'manual',
      ...(content !== undefined && { body: content }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      fields: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : {},
    } as Answer
  }
  return { service, ask, [Symbol.asyncDispose]: service.close }
}
const json = { 'content-type': 'application/json' }
const at = '/api/v2/settings'
const opens = (text: string): string => JSON.stringify({ opens: text })

type Step = readonly [
  who: string | undefined,
  method: string,
  path: string,
  status: number,
  given?: Fields,
  content?: string,
]
const journeys: Readonly<Record<string, readonly Step[]>> = {
  'A7.18 it is not there until PUT makes it, and is again after DELETE': [
    [undefined, 'GET', at, 404],
    ['clara', 'PATCH', at, 404, { ...json, 'content-type': 'application/merge-patch+json' }, '{}'],
    ['clara', 'DELETE', at, 404],
    ['clara', 'PUT', at, 201, json, opens('8')],
    [undefined, 'GET', at, 200],
    [undefined, 'HEAD', at, 200],
    ['clara', 'DELETE', at, 204, { 'if-match': '*' }],
    [undefined, 'GET', at, 404],
    ['clara', 'PUT', at, 201, json, opens('9')],
  ],
  'A4.4 a PUT of what is there is a replacement, with a precondition': [
    ['clara', 'PUT', at, 201, { ...json, 'if-none-match': '*' }, opens('8')],
    ['clara', 'PUT', at, 412, { ...json, 'if-none-match': '*' }, opens('9')],
    ['clara', 'PUT', at, 428, json, opens('9')],
    ['clara', 'PUT', at, 412, { ...json, 'if-match': '"1-1"' }, opens('9')],
    ['clara', 'PUT', at, 200, { ...json, 'if-match': '*' }, opens('9')],
    ['clara', 'PATCH', at, 200, { 'content-type': 'application/merge-patch+json', 'if-match': '*' }, '{"beds":5}'],
    ['clara', 'PUT', at, 422, { ...json, 'if-match': '*' }, '{}'],
    ['clara', 'PUT', at, 422, { ...json, 'if-match': '*' }, '{"opens":"9","id":"single"}'],
  ],
  'A4.20 If-Match does not hold of what is not there': [
    ['clara', 'PUT', at, 412, { ...json, 'if-match': '*' }, opens('8')],
  ],
  'A5.3 the policy is that of items': [
    [undefined, 'PUT', at, 401, json, opens('8')],
    ['gus', 'PUT', at, 403, json, opens('8')],
    ['clara', 'PUT', at, 201, json, opens('8')],
    ['gus', 'POST', `${at}/closing`, 403, json, '{}'],
  ],
  'A4.1 it has no list: no POST, no query, no address of an item': [
    ['clara', 'POST', at, 405, json, opens('8')],
    ['clara', 'QUERY', at, 405, json, '{}'],
    ['clara', 'GET', `${at}?page=1`, 400],
    ['clara', 'GET', `${at}?opens=8`, 400],
    ['clara', 'PUT', `${at}/single`, 404, json, opens('8')],
    ['clara', 'GET', `${at}/single`, 404],
  ],
  'A3.4 its actions, files and kept states are below it': [
    ['clara', 'PUT', at, 201, json, opens('8')],
    ['clara', 'GET', `${at}/total`, 200],
    ['clara', 'POST', `${at}/closing`, 409, json, '{"id":"late"}'],
    ['clara', 'POST', `${at}/closing`, 200, json, '{"id":"x"}'],
    ['clara', 'POST', `${at}/closing`, 409, json, '{}'],
    ['clara', 'GET', `${at}/total`, 404],
    ['clara', 'GET', `${at}/logo`, 404],
    ['clara', 'PUT', `${at}/logo`, 201, { 'content-type': 'image/png' }, 'png'],
    ['clara', 'GET', `${at}/logo`, 200],
  ],
  'what no client may make is not made by PUT': [
    ['clara', 'PUT', '/api/v2/tariff', 404, { ...json, expect: '100-continue' }, '{"night":1}'],
    ['clara', 'PUT', '/api/v2/tariff', 404, json, '{"night":1}'],
    ['clara', 'DELETE', '/api/v2/tariff', 405],
  ],
  'what may be made and never changed is made once': [
    ['clara', 'PUT', '/api/v2/charter', 403, json, '{"text":"a"}'],
    ['olga', 'PUT', '/api/v2/charter', 201, json, '{"text":"a"}'],
    ['olga', 'PUT', '/api/v2/charter', 409, json, '{"text":"b"}'],
    ['olga', 'PUT', '/api/v2/charter', 412, { ...json, 'if-none-match': '*' }, '{"text":"b"}'],
    ['olga', 'PATCH', '/api/v2/charter', 405, json, '{}'],
  ],
}
for (const [title, steps] of Object.entries(journeys))
  test(`REST: ${title}`, async () => {
    await using open = await openInn()
    for (const [i, [who, method, path, status, given, content]] of steps.entries()) {
      const answer = await open.ask(who, method, path, given, content)
      assert.equal(answer.status, status, `step ${i + 1}: ${method} ${path}: ${answer.text}`)
    }
    assert.deepEqual(open.service.incidents, [])
  })

test('REST: Allow, links, tags and Location name the one address', async () => {
  await using open = await openInn()
  const { ask } = open
  const asked = await ask(undefined, 'OPTIONS', at)
  assert.equal(asked.fields.get('allow'), 'GET, HEAD, OPTIONS, PUT, PATCH, DELETE')
  const made = await ask('clara', 'PUT', at, json, JSON.stringify({ opens: '8', host: 'h-1' }))
  assert.equal(made.fields.get('location'), at)
  const read = await ask('clara', 'GET', at)
  const { _links: links, ...fields } = read.json
  assert.deepEqual(fields, { opens: '8', beds: 3, host: 'h-1', label: '3 beds from 8', state: 'open' })
  assert.deepEqual(
    Object.fromEntries(Object.entries(links).map(([rel, link]) => [rel, (link as { href: string }).href])),
    {
      self: at,
      host: '/api/v2/hosts/h-1',
      logo: `${at}/logo`,
      edit: at,
      closing: `${at}/closing`,
      total: `${at}/total`,
      delete: at,
    },
  )
  assert.equal(read.fields.get('link'), `<${at}>; rel="edit"`)
  const etag = read.fields.get('etag') ?? ''
  assert.equal((await ask('clara', 'GET', at, { 'if-none-match': etag })).status, 304)
  assert.equal((await ask('clara', 'GET', `${at}?fields=beds`)).text.startsWith('{"beds":3,"_links"'), true)
  const entry = await ask(undefined, 'GET', '/api/v2')
  assert.equal(entry.json._links.settings.href, at)
  assert.deepEqual(
    Object.keys(entry.json._links).filter(rel => entry.json._links[rel].href === at),
    ['settings'],
  )
  assert.deepEqual(entry.json._links.host, { href: '/api/v2/hosts/{id}', templated: true })
})

test('REST: media types of an item, and a problem that names the links of the state', async () => {
  await using open = await openInn({ opens: '8' })
  const { ask } = open
  const xml = await ask(undefined, 'GET', at, { accept: 'application/xml' })
  assert.match(xml.text, /<settings [^>]*xmlns="urn:inn:v2"[^>]*>/)
  assert.doesNotMatch(xml.text, /<id>/)
  await ask('clara', 'POST', `${at}/closing`, json, '{}')
  const refused = await ask('clara', 'POST', `${at}/closing`, json, '{}')
  assert.deepEqual([refused.json.possible, refused.json._links], [['reopen'], { opening: { href: `${at}/opening` } }])
  assert.equal((await ask(undefined, 'GET', at, { accept: 'text/csv' })).status, 406)
})

test('a field is for some callers, and an older version has the others under its names', async () => {
  await using open = await openInn({ opens: '8', code: 'x1' })
  const { ask } = open
  assert.equal((await ask('clara', 'GET', at)).json.code, 'x1')
  assert.equal('code' in (await ask(undefined, 'GET', at)).json, false)
  const old = await ask('clara', 'GET', '/api/v1/settings')
  assert.deepEqual([old.json.from, 'note' in old.json], ['8', false])
  const put = await ask('clara', 'PUT', '/api/v1/settings', { ...json, 'if-match': '*' }, '{"from":"7"}')
  assert.equal(put.status, 200)
  assert.equal((await ask('clara', 'GET', at)).json.opens, '7')
})

for (const face of ['rest', 'soap'] as const)
  test(`a client by ${face}: made, read, replaced, acted on, removed, without an identifier`, async () => {
    await using open = await openInn()
    const { service } = open
    const client = service[face]('clara')
    await assert.rejects(client.settings.get(), FaultError)
    const made = await client.settings.create({ opens: '8' })
    assert.equal('id' in made, false)
    await assert.rejects(client.settings.create({ opens: '9' }), (thrown: unknown) => {
      assert.ok(thrown instanceof FaultError && thrown.is(VersionConflict))
      return true
    })
    assert.ok(made.state === 'open')
    const replaced = await client.settings.replace(made, { opens: '9' })
    await assert.rejects(client.settings.replace(made, { opens: '10' }), FaultError)
    assert.equal(replaced.label, '3 beds from 9')
    await client.settings.logo.put(replaced, new Uint8Array([1, 2]), { mediaType: 'image/png' })
    assert.deepEqual(await (await client.settings.logo.get(replaced)).bytes(), new Uint8Array([1, 2]))
    const now = await client.settings.get()
    assert.ok(now.state === 'open')
    await assert.rejects(
      client.settings.close(now, { id: 'late' }),
      (thrown: unknown) => thrown instanceof FaultError && thrown.is(Late) && thrown.detail.opens === '9',
    )
    assert.equal((await client.settings.close(now, { id: 'x' })).note, 'closed x')
    await client.settings.remove(await client.settings.get())
    await assert.rejects(client.settings.get(), FaultError)
    await client.settings.create({ opens: '1' })
    await service[face]('olga').charter.create({ text: 'a' })
    assert.deepEqual(await client.charter.get().then(({ text }) => text), 'a')
    assert.deepEqual(service.incidents, [])
  })

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`B2.6–B2.8 messages in the style ${style} name no identifier`, async () => {
    await using open = await openInn()
    const { service } = open
    const address = `${service.address}/soap/v2${style === 'document' ? '' : `/${style}`}`
    const transport = createFetchTransport(address, service.fetchAs('clara'))
    await using client = createSoapClient(inn, { address, transport, style })
    const { settings: made } = await client.CreateSettings({ settings: { opens: '8' } })
    const { version } = made
    const { settings: replaced } = await client.ReplaceSettings({ version, settings: { opens: '9' } })
    assert.deepEqual(replaced.opens, '9')
    await assert.rejects(client.ReplaceSettings({ version, settings: { opens: '9' } }), FaultError)
    assert.equal((await client.CloseSettings({ id: 'x' })).settings.note, 'closed x')
    await client.DeleteSettings({})
    await assert.rejects(client.GetSettings({}), FaultError)
    assert.equal((await client.ReplaceSettings({ settings: { opens: '7' } })).settings.opens, '7')
    assert.equal((await client.GetSettings({})).settings.opens, '7')
  })

test('an identifier makes no second one, in an address, in content or in a message', async () => {
  await using open = await openInn({ opens: '8' })
  const { ask } = open
  for (const id of ['single', '%73ingle', 'other', '..%2fsettings'])
    assert.equal((await ask('clara', 'PUT', `${at}/${id}`, json, opens('9'))).status, 404)
  for (const id of ['single', 'other'])
    assert.equal(
      (await ask('clara', 'PUT', at, { ...json, 'if-match': '*' }, `{"opens":"9","id":"${id}"}`)).status,
      422,
    )
  const write = (name: string, content: string): string =>
    `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><${name} xmlns="urn:inn:v2">${content}</${name}></e:Body></e:Envelope>`
  const soap = { 'content-type': 'application/soap+xml' }
  const draft = '<settings><opens>9</opens></settings>'
  for (const message of [
    write('GetSettings', '<id>single</id>'),
    write('ReplaceSettings', `<id>other</id>${draft}`),
    write('CreateSettings', `<id>other</id>${draft}`),
    write('CreateSettings', '<settings><id>other</id><opens>9</opens></settings>'),
    write('DeleteSettings', '<id>single</id>'),
  ]) {
    const answer = await ask('clara', 'POST', '/soap/v2', soap, message)
    assert.match(answer.text, /<\w+:Value>\w+:Sender</, message)
  }
  assert.equal((await ask(undefined, 'GET', at)).json.opens, '8')
  assert.deepEqual(open.service.incidents, [])
})

test('handlers and jobs name it without an identifier, and the feed only by its name', async () => {
  await using open = await openInn()
  const { service } = open
  const clara = service.rest('clara')
  assert.deepEqual(await clara.sweeps.run({}), { was: 'absent closed' })
  assert.deepEqual(await clara.sweeps.run({}), { was: 'swept closed' })
  const [first] = await service.events()
  assert.deepEqual([first?.type, first?.subject], ['inn.settings.created', 'settings'])
  assert.deepEqual(service.incidents, [])
})

test('a seed has its first content', async () => {
  await using open = await openInn({ opens: '6' })
  assert.equal((await open.service.soap().settings.get()).label, '3 beds from 6')
})

test('a provider keeps it, without a list and without an identifier', async () => {
  let row: Provided<Item<typeof house>> | undefined
  const house = resource('house', {
    single: true,
    fields: { street: t.string(), number: t.int().default(1) },
  }).rules({ allow: { read: [anyone], create: [anyone], change: [anyone], remove: [anyone] } })
  const town = service('town', { namespace: 'urn:town', resources: [house] })
  const keep = {
    load: () => row,
    save: (id: string, { street, number }: Item<typeof house>, expected: number | undefined) => {
      assert.equal(id, 'single')
      if (row?.version !== expected) return 'stale' as const
      row = { value: { street, number }, version: (expected ?? 0) + 1, modified: 0 }
      return expected === undefined ? row : row.version
    },
    remove: () => {
      row = undefined
      return true
    },
  }
  await using open = await startTestService(town, implement(town, { house: { keep } }))
  const [rest, soap] = [open.rest(), open.soap()]
  const made = await rest.house.create({ street: 'Long Lane' })
  assert.equal((await rest.house.replace(made, { street: 'Short Lane' })).number, 1)
  assert.equal((await soap.house.get()).street, 'Short Lane')
  assert.deepEqual(row?.value, { street: 'Short Lane', number: 1 })
  await rest.house.remove(await rest.house.get())
  await assert.rejects(soap.house.get(), FaultError)
  assert.deepEqual(open.incidents, [])
})

describe('of first PUTs at once one makes it', async () => {
  const running = await server()
  after(() => running.stop())
  const places = {
    SQLite: async () => ({}),
    [running.name]: async () => ({ database: (await running.place()).url ?? '' }),
  }
  for (const [name, place] of Object.entries(places))
    test(name, { skip: name !== 'SQLite' && running.url === undefined && 'PGlite has no address' }, async () => {
      await using open = await openInn(undefined, await place())
      const all = Array.from({ length: 8 }, (_, i) =>
        open.ask('clara', 'PUT', at, { ...json, 'if-none-match': '*' }, opens(String(i))),
      )
      const made = (await Promise.all(all)).map(({ status }) => status).sort()
      assert.deepEqual(made, [201, ...Array.from({ length: 7 }, () => 412)])
      const events = (await open.service.events()).filter(({ subject }) => subject === 'settings')
      assert.deepEqual(
        events.map(({ type }) => type),
        ['inn.settings.created'],
      )
      assert.deepEqual(open.service.incidents, [])
    })
})

describe('pages', () => {
  const html = { accept: 'text/html' }
  const form = {
    ...html,
    'content-type': 'application/x-www-form-urlencoded',
    origin: 'http://service.test',
    'sec-fetch-site': 'same-origin',
  }
  const actionOf = ({ text }: Answer, id: string): string =>
    (new RegExp(`<form id="${id}" method="post" action="([^"]+)"`).exec(text)?.[1] ?? '').replaceAll('&amp;', '&')

  test('the page that says that it does not exist has the form that makes it, for those who may', async () => {
    await using open = await openInn()
    const { ask } = open
    const absent = await ask('clara', 'GET', at, html)
    assert.equal(absent.status, 404)
    assert.equal(actionOf(await ask('gus', 'GET', at, html), 'create-put'), '')
    assert.equal(actionOf(await ask(undefined, 'GET', at, html), 'create-put'), '')
    const action = actionOf(absent, 'create-put')
    const wrong = await ask('clara', 'POST', action, form, 'opens=8&beds=-1')
    assert.equal(wrong.status, 422)
    const made = await ask('clara', 'POST', actionOf(wrong, 'create-put'), form, 'opens=8&beds=4')
    assert.deepEqual([made.status, made.fields.get('location')], [303, `${at}#done`])
    const page = await ask('clara', 'GET', at, html)
    assert.match(page.text, /<title>settings/i)
    assert.doesNotMatch(page.text, /single/)
    const edited = await ask('clara', 'POST', actionOf(page, 'edit-put'), form, 'opens=9&beds=4')
    assert.deepEqual([edited.status, edited.fields.get('location')], [303, `${at}#done`])
    const again = await ask('clara', 'GET', at, html)
    const removed = await ask('clara', 'POST', actionOf(again, 'delete-delete'), form, '')
    assert.deepEqual([removed.status, removed.fields.get('location')], [303, '/api/v2#done'])
  })

  test('the entry and the head of each page lead to it', async () => {
    await using open = await openInn({ opens: '8' })
    const entry = await open.ask(undefined, 'GET', '/api/v2', html)
    assert.match(entry.text, new RegExp(`<li class="card"><a href="${at}"`))
    assert.match((await open.ask(undefined, 'GET', at, html)).text, new RegExp(`href="${at}"[^>]*>Settings`))
  })
})

test('OpenAPI has its operations at one path, without an identifier', async () => {
  await using open = await openInn()
  const { paths, components } = (await open.ask(undefined, 'GET', '/openapi.json')).json
  const own = Object.keys(paths).filter(path => path.startsWith(at))
  assert.deepEqual(own, [at, `${at}/logo`, `${at}/closing`, `${at}/opening`, `${at}/total`])
  assert.deepEqual(Object.keys(paths[at]), ['get', 'put', 'patch', 'delete'])
  assert.equal(JSON.stringify(own.map(path => paths[path])).includes('parameters/id"'), false)
  assert.deepEqual(Object.keys(paths[at].put.responses).slice(0, 2), ['200', '201'])
  assert.ok(['404', '412', '428'].every(status => status in paths[at].put.responses))
  assert.equal('410' in paths[at].get.responses, false)
  assert.equal('id' in components.schemas['v2.Settings'].properties, false)
  assert.deepEqual(Object.keys(paths['/api/v2/charter']), ['get', 'put'])
  assert.ok('201' in paths['/api/v2/charter'].put.responses)
  assert.equal('201' in paths['/api/v2/tariff'].put.responses, false)
})

test('WSDL 1.1 and 2.0 have no list of it, and no identifier in its messages', async () => {
  await using open = await openInn()
  for (const query of ['wsdl', 'wsdl2']) {
    const { text } = await open.ask(undefined, 'GET', `/soap/v2?${query}`)
    const names = [
      ...new Set([...text.matchAll(/<(?:\w+:)?operation name="(\w*Settings\w*)"/g)].map(([, name]) => name)),
    ]
    assert.deepEqual(names, [
      'GetSettings',
      'CreateSettings',
      'ReplaceSettings',
      'DeleteSettings',
      'CloseSettings',
      'ReopenSettings',
      'CountSettings',
      'GetSettingsLogo',
      'PutSettingsLogo',
    ])
    const element = /<xs:element name="ReplaceSettings">.*?<\/xs:sequence>/s.exec(text)?.[0] ?? ''
    assert.deepEqual(
      [...element.matchAll(/<xs:element name="(\w+)"/g)].map(([, name]) => name),
      ['ReplaceSettings', 'version', 'settings'],
    )
  }
})

for (const [title, seeded] of [
  ['absent', undefined],
  ['seeded', { opens: '8' }],
] as const)
  test(`no rule of the conventions fails if it is ${title}`, async () => {
    const { verdicts, incidents } = await checkService(innWith(seeded))
    const failed = verdicts.filter(({ status }) => status === 'fail')
    assert.deepEqual(
      failed.map(({ rule, reason }) => `${rule.id}: ${reason}`),
      [],
    )
    assert.deepEqual(incidents, [])
  })
