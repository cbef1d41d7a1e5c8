/** How an endpoint's messages put a request and its answer into the Body (WSDL 1.1 §3.4, §3.5). */
import type { Row } from '../../contract/implement.ts'
import type { Part } from '../../contract/xml-message.ts'
import type { Cursor } from '../../xml/index.ts'
import { no } from '../refusal.ts'
import type { Version } from '../version.ts'
import { encodedReader } from './encoded-read.ts'
import { encodedWriter } from './encoded-write.ts'
import { rowReader } from './literal-read.ts'
import { attributesWriter, rowWriter } from './literal-write.ts'
import { asArguments, rpcReader, rpcWriter } from './rpc.ts'
import type { Reading, Writing } from './values.ts'

export type Style = 'document' | 'rpc' | 'encoded'

export interface Codec {
  /** At the `start` of the request's element; goes to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: Reading, version: Version) => Row
  readonly write: (answer: Row, writing: Writing, version: Version) => string
}
/** @param types the namespace of named types; that of the elements unless it is another */
export type CodecOf = (namespace: string, request: Part, response: Part | undefined, types?: string) => Codec

/** Document/literal wrapped (rule B2.7): one element, whose children are the parameters, all qualified. */
const document: CodecOf = (namespace, request, response, types = namespace) => {
  const below = types === namespace ? '' : 't:'
  const write = rowWriter(response?.fields ?? {}, '', below)
  const attributes = attributesWriter(response?.fields ?? {})
  const scope = below === '' ? `xmlns="${namespace}"` : `xmlns="${namespace}" xmlns:t="${types}"`
  const [open, close] = [`<${response?.name} ${scope}`, `</${response?.name}>`]
  const read = rowReader(request.fields, { children: namespace, below: types, types })
  return {
    read: (cursor, reading) => alone(read(cursor, reading), cursor),
    write: (answer, writing) => `${open}${attributes?.(answer) ?? ''}>${write(answer, writing)}${close}`,
  }
}

/** From its `end` to that of Body: a literal request is one element (WS-I Basic Profile 1.1 R2201, R9981). */
export function alone<T>(content: T, cursor: Cursor): T {
  if (cursor.child() !== 'end') no({ kind: 'structure', detail: 'the Body holds more than one element' })
  return content
}

const rpc: CodecOf = (namespace, request, response) => {
  const read = rpcReader(namespace, request.fields)
  const write = rpcWriter(namespace, response?.name ?? '', response?.fields ?? {})
  return {
    read: (cursor, reading) =>
      alone(
        asArguments(() => read(cursor, reading)),
        cursor,
      ),
    write,
  }
}

const encoded: CodecOf = (namespace, request, response, types) => {
  const write = encodedWriter(namespace, response?.name ?? '', response?.fields ?? {}, types)
  return {
    read: encodedReader(namespace, request.fields, types),
    write: (answer, _writing, version) => write(answer, version),
  }
}

export const styles: Readonly<Record<Style, CodecOf>> = { document, rpc, encoded }
