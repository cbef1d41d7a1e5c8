/**
 * RFC 9110 §12: the offer that a request prefers. The order is the same throughout. For each offer,
 * the most specific range that covers it gives its quality, and `q=0` excludes it; then the higher
 * quality wins; then the more specific range, since a client prefers a type that it names to one
 * that it merely accepts; then the order of the offers. The order of a client's ranges has no
 * meaning in RFC 9110, nor here.
 */

import { memoizeByText } from '../base/memo.ts'
import { cursorOver, type Parameters, readParameters, readToken, splitElements } from './grammar.ts'
import { type MediaType, parseMediaType, readMediaType } from './media-type.ts'

/** One element of Accept. */
export interface MediaRange {
  readonly type: string
  readonly subtype: string
  /** All except `q`, which is the weight at any position (§12.5.1). */
  readonly parameters: Parameters
  /** The number of parameters: a range with more is more specific. */
  readonly size: number
  /** 0 to 1. */
  readonly quality: number
}

/** One element of Accept-Encoding or Accept-Language, in lower case. */
interface WeightedName {
  readonly name: string
  readonly quality: number
}

/**
 * §12.4.2 weight. More than three digits, or none before the point, are accepted: Java's
 * HttpURLConnection sends `q=.2` by default. Undefined for anything but a number from 0 to 1.
 */
function parseWeight(text: string | undefined): number | undefined {
  if (text === undefined) return 1
  if (text.length > 16 || !/^(\d+\.?\d*|\.\d+)$/.test(text)) return undefined
  const quality = Number(text)
  return quality <= 1 ? quality : undefined
}

/** §12.5.1 Accept. A malformed element is left out; a bare `*` means any type. */
export const parseAccept: (field: string) => readonly MediaRange[] = memoizeByText(field =>
  splitElements(field).flatMap(element => parseMediaRange(element) ?? []),
)

function parseMediaRange(element: string): MediaRange | undefined {
  const cursor = cursorOver(/^\*[ \t]*(;|$)/.test(element) ? `*/${element}` : element)
  const found = readMediaType(cursor)
  if (found === undefined || cursor.at < cursor.text.length) return undefined
  const { q, ...parameters } = found.parameters
  const quality = parseWeight(q)
  if (quality === undefined || (found.type === '*' && found.subtype !== '*')) return undefined
  return { type: found.type, subtype: found.subtype, parameters, size: Object.keys(parameters).length, quality }
}

/**
 * The acceptable offers, best first.
 * @param accept the field; without it, or without a readable element in it, everything is
 *   acceptable
 * @param offers media types in the service's order of preference
 */
export function acceptableTypes<T extends string>(accept: string | undefined, offers: readonly T[]): readonly T[] {
  const ranges = accept === undefined ? [] : parseAccept(accept)
  if (ranges.length === 0) return offers
  return rankOffers(offers, offer => {
    const type = parseMediaType(offer)
    return type && findBestRank(ranges, range => measurePrecision(range, type))
  })
}

/** RFC 9110 §12.5.1: the offer to send; undefined when none is acceptable (406). */
export function negotiateType<T extends string>(accept: string | undefined, offers: readonly T[]): T | undefined {
  if (accept === undefined || accept === '*/*') return offers[0]
  return acceptableTypes(accept, offers)[0]
}

/**
 * How closely a range covers a type: 0 not at all, 1 any type, 2 `type/*`, 3 `type/subtype`, plus
 * one for each parameter.
 */
function measurePrecision(range: MediaRange, offer: MediaType): number {
  if (range.type === '*') return matchesParameters(range, offer) ? 1 : 0
  if (range.type !== offer.type) return 0
  if (range.subtype === '*') return matchesParameters(range, offer) ? 2 : 0
  return range.subtype === offer.subtype && matchesParameters(range, offer) ? 3 + range.size : 0
}

/**
 * Whether the offer has every parameter of the range. All text is UTF-8, so every offer has
 * `charset=utf-8`.
 */
function matchesParameters(range: MediaRange, offer: MediaType): boolean {
  if (range.size === 0) return true
  for (const name in range.parameters) {
    const expected = range.parameters[name]!
    const has = offer.parameters[name] ?? (name === 'charset' ? 'utf-8' : undefined)
    if (has !== expected && (name !== 'charset' || has?.toLowerCase() !== expected.toLowerCase())) return false
  }
  return true
}

interface OfferRank {
  readonly quality: number
  readonly precision: number
}

