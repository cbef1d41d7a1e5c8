/**
 * Records what a run has done, line by line in a file, so that an interrupted run continues where
 * it stopped. What always holds:
 *  (1) A line is written after the event: an exchange, something created or removed, a verdict.
 *  (2) Only the same run continues: the same address, version of the service, rules and settings.
 *  (3) No credential is written; responses of services are, so only the owner may read the file.
 *  (4) A line cut off by the end of the program is ignored.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { decodeBase64, encodeBase64 } from '../base/base64.ts'
import { parseLooseJson } from './probe-content.ts'
import { ProbeExchange, type ProbeReply, type ProbeRequest } from './probe-message.ts'
import { maskContent, maskFields } from './reports/exchange-text.ts'
import type { Finding, RuleStatus } from './verdict.ts'

/** The identity of a run; a different run does not continue with its journal. */
export interface RunIdentity {
  readonly address: string
  /** `info.version` of the OpenAPI description. */
  readonly service: string
  /** A digest of the rules, which differs between versions of the checker. */
  readonly rules: string
  readonly callers: readonly string[]
  readonly allowChanges: boolean
}

/** The items that must be removed again at the end of the run. */
export interface MadeThing {
  readonly path: string
  readonly caller: string | undefined
  /** An item has an entity tag, and may need to be cancelled first. */
  readonly isItem: boolean
}

/** The content of a verdict about its rule. */
interface Judgement {
  readonly status: RuleStatus
  readonly reason: string
  readonly findings: readonly Finding[]
}

interface KeptVerdict {
  readonly id: string
  readonly status: RuleStatus
  readonly reason: string
  /** Evidence by its position among the exchanges of the run. */
  readonly findings: readonly { readonly holds: boolean; readonly says: string; readonly evidence: readonly number[] }[]
}

type JournalLine =
  | { readonly begin: RunIdentity; readonly at: string }
  | { readonly exchange: { readonly request: KeptMessage; readonly reply: KeptMessage } }
  | { readonly made: MadeThing }
  | { readonly removed: string }
  | { readonly left: string }
  | { readonly verdict: KeptVerdict }
/** Content as base64. */
type KeptMessage = Readonly<Record<string, unknown>> & { readonly content?: string }

/** The work that an interrupted run has done. */
export interface EarlierRun {
  readonly identity: RunIdentity
  readonly startedAt: string
  readonly exchanges: readonly ProbeExchange[]
  readonly verdicts: readonly KeptVerdict[]
  /** Created and not yet removed. */
  readonly made: readonly MadeThing[]
  readonly leftBehind: readonly string[]
}

/** The run cannot continue with this journal; the message says why, and what to do. */
export class JournalMismatch extends Error {}

/** The journal of one run, for `CheckOptions`; an existing file is that of an earlier run. */
export class RunJournal {
  readonly earlier: EarlierRun | undefined
  readonly #file: string
  /** Lines kept until it is known whose run this is. */
  #waiting: JournalLine[] | undefined = []
  readonly #places = new Map<ProbeExchange, number>()

  /** Throws `JournalMismatch` if the file is something else. */
  constructor(file: string) {
    this.#file = file
    this.earlier = existsSync(file) ? readJournal(file, readFileSync(file, 'utf8')) : undefined
    for (const exchange of this.earlier?.exchanges ?? []) this.#places.set(exchange, this.#places.size)
  }

  /** (2) */
  begin(identity: RunIdentity): void {
    const difference = this.earlier && findDifference(this.earlier.identity, identity)
    if (difference !== undefined)
      throw new JournalMismatch(`${this.#file} is of ${difference}: give another file, or remove it and begin again`)
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    if (!this.earlier) this.#append({ begin: identity, at: new Date().toISOString() })
    for (const line of waiting) this.#append(line)
  }

