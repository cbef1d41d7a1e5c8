/**
 * The rules of the conventions, tried against a service in memory by the tests of its application:
 * the real front door, both faces and a separate store, without a socket. The clock is that of the
 * machine, and jobs run on their own.
 */
import type { CheckOptions, CheckReport } from '../check/index.ts'
import type { Implementation, Person } from '../contract/implement.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import { requireSoundContract } from '../contract/review.ts'
import { openService } from '../host/open-service.ts'
import { quietLogger } from '../host/operations/log.ts'
import { openAllOrNothing, type ServiceOptions } from '../host/options.ts'

/** Facts about a service that no probe can discover; all are optional. */
export interface CheckServiceOptions
  extends Pick<CheckOptions, 'profile' | 'rules' | 'onVerdict' | 'timeLimitMs'>,
    Pick<ServiceOptions, 'settings' | 'messageSecurity'> {
  /** The people of the seed that send requests, by name. Default: all that have a password. */
  readonly callers?: readonly string[]
  /**
   * Whether the run creates, changes and removes items. Default: true, since the store is its own.
   */
  readonly allowChanges?: boolean
}
const optionMembers: MembersOf<CheckServiceOptions> = {
  profile: true,
  rules: true,
  onVerdict: true,
  timeLimitMs: true,
  settings: true,
  messageSecurity: true,
  callers: true,
  allowChanges: true,
}

/** Only this run sends requests to the service, so probes need not spare it. */
const requestsPerSecond = 100_000

/** The findings of a run, and the errors behind each 500 that it met. */
export interface CheckServiceReport extends CheckReport {
  readonly incidents: readonly unknown[]
}

/**
 * Starts the service with its seed, tries every rule that can be observed without a socket, and
 * closes it: `const { verdicts } = await checkService(app, { profile })`. A rule fails if the
 * `status` of its verdict is `fail`; its exchanges are the evidence.
 * @throws what `serve` throws for a contract or a seed with mistakes; TypeError for a caller that
 * the seed does not have
 */
export async function checkService(
  app: Implementation,
  checkOptions: CheckServiceOptions = {},
): Promise<CheckServiceReport> {
  requireKnownMembers('the options of checkService', checkOptions, optionMembers)
  requireSoundContract(app)
  const { callers, settings, messageSecurity, allowChanges = true, ...given } = checkOptions
  const seed = app.seed() // once: it may draw passwords
  const { createMemoryTransport, parseCaller, runCheck } = await import('../check/index.ts')
  const probers = chooseCallers(seed.people ?? [], callers).map(parseCaller)
  const incidents: unknown[] = []
  const options: ServiceOptions = {
    ...(settings && { settings }),
    ...(messageSecurity && { messageSecurity }),
    data: ':memory:',
    flood: 0, // a run sends more requests per second than a client would
    logger: quietLogger,
    onError: (_incident, thrown) => void incidents.push(thrown),
  }
  const open = await openAllOrNothing(opened =>
    openService({ ...app, seed: () => seed }, options, opened, { seededPasswords: true }),
  )
  try {
    const transport = createMemoryTransport(async request => open.answer(request))
    const waits = { rate: requestsPerSecond, lockLimitMs: 0 } // no other caller locks a name
    const report = await runCheck(transport, { ...given, callers: probers, allowChanges, ...waits })
    return { ...report, incidents }
  } finally {
    await open.close(0)
  }
}

/** Each as `name:password`. */
function chooseCallers(people: readonly Person[], names: readonly string[] | undefined): readonly string[] {
  const passwords = new Map(
    people.flatMap(({ subject, password }) => (password === undefined ? [] : [[subject, password] as const])),
  )
  return (names ?? [...passwords.keys()]).map(name => {
    const password = passwords.get(name)
    if (password !== undefined) return `${name}:${password}`
    const known = [...passwords.keys()].join(', ')
    throw new TypeError(`the seed has no person "${name}" with a password: give one of [${known}]`)
  })
}
