/**
 * `diglot check`: from words of a command line to a run and its reports. The exit status is 0 if no
 * rule fails except those of the baseline, 1 if another one fails, 2 if the check could not be
 * made.
 */

import { constants, existsSync, statSync } from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { encodeBase64 } from '../base/base64.ts'
import type { EarlierRelease } from '../describe/index.ts'
import { writeExactly } from '../http/json.ts'
import { attackRules, checkRules, explainRule, findRule, isAttack, writeRuleList, writeRulePage } from './catalogue.ts'
import type { CheckCaller } from './discovered-service.ts'
import { learnProfile } from './learn-profile.ts'
import { isLoopbackHost, openLoopbackListener } from './loopback-listener.ts'
import type { Json } from './probe-content.ts'
import { type ProbeTransport, Unreachable } from './probe-message.ts'
import { type CheckProfile, type ProfileCaller, readProfile, UnusableProfile } from './profile.ts'
import { writeBadge } from './reports/report-badge.ts'
import { writeHtmlReport } from './reports/report-html.ts'
import { findNewFailures, readBaseline, writeJsonReport } from './reports/report-json.ts'
import { writeJunitReport } from './reports/report-junit.ts'
import { writeSarifReport } from './reports/report-sarif.ts'
import { writeTerminalReport } from './reports/report-terminal.ts'
import type { CheckReport, CheckRule, RuleVerdict } from './rule.ts'
import { type CheckOptions, runCheck } from './run-check.ts'
import { JournalMismatch, RunJournal } from './run-journal.ts'
import { openSocketTransport } from './socket-transport.ts'
import { NotObservable } from './verdict.ts'

export interface CheckFlags {
  readonly list?: boolean
  readonly markdown?: boolean
  readonly explain?: string
  readonly caller: readonly string[]
  readonly token: readonly string[]
  readonly key: readonly string[]
  readonly profile?: string
  /** The file for a new profile, written instead of a run. */
  readonly learn?: string
  readonly wsdl: readonly string[]
  /** A path at the address; a file is read by the caller of `performCheck`. */
  readonly openapi?: string
  readonly rule: readonly string[]
  readonly attacks?: boolean
  readonly allowChanges?: boolean
  readonly insecure?: boolean
  /** The journal of a run: written while it runs, and continued by the next run if interrupted. */
  readonly resume?: string
  readonly rate: number
  readonly time: number
  readonly json?: string
  readonly junit?: string
  readonly sarif?: string
  readonly html?: string
  readonly badge?: string
  readonly baseline?: string
}

/** What the caller of `performCheck` reads, since the check itself does not know its language. */
export interface GivenDescriptions {
  /** The service's OpenAPI document, if the service does not serve it. */
  readonly openapi?: Json
  readonly earlier?: EarlierRelease
}

/** Says what a user has to change before a check can be made. */
export class CheckImpossible extends Error {}

/**
 * @returns what to print, and the exit status
 */
export async function performCheck(
  address: string | undefined,
  flags: CheckFlags,
  given: GivenDescriptions = {},
): Promise<{ readonly text: string; readonly status: 0 | 1 | 2 }> {
  if (flags.list) return { text: flags.markdown ? writeRulePage() : writeRuleList(), status: 0 }
  if (flags.explain !== undefined) return { text: explainRule(requireRule(flags.explain)), status: 0 }
  if (address === undefined) throw new CheckImpossible('the address is missing: give the base address of a service')
  if (flags.learn !== undefined) return { text: await learnService(address, flags, flags.learn, given), status: 0 }
  const known = flags.baseline === undefined ? new Set<string>() : await loadBaseline(flags.baseline)
  for (const file of reportFilesOf(flags)) await requireReportFile(file)
  const report = await tryRules(address, flags, given)
  await writeReports(report, flags)
  const status = findNewFailures(report.verdicts, known).length > 0 ? 1 : 0
  return { text: writeTerminalReport(report, known), status }
}

function requireRule(id: string): CheckRule {
  const rule = findRule(id)
  if (!rule) throw new CheckImpossible(`${id} is not a known rule: diglot check --list prints all`)
  return rule
}

