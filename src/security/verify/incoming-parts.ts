/**
 * The attachments of a message, as its Security block is read from its first child to its last (SwA
 * Profile 1.1). What always holds, by number:
 *  (1) A `cid:` URI names a part of the same package; nothing else is looked up (M1).
 *  (2) A part is in one place: once an Include has put it into the tree it is no longer an
 *      attachment, and an encrypted part is decrypted once. A message never grows beyond what was
 *      sent.
 *  (3) Only the parts that a signature digested, or that were decrypted from them, are read; each
 *      as it arrived, with comments and line ends that its canonical form does not have.
 */
import { decodePercent } from '../../base/attempt.ts'
import type { PackedPart, PackedParts } from '../../soap/security-port.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'

export class IncomingParts {
  readonly #parts: Map<string, PackedPart>
  readonly #holders = new Map<string, Element>()
  readonly #opened = new Set<string>()
  /** Parts whose media type was not part of the encrypted content. */
  readonly #retyped = new Set<string>()

  constructor(parts: PackedParts = new Map()) {
    this.#parts = new Map(parts)
  }

  /** The number of parts in the package. */
  get count(): number {
    return this.#parts.size
  }

  /** The octets of all parts as they arrived. */
  get octets(): number {
    return [...this.#parts.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** The parts still next to the message, by Content-ID. */
  get attachments(): PackedParts {
    return new Map([...this.#parts].filter(([id]) => !this.#holders.has(id)))
  }

  /**
   * The elements whose octets travelled as parts, by Content-ID, without ciphertexts, since the
   * tree has their content.
   */
  get holders(): ReadonlyMap<string, Element> {
    return this.#holders
  }

  /** Whether the octets of a part arrived encrypted. */
  isOpened(id: string): boolean {
    return this.#opened.has(id)
  }

  /** The octets for an Include in this element; undefined: there are none, or no longer. */
  moveInto(holder: Element, uri: string): Uint8Array | undefined {
    const id = this.#find(uri)
    if (id === undefined || this.#holders.has(id) || this.#opened.has(id)) return undefined
    this.#holders.set(id, holder)
    return this.#parts.get(id)?.bytes
  }

  /** An attachment and its Content-ID. */
  require(uri: string): readonly [id: string, part: PackedPart] {
    const id = this.#find(uri)
    const part = id === undefined || this.#holders.has(id) ? undefined : this.#parts.get(id)
    return id !== undefined && part ? [id, part] : failSecurity('FailedCheck', 'a missing attachment')
  }

  /**
   * Replaces an attachment by its decrypted content.
   * @param isRetyped the media type is next to the ciphertext
   */
  open(id: string, plain: PackedPart, isRetyped: boolean): void {
    this.#parts.set(id, plain)
    this.#opened.add(id)
    if (isRetyped) this.#retyped.add(id)
  }

  /** Whether the signature over its ciphertext does not cover its media type. */
  isRetyped(id: string): boolean {
    return this.#retyped.has(id)
  }

  /** RFC 2392; some senders write the Content-ID unescaped. */
  #find(uri: string): string | undefined {
    const [, spelling = ''] = /^cid:(.+)$/is.exec(uri) ?? []
    return spelling === ''
      ? undefined
      : [decodePercent(spelling), spelling].find(id => id !== undefined && this.#parts.has(id))
  }
}
