/**
 * Forms of our pages. A browser only sends GET and POST (HTML §4.10.18.6), so the address of a form
 * says which request it represents: `?_method=PUT&_match="…"`. What it guards:
 *  (1) Only the head is read: a caller is refused before the content.
 *  (2) A form represents another request only if a browser says that it comes from a page; row 16
 *      refuses it if that page has another origin.
 *  (3) From then on it is that request, for every row: nothing is decided here.
 */

import type { Entry } from '../../front/entry.ts'
import { findRedraw, type Redraw, redrawNames } from '../../html/controls.ts'
import { parseMediaType } from '../../http/media-type.ts'
import type { HttpFields, Request } from '../../http/message.ts'
import { type Pairs, writeQuery } from '../../http/uri.ts'
import { readFormFile } from './form-file.ts'

/** The effect of a form besides the request that it represents. */
export interface PageForm {
  /** If present, the form is shown again, changed, and nothing else happens. */
  readonly redraw: Redraw | undefined
}

export type PageFormReading =
  | { readonly entry: Entry; readonly form: PageForm }
  /** The address without the form's own parameters. */
  | { readonly redirect: string }

const controls = { method: '_method', match: '_match', type: '_type', find: '_find' } as const
const ownNames: ReadonlySet<string> = new Set([...Object.values(controls), ...Object.values(redrawNames)])

const formMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const formTypes: ReadonlySet<string> = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

export interface FormTarget {
  readonly method: string
  /** The tag that the form was made with: a later change of the item is not overwritten. */
  readonly match?: string | undefined
  /** The media type of the file that the form sends. */
  readonly type?: string
}

/** The address to which a form is sent. */
export function writeFormAddress(href: string, { method, match, type }: FormTarget, redraw?: Redraw): string {
  const pairs: (readonly [string, string])[] = [[controls.method, method]]
  if (match !== undefined) pairs.push([controls.match, match])
  if (type !== undefined) pairs.push([controls.type, type])
  if (redraw) pairs.push([redrawNames[redraw.change], redraw.name])
  return `${href}${href.includes('?') ? '&' : '?'}${writeQuery(pairs)}`
}

/** The control that marks a GET form: its empty controls are removed from the address. */
export const findMark = controls.find

/** Undefined if the request is not a form of a page. */
export function readPageForm(entry: Entry): PageFormReading | undefined {
  if (!entry.query.includes('_')) return undefined
  const controlValues = new Map(entry.pairs.filter(([name]) => ownNames.has(name)))
  if (controlValues.size === 0) return undefined
  const otherPairs = entry.pairs.filter(([name]) => !ownNames.has(name))
  const { method, fields } = entry.request
  if (method === 'GET' || method === 'HEAD') return { redirect: writeFound(otherPairs) }
  const formMethod = controlValues.get(controls.method) ?? ''
  const isForm = formTypes.has(parseMediaType(fields['content-type'] ?? '')?.essence ?? '')
  const isOfPage = fields['origin'] !== undefined || fields['sec-fetch-site'] !== undefined // (2)
  if (method !== 'POST' || !isForm || !isOfPage || !formMethods.has(formMethod)) return undefined
  return {
    entry: {
      ...entry,
      request: writeFormRequest(entry.request, formMethod, controlValues),
      query: writeQuery(otherPairs),
      pairs: otherPairs,
    },
    form: { redraw: findRedraw(controlValues) },
  }
}

/** The query of a GET form, without its empty controls: `?customer=c-1`. */
function writeFound(pairs: Pairs): string {
  const query = writeQuery(pairs.filter(([, value]) => value !== '').map(completeMoment))
  return query === '' ? '' : `?${query}`
}
/** A browser sends a date and time without a zone, which is UTC here. */
const completeMoment = ([name, value]: readonly [string, string]): readonly [string, string] =>
  name.endsWith('.utc') ? [name.slice(0, -'.utc'.length), addZone(value)] : [name, value]
const addZone = (value: string): string => `${/T\d\d:\d\d$/.test(value) ? `${value}:00` : value}Z`

/** (3) */
function writeFormRequest(request: Request, method: string, own: ReadonlyMap<string, string>): Request {
  const type = own.get(controls.type)
  const match = own.get(controls.match)
  const fields: HttpFields = {
    ...request.fields,
    ...(match !== undefined && { 'if-match': match }),
    ...(type !== undefined && { 'content-type': type }),
  }
  const boundary = parseMediaType(request.fields['content-type'] ?? '')?.parameters['boundary']
  const content =
    type !== undefined && boundary !== undefined ? readFormFile(request.content, boundary) : request.content
  return { ...request, method, fields, content }
}
