/**
 * Our client against servers that nobody here wrote, made from the WSDL of `client/samples.ts` by their own tools. Each keeps
 * to one small service: CreateSample answers what it was given; GetSample finds nothing (NotFound); TearSample fails with the
 * declared fault Torn, or crashes; a photo is kept and given back; NotifyFall is one-way. What a peer cannot carry stands
 * beside it with the reason.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  createSoapClient,
  FaultError,
  NotFound,
  type SoapClient,
  type SoapClientOptions,
} from '../../src/client/index.ts'
import { parseInstant } from '../../src/contract/lexical/temporal.ts'
import type { Service } from '../../src/contract/service.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { contract, Torn } from './client/samples.ts'
import { type Kind, type Losses, type Sample, sent } from './client/values.ts'
import { installed } from './installed.ts'
import { atEnd, folder, missing, run } from './peer.ts'

type Version = '1.1' | '1.2'

interface Asked {
  /** A folder of its own, with the WSDL as `samples.wsdl`. */
  readonly place: string
  readonly version: Version
  readonly port: number
}

interface Peer {
  readonly name: string
  /** Why the peer cannot run here; false when it can. */
  readonly skip: string | false
  /** The program that serves at this port. */
  readonly command: (asked: Asked) => readonly string[]
  /** What our client is told beside the version. */
  readonly cases: readonly (readonly [version: Version, options?: Options])[]
  readonly losses: Losses
  /** Kinds whose values come back in other words: what is the same then. */
  readonly same?: { readonly [K in Kind]?: (value: NonNullable<Sample[K]>) => unknown }
  /** What the faults of a sender say otherwise, in a version. */
  readonly odd?: {
    readonly [V in Version]?: { readonly code?: undefined; readonly status?: number; readonly unknown?: true }
  }
  /** Whether its WSDL says that it knows WS-Addressing and MTOM. */
  readonly addressed?: boolean
}
type Options = Pick<SoapClientOptions, 'addressing' | 'mtom'>

const here = join(import.meta.dirname, 'client')
const python = '/usr/bin/python3'
const zeros = (text: string): string => text.replace(/(\.\d*?)0+(?=$|\D)/, '$1').replace(/\.(?=$|\D)/, '')
const empty = { why: 'nothing is nil to it', values: (value: { readonly length: number }) => value.length === 0 }

const peers: readonly Peer[] = [
  {
    name: 'PHP',
    skip: missing('PHP with its soap extension', 'php', ['--ri', 'soap']),
    command: ({ port }) => ['php', '-S', `127.0.0.1:${port}`, join(here, 'php.php')],
    cases: [['1.1'], ['1.2', { addressing: true }]],
    losses: {
      unsignedLong: { why: 'its integers have 63 bits and a sign', values: value => value > 2n ** 63n - 1n },
      integer: { why: 'a float beyond its integers', values: value => value > 2n ** 63n - 1n },
      double: { why: 'it writes NAN', values: Number.isNaN },
    },
    odd: { '1.2': { code: undefined } }, // it puts the code of a named fault into the contract's namespace
  },
  {
    name: 'npm soap',
    skip: installed('npm-soap'),
    command: ({ place, version, port }) => [process.execPath, join(here, 'npm-soap.js'), join(place, 'samples.wsdl'), version, String(port)], // biome-ignore format: words
    cases: [['1.1'], ['1.2', { addressing: true }]],
    losses: {
      text: { why: 'it trims texts', values: value => value.trim() !== value },
      base64: { why: 'it writes what is empty as xsi:nil and does not declare xsi', values: empty.values },
      hex: { why: 'likewise', values: empty.values },
      names: { why: 'likewise', values: empty.values },
      parts: { why: 'likewise', values: empty.values },
    },
    odd: { '1.2': { unknown: true } }, // it puts the elements of Detail into the namespace of SOAP
  },
  {
    name: 'Spyne',
    skip: missing('Spyne', python, ['-c', 'import spyne']),
    command: ({ place, version, port }) => [python, join(here, 'spyne_samples.py'), join(place, 'samples.wsdl'), version, String(port)], // biome-ignore format: words
    cases: [['1.1'], ['1.2', { addressing: true }]],
    losses: {
      integer: { why: 'libxml2, which validates, knows integers of 24 digits', values: value => value > 10n ** 24n },
      double: { why: 'it writes inf and nan', values: value => !Number.isFinite(value) },
      base64: empty,
    },
    same: { time: zeros, duration: zeros, dateTime: parseInstant },
  },
  {
    name: 'gSOAP',
    skip: missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h soapcpp2 g++']),
    command: ({ place, version, port }) => [join(built(place, version), 'samples'), String(port)],
    cases: [['1.1'], ['1.1', { mtom: true, addressing: { demanded: true } }], ['1.2', { mtom: true, addressing: { demanded: true } }]], // biome-ignore format: rows
    losses: { dateTime: { why: 'a time_t has whole seconds', values: value => value.includes('.') } },
    same: { dateTime: parseInstant },
    odd: { '1.2': { status: 400 } }, // as the W3C's binding has it (SOAP 1.2 Part 2 Table 20)
    addressed: true,
  },
]

