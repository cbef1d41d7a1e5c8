/**
 * RFC 6266 Content-Disposition. Guards against names that end the field or contain a path: whatever
 * the name, one line is written, with a plain name for old readers and the exact one for the
 * others.
 */

import { parseExtValue, writeExtValue } from './ext-value.ts'
import { cursorOver, isAtEnd, type Parameters, quoteString, readParameters, readToken, skipSpace } from './grammar.ts'

/** @param name for people; directories in it are left out, control characters become "_" */
export function writeDisposition(type: 'attachment' | 'inline', name?: string): string {
  if (name === undefined) return type
  const file = stripDirectories(name)
  // Appendix D: "%" and hexadecimal digits in the plain form are decoded by some readers.
  const plain = file.replace(/[^\x20-\x7e]|%/gu, '_')
  return plain === file
    ? `${type}; filename=${quoteString(file)}`
    : `${type}; filename=${quoteString(plain)}; filename*=${writeExtValue(file)}`
}

/** §4.3: recipients use only the last path segment; neither `.` nor `..` is a name. */
function stripDirectories(name: string): string {
  const last = name
    .toWellFormed()
    .replace(/[\0-\x1f\x7f-\x9f]/g, '_')
    .split(/[/\\]/)
    .at(-1)! // split yields at least one part
  return /^\.*$/.test(last) ? '_' : last
}

/** The field Content-Disposition (RFC 6266 §4.1). */
export interface Disposition {
  readonly type: string
  /** filename* rather than filename (§4.3), without directories. */
  readonly filename?: string
  readonly parameters: Parameters
}

/** The meaning of a Content-Disposition field; undefined if it does not follow RFC 6266 §4.1. */
export function parseDisposition(field: string): Disposition | undefined {
  const cursor = cursorOver(field)
  const type = readToken(cursor).toLowerCase()
  const parameters = readParameters(cursor)
  skipSpace(cursor)
  if (type === '' || parameters === undefined || !isAtEnd(cursor)) return undefined
  const exact = parameters['filename*'] === undefined ? undefined : parseExtValue(parameters['filename*'])
  const filename = exact ?? parameters['filename']
  return { type, parameters, ...(filename !== undefined && { filename: stripDirectories(filename) }) }
}
