/** The name of the one element that a text is. */
import { Malformed } from './malformed.ts'
import type { Name } from './name.ts'
import { parseXml } from './tree.ts'

const utf8 = new TextEncoder()

/** Undefined: it is not the text of an element. */
export function readRootName(text: string): Name | undefined {
  const document = parseXml(utf8.encode(text))
  return document instanceof Malformed ? undefined : document.root.name
}
