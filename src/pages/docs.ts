/**
 * `/docs`: a site written by `diglot docs`, for the readers who may see it. What it guards:
 *  (1) Only the files that the manifest lists are served; they were read at start.
 *  (2) A site of everything has no readers until the operator names them; a site for some roles can
 *      be read by callers with one of these roles.
 *  (3) No shared cache stores what not everyone may read.
 */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { chain, type Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import { authenticate } from '../front/authenticate.ts'
import type { Coding } from '../front/compression.ts'
import { type Entry, type Mount, prefixOf } from '../front/entry.ts'
import { createPages, type Page } from '../front/page.ts'
import { replyWithText, type StaticText } from '../front/static-text.ts'
import type { Response } from '../http/message.ts'
import { parseAccept } from '../http/negotiate.ts'
import type { FaceContext } from '../service/face-context.ts'
import { refuse } from '../service/refusal.ts'

/** The file in a site's folder that lists its files. */
export const siteManifestName = 'site.json'
export interface SiteManifest {
  readonly title: string
  /** The roles for which the site was generated; `[]`: anyone. Absent: it contains everything. */
  readonly roles?: readonly string[]
  /** Paths below the folder. */
  readonly files: readonly string[]
  /** It is being written, or its writer was killed: pages of two sites may be mixed. */
  readonly isUnfinished?: true
}

/** A path of a site leads nowhere else. */
const sitePath = /^(?:[A-Za-z0-9_-]+\/)*[A-Za-z0-9_-]+\.(?:html|css|svg|json|wsdl|xsd)$/

/** Undefined if it was not written by `diglot docs`. */
export function parseSiteManifest(text: string): SiteManifest | undefined {
  const found = parseObject(text)
  if (!found) return undefined
  const { title, roles, files, isUnfinished } = found
  const isNames = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every(each => typeof each === 'string')
  if (typeof title !== 'string' || !isNames(files) || !files.every(path => sitePath.test(path))) return undefined
  if (roles !== undefined && !isNames(roles)) return undefined
  return { title, files, ...(roles && { roles }), ...(isUnfinished === true && { isUnfinished }) }
}
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value: unknown = attempt(() => JSON.parse(text), isSyntaxError)
  return typeof value === 'object' && value !== null ? { ...value } : undefined
}

/** A site as it is served. */
export interface ServedSite {
  /** Path → text. */
  readonly files: ReadonlyMap<string, string>
  /** Callers with one of these roles may read it. */
  readonly readers: readonly string[] | 'anyone'
}

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wsdl: 'application/wsdl+xml;charset=utf-8',
  xsd: 'application/xml;charset=utf-8',
}

export function createDocsPage(
  context: FaceContext,
  { files, readers }: ServedSite,
  codings: Readonly<Record<string, Coding>>,
): Mount {
  const read = (text: StaticText): Page => ({
    GET: entry =>
      chain(admitReader(entry, context, readers), refused => refused ?? replyToReader(entry, text, readers, codings)),
  })
  const start: Page = {
    GET: () => ({
      status: 308,
      fields: { location: `${prefixOf(context.settings)}/docs/index.html`, 'cache-control': 'no-store' },
    }),
  }
  const pages = [...files].map(([path, content]) => {
    const mediaType = mediaTypes[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    return [`/docs/${path}`, read({ mediaType, content })] as const
  })
  return createPages(context, { '/docs': start, '/docs/': start, ...Object.fromEntries(pages) })
}

/** (2) A browser is directed to the page for signing in. */
function admitReader(entry: Entry, context: FaceContext, readers: ServedSite['readers']): Maybe<Response | undefined> {
  if (readers === 'anyone') return undefined
  return chain(authenticate(entry.request, context, context.app.contract.service), ({ subject, roles }: Caller) => {
    if (roles.some(role => readers.includes(role))) return undefined
    if (subject !== undefined) return refuse({ kind: 'forbidden' })
    if (!prefersPage(entry)) return refuse({ kind: 'unauthenticated' })
    const prefix = prefixOf(context.settings)
    const to = encodeURIComponent(prefix + entry.path)
    return { status: 303, fields: { location: `${prefix}/login?to=${to}`, 'cache-control': 'no-store' } }
  })
}
const prefersPage = ({ request }: Entry): boolean =>
  request.fields['authorization'] === undefined &&
  parseAccept(request.fields['accept'] ?? '').some(({ subtype, quality }) => subtype === 'html' && quality > 0)

/** (3) */
function replyToReader(
  entry: Entry,
  text: StaticText,
  readers: ServedSite['readers'],
  codings: Readonly<Record<string, Coding>>,
): Response {
  const response = replyWithText(entry, text, codings)
  if (readers === 'anyone') return response
  const vary = [response.fields['vary'], 'Authorization', 'Cookie'].filter(Boolean).join(', ')
  return { ...response, fields: { ...response.fields, 'cache-control': 'private, no-cache', vary } }
}
