/**
 * Messages with attachments (WSDL 1.1 §5.11, WS-I Attachments Profile 1.0), and those that refer to
 * them by `ref:swaRef` (§4.4): clients of JAX-WS RI and Apache CXF by a WSDL of others and by those
 * that are served; our client and services of CXF.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createPortClient } from '../../src/client/port-client.ts'
import { readWsdl } from '../../src/import/index.ts'
import { judgeCalls, type OriginalPorts, readCalls, serveOriginal } from './original-clients.ts'
import { atEnd, folder, missing, run } from './peer.ts'

// For virtual machines that live for seconds: 111 s of CPU, now 74.
process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

const here = import.meta.dirname
const [album, cabinet] = ['album', 'cabinet'].map(each => join(here, 'parts', `${each}.wsdl`)) as [string, string]
const noCxf = missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${join(here, 'cxf', 'lib')}/cxf-tools-wsdlto-core-*.jar`,
])
const buildByCxf = (place: string, wsdl: string) => run(join(here, 'cxf', 'build-original'), [place, wsdl]).trim()
const stacks = [
  {
    name: 'JAX-WS RI',
    skip: missing('libjaxws-java', 'sh', ['-c', 'command -v javac && test -f /usr/share/java/jaxws-tools.jar']),
    build: (place: string, wsdl: string) => run(join(here, 'java', 'build'), [place, 'original', wsdl]).trim(),
  },
  { name: 'Apache CXF', skip: noCxf, build: buildByCxf },
] as const

/**
 * CXF includes the part of an RPC call by XOP, where its type is `ref:swaRef`, too; in elements it
 * writes the Content-ID without its scheme.
 */
const isUnfit = (name: string, address: string) => name === 'Apache CXF' && address.startsWith('DrawerPort=')

const runProgram = promisify(execFile)
for (const { name, skip, build } of stacks)
  describe(name, { skip }, () => {
    for (const original of [album, cabinet])
      describe(basename(original), () => {
        test('by the original WSDL: values arrive as they were sent', async () => {
          const served = await serveOriginal(original)
          after(() => served.server.close(0))
          const addresses = served.addresses.filter(each => !isUnfit(name, each))
          const path = build(folder(), original)
          await judgeClient(path, original, { ...served, addresses })
          if (original !== cabinet) return
          const soap12 = addresses.filter(each => each.startsWith('CabinetPort=')).map(each => each.replace('=', '12='))
          await judgeClient(path, original, { ...served, addresses: soap12 })
        })
        test('by the WSDLs that we serve: values arrive as they were sent', async () => {
          const served = await serveOriginal(original)
          after(() => served.server.close(0))
          for (const address of served.addresses.filter(each => !isUnfit(name, each))) {
            const place = folder()
            const own = join(place, 'served.wsdl')
            const [, url = ''] = address.split('=')
            writeFileSync(own, await (await fetch(`${url}?wsdl`)).text())
            await judgeClient(build(place, own), own, { ...served, addresses: [address] })
          }
        })
      })
  })

/** The client of all ports of a document, as it was built, against those that are served. */
async function judgeClient(path: string, wsdl: string, served: OriginalPorts): Promise<void> {
  const [, name = ''] = /<(?:\w+:)?service name="(\w+)"/.exec(readFileSync(wsdl, 'utf8')) ?? []
  const { stdout } = await runProgram('java', ['-cp', path, 'Original', `stubs.${name}`, ...served.addresses])
  // The bindings of both versions are one port.
  const calls = readCalls(stdout).map(each => ({ ...each, operation: each.operation.replace('Port12 ', 'Port ') }))
  assert.equal(calls.length, served.addresses.length)
  assert.deepEqual(judgeCalls(calls, served), [])
}

/** A service of CXF at its address, until the tests end. */
async function startCxf(server: string, wsdl: string): Promise<string> {
  const place = folder()
  const path = buildByCxf(place, wsdl)
  run('javac', ['-nowarn', '-cp', path, '-d', place, join(here, 'parts', `${server}.java`)])
  const child = spawn('java', ['-cp', path, server, wsdl], { stdio: ['pipe', 'pipe', 'ignore'] })
  atEnd(() => child.kill())
  const [said] = await once(child.stdout, 'data')
  return String(said).trim()
}
const octets = Uint8Array.from([...Array(256).keys(), 13, 10, 45, 45])
test('our client calls a service of Apache CXF by its WSDL', { skip: noCxf }, async () => {
  using client = createPortClient(await readWsdl(album), { address: await startCxf('AlbumServer', album) })
  const answer = await client['Keep']?.({ title: 'sea', picture: octets, notes: 'blue ✓' })
  assert.deepEqual(answer, { kept: { number: 3 + 260 + 6 }, copy: octets })
})
test('our client refers to attachments, as does a service of Apache CXF', { skip: noCxf }, async () => {
  const { ports } = await readWsdl(cabinet)
  const described = { ports: ports.filter(each => each.port === 'CabinetPort') }
  using client = createPortClient(described, { address: await startCxf('CabinetServer', cabinet) })
  const page = [{ number: 1, scan: octets }, { number: 2, scan: Uint8Array.of(7) }]
  const answer = await client['File']?.({ title: 'sea', cover: octets, page, inline: Uint8Array.of(1, 2) })
  assert.deepEqual(answer, { size: 260 + 2 + 260 + 2, copy: octets, page })
}) // biome-ignore format: a long line
