/**
 * From a contract's operations to what an endpoint can be asked, and from a message to a call and
 * back.
 */

import { chain, type Maybe } from '../../base/maybe.ts'
import type { Fault } from '../../contract/fault.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import type { FieldProblem } from '../../contract/field-json.ts'
import type { Values } from '../../contract/implement.ts'
import { namespaceOf } from '../../contract/service.ts'
import { asList, objectFields } from '../../contract/shape.ts'
import type { MessageStyle } from '../../contract/xml-message.ts'
import {
  compileMessages,
  faultAction,
  itemName,
  type Message,
  replyAction,
  toXmlName,
} from '../../contract/xml-message.ts'
import type { Admitted, Call, Calls } from '../../service/call.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { asStored, inMemoryFile, pieceOctets, type ReceivedFile } from '../../service/file-content.ts'
import type { Outcome } from '../../service/outcome.ts'
import { Refused } from '../../service/refusal.ts'
import type { ItemPage, JobRow, Snapshot } from '../../service/store.ts'
import { unpackTyped } from '../../service/typed-json.ts'
import { internName } from '../../xml/index.ts'
import { compileAttributesWriter, compileRowWriter } from '../codecs/literal-write.ts'
import { messageStyles } from '../codecs/style.ts'
import { inlineWriting, StreamedPart } from '../codecs/values.ts'
import { type FaultWording, refuseMessage } from '../refusal.ts'
import type { BoundOperation, OperationRequest, OperationResponse, StreamedField } from './bound-operation.ts'
import { readQuery, writeNext } from './message-query.ts'

/** Octets of a message that carries no file. */
const plain = 1024 * 1024

export function bindOperations(
  { app, calls }: FaceContext,
  version: string,
  style: MessageStyle,
): readonly BoundOperation[] {
  const namespace = namespaceOf(app.contract, version)
  const without = app.contract.versions[version]?.without ?? {}
  return compileMessages(app.contract, version).map(message => {
    const hidden = 'resource' in message.operation ? (without[message.operation.resource.name] ?? []) : []
    const codec = messageStyles[style](namespace, message.request, message.response)
    return {
      name: message.operation.name,
      element: internName(namespace, message.request.name),
      action: message.action,
      replyAction: message.response && replyAction(message),
      faultAction: fault => faultAction(message, fault),
      safe: message.operation.safe,
      longest: Math.max(plain, inXml(message.request.fields)),
      request: message.request.fields,
      read: codec.read,
      write: codec.write,
      awaits: message.operation.kind !== 'putFile' ? 'all' : 'nothing',
      perform: asked => perform(calls, message, hidden, asked),
      wording: faultWordingOf(namespace, message),
    }
  })
}

/** Octets that the bytes of these fields take as base64, line breaks and all: 7 for 5. */
function inXml(fields: Fields): number {
  const files = Object.values(fields).map(({ shape }) => (shape.kind === 'bytes' ? (shape.max ?? 0) : 0))
  return Math.ceil((files.reduce((sum, each) => sum + each, 0) * 7) / 5)
}

function perform(
  calls: Calls,
  message: Message,
  hidden: readonly string[],
  asked: OperationRequest,
): Maybe<OperationResponse> {
  return chain(calls.admit(message.operation, asked.caller, asked.from, 'soap'), admitted => {
    const row = asked.content()
    const kept = message.operation.kind === 'putFile' ? keptFile(calls, message, admitted, row, asked) : row
    return chain(kept, row => {
      const call = callOf(message, row, admitted, hidden, asked)
      if (!message.response) return performOneWay(calls, call)
      return chain(calls.perform(call), outcome => responseOf(message, call, outcome))
    })
  })
}

/**
 * The row with what was received in place of the octets of a file: many go to the store, from the
 * message or as they come.
 */
