/**
 * How the messages of a port prove themselves: which rule applies to an exchange, as far as a
 * receiver can tell from the Body alone.
 */
import { hasAttachedParts, splitBody } from './attached-parts.ts'
import { type ExchangeSecurity, findRuleMistakes, type SecurityRule } from './endpoint-rule.ts'
import type { Exchanges, Port, PortExchange } from './exchange.ts'
import { BodyContent } from './xml-type.ts'

/**
 * The local name of the first element of a Body, empty for a Body without one: the receiver finds
 * the rule of an exchange by it. Undefined if no single name is known.
 */
export function firstNameOf({ input }: Pick<PortExchange, 'input'>): string | undefined {
  const { inBody } = splitBody(input)
  if (inBody === 'empty') return ''
  return inBody instanceof BodyContent ? findOnlyElement(inBody) : inBody.name.local
}

function findOnlyElement(body: BodyContent<unknown>): string | undefined {
  const { definition } = body.type()
  const [only, another] = definition.kind === 'complex' ? Object.values(definition.members) : []
  if (!only || another || only.particle.kind !== 'reference' || only.marks.min !== 1) return undefined
  return only.particle.to().name.local
}

/** Mistakes in the `security` of a port, each with its cure. */
export function findPortSecurityMistakes({ port: name, security, exchanges }: Port): readonly string[] {
  if (security === undefined) return []
  const place = `the port ${name}: security`
  if (security === 'settings') return []
  const hasParts = (exchange: string): boolean => {
    const found = exchanges[exchange]
    return found !== undefined && hasAttachedParts(found)
  }
  const mistakes = findRuleMistakes(security, place, Object.keys(exchanges), hasParts)
  return mistakes.length > 0 ? mistakes : findIndistinct(security, exchanges, place)
}

/**
 * Exchanges whose rules the receiver could not distinguish: a message for one of them would have to
 * prove what another one demands.
 */
function findIndistinct({ operations = {} }: SecurityRule, exchanges: Exchanges, place: string): readonly string[] {
  if (Object.keys(operations).length === 0) return []
  const ruleOf = (exchange: string): ExchangeSecurity | 'none' | undefined => operations[exchange]
  const groups = Map.groupBy(Object.keys(exchanges), exchange => firstNameOf(exchanges[exchange]!))
  return [...groups].flatMap(([first, [one = '', ...others]]) => {
    if (first === undefined)
      return [`${place}: the Body of ${one} may begin with the element of another exchange: remove operations`]
    const differs = others.find(each => JSON.stringify(ruleOf(each)) !== JSON.stringify(ruleOf(one)))
    return differs === undefined
      ? []
      : [`${place}: ${one} and ${differs} begin with the same element, ${first || 'none'}: give them one rule`]
  })
}
