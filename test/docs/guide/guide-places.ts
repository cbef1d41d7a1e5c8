/** Where each page of the guide comes from, of which kind it is, and where it stands in the site. */

export const guideKinds = ['tutorial', 'how-to', 'explanation', 'reference'] as const
export type GuideKind = (typeof guideKinds)[number]

/** Heading and purpose of a kind, on the start page. */
export const kindTexts: Readonly<Record<GuideKind, readonly [heading: string, about: string]>> = {
  tutorial: ['Tutorial', 'Learn it by doing it once.'],
  'how-to': ['How-to', 'Something has to be done: these are the steps.'],
  explanation: ['Explanations', 'Why it is as it is.'],
  reference: ['Reference', 'All of it, to look things up.'],
}

const pagesByKind: Readonly<Record<GuideKind, readonly string[]>> = {
  tutorial: ['docs/tutorial.md'],
  'how-to': [
    ...['docs/how-to.md', 'docs/client.md', 'docs/testing.md', 'docs/providers.md', 'docs/mounting.md'],
    ...['docs/pages.md', 'docs/service-site.md', 'docs/import.md', 'docs/bridge.md', 'docs/mock.md'],
    ...['docs/soap-headers.md', 'docs/message-security.md', 'docs/operations.md', 'docs/diff.md', 'docs/check.md'],
    ...['docs/from-0.1-to-0.2.md', 'CONTRIBUTING.md'],
  ],
  explanation: [
    'README.md',
    'docs/explanations.md',
    'ARCHITECTURE.md',
    'docs/scale.md',
    'docs/performance.md',
    'SECURITY.md',
  ],
  reference: [
    ...[
      'docs/contract.md',
      'docs/handlers.md',
      'docs/rest.md',
      'docs/soap.md',
      'docs/command-line.md',
      'docs/check-rules.md',
      'docs/check-others.md',
      'docs/reference/*',
    ],
    ...['GLOSSARY.md', 'CHANGES.md'],
  ],
}

export interface GuidePlace {
  /** Its path in the repository. */
  readonly source: string
  /** Its path in the site. */
  readonly path: string
  readonly kind: GuideKind
}

/**
 * The pages of the guide, in the order in which they are read.
 * @throws {Error} for a page that has no kind, and for one that is listed and not there
 */
export function listGuidePlaces(sources: readonly string[]): readonly GuidePlace[] {
  const places = guideKinds.flatMap(kind =>
    pagesByKind[kind].flatMap(named => {
      const found = sources.filter(source => source === named || isBelow(named, source))
      if (found.length === 0) throw new Error(`${named} is listed as ${kind}, and there is no such page`)
      return found.map(source => ({ source, path: placeOfSource(source), kind }))
    }),
  )
  const lost = sources.find(source => !places.some(place => place.source === source))
  if (lost !== undefined) throw new Error(`${lost} has no place in the guide: list it in guide-places.ts`)
  return places
}
const isBelow = (named: string, source: string): boolean =>
  named.endsWith('/*') && source.startsWith(named.slice(0, -1))

/** `docs/x.md` → `x.html`, `README.md` of a folder → its index; the README of all is one page of many. */
export function placeOfSource(source: string): string {
  const path = source
    .replace(/^docs\//, '')
    .replace(/(?<=\/)README\.md$/, 'index.md')
    .toLowerCase()
  return path.endsWith('.md') ? `${withoutDots(path.slice(0, -3))}.html` : path
}

/** The page that shows a file, such as one of an example. */
export const placeOfShownFile = (file: string): string => `${withoutDots(file.toLowerCase())}.html`

const withoutDots = (path: string): string => path.replaceAll('.', '-')
