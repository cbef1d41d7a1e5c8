/** The echo services of the public test collections, declared with the public API. */
import assert from 'node:assert/strict'
import type { Port } from '../../src/contract/exchange.ts'
import { t } from '../../src/contract/field.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import type { ExchangeContext } from '../../src/contract/port-handlers.ts'
import type { ServedExchange } from '../../src/service/call.ts'
import { createExchangeBasis } from '../../src/service/exchange-context.ts'
import { endlessSignal } from '../../src/service/handler-facts.ts'
import type { SoapOptions } from '../../src/soap/face.ts'
import { block, compileBlockWriter } from '../../src/soap/headers/block.ts'
import { createSoapNode } from '../../src/soap/http/binding.ts'
import type { BoundOperation } from '../../src/soap/operations/bound-operation.ts'
import { bareElement, bindCustomOperation, emptyBodyOperation } from '../../src/soap/operations/custom-operation.ts'
import type { PortContext } from '../../src/soap/operations/exchange-operation.ts'
import type { Intermediary } from '../../src/soap/relay.ts'
import { identities, sendMessage } from './orders-over-soap.ts'

export function createEchoNode(exchanges: readonly BoundOperation[], options: SoapOptions = {}, path = '/echo') {
  const incidents: unknown[] = []
  const face = createSoapNode(
    {
      identities,
      clock: () => Date.UTC(2026, 10, 21),
      id: () => 'id',
      report: (_incident, thrown) => incidents.push(thrown),
      settings: { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] },
    },
    { path, secure: false, versions: 'both' },
    exchanges,
    options,
  )
  return { incidents, ...sendMessage(face, path) }
}

/** Every exchange of the port has this handler, and anyone may call it. */
export const createPortContext = (
  { port, exchanges }: Port,
  handle: (content: unknown, ctx: ExchangeContext) => unknown,
): PortContext => ({
  app: { ports: { [port]: Object.fromEntries(Object.keys(exchanges).map(name => [name, handle])) } },
  calls: { admitExchange: () => '', serveExchange },
})

/** For a service that keeps nothing. */
function serveExchange({ port, exchange, isSafe, ...call }: ServedExchange) {
  const keepNothing = () => assert.fail('nothing is kept here')
  const about = {
    ...call,
    app: { services: {} } as Implementation,
    now: Date.UTC(2026, 10, 21),
    operation: `${port}.${exchange}`,
    faults: [],
    id: (prefix: string) => `${prefix}-1`,
    signal: endlessSignal,
    underWay: [],
  }
  return createExchangeBasis(about, { read: keepNothing, write: keepNothing }, isSafe)
}

/** W3C SOAP 1.2 Test Collection, node C. */
export const ts = 'http://example.org/ts-tests'
const types = `${ts}/xsd`
const responseOk = compileBlockWriter(ts, 'responseOk', t.string())
const echoOk = block({
  namespace: ts,
  name: 'echoOk',
  content: t.string(),
  process: (text, { add }) => add(responseOk(text)),
})
const requiredHeader = block({ namespace: ts, name: 'requiredHeader', content: t.string() })
const Struct = t.object({ varInt: t.int(), varFloat: t.double({ xsd: 'float' }), varString: t.string() }, 'SOAPStruct')
const ArrayStruct = t.object(
  { varInt: t.int(), varFloat: t.double({ xsd: 'float' }), varString: t.string(), varArray: t.list(t.string()) },
  'SOAPArrayStruct',
)
const encoded = { namespace: ts, types, style: 'encoded' } as const

export const collection: readonly BoundOperation[] = [
  emptyBodyOperation(`${ts}/empty`, () => {}),
  bareElement({
    namespace: ts,
    name: 'echoOk',
    content: t.string(),
    answer: { name: 'responseOk', content: t.string() },
    perform: text => text,
  }),
  bareElement({
    namespace: ts,
    name: 'echoHeader',
    content: t.string(),
    answer: { name: 'echoHeaderResponse', content: t.string() },
    perform: (_nothing, { blocks }) => blocks(requiredHeader)[0] ?? '',
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoString',
    request: { inputString: t.string() },
    response: { return: t.string() },
    perform: ({ inputString }) => ({ return: inputString }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoStringArray',
    request: { inputStringArray: t.list(t.string()) },
    response: { return: t.list(t.string()) },
    perform: ({ inputStringArray }) => ({ return: inputStringArray }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoIntegerArray',
    request: { inputIntegerArray: t.list(t.int()) },
    response: { return: t.list(t.int()) },
    perform: ({ inputIntegerArray }) => ({ return: inputIntegerArray }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoStructArray',
    request: { inputStructArray: t.list(Struct) },
    response: { return: t.list(Struct) },
    perform: ({ inputStructArray }) => ({ return: inputStructArray }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoNestedArray',
    request: { inputStruct: ArrayStruct },
    response: { return: ArrayStruct },
    perform: ({ inputStruct }) => ({ return: inputStruct }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoSimpleTypesAsStruct',
    request: { inputInt: t.int(), inputFloat: t.double({ xsd: 'float' }), inputString: t.string() },
    response: { return: Struct },
    perform: ({ inputInt, inputFloat, inputString }) => ({
      return: { varInt: inputInt, varFloat: inputFloat, varString: inputString },
    }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoBoolean',
    request: { inputBoolean: t.boolean() },
    response: { return: t.boolean() },
    perform: ({ inputBoolean }) => ({ return: inputBoolean }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'echoDecimal',
    request: { inputDecimal: t.decimal(20, 17) },
    response: { return: t.decimal(20, 17) },
    perform: ({ inputDecimal }) => ({ return: inputDecimal }),
  }),
  bindCustomOperation({
    ...encoded,
    name: 'countItems',
    request: { inputStringArray: t.list(t.string()) },
    response: { return: t.int() },
    perform: ({ inputStringArray }) => ({ return: inputStringArray.length }),
  }),
]
export const collectionOptions: SoapOptions = { blocks: [echoOk, requiredHeader], roles: [`${ts}/C`] }

/** Node B of the collection: it joins two texts and forwards them to node C. */
const echoTo = compileBlockWriter(ts, 'echoOk', t.string())
const concatenate = block({
  namespace: ts,
  name: 'concatAndForwardEchoOk',
  content: t.string(),
  process: () => {},
})
const part = (name: string, texts: string[]) =>
  block({ namespace: ts, name, content: t.string(), process: text => void texts.push(text.trim()) })

export function createIntermediary(): Intermediary {
  const texts: string[] = []
  const second = block({
    namespace: ts,
    name: 'concatAndForwardEchoOkArg2',
    content: t.string(),
    process: (text, { add, version }) =>
      add(echoTo([...texts, text.trim()].join(''), { version, role: `${ts}/C`, mandatory: true })),
  })
  return {
    uri: `${ts}/B`,
    roles: [`${ts}/B`],
    blocks: [concatenate, part('concatAndForwardEchoOkArg1', texts), second],
  }
}
