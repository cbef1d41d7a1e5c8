/** What is wrong with a value: the readers and checks of all types give one of these in place of the value. */

/** Why a value is not of its type: a stable code and a sentence for people. */
export class Flaw {
  readonly code: string
  readonly detail: string
  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

/** A value of another type, or text of another form: `expected` is what it must be. */
export const typeFlaw = (expected: string): Flaw => new Flaw('type', `must be ${expected}`)
