/**
 * Keeps room on the disk of an SQLite file. If uploaded files filled a disk completely, no change
 * would succeed, not even one that removes the pieces of the last file. So they leave some room.
 */
import { type StatsFs, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { Unavailable } from '../service/store.ts'

/** More than SQLite's log takes before its pages move to the file; on a small disk, a quarter. */
const reservedOctets = 64 << 20

/** Seconds after which an operator may have freed some room. */
const retrySeconds = 60

type AskDisk = (folder: string) => Pick<StatsFs, 'bsize' | 'blocks' | 'bavail'>

const tellsNothing = (thrown: unknown): boolean => errorCodeOf(thrown) !== ''

/**
 * @param spareOctets the free octets within the database file
 * @throws Unavailable if a file would use room that is reserved for other changes
 */
export function requireRoom(file: string, spareOctets: () => number, ask: AskDisk = statfsSync): void {
  const disk = attempt(() => ask(dirname(file)), tellsNothing)
  if (!disk) return // unknown: the system does not say
  const [free, all] = [disk.bavail * disk.bsize, disk.blocks * disk.bsize]
  const reserve = Math.min(reservedOctets, all / 4)
  if (free < reserve && free + spareOctets() < reserve)
    throw new Unavailable(
      retrySeconds,
      `${Math.floor(free / (1 << 20))} MiB are free on the disk of ${file}, and are kept for other changes: free some space for files`,
    )
}
