/** Facts about a service that no probe can discover; every member is optional. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { asArray, asRecord, type Json, memberAt, parseLooseJson } from './probe-content.ts'

/**
 * Facts about a service that cannot be discovered: its descriptions, contents to create, what may
 * be removed.
 */
export interface CheckProfile {
  /** Path of the OpenAPI description. Default: the one that the entry links, then /openapi.json. */
  readonly openapi?: string
  /** Addresses of WSDL documents. Default: those linked from the entry. */
  readonly wsdl?: readonly string[]
  /**
   * Content of requests by `METHOD path`, for requests where content from the schema and existing
   * items is not accepted: `{ "POST /api/v1/reports": { … } }`.
   */
  readonly samples?: Readonly<Record<string, Json>>
  /**
   * Collections (jobs and searches, too) in which the run may create items, and change and remove
   * them. Default: all, with `--allow-changes`.
   */
  readonly mayCreate?: readonly string[]
  /** The callers of a run that names none; the secrets stay outside. */
  readonly callers?: readonly ProfileCaller[]
  /** By collection: the member of its items that holds the state, and the states known so far. */
  readonly machines?: Readonly<Record<string, ProfileMachine>>
  /** Notes for people who edit the profile; a run ignores them. */
  readonly notes?: readonly string[]
  /** Content of messages by the name of the operation: `{ "GetProduct": { "id": "p-1" } }`. */
  readonly messages?: Readonly<Record<string, Json>>
  /**
   * SOAP operations that change nothing. Default: those whose names begin with the word Get, List,
   * Find, Read or Query.
   */
  readonly safeOperations?: readonly string[]
  /** A path that was moved permanently. */
  readonly moved?: string
  /** A request with a small limit, and how often it may be sent: the run exceeds it. */
  readonly limit?: { readonly method: string; readonly path: string; readonly content?: Json; readonly count: number }
  /** A bulk removal that removes only the new item; `{id}` in the filter is its identifier. */
  readonly bulk?: { readonly collection: string; readonly filter: string }
  /**
   * A signed message that the service accepts without changing anything: its endpoint, its XML with
   * an Id on the Body, and fields such as Content-Type and SOAPAction.
   */
  readonly signedMessage?: {
    readonly path: string
    readonly xml: string
    readonly fields?: Readonly<Record<string, string>>
  }
  /** Rules that are not judged, each with the reason. */
  readonly exceptions?: Readonly<Record<string, string>>
}

/**
 * A caller with HTTP Basic, a token or an API key, and the environment variable with the secret. A
 * key may be preceded by its field: `X-Api-Key: secret`.
 */
export interface ProfileCaller {
  readonly name: string
  readonly passwordFrom?: string
  readonly tokenFrom?: string
  readonly keyFrom?: string
}

/** The state machine of a collection's items, as a check has seen it. */
export interface ProfileMachine {
  readonly member: string
  readonly states: readonly string[]
}

/** The kind of a member: in words, and as a test. */
interface ProfileMemberKind {
  readonly says: string
  readonly allows: (value: Json) => boolean
}
const isProfileText = (value: Json | undefined): boolean => typeof value === 'string'
const isProfileObject = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const hasNamedTexts = (value: Json, names: readonly string[]): boolean =>
  names.every(name => isProfileText(memberAt(value, name)))

const text: ProfileMemberKind = { says: 'text', allows: isProfileText }
const texts: ProfileMemberKind = {
  says: 'a list of texts',
  allows: value => Array.isArray(value) && value.every(isProfileText),
}
const record: ProfileMemberKind = { says: 'an object', allows: isProfileObject }

const profileMemberKinds: Readonly<Record<keyof CheckProfile, ProfileMemberKind>> = {
  notes: texts,
  callers: {
    says: 'a list of objects with a name',
    allows: value => Array.isArray(value) && asArray(value).every(each => hasNamedTexts(each, ['name'])),
  },
  mayCreate: texts,
  machines: {
    says: 'an object with { "member": text } for each collection',
    allows: value =>
      isProfileObject(value) && Object.values(asRecord(value)).every(each => hasNamedTexts(each, ['member'])),
  },
  openapi: text,
  wsdl: texts,
  samples: record,
  messages: record,
  safeOperations: texts,
  moved: text,
  limit: {
    says: 'an object with the texts method and path, and the number count',
    allows: value => hasNamedTexts(value, ['method', 'path']) && typeof memberAt(value, 'count') === 'number',
  },
  bulk: {
    says: 'an object with the texts collection and filter',
    allows: value => hasNamedTexts(value, ['collection', 'filter']),
  },
  signedMessage: {
    says: 'an object with the texts path and xml',
    allows: value => hasNamedTexts(value, ['path', 'xml']),
  },
  exceptions: {
    says: 'an object with a reason for each rule',
    allows: value => isProfileObject(value) && Object.values(asRecord(value)).every(isProfileText),
  },
}
const members = Object.keys(profileMemberKinds)

/** The file cannot be read as a profile; the message says what to do. */
export class UnusableProfile extends Error {}

/**
 * Rejects with `UnusableProfile` if the file is missing or not a profile.
 *
 * @param file JSON, or a module whose default export is the profile
 */
export async function readProfile(file: string): Promise<CheckProfile> {
  if (!existsSync(file)) throw new UnusableProfile(`${file} not found: give the file of a profile`)
  const profile = file.endsWith('.json')
    ? parseLooseJson(await readFile(file, 'utf8'))
    : ((await import(pathToFileURL(resolve(file)).href)) as { readonly default?: Json }).default
  const unknown = Object.keys(asRecord(profile)).filter(name => !members.includes(name))
  if (typeof profile !== 'object' || profile === null || Array.isArray(profile))
    throw new UnusableProfile(`${file} is not a profile: give a JSON object or a module that exports one by default`)
  if (unknown.length > 0)
    throw new UnusableProfile(`${file} has the unknown member ${unknown[0]}: use ${members.join(', ')}`)
  for (const [name, { says, allows }] of Object.entries(profileMemberKinds)) {
    const value = memberAt(profile, name)
    if (value !== undefined && !allows(value))
      throw new UnusableProfile(`${name} of ${file} is ${JSON.stringify(value).slice(0, 60)}: give ${says}`)
  }
  return profile as CheckProfile // its members have the kinds above; samples contain any JSON
}
