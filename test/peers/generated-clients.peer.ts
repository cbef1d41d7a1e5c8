/**
 * Random contracts and clients that Apache CXF generates from their WSDL: each description is valid
 * by Xerces and CXF's validator, its classes compile, and what they read of a value and send is what
 * REST shows of the item.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { objectOf } from '../../src/base/objects.ts'
import { t } from '../../src/contract/field.ts'
import { membersWriter } from '../../src/contract/field-json.ts'
import { implement } from '../../src/contract/implement.ts'
import { parseJson } from '../../src/http/json.ts'
import { startTestService } from '../../src/testing/index.ts'
import { createFetchTransport } from '../../src/testing/memory-fetch.ts'
import { describeThings, randomFields } from '../service/random-things.ts'
import { rowOf } from '../soap/values.ts'
import { atEnd, folder, missing, run } from './peer.ts'

const here = join(import.meta.dirname, 'cxf')
const jars = join(here, 'lib')
const skip = missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${jars}/cxf-core-*.jar`,
])
/** Not `run`, since this process answers meanwhile. */
const runMeanwhile = async (program: string, words: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, words, { timeout: 240_000, maxBuffer: 64e6 })).stdout
const seeds = 16
const namespaces = ['https://test.example/types?of=things&for=partners', 'urn:test']
const valuesOfEach = 6

/** A contract, what is sent of its items, and where its client finds both. */
interface World {
  readonly place: string
  /** The content of each message, as JSON has it. */
  readonly sent: readonly string[]
  readonly ask: typeof fetch
}

/** Names that JAXB could take for one another, or for one of ours. */
const fragileFields = {
  version: t.string({ max: 9 }),
  one: t.object({ a_1: t.object({ part: t.int() }) }),
  other: t.object({ a1: t.object({ part: t.date() }) }).optional(),
  class: t.enum('a', 'a b', ''),
}

/** Undefined for a contract without valid values. */
async function startWorld(seed: number, place: string, address: string): Promise<World | undefined> {
  const fields = seed === 0 ? fragileFields : (fc.sample(randomFields, { numRuns: 1, seed })[0] ?? {})
  const values = rowOf(fields)
  if (!values || Object.keys(fields).length === 0) return undefined
  const contract = describeThings(fields, namespaces[seed % namespaces.length])
  const world = await startTestService(contract, implement(contract, {}, {}))
  atEnd(() => world.close())
  const ask = world.fetchAs()
  let message = ''
  const capture = (async (_url: string, { body }: RequestInit) => {
    message = Buffer.from(body as Uint8Array).toString()
    throw new Error('read, and not sent')
  }) as typeof fetch
  const transport = createFetchTransport(address, capture)
  const { things } = world.soap(undefined, { soap: '1.1', retries: 0, transport }) as unknown as {
    things: { create(value: object): Promise<unknown> }
  }
  const rows = fc.sample(values, { numRuns: valuesOfEach, seed })
  const messages: string[] = []
  for (const row of rows) {
    await things.create(row).catch(() => {})
    messages.push((/<soap:Body>([\s\S]*)<\/soap:Body>/.exec(message)?.[1] ?? '').replaceAll('\n', '&#10;'))
  }
  const wsdl = await (await ask(`${world.address}/soap/v1?wsdl=1.1`)).text()
  mkdirSync(place)
  writeFileSync(join(place, 'service.wsdl'), wsdl.replaceAll('http://service.test', address))
  writeFileSync(join(place, 'messages.txt'), messages.join('\n'))
  const write = membersWriter(fields)
  return { place, ask, sent: rows.map(row => `{${write(row)}}`) }
}

/** Answers each world below its number. */
async function listen(worlds: ReadonlyMap<string, World>): Promise<string> {
  const server = createServer(async (request, response) => {
    const [, number = '', ...path] = (request.url ?? '').split('/')
    const octets = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
    // wsa:To names the address of the client.
    const body = octets.toString().replaceAll(`http://${request.headers.host}/${number}/`, 'http://service.test/')
    const { 'content-type': type = '', soapaction = '' } = request.headers as Record<string, string>
    const sent = { method: request.method ?? '', headers: { 'content-type': type, soapaction }, body }
    const answer = await worlds.get(number)?.ask(`http://service.test/${path.join('/')}`, sent)
    response.writeHead(answer?.status ?? 404, { 'content-type': answer?.headers.get('content-type') ?? '' })
    response.end(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0)))
  })
  atEnd(() => void server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** With all digits of its numbers. Java writes UTC as Z. */
const readMembers = (json: string): Readonly<Record<string, unknown>> => {
  const told = json.replaceAll(/(\d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\d)[+-]00:00"/g, '$1Z"')
  return objectOf(parseJson(told).value)
}

describe('clients that wsdl2java makes of random contracts', { skip }, () => {
  const worlds = new Map<string, World>()
  const answers = new Map<string, string[]>()
  before(async () => {
    const all = folder()
    const address = await listen(worlds)
    for (let seed = 0; seed < seeds; seed++) {
      const world = await startWorld(seed, join(all, String(seed)), `${address}/${seed}`)
      if (world) worlds.set(String(seed), world)
    }
    const classes = folder()
    run('javac', ['-nowarn', '-proc:none', '-cp', `${jars}/*`, '-d', classes, join(here, 'GeneratedCalls.java')])
    const words = ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'GeneratedCalls']
    const said = await runMeanwhile('java', [...words, ...[...worlds.values()].map(({ place }) => place)])
    for (const line of said.split('\n').filter(Boolean)) {
      const [place = '', , answer = ''] = line.split('\t')
      answers.set(place, [...(answers.get(place) ?? []), answer])
    }
  })
  it('there are enough of them', () => {
    assert.ok(worlds.size > seeds / 2, String(worlds.size))
  })
  for (let seed = 0; seed < seeds; seed++)
    it(`B2.12 each value arrives as it is: contract ${seed}`, async context => {
      const world = worlds.get(String(seed))
      if (!world) return context.skip('no value is valid')
      const told = answers.get(world.place) ?? []
      assert.equal(told.length, world.sent.length, told.join())
      for (const [at, sent] of world.sent.entries()) {
        const id = told[at] ?? ''
        assert.doesNotMatch(id, /^!/, sent)
        const found = await world.ask(`http://service.test/api/things/${id}`, {
          headers: { accept: 'application/json' },
        })
        const { id: _id, _links, ...shown } = readMembers(await found.text())
        assert.deepEqual(shown, readMembers(sent))
      }
    })
})
