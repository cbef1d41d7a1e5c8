/**
 * The kinds of members in declarations of resources, jobs and services. They are literals, so that
 * a bundler drops those that a page does not use.
 */
import { isMadeWith, isPlainRecord, isRecordOf, type MemberKind } from './member-kinds.ts'

const isTextValue = (value: unknown): boolean => typeof value === 'string'
const isListOf = (isOfKind: MemberKind['isOfKind'], value: unknown): boolean =>
  Array.isArray(value) && value.every(each => isOfKind(each))
const isListMadeWith = (member: string, value: unknown): boolean => isListOf(each => isMadeWith(member, each), value)
const isListOfGrants = (value: unknown): boolean => isListMadeWith('role', value)

export const grantListKind: MemberKind = {
  isOfKind: isListOfGrants,
  cure: "a list of grants: write it as [role('clerk')], [] for no caller",
}
export const allowKind: MemberKind = {
  isOfKind: value => isRecordOf(isListOfGrants, value),
  cure: "a list of grants for each operation: write it as { create: [role('clerk')] }",
}
export const truthKind: MemberKind = { isOfKind: value => typeof value === 'boolean', cure: 'true or false' }
export const textKind: MemberKind = { isOfKind: isTextValue, cure: 'a text' }
export const textListKind: MemberKind = {
  isOfKind: value => isListOf(isTextValue, value),
  cure: "a list of texts: write it as ['open', 'closed']",
}
export const textListsKind: MemberKind = {
  isOfKind: value => isListOf(each => isListOf(isTextValue, each), value),
  cure: "a list of lists of fields: write it as [['name'], ['branch', 'number']]",
}
export const actionsKind: MemberKind = {
  isOfKind: value => typeof value === 'function',
  cure: "a function: write it as on => ({ close: on('open').to('closed', { rel: 'closing' }) })",
}
export const filesKind: MemberKind = {
  isOfKind: value => isRecordOf(each => isMadeWith('mediaTypes', each), value),
  cure: "files by name: write them as { scan: { mediaTypes: ['image/png'] } }",
}
export const resourceListKind: MemberKind = {
  isOfKind: value => isListMadeWith('given', value),
  cure: 'a list of what resource() has made, [] for none',
}
export const jobListKind: MemberKind = {
  isOfKind: value => isListMadeWith('job', value),
  cure: 'a list of what job() has made',
}
export const headersKind: MemberKind = {
  isOfKind: value => isRecordOf(each => isMadeWith('content', each), value),
  cure: 'header blocks by name: write them as { Branch: header(t.string()) }',
}
export const versionsKind: MemberKind = {
  isOfKind: value => isRecordOf(isPlainRecord, value) && Object.keys(value as object).length > 0,
  cure: 'versions by name, the oldest first: write them as { v1: {}, v2: {} }',
}
