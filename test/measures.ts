/**
 * `npm run measures`: the structure in figures. Counts over src/, and what one request passes: files and functions that are
 * entered, by precise call counts around one request on a kept connection.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { commentsOf, declarations, sourceFiles, sourceOf } from './support/sources.ts'
import { bareParticiples, sharedFunctions, sharedTypes } from './support/vocabulary.ts'
import { journeys, walk } from './support/walk.ts'

const inFolder = (folder: string): number =>
  sourceFiles.filter(file => file.startsWith(`${folder}/`) && !file.slice(folder.length + 1).includes('/')).length
const linesOf = (file: string): number => sourceOf(file).split('\n').length - 1
const mentions = (pattern: RegExp, files = sourceFiles): number =>
  files.reduce((sum, file) => sum + [...sourceOf(file).matchAll(pattern)].length, 0)

/** Of the last hundred commits. */
function longSubjects(): string {
  const root = join(import.meta.dirname, '..')
  const subjects = execFileSync('git', ['log', '-100', '--format=%s'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  return `${subjects.filter(subject => subject.length > 72).length} of ${subjects.length}`
}

const memories = declarations.filter(each => each.isMemory)
const shared = sharedFunctions()
const largest = declarations.filter(each => each.kind === 'function').sort((a, b) => b.lines - a.lines)[0]

const rows: (readonly [string, string | number])[] = [
  ['files; lines', `${sourceFiles.length}; ${sourceFiles.reduce((sum, file) => sum + linesOf(file), 0)}`],
  ['type names declared in two files or more', sharedTypes().length],
  [
    'names of functions in two files; exported from two',
    `${shared.length}; ${shared.filter(each => each.exported > 1).length}`,
  ],
  ['functions named by a bare participle', bareParticiples().length],
  [
    'memories at module level that are written after load',
    `${memories.length} in ${new Set(memories.map(each => each.file)).size} files`,
  ],
  [
    'module-level let',
    declarations.filter(each => /^(?:export )?let /m.test(sourceOf(each.file)) && each.isMemory).length,
  ],
  ['mentions of Maybe', mentions(/\bMaybe\b/g)],
  ['files in host/; in soap/', `${inFolder('host')}; ${inFolder('soap')}`],
  ['largest function', `${largest?.lines} lines: ${largest?.file} ${largest?.name}`],
  ['host/serve.ts', `${linesOf('host/serve.ts')} lines`],
  [
    'files of 25 lines or fewer, index apart',
    sourceFiles.filter(file => linesOf(file) <= 25 && !file.endsWith('index.ts')).length,
  ],
  ['bare catch', mentions(/\bcatch \{/g)],
  ['files with private', sourceFiles.filter(file => /^\s+private\s/m.test(sourceOf(file))).length],
  [
    'lines of comments over 100 characters',
    sourceFiles
      .flatMap(commentsOf)
      .flatMap(each => each.split('\n'))
      .filter(line => line.length > 100).length,
  ],
  ['commit subjects over 72 characters', longSubjects()],
]
for (const [what, value] of rows) console.log(`${what.padEnd(56)} ${value}`)
console.log()
for (const [name, passed] of Object.entries(await walk(journeys)))
  console.log(
    `${name.padEnd(20)} files ${passed.files.length} (base apart)  functions ${passed.functions.length}  calls ${passed.calls}`,
  )
