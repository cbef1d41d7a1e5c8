/**
 * Fifty megabytes through real sockets, both ways: the octets are the same, and the server holds
 * them neither for a fast sender nor for a slow reader.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { app } from './file-service-process.ts'

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'large-'))
after(() => rmSync(folder, { recursive: true }))

const megabyte = 2 ** 20
const size = 50 * megabyte
const path = '/api/v1/papers/p-1/scan'
const type = { 'content-type': 'application/pdf' }

/** No two of its megabytes are alike. */
function* octets(): Generator<Buffer> {
  for (let at = 0; at < size; at += megabyte) yield Buffer.alloc(megabyte, `${at} of a message that comes in pieces. `)
}
const digest = (() => {
  const hash = createHash('sha256')
  for (const each of octets()) hash.update(each)
  return hash.digest('hex')
})()

const base64Digest = createHash('sha256')
  .update(Buffer.concat([...octets()]).toString('base64'))
  .digest('hex')

/** A self-signed certificate and its key, as paths; undefined without openssl. */
function certificate(): readonly [string, string] | undefined {
  const [key, made] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const options = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' ')
  try {
    execFileSync('openssl', [...options, '-keyout', key, '-out', made], { stdio: 'ignore' })
    return [key, made]
  } catch {
    return undefined
  }
}

