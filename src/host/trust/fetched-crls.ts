/**
 * Certificate revocation lists at an address (RFC 5280 §4.2.1.13, RFC 2585 §4). What it guards:
 *  (1) Only the configured address is used, whatever a certificate names, and no redirect is
 *      followed.
 *  (2) A list has at most `octetsMax` and arrives within `fetchTimeoutMs`; only one request is
 *      under way at a time, and after a failure none follows for `retryMs`.
 *  (3) A known list counts until its own end, whatever the address says; an older list never
 *      replaces a newer one, since anyone on the network path could replay it.
 *  (4) A message waits only if no fresh list is known, and no longer than the request.
 * The signature of a list is checked where the list is used.
 */
import { takeBounded } from '../../base/octets.ts'
import type { Watching } from '../../identity/watched-file.ts'
import type { RevocationList } from '../../security/crypto/crl.ts'
import { readCrlList } from '../../security/crypto/key-source.ts'

export interface FetchedLists {
  /** The known lists; requests new ones where these are due. */
  readonly current: () => readonly RevocationList[]
  /** The request to wait for while no fresh list is known. */
  readonly awaited: () => Promise<void> | undefined
}

/** Octets of a list: enough for some 400,000 entries. */
const octetsMax = 16 * 1024 * 1024
const fetchTimeoutMs = 10_000
/** Lists are requested again at this age, or when the first of them ends. */
const renewMs = 3_600_000
const retryMs = 60_000

/** @param address http or https; http is enough, since lists are signed */
export function fetchLists(address: string, { clock, failed }: Watching): FetchedLists {
  let lists: readonly RevocationList[] = []
  let dueAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined
  const isFresh = (): boolean => lists.length > 0 && clock() < endOf(lists)
  const take = (next: readonly RevocationList[]): void => {
    if (startOf(next) < startOf(lists)) throw new Error(`${address} has an older list than before`) // (3)
    if (startOf(next) > startOf(lists) || lists.length === 0) lists = next
    const end = endOf(lists)
    dueAt = Math.max(clock() + retryMs, Math.min(clock() + renewMs, end))
  }
  const renew = (): void => {
    const waitMs = dueAt - clock()
    if (fetching || (waitMs > 0 && waitMs <= renewMs)) return // a longer wait means that the clock was put back
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
      return lists
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
    const signal = AbortSignal.timeout(fetchTimeoutMs)
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
