/**
 * The attachments of a message, as its Security block is read from its first child to its last (SwA
 * Profile 1.1). What always holds, by number:
 *  (1) A `cid:` URI names a part of the very package; nothing else is looked for (M1).
 *  (2) A part is in one place: what an Include has put into the tree is no attachment any more, and
 *      what was encrypted is decrypted once. A message never grows beyond what was sent.
 *  (3) The octets that a signature digested, or that were decrypted from them, are those that are
 *      read.
 */
import { decodePercent } from '../../base/attempt.ts'
import type { PackedPart, PackedParts } from '../../soap/security-port.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'

export class IncomingParts {
  readonly #parts: Map<string, PackedPart>
  readonly #holders = new Map<string, Element>()
  readonly #opened = new Set<string>()
  /** Parts whose media types are not in what was encrypted. */
  readonly #retyped = new Set<string>()

  constructor(parts: PackedParts = new Map()) {
    this.#parts = new Map(parts)
  }

  /** How many the package has. */
  get count(): number {
    return this.#parts.size
  }

  /** Octets of all parts, as they came. */
  get octets(): number {
    return [...this.#parts.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** By Content-ID, what is left of the package next to the message. */
  get attachments(): PackedParts {
    return new Map([...this.#parts].filter(([id]) => !this.#holders.has(id)))
  }

  /**
   * By Content-ID, the elements whose octets travelled as parts, but for those of cipher texts:
   * what they stand for is in the tree.
   */
  get holders(): ReadonlyMap<string, Element> {
    return this.#holders
  }

  /** Whether the octets of a part came encrypted. */
  isOpened(id: string): boolean {
    return this.#opened.has(id)
  }

  /** The octets for an Include in this element; undefined: there are none, or not any more. */
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
   * Puts what was decrypted in the place of an attachment.
   * @param isRetyped the media type stands next to the cipher text
   */
  open(id: string, plain: PackedPart, isRetyped: boolean): void {
    this.#parts.set(id, plain)
    this.#opened.add(id)
    if (isRetyped) this.#retyped.add(id)
  }

  /** Whether the signature over its cipher text leaves its media type open. */
  isRetyped(id: string): boolean {
    return this.#retyped.has(id)
  }

  /** RFC 2392; some write a Content-ID as it is. */
  #find(uri: string): string | undefined {
    const [, said = ''] = /^cid:(.+)$/is.exec(uri) ?? []
    return said === '' ? undefined : [decodePercent(said), said].find(id => id !== undefined && this.#parts.has(id))
  }
}
