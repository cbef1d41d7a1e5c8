/**
 * The request fields that a client usually sends unchanged in each request of a connection, without
 * those that identify, date or condition one request (If-None-Match, traceparent, a request id).
 * The meaning of a request may be remembered only by these fields: a cache gets no others.
 * Credentials are separate: what a client sends and accepts stays the same when the caller changes.
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

/** Whether the fields have these values, and no other lasting field. */
export function hasLasting(fields: NamedFields, lasting: LastingFields): boolean {
  for (const name of lastingNames) if (fields[name] !== lasting[name]) return false
  return true
}

/** The caller's own field, for a caller that may send further requests. */
export interface LastingCredentials {
  readonly authorization: string | undefined
}
