/**
 * Packages: multipart/related (RFC 2387) with XOP (MTOM, XOP 1.0) or with attachments (SOAP
 * Messages with Attachments). What it guards, besides `base/multipart-reader.ts`:
 *  (1) A message refers only to parts of its own package, by `cid:`, and to each at most once.
 *  (2) File names and paths of parts are ignored.
 *  (3) Parts after the Envelope are read once the caller is known to be admitted.
 */

import { readMultipart } from '../../base/multipart-reader.ts'
import type { Pieces } from '../../base/octets.ts'
import { refuseMessage } from '../refusal.ts'

/** A part of a package (RFC 2387), the root included. */
export interface PackagePart {
  /** By lower-case name, in an object without a prototype. */
  readonly fields: Readonly<Record<string, string>>
  /** The octets as they arrive; unread ones are skipped. */
  readonly content: Pieces
}

/** Bounds for one package of MTOM or SwA; a package beyond them is refused. */
export interface PackageLimits {
  readonly parts: number
  /** The number of fields of one part, and their octets in total. */
  readonly fields: number
  readonly fieldOctets: number
}
/**
 * The limits of packages that are sent to a service: 64 parts, 32 fields of 8 KiB together each.
 */
export const packageLimits: PackageLimits = {
  parts: 64, // messages refer to a few (attack: 10,000)
  fields: 32, // four are usual (attack: 10,000)
  fieldOctets: 8 * 1024,
}

export const refusePackage = (detail: string): never => refuseMessage({ kind: 'package', detail })

/**
 * The parts of a multipart body in order; the next one follows once the content of the last has
 * been read or left.
 */
export const readParts = (
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: PackageLimits = packageLimits,
): AsyncGenerator<PackagePart, void, undefined> => readMultipart(chunks, boundary, limits, refusePackage)
