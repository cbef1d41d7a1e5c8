import type { Scalar } from '../field.ts'

/** Why a value is not of its type: a stable code and a sentence for people. */
export class Flaw {
  readonly code: string
  readonly detail: string
  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

export type Of<K extends Scalar['kind']> = Extract<Scalar, { kind: K }>
export const wrong = (what: string): Flaw => new Flaw('type', `must be ${what}`)
