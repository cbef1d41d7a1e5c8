/** A service's own HTTP fields, as headers of the contract. */
import { stringOf } from '../../base/objects.ts'
import { Field } from '../../contract/field.ts'
import { isScalarField } from '../../contract/field-json.ts'
import { header, type ServiceHeaders } from '../../contract/header.ts'
import { isFreeHeaderField } from '../../contract/review/face-mistakes.ts'
import type { GuessRoom } from './guess-room.ts'
import type { RestOperation } from './operations.ts'
import { toTypeName } from './schema-fields.ts'

/** Fields of HTTP, its security and its tracing, which the service already knows. */
const usualFields =
  /^(?:accept(?:-.*)?|authorization|content-.*|cookie|if-.*|prefer|idempotency-key|range|host|user-agent|origin|traceparent|tracestate|x-(?:request|correlation|trace)-id|x-api-key)$/i

const cannotBeHeader =
  'is left out: a header is one value, in a field whose name has letters, digits and "-"; declare one'

export function guessHeaders({ fields, losses }: GuessRoom, operations: readonly RestOperation[]): ServiceHeaders {
  const counts = new Map<string, number>()
  const headers: Record<string, ReturnType<typeof header>> = {}
  for (const parameter of operations.flatMap(each => each.headers)) {
    const name = stringOf(parameter['name'])
    if (name === '' || usualFields.test(name)) continue
    const key = toTypeName(name)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    const existing = headers[key]
    if (existing !== undefined && existing.field === name.toLowerCase()) continue
    const field =
      existing === undefined && isFreeHeaderField(name.toLowerCase()) && fields.field(parameter['schema'], name)
    if (field && isScalarField(field)) headers[key] = header(new Field(field.shape), { field: name })
    else losses.add(`header ${name}`, cannotBeHeader)
  }
  for (const [name, count] of counts)
    if (headers[name] && count < operations.length)
      losses.add(`header ${name}`, 'belongs to some operations there, and to all here')
  return headers
}
