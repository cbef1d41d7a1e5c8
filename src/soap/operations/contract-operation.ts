/** A contract's operations at an endpoint: from a message to a call, and from its outcome back. */

import { chain, type Maybe } from '../../base/maybe.ts'
import { memoizeByObject } from '../../base/memo.ts'
import type { MessageStyle } from '../../contract/endpoint-rule.ts'
import type { Fault } from '../../contract/fault.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import { isOfRequest } from '../../contract/header.ts'
import type { Values } from '../../contract/implement.ts'
import { isPaged, type Operation } from '../../contract/operation.ts'
import { singleId } from '../../contract/resource.ts'
import { namespaceOf } from '../../contract/service.ts'
import { asList, asMap, entryFields, objectFields } from '../../contract/shape.ts'
import { compileTypeNames, typeRootsOf } from '../../contract/type-names.ts'
import {
  compileMessages,
  faultAction,
  itemName,
  type Message,
  replyAction,
  toXmlName,
} from '../../contract/xml-message.ts'
import type { Admitted, Call, CallHeaders, Calls } from '../../service/call.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { asStored, inMemoryFile, pieceOctets, type ReceivedFile } from '../../service/file-content.ts'
import type { Outcome } from '../../service/outcome.ts'
import { Refused } from '../../service/refusal.ts'
import type { ItemPage, JobRow, Snapshot } from '../../service/store.ts'
import { unpackTyped } from '../../service/typed-json.ts'
import { compileVersionCalls } from '../../service/version-calls.ts'
import { internName, writeAttribute } from '../../xml/index.ts'
import { compileAttributesWriter, compileRowWriter } from '../codecs/literal-write.ts'
import { messageStyles } from '../codecs/style.ts'
import { inlineWriting, StreamedPart, typesIn } from '../codecs/values.ts'
import { callHeadersOf, compileHeaders, type HeaderCodec } from '../headers/contract-header.ts'
import { type FaultWording, refuseMessage } from '../refusal.ts'
import type { BoundOperation, OperationRequest, OperationResponse } from './bound-operation.ts'
import { readQuery, writeNext } from './message-query.ts'

/** The limit of a message without a file. */
const messageOctetsMax = 1024 * 1024

export function bindOperations(
  { app, calls }: FaceContext,
  version: string,
  style: MessageStyle,
): readonly BoundOperation[] {
  const namespace = namespaceOf(app.contract, version)
  const without = app.contract.versions[version]?.without ?? {}
  const versionCalls = compileVersionCalls(app.contract, version)?.(calls) ?? calls
  const messages = compileMessages(app.contract, version)
  const types = typesIn(namespace, compileTypeNames(typeRootsOf(messages, style)))
  const headers = compileHeaders(messages)
  return messages.map(message => {
    const hidden = 'resource' in message.operation ? (without[message.operation.resource.name] ?? []) : []
    const ofMessage = headers.filter(({ header }) => message.headers.some(({ name }) => name === header.name))
    const codec = messageStyles[style](namespace, message.request, message.response, { types })
    return {
      name: message.operation.name,
      firsts: [internName(namespace, message.request.name)],
      action: message.action,
      replyAction: message.response && replyAction(message),
      faultAction: fault => faultAction(message, fault),
      safe: message.operation.safe,
      isLong: isPaged(message.operation),
      longest: Math.max(messageOctetsMax, base64Octets(message.request.fields)),
      request: message.request.fields,
      read: codec.read,
      write: codec.write,
      awaits: message.operation.kind !== 'putFile' ? 'all' : 'nothing',
      blocks: ofMessage.filter(({ header }) => isOfRequest(header)).map(({ block }) => block),
      perform: request => performMessage(versionCalls, { message, hidden, headers: ofMessage }, request),
      wording: faultWordingOf(namespace, message),
    }
  })
}

/** The length of these fields' octets as base64 with line breaks: 7 for 5. */
function base64Octets(fields: Fields): number {
  const files = Object.values(fields).map(({ shape }) => (shape.kind === 'bytes' ? (shape.max ?? 0) : 0))
  return Math.ceil((files.reduce((sum, each) => sum + each, 0) * 7) / 5)
}

