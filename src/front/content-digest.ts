/**
 * RFC 9530: a request whose content is not what its sender digested is refused before anything is
 * stored, whichever face reads it; a response states a digest where its client wants one. In a
 * request, the representation is its content with its codings (§3, RFC 9110 §8.1), so Repr-Digest
 * and Content-Digest state the same.
 */
import { createHash } from 'node:crypto'
import { encodeBase64 } from '../base/base64.ts'
import { chain } from '../base/maybe.ts'
import { type Pieces, watchPieces } from '../base/octets.ts'
import { type DigestAlgorithm, parseDigests, preferredDigest } from '../http/digest-fields.ts'
import type { Content, Request, Response } from '../http/message.ts'
import { refuse } from '../service/refusal.ts'

/** The name that node:crypto has for an algorithm. */
const hashNameOf: Readonly<Record<DigestAlgorithm, string>> = { 'sha-256': 'sha256', 'sha-512': 'sha512' }

/** A request that states a digest: its content is compared as it is read. */
export function withProvenContent(
  request: Request,
  ofContent: string | undefined,
  ofRepresentation: string | undefined,
): Request {
  const stated = [
    ...(ofContent === undefined ? [] : [{ name: 'Content-Digest', field: ofContent }]),
    ...(ofRepresentation === undefined ? [] : [{ name: 'Repr-Digest', field: ofRepresentation }]),
  ]
  return { ...request, content: proveContent(request.content, stated) }
}

interface StatedDigests {
  readonly name: string
  readonly field: string
}

function proveContent(content: Content, stated: readonly StatedDigests[]): Content {
  return {
    length: content.length,
    bytes: limit =>
      chain(content.bytes(limit), octets => {
        if (octets === undefined) return undefined
        const watch = new DigestWatch(stated)
        watch.see(octets)
        watch.requireSame()
        return octets
      }),
    chunks: () => watchDigests(content.chunks(), new DigestWatch(stated)),
    ...(content.keep && { keep: content.keep }),
  }
}
async function* watchDigests(pieces: AsyncIterable<Uint8Array>, watch: DigestWatch): Pieces {
  yield* watchPieces(pieces, piece => watch.see(piece))
  watch.requireSame()
}

/** A malformed field is refused, too: its sender relies on it (RFC 9651 §4.2). */
class DigestWatch {
  readonly #proofs

  constructor(stated: readonly StatedDigests[]) {
    this.#proofs = stated.flatMap(({ name, field }) => {
      const digests =
        parseDigests(field) ??
        refuse({ kind: 'malformed', detail: `${name} is not a list such as sha-256=:…: (RFC 9530 §2)` })
      return Array.from(digests, ([algorithm, octets]) => ({
        name,
        algorithm,
        octets,
        hash: createHash(hashNameOf[algorithm]),
      }))
    })
  }

  see(piece: Uint8Array): void {
    for (const { hash } of this.#proofs) hash.update(piece)
  }
  requireSame(): void {
    for (const { name, algorithm, octets, hash } of this.#proofs)
      if (!hash.digest().equals(octets))
        refuse({ kind: 'malformed', detail: `the content is not what the ${algorithm} of ${name} states` })
  }
}

/** The fields with those that the client wants (§4); none for content that is not known yet. */
export function addWantedDigests(
  { status, fields, content }: Response,
  ofContent: string | undefined,
  ofRepresentation: string | undefined,
): Response['fields'] {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) return fields
  const write = (name: string, wanted: string | undefined): Record<string, string> => {
    const algorithm = wanted === undefined ? undefined : preferredDigest(wanted)
    if (algorithm === undefined) return {}
    const octets = createHash(hashNameOf[algorithm]).update(content).digest()
    return { [name]: `${algorithm}=:${encodeBase64(octets)}:` }
  }
  const isPart = status === 206 // the content is not the representation
  return {
    ...fields,
    ...write('content-digest', ofContent),
    ...(isPart ? {} : write('repr-digest', ofRepresentation)),
  }
}
