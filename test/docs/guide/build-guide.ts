/**
 * The pages of docs/ as a site, by the generator of `diglot docs`. What it guards:
 *  (1) Every page of the documentation is in it, under one kind.
 *  (2) Every link leads to a page of the site, to a place on it, or to another site.
 *  (3) A file of the repository that a page links to, such as an example, is a page, too.
 */
import { posix } from 'node:path'
import type { SiteFiles } from '../../../src/docs/build-site.ts'
import { addressFrom, type SiteHead, type SitePage, writeSitePage } from '../../../src/docs/site-frame.ts'
import { buildElement, type PageMarkup, writeAnchor, writeSection } from '../../../src/html/element.ts'
import { lookPaths } from '../../../src/html/frame.ts'
import { pageIcon, stylesheet } from '../../../src/html/stylesheet.ts'
import {
  type GuideKind,
  type GuidePlace,
  guideKinds,
  kindTexts,
  listGuidePlaces,
  placeOfShownFile,
} from './guide-places.ts'
import { guideStyle } from './guide-style.ts'
import { type MarkdownPage, readPageTable, writeCodeBlock, writeMarkdown } from './markdown.ts'

/** What the guide is made of: path in the repository → text. */
export interface GuideSources {
  readonly pages: ReadonlyMap<string, string>
  /** Undefined if there is no such file. */
  readonly readShownFile: (file: string) => string | undefined
  /** Paths of pictures. */
  readonly pictures: readonly string[]
}

interface GuidePage extends GuidePlace, MarkdownPage {
  /** What it is about, as markup; '' where no table of pages says it. */
  readonly about: PageMarkup
}

/** @throws {Error} for a page without a place, and for a link that leads nowhere */
export function buildGuide(sources: GuideSources): SiteFiles {
  const places = listGuidePlaces([...sources.pages.keys()])
  const shown = new Map<string, string>()
  const pages = describePages(sources, places, shown)
  const written = [
    buildGuideStart(sources, pages),
    ...pages.map((page, at) => buildGuidePage(page, pages, pages[at - 1], pages[at + 1])),
    ...[...shown].map(([file, text]) => buildFilePage(file, text, pages)),
  ]
  requirePlaces(written)
  return new Map([
    ...written.map(page => [page.path, writeSitePage(page, 'Diglot', guideHead, footer)] as const),
    [lookPaths.style.slice(1), `${stylesheet}\n${guideStyle}`],
    [lookPaths.icon.slice(1), pageIcon],
  ])
}

const footer = 'The guide of Diglot: one contract, two faces.'
const startPath = 'index.html'
const placeOfKind = (kind: GuideKind): string => `${startPath}#${kind}`
const guideHead: SiteHead = guideKinds.map(kind => [placeOfKind(kind), kindTexts[kind][0]] as const)

function describePages(
  sources: GuideSources,
  places: readonly GuidePlace[],
  shown: Map<string, string>,
): readonly GuidePage[] {
  const about = new Map(
    ['README.md', 'docs/reference/README.md'].flatMap(source => [
      ...readPageTable(sources.pages.get(source) ?? '', href => posix.join(posix.dirname(source), href)),
    ]),
  )
  return places.map(place => {
    const resolve = (href: string): string => resolveLink(href, place, sources, places, shown)
    const page = writeMarkdown(sources.pages.get(place.source) ?? '', resolve)
    const title = place.source === 'README.md' ? 'Diglot at a glance' : page.title
    return { ...place, ...page, title, about: about.get(place.source) ?? '' }
  })
}

/** (2), (3) A link of a page → its address in the site; files that are met are collected. */
function resolveLink(
  href: string,
  { source, path }: GuidePlace,
  { readShownFile, pictures }: GuideSources,
  places: readonly GuidePlace[],
  shown: Map<string, string>,
): string {
  if (/^[a-z]+:/.test(href)) return href
  const [file = '', fragment] = href.split('#')
  if (file === '') return href
  const target = posix.join(posix.dirname(source), file)
  const place = places.find(each => each.source === target || each.source === `${target}/README.md`)
  if (place) return addressFrom(path, place.path) + (fragment === undefined ? '' : `#${fragment}`)
  if (pictures.includes(target)) return addressFrom(path, posix.basename(target))
  const text = readShownFile(target)
  if (text === undefined) throw new Error(`${source} links to ${href}, which the guide does not have`)
  shown.set(target, text)
  return addressFrom(path, placeOfShownFile(target))
}