/** An operation as it is performed. */
interface PerformedOperation {
  readonly message: Message
  readonly hidden: readonly string[]
  readonly headers: readonly HeaderCodec[]
}

function performMessage(
  calls: Calls,
  { message, hidden, headers }: PerformedOperation,
  request: OperationRequest,
): Maybe<OperationResponse> {
  return chain(calls.admit(message.operation, request.caller, request.from, 'soap'), admitted => {
    const row = request.content()
    const travelling = headers.length === 0 ? undefined : callHeadersOf(headers, request)
    const stored = message.operation.kind === 'putFile' ? storeFile(calls, message, admitted, row, request) : row
    return chain(stored, row => {
      const call = buildCall(message, row, admitted, hidden, request, travelling)
      if (!message.response) return performOneWay(calls, call)
      return chain(calls.perform(call), outcome => {
        for (const block of travelling?.answer.values() ?? []) request.add(block)
        return toResponse(message, call, outcome)
      })
    })
  })
}

/**
 * Replaces a file's octets in the row by a received file: large ones go to the store, from the
 * message or as they arrive.
 */
function storeFile(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  request: OperationRequest,
): Maybe<Values> {
  const { main = '' } = message.request
  const file = row[main] as Uint8Array | StreamedPart // the vocabulary demands it
  if (file instanceof StreamedPart) return storeArrivingFile(calls, message, admitted, row, request, file)
  return chain(request.beside?.skipRest(), () => {
    if (file.length <= pieceOctets) return { ...row, [main]: inMemoryFile(file) }
    return storeOctets(calls, message, admitted, row, asStored(file).read(0, file.length))
  })
}

async function storeArrivingFile(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  request: OperationRequest,
  coming: StreamedPart,
): Promise<Values> {
  const { id } = identifyTarget(message, row)
  // A repeated message gets its first reply, whatever the current state; the transaction finds it.
  if (!request.once)
    await calls.precheck({ admitted, face: 'soap', request: request.request, ...(id !== undefined && { id }) })
  const { beside } = request
  if (!beside) throw new Error('only a package has streamed parts')
  return storeOctets(calls, message, admitted, row, beside.octets(coming), beside)
}

async function storeOctets(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  octets: AsyncIterable<Uint8Array>,
  beside?: OperationRequest['beside'],
): Promise<Values> {
  const { main = '' } = message.request
  const max = message.operation.kind === 'putFile' ? message.operation.file.max : 0
  const received = await calls.keep(admitted, octets, max)
  if (received) return { ...row, [main]: received }
  await beside?.skipRest() // a message that is too long is refused for that before anything else
  const path = faultWordingOf('', message).place([])
  return refuseMessage({
    kind: 'bounds',
    problems: [{ path, code: 'maxLength', detail: `must have at most ${max} octets` }],
  })
}

function toResponse(message: Message, call: Call, outcome: Outcome): OperationResponse {
  if (outcome.kind === 'unchanged') return refuseMessage(outcome)
  return {
    row: responseValues(message, call.query, outcome),
    standing: standingOf(outcome),
    ...(outcome.kind === 'file' && largeOf(message, outcome)),
    ...(outcome.kind === 'file' && { mediaType: outcome.file.mediaType }),
  }
}

/** No client waits for the outcome, but the sender learns when the store is out of reach. */
async function performOneWay(calls: Calls, call: Call): Promise<OperationResponse> {
  try {
    await calls.perform(call)
  } catch (thrown) {
    if (!(thrown instanceof Refused) || thrown.refusal.kind === 'unavailable') throw thrown
  }
  return { row: {}, standing: undefined }
}

