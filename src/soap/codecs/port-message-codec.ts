/**
 * The codec of the messages of an exchange, in each of its styles: what is in the Body, and what
 * travels next to the envelope.
 */
import { mayReferToParts, splitBody } from '../../contract/attached-parts.ts'
import type { ExchangeBody, PortExchange } from '../../contract/exchange.ts'
import type { Cursor } from '../../xml/index.ts'
import type { SoapVersion } from '../version.ts'
import { readAttachedParts, writeAttachedParts } from './attached-values.ts'
import { type BodyCodec, createBodyCodecs } from './body-codec.ts'
import { createElementCodecs } from './schema-codec.ts'
import { createEncodedCodecs, type EncodedCodec } from './schema-encoded.ts'
import type { LiteralReading, LiteralWriting } from './values.ts'

export interface PortMessageCodec extends Pick<BodyCodec, 'firsts' | 'mayBegin' | 'mend'> {
  /** At the first child of Body, or at its `end`; moves to this `end`. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => unknown
  /** All children of Body. */
  readonly write: (value: unknown, writing: LiteralWriting, version: SoapVersion) => string
  /** Whether parts travel next to the message, or may do so because it refers to them. */
  readonly hasParts: boolean
}

/** The codecs of the messages of one endpoint share the plans of their types. */
export function createPortMessageCodecs(literal = createElementCodecs(), encoded = createEncodedCodecs()) {
  const bodyOf = createBodyCodecs(literal)
  return (body: ExchangeBody, style: PortExchange['style']): PortMessageCodec => {
    const { inBody, attached } = splitBody(body)
    const codec = { ...bodyOf(inBody), ...(style === 'encoded' && inBody !== 'empty' && encodedCodec(encoded(inBody))) }
    const { read, write }: Pick<PortMessageCodec, 'read' | 'write'> = codec
    if (attached.length === 0) return { ...codec, hasParts: mayReferToParts(body) }
    const name = body === 'empty' ? '' : body.name.local
    return {
      ...codec,
      hasParts: true,
      read: (cursor, reading, version) => ({
        ...(read(cursor, reading, version) as object | undefined), // an object: its type is complex
        ...readAttachedParts(attached, reading),
      }),
      write: (value, writing, version) => {
        const row = writeAttachedParts(attached, name, value, writing)
        return write(inBody === 'empty' ? undefined : row, writing, version)
      },
    }
  }
}

const encodedCodec = ({ read, write }: EncodedCodec): Pick<PortMessageCodec, 'read' | 'write'> => ({
  read,
  write: (value, writing, version) => write(value, version, writing),
})
