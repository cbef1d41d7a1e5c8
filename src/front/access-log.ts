/** One line of the access log for each request, if the operator wants it. */
import type { Request, Response } from '../http/message.ts'
import type { Entry, MountName } from './entry.ts'

/** A line of the access log: one request and its response. */
export interface AccessLogEntry {
  readonly id: string
  readonly face: MountName
  readonly method: string
  /** Only the path, since a query may contain private data. */
  readonly path: string
  readonly status: number
  /** Milliseconds until the head of the response was known. */
  readonly took: number
  readonly from: string
  /** The requested operation of the contract, and its caller, as far as they are known. */
  readonly operation?: string
  readonly subject?: string
  readonly version: Request['version']
}

/** Characters of a path in a log line. */
const pathCharacters = 1000

export function accessLogEntry(
  { id, mount, request, path, notes: { operation, subject } }: Entry,
  { status }: Response,
  tookMs: number,
): AccessLogEntry {
  const { method, target, from, version } = request
  const shownPath = (path === '' ? (target.split('?', 1)[0] ?? '') : path).slice(0, pathCharacters)
  return {
    id,
    face: mount.name,
    method,
    path: shownPath,
    status,
    took: Math.round(tookMs * 1000) / 1000,
    from,
    version,
    ...(operation !== undefined && { operation }),
    ...(subject !== undefined && { subject }),
  }
}
