/** Flaws: readers and checks return one in place of a value that is not valid. */

/**
 * Why a value is not valid: a stable code, and a phrase for people that follows the value's name.
 */
export class Flaw {
  readonly code: string
  readonly detail: string
  /** The value is outside of the value space of its type, whatever bounds its field has. */
  readonly isOfType: boolean
  constructor(code: string, detail: string, isOfType = !codesOfBounds.has(code)) {
    this.code = code
    this.detail = detail
    this.isOfType = isOfType
  }
}

/** The codes of bounds that a field declares; all others are of its type. */
const codesOfBounds = new Set([
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'totalDigits', 'minItems', 'maxItems'],
])

/** A value of another type, or text of another form. */
export const typeFlaw = (expected: string): Flaw => new Flaw('type', `must be ${expected}`)

/** @param unit in the plural */
export const describeLeast = (min: number, unit: string): string =>
  min === 1 ? 'must not be empty' : `must have at least ${min} ${unit}`
