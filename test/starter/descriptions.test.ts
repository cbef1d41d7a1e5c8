/**
 * `diglot new --from` a description: a project that compiles, whose tests pass, whose operations
 * say that they are still to be written, and whose contract is imported again without losing edits.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createImportedProject } from '../../src/starter/descriptions/imported-project.ts'
import { checkout, linkPackages, runDiglot, runTests, runTypes, serveProject } from '../support/linked-project.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-described-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const read = (...path: readonly string[]): string => readFileSync(join(folder, ...path), 'utf8')
const write = (path: string, text: string): string => {
  writeFileSync(join(folder, path), text)
  return join(folder, path)
}
const json = { 'content-type': 'application/json' }
const ann = { ...json, authorization: `Basic ${btoa('ann:ann-secret')}` }

describe('diglot new --from a WSDL', () => {
  const project = join(folder, 'parcels')
  const booking = '{"parcel":[{"weight":"1.5"}],"doorOrLocker":{"locker":4},"reference":"17"}'
  before(() => {
    copyFileSync(join(checkout, 'examples', 'freight', 'carrier.wsdl'), join(folder, 'carrier.wsdl'))
    const made = runDiglot(['new', 'parcels', '--from', 'carrier.wsdl'], folder)
    assert.deepEqual([made.status, made.stderr], [0, ''])
    assert.match(made.stdout, /^contract\.ts\nservice\.ts\nservice\.test\.ts\n[\s\S]*next: cd parcels && npm install/)
    linkPackages(project)
  })

  test('its types hold, and its tests pass, except those that are marked todo for a handler', () => {
    const types = runTypes(project)
    assert.equal(types.status, 0, types.stdout)
    const tests = runTests(project)
    assert.equal(tests.status, 0, tests.stdout)
    assert.match(tests.stdout, /^# pass 1\n# fail 0\n[\s\S]*^# todo 4$/m)
    const told = tests.stdout.match(/is not implemented yet/g) ?? []
    assert.ok(told.length >= 4, 'each fails because its handler is to be written, and for nothing else')
  })

  test('both faces respond: the WSDL, a caller without credentials, invalid content, and missing handlers', async t => {
    const { url, stop } = await serveProject(project)
    t.after(stop)
    const wsdl = await (await fetch(`${url}/soap/FreightPort?wsdl`)).text()
    assert.match(wsdl, /targetNamespace="http:\/\/carrier\.example\/freight"/)
    const ask = async (headers: Record<string, string>, body: string) => {
      const answer = await fetch(`${url}/api/FreightPort/BookShipment`, { method: 'POST', headers, body })
      return { status: answer.status, text: await answer.text() }
    }
    assert.equal((await ask(json, booking)).status, 401)
    assert.equal((await ask(ann, '{}')).status, 422)
    const { status, text } = await ask(ann, booking)
    assert.deepEqual([status, JSON.parse(text).detail], [501, 'FreightPort.BookShipment is not implemented yet'])
    const readme = read('parcels', 'README.md')
    assert.match(readme, /curl -u ann:ann-secret http:\/\/127\.0\.0\.1:8080\/api\/FreightPort\/BookShipment/)
    assert.match(readme, /soap\/FreightPort\?wsdl/)
  })

  test('a written handler responds, and its tests pass without todo', () => {
    const service = read('parcels', 'service.ts')
    const written = service.replace(
      /BookShipment: \(\{ parcel, doorOrLocker, reference \}, ctx\) => ctx\.unimplemented\(\)/,
      `BookShipment: ({ parcel, reference }) => ({ number: reference, total: String(parcel.length) })`,
    )
    assert.notEqual(written, service)
    write('parcels/service.ts', written)
    const tests = read('parcels', 'service.test.ts')
    write('parcels/service.test.ts', tests.replaceAll(/(BookShipment by \w+'), todo/g, '$1'))
    const ran = runTests(project)
    assert.match(ran.stdout, /^# pass 3\n# fail 0\n[\s\S]*^# todo 2$/m, ran.stdout)
  })

  test('a second import keeps the callers, adds what is new, and the compiler names the missing handlers', () => {
    const wsdl = read('carrier.wsdl')
    const second = (part: string): string =>
      wsdl.match(/<wsdl:operation name="TrackShipment">[\s\S]*?<\/wsdl:operation>/g)?.[Number(part)] ?? ''
    const grown = [second('0'), second('1')].reduce(
      (text, operation) =>
        text.replace(
          operation,
          `${operation}${operation.replace('TrackShipment"', 'FollowShipment"').replace('/track', '/follow')}`,
        ),
      wsdl,
    )
    write('carrier.wsdl', grown)
    const { scripts } = JSON.parse(read('parcels', 'package.json'))
    assert.equal(scripts.import, 'diglot import "../carrier.wsdl" -o contract.ts')
    const again = runDiglot(['import', '../carrier.wsdl', '-o', 'contract.ts'], project)
    assert.equal(again.status, 0, again.stderr)
    const contract = read('parcels', 'contract.ts')
    assert.match(contract, /const callers: readonly Grant\[\] = \[role\('partner'\)\]/)
    assert.match(contract, /FollowShipment: exchange/)
    assert.match(runTypes(project).stdout, /Property 'FollowShipment' is missing/)
  })
})

/** [the WSDL, its handlers as a person writes them, the number of its tests that wait for those] */
const attaching: readonly (readonly [string, readonly (readonly [RegExp, string])[], number])[] = [
  ['album', [[/Keep: \(.*?\) => .*,/g, 'Keep: ({ picture }) => ({ kept: { number: picture.length }, copy: picture }),']], 2],
  [
    'cabinet',
    [
      [/File: \(.*?\) => .*,/g, 'File: ({ cover, page }) => ({ size: cover.length, copy: cover, page }),'],
      [/Stamp: \(.*?\) => .*,/g, 'Stamp: ({ picture }) => ({ stamped: picture, page: { number: 1, scan: picture } }),'],
    ],
    4,
  ],
] // biome-ignore format: a table
for (const [name, handlers, waiting] of attaching)
  test(`attachments: tests of both faces are ready for the handlers of ${name}.wsdl, and pass with them`, () => {
    copyFileSync(join(checkout, 'test', 'peers', 'parts', `${name}.wsdl`), join(folder, `${name}.wsdl`))
    const made = runDiglot(['new', name, '--from', `${name}.wsdl`], folder)
    assert.deepEqual([made.status, made.stderr], [0, ''])
    const project = join(folder, name)
    linkPackages(project)
    const types = runTypes(project)
    assert.equal(types.status, 0, types.stdout)
    const before = runTests(project)
    assert.match(before.stdout, new RegExp(`^# fail 0\\n[^]*^# todo ${waiting}$`, 'm'), before.stdout)
    assert.equal(before.stdout.match(/is not implemented yet/g)?.length, waiting, before.stdout)
    let service = read(name, 'service.ts')
    for (const [skeleton, written] of handlers) service = service.replaceAll(skeleton, written)
    assert.doesNotMatch(service, /ctx\.unimplemented\(\)$/m)
    write(`${name}/service.ts`, service)
    write(`${name}/service.test.ts`, read(name, 'service.test.ts').replaceAll(', todo, ', ', ').replace(/^const todo = .*$/m, ''))
    const ran = runTests(project)
    const described = waiting / 2
    assert.match(ran.stdout, new RegExp(`^# pass ${waiting + described}\\n# fail 0\\n[^]*^# todo 0$`, 'm'), ran.stdout)
  }) // biome-ignore format: a long line

