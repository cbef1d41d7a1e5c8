/** Flaws: readers and checks return one in place of a value that is not valid. */

/**
 * Why a value is not valid: a stable code, and a phrase for people that follows the value's name.
 */
export class Flaw {
  readonly code: string
  readonly detail: string
  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

/** A value of another type, or text of another form. */
export const typeFlaw = (expected: string): Flaw => new Flaw('type', `must be ${expected}`)
