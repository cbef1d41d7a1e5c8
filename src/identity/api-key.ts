/**
 * API keys, for programs that cannot obtain a token. What it guards:
 *  (1) A key is 256 random bits, and the file has only its SHA-256: a reader of the file learns no
 *      key.
 *  (2) A key that has expired, or whose line was removed, is invalid within a second.
 */

import { hash, randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { attempt, isSyntaxError } from '../base/attempt.ts'
import type { Json } from '../base/objects.ts'
import type { Caller } from '../contract/policy.ts'
import { type Watching, watchFile } from './watched-file.ts'

export interface KeySpec {
  readonly subject: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  /** Milliseconds since 1970. Default: never. */
  readonly expires?: number
}

const prefix = 'dk-' // so that scanners can find leaked keys
const keyDigestOf = (key: string): string => hash('sha256', key, 'base64url')

/** Issues a new key, which cannot be shown again, and appends its line to the file. */
export function issueKey(file: string, { expires, ...spec }: KeySpec): string {
  const key = `${prefix}${randomBytes(32).toString('base64url')}`
  const line = {
    hash: keyDigestOf(key),
    ...spec,
    ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
  }
  appendFileSync(file, `${endsInLine(file) ? '\n' : ''}${JSON.stringify(line)}\n`, { mode: 0o600 })
  return key
}

/** Whether the last line lacks its end, as editors leave it: appending to it spoils both keys. */
const endsInLine = (file: string): boolean => existsSync(file) && /[^\n]$/.test(readFileSync(file, 'utf8'))

interface KnownKey {
  readonly caller: Caller
  readonly until: number
}

export interface ApiKeys {
  /** The file has at least one key. */
  readonly any: () => boolean
  readonly find: (key: string) => Caller | undefined
}

/** The keys in a file with one JSON object per line; a missing file has none. Throws `Unusable`. */
export function openApiKeys(file: string, watching: Watching): ApiKeys {
  const current = watchFile<ReadonlyMap<string, KnownKey>>(file, parseKeys, {
    ...watching,
    absent: { value: new Map() },
  })
  return {
    any: () => current().size > 0,
    find: key => {
      const entry = current().get(keyDigestOf(key))
      return entry && entry.until > watching.clock() ? entry.caller : undefined
    },
  }
}

function parseKeys(text: string): Map<string, KnownKey> {
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [parseLine(line, i + 1)]))
  return new Map(lines)
}

function parseLine(line: string, at: number): [string, KnownKey] {
  const refuseLine = (problem: string): never => {
    throw new Error(`line ${at} ${problem}: let the command "diglot key" write lines`)
  }
  const found: Json | undefined = attempt(() => JSON.parse(line), isSyntaxError)
  if (found === undefined) return refuseLine('is not JSON')
  const { hash: print, subject, roles, claims = {}, expires } = Object(found) as Partial<Record<string, unknown>>
  if (typeof print !== 'string' || !/^[\w-]{43}$/.test(print)) return refuseLine('has no hash')
  if (typeof subject !== 'string' || subject === '') return refuseLine('has no subject')
  if (!Array.isArray(roles) || !roles.every(each => typeof each === 'string')) return refuseLine('has no list of roles')
  if (!isTexts(claims)) return refuseLine('has claims that are not texts')
  const until = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(expires))
  if (Number.isNaN(until)) return refuseLine('has an invalid expiry')
  return [print, { caller: { subject, roles, claims }, until }]
}

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(each => typeof each === 'string')
