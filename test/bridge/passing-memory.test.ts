/** A bridge holds no more for a file of 160 MB than for one of 8 (docs/bridge.md, Files). */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { envelopeOf, include, packageType, partHead, rootPart } from './archive-port.ts'

const mebi = 1024 ** 2
const chunk = Buffer.alloc(mebi, 'octets!\r\n')
const files = `<Files xmlns="urn:archive"><title>t</title><one>${include('1')}</one></Files>`

const kept =
  '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><Kept xmlns="urn:archive"><name>k</name></Kept></e:Body></e:Envelope>'
const behind = { answerMebi: 0, receivedOctets: 0 }

/** Accepts any message, and responds to a query with the requested number of mebioctets. */
async function startFiles(): Promise<string> {
  const server = http.createServer(async (request, response) => {
    behind.receivedOctets = 0
    for await (const piece of request) behind.receivedOctets += piece.length
    if (request.url?.startsWith('/files')) {
      if (request.method === 'PUT') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
        return
      }
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      await writeChunks(response, behind.answerMebi)
      response.end()
      return
    }
    if (request.headers['soapaction']?.includes('Keep')) {
      response.writeHead(200, { 'content-type': 'text/xml' }).end(kept)
      return
    }
    response.writeHead(200, { 'content-type': packageType }).write(rootPart(files) + partHead('1'))
    await writeChunks(response, behind.answerMebi)
    response.end('\r\n--b--\r\n')
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => server.closeAllConnections())
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function writeChunks(to: http.OutgoingMessage, count: number): Promise<void> {
  for (let left = count; left > 0; left--) if (!to.write(chunk)) await once(to, 'drain')
}

async function startChild(to: string, kind: string) {
  const child = fork(new URL('./passing-child.ts', import.meta.url), [to, kind], {
    // The young generation is of one size on any machine.
    execArgv: [...process.execArgv, '--max-semi-space-size=16'],
  })
  after(() => child.kill())
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  /** Octets, the most since the last time. */
  const peak = async (): Promise<number> => {
    child.send('peak')
    return ((await once(child, 'message')) as [{ peak: number }])[0].peak
  }
  return { port, peak }
}

function begin(port: number, path: string, headers: http.OutgoingHttpHeaders) {
  const request = http.request({ host: '127.0.0.1', port, path, method: 'POST', headers })
  const length = new Promise<number>((resolve, reject) => {
    request.on('error', reject).on('response', response => {
      let count = 0
      response.on('data', piece => {
        count += piece.length
      })
      response.on('end', () => resolve(count)).on('error', reject)
    })
  })
  return { request, length }
}

async function fetchFile(port: number, mebioctets: number): Promise<void> {
  behind.answerMebi = mebioctets
  const { request, length } = begin(port, '/api/v1/Archive/Fetch', { 'content-type': 'application/json' })
  request.end('{"name":"x"}')
  assert.equal(await length, '{"title":"t","one":""}'.length + 4 * Math.ceil((mebioctets * mebi) / 3))
}

async function keepFile(port: number, mebioctets: number): Promise<void> {
  const { request, length } = begin(port, '/api/v1/Archive/Keep', { 'content-type': 'multipart/form-data; boundary=f' })
  request.write('--f\r\nContent-Disposition: form-data; name=one\r\n\r\n')
  await writeChunks(request, mebioctets)
  request.end('\r\n--f--\r\n')
  assert.equal(await length, '{"name":"k"}'.length)
  assert.ok(behind.receivedOctets > mebioctets * mebi, `${behind.receivedOctets} octets came`)
}

const mtom = 'multipart/related; type="application/xop+xml", text/xml'
/** The octets come as a part of a package. */
const fetchBySoap =
  (path: string, action: string, message: string) =>
  async (port: number, mebioctets: number): Promise<void> => {
    behind.answerMebi = mebioctets
    const headers = { 'content-type': 'text/xml', soapaction: `"${action}"`, accept: mtom }
    const { request, length } = begin(port, path, headers)
    request.end(envelopeOf(message))
    const octets = (await length) - mebioctets * mebi
    assert.ok(octets > 0 && octets < 2000, `${octets} octets around ${mebioctets} MB`)
  }
const fetchPackage = fetchBySoap('/soap/Archive', 'urn:Fetch', '<Ask xmlns="urn:archive"><name>x</name></Ask>')
const getContent = fetchBySoap(
  '/soap/Operations',
  'urn:files/GetFile',
  '<GetFile xmlns="urn:files"><id>7</id></GetFile>',
)

async function keepPackage(port: number, mebioctets: number): Promise<void> {
  const { request, length } = begin(port, '/soap/Archive', { 'content-type': packageType, soapaction: '"urn:Keep"' })
  request.write(rootPart(`<Keep xmlns="urn:archive"><one>${include('1')}</one></Keep>`) + partHead('1'))
  await writeChunks(request, mebioctets)
  request.end('\r\n--b--\r\n')
  assert.ok((await length) < 1000)
  assert.ok(behind.receivedOctets > mebioctets * mebi, `${behind.receivedOctets} octets came`)
}

async function putContent(port: number, mebioctets: number): Promise<void> {
  const headers = { 'content-type': packageType, soapaction: '"urn:files/PutFile"' }
  const { request, length } = begin(port, '/soap/Operations', headers)
  const message = `<PutFile xmlns="urn:files"><id>7</id><content>${include('1')}</content></PutFile>`
  request.write(rootPart(message) + partHead('1'))
  await writeChunks(request, mebioctets)
  request.end('\r\n--b--\r\n')
  assert.ok((await length) < 1000)
  assert.equal(behind.receivedOctets, mebioctets * mebi)
}

for (const [what, pass, kind, moreMax] of [
  ['an answer', fetchFile, 'soap', 64],
  ['a form', keepFile, 'soap', 64],
  ['an answer by SOAP', fetchPackage, 'soap', 64],
  ['a package by SOAP', keepPackage, 'soap', 64],
  ['content of a REST service', getContent, 'rest', 64],
  ['content for a REST service', putContent, 'rest', 64],
] as const)
  test(`${what} of 160 MB passes through a bridge that takes less than ${moreMax} MB more than for one of 8`, async t => {
    const { port, peak } = await startChild(await startFiles(), kind)
    await pass(port, 8)
    const few = await peak()
    await pass(port, 160)
    const more = (await peak()) - few
    t.diagnostic(`${Math.round(more / mebi)} MB more`)
    assert.ok(more < moreMax * mebi, `${Math.round(more / mebi)} MB more`)
  })
