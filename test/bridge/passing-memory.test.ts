/** A bridge holds no more for a file of 96 MB than for one of 8 (docs/bridge.md, Files). */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { include, packageType, partHead, rootPart } from './archive-port.ts'

const mebi = 1024 ** 2
const chunk = Buffer.alloc(mebi, 'octets!\r\n')
const files = `<Files xmlns="urn:archive"><title>t</title><one>${include('1')}</one></Files>`

/** Sends as many mebioctets as the address names. */
async function startFiles(): Promise<string> {
  const server = http.createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': packageType }).write(rootPart(files) + partHead('1'))
    for (let left = sizes.answer; left > 0 && !response.destroyed; left--)
      if (!response.write(chunk)) await once(response, 'drain')
    response.end('\r\n--b--\r\n')
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => server.closeAllConnections())
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
const sizes = { answer: 0 }

async function startChild(to: string) {
  const child = fork(new URL('./passing-child.ts', import.meta.url), [to], { execArgv: process.execArgv })
  after(() => child.kill())
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  /** Octets, the most since the last time. */
  const peak = async (): Promise<number> => {
    child.send('peak')
    return ((await once(child, 'message')) as [{ peak: number }])[0].peak
  }
  return { port, peak }
}

const countAnswer = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const request = http.request({ host: '127.0.0.1', port, path: '/api/v1/Archive/Fetch', method: 'POST', headers })
    request.on('response', response => {
      let length = 0
      response.on('data', piece => {
        length += piece.length
      })
      response.on('end', () => resolve(length))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end('{"name":"x"}')
  })

test('an answer of 96 MB passes through a bridge that takes less than 32 MB more than for one of 8', async () => {
  const { port, peak } = await startChild(await startFiles())
  const pass = async (mebioctets: number) => {
    sizes.answer = mebioctets
    const length = await countAnswer(port)
    assert.equal(length, '{"title":"t","one":""}'.length + 4 * Math.ceil((mebioctets * mebi) / 3))
    return await peak()
  }
  const small = await pass(8)
  const large = await pass(96)
  assert.ok(large - small < 32 * mebi, `${Math.round((large - small) / mebi)} MB more`)
})
