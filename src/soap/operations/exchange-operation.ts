/**
 * The exchanges of a port as operations of an endpoint: messages designed by another party, read
 * and written exactly as its schema declares them.
 */
import { markPassing } from '../../base/marked-octets.ts'
import { chain, type Maybe } from '../../base/maybe.ts'
import { memoizeOnce } from '../../base/memo.ts'
import {
  failUnanswered,
  failUndeclared,
  isHeaderFault,
  type Port,
  type PortExchange,
  statusOfPortFault,
} from '../../contract/exchange.ts'
import type { ErasedExchangeHandler } from '../../contract/implement.ts'
import { mayLeaveOctets } from '../../contract/octet-types.ts'
import type { ExchangeBasis, ExchangeContext } from '../../contract/port-handlers.ts'
import { createActionNamer } from '../../contract/port-names.ts'
import { compileUriContent, type UriContent, type UriPairs } from '../../contract/uri-content.ts'
import type { AnyRootElement } from '../../contract/xml-type.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { type Cursor, internName, readElement, walkTree } from '../../xml/index.ts'
import { createPortMessageCodecs, type PortMessageCodec } from '../codecs/port-message-codec.ts'
import { createElementCodecs, type ElementCodec } from '../codecs/schema-codec.ts'
import { createEncodedCodecs, type EncodedCodec } from '../codecs/schema-encoded.ts'
import { declaresAttribute } from '../codecs/schema-plan.ts'
import { type LiteralReading, loneWriting } from '../codecs/values.ts'
import type { SoapFault } from '../fault.ts'
import { type Block, markMandatory, refuseWithFault, stripForeignAttributes } from '../headers/block.ts'
import { refusePackage } from '../mime/multipart.ts'
import { passParts } from '../mime/passing-parts.ts'
import { asBadArguments, asSchemaRefusal, refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import type { BoundOperation, OperationRequest, RetrievedContent } from './bound-operation.ts'
import { faultWordingOf } from './contract-operation.ts'

/** The limit of another party's message; large octets travel as parts. */
const messageOctetsMax = 4 * 1024 * 1024

/** What a port needs from its service. */
export interface PortContext {
  readonly app: Pick<FaceContext['app'], 'ports'>
  readonly calls: Pick<FaceContext['calls'], 'admitExchange' | 'serveExchange'>
}

/** Binds each exchange of a port to its handler. */
export function bindExchanges({ app, calls }: PortContext, port: Port): readonly BoundOperation[] {
  const codecOf = createElementCodecs([port])
  const encodedOf = createEncodedCodecs([port])
  const messageOf = createPortMessageCodecs(codecOf, encodedOf)
  const nameActions = createActionNamer(port)
  return Object.entries(port.exchanges).map(([name, exchange]) => {
    const handler = app.ports?.[port.port]?.[name]
    if (!handler) throw new Error(`the port ${port.port} has no handler for ${name}: give implement(…) one`)
    const codecs = compileExchange(exchange, name, { codecOf, encodedOf, messageOf })
    const actions = nameActions(name)
    return {
      name,
      firsts: codecs.firsts,
      declared: typeof exchange.input === 'object' ? exchange.input : undefined,
      mayBegin: codecs.mayBegin,
      action: actions.request,
      ...(exchange.action !== actions.request && { transportAction: exchange.action }),
      replyAction: exchange.output && actions.reply,
      faultAction: actions.fault,
      safe: exchange.isSafe,
      isLong: false,
      longest: messageOctetsMax,
      ...(exchange.passingMax !== undefined && { awaits: 'nothing' as const, passingMax: exchange.passingMax }),
      repliesWithParts: codecs.repliesWithParts,
      request: {},
      retrieval: createRetrieval(exchange, name),
      blocks: codecs.blocks.map(({ block }) => block),
      read: codecs.read,
      write: ({ content }, writing, version) => codecs.write(content, writing, version),
      perform: operationRequest =>
        chain(calls.admitExchange(exchange, operationRequest.caller, operationRequest.from), party => {
          const { caller, gone, request } = operationRequest
          const call = { port: port.port, exchange: name, isSafe: exchange.isSafe, caller, party, request, gone }
          const place = `${port.port}.${name}`
          return callHandler(
            place,
            exchange,
            codecs,
            handler,
            operationRequest,
            calls.serveExchange({ ...call, face: 'soap' }),
          )
        }),
      wording: {
        ...faultWordingOf(port.namespace, { request: { name, fields: {}, main: undefined } }),
        isForeign: true,
      },
    }
  })
}

interface ExchangeCodecs extends Pick<BoundOperation, 'firsts' | 'mayBegin'> {
  readonly read: BoundOperation['read']
  readonly write: PortMessageCodec['write']
  readonly repliesWithParts: boolean
  /** Octets of the reply may stay where they are until they are sent. */
  readonly mayPass: boolean
  readonly blocks: readonly { readonly name: string; readonly block: Block }[]
  readonly replyBlocks: Readonly<Record<string, ElementCodec>>
  readonly faults: Readonly<Record<string, (detail: unknown, version: SoapVersion) => string>>
}

interface PortCodecs {
  readonly codecOf: (root: AnyRootElement) => ElementCodec
  readonly encodedOf: (root: AnyRootElement) => EncodedCodec
  readonly messageOf: ReturnType<typeof createPortMessageCodecs>
}

function compileExchange(
  exchange: PortExchange,
  operation: string,
  { codecOf, encodedOf, messageOf }: PortCodecs,
): ExchangeCodecs {
  const { input, output, faults, requestHeaders, replyHeaders, style } = exchange
  const inputMessage = messageOf(input, style)
  const answer = output && messageOf(output, style)
  const mapCodecs = (roots: Readonly<Record<string, AnyRootElement>>) =>
    Object.fromEntries(Object.entries(roots).map(([name, root]) => [name, codecOf(root)]))
  return {
    firsts: inputMessage.firsts,
    mayBegin: inputMessage.mayBegin,
    read: (cursor, reading, version) => {
      const read = () => ({ content: inputMessage.read(cursor, reading, version) })
      return style === 'rpc' ? readAsCall(read) : read()
    },
    write: (content, writing, version) => answer?.write(content, writing, version) ?? '',
    repliesWithParts: answer?.hasParts === true,
    mayPass: style !== 'encoded' && typeof output === 'object' && mayLeaveOctets(output),
    blocks: Object.entries(requestHeaders).map(([name, root]) => ({
      name,
      block: createBlock(root, operation, codecOf(root)),
    })),
    replyBlocks: mapCodecs(replyHeaders),
    faults: Object.fromEntries(
      Object.entries(faults).map(([name, root]) => [
        name,
        // A part of an encoded message is encoded, an element of a schema is not (WSDL 1.1 §3.6).
        style === 'encoded' && root.isPart && !isHeaderFault(exchange, name)
          ? encodedOf(root).writeAlone
          : (detail: unknown) => codecOf(root).write(detail, loneWriting),
      ]),
    ),
  }
}
/** Compiled on first use. */
const createRetrieval = ({ input, location, style }: PortExchange, name: string) =>
  memoizeOnce((): RetrievedContent | 'none' => {
    if (input === 'empty') return { location, names: new Set(), required: new Set(), read: () => ({}) }
    const content = style === 'document' ? compileUriContent(input) : undefined
    return content
      ? { ...content, location, read: pairs => ({ content: readRetrieved(content, pairs, name) }) }
      : 'none'
  })
function readRetrieved({ read }: UriContent, pairs: UriPairs, operation: string): object {
  const found = read(pairs)
  if ('value' in found) return found.value
  const path = `/${operation}/${found.name}`
  return refuseMessage({ kind: 'schema', path, detail: found.flaw.detail })
}

/** SOAP 1.2 Part 2 §4.4. */
const readAsCall = <T>(read: () => T): T =>
  asSchemaRefusal(read, refusal => ({ ...refusal, kind: 'encoded', subcode: asBadArguments }))

const createBlock = ({ name }: AnyRootElement, operation: string, codec: ElementCodec): Block => ({
  name: internName(name.uri, name.local),
  roles: undefined,
  operations: new Set([operation]),
  read: (cursor, reading) => codec.read(withoutForeignAttributes(codec, cursor, reading), reading),
  process: () => {},
})
/** SOAP's own attributes of a block, and other specifications', do not belong to its type. */
function withoutForeignAttributes({ plan }: ElementCodec, cursor: Cursor, { around }: LiteralReading): Cursor {
  const walker = walkTree(
    stripForeignAttributes(readElement(cursor, around), name => declaresAttribute(plan.type(), name)),
  )
  walker.next()
  return walker
}

/** SOAP 1.1 §4.4: the detail of a fault never concerns a header block. */
const placeFault = (
  exchange: PortExchange,
  fault: string,
  element: string,
): Pick<SoapFault, 'blocks' | 'detail' | 'declaredAs'> =>
  isHeaderFault(exchange, fault) ? { blocks: [element] } : { detail: element, declaredAs: fault }

async function callHandler(
  place: string,
  exchange: PortExchange,
  codecs: ExchangeCodecs,
  handler: ErasedExchangeHandler,
  request: OperationRequest,
  basis: ExchangeBasis,
): Promise<Awaited<ReturnType<BoundOperation['perform']>>> {
  const reading = codecs.mayPass ? request.passing() : undefined
  const content = await readPassing(request)
  const context = createExchangeContext(place, exchange, codecs, request, basis)
  const answer = await handler(content, Object.assign(context, { passing: reading }))
  if (typeof exchange.output === 'object' && answer === undefined) failUnanswered(place)
  const passing = reading && markPassing(answer)
  return { row: { content: passing ? passing.value : answer }, standing: undefined, ...(passing && { passing }) }
}

/** Parts that have not arrived become passing octets; a flaw in them becomes a fault. */
function readPassing({ content: read, beside }: OperationRequest): Maybe<unknown> {
  const { content } = read()
  if (!beside) return content
  return passParts(content, beside, 'as they come', {
    finish: () => {},
    fail: thrown => thrown,
    leave: () => {},
    refuseCount: detail => refusePackage(`a part ${detail}`),
  })
}

function createExchangeContext(
  place: string,
  exchange: PortExchange,
  { blocks, replyBlocks, faults }: ExchangeCodecs,
  request: OperationRequest,
  basis: ExchangeBasis,
): ExchangeContext {
  const headers = blocks.flatMap(({ name, block }) => {
    const [value] = request.blocks(block)
    return value === undefined ? [] : [[name, value] as const]
  })
  // A computed property of the basis stays computed.
  return Object.assign(basis, {
    headers: Object.fromEntries(headers),
    setHeader: (name: string, value: unknown) => {
      const codec = replyBlocks[name]
      if (!codec) return failUndeclared(place, 'replyHeaders', name)
      const block = codec.write(value, loneWriting)
      request.add(exchange.mandatoryHeaders.reply?.includes(name) ? markMandatory(block, request.version) : block)
    },
    fail: (fault: string, detail: unknown, reason = fault, status = statusOfPortFault(exchange, fault)) => {
      const write = faults[fault]
      if (!write) return failUndeclared(place, 'faults', fault)
      throw refuseWithFault({
        code: status >= 500 ? 'Receiver' : 'Sender',
        reasons: [{ language: 'en', text: reason }],
        ...placeFault(exchange, fault, write(detail, request.version)),
      })
    },
  })
}
