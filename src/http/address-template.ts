/**
 * Address templates of WSDL 2.0 Part 2 §6.8.1 and §6.8.2: `{name}` stands for a value, `{!name}`
 * for one with unencoded reserved characters, `{{` and `}}` for braces. Uncited values follow as
 * parameters. Matching is linear in the address.
 */
import { decodePercent } from '../base/attempt.ts'
import { encodeSegment, type Pairs, parseQuery } from './uri.ts'

/** The values in an address below its endpoint; undefined: it does not match the template. */
export type MatchAddress = (rest: string) => Pairs | undefined

type TemplatePart = { readonly kind: 'literal'; readonly text: string } | ValuePart
interface ValuePart {
  readonly kind: 'value'
  readonly name: string
  readonly isRaw: boolean
  /** Behind the `?` of the template. */
  readonly isInQuery: boolean
}

/**
 * @param template relative to the path of an endpoint and a slash
 * @returns undefined for a template that is malformed, leads elsewhere, or has adjacent values
 */
export function compileAddressTemplate(template: string): MatchAddress | undefined {
  const parts = parseTemplate(template.replace(/^(?:\.\/)+/, ''))
  if (!parts || leadsElsewhere(parts)) return undefined
  if (parts.some((each, at) => each.kind === 'value' && parts[at + 1]?.kind === 'value')) return undefined
  const hasQuery = parts.some(opensQuery)
  return rest => matchParts(parts, hasQuery, rest)
}

const opensQuery = (part: TemplatePart): boolean => part.kind === 'literal' && part.text.includes('?')

function leadsElsewhere([first]: readonly TemplatePart[]): boolean {
  if (!first) return false
  return first.kind === 'value' ? first.isRaw : /^(?:\/|\.\.(?:\/|$)|[A-Za-z][A-Za-z0-9+.-]*:)/.test(first.text)
}

function parseTemplate(template: string): readonly TemplatePart[] | undefined {
  const parts: TemplatePart[] = []
  let literal = ''
  const closeLiteral = (): void => {
    if (literal !== '') parts.push({ kind: 'literal', text: spellLiteral(literal, parts.some(opensQuery)) })
    literal = ''
  }
  for (const [token] of template.matchAll(/\{\{|\}\}|\{!?[^{}!]+\}|[\s\S]/g)) {
    if (token === '{' || token === '}') return undefined
    if (token === '{{' || token === '}}') literal += token.charAt(0)
    else if (!token.startsWith('{')) literal += token
    else {
      closeLiteral()
      const isRaw = token.startsWith('{!')
      parts.push({ kind: 'value', name: token.slice(isRaw ? 2 : 1, -1), isRaw, isInQuery: parts.some(opensQuery) })
    }
  }
  closeLiteral()
  return parts
}

/** RFC 3987 §3.1: escapes stay; those of a path are spelt as `normalizePath` spells them. */
function spellLiteral(literal: string, isInQuery: boolean): string {
  const pathEnd = isInQuery ? 0 : literal.indexOf('?')
  return literal.replace(/(?:%[0-9A-Fa-f]{2})+|[^%]+|%/g, (piece, at: number) => {
    if (!/^%./.test(piece)) return encodeURI(piece)
    const isOfPath = pathEnd < 0 || at < pathEnd
    const decoded = isOfPath ? decodePercent(piece) : undefined
    return decoded === undefined ? piece.toUpperCase() : encodeSegment(decoded)
  })
}

function matchParts(parts: readonly TemplatePart[], hasQuery: boolean, rest: string): Pairs | undefined {
  const pairs: (readonly [string, string])[] = []
  let at = 0
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'literal') {
      if (!rest.startsWith(part.text, at)) return undefined
      at += part.text.length
      continue
    }
    const end = endOfValue(part, parts[index + 1], rest, at)
    const value = end < 0 ? undefined : decodePercent(rest.slice(at, end))
    if (value === undefined || (!part.isRaw && !part.isInQuery && /[/?]/.test(rest.slice(at, end)))) return undefined
    pairs.push([part.name, value])
    at = end
  }
  const others = matchUncited(rest.slice(at), hasQuery)
  return others && [...pairs, ...others]
}

/**
 * A value ends where the next text of the template begins; the last one ends with its parameter or
 * segment. In a segment `&` and `;` are data (RFC 3986 §3.3), in a parameter `/` and `?` (§3.4).
 */
function endOfValue({ isRaw, isInQuery }: ValuePart, next: TemplatePart | undefined, rest: string, at: number): number {
  if (next?.kind === 'literal') return rest.indexOf(next.text, at)
  const found = isRaw ? -1 : rest.slice(at).search(isInQuery ? /[&;]/ : /\?/)
  return found < 0 ? rest.length : at + found
}

/** §6.8.2.2: parameters for uncited values, after those of the template. */
function matchUncited(rest: string, hasQuery: boolean): Pairs | undefined {
  if (rest === '') return []
  const isQuery = hasQuery ? /^[&;]/.test(rest) : rest.startsWith('?')
  return isQuery ? parseQuery(rest.slice(1).replaceAll(';', '&')) : undefined
}
