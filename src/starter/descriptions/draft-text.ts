/** Items as a test would create them: a draft for each, after those to which it refers. */
import { decodeBase64, decodeHex } from '../../base/base64.ts'
import type { Json } from '../../base/objects.ts'
import type { AnyField, Fields, Scalar } from '../../contract/field.ts'
import { singularOf } from '../../contract/operation.ts'
import type { Resource } from '../../contract/resource.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../../contract/shape.ts'
import { makeSampleContent } from '../../docs/sample-content.ts'
import { quoteLiteral, writeMemberKey } from '../../import/typescript-text.ts'
import { listDerivedFields } from './write-handlers.ts'

/** How a test gets an item of a resource. */
export interface CreationPlan {
  /** The resources to which it refers, and finally the resource itself. */
  readonly resources: readonly Resource[]
  /** Whether a handler that is not written yet takes part in it. */
  readonly waits: boolean
}

/** Undefined if no client can create one, or no example of it is found. */
export function planCreation(
  all: readonly Resource[],
  resource: Resource,
  around: readonly Resource[] = [],
): CreationPlan | undefined {
  const draft = writeDraft(resource)
  if (!isCreatable(resource) || around.includes(resource) || draft === undefined) return undefined
  const parent = parentNameOf(resource)
  const names = [...(parent === undefined ? [] : [parent]), ...draft.referred]
  const referred = names.map(name => all.find(each => each.name === name))
  const plans = referred.map(each => each && planCreation(all, each, [...around, resource]))
  if (plans.includes(undefined)) return undefined
  const needed = plans.flatMap(plan => plan?.resources ?? [])
  return {
    resources: [...new Set([...needed, resource])],
    waits: listDerivedFields(resource).length > 0 || plans.some(plan => plan?.waits),
  }
}
/** The name of the resource that contains its items. */
export function parentNameOf({ fields, within }: Resource): string | undefined {
  const shape = within === undefined ? undefined : fields[within]?.shape
  return shape?.kind === 'ref' ? shape.resource : undefined
}
const isCreatable = ({ given }: Resource): boolean => (given.allow['create'] ?? []).length > 0 && !given.putCreates

/** The name of the constant in which a test keeps an item of this resource. */
export const createdConstantOf = (resource: Resource): string =>
  `${singularOf(resource).replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase())}Made`
/** The resource as a member of a client. */
export const writeAccess = ({ name }: Resource): string =>
  writeMemberKey(name) === name ? `api.${name}` : `api[${quoteLiteral(name)}]`

interface DraftText {
  readonly text: string
  /** The resources of the items that it refers to. */
  readonly referred: readonly string[]
}

/** What a client must send, as TypeScript; undefined if one of its fields has no example. */
export function writeDraft(
  { fields }: Resource,
  nameOf = (resource: string): string => resource,
): DraftText | undefined {
  const sample = makeSampleContent(fields, { known: name => name })
  const isWhole = Object.entries(fields).every(([name, field]) => !isSentAlways(field) || Object.hasOwn(sample, name))
  const referred = new Set<string>()
  const refer = (resource: string): string => {
    referred.add(resource)
    return nameOf(resource)
  }
  return isWhole ? { text: writeDraftMembers(fields, sample, refer), referred: [...referred] } : undefined
}
const isSentAlways = ({ isOptional, isReadOnly, isInternal, shape }: AnyField): boolean =>
  !isOptional && !isReadOnly && !isInternal && shape.kind !== 'id'

/** Resource → the expression of an item's identifier. */
type Refer = (resource: string) => string

function writeDraftMembers(fields: Fields, sample: Json, refer: Refer): string {
  const members = Object.entries(Object(sample) as Readonly<Record<string, Json>>).flatMap(([name, value]) => {
    const field = fields[name]
    return field ? [`${writeMemberKey(name)}: ${foldShape(field.shape, valueTexts, value, refer)}`] : []
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const valueTexts: ShapeCases<string, [value: Json, refer: Refer]> = {
  scalar: (shape, value, refer) => foldScalar(shape, scalarLiterals, value, refer),
  list: ({ item }, value, refer) =>
    `[${(value as readonly Json[]).map(each => foldShape(item.shape, valueTexts, each, refer)).join(', ')}]`, // a sample of a list
  map: (shape, value, refer) => {
    const { value: inner } = entryFields(shape)
    const entries = Object.entries(value as Readonly<Record<string, Json>>) // a sample of a map
    return `{ ${entries.map(([key, each]) => `${writeMemberKey(key)}: ${foldShape(inner.shape, valueTexts, each, refer)}`).join(', ')} }`
  },
  object: ({ fields }, value, refer) => writeDraftMembers(fields, value, refer),
  union: ({ on, of }, value, refer) => {
    const { [on]: which, ...rest } = value as Readonly<Record<string, Json>> // a sample of a union
    const inner = writeDraftMembers(of[String(which)] ?? {}, rest, refer).replace(/^\{ ?| ?\}$/g, '')
    return `{ ${[`${writeMemberKey(on)}: ${quoteLiteral(String(which))}`, ...(inner === '' ? [] : [inner])].join(', ')} }`
  },
}

const writeQuoted = (_: Scalar, value: Json): string => quoteLiteral(String(value))
const writeUnquoted = (_: Scalar, value: Json): string => String(value)
const scalarLiterals: ScalarCases<string, [value: Json, refer: Refer]> = {
  string: writeQuoted,
  boolean: writeUnquoted,
  int: writeUnquoted,
  long: (_, value) => `${value}n`,
  decimal: writeQuoted,
  double: writeUnquoted,
  date: writeQuoted,
  time: writeQuoted,
  dateTime: writeQuoted,
  duration: writeQuoted,
  bytes: ({ encoding }, value) => {
    const octets = encoding === 'hex' ? decodeHex(String(value)) : decodeBase64(String(value))
    return `Uint8Array.of(${[...(octets ?? [])].join(', ')})`
  },
  enum: writeQuoted,
  id: writeQuoted,
  ref: ({ resource }, _value, refer) => refer(resource),
}
