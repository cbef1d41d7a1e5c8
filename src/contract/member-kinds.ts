/**
 * The kinds of values that members of declarations have. JavaScript, or TypeScript whose types were
 * stripped, may give another one: it is refused where it is given, with what to write instead.
 */

/** A kind, and the cure for what is not of it. */
interface MemberKind {
  readonly isOfKind: (value: unknown) => boolean
  readonly cure: string
  /** Whether the member may be absent. Default: it may not. */
  readonly isOptional?: boolean
}
export type MemberKinds<T> = Readonly<Partial<Record<keyof T, MemberKind>>>

const isPlainRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const hasFields = (value: unknown): boolean => isPlainRecord(value) && Object.values(value).every(isFieldLike)
/** By its shape, not by its class: a contract may come from another copy of the package. */
const isFieldLike = (value: unknown): boolean => isPlainRecord(value) && isPlainRecord(value['shape'])
const isGrantLike = (value: unknown): boolean =>
  isPlainRecord(value) && typeof value['role'] === 'string' && isPlainRecord(value['where'])
const isFileLike = (value: unknown): boolean => isPlainRecord(value) && Array.isArray(value['mediaTypes'])
const isResourceLike = (value: unknown): boolean => isPlainRecord(value) && isPlainRecord(value['given'])
const isJobLike = (value: unknown): boolean => isPlainRecord(value) && typeof value['job'] === 'string'
const isHeaderLike = (value: unknown): boolean =>
  isPlainRecord(value) && (value['content'] === 'xml' || isFieldLike(value['content']))
const isListOf = (isOfKind: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isOfKind)
const isRecordOf = (isOfKind: (value: unknown) => boolean) => (value: unknown) =>
  isPlainRecord(value) && Object.values(value).every(each => each === undefined || isOfKind(each))

export const fieldKind: MemberKind = {
  isOfKind: isFieldLike,
  cure: 'must be a field: write it as t.string(), t.int(), …',
}
export const fieldsKind: MemberKind = {
  isOfKind: hasFields,
  cure: 'must be named fields: write them as { name: t.string(), pages: t.int() }',
}
export const grantListKind: MemberKind = {
  isOfKind: isListOf(isGrantLike),
  cure: "must be a list of grants: write it as [role('clerk')] or [anyone], [] for nobody",
}
export const allowKind: MemberKind = {
  isOfKind: isRecordOf(isListOf(isGrantLike)),
  cure: "must have a list of grants for each operation: write it as { read: [anyone], create: [role('clerk')] }",
}
export const textKind: MemberKind = { isOfKind: value => typeof value === 'string', cure: 'must be a text' }
export const textListKind: MemberKind = {
  isOfKind: isListOf(textKind.isOfKind),
  cure: "must be a list of texts: write it as ['open', 'closed']",
}
export const actionsKind: MemberKind = {
  isOfKind: value => typeof value === 'function',
  cure: "must be a function: write it as on => ({ close: on('open').to('closed', { rel: 'closing' }) })",
}
export const filesKind: MemberKind = {
  isOfKind: isRecordOf(isFileLike),
  cure: "must be files by name: write them as { scan: { mediaTypes: ['image/png'], max: 1_000_000 } }",
}
export const resourceListKind: MemberKind = {
  isOfKind: isListOf(isResourceLike),
  cure: 'must be a list of what resource() has made: write it as [books, loans], [] for none',
}
export const jobListKind: MemberKind = {
  isOfKind: isListOf(isJobLike),
  cure: 'must be a list of what job() has made: write it as [reports]',
}
export const headersKind: MemberKind = {
  isOfKind: isRecordOf(isHeaderLike),
  cure: 'must be header blocks by name: write them as { Branch: header(t.string()) }',
}
export const versionsKind: MemberKind = {
  isOfKind: value => isPlainRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isPlainRecord),
  cure: 'must be versions by name, the oldest first: write them as { v1: {}, v2: {} }',
}

export const optionalKind = (kind: MemberKind): MemberKind => ({ ...kind, isOptional: true })

/** @throws TypeError that names each member of another kind */
export function requireMemberKinds<T extends object>(place: string, given: T, kinds: MemberKinds<T>): void {
  const lines = Object.entries<MemberKind | undefined>(kinds).flatMap(([name, kind]) => {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (!kind || kind.isOfKind(value) || (value === undefined && kind.isOptional)) return []
    return [`${place}: ${name} ${kind.cure}`]
  })
  if (lines.length > 0) throw new TypeError(lines.join('\n'))
}
