/** Reads as the first caller that is allowed to, and extracts addresses from the response. */
import { parseLinks } from '../http/link.ts'
import type { Bench } from './bench.ts'
import { type ApiPath, type CheckCaller, pathBelow } from './discovered-service.ts'
import { type FoundLink, type Json, linkIn, memberAt } from './probe-content.ts'
import type { ProbeExchange } from './probe-message.ts'

/** The first caller that may read it, beginning with the anonymous one. */
export async function readAsFirstAllowed(
  bench: Bench,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<ProbeExchange> {
  let exchange = await bench.send('GET', path, { fields })
  for (const as of bench.callers) {
    if (exchange.status !== 401 && exchange.status !== 403 && exchange.status !== 404) break
    exchange = await bench.send('GET', path, { as, fields })
  }
  return exchange
}

/** The caller whose credentials a request carried; undefined: none. */
export const findSender = (bench: Bench, { request }: ProbeExchange): CheckCaller | undefined =>
  bench.callers.find(({ fields }) => Object.entries(fields).every(([name, value]) => request.fields[name] === value))

/** The addresses of the next page, from `_links` and Link; none: this is the last page. */
export const listNextPages = (page: ProbeExchange): readonly string[] =>
  [linkIn(page.json, 'next'), fieldLinks(page).find(({ rel }) => rel === 'next')?.href].filter(
    each => each !== undefined,
  )

export const fieldLinks = (exchange: ProbeExchange): readonly FoundLink[] =>
  parseLinks(exchange.fields['link'] ?? '').map(({ rel, target }) => ({ rel, href: target, isTemplate: false }))

/** A path within the service; undefined for another origin. */
export function toPath(bench: Bench, href: string, base = '/'): string | undefined {
  const url = URL.parse(href, bench.transport.origin + base)
  return url && url.origin === bench.transport.origin ? url.pathname + url.search : undefined
}

/** The path of an item from its identifier: `id`, or the member that the description declares. */
export function pathOfIdentifier(
  { path, itemPath }: { readonly path: string; readonly itemPath: ApiPath | undefined },
  value: Json | undefined,
): string | undefined {
  const [parameter = 'id'] = itemPath?.path.match(/(?<=\{)[^{}]+(?=\}\/?$)/) ?? []
  const id = memberAt(value, 'id') ?? memberAt(value, parameter)
  return ['string', 'number', 'bigint'].includes(typeof id) ? pathBelow(path, encodeLoosely(String(id))) : undefined
}

/** Percent-encoded; a lone surrogate, which UTF-8 cannot express, is replaced. */
export const encodeLoosely = (text: string): string => encodeURIComponent(text.toWellFormed())
