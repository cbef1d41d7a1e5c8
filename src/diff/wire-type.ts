/**
 * The values that are possible on the wire, in terms common to JSON Schema and XML Schema. Two
 * releases of a service are compared by these types, whatever the format of their descriptions.
 */

/** A type by its name in its description, so that types may contain themselves. */
export interface TypeReference {
  readonly kind: 'named'
  readonly name: string
  /** Null is allowed here, whatever the type itself says. */
  readonly isNullable?: boolean
}
/** Any value. */
export interface AnyType {
  readonly kind: 'any'
}
export interface ScalarType {
  readonly kind: 'scalar'
  /** `string`, `number`, `integer`, `boolean`, `null`, or a type of XML Schema: `xs:int`. */
  readonly base: string
  readonly isNullable: boolean
  /** All possible values, if they are listed. */
  readonly values?: readonly string[]
  /** Keywords that restrict: `maxLength`, `pattern`, `format`. */
  readonly facets: ReadonlyMap<string, string | number>
}
export interface ListType {
  readonly kind: 'list'
  readonly isNullable: boolean
  readonly item: WireType
  readonly facets: ReadonlyMap<string, string | number>
}
export interface ObjectType {
  readonly kind: 'object'
  readonly isNullable: boolean
  /** By name; an XML attribute begins with `@`, and XML names are in James Clark's notation. */
  readonly members: ReadonlyMap<string, WireMember>
  /** Other members than those named: none, any, or of this type. */
  readonly rest: 'none' | 'any' | WireType
  /** The names that those may have. Default: any. */
  readonly names?: WireType
  /** The members have this order, as in a sequence of XML Schema. */
  readonly isOrdered: boolean
  readonly facets: ReadonlyMap<string, string | number>
}
export interface WireMember {
  readonly type: WireType
  readonly isRequired: boolean
  /** How often it must occur. Default: once if it is required, otherwise never. */
  readonly min?: number
  /** How often it may occur. Default: once. */
  readonly max?: number
  /** The value that its absence stands for, as JSON; undefined: none is stated. */
  readonly initial?: string
}
export interface ChoiceType {
  readonly kind: 'choice'
  readonly isNullable: boolean
  readonly options: readonly WireType[]
}
export type WireType = TypeReference | AnyType | ScalarType | ListType | ObjectType | ChoiceType

export const anyType: AnyType = { kind: 'any' }
/** Any name of a member. */
export const anyName: ScalarType = { kind: 'scalar', base: 'string', isNullable: false, facets: new Map() }

/** A short text for a reader: `string (maxLength 20)`. */
export function describeType(type: WireType): string {
  switch (type.kind) {
    case 'named':
      return type.name
    case 'any':
      return 'any value'
    case 'list':
      return `list of ${describeType(type.item)}`
    case 'object':
      return 'object'
    case 'choice':
      return `one of ${type.options.map(describeType).join(', ')}`
    case 'scalar':
      return type.facets.has('format') ? `${type.base} (${type.facets.get('format')})` : type.base
  }
}