  addExchange(exchange: ProbeExchange): void {
    const { request, reply } = exchange
    this.#places.set(exchange, this.#places.size)
    this.#append({
      exchange: {
        request: { ...request, fields: maskFields(request.fields), content: keepContent(request.content) }, // (3)
        reply: { ...reply, content: keepContent(reply.content) },
      } as { readonly request: KeptMessage; readonly reply: KeptMessage },
    })
  }

  addMade(made: MadeThing): void {
    this.#append({ made })
  }

  addRemoved(path: string): void {
    this.#append({ removed: path })
  }

  addLeft(left: string): void {
    this.#append({ left })
  }

  addVerdict({ rule, status, reason, findings }: Judgement & { readonly rule: { readonly id: string } }): void {
    const keptFindings = findings.map(({ holds, says, evidence }) => ({
      holds,
      says,
      evidence: evidence.flatMap(each => this.#places.get(each) ?? []),
    }))
    this.#append({ verdict: { id: rule.id, status, reason, findings: keptFindings } })
  }

  /** The run has ended, so there is nothing to continue. */
  end(): void {
    rmSync(this.#file, { force: true })
  }

  /** (1) */
  #append(line: JournalLine): void {
    if (this.#waiting) this.#waiting.push(line)
    else appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }
}

/** The same rules have the same digest. */
export function digestRules(
  rules: readonly { readonly id: string; readonly says: string; readonly how: string }[],
): string {
  const hash = createHash('sha256')
  for (const { id, says, how } of rules) hash.update(`${id}\n${says}\n${how}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** The earlier run's findings on a rule, with the original exchanges. */
export function restoreJudgement({ exchanges, verdicts }: EarlierRun, ruleId: string): Judgement | undefined {
  const verdict = verdicts.find(({ id }) => id === ruleId)
  if (!verdict) return undefined
  const findings = verdict.findings.map(({ evidence, ...finding }) => ({
    ...finding,
    evidence: evidence.flatMap(at => exchanges[at] ?? []),
  }))
  return { status: verdict.status, reason: verdict.reason, findings }
}

function findDifference(earlier: RunIdentity, now: RunIdentity): string | undefined {
  if (earlier.address !== now.address) return `another address, ${earlier.address}`
  if (earlier.service !== now.service) return `version ${earlier.service} of the service, which has ${now.service} now`
  if (earlier.rules !== now.rules) return 'other rules, or of another version of the checker'
  if (earlier.callers.join() !== now.callers.join()) return `other callers, ${earlier.callers.join(', ') || 'none'}`
  if (earlier.allowChanges !== now.allowChanges)
    return `a run ${earlier.allowChanges ? 'with' : 'without'} --allow-changes`
  return undefined
}

function readJournal(file: string, text: string): EarlierRun {
  const lines = text.split('\n').flatMap(line => (parseLooseJson(line) as JournalLine | undefined) ?? []) // (4)
  const [first] = lines
  if (!first || !('begin' in first)) throw new JournalMismatch(`${file} is not of an earlier run: give another file`)
  const removed = new Set(lines.flatMap(line => ('removed' in line ? [line.removed] : [])))
  return {
    identity: first.begin,
    startedAt: first.at,
    exchanges: lines.flatMap(line => ('exchange' in line ? [restoreExchange(line.exchange)] : [])),
    verdicts: lines.flatMap(line => ('verdict' in line ? [line.verdict] : [])),
    made: lines.flatMap(line => ('made' in line && !removed.has(line.made.path) ? [line.made] : [])),
    leftBehind: lines.flatMap(line => ('left' in line ? [line.left] : [])),
  }
}

const restoreExchange = ({ request, reply }: { readonly request: KeptMessage; readonly reply: KeptMessage }) =>
  new ProbeExchange(
    { ...request, ...(request.content !== undefined && { content: readKept(request.content) }) } as ProbeRequest,
    { ...reply, content: readKept(reply.content ?? '') } as ProbeReply,
  )

const keepContent = (content: Uint8Array | undefined): string | undefined =>
  content && encodeBase64(Buffer.from(maskContent(Buffer.from(content).toString('latin1')), 'latin1'))
const readKept = (text: string): Uint8Array => decodeBase64(text) ?? new Uint8Array(0)
