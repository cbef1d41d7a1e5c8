/**
 * h2spec, 145 tests of HTTP/2 frame by frame, against the orders service and a bare server of
 * `node:http2`: what fails is in `others/h2spec-verdicts.ts`, with the reason, and nothing else.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { failuresOfNode, failuresOfTiming, type H2specFailure, ownFailures } from './others/h2spec-verdicts.ts'
import { folder, missing, run, service } from './peer.ts'

const source = join(import.meta.dirname, 'h2spec')
const skip = missing('Go, which builds h2spec', 'go', ['version'])

describe('h2spec judges HTTP/2', { skip, timeout: 300_000 }, () => {
  const place = folder()
  const program = join(place, 'h2spec')
  const build = ['go', 'build', '-o', program, 'github.com/summerwind/h2spec/cmd/h2spec'] // Go 1.19 has no -C
  before(() => void run('env', ['-C', source, ...build]))

  /** Sections and numbers of the tests that fail, in order. */
  async function listFailures(port: number, path: string): Promise<readonly string[]> {
    const report = join(place, `${port}.xml`)
    const words = ['-h', '127.0.0.1', '-p', String(port), '--path', path, '-o', '1', '-j', report]
    const child = spawn(program, words, { stdio: 'ignore' })
    await new Promise(resolve => child.once('close', resolve))
    return readFileSync(report, 'utf8')
      .split('<testsuite ')
      .flatMap(suite =>
        suite
          .split('<testcase ')
          .slice(1)
          .flatMap((each, at) =>
            /<(?:failure|error)\b/.test(each) ? [`${/package="\w+\/([\d.]+)"/.exec(suite)?.[1]}/${at + 1}`] : [],
          ),
      )
  }
  const isSteady = (test: string): boolean => !failuresOfTiming.some(each => each.test === test)
  const testsOf = (failures: readonly H2specFailure[]): readonly string[] => failures.map(({ test }) => test)

  it('a bare server of node:http2 fails what is known of nghttp2', async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.end('notes')
    })
    server.on('sessionError', () => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // of a socket
    const found = await listFailures(port, '/')
    server.close()
    assert.deepEqual(found.filter(isSteady).sort(), [...testsOf(failuresOfNode)].sort())
  })

  it('the orders service fails the same, and one because its port speaks HTTP/1.1, too', async () => {
    const { url } = await service([], ':memory:')
    const found = await listFailures(Number(new URL(url).port), '/healthz')
    assert.deepEqual(found.filter(isSteady).sort(), [...testsOf(failuresOfNode), ...testsOf(ownFailures)].sort())
  })
})
