/**
 * The header blocks that a contract declares, as its service and its client convert them: from
 * block to value and from value to block.
 */
import { isOfRequest, isOfResponse, type NamedHeader } from '../../contract/header.ts'
import { compileTypeNames, typeRootsOfHeaders } from '../../contract/type-names.ts'
import { type Message, toXmlName } from '../../contract/xml-message.ts'
import type { CallHeaders } from '../../service/call.ts'
import { CanonicalBudget } from '../../xml/canonical-budget.ts'
import {
  type Cursor,
  clarkNotation,
  escapeText,
  internName,
  Malformed,
  parseXml,
  readElement,
  writeAttribute,
} from '../../xml/index.ts'
import { compileValueReader } from '../codecs/literal-read.ts'
import { type LiteralReading, qualifiedSpace, type ReadValue, typesIn } from '../codecs/values.ts'
import { refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import { attributesFor, type Block, compileBlockWriter, isForeignAttribute } from './block.ts'

export interface HeaderCodec {
  readonly header: NamedHeader
  /** The block as a message has it. */
  readonly block: Block
  readonly write: (value: unknown, version: SoapVersion) => string
}

/** The codecs of all headers of these messages. */
export function compileHeaders(messages: readonly Message[]): readonly HeaderCodec[] {
  const all = new Map(messages.flatMap(({ headers }) => headers.map(each => [each.name, each] as const)))
  return [...all.values()].map(header => compileHeader(header, [...all.values()], messages))
}

function compileHeader(header: NamedHeader, all: readonly NamedHeader[], messages: readonly Message[]): HeaderCodec {
  const { uri, role, content, isMandatory } = header
  const local = toXmlName(header.name)
  const having = messages.filter(({ headers }) => headers.some(each => each.name === header.name))
  const write = content === 'xml' ? compileXmlWriter(uri, local) : compileBlockWriter(uri, header.name, content)
  return {
    header,
    block: {
      name: internName(uri, local),
      roles: role === undefined ? undefined : [role],
      operations: new Set(having.map(({ operation }) => operation.name)),
      read: content === 'xml' ? readXml : compileContentReader(header, all),
      process: () => {},
    },
    write: (value, version) =>
      write(value as string, { version, ...(role !== undefined && { role }), mandatory: isMandatory }), // checked against the declaration
  }
}

function compileContentReader({ content, name, uri }: NamedHeader, all: readonly NamedHeader[]): ReadValue {
  if (content === 'xml') return readXml
  const types = compileTypeNames(typeRootsOfHeaders(all.filter(each => each.uri === uri)))
  return compileValueReader(content, name, qualifiedSpace(uri, typesIn(uri, types)), isForeignAttribute)
}

/** The content of a block: each element declares the outer namespaces that it uses. */
function readXml(cursor: Cursor, { around }: LiteralReading): string {
  const { children, from, to } = readElement(cursor, around)
  const budget = new CanonicalBudget(to - from)
  const texts = children.map(child => {
    if (child.kind !== 'element') return child.kind === 'text' ? escapeText(child.value) : ''
    return budget.canonicalizeText(child, { exclusive: true, comments: false })
  })
  return texts.join('')
}

/** @throws Error for content that is not well-formed */
function compileXmlWriter(uri: string, local: string): ReturnType<typeof compileBlockWriter<string>> {
  const tag = `b:${local}`
  return (content, to) => {
    const block = `<${tag} xmlns:b=${writeAttribute(uri)}${to ? attributesFor(to) : ''}>${content}</${tag}>`
    const parsed = parseXml(new TextEncoder().encode(block))
    if (parsed instanceof Malformed) throw new Error(`the header ${local} is not well-formed: ${parsed.reason}`)
    return block
  }
}

/** The headers of a request, for the service; refuses a missing or repeated header. */
export function callHeadersOf(
  codecs: readonly HeaderCodec[],
  request: { readonly version: SoapVersion; readonly blocks: (declared: Block) => readonly unknown[] },
): CallHeaders {
  const requested = codecs.filter(({ header }) => isOfRequest(header))
  const replied = codecs.filter(({ header }) => isOfResponse(header))
  return {
    given: Object.fromEntries(requested.flatMap(codec => readHeader(codec, request.blocks(codec.block)))),
    answer: new Map(),
    write: (name, value) => replied.find(({ header }) => header.name === name)?.write(value, request.version),
  }
}

function readHeader({ header, block }: HeaderCodec, values: readonly unknown[]): [name: string, value: unknown][] {
  const refuseBlock = (flaw: string): never =>
    refuseMessage({ kind: 'structure', detail: `the header block ${clarkNotation(block.name)} ${flaw}` })
  if (values.length > 1) refuseBlock('is repeated: send one')
  if (values.length === 1) return [[header.name, values[0]]]
  return header.isRequired ? refuseBlock('is missing: send one') : []
}