function keptFile(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  asked: OperationRequest,
): Maybe<Values> {
  const { main = '' } = message.request
  const file = row[main] as Uint8Array | StreamedPart // demanded by the vocabulary
  if (file instanceof StreamedPart) return comingFile(calls, message, admitted, row, asked, file)
  return chain(asked.beside?.passed(), () => {
    if (file.length <= pieceOctets) return { ...row, [main]: inMemoryFile(file) }
    return performWithFile(calls, message, admitted, row, asStored(file).read(0, file.length))
  })
}

async function comingFile(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  asked: OperationRequest,
  coming: StreamedPart,
): Promise<Values> {
  const { id } = row as { id: string } // demanded by the vocabulary
  // A replay is answered as it was, whatever stands by now: it is found in the transaction.
  if (!asked.once) await calls.precheck({ admitted, face: 'soap', request: asked.request, id })
  const { beside } = asked
  if (!beside) throw new Error('parts come of packages alone')
  return performWithFile(calls, message, admitted, row, beside.octets(coming), beside)
}

async function performWithFile(
  calls: Calls,
  message: Message,
  admitted: Admitted,
  row: Values,
  octets: AsyncIterable<Uint8Array>,
  beside?: StreamedField,
): Promise<Values> {
  const { main = '' } = message.request
  const max = message.operation.kind === 'putFile' ? message.operation.file.max : 0
  const received = await calls.keep(admitted, octets, max)
  if (received) return { ...row, [main]: received }
  await beside?.passed() // a message that is too long as a whole is refused for that
  const path = faultWordingOf('', message).place([])
  return refuseMessage({
    kind: 'bounds',
    problems: [{ path, code: 'maxLength', detail: `must have at most ${max} octets` }],
  })
}

function responseOf(message: Message, call: Call, outcome: Outcome): OperationResponse {
  if (outcome.kind === 'unchanged') return refuseMessage(outcome)
  return {
    row: answerOf(message, call, outcome),
    standing: standingOf(outcome),
    ...(outcome.kind === 'file' && largeOf(message, outcome)),
    ...(outcome.kind === 'item' && { of: outcome.item }),
    ...(outcome.kind === 'file' && { mediaType: outcome.file.mediaType }),
  }
}

/** Nobody waits for what comes of it; that it could not be tried at all is told. */
async function performOneWay(calls: Calls, call: Call): Promise<OperationResponse> {
  try {
    await calls.perform(call)
  } catch (thrown) {
    if (!(thrown instanceof Refused) || thrown.refusal.kind === 'unavailable') throw thrown
  }
  return { row: {}, standing: undefined }
}

function callOf(
  message: Message,
  row: Values,
  admitted: Admitted,
  hidden: readonly string[],
  asked: OperationRequest,
): Call {
  const { id, version, ...rest } = row as { id?: string; version?: string } & Values // texts where the vocabulary has them
  const expects = asked.expects ?? (version === undefined ? undefined : sameVersion(version))
  return {
    admitted,
    face: 'soap',
    request: asked.request,
    ...(id !== undefined && { id }),
    ...(expects && { expects }),
    ...(hidden.length > 0 && { hidden }),
    ...(asked.once && { once: { ...asked.once(digestBytes(row)), space: 'message' } }),
    ...contentOf(message, row, rest),
  }
}

/** As it tells one message from another: of octets that are many, their digest. */
const digestBytes = (row: Values): Values =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, isReceived(value) ? (value.here ?? value.digest()) : value]),
  )
const isReceived = (value: unknown): value is ReceivedFile => value instanceof Object && 'digest' in value

const sameVersion = (version: string) => (current: Snapshot | undefined) =>
  current && String(current.version) === version ? 'proceed' : 'failed'

