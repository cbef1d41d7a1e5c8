/**
 * Certificate revocation lists at an address (RFC 5280 §4.2.1.13, RFC 2585 §4). What it guards:
 *  (1) Only the configured address is used, whatever a certificate names, and no redirect is
 *      followed.
 *  (2) A list has at most `octetsMax` and arrives within `fetchTimeoutMs`; only one request is
 *      under way at a time, and after a failure none follows for `retryMs`.
 *  (3) A signed list counts until its own end, whatever the address says, since anyone on the
 *      network path could answer: only a newer signed list replaces it. A list whose signature is
 *      unknown so far is kept next to it.
 *  (4) A message waits only if no fresh list is known, and no longer than the request.
 * The path of a signer is checked where a list is used.
 */
import { takeBounded } from '../../base/octets.ts'
import type { Watching } from '../../identity/watched-file.ts'
import type { RevocationList } from '../../security/crypto/crl.ts'
import { readCrlList } from '../../security/crypto/key-source.ts'
import { isSameOctets } from '../../security/crypto/revocation.ts'

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

export interface ListWatching extends Watching {
  /** Whether an authority of the settings has signed a list. */
  readonly isSigned: (list: RevocationList) => boolean
}

/** @param address http or https; http is enough, since lists are signed */
export function fetchLists(address: string, { clock, failed, isSigned }: ListWatching): FetchedLists {
  let lists: readonly RevocationList[] = []
  let dueAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined
  let end = Number.NEGATIVE_INFINITY
  const isFresh = (): boolean => clock() < end
  /** (3) The signer of the former list, which a message has shown, counts for this one. */
  const isProven = (list: RevocationList): boolean =>
    list.signer !== undefined ||
    isSigned(list) ||
    lists.some(({ issuerKey, signer }) => signer && issuerKey === list.issuerKey && !list.checkSignature(signer))
  const take = (next: readonly RevocationList[]): void => {
    const known = lists.filter(isProven)
    if (next.some(list => known.some(each => isSameKind(each, list) && each.thisUpdate > list.thisUpdate)))
      throw new Error(`${address} has an older list than before`) // (3)
    const proven = next.filter(isProven)
    const kept = known.filter(each => !proven.some(list => isSameKind(each, list)))
    if (proven.length < next.length && kept.length > 0)
      failed(new Error(`${address} has a list that no known authority has signed: the former list stays in force`))
    if (next.some(list => !known.some(each => isSameKind(each, list) && each.thisUpdate === list.thisUpdate)))
      lists = [...next, ...kept]
    end = endOf([...next, ...kept.filter(({ nextUpdate }) => nextUpdate > clock())])
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

/** Whether a list may replace another: the same issuer, key and scope, and a delta or not. */
const isSameKind = (one: RevocationList, other: RevocationList): boolean =>
  one.issuerKey === other.issuerKey &&
  (one.baseNumber === undefined) === (other.baseNumber === undefined) &&
  isSameOctets(one.authorityKeyIdentifier, other.authorityKeyIdentifier) &&
  isSameOctets(one.scope?.octets, other.scope?.octets)
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
