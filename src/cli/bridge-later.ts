/** The options of `diglot bridge` for answers that come later, and what they require. */
import type { Command } from 'commander'
import { hasLater, type LaterChoice, markLater } from '../bridge/later-limits.ts'
import type { BridgeLeniency } from '../bridge/leniency.ts'
import type { PortDressOptions } from '../client/port-dress.ts'
import type { PortPolicy } from '../contract/endpoint-rule.ts'
import type { Port } from '../contract/exchange.ts'
import { wholeNumberOption } from './option-types.ts'
import { failUsage } from './usage.ts'

export interface LaterFlags {
  readonly later?: boolean
  readonly replies?: string
  readonly publicUrl?: string
  readonly answerLimit: number
  readonly answers: number
  readonly answersOfCaller: number
  readonly keepAnswers: number
}

/**
 * `behind` in the map: what messages wear, which flaws are tolerated, and which answers come later.
 */
export interface MappedBehind extends PortDressOptions {
  /** The flaws that answers may have: `['order', 'unknown']`. Default: none but in the envelope. */
  readonly lenient?: readonly BridgeLeniency[]
  /** All exchanges, or some by name: `['GetPrice']`. Default: as the WSDL demands. */
  readonly later?: LaterChoice
}

const secondsOption = wholeNumberOption(1, 366 * 86_400)
const callsOption = wholeNumberOption(1, 1_000_000)

export const addLaterOptions = (command: Command): Command =>
  command
    .option('--later', 'replies come later, by WS-Addressing, to the address of --replies')
    .option('--replies <url>', 'address at which the backend reaches this bridge (default: --public-url)')
    .option('--answer-limit <seconds>', 'time within which a later reply must arrive', secondsOption, 86_400)
    .option('--answers <number>', 'calls that wait for later replies at once', callsOption, 10_000)
    .option('--answers-of-caller <number>', 'calls of one caller that wait for later replies at once', callsOption, 100)
    .option('--keep-answers <seconds>', 'how long a later reply can be read', secondsOption, 86_400)

/** Ports with those of their answers marked that come later: by options, the map, or policies. */
export function markLaterPorts(
  ports: readonly Port[],
  policies: ReadonlyMap<string, PortPolicy>,
  flags: Pick<LaterFlags, 'later' | 'keepAnswers'>,
  mapped: LaterChoice | undefined,
): readonly Port[] {
  const choice = flags.later || (mapped ?? false)
  return ports.map(each => markLater(each, choice, policies.get(each.port)?.later, { keep: flags.keepAnswers }))
}

/** Ends with a usage error if a flag has no meaning for a REST service. */
export function refuseLaterFlags({ later, replies }: Pick<LaterFlags, 'later' | 'replies'>): void {
  const flag = later ? '--later' : replies === undefined ? undefined : '--replies'
  if (flag !== undefined)
    failUsage(`${flag} is for replies by WS-Addressing, which a REST service does not use: leave it out`)
}

/** The address at which the backend reaches the bridge; undefined: no answer comes later. */
export function requireReplies(
  ports: readonly Port[],
  { replies, publicUrl, data }: Pick<LaterFlags, 'replies' | 'publicUrl'> & { readonly data?: string },
): string | undefined {
  if (!hasLater(ports)) {
    if (replies !== undefined)
      failUsage(
        '--replies is the address for later answers, but no answer comes later: give --later, or `later` of `behind` in the map',
      )
    return undefined
  }
  const names = ports.flatMap(({ port, exchanges }) =>
    Object.entries(exchanges).flatMap(([name, each]) => (each.later ? [`${port}.${name}`] : [])),
  )
  const address = replies ?? publicUrl
  if (address === undefined)
    failUsage(
      `answers of ${names.join(', ')} come later: give --replies <url>, the address at which the backend reaches this bridge`,
    )
  if (data === ':memory:')
    failUsage(
      'answers come later, and a bridge in memory would forget the calls that wait for them: give --data a file',
    )
  return readAddress(replies === undefined ? '--public-url' : '--replies', address as string) // `failUsage` has ended it otherwise
}

function readAddress(option: string, given: string): string {
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    failUsage(`${option} ${given} is not an http or https address without query and fragment`)
  return given.replace(/\/+$/, '')
}