test('WS-SecurityPolicy: a new project has the rule next to its port, and starts without the keys', () => {
  const policy = `<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy"
    xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702"><sp:SupportingTokens><wsp:Policy>
    <sp:UsernameToken/></wsp:Policy></sp:SupportingTokens></wsp:Policy>`
  const plain = readFileSync(join(checkout, 'examples', 'freight', 'carrier.wsdl'), 'utf8')
  write(
    'secured.wsdl',
    plain.replace(/<wsdl:binding [^>]*>/g, tag => tag + policy),
  )
  const made = runDiglot(['new', 'secured', '--from', 'secured.wsdl'], folder)
  assert.equal(made.status, 0, made.stderr)
  const contract = read('secured', 'contract.ts')
  assert.match(
    contract,
    /^\/\/ In place of undefined, once messageSecurity has the keys: \{ callers: \[\{ by: 'username'/m,
  )
  assert.match(contract, /^const \w+Security: SecurityRule \| undefined = undefined$/m)
  const again = runDiglot(['import', '../secured.wsdl', '-o', 'contract.ts'], join(folder, 'secured'))
  assert.equal(again.status, 0, again.stderr)
  assert.match(read('secured', 'contract.ts'), /Security: SecurityRule \| undefined = undefined$/m, 'the edit is kept')
})

describe('diglot new --from OpenAPI', () => {
  const document = {
    openapi: '3.1.0',
    info: {
      ...{
        title: 'Parking',
        version: '1',
        description: 'Where cars stand.',
        contact: { email: 'desk@parking.example' },
      },
      license: { name: 'MIT License', identifier: 'MIT' },
    },
    paths: {
      '/line-items': collection('Item'),
      '/line-items/{id}': item('Item'),
      '/zones': collection('Zone'),
      '/zones/{id}': item('Zone'),
      '/zones/{id}/permits': below('id', collection('Permit')),
      '/zones/{id}/permits/{permit}': below('id', below('permit', { get: { responses: { 200: answer('Permit') } } })),
      '/signs': {
        post: {
          operationId: 'putSign',
          requestBody: {
            content: { 'multipart/form-data': { schema: { type: 'object', properties: { at: { type: 'string' } } } } },
          },
          responses: { 204: { description: 'It.' } },
        },
      },
      '/zones/{id}/close': { post: { responses: { 200: answer('Zone') } } },
      '/tariff': {
        get: { responses: { 200: answer('Tariff') } },
        put: {
          requestBody: { content: answer('Tariff').content },
          responses: { 200: answer('Tariff'), 201: answer('Tariff') },
        },
      },
      '/weather': { get: { responses: { 200: { description: 'It.', content: { 'text/plain': {} } } } } },
    },
    components: {
      schemas: {
        Zone: {
          type: 'object',
          required: ['name'],
          properties: { id: { type: 'string', readOnly: true }, name: { type: 'string' } },
        },
        Permit: {
          ...{ type: 'object', required: ['plate'] },
          properties: { id: { type: 'string', readOnly: true }, plate: { type: 'string' } },
        },
        Tariff: { type: 'object', required: ['hourly'], properties: { hourly: { type: 'integer' } } },
        Item: {
          type: 'object',
          required: ['zoneId', 'spaces'],
          properties: {
            id: { type: 'string', readOnly: true },
            zoneId: { type: 'string' },
            spaces: { type: 'integer', format: 'int64' },
          },
        },
      },
    },
  }
  function answer(name: string) {
    return { description: 'It.', content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } }
  }
  function collection(name: string) {
    const list = { type: 'array', items: { $ref: `#/components/schemas/${name}` } }
    const { content } = answer(name)
    return {
      get: { responses: { 200: { description: 'All.', content: { 'application/json': { schema: list } } } } },
      post: { requestBody: { content }, responses: { 201: answer(name) } },
    }
  }
  function below(name: string, operations: object) {
    const { parameters = [] } = operations as { parameters?: readonly object[] }
    return {
      ...operations,
      parameters: [...parameters, { name, in: 'path', required: true, schema: { type: 'string' } }],
    }
  }
  function item(name: string) {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
    return { parameters, get: { responses: { 200: answer(name) } } }
  }
  const project = join(folder, 'parking')

  test('both faces store items at once; actions wait for their handlers; losses are reported', () => {
    write('parking.json', JSON.stringify(document))
    const made = runDiglot(['new', 'parking', '--from', 'parking.json'], folder)
    assert.equal(made.status, 0, made.stderr)
    assert.match(made.stderr, /^GET \/weather: /m)
    assert.match(made.stderr, /^POST \/signs: accepts its members as JSON or XML, .* and not as multipart\/form-data$/m)
    assert.match(
      read('parking', 'contract.ts'),
      /description: 'Where cars stand\.',\s+contact: \{ email: 'desk@parking\.example' \},\s+license: \{ name: 'MIT License', identifier: 'MIT' \}/,
    )
    linkPackages(project)
    const types = runTypes(project)
    assert.equal(types.status, 0, types.stdout)
    const tests = runTests(project)
    assert.equal(tests.status, 0, tests.stdout)
    assert.match(tests.stdout, /^ok \d+ - one of zones is created and read by soap$/m)
    assert.match(tests.stdout, /^ok \d+ - one of line-items is created and read by rest$/m)
    for (const face of ['rest', 'soap'])
      assert.match(tests.stdout, new RegExp(`^ok \\d+ - one of permits is created and read by ${face}$`, 'm'))
    for (const face of ['rest', 'soap'])
      assert.match(tests.stdout, new RegExp(`^ok \\d+ - tariff is created and read by ${face}$`, 'm'))
    assert.match(tests.stdout, /# TODO/)
    assert.match(
      read('parking', 'service.test.ts'),
      /lineItemMade = await api\['line-items'\]\.create\(\{ zoneId: zoneMade\.id, spaces: 1n \}\)/,
    )
    assert.match(
      read('parking', 'service.ts'),
      /doClose: \(ctx, item\) => ctx\.unimplemented\(\)|close: \(ctx, item\) => ctx\.unimplemented\(\)/,
    )
  })

  test('a description is fetched from an address whose host is named', async t => {
    const server = createServer((_, response) => response.end(JSON.stringify(document)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
    const from = `http://${host}/openapi.json`
    await assert.rejects(
      createImportedProject(join(folder, 'refused'), from, { documents: [], fetch: [] }),
      new RegExp(`name its host, --fetch ${host}`),
    )
    const { files } = await createImportedProject(join(folder, 'fetched'), from, { documents: [], fetch: [host] })
    assert.ok(files.includes('contract.ts'))
    const { scripts } = JSON.parse(read('fetched', 'package.json'))
    assert.equal(scripts.import, `diglot import "${from}" --fetch ${host} -o contract.ts`)
  })
})

const wsdlOf = (namespace: string, inside = ''): string =>
  `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="${namespace}">${inside}</definitions>`
const refusals: readonly (readonly [string, string, string, number, RegExp])[] = [
  ['XML that is not well-formed', 'torn.wsdl', '<definitions', 1, /^diglot: torn\.wsdl: .* \(octet \d+\)\n$/],
  [
    'a WSDL without a binding',
    'bare.wsdl',
    wsdlOf('urn:bare'),
    1,
    /^diglot: bare\.wsdl has no operation that can be served: give a WSDL with a binding/,
  ],
  ['JSON that is not OpenAPI', 'other.json', '{"a":1}', 1, /^diglot: other\.json [^\n]*OpenAPI[^\n]*\n$/],
  ['invalid YAML', 'torn.yaml', 'a: [', 1, /^diglot: torn\.yaml [^\n]+\n$/],
  [
    'OpenAPI without paths',
    'bare.json',
    '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{}}',
    1,
    /bare\.json has no operation/,
  ],
]
for (const [title, file, text, status, said] of refusals)
  test(`${title}: exit status ${status}, one line, and nothing is written`, () => {
    write(file, text)
    const ran = runDiglot(['new', 'never', '--from', file], folder)
    assert.equal(ran.status, status)
    assert.match(ran.stderr, said)
    assert.throws(() => read('never', 'contract.ts'), /ENOENT/)
  })

test('a missing file: exit status 2', () => {
  const ran = runDiglot(['new', 'never', '--from', 'lost.wsdl'], folder)
  assert.equal(ran.status, 2)
  assert.match(
    ran.stderr,
    /lost\.wsdl is not an example, and no file has this name: .* a WSDL or an OpenAPI document\n$/,
  )
})

test('a missing import of a WSDL is reported, with the option of this command', () => {
  const wsdl = read('carrier.wsdl').replace(
    '<wsdl:types>',
    '<wsdl:import namespace="urn:lost" location="lost.wsdl"/><wsdl:types>',
  )
  write('partial.wsdl', wsdl)
  const ran = runDiglot(['new', 'partial', '--from', 'partial.wsdl'], folder)
  assert.equal(ran.status, 0, ran.stderr)
  assert.match(ran.stderr, /lost\.wsdl is imported and was not found\n/)
  assert.match(ran.stderr, /name their folder with --documents, or their host with --fetch/)
})

test('a port keeps a relative namespace, and the contract starts with a namespace of its own', () => {
  write('relative.wsdl', read('carrier.wsdl').replaceAll('"http://carrier.example/freight"', '"some/freight"'))
  const made = runDiglot(['new', 'relative', '--from', 'relative.wsdl'], folder)
  assert.equal(made.status, 0, made.stderr)
  assert.match(read('relative', 'contract.ts'), /service\('freight', \{\n {2}namespace: 'urn:freight'/)
  assert.match(read('relative', 'contract.ts'), /port\('FreightPort', \{\n {2}namespace: 'some\/freight'/)
})
