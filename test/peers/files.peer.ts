/**
 * Files of 160 MB through `diglot bridge`, in a process of its own, before a service of Apache CXF
 * that has them by MTOM (docs/bridge.md, Files): what comes and goes, and how much memory that
 * takes. `MEBI=200` takes larger ones.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { atEnd, folder, missing, run } from './peer.ts'

const here = import.meta.dirname
const lib = join(here, 'cxf', 'lib')
const skip = missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${lib}/cxf-core-*.jar && test -f /proc/self/status`,
])
const mebi = 1024 ** 2
const mebioctets = Number(process.env['MEBI'] ?? 160)
/** Some 40 to 60 are the young generation of V8 and what was loaded; a file that is held takes 160. */
const grownMaxMebi = 100

/** The source is of JAX-WS 2; CXF 4 has its names below jakarta. */
async function startFiles(): Promise<string> {
  const place = folder()
  const source = readFileSync(join(here, 'parts', 'FileServer.java'), 'utf8')
  writeFileSync(
    join(place, 'FileServer.java'),
    source.replace(/javax\.(activation|jws|xml\.bind|xml\.ws)/g, 'jakarta.$1'),
  )
  const path = `${place}:${lib}/*`
  run('javac', ['-nowarn', '-proc:none', '-parameters', '-cp', path, '-d', place, join(place, 'FileServer.java')])
  const child = spawn('java', ['-Xmx128m', '-cp', path, 'FileServer'], { stdio: ['pipe', 'pipe', 'ignore'] })
  atEnd(() => child.kill())
  return String((await once(child.stdout, 'data'))[0]).trim()
}

interface BridgeProcess {
  readonly url: string
  /** Mebioctets that the process has taken at most, and takes now. */
  readonly memory: () => { readonly peak: number; readonly now: number }
}
async function startBridge(to: string): Promise<BridgeProcess> {
  const wsdl = join(folder(), 'files.wsdl')
  writeFileSync(wsdl, await (await fetch(`${to}?wsdl`)).text())
  const words = ['bridge', wsdl, '--to', to, '--anyone', '--mtom', '--port', '0']
  const cli = join(here, '..', '..', 'src', 'cli.ts')
  const child = spawn(process.execPath, [...process.execArgv, '--max-semi-space-size=16', cli, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(() => child.kill())
  const said = String((await once(child.stdout, 'data'))[0])
  const [url = ''] = /http:\/\/[\d.:]+/.exec(said) ?? []
  const memory = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
    return { peak: read('VmHWM'), now: read('VmRSS') }
  }
  return { url, memory }
}

const chunk = Buffer.alloc(mebi)
async function countAnswer(url: string, contentType: string, content: AsyncIterable<Uint8Array>) {
  const asked = request(url, { method: 'POST', headers: { 'content-type': contentType } })
  const answered = once(asked, 'response')
  for await (const piece of content) if (!asked.write(piece)) await once(asked, 'drain')
  asked.end()
  const [response] = await answered
  const start: Buffer[] = []
  let length = 0
  for await (const piece of response) {
    if (length < 100) start.push(piece.subarray(0, 100))
    length += piece.length
  }
  return { status: response.statusCode, length, text: Buffer.concat(start).toString() }
}
async function* listOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}
async function* formOf(count: number) {
  yield Buffer.from('--f\r\nContent-Disposition: form-data; name=octets\r\n\r\n')
  for (let left = count; left > 0; left--) yield chunk
  yield Buffer.from('\r\n--f--\r\n')
}

describe('files through the bridge, behind it Apache CXF', { skip }, () => {
  test(`files of ${mebioctets} MB pass in both directions in less than ${grownMaxMebi} MB more`, async () => {
    const { url, memory } = await startBridge(await startFiles())
    const at = `${url}/api/v1/FilePort`
    const idle = memory().now
    const got = await countAnswer(`${at}/fetch`, 'application/json', listOf(JSON.stringify({ mebi: mebioctets })))
    assert.equal(got.status, 200, got.text)
    assert.equal(got.length, '{"return":""}'.length + 4 * Math.ceil((mebioctets * mebi) / 3))
    const afterAnswer = memory().peak - idle
    const kept = await countAnswer(`${at}/keep`, 'multipart/form-data; boundary=f', formOf(mebioctets))
    assert.deepEqual(kept.text, `{"return":${mebioctets * mebi}}`)
    const afterBoth = memory().peak - idle
    assert.ok(
      afterBoth < grownMaxMebi,
      `${afterAnswer.toFixed(0)} MB more for an answer, ${afterBoth.toFixed(0)} for both`,
    )
  })
})
