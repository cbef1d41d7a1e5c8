/** RFC 9457 problem details, as application/problem+json and (Appendix B) application/problem+xml (A2.5). */
import { type Json, writeJson } from './json.ts'
import { isRecord } from './json-pointer.ts'

/** §3.1; whatever else it has is an extension (§3.2). */
export interface Problem {
  /** A URI reference; `about:blank` when it is not there. */
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly status?: number | undefined
  readonly detail?: string | undefined
  readonly instance?: string | undefined
  readonly [extension: string]: Json | undefined
}

export function writeProblemJson(problem: Problem): string {
  return writeJson(given(problem))
}

function given(problem: Problem): { readonly [name: string]: Json } {
  const members = Object.entries(problem).filter((member): member is [string, Json] => member[1] !== undefined)
  return Object.fromEntries(members)
}

/** Appendix B: a member is an element of its name, an array holds an `<i>` for each of its items. */
export function writeProblemXml(problem: Problem): string {
  const members = Object.entries(given(problem)).map(([name, value]) => element(name, value))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<problem xmlns="urn:ietf:rfc:7807">${members.join('')}</problem>`
}

/** A name that no element can have is an attribute of one: `<member name="total[gte]">`. */
function element(name: string, value: Json): string {
  if (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return `<${name}>${inner(value)}</${name}>`
  return `<member name="${escapeText(name)}">${inner(value)}</member>`
}

function inner(value: Json): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(item => element('i', item)).join('')
  if (isRecord(value))
    return Object.entries(value)
      .map(([name, item]) => element(name, item))
      .join('')
  return escapeText(String(value))
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** XML 1.0 §2.2, §2.4. What no document may hold, even escaped, becomes U+FFFD. */
const escapeText = (text: string) =>
  text
    .toWellFormed()
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\r]/g, char => references[char]!)

/** §3.1, for clients: a member of another type than the RFC gives it is ignored. */
export function parseProblem(value: Json): Problem | undefined {
  if (!isRecord(value)) return undefined
  const members = Object.entries(value).filter(([name, member]) => {
    if (name === 'status')
      return typeof member === 'number' && Number.isInteger(member) && member >= 100 && member <= 599
    return !['type', 'title', 'detail', 'instance'].includes(name) || typeof member === 'string'
  })
  return Object.fromEntries(members)
}
