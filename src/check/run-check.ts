/** One run: discovery, every rule, removal of what was created, the report. */
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/attempt.ts'
import { Bench, type BenchOptions } from './bench.ts'
import { checkRules } from './catalogue.ts'
import type { CheckCaller } from './discovered-service.ts'
import { discoverService, requireService } from './discovery.ts'
import { addEarlierRemoval, fillEmptyCollections } from './materials.ts'
import { asText, memberAt } from './probe-content.ts'
import { type ProbeExchange, type ProbeTransport, Unreachable } from './probe-message.ts'
import type { CheckReport, CheckRule, RuleVerdict } from './rule.ts'
import { digestRules, restoreJudgement } from './run-journal.ts'
import { Trial } from './trial.ts'
import { type Finding, NotApplicable, NotObservable } from './verdict.ts'

/** The rules that a run checks, and how it reports its verdicts. */
export interface CheckOptions extends Partial<BenchOptions> {
  /** The path at which to begin. Default: /. */
  readonly basePath?: string
  /** Default: all. */
  readonly rules?: readonly CheckRule[]
  readonly onVerdict?: (verdict: RuleVerdict) => void
}

export const defaultBenchOptions: BenchOptions = {
  callers: [],
  profile: {},
  allowChanges: false,
  rate: 50,
  timeLimitMs: 120_000,
  requestLimitMs: 10_000,
  lockLimitMs: 90_000,
}

/** Rejects with `Unreachable` if there is no response at the address. */
export async function runCheck(transport: ProbeTransport, options: CheckOptions = {}): Promise<CheckReport> {
  const { basePath = '/', rules = checkRules, onVerdict, ...given } = options
  const [startedAt, startMs] = [new Date().toISOString(), performance.now()]
  const bench = new Bench(transport, { ...defaultBenchOptions, ...given })
  bench.service = await discoverService(bench, basePath)
  requireService(bench.service)
  const { journal } = bench.options
  const address = transport.origin + basePath
  beginJournal(bench, address, rules)
  const verdicts: RuleVerdict[] = []
  try {
    bench.service = { ...bench.service, collections: await fillEmptyCollections(bench) }
    for (const rule of [...rules].sort((a, b) => Number(a.isPassive ?? false) - Number(b.isPassive ?? false))) {
      const known = journal?.earlier && restoreJudgement(journal.earlier, rule.id)
      const verdict = known ? { rule, ...known } : await judgeRule(rule, bench)
      // A rule for which no time was left is tried again.
      if (!known && !bench.isOutOfTime) journal?.addVerdict(verdict)
      verdicts.push(verdict)
      onVerdict?.(verdict)
    }
  } finally {
    const isOutOfTime = bench.isOutOfTime
    await bench.cleanUp()
    if (isOutOfTime && journal)
      bench.remarks.push('the time ran out before all rules were tried: continue with --resume')
    else if (verdicts.length === rules.length) journal?.end()
  }
  return {
    address,
    startedAt,
    tookMs: performance.now() - startMs,
    requests: bench.exchanges.length,
    verdicts: rules.flatMap(rule => verdicts.find(verdict => verdict.rule === rule) ?? []),
    leftBehind: bench.leftBehind,
    remarks: bench.remarks,
  }
}

/** Continues what an interrupted run left. Throws `JournalMismatch` for another run. */
function beginJournal(bench: Bench, address: string, rules: readonly CheckRule[]): void {
  const { journal, allowChanges } = bench.options
  journal?.begin({
    address,
    service: asText(memberAt(bench.service.openapi, 'info', 'version')) ?? 'unknown',
    rules: digestRules(rules),
    callers: bench.callers.map(({ name }) => name),
    allowChanges,
  })
  if (!journal?.earlier) return
  const { verdicts, made, startedAt } = journal.earlier
  for (const each of made) addEarlierRemoval(bench, each)
  bench.remarks.push(
    `resumed: ${verdicts.length} of ${rules.length} rules were tried by the run that began at ${startedAt}; ${made.length} of what it made were still there`,
  )
}

