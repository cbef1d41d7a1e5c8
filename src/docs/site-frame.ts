/**
 * The folder of a site: where each page is, how pages refer to each other, and their frame. Every
 * address is relative, so that a page works from a file, a server or below any path.
 */
import type { Job } from '../contract/job.ts'
import type { DeclaredOperation } from '../contract/operation.ts'
import type { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import type { PageMarkup } from '../html/element.ts'
import { type Crumb, type PageFrame, writePage } from '../html/frame.ts'
import type { OperationExample } from './run-examples.ts'

/** A contract in one of its versions, as its readers know it. */
export interface DescribedEdition {
  readonly service: Service
  readonly version: string
  readonly operations: readonly DeclaredOperation[]
  readonly examples: ReadonlyMap<string, OperationExample>
  /** Whether examples were run. */
  readonly hasExamples: boolean
}

/** A page of a site: its path in the folder, and its text. */
export interface SitePage {
  readonly path: string
  readonly title: string
  readonly main: PageMarkup
  readonly trail?: readonly Crumb[]
}

/** Names that stay different in file systems that ignore case. */
const fileOf = (name: string): string =>
  `${name.replaceAll(/[^A-Za-z0-9_-]/g, character => `_${(character.codePointAt(0) ?? 0).toString(16)}_`)}.html`

export const placeOfOperation = (version: string, name: string): string => `${version}/operations/${fileOf(name)}`
export const placeOfResource = (version: string, { name }: Pick<Resource, 'name'>): string =>
  `${version}/resources/${fileOf(name)}`
export const placeOfJob = (version: string, { job }: Pick<Job, 'job'>): string => `${version}/jobs/${fileOf(job)}`
export const placeOfEdition = (version: string): string => `${version}/index.html`
export const sitePlaces = {
  start: 'index.html',
  access: 'access.html',
  refusals: 'refusals.html',
  headers: 'headers.html',
  security: 'message-security.html',
  ports: 'ports.html',
  changes: 'changes.html',
} as const

/** The relative address of one page from another. */
export const addressFrom = (page: string, to: string): string => `${'../'.repeat(page.split('/').length - 1)}${to}`

/** Pages that are linked in the head of each page. */
export type SiteHead = readonly (readonly [path: string, text: string])[]

/** @param footer text below each page; by default, that the service is served by Diglot */
export function writeSitePage(
  { path, title, main, trail = [] }: SitePage,
  service: string,
  head: SiteHead,
  footer?: string,
): string {
  const frame: PageFrame = {
    title,
    service,
    prefix: addressFrom(path, '').replace(/\/$/, '') || '.',
    home: addressFrom(path, sitePlaces.start),
    trail: trail.map(({ href, text }) => ({ href: addressFrom(path, href), text })),
    places: head.map(([to, text]) => ({ href: addressFrom(path, to), text })),
    isFile: true,
    footer,
  }
  return writePage(frame, main)
}
