/**
 * How late answers are while a server's core is busy for a part of the time. What a request costs depends on how often
 * requests come, and a machine's speed drifts: so the rate follows what the core did in the spell before.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Ask, cpu, on, type Target } from './harness.ts'

/** The part of its core that a server uses, and how far from it a spell may be. */
const [wantedShare, tolerance] = [0.7, 0.04]

/** Seconds before each spell in which `native/load.c` asks as often, and does not count. */
const leadIn = 0.5

/** Milliseconds that half of the requests, and 99 of a hundred, took from the moment they were due. */
export interface Lateness {
  readonly p50: number
  readonly p99: number
}

/** `native/load.c` with one message, whose # and ~ are numbers that differ. */
export interface SentLoad {
  /** As many as are answered: requests a second. */
  readonly ask: (seconds: number) => Promise<number>
  /** Requests at fixed times, so many a second. */
  readonly time: (rate: number, seconds: number) => Promise<Lateness>
}

/** @param isShared others have its core, too, between two requests */
export function sendLoad(
  folder: string,
  { port }: Target,
  { request, contains }: Pick<Ask, 'request' | 'contains'>,
  isShared = false,
): SentLoad {
  const file = join(folder, `request-${port}`)
  writeFileSync(file, request)
  const run = async (rate: number, seconds: number): Promise<number[]> => {
    const words = [String(port), String(rate), String(seconds), file, contains, ...(isShared ? ['shared'] : [])]
    const [program = '', ...rest] = on(1, [join(folder, 'load'), ...words])
    const { stdout } = await promisify(execFile)(program, rest)
    return stdout.split(' ').map(Number)
  }
  return {
    ask: async seconds => ((await run(0, seconds))[0] ?? Number.NaN) / seconds,
    time: async (rate, seconds) => {
      const [p50 = Number.NaN, p99 = Number.NaN] = await run(rate, seconds)
      return { p50, p99 }
    },
  }
}

export interface BusySpell extends Lateness {
  /** Requests a second. */
  readonly rate: number
  /** The part of its core that the server used. */
  readonly share: number
  /** Microseconds of its CPU for a request. */
  readonly cost: number
}

/**
 * As many spells as asked for, in which the core was busy for 70 % of the time and the host gave its time to no other
 * machine; after three times as many tries the last ones are taken as they are, and `share` says so. They follow each other:
 * a program that has been idle for seconds collects all its garbage when it is asked again.
 */
export async function timeBusySpells({ target, load, most, count, seconds }: BusyLoad): Promise<BusySpell[]> {
  const kept: BusySpell[] = []
  let rate = Math.round(most / 2)
  for (let triesLeft = count * 3; kept.length < count && triesLeft > 0; triesLeft--) {
    const before = stolen()
    const spell = await timeBusySpell(target, load, rate, seconds)
    rate = Math.round(Math.min((rate * wantedShare) / spell.share, most * 0.95))
    const isFit = Math.abs(spell.share - wantedShare) <= tolerance && stolen() === before
    if (isFit || triesLeft <= count - kept.length) kept.push(spell)
  }
  return kept
}
export interface BusyLoad {
  readonly target: Target
  readonly load: SentLoad
  /** Requests a second that are answered at most: the first try is half of it, and none is above. */
  readonly most: number
  readonly count: number
  /** Of one spell. */
  readonly seconds: number
}

async function timeBusySpell(target: Target, load: SentLoad, rate: number, seconds: number): Promise<BusySpell> {
  const before = await cpu(target)
  const lateness = await load.time(rate, seconds)
  const cost = ((await cpu(target)) - before) / (rate * (seconds + leadIn))
  return { ...lateness, rate, cost, share: (cost * rate) / 1_000_000 }
}

/** Ticks of 10 ms that the host has given to others since the machine was started (proc(5), steal). */
export const stolen = (): number =>
  Number(readFileSync('/proc/stat', 'latin1').split('\n')[0]?.trim().split(/ +/)[8] ?? 0)
