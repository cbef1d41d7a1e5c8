/** Flaws: readers and checks return one instead of an invalid value. */

/**
 * Why a value is not valid: a stable code, and a phrase for people that follows the value's name.
 */
export class Flaw {
  declare readonly code: string
  declare readonly detail: string
  /** Whether the value is outside the value space of its type, whatever bounds its field has. */
  declare readonly isOfType: boolean
  constructor(code: string, detail: string, isOfType = true) {
    this.code = code
    this.detail = detail
    this.isOfType = isOfType
  }
}

/** A value of the type that is outside the bounds of its field. */
export const boundFlaw = (code: string, detail: string): Flaw => new Flaw(code, detail, false)

/** A value of another type, or text of another form. */
export const typeFlaw = (expected: string): Flaw => new Flaw('type', `must be ${expected}`)

/** @param unit in the plural */
export const describeLeast = (min: number, unit: string): string =>
  min === 1 ? 'must not be empty' : `must have at least ${min} ${unit}`
