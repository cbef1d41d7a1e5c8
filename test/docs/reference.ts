/**
 * docs/reference/, made from the docstrings of what the package exports. `npm run reference` writes it.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from '../support/linked-project.ts'
import { listEntries, type PackageEntry, type PublicSymbol } from './public-symbols.ts'

export const referenceFolder = join(checkout, 'docs', 'reference')

/** File in docs/reference/ → text. */
export function writeReference(): Readonly<Record<string, string>> {
  const entries = listEntries()
  const pages = entries.map(entry => [fileOf(entry), writeEntry(entry)] as const)
  return { 'README.md': writeIndex(entries), ...Object.fromEntries(pages) }
}

const made = '<!-- Made by `npm run reference` from the sources: change the docstrings there. -->\n'
const fileOf = ({ specifier }: PackageEntry): string => `${specifier.replaceAll('/', '-')}.md`

const writeIndex = (entries: readonly PackageEntry[]): string =>
  [
    `${made}# Reference`,
    'Every name that the package exports, by its entry, and every option of the command line.\nThe options of `serve` are those of [`ServeOptions`](diglot.md#serveoptions).',
    [
      '| entry | what | names |',
      '|---|---|---|',
      ...entries.map(entry => {
        const [first = ''] = (entry.docstring ?? '').split(/(?<=\.)\s/)
        return `| [${entry.specifier}](${fileOf(entry)}) | ${first.replaceAll('\n', ' ')} | ${entry.symbols.length} |`
      }),
      '| [the command `diglot`](../command-line.md) | serve, describe, compare and check services; run what they need | |',
    ].join('\n'),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')

const writeEntry = (entry: PackageEntry): string =>
  [
    `${made}# ${entry.specifier}`,
    ...(entry.docstring === undefined ? [] : [entry.docstring]),
    ...entry.symbols.map(writeSymbol),
  ]
    .join('\n\n')
    .concat('\n')

const writeSymbol = ({ name, docstring, signature, file }: PublicSymbol): string =>
  [
    `## ${name}`,
    ...(docstring === undefined ? [] : [writeTags(docstring)]),
    `\`\`\`ts declaration\n${signature}\n\`\`\``,
    `<sub>src/${file}</sub>`,
  ].join('\n\n')

/** `@param` and `@throws` as items of a list. */
const writeTags = (docstring: string): string => {
  const [text = '', ...tags] = docstring.split(/^(?=@\w+)/m)
  const items = tags.map(
    tag =>
      `- ${tag
        .trim()
        .replaceAll('\n', ' ')
        .replace(/^@param (\w+)/, '`$1`:')
        .replace(/^@throws \{(\w+)\}/, 'throws `$1`')
        .replace(/^@/, '')}`,
  )
  return [text.trim(), items.join('\n')].filter(Boolean).join('\n\n')
}

if (import.meta.main) {
  rmSync(referenceFolder, { recursive: true, force: true })
  mkdirSync(referenceFolder, { recursive: true })
  for (const [file, text] of Object.entries(writeReference())) writeFileSync(join(referenceFolder, file), text)
}