/** The most precise range decides; among equally precise ones, the highest quality. */
function findBestRank<R extends { readonly quality: number }>(
  ranges: readonly R[],
  precisionOf: (range: R) => number,
): OfferRank | undefined {
  let best: OfferRank | undefined
  for (const range of ranges) {
    const precision = precisionOf(range)
    if (precision === 0 || (best !== undefined && precision < best.precision)) continue
    if (best === undefined || precision > best.precision || range.quality > best.quality)
      best = { quality: range.quality, precision }
  }
  return best
}

/**
 * By quality, then precision, then the order of the offers (sort is stable). An offer without a
 * rank, or with quality 0, is left out.
 */
function rankOffers<T>(offers: readonly T[], rankOf: (offer: T) => OfferRank | undefined): readonly T[] {
  return offers
    .map(offer => ({ offer, rank: rankOf(offer) }))
    .filter((one): one is { offer: T; rank: OfferRank } => one.rank !== undefined && one.rank.quality > 0)
    .sort((a, b) => b.rank.quality - a.rank.quality || b.rank.precision - a.rank.precision)
    .map(one => one.offer)
}

/**
 * `name [ weight ]` elements of Accept-Encoding and Accept-Language; malformed ones are left out.
 */
const parseWeighted: (field: string) => readonly WeightedName[] = memoizeByText(field =>
  splitElements(field).flatMap(element => {
    const cursor = cursorOver(element)
    const name = readToken(cursor).toLowerCase()
    const parameters = readParameters(cursor)
    const quality = parseWeight(parameters?.['q'])
    if (name === '' || parameters === undefined || quality === undefined || cursor.at < element.length) return []
    return [{ name, quality }]
  }),
)

/** RFC 9110 §8.4.1: other names that recipients should accept for registered codings. */
const registeredCodingOf: Readonly<Record<string, string>> = { 'x-gzip': 'gzip', 'x-compress': 'compress' }

/**
 * The rank of identity if it is not mentioned: below any weight that §12.4.2 can write, and above
 * 0.
 */
const unmentionedRank: OfferRank = { quality: 1e-9, precision: 0 }

/** The acceptable codings, best first; see negotiateEncoding. */
export function acceptableEncodings<T extends string>(field: string | undefined, offers: readonly T[]): readonly T[] {
  if (field === undefined) return offers.filter(offer => offer.toLowerCase() === 'identity')
  const codings = parseWeighted(field)
  return rankOffers(offers, offer => {
    const name = offer.toLowerCase()
    const rank = findBestRank(codings, ({ name: coding }) =>
      (registeredCodingOf[coding] ?? coding) === (registeredCodingOf[name] ?? name) ? 2 : coding === '*' ? 1 : 0,
    )
    return rank ?? (name === 'identity' ? unmentionedRank : undefined)
  })
}

/**
 * RFC 9110 §12.5.3: the content coding to send, of `offers` in the service's order of preference;
 * undefined when none is acceptable. `identity` can be chosen only if it is among the offers: it is
 * acceptable unless `identity;q=0` excludes it, or `*;q=0` without a mention of it, and it comes
 * last if it is not mentioned. Without the field any coding would be acceptable; then identity is
 * chosen, since such clients seldom decode. An empty field accepts identity only.
 */
export function negotiateEncoding<T extends string>(field: string | undefined, offers: readonly T[]): T | undefined {
  return acceptableEncodings(field, offers)[0]
}

/** The acceptable languages, best first: RFC 4647 §3.3.1 basic filtering, then §3.4 look-up. */
export function acceptableLanguages<T extends string>(field: string | undefined, offers: readonly T[]): readonly T[] {
  const ranges = field === undefined ? [] : parseWeighted(field)
  if (ranges.length === 0) return offers
  return rankOffers(offers, offer => findBestRank(ranges, range => measureCloseness(range, offer.toLowerCase())))
}

/**
 * How closely a range covers a tag. A range that equals or begins the tag (§3.3.1: `en` covers
 * `en-us`) beats a tag that begins the range (§3.4: a client that asks for `de-ch` gets `de`; one
 * that excludes it may still accept `de`), and longer common parts beat shorter ones.
 */
function measureCloseness({ name, quality }: WeightedName, tag: string): number {
  if (name === tag) return 3_000
  if (tag.startsWith(`${name}-`)) return 2_000 + name.length
  if (quality > 0 && name.startsWith(`${tag}-`)) return 1_000 + tag.length
  return name === '*' ? 1 : 0
}

/**
 * RFC 9110 §12.5.4: the language to send. It never fails: where nothing is acceptable, the first
 * offer that is not excluded is sent.
 */
export function negotiateLanguage<T extends string>(
  field: string | undefined,
  offers: readonly [T, ...(readonly T[])],
): T {
  return acceptableLanguages(field, offers)[0] ?? acceptableLanguages(`${field}, *;q=0.001`, offers)[0] ?? offers[0]
}
