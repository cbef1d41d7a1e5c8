/**
 * A handler that is still to be written. What always holds: its call changes nothing, its caller
 * learns that the operation is not there yet and nothing else, and the operator's log has the file
 * and the line.
 */

/** An error, unlike a refusal: its stack says where the handler stands. */
export class Unimplemented extends Error {
  override readonly name = 'Unimplemented'
  readonly operation: string
  constructor(operation: string) {
    super(`${operation} is not implemented yet: write its handler`)
    this.operation = operation
  }
}

export function failUnimplemented(operation: string): never {
  throw new Unimplemented(operation)
}
