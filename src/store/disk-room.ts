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

/** The octets of the disk of a file. Undefined if the system does not say. */
function readRoom(file: string, ask: AskDisk): { readonly free: number; readonly all: number } | undefined {
  const disk = attempt(() => ask(dirname(file)), tellsNothing)
  return disk && { free: disk.bavail * disk.bsize, all: disk.blocks * disk.bsize }
}

/** Less than SQLite needs to open a file with its log and its shared memory. */
const fullOctets = 1 << 20

export function isDiskFull(file: string, ask: AskDisk = statfsSync): boolean {
  const disk = readRoom(file, ask)
  return disk !== undefined && disk.free < fullOctets
}

/**
 * @param spareOctets the free octets within the database file
 * @throws Unavailable if a file would use room that is reserved for other changes
 */
export function requireRoom(file: string, spareOctets: () => number, ask: AskDisk = statfsSync): void {
  const disk = readRoom(file, ask)
  if (!disk) return
  const { free, all } = disk
  const reserve = Math.min(reservedOctets, all / 4)
  if (free < reserve && free + spareOctets() < reserve)
    throw new Unavailable(
      retrySeconds,
      `${Math.floor(free / (1 << 20))} MiB are free on the disk of ${file}, and are kept for other changes: free some space for files`,
    )
}