const tryRules = (address: string, flags: CheckFlags, given: GivenDescriptions): Promise<CheckReport> =>
  askService(address, flags, given, runCheck)

async function learnService(
  address: string,
  flags: CheckFlags,
  file: string,
  given: GivenDescriptions,
): Promise<string> {
  if (!file.endsWith('.json')) throw new CheckImpossible(`${file} is not the name of a profile: give one with .json`)
  if (existsSync(file)) throw new CheckImpossible(`${file} already exists: remove it, or give another name`)
  const profile = await askService(address, flags, given, learnProfile)
  await writeFile(file, `${JSON.stringify(profile, writeExactly, 2)}\n`, { flag: 'wx' })
  const notes = (profile.notes ?? []).map(note => `  ${note}\n`).join('')
  return `${file} is written:\n${notes}next: diglot check ${address} --profile ${file}\n`
}

/** Opens the address according to the flags, for one of the tasks. */
async function askService<T>(
  address: string,
  flags: CheckFlags,
  given: GivenDescriptions,
  ask: (transport: ProbeTransport, options: CheckOptions) => Promise<T>,
): Promise<T> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CheckImpossible(`${address} is not an http or https address: give one such as https://shop.example`)
  if (url.username !== '' || url.password !== '')
    throw new CheckImpossible('the address contains credentials: give them by --caller NAME:PASSWORD')
  const profile = flags.profile === undefined ? {} : await loadProfile(flags.profile)
  const isWsdl = /wsdl/i.test(url.search)
  const isFile = (given: string): boolean => !/^https?:|^\//.test(given) || existsSync(given)
  const wsdl = [
    ...(profile.wsdl ?? []),
    ...flags.wsdl.filter(each => !isFile(each)),
    ...(isWsdl ? [url.pathname + url.search] : []),
  ]
  const rules = chooseRules(flags)
  const transport = await openSocketTransport(url.origin, { insecure: flags.insecure === true })
  try {
    return await ask(transport, {
      basePath: isWsdl ? '/' : url.pathname,
      callers: listCallers(flags, profile, process.env),
      profile: { ...profile, wsdl, ...(given.openapi === undefined && flags.openapi && { openapi: flags.openapi }) },
      ...given,
      wsdlFiles: await readWsdlFiles(flags.wsdl.filter(isFile)),
      allowChanges: flags.allowChanges === true,
      rate: flags.rate,
      timeLimitMs: flags.time * 1000,
      ...(isLoopbackHost(url.hostname) && { listen: openLoopbackListener }),
      ...(flags.resume !== undefined && { journal: new RunJournal(flags.resume) }),
      rules,
      onVerdict: showProgress(rules.length),
    })
  } catch (thrown) {
    if (thrown instanceof JournalMismatch) throw new CheckImpossible(thrown.message)
    if (thrown instanceof NotObservable)
      throw new CheckImpossible(`${address} cannot be checked: its discovery needs ${thrown.message}`)
    if (thrown instanceof Unreachable) throw new CheckImpossible(`${address} cannot be checked: ${thrown.message}`)
    throw thrown
  } finally {
    transport.close()
  }
}

function chooseRules({ attacks, rule }: CheckFlags): readonly CheckRule[] {
  if (rule.length === 0) return attacks ? [...checkRules, ...attackRules] : checkRules
  const chosen = new Set(rule.map(requireRule))
  const attack = chosen.values().find(isAttack)
  if (attack && !attacks) throw new CheckImpossible(`${attack.id} is an attack: add --attacks`)
  return [...chosen]
}

/** One line that is written again and again, only for a reader at a terminal. */
function showProgress(all: number): (verdict: RuleVerdict) => void {
  const { stderr } = process
  let count = 0
  return ({ rule }) => {
    count += 1
    if (stderr.isTTY) stderr.write(`\r\x1b[K${count === all ? '' : `${count} of ${all}: ${rule.id}`}`)
  }
}

async function readWsdlFiles(files: readonly string[]): Promise<Readonly<Record<string, Uint8Array>>> {
  const read = async (file: string) => {
    if (!existsSync(file)) throw new CheckImpossible(`${file} not found: give the address or the file of a WSDL`)
    return [file, await readFile(file)] as const
  }
  return Object.fromEntries(await Promise.all(files.map(read)))
}

