/**
 * An OpenAPI document with its references, including those to other documents.
 *  (1) A document is read once, and its contents are walked once, however often they are shared.
 *  (2) A reference leads to a document in the folder, or to one that the user allowed; nothing is
 *      fetched here.
 *  (3) A chain of references ends after 32 steps, and there are at most 1,000 documents.
 */
import { decodePercent } from '../../base/attempt.ts'
import { memoizeOnce } from '../../base/memo.ts'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonItems,
  objectEntries,
  objectOf,
  ownMember,
  stringOf,
} from '../../base/objects.ts'
import type { Find } from '../../describe/reader/wsdl-document.ts'
import type { DescriptionParser } from '../description-text.ts'
import type { Losses } from '../loss.ts'

const stepsMax = 32
const documentsMax = 1000

/** The target of a reference. */
export interface Resolved {
  readonly value: JsonObject
  /**
   * The last word of the reference, decoded: a component's name; empty if there was no reference.
   */
  readonly name: string
}

/** The document cannot be imported. */
export class NotOpenApi extends Error {}

/** Returns what `read` returns; the error for a document that cannot be imported names its file. */
export function readNamedOpenApi<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw thrown instanceof NotOpenApi ? new Error(`${file} ${thrown.message}`) : thrown
  }
}

export class OpenApiDocument {
  readonly root: JsonObject
  /** References that were not found, as written. */
  readonly missing = new Set<string>()
  /** Schemas of several parts, merged. */
  readonly joined = new WeakMap<JsonObject, JsonObject>()
  readonly #documents = new Map<string, Json | undefined>()
  /** Documents by the reference and its place. */
  readonly #locations = new Map<string, string>()
  /** Schemas by `$id`, and by the location of their document and `$anchor`. */
  readonly #named = new Map<string, JsonObject>()
  /** The document of each object with a reference. */
  readonly #homes = new WeakMap<object, string>()
  /** Schemas that stand for another schema without those that extend it, by name. */
  readonly #alone = new WeakMap<JsonObject, string>()
  readonly #location: string
  readonly #find: Find
  readonly #parse: DescriptionParser
  readonly #losses: Losses

  constructor(text: string, location: string, how: { find: Find; parse: DescriptionParser; losses: Losses }) {
    this.#find = how.find
    this.#parse = how.parse
    this.#losses = how.losses
    this.#location = location
    const { value, reason } = how.parse(text)
    if (reason !== undefined) throw new NotOpenApi(reason)
    this.root = objectOf(value)
    const version = stringOf(this.root['openapi']) || stringOf(this.root['swagger'])
    if (!/^3\.[0-2](?:\.|$)/.test(version))
      throw new NotOpenApi(
        version.startsWith('2')
          ? 'is Swagger 2.0: convert it to OpenAPI 3 first'
          : `is not an OpenAPI document of version 3.0 to 3.2: "openapi" is ${version || 'missing'}`,
      )
    this.#keep(location, this.root)
  }

