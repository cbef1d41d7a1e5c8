/** How an endpoint's messages put a request and its answer into the Body (WSDL 1.1 §3.4, §3.5). */

import type { Values } from '../../contract/implement.ts'
import type { MessagePart, MessageStyle } from '../../contract/xml-message.ts'
import type { Cursor } from '../../xml/index.ts'
import { refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import { compileEncodedReader } from './encoded-read.ts'
import { compileEncodedWriter } from './encoded-write.ts'
import { compileRowReader } from './literal-read.ts'
import { compileAttributesWriter, compileRowWriter } from './literal-write.ts'
import { compileRpcReader, compileRpcWriter, readAsArguments } from './rpc.ts'
import type { LiteralReading, LiteralWriting } from './values.ts'

export interface MessageCodec {
  /** At the `start` of the request's element; goes to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values
  readonly write: (answer: Values, writing: LiteralWriting, version: SoapVersion) => string
}
/** @param types the namespace of named types; that of the elements unless it is another */
export type CodecOf = (
  namespace: string,
  request: MessagePart,
  response: MessagePart | undefined,
  types?: string,
) => MessageCodec

/** Document/literal wrapped (rule B2.7): one element, whose children are the parameters, all qualified. */
const document: CodecOf = (namespace, request, response, types = namespace) => {
  const below = types === namespace ? '' : 't:'
  const write = compileRowWriter(response?.fields ?? {}, '', below)
  const attributes = compileAttributesWriter(response?.fields ?? {})
  const scope = below === '' ? `xmlns="${namespace}"` : `xmlns="${namespace}" xmlns:t="${types}"`
  const [open, close] = [`<${response?.name} ${scope}`, `</${response?.name}>`]
  const read = compileRowReader(request.fields, { children: namespace, below: types, types })
  return {
    read: (cursor, reading) => onlyChild(read(cursor, reading), cursor),
    write: (answer, writing) => `${open}${attributes?.(answer) ?? ''}>${write(answer, writing)}${close}`,
  }
}

/** From its `end` to that of Body: a literal request is one element (WS-I Basic Profile 1.1 R2201, R9981). */
export function onlyChild<T>(content: T, cursor: Cursor): T {
  if (cursor.child() !== 'end') refuseMessage({ kind: 'structure', detail: 'the Body holds more than one element' })
  return content
}

const rpc: CodecOf = (namespace, request, response) => {
  const read = compileRpcReader(namespace, request.fields)
  const write = compileRpcWriter(namespace, response?.name ?? '', response?.fields ?? {})
  return {
    read: (cursor, reading) =>
      onlyChild(
        readAsArguments(() => read(cursor, reading)),
        cursor,
      ),
    write,
  }
}

const encoded: CodecOf = (namespace, request, response, types) => {
  const write = compileEncodedWriter(namespace, response?.name ?? '', response?.fields ?? {}, types)
  return {
    read: compileEncodedReader(namespace, request.fields, types),
    write: (answer, _writing, version) => write(answer, version),
  }
}

export const messageStyles: Readonly<Record<MessageStyle, CodecOf>> = { document, rpc, encoded }
