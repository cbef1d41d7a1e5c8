/**
 * API keys, for programs that cannot ask anybody for a token. What it guards:
 *  (1) A key is 256 random bits, and only its SHA-256 rests in the file: who reads the file learns
 *      no key.
 *  (2) A key that has expired, or whose line was taken out, is nobody's within a second.
 */
import { hash, randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { Caller } from '../contract/policy.ts'
import { type Watching, watchFile } from './watched-file.ts'

export interface KeySpec {
  readonly subject: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  /** Milliseconds since 1970; absent: until its line is taken out. */
  readonly expires?: number
}

const prefix = 'dk-' // so that a key that leaked can be searched for
const printOf = (key: string): string => hash('sha256', key, 'base64url')

/** A new key, which is shown this once; its line is appended to the file. */
export function issueKey(file: string, { expires, ...spec }: KeySpec): string {
  const key = `${prefix}${randomBytes(32).toString('base64url')}`
  const line = {
    hash: printOf(key),
    ...spec,
    ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
  }
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  return key
}

interface KnownKey {
  readonly caller: Caller
  readonly until: number
}

export interface ApiKeys {
  /** Whether there are any. */
  readonly any: () => boolean
  readonly find: (key: string) => Caller | undefined
}

/**
 * The keys of a file, one JSON object in a line; a file that is not there holds none. Throws
 * `Unusable`.
 */
export function openApiKeys(file: string, watching: Watching): ApiKeys {
  const current = watchFile<ReadonlyMap<string, KnownKey>>(file, keysOf, { ...watching, absent: { value: new Map() } })
  return {
    any: () => current().size > 0,
    find: key => {
      const known = current().get(printOf(key))
      return known && known.until > watching.clock() ? known.caller : undefined
    },
  }
}

function keysOf(text: string): Map<string, KnownKey> {
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [lineOf(line, i + 1)]))
  return new Map(lines)
}

function lineOf(line: string, at: number): [string, KnownKey] {
  const wrong = (what: string): never => {
    throw new Error(`line ${at} ${what}; diglot key writes such lines`)
  }
  let found: Partial<Record<string, unknown>>
  try {
    found = JSON.parse(line) ?? {}
  } catch {
    return wrong('is not JSON')
  }
  const { hash: print, subject, roles, claims = {}, expires } = found
  if (typeof print !== 'string' || !/^[\w-]{43}$/.test(print)) return wrong('has no hash')
  if (typeof subject !== 'string' || subject === '') return wrong('has no subject')
  if (!Array.isArray(roles) || !roles.every(each => typeof each === 'string')) return wrong('has no list of roles')
  if (!isTexts(claims)) return wrong('has claims that are not texts')
  const until = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(expires))
  if (Number.isNaN(until)) return wrong('expires at no time')
  return [print, { caller: { subject, roles, claims }, until }]
}

const isTexts = (given: unknown): given is Readonly<Record<string, string>> =>
  typeof given === 'object' && given !== null && Object.values(given).every(each => typeof each === 'string')
