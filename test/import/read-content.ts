import { Refused } from '../../src/service/refusal.ts'
import type { ElementCodec } from '../../src/soap/codecs/schema-codec.ts'
import { type Document, parseXml, walkTree } from '../../src/xml/index.ts'

/** The value of an element; undefined where the contract refuses it. */
export function readContent(codec: ElementCodec, text: string): unknown {
  const { root } = parseXml(Buffer.from(text)) as Document
  const cursor = walkTree(root)
  cursor.next()
  const reading = { flaws: [], parts: undefined, around: root.parent, blocks: [] } as unknown as Parameters<
    ElementCodec['read']
  >[1]
  try {
    const value = codec.read(cursor, reading)
    return (reading.flaws as readonly unknown[]).length === 0 ? value : undefined
  } catch (thrown) {
    if (thrown instanceof Refused) return undefined
    throw thrown
  }
}
