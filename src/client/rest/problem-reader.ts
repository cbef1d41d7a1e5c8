/**
 * An error response → its error: a fault of the contract with its typed detail, if the problem's
 * type names one; another problem; or content that no service of this kind sends.
 */
import { isJsonObject, type Json, objectOf, ownMember, stringOf } from '../../base/objects.ts'
import { builtInFaults, declaredFaults, type Fault } from '../../contract/fault.ts'
import { readFields } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import { parsePointer } from '../../http/json-pointer.ts'
import type { HttpFields } from '../../http/message.ts'
import { type CallError, FaultError, ProblemError } from '../errors.ts'
import { toReplyFields } from '../field-views.ts'
import { parseExactJson } from './exact-json.ts'
import { createAnswerError, type ReceivedText } from './rest-reply.ts'

export type FaultsByName = ReadonlyMap<string, Fault>

/** The faults of every action and of every service. */
export const listFaultsByName = (contract: Parameters<typeof declaredFaults>[0]): FaultsByName =>
  new Map([...declaredFaults(contract), ...builtInFaults].map(fault => [fault.fault, fault]))

/** Kinds of problem that both faces have → the fault that SOAP sends for each. */
const faultOfKind: Readonly<Record<string, string>> = {
  'not-found': 'NotFound',
  gone: 'NotFound',
  forbidden: 'Forbidden',
  stale: 'VersionConflict',
  'precondition-required': 'VersionConflict',
  conflict: 'StateConflict',
  invalid: 'Invalid',
  'too-many': 'Busy',
  unavailable: 'Busy',
  'in-flight': 'Busy',
}

export function toRefusalError(operation: string, reply: ReceivedText, faults: FaultsByName): CallError {
  const { status, fields, text } = reply
  const members = /[/+]json\b/i.test(fields['content-type'] ?? '') ? parseExactJson(text) : undefined
  if (!isJsonObject(members)) {
    const detail = `the service answered ${status} without problem details`
    return createAnswerError(operation, 'status', detail, reply)
  }
  // The last segment of the type's address names the kind of problem, or the fault itself.
  const name = /[^/]*$/.exec(stringOf(members['type']))?.[0] ?? ''
  const fault = faults.get((ownMember(faultOfKind, name) as string | undefined) ?? name)
  const detail = fault && readDetail(fault, members, fields)
  if (!fault || !detail) return new ProblemError(operation, members, reply)
  const reason = stringOf(members['detail']) || stringOf(members['title']) || fault.title
  return new FaultError(operation, faultRead(fault, detail, reason), reply)
}

/** Members that only SOAP has are empty. */
export const faultRead = (fault: Fault, detail: Values, text: string) => ({
  code: fault.status < 500 ? ('Sender' as const) : ('Receiver' as const),
  codes: [],
  reasons: [{ language: 'en', text }],
  node: undefined,
  role: undefined,
  entries: [],
  declared: { fault, detail },
})

/** @returns undefined if the members are not valid by the fault's declaration */
function readDetail(fault: Fault, members: { readonly [name: string]: Json }, fields: HttpFields): Values | undefined {
  const problems: FieldProblem[] = []
  const detail = readFields(
    toReplyFields(fault.detail),
    { ...members, ...sharedMembers(fault, members, fields) },
    problems,
  )
  return problems.every(each => each.code === 'unknown') ? detail : undefined
}

/** Detail that REST expresses in other members. */
function sharedMembers(
  { fault }: Fault,
  { errors }: { readonly [name: string]: Json },
  fields: HttpFields,
): Readonly<Record<string, Json>> {
  if (fault === 'Invalid' && Array.isArray(errors)) return { problems: errors.map(toFieldProblem) }
  const seconds = Number.parseInt(fields['retry-after'] ?? '', 10)
  return fault === 'Busy' && seconds >= 0 ? { retryAfter: seconds } : {}
}

const toFieldProblem = (error: Json): Json => {
  const { pointer, code = '', detail = '' } = objectOf(error)
  return { path: parsePointer(stringOf(pointer))?.join('.') ?? '', code, detail }
}
