/**
 * A page of documentation as markup. What it guards: nothing of a page becomes an element but what
 * Markdown has for it; elements that it spells out are shown as text, `<sub>` apart.
 */
import { Marked, type RendererObject, type Token, type Tokens } from 'marked'
import { escapeMarkup } from '../../../src/base/markup.ts'
import { buildElement, type PageMarkup } from '../../../src/html/element.ts'
import { markCode } from './mark-code.ts'

export interface Heading {
  readonly text: string
  readonly id: string
}

export interface MarkdownPage {
  readonly title: string
  readonly main: PageMarkup
  /** Of the second level. */
  readonly sections: readonly Heading[]
}

/** A link or a picture of a page → its address in the site. */
export type LinkResolver = (href: string) => string

export function writeMarkdown(text: string, resolve: LinkResolver): MarkdownPage {
  const [title, ...tokens] = new Marked().lexer(text).filter(token => !isComment(token))
  if (title?.type !== 'heading' || title.depth !== 1) throw new Error('a page begins with its title: "# …"')
  const taken = new Map<string, number>()
  const sections: Heading[] = []
  const renderer: RendererObject = {
    heading({ depth, text, tokens }) {
      const id = numberAnchor(anchorOf(text), taken)
      if (depth === 2) sections.push({ text: plainOf(text), id })
      return `${buildElement(`h${depth}`, { id }, this.parser.parseInline(tokens))}\n`
    },
    link({ href, tokens }) {
      return buildElement('a', { href: resolve(href) }, this.parser.parseInline(tokens))
    },
    image: ({ href, text }) => buildElement('img', { src: resolve(href), alt: text }),
    code: ({ text, lang }) => writeCodeBlock(text, lang ?? ''),
    codespan: ({ text }) => buildElement('code', {}, escapeMarkup(text)),
    html: ({ text }) => (/^<\/?sub>$/.test(text) ? text : escapeMarkup(text)),
    table({ header, rows }) {
      return writeTable(header, rows, tokens => this.parser.parseInline(tokens))
    },
  }
  const main = new Marked({ renderer }).parser(tokens)
  return { title: plainOf(title.text), main, sections }
}

const isComment = (token: Token): boolean => token.type === 'space' || /^<!--[\s\S]*-->\s*$/.test(token.raw)
const plainOf = (text: string): string => text.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')

/** The identifier that GitHub gives to a heading, so that a link leads to it here and there. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The second heading of one name is `name-1`. */
function numberAnchor(anchor: string, taken: Map<string, number>): string {
  const count = taken.get(anchor) ?? 0
  taken.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}

/** A file that the block shows, or that is changed by it, stands above it. */
export function writeCodeBlock(text: string, info: string): PageMarkup {
  const [language = '', mark = ''] = info.split(' ')
  const file = /\.\w+$/.test(mark) ? buildElement('p', { class: 'file' }, escapeMarkup(mark)) : ''
  const code = buildElement('code', {}, markCode(text, language))
  return `${file}${buildElement('pre', { class: mark === 'output' ? 'output' : undefined }, code)}\n`
}

/** Rows become cards where it is narrow, with the head of the column at each cell. */
function writeTable(
  header: readonly Tokens.TableCell[],
  rows: readonly (readonly Tokens.TableCell[])[],
  write: (tokens: Token[]) => PageMarkup,
): PageMarkup {
  const heads = header.map(({ text, tokens }) =>
    text === ''
      ? buildElement('td', { role: 'cell' })
      : buildElement('th', { scope: 'col', role: 'columnheader' }, write(tokens)),
  )
  const lines = rows.map(cells => {
    const written = cells.map(({ tokens }, at) =>
      buildElement(
        'td',
        { role: 'cell', 'data-label': plainOf(header[at]?.text ?? '') },
        buildElement('span', {}, write(tokens)),
      ),
    )
    return buildElement('tr', { role: 'row' }, ...written)
  })
  return buildElement(
    'table',
    { role: 'table' },
    buildElement('thead', { role: 'rowgroup' }, buildElement('tr', { role: 'row' }, ...heads)),
    buildElement('tbody', { role: 'rowgroup' }, ...lines),
  )
}

/** Rows of a table whose first cell links to pages: what each page is about, as markup. */
export function readPageTable(text: string, resolve: LinkResolver): ReadonlyMap<string, PageMarkup> {
  const about = new Map<string, PageMarkup>()
  const inner = new Marked({ renderer: { link: ({ text }) => escapeMarkup(text) } })
  for (const token of inner.lexer(text)) {
    if (token.type !== 'table') continue
    for (const [first, second] of (token as Tokens.Table).rows)
      for (const link of first?.tokens ?? [])
        if (link.type === 'link') about.set(resolve(link.href), inner.parser(inner.lexer(second?.text ?? '')))
  }
  return about
}
