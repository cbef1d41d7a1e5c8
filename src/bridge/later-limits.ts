/** How many calls wait for an answer that comes later, and for how long. */
import type { LaterTerms, Port } from '../contract/exchange.ts'

export interface LaterLimits {
  /** Calls that wait at once; 10,000. */
  readonly answers: number
  /** Those of one caller; 100. */
  readonly answersOfCaller: number
  /** Milliseconds in which an answer has to come; a day. */
  readonly answerLimit: number
}

export const completeLaterLimits = (given: Partial<LaterLimits> = {}): LaterLimits => ({
  answers: 10_000,
  answersOfCaller: 100,
  answerLimit: 86_400_000,
  ...given,
})

/** All exchanges, or those that are named: `GetPrice`, or `ShopPort.GetPrice`. */
export type LaterChoice = boolean | readonly string[]

/**
 * A port whose exchanges say which of them are answered later. Such a one is asked by POST alone,
 * and once: what it starts is a job. One without an answer is left as it is.
 *
 * @param demanded by the policy of the port
 */
export const markLater = (
  port: Port,
  choice: LaterChoice,
  demanded: ReadonlySet<string> | undefined,
  terms: LaterTerms,
): Port => ({
  ...port,
  exchanges: Object.fromEntries(
    Object.entries(port.exchanges).map(([name, each]) => {
      const isChosen = typeof choice === 'boolean' ? choice : choicesOf(port, name).some(own => choice.includes(own))
      const isLater = each.output !== undefined && (isChosen || demanded?.has(name) === true)
      return [name, isLater ? { ...each, later: terms, isSafe: false, location: undefined } : each]
    }),
  ),
})
const choicesOf = ({ port }: Port, exchange: string): readonly string[] => [exchange, `${port}.${exchange}`]

/** A name of the choice that no exchange with an answer has. */
export function findUnknownChoice(ports: readonly Port[], choice: LaterChoice): string | undefined {
  if (typeof choice === 'boolean') return undefined
  const known = ports.flatMap(port =>
    Object.entries(port.exchanges).flatMap(([name, { output }]) => (output === undefined ? [] : choicesOf(port, name))),
  )
  return choice.find(each => !known.includes(each))
}

/** Whether any answer comes later. */
export const hasLater = (ports: readonly Port[]): boolean =>
  ports.some(({ exchanges }) => Object.values(exchanges).some(each => each.later !== undefined))