function contentOf({ operation, request }: Message, row: Values, rest: Values): Partial<Call> {
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
      const { page: _, size: __, cursor: ___, sort: ____, q: _____, ...flat } = row
      return { query: readQuery(operation.resource, row, request.main === undefined ? flat : ((main ?? {}) as Values)) }
    }
    case 'putFile': {
      const { mediaType } = row as { mediaType: string } // demanded by the vocabulary
      return { file: { mediaType, octets: main as ReceivedFile } }
    }
    default:
      return {}
  }
}
const inputOf = (value: Values): Partial<Call> => ({ input: () => ({ value, server: [] }) })

// Answers

/** Octets that are read as they are sent. */
function largeOf(
  { response }: Message,
  { octets }: Extract<Outcome, { kind: 'file' }>,
): Pick<OperationResponse, 'large'> {
  return octets && !octets.here ? { large: { field: response?.main ?? '', octets } } : {}
}

function standingOf(outcome: Outcome): OperationResponse['standing'] {
  if (outcome.kind === 'file') return outcome.file
  return 'item' in outcome ? outcome.item : undefined
}

function answerOf(message: Message, call: Call, outcome: Outcome): Values {
  const { response } = message
  if (!response) return {}
  const main = response.main ?? ''
  const shown = (item: Snapshot): Values => ({ ...item.value, [message.version]: String(item.version) })
  switch (outcome.kind) {
    case 'item':
      return { [main]: shown(outcome.item) }
    case 'output':
      return { [main]: outcome.output }
    case 'result':
      return { [main]: outcome.output }
    case 'page':
      return { [main]: outcome.page.items.map(shown), ...aboutPage(call, outcome.page) }
    case 'file': {
      const { mediaType, version } = outcome.file
      const bytes = outcome.octets?.here
      return { ...(bytes && { [main]: bytes }), mediaType, version: String(version) }
    }
    case 'job':
      return { job: jobOf(outcome.job), ...resultOf(response.fields, outcome.job) }
    default:
      return {}
  }
}

function aboutPage({ query }: Call, page: ItemPage): Values {
  const next = query && writeNext(query, page)
  return { ...(page.total !== undefined && { total: page.total }), ...(next !== undefined && { next }) }
}

const jobOf = ({ id, state, progress, created, failure }: JobRow): Values => ({
  id,
  state,
  progress,
  createdAt: new Date(created).toISOString(),
  ...(failure !== undefined && { failure }),
})

/** The result stands beside the job that is completed, under the one other name of the answer. */
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
    element: (fault, detail) => faultElement(namespace, fault, detail),
    place: path =>
      main === undefined
        ? wrapper + placeIn(request.fields, path)
        : `${wrapper}/${toXmlName(main)}[1]${placeIn(objectFields(request.fields[main]?.shape), path)}`,
  }
}

function faultElement(namespace: string, fault: Fault, detail: Values): string {
  const tag = toXmlName(fault.fault)
  let write = faultWriters.get(fault)
  if (!write) faultWriters.set(fault, (write = elementOf(fault)))
  return `<${tag} xmlns="${namespace}"${write(detail)}</${tag}>`
}
function elementOf({ detail }: Fault): (value: Values) => string {
  const [attributes, children] = [compileAttributesWriter(detail), compileRowWriter(detail, '')]
  return value => `${attributes?.(value) ?? ''}>${children(value, inlineWriting)}`
}
const faultWriters = new WeakMap<Fault, (detail: Values) => string>()

/** A path of names and indices as a path of elements, as `place` of `body.ts` writes it. */
function placeIn(fields: Fields, path: FieldProblem['path']): string {
  let written = ''
  let at: AnyField | undefined
  let key: string | undefined
  let inside = fields
  for (const part of path) {
    if (typeof part === 'number') {
      const list = at && asList(at.shape)
      written += `/${list ? itemName(list, key) : 'item'}[${part + 1}]`
      at = list?.item
      key = undefined
    } else {
      written += `/${toXmlName(part)}[1]`
      at = Object.hasOwn(inside, part) ? inside[part] : undefined
      key = part
    }
    inside = objectFields(at?.shape)
  }
  return written
}
