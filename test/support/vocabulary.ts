/** The names of src/ held against GLOSSARY.md; `test/names.test.ts` judges by it, `test/measures.ts` counts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { declarations } from './sources.ts'

/** Words that are participles, adverbs or pronoun-like, without an ending that gives them away. */
const irregular =
  'made said kept sent told held left begun lent met got built cut put given taken written drawn shown known seen done gone come drawn driven chosen broken hidden found bound sold stood worn read11 here there whole all only again ahead alone together inside outside beside besides within without above below over under early late soon once already usual other others another more most less same such own mine ours theirs what which who whose it its one ones'
const bareWords = new Set(irregular.split(' '))
/** Verbs and nouns that end as participles do. */
const innocent = new Set([
  'embed',
  'feed',
  'seed',
  'need',
  'read',
  'shed',
  'speed',
  'exceed',
  'proceed',
  'succeed',
  'bring',
  'sing',
  'ring',
  'string',
  'ping',
  'listen',
  'open',
  'token',
  'happen',
])

export const isBareParticiple = (name: string): boolean => {
  const word = name.replace(/\d+$/, '')
  if (/[A-Z]/.test(word) || innocent.has(word)) return false
  return bareWords.has(name) || bareWords.has(word) || /(?:ed|ing|ly)$/.test(word)
}

export const bareParticiples = (): readonly string[] =>
  declarations
    .filter(({ kind, name }) => kind === 'function' && isBareParticiple(name))
    .map(({ file, name }) => `${file}: ${name}`)

export function homesOf(
  pairs: Iterable<readonly [name: string, file: string]>,
): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>()
  for (const [name, file] of pairs) {
    const files = homes.get(name) ?? []
    if (!files.includes(file)) files.push(file)
    homes.set(name, files)
  }
  return homes
}

export const sharedTypes = (): readonly string[] =>
  [...homesOf(declarations.filter(each => each.kind === 'type').map(({ name, file }) => [name, file]))]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name}: ${files.join(' ')}`)

export function sharedFunctions(): readonly { readonly name: string; readonly exported: number }[] {
  const functions = declarations.filter(each => each.kind === 'function')
  return [...homesOf(functions.map(({ name, file }) => [name, file]))]
    .filter(([, files]) => files.length > 1)
    .map(([name]) => ({ name, exported: functions.filter(each => each.name === name && each.isExported).length }))
}

export interface Glossary {
  readonly verbs: ReadonlySet<string>
  readonly nouns: ReadonlySet<string>
  readonly twins: ReadonlySet<string>
}

export function glossary(): Glossary {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'GLOSSARY.md'), 'utf8')
  const section = (title: string): string => text.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const firstCells = section('Verbs')
    .split('\n')
    .map(line => /^\| ([a-z, ]+) \|/.exec(line)?.[1] ?? '')
  return {
    verbs: new Set(firstCells.flatMap(cell => cell.split(', '))),
    nouns: new Set([...section('Kept nouns').matchAll(/`(\w+)`/g)].map(found => found[1] ?? '')),
    twins: new Set([...section('Twins').matchAll(/`([\w-]+)`/g)].map(found => found[1] ?? '')),
  }
}
