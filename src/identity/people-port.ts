/**
 * The port to people who are kept elsewhere: in a company directory, or in tables of the
 * application. It replaces the people of the store. What it guards:
 *  (1) A source that is slow or fails is `Unavailable`, so no caller takes it for a wrong password,
 *      and none waits long.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Maybe } from '../base/maybe.ts'
import { Unavailable } from '../service/store.ts'

/** The rights of a person in a directory. */
export interface PersonRights {
  readonly roles: readonly string[]
  /** By the names of the contract's policies. Default: none. */
  readonly claims?: Readonly<Record<string, string>>
  /**
   * A text that changes with the password, which ends the sessions of the old one. Default: they
   * last.
   */
  readonly stamp?: string
}

/** Your own directory of people, queried for each password or name. */
export interface PeoplePort {
  /**
   * The rights of a person with this password. An unknown name should take as long as a wrong
   * password. Called after the lock-out check, and remembered for five minutes.
   */
  readonly prove: (name: string, password: string) => Maybe<PersonRights | undefined>
  /** The rights of a name that a cookie, a certificate or a signed message has proven. */
  readonly find: (name: string) => Maybe<PersonRights | undefined>
}

const portMs = 10_000
const retrySeconds = 5

/** (1) @param failed receives the errors of the port */
export function guardPeoplePort({ prove, find }: PeoplePort, failed: (thrown: unknown) => void): PeoplePort {
  const guard = async <T>(ask: () => Maybe<T>): Promise<T> => {
    const ended = new AbortController()
    const late = sleep(portMs, undefined, { signal: ended.signal, ref: false })
    try {
      return await Promise.race([
        ask(),
        late.then(() => Promise.reject(new Error(`the people port took longer than ${portMs / 1000} s`))),
      ])
    } catch (thrown) {
      failed(thrown)
      throw new Unavailable(retrySeconds, thrown)
    } finally {
      ended.abort()
      late.catch(() => {}) // it was aborted
    }
  }
  return {
    prove: (name, password) => guard(() => prove(name, password)),
    find: name => guard(() => find(name)),
  }
}
