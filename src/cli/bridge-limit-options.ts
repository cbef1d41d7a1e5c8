/** The options of `diglot bridge` that bound its use of the backend. */
import type { Command } from 'commander'
import { type BridgeLimits, completeLimits } from '../bridge/bridge-limits.ts'
import { type Service, usualRates } from '../contract/service.ts'
import { wholeNumberOption } from './option-types.ts'
import { failUsage } from './usage.ts'

export interface LimitFlags extends Omit<BridgeLimits, 'callsOfCaller'> {
  readonly callsOfCaller?: number
  /** Requests of one caller per minute; default: as in the contract. */
  readonly reads?: number
  readonly changes?: number
}

const usualLimits = completeLimits()
const callsOption = wholeNumberOption(1, 10_000)
const waitingOption = wholeNumberOption(1, 100_000)
const rateOption = wholeNumberOption(1, 10_000_000)
const failuresOption = wholeNumberOption(1, 1_000_000)
const pauseOption = wholeNumberOption(1, 3_600_000)
const longestOption = wholeNumberOption(1, 1024 ** 3)
const passingOption = wholeNumberOption(1, 1024 ** 4)

export const addLimitOptions = (command: Command): Command =>
  command
    .option('--calls <number>', 'calls to the backend in progress at once', callsOption, usualLimits.calls)
    .option(
      '--calls-of-caller <number>',
      'calls of one caller in progress at once (default: half of --calls)',
      callsOption,
    )
    .option('--waiting <number>', 'calls that wait for their turn', waitingOption, usualLimits.waiting)
    .option(
      '--waiting-of-caller <number>',
      'calls of one caller that wait for their turn',
      waitingOption,
      usualLimits.waitingOfCaller,
    )
    .option(
      '--reads <number>',
      `requests of one caller in a minute that read (default: ${usualRates.reads.count}, or as the map has it)`,
      rateOption,
    )
    .option(
      '--changes <number>',
      `requests of one caller in a minute that may change something (default: ${usualRates.changes.count}, or as the map has it)`,
      rateOption,
    )
    .option(
      '--failures <number>',
      'calls in a row without a response, after which the backend is left alone',
      failuresOption,
      usualLimits.failures,
    )
    .option('--pause <milliseconds>', 'how long it is left alone', pauseOption, usualLimits.pause)
    .option(
      '--longest <octets>',
      'octets of a response that is held in memory, at most',
      longestOption,
      usualLimits.longest,
    )
    .option(
      '--longest-passing <octets>',
      'octets of a response in a package, or of a form, that is streamed, at most',
      passingOption,
      usualLimits.longestPassing,
    )

export function readLimitFlags(flags: LimitFlags): BridgeLimits {
  const { calls, callsOfCaller, waiting, waitingOfCaller, failures, pause, longest, longestPassing } = flags
  if (callsOfCaller !== undefined && callsOfCaller > calls)
    failUsage(`--calls-of-caller ${callsOfCaller} is more than --calls ${calls}: one caller cannot have more than all`)
  return completeLimits({
    ...{ calls, waiting, waitingOfCaller, failures, pause, longest, longestPassing },
    ...(callsOfCaller !== undefined && { callsOfCaller }),
  })
}

/** The contract with the rates from the options. */
export function limitRates(contract: Service, { reads, changes }: Pick<LimitFlags, 'reads' | 'changes'>): Service {
  const rate = (count: number) => ({ count, seconds: 60 })
  const limits = {
    ...contract.limits,
    ...(reads !== undefined && { reads: rate(reads) }),
    ...(changes !== undefined && { changes: rate(changes) }),
  }
  return { ...contract, limits }
}
