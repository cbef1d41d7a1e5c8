/** How many calls may wait for a later response, and for how long. */
import type { LaterTerms, Port } from '../contract/exchange.ts'

export interface LaterLimits {
  /** Calls that wait at once; 10,000. */
  readonly answers: number
  /** Those of one caller; 100. */
  readonly answersOfCaller: number
  /** Milliseconds within which a response has to come; a day. */
  readonly answerLimit: number
}

export const completeLaterLimits = (limits: Partial<LaterLimits> = {}): LaterLimits => ({
  answers: 10_000,
  answersOfCaller: 100,
  answerLimit: 86_400_000,
  ...limits,
})

/** All exchanges, or the named ones: `GetPrice`, or `ShopPort.GetPrice`. */
export type LaterChoice = boolean | readonly string[]

/**
 * A port whose exchanges say which of them are answered later. Such an exchange can only be called
 * by POST, and once: a call starts a job. An exchange without a response is left as it is.
 *
 * @param demanded the proof that the policy of the port demands
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

/** A name in the choice that matches no exchange with a response. */
export function findUnknownChoice(ports: readonly Port[], choice: LaterChoice): string | undefined {
  if (typeof choice === 'boolean') return undefined
  const known = ports.flatMap(port =>
    Object.entries(port.exchanges).flatMap(([name, { output }]) => (output === undefined ? [] : choicesOf(port, name))),
  )
  return choice.find(each => !known.includes(each))
}

/** Whether any response comes later. */
export const hasLater = (ports: readonly Port[]): boolean =>
  ports.some(({ exchanges }) => Object.values(exchanges).some(each => each.later !== undefined))
