/** The codec of one global element: `schema-read.ts` and `schema-write.ts` with one plan. */
import { memoizeOnce } from '../../base/memo.ts'
import type { Port } from '../../contract/exchange.ts'
import { listNamedSimpleTypes } from '../../contract/xml-derivation.ts'
import type { AnyRootElement } from '../../contract/xml-type.ts'
import type { Cursor } from '../../xml/index.ts'
import { type ElementPlan, SchemaPlans } from './schema-plan.ts'
import { readPlannedElement } from './schema-read.ts'
import { writePlannedElement } from './schema-write.ts'
import { inlineWriting, type LiteralReading, type LiteralWriting } from './values.ts'

export interface ElementCodec {
  readonly plan: ElementPlan
  /** At its `start`; moves to its `end`. */
  readonly read: (cursor: Cursor, reading: LiteralReading) => unknown
  readonly write: (value: unknown, writing?: LiteralWriting) => string
}

/**
 * The codecs of the elements of one endpoint share the plans of their types.
 *
 * @param ports whose simple types `xsi:type` may name
 */
export function createElementCodecs(ports: Iterable<Port> = []): (root: AnyRootElement) => ElementCodec {
  const plans = new SchemaPlans(() => listNamedSimpleTypes(ports))
  return root => {
    const planned = memoizeOnce((): ElementPlan => plans.ofRoot(root))
    return {
      get plan() {
        return planned()
      },
      read: (cursor, reading) => readPlannedElement(planned(), cursor, reading),
      write: (value, writing = inlineWriting) => writePlannedElement(planned(), value, writing),
    }
  }
}
