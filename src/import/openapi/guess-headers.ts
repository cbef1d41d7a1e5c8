/** Fields of HTTP that a service has of its own, as headers of the contract. */
import { stringOf } from '../../base/objects.ts'
import { isScalarField } from '../../contract/field-json.ts'
import { header, type ServiceHeaders } from '../../contract/header.ts'
import type { GuessRoom } from './guess-room.ts'
import type { RestOperation } from './operations.ts'
import { toTypeName } from './schema-fields.ts'

/** Fields of HTTP, its security and its tracing: the service knows them. */
const usualFields =
  /^(?:accept(?:-.*)?|authorization|content-.*|cookie|if-.*|prefer|idempotency-key|range|host|user-agent|origin|traceparent|tracestate|x-(?:request|correlation|trace)-id|x-api-key)$/i

export function guessHeaders({ fields, losses }: GuessRoom, operations: readonly RestOperation[]): ServiceHeaders {
  const counts = new Map<string, number>()
  const found: Record<string, ReturnType<typeof header>> = {}
  for (const parameter of operations.flatMap(each => each.headers)) {
    const name = stringOf(parameter['name'])
    if (name === '' || usualFields.test(name)) continue
    const key = toTypeName(name)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    const field = Object.hasOwn(found, key) ? undefined : fields.field(parameter['schema'], name)
    if (field && isScalarField(field)) found[key] = header(field, { field: name })
  }
  for (const [name, count] of counts)
    if (found[name] && count < operations.length)
      losses.add(`header ${name}`, 'is of some operations there, and of all here')
  return found
}
