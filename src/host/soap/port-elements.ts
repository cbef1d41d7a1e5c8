/** The elements of ports as XML documents for REST, by the codecs of SOAP messages. */
import type { Port } from '../../contract/exchange.ts'
import type { ElementTexts, ReadElement } from '../../rest/compiled-face.ts'
import { Refused } from '../../service/refusal.ts'
import { createElementCodecs, type ElementCodec } from '../../soap/codecs/schema-codec.ts'
import { describeNames } from '../../soap/codecs/values.ts'
import type { AnySoapRefusal, SchemaFlaw } from '../../soap/refusal.ts'
import { Malformed, parseXml, walkTree } from '../../xml/index.ts'

export function createElementTexts(ports: readonly Port[]): ElementTexts {
  const codecOf = createElementCodecs(ports)
  return {
    read: (root, octets, charset) => readElementDocument(codecOf(root), octets, charset),
    write: (root, value) => `<?xml version="1.0" encoding="UTF-8"?>\n${codecOf(root).write(value)}`,
  }
}

function readElementDocument(codec: ElementCodec, octets: Uint8Array, charset: string | undefined): ReadElement {
  const document = parseXml(octets, charset === undefined ? {} : { charset })
  if (document instanceof Malformed) return { malformed: `${document.reason}, at ${document.at}` }
  const { name } = codec.plan
  if (document.root.name !== name)
    return describeProblemAt('', `must be the element ${describeNames([name])} of the namespace ${name.uri || '""'}`)
  const cursor = walkTree(document.root)
  cursor.next()
  const found: SchemaFlaw[] = []
  try {
    const value = codec.read(cursor, {
      flaws: found,
      parts: undefined,
      around: undefined,
      blocks: [],
      isDocument: true,
    })
    return found.length > 0 ? { problems: found.map(each => ({ ...each, path: splitPath(each.path) })) } : { value }
  } catch (thrown) {
    const refusal = thrown instanceof Refused ? (thrown.refusal as AnySoapRefusal) : undefined // Refused has no other refusals
    if (refusal?.kind !== 'schema') throw thrown
    return describeProblemAt(refusal.path, refusal.detail)
  }
}
const describeProblemAt = (path: string, detail: string): ReadElement => ({
  problems: [{ path: splitPath(path), code: 'schema', detail }],
})
const splitPath = (path: string): readonly string[] => path.split('/').slice(1)
