/**
 * RFC 9110 §12: which of our offers a request prefers. One order throughout: for each offer the most specific range
 * that covers it gives its quality, and `q=0` excludes it; then the higher quality wins; then the more specific range
 * (who names a type wants it more than who takes anything); then the order of our offers. The order of a client's
 * ranges means nothing in RFC 9110, and here neither.
 */

import { memoizeByText } from '../base/memo.ts'
import { cursorOver, type Parameters, readParameters, readToken, splitElements } from './grammar.ts'
import { createMediaType, type MediaType, parseMediaType } from './media-type.ts'

/** One element of Accept. */
export interface MediaRange {
  readonly type: string
  readonly subtype: string
  /** All but `q`, which is the weight wherever it stands (§12.5.1). */
  readonly parameters: Parameters
  /** How many parameters there are: the more, the more specific. */
  readonly size: number
  /** 0 to 1. */
  readonly quality: number
}

/** One element of Accept-Encoding or Accept-Language, in lower case. */
interface Weighted {
  readonly name: string
  readonly quality: number
}

/**
 * §12.4.2 weight. More than three digits, and none before the point, are taken as meant: Java's HttpURLConnection
 * sends `q=.2` by default. undefined when it is no number from 0 to 1.
 */
function weight(text: string | undefined): number | undefined {
  if (text === undefined) return 1
  if (text.length > 16 || !/^(\d+\.?\d*|\.\d+)$/.test(text)) return undefined
  const quality = Number(text)
  return quality <= 1 ? quality : undefined
}

/** §12.5.1 Accept. An element that is malformed says nothing and is left out; a bare `*` is meant as any type. */
export const parseAccept: (field: string) => readonly MediaRange[] = memoizeByText(field =>
  splitElements(field).flatMap(element => mediaRange(element) ?? []),
)

function mediaRange(element: string): MediaRange | undefined {
  const cursor = cursorOver(/^\*[ \t]*(;|$)/.test(element) ? `*/${element}` : element)
  const found = createMediaType(cursor)
  if (found === undefined || cursor.at < cursor.text.length) return undefined
  const { q, ...parameters } = found.parameters
  const quality = weight(q)
  if (quality === undefined || (found.type === '*' && found.subtype !== '*')) return undefined
  return { type: found.type, subtype: found.subtype, parameters, size: Object.keys(parameters).length, quality }
}

/**
 * The offers that a request takes, best first.
 * @param accept the field; undefined when there is none, which takes anything, as does one with no readable element
 * @param offers media types in our order of preference
 */
export function acceptableTypes<T extends string>(accept: string | undefined, offers: readonly T[]): readonly T[] {
  const ranges = accept === undefined ? [] : parseAccept(accept)
  if (ranges.length === 0) return offers
  return rank(offers, offer => {
    const type = parseMediaType(offer)
    return type && best(ranges, range => precision(range, type))
  })
}

/** RFC 9110 §12.5.1: the offer to send; undefined when none is acceptable (406). */
export function negotiateType<T extends string>(accept: string | undefined, offers: readonly T[]): T | undefined {
  if (accept === undefined || accept === '*/*') return offers[0]
  return acceptableTypes(accept, offers)[0]
}

/** How closely a range covers a type: 0 not at all, 1 any type, 2 `type/*`, 3 `type/subtype`, one more for each parameter. */
function precision(range: MediaRange, offer: MediaType): number {
  if (range.type === '*') return covers(range, offer) ? 1 : 0
  if (range.type !== offer.type) return 0
  if (range.subtype === '*') return covers(range, offer) ? 2 : 0
  return range.subtype === offer.subtype && covers(range, offer) ? 3 + range.size : 0
}

/** An offer has every parameter of the range. All our text is UTF-8, so `charset=utf-8` asks for nothing more. */
function covers(range: MediaRange, offer: MediaType): boolean {
  if (range.size === 0) return true
  for (const name in range.parameters) {
    const asked = range.parameters[name]!
    const has = offer.parameters[name] ?? (name === 'charset' ? 'utf-8' : undefined)
    if (has !== asked && (name !== 'charset' || has?.toLowerCase() !== asked.toLowerCase())) return false
  }
  return true
}

interface Rank {
  readonly quality: number
  readonly precision: number
}

