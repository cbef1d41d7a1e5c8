/**
 * Certificate revocation lists at an address (RFC 5280 §4.2.1.13, RFC 2585 §4). What it guards:
 *  (1) Only the configured address is asked, whatever a certificate names, and no redirect is
 *      followed.
 *  (2) A list is taken up to `octetsMax`, within `answerMs`; one request is under way at a time,
 *      and none follows a failure for `retryMs`.
 *  (3) A list that is known counts until its own end, whatever the address says; one that is older
 *      takes no newer one's place, since anybody on the way could send it.
 *  (4) A message waits only where no list that is fresh is known, and no longer than the request.
 * Whether lists are signed by whom they should be is asked where they count.
 */
import { takeBounded } from '../../base/octets.ts'
import type { Watching } from '../../identity/watched-file.ts'
import type { RevocationList } from '../../security/crypto/crl.ts'
import { readCrlList } from '../../security/crypto/key-source.ts'

export interface FetchedLists {
  /** The lists as they are known; asks for others where these are due. */
  readonly current: () => readonly RevocationList[]
  /** A request that has to be waited for, since nothing fresh is known. */
  readonly awaited: () => Promise<void> | undefined
}

/** Octets of a list: some 400,000 entries. */
const octetsMax = 16 * 1024 * 1024
const answerMs = 10_000
/** Lists are asked for again at this age, or at the end of the first of them. */
const renewMs = 3_600_000
const retryMs = 60_000

/** @param address http or https; lists are signed, so http needs no other proof */
export function fetchLists(address: string, { clock, failed }: Watching): FetchedLists {
  let known: readonly RevocationList[] = []
  let dueAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined
  const isFresh = (): boolean => known.length > 0 && clock() < endOf(known)
  const take = (next: readonly RevocationList[]): void => {
    if (startOf(next) < startOf(known)) throw new Error(`${address} has an older list than before`) // (3)
    if (startOf(next) > startOf(known) || known.length === 0) known = next
    const end = endOf(known)
    dueAt = Math.max(clock() + retryMs, Math.min(clock() + renewMs, end))
  }
  const renew = (): void => {
    const waitMs = dueAt - clock()
    if (fetching || (waitMs > 0 && waitMs <= renewMs)) return // a longer one is of a clock that was put back
    dueAt = clock() + retryMs
    fetching = requestLists(address)
      .then(take)
      .catch(failed)
      .finally(() => (fetching = undefined))
  }
  renew()
  return {
    current: () => {
      renew()
      return known
    },
    awaited: () => {
      renew()
      return isFresh() ? undefined : fetching
    },
  }
}

const startOf = (lists: readonly RevocationList[]): number => Math.max(...lists.map(({ thisUpdate }) => thisUpdate))
const endOf = (lists: readonly RevocationList[]): number => Math.min(...lists.map(({ nextUpdate }) => nextUpdate))

/** (1), (2) */
async function requestLists(address: string): Promise<readonly RevocationList[]> {
  try {
    const signal = AbortSignal.timeout(answerMs)
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { accept: 'application/pkix-crl, */*' },
      signal,
    })
    if (answer.status !== 200 || !answer.body) throw new Error(`the status is ${answer.status}`)
    const octets = await takeBounded(answer.body, octetsMax)
    if (!octets) throw new Error(`it is longer than ${octetsMax} octets`)
    return readCrlList(octets, 'the answer')
  } catch (thrown) {
    const { cause, message } = thrown as Error // nothing else is thrown above
    throw new Error(`the CRL at ${address} cannot be used: ${cause instanceof Error ? cause.message : message}`)
  }
}