const builds = new Map<Version, string>()
/** Where gSOAP's server of a version is: made once, for it says its address nowhere. */
function built(place: string, version: Version): string {
  const standing = builds.get(version)
  if (standing !== undefined) return standing
  run(join(here, 'gsoap-build'), [place, version])
  builds.set(version, place)
  return place
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  await new Promise(resolve => server.close(resolve))
  return port
}

/** The peer, once it answers. */
async function served({ name, command, addressed }: Peer, version: Version) {
  const [place, port] = [folder(), await freePort()]
  const address = `http://127.0.0.1:${port}/soap/v1`
  const wsdl = join(place, 'samples.wsdl')
  const policy = addressed ? { addressing: true, mtom: true } : {}
  writeFileSync(wsdl, writeWsdl11(contract as unknown as Service, 'v1', { address, soap: version, policy }))
  const [program = '', ...words] = command({ place, version, port })
  const env = { ...process.env, WSDL: wsdl, SOAP: version }
  const child = spawn(program, words, { cwd: place, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', part => {
    said = (said + part).slice(-4000)
  })
  atEnd(() => void child.kill('SIGKILL'))
  for (let tries = 0; !(await accepts(port)); tries++) {
    assert.ok(tries < 200 && child.exitCode === null, `${name} does not serve: ${said}`)
    await pause(50)
  }
  return { address, place, said: () => said }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy().destroyed))
    socket.on('error', () => resolve(false))
  })

const octets = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)

function means(sample: Sample, same: NonNullable<Peer['same']> = {}): Record<string, unknown> {
  const by = same as Readonly<Record<string, ((value: unknown) => unknown) | undefined>> // each takes its kind's values
  return Object.fromEntries(Object.entries(sample).map(([kind, value]) => [kind, (by[kind] ?? octets)(value)]))
}

function peerCase(peer: Peer, version: Version, options: Options = {}): void {
  describe(`${peer.name}, SOAP ${version}, ${JSON.stringify(options)}`, { skip: peer.skip }, () => {
    const { code, status, unknown } = { code: 'Sender', status: 500, unknown: false, ...peer.odd?.[version] }
    let client: SoapClient<typeof contract>
    let server: Awaited<ReturnType<typeof served>>
    before(async () => {
      server = await served(peer, version)
      const { address } = server
      client = createSoapClient(contract, { address, soap: version, timeLimit: 10_000, ...options })
      atEnd(() => client.close())
    })
    const fault = async (call: Promise<unknown>): Promise<FaultError> => {
      const thrown = await call.then(
        () => assert.fail('it was answered'),
        why => why,
      )
      assert.ok(thrown instanceof FaultError, `${thrown} ${server.said()}`)
      return thrown
    }

    it('every value of every kind returns unchanged (rules B2.7, B4.2–B4.4)', async () => {
      for (const sample of sent(peer.losses)) {
        const { id, version, ...back } = (await client.CreateSample({ sample })).sample
        assert.deepEqual(means(back, peer.same), means(sample, peer.same))
        assert.deepEqual([id, version], ['s-1', '1'])
      }
    })
    it('a declared fault, with its detail (rules B2.9, B4.5, B7.4, B7.5)', async () => {
      const torn = await fault(client.TearSample({ id: 's-1', where: 'in < two' }))
      assert.deepEqual([torn.code, torn.reasons[0]?.text, torn.status], [code, 'torn', status])
      assert.equal(torn.is(Torn), !unknown, torn.message)
      if (torn.is(Torn)) assert.deepEqual(torn.detail, { where: 'in < two', pieces: 3, when: '2026-11-21' })
    })
    it('a fault that any service has', async () => {
      const none = await fault(client.GetSample({ id: 's-404' }))
      assert.match(none.message, /no s-404/)
      assert.equal(none.is(NotFound), !unknown, none.message)
    })
    it('a crash is a Receiver’s (rule B7.3)', async () => {
      const crash = await fault(client.TearSample({ id: 's-1', where: 'crash' }))
      assert.deepEqual([crash.code, crash.fault], ['Receiver', undefined])
      assert.match(crash.message, /crashed < here/)
    })
    it('octets (rule B4.12)', async () => {
      const photo = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256)
      assert.equal((await client.PutSamplePhoto({ id: 's-1', photo, mediaType: 'image/png' })).version, '100000')
      const got = await client.GetSamplePhoto({ id: 's-1' })
      assert.ok(Buffer.from(photo).equals(got.photo))
      assert.equal(got.mediaType, 'image/png')
    })
    it('a one-way message (rule B4.10)', async () => {
      assert.equal(await client.NotifyFall({ id: 's-7' }), undefined)
      const file = join(server.place, 'fallen')
      const fallen = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
      for (let tries = 0; tries < 50 && fallen() === ''; tries++) await pause(20)
      assert.equal(fallen(), 's-7')
    })
    it('many calls at once, each with its own response', async () => {
      const [sample] = sent(peer.losses)
      const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)
      const told = async (text: string) => (await client.CreateSample({ sample: { ...sample!, text } })).sample.text
      assert.deepEqual(await Promise.all(texts.map(told)), texts)
    })
  })
}

for (const peer of peers) for (const [version, options] of peer.cases) peerCase(peer, version, options)