/** The most precise range decides; of equally precise ones the one that takes it most. */
function best<R extends { readonly quality: number }>(
  ranges: readonly R[],
  precisionOf: (range: R) => number,
): Rank | undefined {
  let found: Rank | undefined
  for (const range of ranges) {
    const precision = precisionOf(range)
    if (precision === 0 || (found !== undefined && precision < found.precision)) continue
    if (found === undefined || precision > found.precision || range.quality > found.quality)
      found = { quality: range.quality, precision }
  }
  return found
}

/** By quality, then precision, then our order (sort is stable). What has no rank, or quality 0, is out. */
function rank<T>(offers: readonly T[], rankOf: (offer: T) => Rank | undefined): readonly T[] {
  return offers
    .map(offer => ({ offer, rank: rankOf(offer) }))
    .filter((one): one is { offer: T; rank: Rank } => one.rank !== undefined && one.rank.quality > 0)
    .sort((a, b) => b.rank.quality - a.rank.quality || b.rank.precision - a.rank.precision)
    .map(one => one.offer)
}

/** `name [ weight ]` elements of Accept-Encoding and Accept-Language; malformed ones are left out. */
const parseWeighted: (field: string) => readonly Weighted[] = memoizeByText(field =>
  splitElements(field).flatMap(element => {
    const cursor = cursorOver(element)
    const name = readToken(cursor).toLowerCase()
    const given = readParameters(cursor)
    const quality = weight(given?.['q'])
    if (name === '' || given === undefined || quality === undefined || cursor.at < element.length) return []
    return [{ name, quality }]
  }),
)

/** RFC 9110 §8.4.1: names that recipients should take for the registered ones. */
const alias: Readonly<Record<string, string>> = { 'x-gzip': 'gzip', 'x-compress': 'compress' }

/** Less than any weight that §12.4.2 can write, and not none: identity that is not mentioned. */
const unmentioned: Rank = { quality: 1e-9, precision: 0 }

/** The codings that a request takes, best first; see negotiateEncoding. */
export function acceptableEncodings<T extends string>(field: string | undefined, offers: readonly T[]): readonly T[] {
  if (field === undefined) return offers.filter(offer => offer.toLowerCase() === 'identity')
  const codings = parseWeighted(field)
  return rank(offers, offer => {
    const name = offer.toLowerCase()
    const found = best(codings, ({ name: asked }) =>
      (alias[asked] ?? asked) === (alias[name] ?? name) ? 2 : asked === '*' ? 1 : 0,
    )
    return found ?? (name === 'identity' ? unmentioned : undefined)
  })
}

/**
 * RFC 9110 §12.5.3: the content coding to send, of `offers` in our order of preference; undefined when none is
 * acceptable. `identity` must be among the offers to be chosen: it is acceptable unless excluded by `identity;q=0`, or
 * by `*;q=0` without it, and is chosen last when not mentioned. Without the field any coding would be acceptable;
 * identity is chosen then, since such clients seldom decode. An empty field takes identity only.
 */
export function negotiateEncoding<T extends string>(field: string | undefined, offers: readonly T[]): T | undefined {
  return acceptableEncodings(field, offers)[0]
}

/** The languages that a request takes, best first: RFC 4647 §3.3.1 basic filtering, then §3.4 look-up. */
export function acceptableLanguages<T extends string>(field: string | undefined, offers: readonly T[]): readonly T[] {
  const ranges = field === undefined ? [] : parseWeighted(field)
  if (ranges.length === 0) return offers
  return rank(offers, offer => best(ranges, range => closeness(range, offer.toLowerCase())))
}

/**
 * How closely a range covers a tag. A range that is the tag, or starts it (§3.3.1: `en` covers `en-us`), beats a tag
 * that starts the range (§3.4: who asks for `de-ch` gets `de`; who refuses it may still take `de`), and longer common
 * parts beat shorter ones.
 */
function closeness({ name, quality }: Weighted, tag: string): number {
  if (name === tag) return 3_000
  if (tag.startsWith(`${name}-`)) return 2_000 + name.length
  if (quality > 0 && name.startsWith(`${tag}-`)) return 1_000 + tag.length
  return name === '*' ? 1 : 0
}

/** RFC 9110 §12.5.4: the language to send. It never fails: what cannot be met gets our first offer that is not refused. */
export function negotiateLanguage<T extends string>(
  field: string | undefined,
  offers: readonly [T, ...(readonly T[])],
): T {
  return acceptableLanguages(field, offers)[0] ?? acceptableLanguages(`${field}, *;q=0.001`, offers)[0] ?? offers[0]
}
