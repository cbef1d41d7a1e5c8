/**
 * GLOSSARY.md and CONTRIBUTING.md, "Names": the rules of names and of English that a program can
 * see.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { commentsOf, declarations, sourceFiles, sourceOf } from './support/sources.ts'
import { bareParticiples, glossary, homesOf, sharedFunctions, sharedTypes } from './support/vocabulary.ts'

test('a type name is declared once', () => {
  assert.deepEqual(sharedTypes(), [])
})

test('no function is named by a bare participle, an adverb or a pronoun', () => {
  assert.deepEqual(bareParticiples(), [])
})

test('an exported function begins with a verb of the glossary, or is named for its result by two words', () => {
  const { verbs, nouns } = glossary()
  const wrong = declarations
    .filter(({ kind, isExported, name }) => kind === 'function' && isExported && !nouns.has(name))
    .filter(({ name }) => {
      const [first = '', ...rest] = name.split(/(?=[A-Z])/)
      const isPredicate = /^(?:is|has|may|can|allows|matches)$/.test(first)
      return !(verbs.has(first) || rest.length > 0 || isPredicate)
    })
    .map(({ file, name }) => `${file}: ${name}`)
  assert.deepEqual(wrong, [])
})

test('no function is exported from two files, and few names stand in two', () => {
  const shared = sharedFunctions()
  assert.deepEqual(
    shared.filter(({ exported }) => exported > 1).map(({ name }) => name),
    [],
  )
  assert.ok(shared.length <= 60, `${shared.length} names of functions stand in two files`)
})

test('a function has 70 lines at most', () => {
  assert.deepEqual(
    declarations
      .filter(({ kind, lines }) => kind === 'function' && lines > 70)
      .map(({ file, name, lines }) => `${file} ${name}: ${lines} lines`),
    [],
  )
})

test('a file name stands once, but for the twins of the glossary', () => {
  const { twins } = glossary()
  const names = homesOf(sourceFiles.map(file => [basename(file, '.ts'), file]))
  assert.deepEqual(
    [...names].filter(([name, files]) => files.length > 1 && !twins.has(name)).map(([, files]) => files.join(' ')),
    [],
  )
})

test('a constant says what it counts: most, longest, patience, pause and plain are no names', () => {
  const vague = /^(?:most|longest|patience|pause|plain|usual)$/
  assert.deepEqual(
    declarations
      .filter(({ kind, name }) => kind === 'value' && vague.test(name))
      .map(each => `${each.file}: ${each.name}`),
    [],
  )
})

test('private members are #private', () => {
  assert.deepEqual(
    sourceFiles.filter(file => /^\s+private\s/m.test(sourceOf(file))),
    [],
  )
})

/** "who" without an antecedent, and idioms that read as translated. */
const idioms =
  /(?:^|[.:;,(] |\b(?:for|of|to|from|and|or|is|by|with|than) )who(?:ever)?\b|\bis none\b|\bnobody\b|\bbeside\b/i

test('a comment has a noun for its subject, and lines of 100 characters at most', () => {
  const wrong = sourceFiles.flatMap(file =>
    commentsOf(file)
      .flatMap(comment => comment.split('\n'))
      .filter(line => line.length > 100 || idioms.test(line.replace(/^\s*\/?\*+\s?|^\/\/\s?/, '')))
      .map(line => `${file}: ${line.trim()}`),
  )
  assert.deepEqual(wrong, [])
})

/** Texts that a client, an operator or a developer reads. */
test('an error text says what is wrong without an idiom', () => {
  const wrong = sourceFiles.flatMap(file =>
    [...sourceOf(file).matchAll(/(['`])((?:\\.|(?!\1).)*)\1/g)]
      .map(found => found[2] ?? '')
      .filter(
        text =>
          / /.test(text) &&
          /\bis no\b(?! longer)|\bis none\b|\bare none\b|\bis not taken\b|\bare taken\b|\bwho (?:has|is|was)\b/.test(
            text,
          ),
      )
      .map(text => `${file}: ${text}`),
  )
  assert.deepEqual(wrong, [])
})

test('lines of prose in Markdown end at a sentence', () => {
  const root = join(import.meta.dirname, '..')
  const pages = [
    'operations',
    'scale',
    'handlers',
    'client',
    'check',
    'message-security',
    'soap-headers',
    'pages',
    'command-line',
  ]
  for (const file of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...pages.map(page => `docs/${page}.md`),
  ])
    for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
      if (/^(?:\||[-*] |\d+\. | {4}|#|```|>)/.test(line) || !/[.!?]\*{0,2} [A-Z]/.test(line)) continue
      assert.fail(`${file}: two sentences in one line: ${line.slice(0, 80)}`)
    }
})
