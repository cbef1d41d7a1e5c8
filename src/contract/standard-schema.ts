/** Types of a contract as Standard Schemas (https://standardschema.dev, version 1). */
import type { Json } from '../base/objects.ts'
import { fillDefaults } from './default-values.ts'
import { type Completed, Field, type Presence } from './field.ts'
import { readFields } from './field-json.ts'
import type { FieldProblem } from './given-fields.ts'

/** A value as JSON has it: octets are base64 text, a 64-bit integer may be a number. */
export type ContentOf<T> = T extends Uint8Array
  ? string
  : T extends bigint
    ? bigint | number
    : T extends readonly (infer I)[]
      ? readonly ContentOf<I>[]
      : T extends object
        ? { readonly [K in keyof T]: ContentOf<T[K]> }
        : T

/** An error in a value, and its place: member names and indices from the root. */
export interface SchemaIssue {
  readonly message: string
  readonly path: readonly (string | number)[]
}

/** The value in the contract's type, or its errors. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A Standard Schema, which libraries for forms, routes and configuration accept. */
export interface StandardSchema<Input, Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'diglot'
    /** Never throws; reports the first hundred issues. */
    readonly validate: (value: unknown) => SchemaResult<Output>
    /** Only for the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/**
 * A type of the contract as a Standard Schema. It reads a value as the service reads the content of
 * a request, with the same checks and texts: unknown members are refused, read-only ones are left
 * out, an undefined member is absent, and defaults replace absent members. References are not
 * looked up.
 */
export function toStandardSchema<T, O extends Presence, R extends boolean, D>(
  field: Field<T, O, R, D>,
): StandardSchema<
  O extends false ? ContentOf<D> : ContentOf<D> | undefined,
  O extends true ? Completed<D, T> | undefined : Completed<D, T>
> {
  const fields = { value: new Field(field.shape, { ...field, isReadOnly: false }) }
  return {
    '~standard': {
      version: 1,
      vendor: 'diglot',
      validate: value => {
        const problems: FieldProblem[] = []
        const read = readFields(fields, { value: value as Json }, problems) // it checks each part before using it
        if (problems.length > 0)
          return { issues: problems.map(({ path, detail }) => ({ message: detail, path: path.slice(1) })) }
        return { value: fillDefaults(fields, read)['value'] as never } // made by the reader of the field
      },
    },
  }
}
