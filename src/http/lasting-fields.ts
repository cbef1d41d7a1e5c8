/**
 * The request fields that a client sends alike with each request of a connection, apart from those
 * that identify, date or condition one request (If-None-Match, traceparent, a name of the request).
 * What a request says may be remembered by these alone: a memory gets no others. Credentials are
 * apart from the rest: what a client sends and accepts stays the same when another caller asks.
 */
/** Fields by lower-case name. */
type NamedFields = Readonly<Record<string, string | undefined>>

/** In lower case. */
const lastingNames = ['accept', 'accept-encoding', 'content-encoding', 'content-range', 'content-type'] as const

/** Absent fields are undefined. */
export type LastingFields = { readonly [name in (typeof lastingNames)[number]]?: string | undefined }

export const selectLasting = (fields: NamedFields): LastingFields => ({
  accept: fields['accept'],
  'accept-encoding': fields['accept-encoding'],
  'content-encoding': fields['content-encoding'],
  'content-range': fields['content-range'],
  'content-type': fields['content-type'],
})

/** Whether the fields have these values, and no other lasting ones. */
export function hasLasting(fields: NamedFields, lasting: LastingFields): boolean {
  for (const name of lastingNames) if (fields[name] !== lasting[name]) return false
  return true
}

/** The caller's own field, of a caller that may ask again. */
export interface LastingCredentials {
  readonly authorization: string | undefined
}
