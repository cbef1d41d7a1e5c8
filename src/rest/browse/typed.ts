/** What was typed into a form. */
import { decodeUtf8 } from '../../base/attempt.ts'
import { parseTextTree, type TextMembers } from '../../html/text-tree.ts'
import { parseQuery } from '../../http/uri.ts'

/** The names and texts of a form's content; undefined if they cannot be read. */
export function parseTyped(bytes: Uint8Array): TextMembers | undefined {
  const text = decodeUtf8(bytes)
  const pairs = text === undefined ? undefined : parseQuery(text)
  return pairs && parseTextTree(pairs)
}
