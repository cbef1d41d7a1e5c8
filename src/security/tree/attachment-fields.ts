import { removeComments } from '../../base/multipart-reader.ts'

/**
 * The MIME fields of an attachment that its signature or its encryption covers (SwA Profile 1.1
 * §5.3.2, §5.4.1, §5.5.2): these five, and no others.
 */
const coveredFields = [
  'Content-Description', 'Content-Disposition', 'Content-ID', 'Content-Location', 'Content-Type',
] as const // biome-ignore format: a list of names reads best in few lines
const structured: ReadonlySet<string> = new Set(['Content-Disposition', 'Content-Type'])

type PartFields = Readonly<Record<string, string>>

/** §5.4.1, unfolded fields, sorted, without comments, with their parameters quoted and sorted. */
export function canonicalizeFields(fields: PartFields): Buffer {
  const lines = coveredFields.flatMap(name => {
    const value = fields[name.toLowerCase()] ?? (name === 'Content-Type' ? 'text/plain; charset=us-ascii' : undefined)
    if (value === undefined) return []
    const bare = removeComments(value)
    return [`${name}:${structured.has(name) ? canonicalizeParameters(bare) : bare}\r\n`]
  })
  return Buffer.from(lines.join(''))
}

/** Parameters whose values are case-insensitive. */
const caseless: ReadonlySet<string> = new Set([
  'charset', 'creation-date', 'filename', 'modification-date', 'padding', 'read-date', 'size', 'type',
]) // biome-ignore format: a list of names reads best in few lines

/** Splits at semicolons outside quotes; an unclosed quote extends to the end. */
function splitParameters(value: string): readonly string[] {
  const pieces = ['']
  for (const token of value.match(/"(?:[^"\\]|\\.?)*"?|;|[^;"]+/gs) ?? [])
    if (token === ';') pieces.push('')
    else pieces[pieces.length - 1] += token
  return pieces
}

function canonicalizeParameters(value: string): string {
  const [essence = '', ...rest] = splitParameters(value)
  const parameters = rest.flatMap(each => {
    const at = each.indexOf('=')
    if (at < 0) return []
    const name = each.slice(0, at).trim().toLowerCase()
    const bare = each.slice(at + 1).trim().replace(/^"(.*)"$/s, '$1').replace(/\\(.)/gs, '$1')
    const parameterValue = caseless.has(name) ? bare.toLowerCase() : bare
    return [`;${name}="${parameterValue.replace(/["\\]/g, '\\$&')}"`]
  })
  return essence.trim().toLowerCase() + parameters.sort().join('')
} // biome-ignore format: one step a line

/** The fields that encryption covers (§5.5.2), and the empty line that ends them. */
export function writeCoveredFields(fields: PartFields): Buffer {
  const lines = coveredFields.flatMap(name => {
    const value = fields[name.toLowerCase()]
    return value === undefined ? [] : [`${name}: ${value}\r\n`]
  })
  return Buffer.from(`${lines.join('')}\r\n`, 'latin1')
}

/** The limit for all field lines together. */
const fieldOctetsMax = 8 * 1024

/**
 * The fields that were encrypted, and where the content begins; undefined: the octets are something
 * else.
 */
export function readCoveredFields(octets: Uint8Array): { readonly fields: PartFields; readonly end: number } | undefined {
  const head = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, fieldOctetsMax)).toString('latin1')
  const length = head.startsWith('\r\n') ? 0 : head.indexOf('\r\n\r\n') + 2
  if (length === 1) return undefined
  const fields: Record<string, string> = Object.create(null)
  for (const line of head.slice(0, length).replace(/\r\n(?=[ \t])/g, '').split('\r\n').slice(0, -1)) {
    const at = line.indexOf(':')
    const name = coveredFields.find(each => each.toLowerCase() === line.slice(0, at).trimEnd().toLowerCase())
    if (!name || fields[name.toLowerCase()] !== undefined) return undefined
    fields[name.toLowerCase()] = line.slice(at + 1).trim()
  }
  return fields['content-type'] === undefined ? undefined : { fields, end: length + 2 }
} // biome-ignore format: one step a line