/** The callers of the command line, or else those of the profile. */
function listCallers(
  flags: CheckFlags,
  profile: CheckProfile,
  environment: Readonly<Record<string, string | undefined>>,
): readonly CheckCaller[] {
  const callers = [...flags.caller.map(parseCaller), ...flags.token.map(toTokenCaller), ...flags.key.map(toKeyCaller)]
  return callers.length > 0 ? callers : (profile.callers ?? []).map(each => toProfileCaller(each, environment))
}

function toProfileCaller(
  { name, passwordFrom, tokenFrom, keyFrom }: ProfileCaller,
  environment: Readonly<Record<string, string | undefined>>,
): CheckCaller {
  const variable = passwordFrom ?? tokenFrom ?? keyFrom
  const secret = variable === undefined ? undefined : environment[variable]
  if (secret === undefined)
    throw new CheckImpossible(
      variable === undefined
        ? `the caller ${name} of the profile has no secret: give it passwordFrom, tokenFrom or keyFrom`
        : `the secret of the caller ${name} is missing: set the environment variable ${variable}`,
    )
  if (passwordFrom !== undefined) return parseCaller(`${name}:${secret}`)
  return { ...(tokenFrom === undefined ? toKeyCaller(secret, 0) : toTokenCaller(secret, 0)), name }
}

/** RFC 7617: the name ends at the first colon. */
export function parseCaller(text: string): CheckCaller {
  const [name = '', ...rest] = text.split(':')
  if (name === '' || rest.length === 0)
    throw new CheckImpossible('a caller is not NAME:PASSWORD: give --caller alice:secret')
  const authorization = `Basic ${encodeBase64(new TextEncoder().encode(text))}`
  return { name, password: rest.join(':'), fields: { authorization } }
}

const toTokenCaller = (token: string, at: number): CheckCaller => ({
  name: `token ${at + 1}`,
  fields: { authorization: `Bearer ${token}` },
})

/** `X-Api-Key: secret`, or only the key, which is sent as `Api-Key`. */
function toKeyCaller(text: string, at: number): CheckCaller {
  const [, field = 'api-key', key = text] = /^([A-Za-z][\w-]*): ?(.+)$/.exec(text) ?? []
  return { name: `key ${at + 1}`, fields: { [field.toLowerCase()]: key } }
}

async function loadProfile(file: string): Promise<CheckProfile> {
  const profile = await readProfile(file).catch((thrown: unknown) => {
    if (thrown instanceof UnusableProfile) throw new CheckImpossible(thrown.message)
    throw thrown
  })
  for (const id of Object.keys(profile.exceptions ?? {})) requireRule(id)
  return profile
}

async function loadBaseline(file: string): Promise<ReadonlySet<string>> {
  if (!existsSync(file)) throw new CheckImpossible(`${file} not found: give a file that --json has written`)
  const known = readBaseline(await readFile(file, 'utf8'))
  if (!known) throw new CheckImpossible(`${file} is not a report: give a file that --json has written`)
  return known
}

const reportFilesOf = ({ json, junit, sarif, html, badge }: CheckFlags): readonly string[] =>
  [json, junit, sarif, html, badge].filter(file => file !== undefined)

/** Called before the run, so that a report that cannot be written is noticed before any request. */
async function requireReportFile(file: string): Promise<void> {
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  const isOpen = await access(existsSync(file) ? file : dirname(file), constants.W_OK).then(
    () => true,
    () => false,
  )
  if (isFolder || !isOpen)
    throw new CheckImpossible(`${file} cannot be written: give a file in a folder that exists and may be written`)
}

async function writeReports(report: CheckReport, flags: CheckFlags): Promise<void> {
  const writers = [
    [flags.json, writeJsonReport],
    [flags.junit, writeJunitReport],
    [flags.sarif, writeSarifReport],
    [flags.html, writeHtmlReport],
    [flags.badge, writeBadge],
  ] as const
  for (const [file, write] of writers) if (file !== undefined) await writeFile(file, write(report))
}