async function judgeRule(rule: CheckRule, bench: Bench): Promise<RuleVerdict> {
  const exception = bench.profile.exceptions?.[rule.id]
  if (exception === undefined) return await tryRule(rule, bench)
  return { rule, status: 'not applicable', reason: `exception of the profile: ${exception}`, findings: [] }
}

/** Tries a rule, and again if a caller's name was locked meanwhile and is now open. */
async function tryRule(rule: CheckRule, bench: Bench): Promise<RuleVerdict> {
  const first = await probeRule(rule, bench)
  const refused = first.status === 'fail' ? await findRefusedCaller(bench) : undefined
  if (!refused) return first
  const isOpen = await bench.once(`until ${refused.name} is let in`, () => awaitAdmission(bench, refused))
  const second = isOpen ? await probeRule(rule, bench) : first
  if (second.status !== 'fail' || !(await findRefusedCaller(bench))) return second
  const reason = `credentials that are still accepted: those of ${refused.name} were accepted, and are refused now; wrong passwords may have locked the name for a while`
  return { rule, status: 'not observable', reason, findings: second.findings }
}

/** The findings of a probe count even if it cannot continue. */
async function probeRule(rule: CheckRule, bench: Bench): Promise<RuleVerdict> {
  const trial = new Trial(bench)
  let ended: RuleVerdict | undefined
  let isCutShort = false
  try {
    await rule.probe(trial)
  } catch (thrown) {
    if (bench.isOfTransport(thrown)) throw thrown
    ended = endOfTrial(rule, thrown)
    isCutShort = !(thrown instanceof NotObservable || thrown instanceof NotApplicable)
  }
  return judgeFindings(rule, trial.findings, ended, isCutShort)
}

const askAgainMs = 5000
/** @returns whether a caller's locked name is open again; a run waits once for each caller */
async function awaitAdmission(bench: Bench, refused: CheckCaller): Promise<boolean> {
  const untilMs = performance.now() + bench.options.lockLimitMs
  while (performance.now() + askAgainMs < untilMs && !bench.isOutOfTime) {
    await sleep(askAgainMs)
    if ((await findRefusedCaller(bench)) !== refused) {
      bench.remarks.push(`${refused.name} was refused for a while: the run waited until the name was open again`)
      return true
    }
  }
  return false
}

/** A caller that gets 401 where the same GET succeeded before: then failures say nothing. */
async function findRefusedCaller(bench: Bench): Promise<CheckCaller | undefined> {
  for (const caller of bench.callers) {
    const isOwn = ({ request: { method, fields }, status }: ProbeExchange) =>
      method === 'GET' && status === 200 && Object.entries(caller.fields).every(([name, text]) => fields[name] === text)
    const served = bench.exchanges.findLast(isOwn)
    if (!served) continue
    const { target, fields } = served.request
    const again = await bench.send('GET', target, { fields }).catch(() => undefined)
    if (again?.status === 401) return caller
  }
  return undefined
}

function endOfTrial(rule: CheckRule, thrown: unknown): RuleVerdict {
  if (thrown instanceof NotApplicable) return { rule, status: 'not applicable', reason: thrown.message, findings: [] }
  if (thrown instanceof NotObservable || thrown instanceof Unreachable)
    return { rule, status: 'not observable', reason: thrown.message, findings: [] }
  // One broken probe must not cost the verdicts of the others.
  const reason = messageOf(thrown)
  return { rule, status: 'not observable', reason: `${brokenProbe}: ${reason}`, findings: [] }
}
const brokenProbe = 'a checker without this mistake, please report it'

/** @param isCutShort the probe broke off, so what it has seen until then proves nothing */
function judgeFindings(
  rule: CheckRule,
  findings: readonly Finding[],
  ended: RuleVerdict | undefined,
  isCutShort: boolean,
): RuleVerdict {
  const failed = findings.filter(each => !each.holds)
  if (failed.length > 0) return { rule, status: 'fail', reason: failed.map(each => each.says).join('; '), findings }
  if (ended && isCutShort) return { ...ended, findings }
  if (findings.length > 0) return { rule, status: 'pass', reason: findings.map(each => each.says).join('; '), findings }
  return ended ?? { rule, status: 'not applicable', reason: 'no exchange of the run concerns it', findings: [] }
}
