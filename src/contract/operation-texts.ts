/** The texts of fields and operations, as descriptions show them. */

import type { PortExchange } from './exchange.ts'
import type { Fault } from './fault.ts'
import type { AnyField } from './field.ts'
import { capitalize } from './lexical/text.ts'
import type { Operation } from './operation.ts'
import type { FieldAccess, Grant } from './policy.ts'
import { joinSentences, type PublicTexts } from './texts.ts'

/**
 * The description of a field, a line for each value that has one, and the callers that the field is
 * for; undefined without any. If `value` is given, only the line of that value.
 */
export function describeField({ texts, access }: AnyField, value?: unknown): string | undefined {
  const values = Object.entries(texts?.values ?? {}).flatMap(([known, text]) => {
    if (!text) return []
    return value === undefined ? [`${known}: ${text}`] : value === known ? [text] : []
  })
  const lines = [
    ...(texts?.description === undefined ? [] : [texts.description]),
    ...values,
    ...(access ? [describeFieldAccess(access)] : []),
  ]
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** `customer where owner is the caller's customer`: the callers that a grant is for, in words. */
export function describeGrantee({ role, where, when, description }: Grant): string {
  const name = role === '*' ? 'anyone' : description === undefined ? role : `${role} (${description})`
  const own = Object.entries(where).map(([field, claim]) => `${field} is the caller's ${claim}`)
  const parts = [...own, ...(when ? [when.name] : [])]
  return parts.length === 0 ? name : `${name} where ${parts.join(' and ')}`
}

/** The rule of a guarded field, in sentences. */
export function describeFieldAccess({ visibleTo, settableBy, settableIn }: FieldAccess): string {
  const listGrantees = (grants: readonly Grant[]): string => grants.map(describeGrantee).join('; ')
  const conditions = [
    ...(visibleTo ? [`Visible to ${listGrantees(visibleTo)}.`] : []),
    ...(settableBy ? [`Set by ${listGrantees(settableBy)}.`] : []),
    ...(settableIn ? [`Set in the state ${settableIn.join(' or ')}.`] : []),
  ]
  return conditions.join(' ')
}

/** `PutProductPicture`, `put_product_picture` → "Put product picture". */
export function summaryOf(operation: Operation): string {
  const name = operation.kind === 'exchange' ? operation.exchangeName : operation.name
  return capitalize(
    name
      .replace(/([a-z0-9])([A-Z])|_+/g, '$1 $2')
      .trim()
      .toLowerCase(),
  )
}

/** The texts of the operation itself: an action, a file or the start of a job. */
export function textsOfOperation(operation: Operation): PublicTexts {
  switch (operation.kind) {
    case 'act':
    case 'look':
    case 'kept':
      return operation.action
    case 'getFile':
    case 'putFile':
      return operation.file
    case 'startJob':
      return operation.job
    case 'exchange':
      return textsOfExchange(operation.exchange)
    default:
      return {}
  }
}

const textsOfExchange = ({ description }: PortExchange): PublicTexts =>
  description === undefined ? {} : { description }

/** The texts of the resource or job that an operation is about. */
export function textsOfSubject(operation: Operation): PublicTexts {
  if ('resource' in operation) return operation.resource.texts
  return 'job' in operation ? operation.job : {}
}

/**
 * A text for callers: the title and description of the operation, or the description of its
 * resource or job; undefined if the contract has neither.
 */
export function explainOperation(operation: Operation): string | undefined {
  const { title, description = textsOfSubject(operation).description } = textsOfOperation(operation)
  if (title === undefined && description === undefined) return undefined
  return joinSentences(title ?? summaryOf(operation), description)
}

/** When it ends a call, if the contract says more than its title. */
export const describeFault = ({ title, description }: Fault): string | undefined =>
  description === undefined ? undefined : joinSentences(title, description)
