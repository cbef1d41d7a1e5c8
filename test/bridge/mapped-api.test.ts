/** The map of a bridge before a REST service (docs/bridge.md, "The map of a REST service"). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type OpenApiMockServer, startOpenApiMock } from '../../src/mock/start-mock.ts'
import { folder, importMap, root, runBridge } from './map-command.ts'

const pets = join(root, 'test', 'mock', 'pets.yaml')
let mock: OpenApiMockServer
before(async () => {
  mock = await startOpenApiMock(pets)
})
after(() => mock.close())

/** As `diglot import --operations` writes it. */
const imported = importMap(pets, '--operations')
/** As a person edits it. */
const edited = imported
  .replace(/ {4}RemovePet: exchange\(\{[\s\S]*?\n {4}\}\),\n/, '')
  .replace('    CreatePet: exchange({', "    CreatePet: exchange({ allow: [role('clerk')],")

let maps = 0
async function runMap(
  text: string,
  more: { readonly document?: string; readonly to?: string; readonly words?: readonly string[] } = {},
) {
  const file = join(folder, `map-${++maps}.ts`)
  writeFileSync(file, text)
  writeFileSync(join(folder, 'secret'), 'Bearer x')
  const to = ['--to', more.to ?? `${mock.url}/v1`, '--authorization', join(folder, 'secret')]
  return await runBridge([more.document ?? pets, ...to, '--map', file, '--data', ':memory:', ...(more.words ?? [])])
}

async function call(url: string, name: string, inside: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'text/xml', soapaction: `"urn:pet-store/${name}"` },
    body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><${name} xmlns="urn:pet-store">${inside}</${name}></e:Body></e:Envelope>`,
  })
  return { status: response.status, text: await response.text() }
}

test('the operations that a map leaves are served, for those whom it names', async () => {
  const { said, url } = await runMap(edited)
  assert.match(url, /\/soap\/Operations$/, said)
  const listed = await call(url, 'ListPets', '<limit>1</limit>')
  assert.deepEqual([listed.status, /ListPetsResponse/.test(listed.text)], [200, true], listed.text)
  assert.match((await call(url, 'CreatePet', '<name>Rex</name>')).text, /credentials are missing/)
  const removed = await call(url, 'RemovePet', '<petId>1</petId>')
  assert.match(removed.text, /Client</)
  const wsdl = await (await fetch(`${url}?wsdl`)).text()
  assert.deepEqual([/"CreatePet"/.test(wsdl), /RemovePet/.test(wsdl)], [true, false])
})

test('an error that a map declares has its status there; an undeclared one is a refusal without a detail', async () => {
  const content = '{"code":1001,"message":"a pet has that name"}'
  const behind = http.createServer((_, response) => {
    response.writeHead(409, { 'content-type': 'application/json' }).end(content)
  })
  await new Promise<void>(resolve => void behind.listen(0, '127.0.0.1', resolve))
  after(() => void behind.close())
  const to = `http://127.0.0.1:${(behind.address() as AddressInfo).port}`
  const problemOf = async (text: string) => {
    const { said, url } = await runMap(text, { to })
    const response = await fetch(`${url.replace('/soap/', '/api/v1/')}/CreatePet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Rex"}',
    })
    const { type, fault, detail } = JSON.parse(await response.text())
    return { said, found: [response.status, type, fault, detail] }
  }
  const declared = await problemOf(
    imported.replace('faults: { Conflict },', 'faults: { Conflict }, statuses: { Conflict: 422 },'),
  )
  const fault = { code: 1001, message: 'a pet has that name' }
  assert.deepEqual(declared.found, [422, '/problems/Conflict', fault, fault.message], declared.said)
  const undeclared = await problemOf(imported.replace('      faults: { Conflict },\n', ''))
  assert.deepEqual(undeclared.found, [409, '/problems/Refused', undefined, fault.message], undeclared.said)
})

const mistakes: readonly (readonly [title: string, map: string, said: RegExp, more?: Parameters<typeof runMap>[1]])[] =
  [
    [
      'an operation that the document does not have',
      imported.replace('    RemovePet: exchange({', '    SellPet: exchange({'),
      /map-\d+\.ts: Operations\.SellPet is not an operation of .*pets\.yaml: remove it/,
    ],
    [
      'an error that the document does not have',
      imported.replace('faults: { Conflict', 'faults: { Gone: Conflict, Conflict'),
      /Operations\.CreatePet: .*pets\.yaml declares no error Gone: remove it from its faults/,
    ],
    [
      'another message than that of the document',
      imported.replace("'x-next': x.element(x.string).optional(),", "'x-next': x.element(x.int).optional(),"),
      /map-\d+\.ts: .*x-next.*pets\.yaml: its messages are those of the document/,
    ],
    [
      'a member more than the message of the document has',
      imported.replace(
        "'x-next': x.element(x.string).optional(),",
        "'x-next': x.element(x.string).optional(), more: x.element(x.string).optional(),",
      ),
      /map-\d+\.ts: .*more.*: its messages are those of the document/,
    ],
    [
      'header blocks',
      imported.replace(
        '      output: ListPetsResponse,',
        '      output: ListPetsResponse, requestHeaders: { Conflict },',
      ),
      /Operations\.ListPets has header blocks, which a REST service cannot receive: remove them/,
    ],
    [
      'another port',
      imported.replace("port('Operations'", "port('Others'"),
      /must have the port Operations and nothing else: write it with diglot import \S+ --operations -o /,
    ],
    ['resources', `${imported}\nexport const resources = []\n`, /exports resources, which only a SOAP service has/],
    ['--anyone', imported, /leave out --role and --anyone/, { words: ['--anyone'] }],
    [
      'a document that is not there',
      imported,
      /none\.yaml not found: a bridge to a REST service needs its description/,
      { document: 'none.yaml' },
    ],
  ]
for (const [title, map, told, more] of mistakes)
  test(`${title} ends the command`, async () => {
    const { said, url } = await runMap(map, more)
    assert.equal(url, '', said)
    assert.match(said, told)
  })
