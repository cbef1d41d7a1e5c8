/**
 * RFC 9457 problem details, as application/problem+json and (Appendix B) application/problem+xml
 * (A2.5).
 */
import { type Json, writeJson } from './json.ts'
import { isRecord } from './json-pointer.ts'

/** §3.1; any other member is an extension (§3.2). */
export interface Problem {
  /** A URI reference; `about:blank` if absent. */
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly status?: number | undefined
  readonly detail?: string | undefined
  readonly instance?: string | undefined
  readonly [extension: string]: Json | undefined
}

/** A problem as application/problem+json (RFC 9457 §3); undefined members are left out. */
export function writeProblemJson(problem: Problem): string {
  return writeJson(presentMembers(problem))
}

function presentMembers(problem: Problem): { readonly [name: string]: Json } {
  const members = Object.entries(problem).filter((member): member is [string, Json] => member[1] !== undefined)
  return Object.fromEntries(members)
}

/** Appendix B: a member is an element with its name; an array has an `<i>` for each item. */
export function writeProblemXml(problem: Problem): string {
  const members = Object.entries(presentMembers(problem)).map(([name, value]) => writeProblemElement(name, value))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<problem xmlns="urn:ietf:rfc:7807">${members.join('')}</problem>`
}

/** A name that is not a valid element name becomes an attribute: `<member name="total[gte]">`. */
function writeProblemElement(name: string, value: Json): string {
  if (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return `<${name}>${writeProblemValue(value)}</${name}>`
  return `<member name="${escapeProblemText(name)}">${writeProblemValue(value)}</member>`
}

function writeProblemValue(value: Json): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(item => writeProblemElement('i', item)).join('')
  if (isRecord(value))
    return Object.entries(value)
      .map(([name, item]) => writeProblemElement(name, item))
      .join('')
  return escapeProblemText(String(value))
}

const problemEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** XML 1.0 §2.2, §2.4. A character that no document can hold, even escaped, becomes U+FFFD. */
const escapeProblemText = (text: string) =>
  text
    .toWellFormed()
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\r]/g, char => problemEscapes[char]!)

/** §3.1, for clients: a member whose type is not the one in the RFC is ignored. */
export function parseProblem(value: Json): Problem | undefined {
  if (!isRecord(value)) return undefined
  const members = Object.entries(value).filter(([name, member]) => {
    if (name === 'status')
      return typeof member === 'number' && Number.isInteger(member) && member >= 100 && member <= 599
    return !['type', 'title', 'detail', 'instance'].includes(name) || typeof member === 'string'
  })
  return Object.fromEntries(members)
}
