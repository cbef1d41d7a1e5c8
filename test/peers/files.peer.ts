/**
 * Files of 160 MB through `diglot bridge`, in a process of its own, before services of Apache CXF
 * and Metro that have them by MTOM (docs/bridge.md, Files): what comes and goes by REST and by
 * SOAP, and how much memory that takes. `MEBI=200` takes larger ones.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { atEnd, folder, missing, run } from './peer.ts'

const here = import.meta.dirname
const cxf = join(here, 'cxf', 'lib')
const metro = join(here, 'metro', 'lib')
const skip = missing('Apache CXF and Metro (mvn -f test/peers/cxf and metro dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${cxf}/cxf-core-*.jar ${metro}/webservices-rt-*.jar && test -f /proc/self/status`,
])
const mebi = 1024 ** 2
const mebioctets = Number(process.env['MEBI'] ?? 160)
/** Some 40 to 60 are the young generation of V8 and what was loaded; a file that is held takes 160. */
const grownMaxMebi = 100

/** A stack of Java, and where its libraries are. */
interface Stack {
  readonly name: string
  readonly lib: string
}
const stacks = { cxf: { name: 'Apache CXF', lib: cxf }, metro: { name: 'Metro', lib: metro } } satisfies Record<
  string,
  Stack
>

/** Their sources are of JAX-WS 2; these stacks have its names below jakarta. */
function compile(): string {
  const place = folder()
  const files = ['FileServer.java', 'FileClient.java'].map(name => {
    const source = readFileSync(join(here, 'parts', name), 'utf8')
    writeFileSync(join(place, name), source.replace(/javax\.(activation|jws|xml\.bind|xml\.ws)/g, 'jakarta.$1'))
    return join(place, name)
  })
  run('javac', ['-nowarn', '-proc:none', '-parameters', '-cp', `${cxf}/*`, '-d', place, ...files])
  return place
}

async function startFiles(classes: string, { lib }: Stack, ...words: readonly string[]): Promise<string> {
  const child = spawn('java', ['-Xmx128m', '-cp', `${classes}:${lib}/*`, 'FileServer', ...words], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  atEnd(() => child.kill())
  return String((await once(child.stdout, 'data'))[0]).trim()
}

/** What a client of a stack says of files that it sends and asks for, by the WSDL of the bridge. */
async function runClient(classes: string, { lib }: Stack, bridge: string): Promise<string> {
  const wsdl = `${bridge}/soap/FilePort?wsdl`
  const text = await (await fetch(wsdl)).text()
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
  const names = [/targetNamespace="([^"]+)"/, /service name="([^"]+)"/, /port name="([^"]+)"/].map(find)
  const words = ['-Xmx128m', '-cp', `${classes}:${lib}/*`, 'FileClient', wsdl, ...names, String(mebioctets)]
  const { stdout } = await promisify(execFile)('java', words)
  return stdout.trim()
}

interface BridgeProcess {
  readonly url: string
  /** Mebioctets that the process has taken at most, and takes now. */
  readonly memory: () => { readonly peak: number; readonly now: number }
}
async function startBridge(to: string): Promise<BridgeProcess> {
  const words = ['bridge', `${to}?wsdl`, '--fetch', new URL(to).host, '--to', to, '--anyone', '--mtom', '--port', '0']
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
async function* formOf(count: number, message: string, ...names: readonly string[]) {
  yield Buffer.from(
    `--f\r\nContent-Disposition: form-data; name=m\r\nContent-Type: application/json\r\n\r\n${message}\r\n`,
  )
  for (const name of names) {
    yield Buffer.from(`--f\r\nContent-Disposition: form-data; name=${name}\r\n\r\n`)
    for (let left = count; left > 0; left--) yield chunk
    yield Buffer.from('\r\n')
  }
  yield Buffer.from('--f--\r\n')
}

describe('files through the bridge', { skip }, () => {
  let classes = ''
  before(() => {
    classes = compile()
  })

  test(`by REST, behind it Apache CXF: files of ${mebioctets} MB take less than ${grownMaxMebi} MB more`, async () => {
    const { url, memory } = await startBridge(await startFiles(classes, stacks.cxf))
    const at = `${url}/api/v1/FilePort`
    const idle = memory().now
    const got = await countAnswer(`${at}/fetch`, 'application/json', listOf(JSON.stringify({ mebi: mebioctets })))
    assert.equal(got.status, 200, got.text)
    assert.equal(got.length, '{"return":""}'.length + 4 * Math.ceil((mebioctets * mebi) / 3))
    const afterAnswer = memory().peak - idle
    const kept = await countAnswer(`${at}/keep`, 'multipart/form-data; boundary=f', formOf(mebioctets, '{}', 'octets'))
    assert.deepEqual(kept.text, `{"return":${mebioctets * mebi}}`)
    const afterBoth = memory().peak - idle
    assert.ok(
      afterBoth < grownMaxMebi,
      `${afterAnswer.toFixed(0)} MB more for an answer, ${afterBoth.toFixed(0)} for both`,
    )
  })

  for (const stack of [stacks.cxf, stacks.metro])
    test(`by REST, behind it ${stack.name}: two files in one form, in either order, take no more`, async t => {
      const { url, memory } = await startBridge(await startFiles(classes, stack))
      const idle = memory().now
      const all = mebioctets * mebi
      for (const names of [
        ['first', 'second'],
        ['second', 'first'],
      ]) {
        const content = formOf(mebioctets, '{"first":"","second":""}', ...names)
        const { text } = await countAnswer(
          `${url}/api/v1/FilePort/keepBoth`,
          'multipart/form-data; boundary=f',
          content,
        )
        assert.equal(text, `{"return":"${all} ${all}"}`)
      }
      const grown = memory().peak - idle
      t.diagnostic(`${grown.toFixed(0)} MB more`)
      assert.ok(grown < grownMaxMebi, `${grown.toFixed(0)} MB more`)
    })

  const pairs: readonly (readonly [client: Stack, behind: Stack, ...words: string[]])[] = [
    [stacks.cxf, stacks.cxf],
    [stacks.metro, stacks.cxf],
    [stacks.cxf, stacks.metro],
    [stacks.metro, stacks.metro],
    [stacks.cxf, stacks.cxf, 'SOAP 1.2'],
    [stacks.metro, stacks.cxf, 'SOAP 1.2'],
  ]
  for (const [client, behind, ...words] of pairs)
    test(`by SOAP, a client of ${client.name}, behind it ${behind.name} ${words.join()}: the same`, async t => {
      const { url, memory } = await startBridge(await startFiles(classes, behind, ...words))
      const idle = memory().now
      const said = await runClient(classes, client, url)
      const all = mebioctets * mebi
      assert.equal(said, `kept ${all}\nboth ${all} ${mebi}\nfetched ${all}`)
      const grown = memory().peak - idle
      t.diagnostic(`${grown.toFixed(0)} MB more`)
      assert.ok(grown < grownMaxMebi, `${grown.toFixed(0)} MB more`)
    })
})
