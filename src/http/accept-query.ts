import { parseMediaType } from './media-type.ts'
import { type Item, item, string, writeItem } from './structured.ts'

/**
 * RFC 10008 §3 Accept-Query: the media types that QUERY takes, as a structured list of tokens (or strings, where a type is no
 * such token) whose parameters are theirs. What is no media type is left out. (Accept-Post and Accept-Patch are plain lists.)
 */
export function writeAcceptQuery(mediaTypes: readonly string[]): string {
  return mediaTypes.flatMap(text => member(text) ?? []).join(', ')
}

function member(text: string): string | undefined {
  const type = parseMediaType(text)
  if (type === undefined) return undefined
  const given = Object.entries(type.parameters).map(([name, value]) => [name, string(value)] as const)
  const parameters = Object.fromEntries(given)
  const token: Item = item({ kind: 'token', value: type.essence }, parameters)
  return writeItem(token) ?? writeItem(item(string(type.essence), parameters))
}
