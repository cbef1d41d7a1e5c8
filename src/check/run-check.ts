/** One run: discovery, every rule, removal of what was made, the report. */
import { Bench, type BenchOptions } from './bench.ts'
import { checkRules } from './catalogue.ts'
import { discoverService, requireAnswer } from './discovery.ts'
import { type ProbeTransport, Unreachable } from './probe-message.ts'
import type { CheckReport, CheckRule, RuleVerdict } from './rule.ts'
import { Trial } from './trial.ts'
import { type Finding, NotApplicable, NotObservable } from './verdict.ts'

export interface CheckOptions extends Partial<BenchOptions> {
  /** The path to begin at. Default: /. */
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
}

/** Rejects with `Unreachable` where nothing answers at the address. */
export async function runCheck(transport: ProbeTransport, options: CheckOptions = {}): Promise<CheckReport> {
  const { basePath = '/', rules = checkRules, onVerdict, ...given } = options
  const [startedAt, startMs] = [new Date().toISOString(), performance.now()]
  const bench = new Bench(transport, { ...defaultBenchOptions, ...given })
  bench.service = await discoverService(bench, basePath)
  requireAnswer(bench.service.entry)
  const verdicts: RuleVerdict[] = []
  try {
    for (const rule of [...rules].sort((a, b) => Number(a.isPassive ?? false) - Number(b.isPassive ?? false))) {
      const exception = bench.profile.exceptions?.[rule.id]
      const verdict: RuleVerdict =
        exception === undefined
          ? await tryRule(rule, bench)
          : { rule, status: 'not applicable', reason: `exception of the profile: ${exception}`, findings: [] }
      verdicts.push(verdict)
      onVerdict?.(verdict)
    }
  } finally {
    await bench.cleanUp()
  }
  return {
    address: transport.origin + basePath,
    startedAt,
    tookMs: performance.now() - startMs,
    requests: bench.exchanges.length,
    verdicts: rules.flatMap(rule => verdicts.find(verdict => verdict.rule === rule) ?? []),
    leftBehind: bench.leftBehind,
    remarks: bench.remarks,
  }
}

/** Tries a rule. What it has found counts, also when it cannot go on. */
async function tryRule(rule: CheckRule, bench: Bench): Promise<RuleVerdict> {
  const trial = new Trial(bench)
  let ended: RuleVerdict | undefined
  try {
    await rule.probe(trial)
  } catch (thrown) {
    ended = endOfTrial(rule, thrown)
  }
  return judgeFindings(rule, trial.findings, ended)
}

function endOfTrial(rule: CheckRule, thrown: unknown): RuleVerdict {
  if (thrown instanceof NotApplicable) return { rule, status: 'not applicable', reason: thrown.message, findings: [] }
  if (thrown instanceof NotObservable || thrown instanceof Unreachable)
    return { rule, status: 'not observable', reason: thrown.message, findings: [] }
  throw thrown
}

function judgeFindings(rule: CheckRule, findings: readonly Finding[], ended: RuleVerdict | undefined): RuleVerdict {
  const failed = findings.filter(each => !each.holds)
  if (failed.length > 0) return { rule, status: 'fail', reason: failed.map(each => each.says).join('; '), findings }
  if (findings.length > 0) return { rule, status: 'pass', reason: findings.map(each => each.says).join('; '), findings }
  return ended ?? { rule, status: 'not applicable', reason: 'the run met nothing that it speaks of', findings: [] }
}