/** (2) */
function requirePlaces(pages: readonly SitePage[]): void {
  const anchors = new Map(
    pages.map(({ path, main }) => [path, new Set([...main.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
  )
  for (const { path, main } of pages)
    for (const [, href = ''] of main.matchAll(/ href="([^":]*#[^"]*)"/g)) {
      const [file = '', fragment] = href.split('#')
      const target = file === '' ? path : posix.join(posix.dirname(path), file)
      if (!anchors.get(target)?.has(fragment)) throw new Error(`${path} links to ${href}, and there is no such heading`)
    }
}

function buildGuidePage(
  page: GuidePage,
  pages: readonly GuidePage[],
  before: GuidePage | undefined,
  after: GuidePage | undefined,
): SitePage {
  const to = ({ path, title }: GuidePage, relation: 'prev' | 'next'): PageMarkup =>
    writeAnchor(addressFrom(page.path, path), relation === 'prev' ? `‹ ${title}` : `${title} ›`, { rel: relation })
  const turn = buildElement(
    'nav',
    { class: 'turn', 'aria-label': 'Page before and after' },
    before ? to(before, 'prev') : buildElement('span', {}),
    after ? to(after, 'next') : '',
  )
  const main = buildElement(
    'div',
    { class: 'guide' },
    buildElement('article', {}, page.main, turn),
    writeContents(page.path, pages),
  )
  const trail = [startCrumb, { href: placeOfKind(page.kind), text: kindTexts[page.kind][0] }]
  return { path: page.path, title: page.title, main, trail }
}
const startCrumb = { href: startPath, text: 'Guide' }

/** All pages, with the sections of the one that is read. */
function writeContents(path: string, pages: readonly GuidePage[]): PageMarkup {
  const itemOf = (page: GuidePage): PageMarkup => {
    const isHere = page.path === path
    const link = writeAnchor(addressFrom(path, page.path), page.title, { 'aria-current': isHere && 'page' })
    const sections = isHere
      ? page.sections.map(({ id, text }) => buildElement('li', {}, writeAnchor(`#${id}`, text)))
      : []
    return buildElement('li', {}, link, sections.length === 0 ? '' : buildElement('ul', {}, ...sections))
  }
  const kinds = guideKinds.map(kind => {
    const items = pages.filter(page => page.kind === kind).map(itemOf)
    return buildElement('p', { class: 'kind' }, kindTexts[kind][0]) + buildElement('ul', {}, ...items)
  })
  return buildElement('nav', { class: 'all', 'aria-label': 'All pages', tabindex: 0 }, ...kinds)
}

function buildFilePage(file: string, text: string, pages: readonly GuidePage[]): SitePage {
  const path = placeOfShownFile(file)
  const code = writeCodeBlock(text, file.split('.').at(-1) ?? '')
  const main = buildElement('div', { class: 'guide' }, buildElement('article', {}, code), writeContents(path, pages))
  return { path, title: file, main, trail: [startCrumb] }
}

/** Two ways in, then everything by its kind. */
function buildGuideStart({ pages: sources }: GuideSources, pages: readonly GuidePage[]): SitePage {
  const overview = pages.find(({ source }) => source === 'README.md')
  const [lead = ''] = /<p>[\s\S]*?<\/p>/.exec(overview?.main ?? '') ?? []
  const [, first = ''] = /^```ts (?:examples\S*)\n([\s\S]*?)^```$/m.exec(sources.get('README.md') ?? '') ?? []
  const kinds = guideKinds.map(kind => {
    const [heading, about] = kindTexts[kind]
    const cards = pages.filter(page => page.kind === kind).map(writeCard)
    return writeSection(
      heading,
      { id: kind },
      buildElement('p', { class: 'hint' }, about),
      buildElement('ul', { class: 'cards' }, ...cards),
    )
  })
  const ways = buildElement('div', { class: 'ways' }, ...waysIn.map(way => writeWayIn(way, pages)))
  const main = [lead, ways, writeSection('A whole service', {}, writeCodeBlock(first, 'ts')), ...kinds].join('\n')
  return { path: startPath, title: 'The guide of Diglot', main }
}

const writeCard = ({ path, title, about }: GuidePage): PageMarkup =>
  buildElement('li', { class: 'card' }, writeAnchor(path, title), about)

interface WayIn {
  readonly heading: string
  readonly face: 'rest' | 'soap'
  /** Source, with a fragment if need be, and what the reader finds there. */
  readonly steps: readonly (readonly [to: string, text: string])[]
}
const waysIn: readonly WayIn[] = [
  {
    heading: 'You know REST',
    face: 'rest',
    steps: [
      ['docs/tutorial.md#rest', 'Call a service by curl, follow its links'],
      ['docs/contract.md', 'Declare resources, states and rules'],
      ['docs/client.md', 'A typed client that follows links and sends tags'],
      ['docs/mounting.md', 'Inside Fastify, Express, Hono or Next'],
      ['docs/providers.md#begin-with-your-tables', 'Begin with tables that are there'],
      ['docs/check.md', 'Check a service against the rules of HTTP'],
    ],
  },
  {
    heading: 'You know SOAP',
    face: 'soap',
    steps: [
      ['docs/tutorial.md#soap', 'Send a message, read the WSDL'],
      ['docs/import.md', 'Serve the contract that a partner dictates'],
      ['docs/message-security.md', 'WS-Security: tokens, signatures, encryption'],
      ['docs/soap-headers.md', 'Header blocks of your own'],
      ['docs/client.md#soap', 'A typed client: both versions, MTOM, WS-Addressing'],
      ['docs/bridge.md', 'A SOAP service that exists, by REST'],
    ],
  },
]

function writeWayIn({ heading, face, steps }: WayIn, pages: readonly GuidePage[]): PageMarkup {
  const items = steps.map(([to, text]) => {
    const [source, fragment] = to.split('#')
    const page = pages.find(each => each.source === source)
    if (!page) throw new Error(`the way in for ${face} names ${to}, and there is no such page`)
    return buildElement('li', {}, writeAnchor(page.path + (fragment === undefined ? '' : `#${fragment}`), text))
  })
  return buildElement(
    'section',
    { class: face === 'soap' ? 'card soap' : 'card' },
    buildElement('h2', {}, heading),
    buildElement('ol', {}, ...items),
  )
}