interface FileService {
  readonly port: number
  /** The file of its database. */
  readonly data: string
  readonly child: ChildProcess
}
let count = 0
async function startFileService(words: readonly string[] = []): Promise<FileService> {
  const program = join(import.meta.dirname, 'file-service-process.ts')
  const data = join(folder, `papers-${++count}.sqlite`)
  const child = spawn(process.execPath, ['--conditions=diglot-source', program, data, ...words], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  after(() => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  return { port, data, child }
}

/** A PUT whose sender has reached its twentieth piece. */
async function beginPut({ port }: FileService): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/pdf\r\nContent-Length: ${size}\r\n\r\n`,
  )
  for (const each of [...octets()].slice(0, 20)) if (!socket.write(each)) await once(socket, 'drain')
  return socket
}

const measurable = existsSync('/proc/self/clear_refs')
const kilobytes = ({ child: { pid } }: FileService, name: string): number =>
  Number(new RegExp(`${name}:\\s+([0-9]+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/**
 * In megabytes. Only the garbage collector frees the buffers of Node's TLS, at a time of its own.
 */
const [mostPlain, mostSecure] = [40, 64]

/**
 * The peak of memory during `work` above that before, the least of three tries: the collector runs
 * at times of its own.
 */
async function requireMemory(
  service: FileService,
  what: string,
  work: () => Promise<void>,
  max = mostPlain,
): Promise<void> {
  if (!measurable) return work()
  const all: number[] = []
  do {
    const before = kilobytes(service, 'VmRSS')
    writeFileSync(`/proc/${service.child.pid}/clear_refs`, '5') // proc(5): resets the peak
    await work()
    all.push(Math.round((kilobytes(service, 'VmHWM') - before) / 1024))
  } while (Math.min(...all) >= max && all.length < 3)
  assert.ok(Math.min(...all) < max, `${what} took ${all.join(', ')} MB`)
}

interface Stream extends AsyncIterable<Buffer> {
  readonly status: number
}
/** Sends a request and reads its response. Undefined content: a GET. */
type Way = (service: FileService, content: Iterable<Buffer> | undefined) => Promise<Stream>

const overHttp =
  (library: typeof http | typeof https, fields: Record<string, string>): Way =>
  async ({ port }, content) => {
    const method = content ? 'PUT' : 'GET'
    const options = { port, path, method, headers: content ? { ...type, ...fields } : {}, rejectUnauthorized: false }
    const request = library.request(options)
    const answer = once(request, 'response') as Promise<[http.IncomingMessage]>
    for (const each of content ?? []) if (!request.write(each)) await once(request, 'drain')
    request.end()
    const [response] = await answer
    return Object.assign(response, { status: response.statusCode ?? 0 })
  }

const overHttp2 =
  (scheme: 'http' | 'https'): Way =>
  async ({ port }, content) => {
    const session = http2.connect(`${scheme}://localhost:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':path': path, ':method': content ? 'PUT' : 'GET', ...(content && type) })
    const answer = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders & { ':status'?: number }]>
    for (const each of content ?? []) if (!stream.write(each)) await once(stream, 'drain')
    stream.end()
    const [fields] = await answer
    stream.on('close', () => session.close())
    return Object.assign(stream, { status: fields[':status'] ?? 0 })
  }

const envelope = (body: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${body}</e:Body></e:Envelope>`
const getScan = '<GetPaperScan xmlns="urn:papers:v1"><id>p-1</id></GetPaperScan>'
const putScan = `<PutPaperScan xmlns="urn:papers:v1"><id>p-1</id><scan><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:scan"/></scan><mediaType>application/pdf</mediaType></PutPaperScan>`
const packed = 'multipart/related; type="application/xop+xml"; start-info="text/xml"; boundary=B'
function* writePackage(): Generator<Buffer> {
  yield Buffer.from(`--B\r\nContent-Type: application/xop+xml; type="text/xml"\r\n\r\n${envelope(putScan)}\r\n`)
  yield Buffer.from('--B\r\nContent-Type: application/pdf\r\nContent-ID: <scan>\r\n\r\n')
  yield* octets()
  yield Buffer.from('\r\n--B--\r\n')
}

/** A digest of the octets after this text, as they arrive. */
function digestAfter(words: string) {
  const hash = createHash('sha256')
  let before = Buffer.alloc(0)
  let found = false
  const kept: Buffer[] = []
  return {
    take: (octets: Buffer) => {
      if (found) return void kept.push(octets)
      before = Buffer.concat([before, octets])
      const at = before.indexOf(words)
      if (at < 0) return
      found = true
      kept.push(before.subarray(at + words.length))
    },
    digest: (length: number) => hash.update(Buffer.concat(kept).subarray(0, length)).digest('hex'),
  }
}

const pem = certificate()
const secure = pem ? false : 'skipped: no openssl here'
const ways: readonly (readonly [string, Way, readonly string[], string | false])[] = [
  ['HTTP/1.1, announced', overHttp(http, { 'content-length': String(size) }), [], false],
  ['HTTP/1.1, in chunks', overHttp(http, {}), [], false],
  ['HTTP/1.1 over TLS', overHttp(https, { 'content-length': String(size) }), pem ?? [], secure],
  ['HTTP/2', overHttp2('http'), [], false],
  ['HTTP/2 over TLS', overHttp2('https'), pem ?? [], secure],
]

describe('A4.10 A8.3 a file of 50 MB', () => {
  for (const [name, way, words, skip] of ways)
    test(`${name}: in at full speed, out as slowly as it is read`, { skip }, async () => {
      const service = await startFileService(words)
      const upload = async () => {
        const put = await way(service, octets())
        assert.ok([201, 204].includes(put.status), String(put.status))
        for await (const _ of put);
      }
      await requireMemory(service, 'the upload', upload, words.length > 0 ? mostSecure : mostPlain)
      await requireMemory(service, 'the slow reader', async () => {
        const got = await way(service, undefined)
        assert.equal(got.status, 200)
        await sleep(300)
        const hash = createHash('sha256')
        let read = 0
        for await (const each of got) {
          if (Math.floor(read / megabyte) < Math.floor((read += each.length) / megabyte)) await sleep(5)
          hash.update(each)
        }
        assert.equal(read, size)
        assert.equal(hash.digest('hex'), digest)
      })
      service.child.kill()
    })

  test('B4.12 by SOAP: as a part of a package, in and out; and as base64, out', async () => {
    const service = await startFileService()
    const soap = async (fields: Record<string, string>, content: Iterable<Buffer>): Promise<Stream> => {
      const request = http.request({ port: service.port, path: '/soap/v1', method: 'POST', headers: fields })
      const answer = once(request, 'response') as Promise<[http.IncomingMessage]>
      for (const each of content) if (!request.write(each)) await once(request, 'drain')
      request.end()
      const [response] = await answer
      return Object.assign(response, { status: response.statusCode ?? 0 })
    }
    // SOAP is loaded on first use, which is not part of the memory of a message.
    for await (const _ of await soap({ 'content-type': 'text/xml' }, [Buffer.from(envelope(getScan))]));
    await requireMemory(service, 'the upload', async () => {
      const put = await soap({ 'content-type': packed }, writePackage())
      assert.equal(put.status, 200)
      for await (const _ of put);
    })
    const slowly = async (fields: Record<string, string>, take: (octets: Buffer) => void) => {
      const got = await soap({ 'content-type': 'text/xml', ...fields }, [Buffer.from(envelope(getScan))])
      assert.equal(got.status, 200)
      await sleep(300)
      for await (const each of got) take(each)
    }
    await requireMemory(service, 'the reader of a package', async () => {
      const found = digestAfter('Content-ID: <1@diglot>\r\n\r\n')
      await slowly({ accept: 'multipart/related; type="application/xop+xml", text/xml' }, found.take)
      assert.equal(found.digest(size), digest)
    })
    await requireMemory(service, 'the reader of base64', async () => {
      const found = digestAfter('<scan>')
      await slowly({}, found.take)
      assert.equal(found.digest(Math.ceil(size / 3) * 4), base64Digest)
    })
    service.child.kill()
  })

  test('if a reader stalls the server reads no more, and closes the connection', async () => {
    const service = await startFileService()
    const put = await overHttp(http, {})(service, octets())
    for await (const _ of put);
    await requireMemory(service, 'a hundred readers', async () => {
      const readers = Array.from({ length: 100 }, () => connect(service.port, '127.0.0.1').on('error', () => {}))
      for (const each of readers) each.pause().write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await sleep(500)
      for (const each of readers) each.destroy()
    })
    service.child.kill()
  })

  test('an incomplete file: the old one stays, and the next sender is served', async () => {
    const service = await startFileService()
    for await (const _ of await overHttp(http, {})(service, [Buffer.from('the old one')]));
    ;(await beginPut(service)).destroy()
    await sleep(50)
    const parts: Buffer[] = []
    for await (const each of await overHttp(http, {})(service, undefined)) parts.push(each)
    assert.equal(Buffer.concat(parts).toString(), 'the old one')
    service.child.kill()
  })

  test('if a server is killed the old file stays, and received pieces are swept after an hour', async () => {
    const service = await startFileService()
    for await (const _ of await overHttp(http, {})(service, [Buffer.from('the old one')]));
    await beginPut(service)
    service.child.kill('SIGKILL')
    await once(service.child, 'exit')
    const store = openSqliteStore(app.contract, service.data)
    const file = await store.read(reader => reader.file('papers', 'p-1', 'scan'))
    assert.equal(Buffer.from(file?.octets.inMemory ?? []).toString(), 'the old one')
    assert.equal(await store.sweep(Date.now()), 0)
    const gone = await store.sweep(Date.now() + 3_600_000)
    assert.ok(gone > 4 * 10, `${gone} pieces`)
    assert.equal(await store.sweep(1e15), 0)
    await store.close()
  })
})
