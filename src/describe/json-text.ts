import type { Json } from '../base/objects.ts'

/**
 * JSON for people: indented by two spaces, short values on one line, a bigint with all its digits,
 * minus zero with its sign.
 */
export function writeJsonText(json: Json, indent = ''): string {
  if (Object.is(json, -0)) return '-0'
  if (typeof json !== 'object' || json === null) return typeof json === 'bigint' ? String(json) : JSON.stringify(json)
  const inner = `${indent}  `
  if (Array.isArray(json))
    return writeBlock(
      '[',
      json.map(item => writeJsonText(item, inner)),
      ']',
      indent,
    )
  const members = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${writeJsonText(value, inner)}`)
  return writeBlock('{', members, '}', indent)
}

function writeBlock(open: string, parts: readonly string[], close: string, indent: string): string {
  const line = parts.join(', ')
  if (line.length < 80 && !line.includes('\n')) return open === '{' && line !== '' ? `{ ${line} }` : open + line + close
  return `${open}\n${parts.map(part => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`
}