function buildCall(
  message: Message,
  row: Values,
  admitted: Admitted,
  hidden: readonly string[],
  request: OperationRequest,
  headers: CallHeaders | undefined,
): Call {
  const { id, parent, version, rest } = identifyTarget(message, row)
  const expects = request.expects ?? expectationOf(message, version)
  return {
    admitted,
    face: 'soap',
    request: request.request,
    gone: message.response && request.gone,
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parents: [parent] }),
    ...(expects && { expects }),
    ...(hidden.length > 0 && { hidden }),
    ...(request.once && {
      once: { ...request.once({ ...digestBytes(row), ...digestHeaders(headers) }), space: 'message' },
    }),
    ...(headers && { headers }),
    ...callContent(message, row, rest),
  }
}

interface Target {
  readonly id: string | undefined
  /** Of a list, or of a new item. */
  readonly parent: string | undefined
  readonly version: string | undefined
  /** All other members. */
  readonly rest: Values
}
/** A single resource has one item, so no message identifies it. */
function identifyTarget(message: Message, row: Values): Target {
  const { operation } = message
  const { version, ...content } = row as { version?: string } & Values // the vocabulary declares it as a text
  if ('resource' in operation && operation.resource.isSingle)
    return { id: singleId, parent: undefined, version, rest: content }
  const { id, ...rest } = content as { id?: string } & Values
  const isNested = 'resource' in operation && operation.resource.within !== undefined
  return { id, parent: isNested ? namedParent(message, row) : undefined, version, rest }
}

/** The parent named by a message that lists its items or creates one. */
function namedParent({ operation, request }: Message, row: Values): string | undefined {
  if (!placingKinds.has(operation.kind) || !('resource' in operation)) return undefined
  const { within = '' } = operation.resource
  return Object.hasOwn(request.fields, within) ? String(row[within]) : undefined
}
const placingKinds: ReadonlySet<Operation['kind']> = new Set(['create', 'replace', 'list', 'search'])

/** The row for a fingerprint: large octets are replaced by their digest. */
const digestBytes = (row: Values): Values =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, isReceived(value) ? (value.inMemory ?? value.digest()) : value]),
  )
/** The same Body with another header is another message; no field can have this name. */
const digestHeaders = (headers: CallHeaders | undefined): Values =>
  headers && Object.keys(headers.given).length > 0 ? { '#headers': headers.given } : {}
const isReceived = (value: unknown): value is ReceivedFile => value instanceof Object && 'digest' in value

function expectationOf({ operation }: Message, version: string | undefined): Call['expects'] {
  if (operation.kind === 'create' && operation.resource.isSingle) return expectNone
  return version === undefined ? undefined : expectVersion(version)
}
/** Creating a single resource expects that it does not exist. */
const expectNone = (current: Snapshot | undefined) => (current ? 'failed' : 'proceed')
const expectVersion = (version: string) => (current: Snapshot | undefined) =>
  current && String(current.version) === version ? 'proceed' : 'failed'

function callContent({ operation, request }: Message, row: Values, rest: Values): Partial<Call> {
  const main = request.main === undefined ? undefined : row[request.main]
  switch (operation.kind) {
    case 'create':
    case 'replace':
      return inputOf(main as Values) // an object of the vocabulary
    case 'act':
    case 'look':
      return inputOf(request.main === undefined ? rest : ((main ?? {}) as Values))
    case 'startJob':
      return inputOf(row)
    case 'list':
    case 'search': {
      const { within = '' } = operation.resource
      const { page: _, size: __, cursor: ___, sort: ____, q: _____, [within]: ______, ...flat } = row
      return { query: readQuery(operation.resource, row, request.main === undefined ? flat : ((main ?? {}) as Values)) }
    }
    case 'putFile': {
      const { mediaType } = row as { mediaType: string } // the vocabulary demands it
      return { file: { mediaType, octets: main as ReceivedFile } }
    }
    default:
      return {}
  }
}
const inputOf = (value: Values): Partial<Call> => ({ input: () => ({ value, server: [] }) })

// Answers

/** Octets that are read while they are sent. */
function largeOf(
  { response }: Message,
  { octets }: Extract<Outcome, { kind: 'file' }>,
): Pick<OperationResponse, 'large'> {
  return octets && !octets.inMemory ? { large: { field: response?.main ?? '', octets } } : {}
}

