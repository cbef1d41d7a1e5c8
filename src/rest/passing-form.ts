/**
 * Parts of a form that are passed on as they arrive. The message is sent first, so the parts after
 * it must be known when the first part passes:
 *  (1) A member for octets that the message has as `""` may arrive as a part; otherwise it is
 *      empty, as the message says.
 *  (2) A member must arrive if its type requires it, and the message lacks it or has it with fewer
 *      octets than the type demands.
 *  (3) Any other part ends the form, and so does a part that arrives twice.
 *  (4) The octets end, or fail, when the whole form has been read.
 */
import { encodeBase64 } from '../base/base64.ts'
import type { MultipartPart } from '../base/multipart-reader.ts'
import type { Json } from '../base/objects.ts'
import type { Pieces } from '../base/octets.ts'
import { type ArrivalOrder, PassingOctets, standInOctets } from '../base/passing-octets.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { isRecord, writePointer } from '../http/json-pointer.ts'

/** Reads a message, and finds its problems. */
export type FormMessageReader = (json: Json, problems: FieldProblem[]) => unknown

/** Members that may arrive as parts after the message, by their JSON Pointers. */
export interface ExpectedParts {
  /** The message, with stand-ins for them. */
  readonly json: Json
  /** Whether each must arrive. */
  readonly members: ReadonlyMap<string, boolean>
}

/** Stands in for octets that have not arrived: text of base64 that is not base16. */
export const standInText = encodeBase64(new Uint8Array(standInOctets).fill(255))

/** (1), (2) @param max missing members that may be expected: if there are more, none is expected */
export function findExpectedParts(
  json: Json,
  read: FormMessageReader,
  held: ReadonlySet<string>,
  max: number,
): ExpectedParts {
  const problems: FieldProblem[] = []
  read(json, problems)
  const flawed = new Set(problems.map(each => writePointer(each.path)))
  const missing = problems.filter(each => each.code === 'required').map(each => each.path.map(String))
  const isEmpty = (pointer: string, value: Json | undefined) => value === '' && !held.has(pointer)
  const all = missing.length > max ? json : missing.reduce(putStandIn, fillMembers(json, isEmpty))
  const unfit: FieldProblem[] = []
  const value = read(all, unfit)
  const unresolved = new Set(unfit.map(each => writePointer(each.path)))
  const standIns = listStandIns(value).filter(pointer => !unresolved.has(pointer) && !held.has(pointer))
  if (standIns.length > max) return { json, members: new Map() }
  const members = new Map(standIns.map(pointer => [pointer, flawed.has(pointer)]))
  const filled = fillMembers(json, (pointer, text) => text === '' && members.has(pointer))
  const completed = missing.filter(path => members.has(writePointer(path))).reduce(putStandIn, filled)
  return { json: completed, members }
}

/** The JSON with the stand-in in place of some of its values. */
function fillMembers(json: Json, isFillable: (pointer: string, value: Json) => boolean, at = ''): Json {
  if (isFillable(at, json)) return standInText
  if (Array.isArray(json)) return json.map((each: Json, i) => fillMembers(each, isFillable, `${at}/${i}`))
  if (!isRecord(json)) return json
  const fill = ([key, each]: [string, Json]) => [key, fillMembers(each, isFillable, at + writePointer([key]))] as const
  return Object.fromEntries(Object.entries(json as Readonly<Record<string, Json>>).map(fill))
}

/** Adds a stand-in for a member that the message lacks. */
function putStandIn(json: Json, path: readonly string[]): Json {
  const [key, ...rest] = path
  if (key === undefined) return standInText
  if (Array.isArray(json)) return json.map((each: Json, i) => (String(i) === key ? putStandIn(each, rest) : each))
  const row = isRecord(json) ? (json as Readonly<Record<string, Json>>) : {}
  return { ...row, [key]: putStandIn(row[key] ?? null, rest) }
}

function listStandIns(value: unknown, at = ''): readonly string[] {
  if (value instanceof Uint8Array) return encodeBase64(value) === standInText ? [at] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => listStandIns(each, at + writePointer([key])))
}

/** How later parts are read, and how their problems are reported. */
export interface FormReading {
  readonly pointerOf: (part: MultipartPart) => string
  /** Ends the form. */
  readonly refuse: (pointer: string, reason: 'unknown' | 'twice' | 'missing') => never
}

/** The octets of parts in the order of their arrival; the first part has begun. */
export class PassingForm implements ArrivalOrder {
  readonly #parts: AsyncGenerator<MultipartPart, void, undefined>
  readonly #members: ReadonlyMap<string, boolean>
  readonly #reading: FormReading
  readonly #arrived: Set<string>
  #begun: { readonly key: string; readonly content: Pieces } | undefined
  #isAll = false

  /** @param arrived the first part, and those before it */
  constructor(
    first: { readonly key: string; readonly content: Pieces },
    arrived: ReadonlySet<string>,
    parts: AsyncGenerator<MultipartPart, void, undefined>,
    members: ExpectedParts['members'],
    reading: FormReading,
  ) {
    this.#begun = first
    this.#arrived = new Set(arrived)
    this.#parts = parts
    this.#members = members
    this.#reading = reading
  }

  octetsOf(key: string): PassingOctets {
    return new PassingOctets(
      () => this.#read(key),
      () => {},
      { order: { next: () => this.next() }, key },
    )
  }

  /** (3), (4) */
  async next(): Promise<string | undefined> {
    const part = this.#begun ?? (await this.#begin())
    this.#begun = part
    return part?.key
  }

  async #begin() {
    const { refuse, pointerOf } = this.#reading
    const next = this.#isAll ? undefined : await this.#parts.next()
    if (next && !next.done) {
      const key = pointerOf(next.value)
      if (this.#arrived.has(key)) refuse(key, 'twice')
      if (!this.#members.has(key)) refuse(key, 'unknown')
      this.#arrived.add(key)
      return { key, content: next.value.content }
    }
    this.#isAll = true
    const [pending] = [...this.#members].filter(([each]) => !this.#arrived.has(each))
    if (!pending) return undefined
    const [key, isRequired] = pending
    if (isRequired) refuse(key, 'missing')
    this.#arrived.add(key)
    return { key, content: readNothing() }
  }

  async *#read(key: string): Pieces {
    const begun = this.#begun
    if (begun?.key !== key) throw new Error(`the octets of ${key} are read before they arrive`)
    const { content } = begun
    for (let next = await content.next(false); !next.done; ) next = await content.next(yield next.value)
    this.#begun = undefined
  }
}

async function* readNothing(): Pieces {}
