/**
 * Documents of others, each operation called by its run-time client: what a port that was imported
 * reads and answers, in both versions of SOAP, with header blocks and faults. A lenient client
 * forgives nothing of what is right.
 */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FaultError } from '../../src/client/errors.ts'
import { createPortClient, type PortClientOptions } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import type { ExchangeFaults, Port } from '../../src/contract/exchange.ts'
import type { ExchangeContext } from '../../src/contract/port-handlers.ts'
import type { AnyRootElement } from '../../src/contract/xml-type.ts'
import { makeMessage } from '../../src/describe/example-message.ts'
import { contentOf } from '../../src/http/message.ts'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { Malformed } from '../../src/xml/index.ts'
import { createEchoNode, createPortContext } from '../soap/echo.ts'
import { octets } from '../soap/orders-over-soap.ts'
import { suites } from '../suites.ts'
import { importFile } from './folder-find.ts'

const exampleOf = (root: AnyRootElement | 'empty' | undefined): unknown =>
  typeof root === 'object'
    ? makeMessage(root, { seed: 1, name: root.name.local, item: 1, idOf: () => undefined, given: {} })
    : undefined
const examplesOf = (roots: ExchangeFaults) =>
  Object.fromEntries(Object.entries(roots).map(([name, root]) => [name, exampleOf(root)]))

const leniencies = ['envelope', 'namespace', 'order', 'unknown', 'nil', 'missing', 'facets'] as const

/** The port served in memory; its handler is changed by call. */
function servePort(port: Port) {
  const served = { handle: (_content: unknown, _ctx: ExchangeContext): unknown => undefined }
  const context = createPortContext(port, (content, ctx) => served.handle(content, ctx))
  const { send, incidents } = createEchoNode(bindExchanges(context, port))
  const transport: ClientTransport = {
    prepare: common => async sending => {
      const { content } = sending
      const whole = typeof content === 'string' ? content : Buffer.concat(content)
      const fields = { ...common, ...sending.fields }
      const response = await send({ fields, content: contentOf(whole) })
      const answered = Object.entries(response.fields).map(([name, value]) => [name, String(value)])
      return {
        status: response.status,
        fields: Object.fromEntries(answered),
        content: await octets(response.content),
      }
    },
    close: () => {},
  }
  return { transport, incidents, served }
}

/** Documents whose operations are not called, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'round3_groupE_list.wsdl': 'its example is a list without end',
}

let calls = 0
for (const name of ['wsdl11-real', 'wsdl11-features', 'wsdl-json-samples', 'soapbuilders-interop', 'wsdl20-w3c']) {
  const suite = suites(name)
  if (!suite) continue
  for (const file of globSync('**/*.wsdl', { cwd: suite }).sort())
    test(`${name} ${file}: its client gets responses from the imported port`, async t => {
      const [, exception] = Object.entries(exceptions).find(([each]) => file.endsWith(each)) ?? []
      if (exception) return t.skip(exception)
      const contract = importFile(join(suite, file))
      if (contract instanceof Malformed) return
      for (const port of contract.ports) await callPort(port)
    })
}
test('the suites have operations of each kind', { skip: !suites('wsdl11-real') }, () =>
  assert.ok(calls > 1500, `${calls}`),
)

async function callPort(port: Port): Promise<void> {
  const { transport, incidents, served } = servePort(port)
  const soap = port.soap === '1.2' ? '1.2' : '1.1'
  const common: PortClientOptions = { address: 'http://shop.example/echo', port: port.port, soap, transport }
  for (const lenient of [[], leniencies]) {
    const client = createPortClient({ ports: [port] }, { ...common, lenient, addressing: lenient.length > 0 })
    for (const [name, exchange] of Object.entries(port.exchanges)) {
      const call = client[name] ?? assert.fail(name)
      const [input, output] = [exampleOf(exchange.input), exampleOf(exchange.output)]
      const [headers, replied] = [examplesOf(exchange.requestHeaders), examplesOf(exchange.replyHeaders)]
      let read: unknown
      served.handle = (content, ctx) => {
        read = content
        for (const [block, value] of Object.entries(replied)) ctx.setHeader(block, value)
        return output
      }
      const reply = await call.callForHeaders(input, { headers: headers as {} })
      calls++
      assert.deepEqual(read, input, `${name} was sent as`)
      assert.deepEqual(reply.output, output, `${name} was answered as`)
      if (typeof exchange.output === 'object') assert.deepEqual(reply.headers, replied)
      assert.deepEqual(reply.forgiven, [])
      for (const [fault, detail] of Object.entries(examplesOf(exchange.faults))) {
        served.handle = (_, ctx) => ctx.fail(fault, detail as never)
        const thrown = await call.callForHeaders(input).then(
          () => assert.fail('a fault was expected'),
          each => each as unknown,
        )
        assert.ok(thrown instanceof FaultError, String(thrown))
        assert.ok(call.isFault(thrown, fault), `${name}: ${fault}, as ${thrown.message}`)
        assert.deepEqual(thrown.detail, detail)
      }
      assert.deepEqual(incidents, [])
    }
  }
}
