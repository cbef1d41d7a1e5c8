/**
 * Messages with attachments (WSDL 1.1 §5.11, WS-I Attachments Profile 1.0): clients of JAX-WS RI and
 * Apache CXF by a WSDL of others and by the one that is served; our client and a service of CXF.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createPortClient } from '../../src/client/port-client.ts'
import { readWsdl } from '../../src/import/index.ts'
import { judgeCalls, readCalls, serveOriginal } from './original-clients.ts'
import { atEnd, folder, missing, run } from './peer.ts'

const here = import.meta.dirname
const original = join(here, 'parts', 'album.wsdl')
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

const runProgram = promisify(execFile)
for (const { name, skip, build } of stacks)
  describe(name, { skip }, () => {
    for (const which of ['the original WSDL', 'the WSDL that is served'])
      test(`by ${which}: what is sent and read is what was read and sent`, async () => {
        const served = await serveOriginal(original)
        after(() => served.server.close(0))
        const place = folder()
        const own = join(place, 'served.wsdl')
        writeFileSync(own, await (await fetch(`${served.server.url}/soap/AlbumPort?wsdl`)).text())
        const path = build(place, which === 'the original WSDL' ? original : own)
        const { stdout } = await runProgram('java', [
          '-cp',
          path,
          'Original',
          'stubs.AlbumService',
          ...served.addresses,
        ])
        const calls = readCalls(stdout)
        assert.equal(calls.length, 1)
        assert.deepEqual(judgeCalls(calls, served), [])
      })
  })

test('our client asks a service of Apache CXF by its WSDL', { skip: noCxf }, async () => {
  const place = folder()
  const path = buildByCxf(place, original)
  run('javac', ['-nowarn', '-cp', path, '-d', place, join(here, 'parts', 'AlbumServer.java')])
  const child = spawn('java', ['-cp', path, 'AlbumServer', original], { stdio: ['pipe', 'pipe', 'ignore'] })
  atEnd(() => child.kill())
  const [said] = await once(child.stdout, 'data')
  using client = createPortClient(await readWsdl(original), { address: String(said).trim() })
  const picture = Uint8Array.from([...Array(256).keys(), 13, 10, 45, 45])
  const answer = await client['Keep']?.({ title: 'sea', picture, notes: 'blue ✓' })
  assert.deepEqual(answer, { kept: { number: 3 + 260 + 6 }, copy: picture })
})