function standingOf(outcome: Outcome): OperationResponse['standing'] {
  if (outcome.kind === 'file') return outcome.file
  return 'item' in outcome ? outcome.item : undefined
}

const itemValues = ({ version }: Message, item: Snapshot): Values => ({
  ...item.value,
  [version]: String(item.version),
})

/** An outcome as the values of a reply. */
export function responseValues(message: Message, query: Call['query'], outcome: Outcome): Values {
  const { response } = message
  if (!response) return {}
  const main = response.main ?? ''
  switch (outcome.kind) {
    case 'item':
      return { [main]: itemValues(message, outcome.item) }
    case 'output':
      return { [main]: outcome.output }
    case 'result':
      return { [main]: outcome.output }
    case 'page':
      return { [main]: outcome.page.items.map(item => itemValues(message, item)), ...pageValues(query, outcome.page) }
    case 'file': {
      const { mediaType, version } = outcome.file
      const bytes = outcome.octets?.inMemory
      return { ...(bytes && { [main]: bytes }), mediaType, version: String(version) }
    }
    case 'job':
      return { job: jobValues(outcome.job), ...resultOf(response.fields, outcome.job) }
    default:
      return {}
  }
}

function pageValues(query: Call['query'], page: ItemPage): Values {
  const next = query && writeNext(query, page)
  return { ...(page.total !== undefined && { total: page.total }), ...(next !== undefined && { next }) }
}

const jobValues = ({ id, state, progress, created, failure }: JobRow): Values => ({
  id,
  state,
  progress,
  createdAt: new Date(created).toISOString(),
  ...(failure !== undefined && { failure }),
})

/** The result of a completed job, under the only name of the response besides `job`. */
function resultOf(fields: Fields, { output }: JobRow): Values {
  const result = Object.keys(fields).find(each => each !== 'job')
  return result === undefined || output === undefined ? {} : { [result]: unpackTyped(output) }
}

// Faults

export function faultWordingOf(namespace: string, { request }: Pick<Message, 'request'>): FaultWording {
  const wrapper = `/${request.name}[1]`
  const main = request.main
  return {
    nameOf: fault => internName(namespace, toXmlName(fault.fault)),
    element: (fault, detail) => writeFaultElement(namespace, fault, detail),
    place: path =>
      main === undefined
        ? wrapper + writePlace(request.fields, path)
        : `${wrapper}/${toXmlName(main)}[1]${writePlace(objectFields(request.fields[main]?.shape), path)}`,
  }
}

function writeFaultElement(namespace: string, fault: Fault, detail: Values): string {
  const tag = toXmlName(fault.fault)
  return `<${tag} xmlns=${writeAttribute(namespace)}${detailWriterOf(fault)(detail)}</${tag}>`
}
const detailWriterOf = memoizeByObject(({ detail }: Fault): ((value: Values) => string) => {
  const [attributes, children] = [compileAttributesWriter(detail), compileRowWriter(detail, '')]
  return value => `${attributes?.(value) ?? ''}>${children(value, inlineWriting)}`
})

/** A path of names and indices as a path of elements, written as the readers of `codecs/` do. */
function writePlace(fields: Fields, path: FieldProblem['path']): string {
  let place = ''
  let at: AnyField | undefined
  let key: string | undefined
  let inside = fields
  for (const part of path) {
    const map = at && asMap(at.shape)
    if (typeof part === 'number') {
      const list = at && asList(at.shape)
      place += `/${list ? itemName(list, key) : 'item'}[${part + 1}]`
      at = list?.item
      key = undefined
    } else if (map) {
      place += `/entry[key=${JSON.stringify(part)}]/value[1]`
      at = entryFields(map).value
      key = 'value'
    } else {
      place += `/${toXmlName(part)}[1]`
      at = Object.hasOwn(inside, part) ? inside[part] : undefined
      key = part
    }
    inside = objectFields(at?.shape)
  }
  return place
}
