/**
 * The kinds of values that members of declarations have. JavaScript, or TypeScript whose types were
 * stripped, may give another one: it is refused where it is given, with what to write instead.
 */

type IsOfKind = (value: unknown) => boolean
/** A kind, and what it must be: the cure for what is not of it. */
interface MemberKind {
  readonly isOfKind: IsOfKind
  readonly cure: string
  /** Whether the member may be absent. Default: it may not. */
  readonly isOptional?: boolean
}
export type MemberKinds<T> = Readonly<Partial<Record<keyof T, MemberKind>>>

const isPlainRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTextValue = (value: unknown): boolean => typeof value === 'string'
/** By a member, not by its class: a contract may come from another copy of the package. */
const isMadeWith =
  (member: string): IsOfKind =>
  value =>
    isPlainRecord(value) && member in value
const isFieldLike = isMadeWith('shape')
const isListOf =
  (isOfKind: IsOfKind): IsOfKind =>
  value =>
    Array.isArray(value) && value.every(isOfKind)
const isRecordOf =
  (isOfKind: IsOfKind): IsOfKind =>
  value =>
    isPlainRecord(value) && Object.values(value).every(each => each === undefined || isOfKind(each))
const isListOfGrants = isListOf(isMadeWith('role'))

const kind = (isOfKind: IsOfKind, cure: string): MemberKind => ({ isOfKind, cure })
export const fieldKind = kind(isFieldLike, 'a field: write it as t.string(), t.int(), …')
export const fieldsKind = kind(isRecordOf(isFieldLike), 'named fields: write them as { name: t.string() }')
export const grantListKind = kind(isListOfGrants, "a list of grants: write it as [role('clerk')], [] for nobody")
export const allowKind = kind(
  isRecordOf(isListOfGrants),
  "a list of grants for each operation: write it as { create: [role('clerk')] }",
)
export const textKind = kind(isTextValue, 'a text')
export const textListKind = kind(isListOf(isTextValue), "a list of texts: write it as ['open', 'closed']")
export const actionsKind = kind(
  value => typeof value === 'function',
  "a function: write it as on => ({ close: on('open').to('closed', { rel: 'closing' }) })",
)
export const filesKind = kind(
  isRecordOf(isMadeWith('mediaTypes')),
  "files by name: write them as { scan: { mediaTypes: ['image/png'] } }",
)
export const resourceListKind = kind(isListOf(isMadeWith('given')), 'a list of what resource() has made, [] for none')
export const jobListKind = kind(isListOf(isMadeWith('job')), 'a list of what job() has made')
export const headersKind = kind(
  isRecordOf(isMadeWith('content')),
  'header blocks by name: write them as { Branch: header(t.string()) }',
)
export const versionsKind = kind(
  value => isRecordOf(isPlainRecord)(value) && Object.keys(value as object).length > 0,
  'versions by name, the oldest first: write them as { v1: {}, v2: {} }',
)

export const optionalKind = (kind: MemberKind): MemberKind => ({ ...kind, isOptional: true })

/** @throws TypeError that names each member of another kind */
export function requireMemberKinds<T extends object>(place: string, given: T, kinds: MemberKinds<T>): void {
  const lines = Object.entries<MemberKind | undefined>(kinds).flatMap(([name, kind]) => {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (!kind || kind.isOfKind(value) || (value === undefined && kind.isOptional)) return []
    return [`${place}: ${name} must be ${kind.cure}`]
  })
  if (lines.length > 0) throw new TypeError(lines.join('\n'))
}
