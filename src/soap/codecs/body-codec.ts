/**
 * The codec of a literal Body: of one element, of the content of a type (WSDL 1.1 §3.5), or of
 * nothing.
 */
import type { ExchangeBody } from '../../contract/exchange.ts'
import { type AnyRootElement, BodyContent } from '../../contract/xml-type.ts'
import { type Cursor, type Element, internName, type Name } from '../../xml/index.ts'
import { asSchemaRefusal } from '../refusal.ts'
import { type MessageMending, mendChildren } from './mended-element.ts'
import { createElementCodecs, type ElementCodec } from './schema-codec.ts'
import { type ComplexPlan, isEmptiable, listFirstParticles, type ParticlePlan, type TypePlan } from './schema-plan.ts'
import { readPlannedElements } from './schema-read.ts'
import { writePlannedElements } from './schema-write.ts'
import { requireOnlyChild } from './style.ts'
import { inlineWriting, type LiteralReading, type LiteralWriting } from './values.ts'

export interface BodyCodec {
  /** The elements with which such a Body may begin; undefined: the Body is empty. */
  readonly firsts: readonly (Name | undefined)[]
  /** Whether any element of this namespace may be the first one, too. */
  readonly mayBegin: ((uri: string) => boolean) | undefined
  /** At the first child of Body, or at its `end`; moves to this `end`. */
  readonly read: (cursor: Cursor, reading: LiteralReading) => unknown
  /** The Body with its children mended. */
  readonly mend: (body: Element, mending: MessageMending) => Element
  /** All children of Body. */
  readonly write: (value: unknown, writing?: LiteralWriting) => string
}

/** The codecs of the messages of one endpoint share the plans of their types. */
export function createBodyCodecs(codecOf = createElementCodecs()): (body: ExchangeBody) => BodyCodec {
  return body => {
    if (body === 'empty') return emptyBody
    return body instanceof BodyContent ? contentCodec(codecOf(body)) : elementCodec(body, codecOf(body))
  }
}

const emptyBody: BodyCodec = {
  firsts: [undefined],
  mayBegin: undefined,
  read: () => undefined,
  mend: body => body,
  write: () => '',
}

function elementCodec({ name: { uri, local } }: AnyRootElement, codec: ElementCodec): BodyCodec {
  return {
    firsts: [internName(uri, local)],
    mayBegin: undefined,
    read: (cursor, reading) => requireOnlyChild(codec.read(cursor, reading), cursor),
    mend: (body, mending) => mendChildren({ content: [codec.plan], isUnordered: false }, body, mending),
    write: codec.write,
  }
}

function contentCodec({ plan: { type } }: ElementCodec): BodyCodec {
  const plan = requireComplex(type())
  const whole: ParticlePlan = { kind: 'sequence', key: '', min: 1, max: 1, isMany: false, parts: plan.content }
  const firsts = (plan.isUnordered ? plan.content : [whole]).flatMap(listFirstParticles)
  const wildcards = firsts.flatMap(each => (each.kind === 'any' ? [each.matches] : []))
  const names = firsts.flatMap(each => (each.kind === 'element' ? [each.name] : []))
  return {
    firsts: isEmptiable(whole) ? [...names, undefined] : names,
    mayBegin: wildcards.length > 0 ? uri => wildcards.some(matches => matches(uri)) : undefined,
    // What is missing from the Body itself has no path within it.
    read: (cursor, reading) =>
      asSchemaRefusal(
        () => readPlannedElements(plan, cursor, reading),
        refusal => ({ ...refusal, path: refusal.path || 'Body' }),
      ),
    mend: (body, mending) => mendChildren(plan, body, mending),
    write: (value, writing = inlineWriting) => writePlannedElements(plan, value, writing),
  }
}

/** SOAP 1.2 Part 1 §5.3: a Body has elements; `review.ts` sees that a contract has no other. */
function requireComplex(plan: TypePlan): ComplexPlan {
  if (plan.kind === 'complex') return plan
  throw new Error('x.body(…) has a type without elements: give it members, or a complex type')
}
