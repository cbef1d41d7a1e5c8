/** A release of the table as a service: it keeps what it took and gives what it was told to, by marks. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openPort } from '../../../src/bridge/bridged-service.ts'
import { implement } from '../../../src/contract/implement.ts'
import { anyone } from '../../../src/contract/policy.ts'
import type { ExchangeContext } from '../../../src/contract/port-handlers.ts'
import { service } from '../../../src/contract/service.ts'
import { startService } from '../../../src/host/serve.ts'
import { readWsdl } from '../../../src/import/index.ts'
import { eachWay, type Shape, writeWsdl } from '../../diff/soap-change-table.ts'
import { atEnd } from '../peer.ts'
import { writeGive, writeGiven, writeTake } from './soap-witnesses.ts'

interface Marked {
  readonly mark: string
  readonly thing?: unknown
}
export interface SoapRelease {
  readonly shape: Shape
  readonly wsdl: string
  readonly address: string
  readonly taken: Map<string, unknown>
  readonly given: Map<string, unknown>
}

type Handler = (content: never, ctx: ExchangeContext) => unknown

/** The port of a WSDL, served; the address of the port. */
async function serveWsdl(file: string, handlers: Readonly<Record<string, Handler>>): Promise<string> {
  const { ports, losses } = await readWsdl(file)
  assert.deepEqual(losses, [], file)
  const [port] = ports.map(each => openPort(each, [anyone]))
  assert.ok(port)
  const contract = service('release', { namespace: 'urn:release', resources: [], ports: [port] })
  const app = implement(contract as never, { [port.port]: handlers } as never)
  const server = await startService(app, { port: 0, data: ':memory:', onError: (_, thrown) => console.error(thrown) })
  atEnd(() => server.close(0))
  return `${server.url}/soap/${port.port}`
}

/** @param place a folder for its description */
export async function serveRelease(shape: Shape, place: string, name: string): Promise<SoapRelease> {
  const wsdl = join(place, `${name}.wsdl`)
  writeFileSync(wsdl, writeWsdl(shape, eachWay))
  const [taken, given] = [new Map<string, unknown>(), new Map<string, unknown>()]
  const address = await serveWsdl(wsdl, {
    Take: ({ mark, thing }: Marked) => {
      taken.set(mark, thing)
      return { mark }
    },
    Give: ({ mark }: Marked) => ({ thing: given.get(mark) }),
  })
  return { shape, wsdl, address, taken, given }
}

export interface OperationRelease {
  readonly wsdl: string
  readonly uri: string
  readonly address: string
  /** Of each call, its header blocks. */
  readonly blocks: unknown[]
}

/** The one operation of a document: it answers what it is asked, or with its fault where it is asked to. */
export async function serveOperation(shape: Shape, place: string, name: string): Promise<OperationRelease> {
  const wsdl = join(place, `${name}.wsdl`)
  writeFileSync(wsdl, writeWsdl(shape))
  const blocks: unknown[] = []
  const address = await serveWsdl(wsdl, {
    Do: ({ thing }: { readonly thing: { readonly a: unknown } }, ctx) => {
      blocks.push(ctx.headers)
      if (thing.a === 'late' && shape.operation) ctx.fail('late' as never, 'late' as never)
      return { thing }
    },
  })
  return { wsdl, uri: shape.uri ?? 'urn:x', address, blocks }
}

const wrap = (content: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${content}</e:Body></e:Envelope>`

async function post(address: string, action: string, content: string): Promise<string> {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'text/xml', soapaction: `"${action}"` },
    body: wrap(content),
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, `${content}\n${text}`)
  return text
}

/** The release takes the value, is told to give it, and gives it; the message that it answers with. */
export async function learnValue(release: SoapRelease, content: string, mark: string): Promise<string> {
  const { address, shape, taken, given } = release
  await post(address, 'urn:take', writeTake(content, mark, shape.form))
  given.set(mark, taken.get(mark))
  return await post(address, 'urn:give', writeGive(mark))
}

/** A service that gives values as they stand, each at an address of its own. */
export async function serveAsWritten() {
  const answers: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'text/xml; charset=utf-8')
    response.end(answers[Number(request.url?.slice(1))])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const { port } = server.address() as AddressInfo
  return (content: string, form: string | undefined): string =>
    `http://127.0.0.1:${port}/${answers.push(wrap(writeGiven(content, form))) - 1}`
}