  #keep(location: string, document: Json | undefined): void {
    this.#documents.set(location, document)
    const seen = new Set<object>()
    const pending: Json[] = document === undefined ? [] : [document]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (typeof next !== 'object' || next === null || seen.has(next)) continue
      seen.add(next)
      if (isJsonObject(next) && typeof next['$ref'] === 'string') this.#homes.set(next, location)
      if (isJsonObject(next)) this.#recordNames(next, location)
      pending.push(...Object.values(next))
    }
  }

  /** JSON Schema Core §8.2.1, §8.2.2: names of schemas besides their places; the first one counts. */
  #recordNames(schema: JsonObject, location: string): void {
    const { $anchor: anchor, $id: id } = schema
    const names = [
      ...(typeof anchor === 'string' ? [`${location}#${anchor}`] : []),
      ...(typeof id === 'string' && URL.canParse(id) ? [id.replace(/#$/, '')] : []),
    ]
    for (const each of names) if (!this.#named.has(each)) this.#named.set(each, schema)
  }

  /** Follows references through any chain; an empty object if one leads nowhere. */
  resolve(given: Json | undefined): Resolved {
    let current = objectOf(given)
    let name = ''
    for (let steps = 0; typeof current['$ref'] === 'string'; steps++) {
      const reference = current['$ref']
      if (steps >= stepsMax) {
        this.#losses.add(reference, 'refers to itself, or by more than 32 steps', 'document')
        return { value: {}, name: '' }
      }
      const target = this.#at(reference, this.#homes.get(current) ?? '')
      name = decodeStep(reference.split('/').at(-1) ?? '')
      if (!isJsonObject(target)) {
        this.missing.add(reference)
        this.#losses.add(reference, 'is referred to and was not found', 'document')
        return { value: {}, name }
      }
      current = target
    }
    return { value: current, name: name || (this.#alone.get(current) ?? '') }
  }

  /** Components that include this one in `allOf`, directly or not, as references. */
  extensionsOf(schema: JsonObject): readonly JsonObject[] {
    const found = new Map<JsonObject, JsonObject>()
    const pending = [schema]
    for (let next = pending.pop(); next !== undefined; next = pending.pop())
      for (const [each, reference] of this.#extensions().get(next) ?? []) {
        if (found.has(each) || each === schema) continue
        found.set(each, reference)
        pending.push(each)
      }
    return [...found.values()]
  }
  readonly #extensions = memoizeOnce(() => {
    const found = new Map<JsonObject, (readonly [JsonObject, JsonObject])[]>()
    for (const [name, schema] of objectEntries(objectOf(this.root['components'])['schemas'])) {
      const parts = jsonItems(schema['allOf']).filter(part => objectOf(part)['$ref'] !== undefined)
      if (parts.length === 0) continue
      const reference = { $ref: `#/components/schemas/${encodeStep(name)}` }
      this.#homes.set(reference, this.#location)
      for (const part of parts) {
        const { value } = this.resolve(part)
        found.set(value, [...(found.get(value) ?? []), [schema, reference]])
      }
    }
    return found
  })
  /** The schema itself, once, without those that extend it. */
  withoutExtensions(schema: JsonObject, name: string): JsonObject {
    const known = this.#lonely.get(schema)
    if (known) return known
    const { discriminator: _, ...alone } = schema
    this.#lonely.set(schema, alone)
    this.#alone.set(alone, `${name}${aloneSuffix}`)
    return alone
  }
  readonly #lonely = new WeakMap<JsonObject, JsonObject>()

  #at(reference: string, home: string): Json | undefined {
    const [file = '', fragment = ''] = reference.split('#', 2)
    let current: Json | undefined = this.#named.get(file) ?? this.#document(file, home)
    if (fragment !== '' && !fragment.startsWith('/'))
      return this.#named.get(`${this.#locationOf(file, home)}#${fragment}`)
    for (const step of fragment.split('/').slice(1))
      current = isJsonObject(current) || Array.isArray(current) ? stepInto(current, decodeStep(step)) : undefined
    return current
  }

  #document(file: string, home: string): Json | undefined {
    const location = this.#locationOf(file, home)
    return location === undefined ? undefined : this.#documents.get(location)
  }
  #locationOf(file: string, home: string): string | undefined {
    const reference = `${home}#${file}`
    const known = this.#locations.get(reference) ?? (file === '' ? home : this.#locate(file, home))
    if (known !== undefined) this.#locations.set(reference, known)
    return known
  }
  #locate(file: string, home: string): string | undefined {
    const found = this.#documents.size < documentsMax ? this.#find(decodeReference(file), home) : undefined
    if (found && !this.#documents.has(found.location)) {
      const { value, reason } = this.#parse(new TextDecoder().decode(found.bytes))
      if (reason !== undefined) this.#losses.add(file, reason, 'document')
      this.#keep(found.location, value)
    }
    return found?.location
  }
}

/** No component has a space in its name (OpenAPI §4.8.7). */
const aloneSuffix = ' alone'
export const nameOfComponent = (name: string): string =>
  name.endsWith(aloneSuffix) ? name.slice(0, -aloneSuffix.length) : name
const encodeStep = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
const stepInto = (of: JsonObject | readonly Json[], step: string): Json | undefined =>
  Array.isArray(of) ? of[Number(step)] : ownMember(of as JsonObject, step)
/** RFC 6901 §6: a fragment is percent-decoded before §4 is applied. */
const decodeStep = (step: string): string => decodeReference(step).replaceAll('~1', '/').replaceAll('~0', '~')
/** A lone percent sign stands for itself. */
const decodeReference = (text: string): string => decodePercent(text) ?? text
