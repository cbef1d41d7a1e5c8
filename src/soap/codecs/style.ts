/** How a style puts a request and its response into the Body (WSDL 1.1 §3.4, §3.5). */

import type { MessageStyle } from '../../contract/endpoint-rule.ts'
import type { Values } from '../../contract/implement.ts'
import type { MessagePart } from '../../contract/xml-message.ts'
import { type Cursor, writeAttribute } from '../../xml/index.ts'
import { refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import { compileEncodedReader } from './encoded-read.ts'
import { compileEncodedWriter } from './encoded-write.ts'
import { compileRowReader } from './literal-read.ts'
import { compileAttributesWriter, compileRowWriter } from './literal-write.ts'
import { compileRpcReader, compileRpcWriter, readAsArguments } from './rpc.ts'
import { type LiteralReading, type LiteralWriting, type TypeSpace, typesIn } from './values.ts'

export interface MessageCodec {
  /** At the `start` of the request's element; moves to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values
  readonly write: (response: Values, writing: LiteralWriting, version: SoapVersion) => string
}

export interface CodecNames {
  /** By default no schema is published. */
  readonly types?: TypeSpace
  /**
   * The namespace of the elements inside parameters; by default that of the message, in RPC none.
   */
  readonly inner?: string
}
type CompileCodec = (
  namespace: string,
  request: MessagePart,
  response: MessagePart | undefined,
  names?: CodecNames,
) => MessageCodec

/**
 * Document/literal wrapped (rule B2.7): one element whose children, all qualified, are the
 * parameters.
 */
const compileDocument: CompileCodec = (
  namespace,
  request,
  response,
  { types = typesIn(namespace), inner = namespace } = {},
) => {
  const below = inner === namespace ? '' : 't:'
  const write = compileRowWriter(response?.fields ?? {}, '', below)
  const attributes = compileAttributesWriter(response?.fields ?? {})
  const outer = `xmlns=${writeAttribute(namespace)}`
  const scope = below === '' ? outer : `${outer} xmlns:t=${writeAttribute(inner)}`
  const [open, close] = [`<${response?.name} ${scope}`, `</${response?.name}>`]
  const read = compileRowReader(request.fields, { children: namespace, below: inner, types, form: 'qualified' })
  return {
    read: (cursor, reading) => requireOnlyChild(read(cursor, reading), cursor),
    write: (row, writing) => `${open}${attributes?.(row) ?? ''}>${write(row, writing)}${close}`,
  }
}

/**
 * From the element's `end` to that of Body: a literal request is one element (WS-I Basic Profile
 * 1.1 R2201, R9981).
 */
export function requireOnlyChild<T>(content: T, cursor: Cursor): T {
  if (cursor.child() !== 'end') refuseMessage({ kind: 'structure', detail: 'the Body has more than one element' })
  return content
}

const compileRpc: CompileCodec = (namespace, request, response, { types = typesIn(namespace), inner = '' } = {}) => {
  const read = compileRpcReader(request.fields, types, inner)
  const write = compileRpcWriter(namespace, response?.name ?? '', response?.fields ?? {}, inner)
  return {
    read: (cursor, reading, version) =>
      requireOnlyChild(
        readAsArguments(() => read(cursor, reading, version)),
        cursor,
      ),
    write,
  }
}

const compileEncoded: CompileCodec = (namespace, request, response, { types = typesIn(namespace) } = {}) => {
  const write = compileEncodedWriter(namespace, response?.name ?? '', response?.fields ?? {}, types)
  return {
    read: compileEncodedReader(namespace, request.fields, types),
    write: (row, _writing, version) => write(row, version),
  }
}

export const messageStyles: Readonly<Record<MessageStyle, CompileCodec>> = {
  document: compileDocument,
  rpc: compileRpc,
  encoded: compileEncoded,
}
