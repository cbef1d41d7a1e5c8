/** The pages of documentation, and the snippets on them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export const pages: readonly string[] = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })]
  .map(page => page.replaceAll('\\', '/'))
  .sort()

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8')

export interface Snippet {
  readonly page: string
  /** Of its first line of text. */
  readonly line: number
  readonly language: string
  /** What stands behind the language: the file that it shows, or how it is tried. */
  readonly mark: string
  readonly text: string
}

export const listSnippets = (page: string): readonly Snippet[] => {
  const text = textOf(page)
  return [...text.matchAll(/^```([\w-]+)(?: ([^\n]*))?\n([\s\S]*?)^```$/gm)].map(found => ({
    page,
    line: text.slice(0, found.index).split('\n').length + 1,
    language: found[1] ?? '',
    mark: found[2] ?? '',
    text: found[3] ?? '',
  }))
}
