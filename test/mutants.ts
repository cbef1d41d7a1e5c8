/**
 * `npm run mutants`: would a test notice? Changes one place of src/ at a time, in a copy of the
 * checkout, and runs the test files that reach this place, as V8 counts it. A change that every one
 * of them passes has survived. Always ends with status 0: a score is read by a person.
 *
 *     npm run mutants -- --folder http --sample 40 --seed 1
 *     npm run mutants -- --at src/http/range.ts:40
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { applyMutation, type Mutation, mutationsOf, readTrees, shuffle } from './support/mutations.ts'

/** The folders of test/ that hold what a folder of src/ promises; the others reach it by accident. */
const testFolders: Readonly<Record<string, readonly string[]>> = {
  http: ['http', 'rest', 'front', 'server'],
  service: ['service', 'rest', 'store', 'host', 'contract'],
  rest: ['rest', 'service', 'host'],
  soap: ['soap', 'client', 'host', 'front'],
  store: ['store', 'service', 'host'],
}

type Outcome = 'killed' | 'survived' | 'timeout' | 'not reached'
interface Mutant extends Mutation {
  readonly folder: string
  readonly file: string
  readonly text: string
}
interface TestFile {
  readonly path: string
  readonly tookMs: number
  /** By source file: the ranges that V8 counted, innermost last where two hold the same place. */
  readonly reached: ReadonlyMap<string, readonly Range[]>
}
interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}
interface Run {
  readonly result: 'passed' | 'failed' | 'timeout'
  readonly tookMs: number
}

const root = join(import.meta.dirname, '..')
const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', multiple: true },
    at: { type: 'string', multiple: true },
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    'base-limit': { type: 'string', default: '120' },
  },
})
const sampleSize = wholeNumber('sample', options.sample)
const seed = wholeNumber('seed', options.seed)
const baseLimitMs = wholeNumber('base-limit', options['base-limit']) * 1000

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Error(`--${name} ${text} is not a whole number`)
}

const places = (options.at ?? []).map(place => {
  const found = /^(src\/(\w+)\/.*\.ts):(\d+)$/.exec(place)
  if (!found) throw new Error(`--at ${place} is not a line of a source file: write src/http/range.ts:40`)
  return { folder: found[2]!, file: found[1]!, line: Number(found[3]) }
})
const folders =
  options.folder ?? (places.length > 0 ? [...new Set(places.map(at => at.folder))] : Object.keys(testFolders))
const unknown = folders.find(folder => !(folder in testFolders))
if (unknown !== undefined)
  throw new Error(`no tests are named for the folder ${unknown}: it is one of ${Object.keys(testFolders).join(', ')}`)

/** What git tracks, and what it would: no build, no data; the packages are linked. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'diglot-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of listed.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Ends at the first test that fails: whether more of them fail is of no interest. */
function runTest(copy: string, path: string, limitMs: number, coverageFolder?: string): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>()
  const begunAt = performance.now()
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--conditions=diglot-source', '--test-reporter=tap', path], {
    cwd: copy,
    detached: true, // a group of its own: what a test starts ends with it
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...environment,
      DIGLOT_SUITES: process.env['DIGLOT_SUITES'] ?? join(root, '..', 'shared', 'suites'),
      ...(coverageFolder !== undefined && { NODE_V8_COVERAGE: coverageFolder }),
    },
  })
  const end = (result: Run['result']): void => {
    clearTimeout(timer)
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch (why) {
      if ((why as NodeJS.ErrnoException).code !== 'ESRCH') throw why
    }
    resolve({ result, tookMs: performance.now() - begunAt })
  }
  const timer = setTimeout(() => end('timeout'), limitMs)
  let line = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (line + chunk).split('\n')
    line = lines.pop() ?? ''
    if (lines.some(each => /^\s*not ok (?!.*# (?:TODO|SKIP)\b)/.test(each))) end('failed')
  })
  child.on('close', code => end(code === 0 ? 'passed' : 'failed'))
  return promise
}

/** One run of each test file with nothing changed: whether it passes, how long it takes, what it reaches. */
async function measureTests(copy: string, paths: readonly string[]): Promise<readonly TestFile[]> {
  const measured: TestFile[] = []
  for (const path of paths) {
    const coverageFolder = mkdtempSync(join(tmpdir(), 'diglot-reached-'))
    try {
      const { result, tookMs } = await runTest(copy, path, baseLimitMs, coverageFolder)
      if (result === 'passed') measured.push({ path, tookMs, reached: readReached(copy, coverageFolder) })
      else console.log(`left out: ${path} (${result} with nothing changed)`)
    } finally {
      rmSync(coverageFolder, { recursive: true, force: true })
    }
  }
  return measured.sort((a, b) => a.tookMs - b.tookMs)
}

function readReached(copy: string, coverageFolder: string): ReadonlyMap<string, readonly Range[]> {
  const prefix = pathToFileURL(join(copy, 'src')).href
  const reached = new Map<string, readonly Range[]>()
  for (const name of readdirSync(coverageFolder)) {
    const { result } = JSON.parse(readFileSync(join(coverageFolder, name), 'utf8')) as {
      result: readonly { url: string; functions: readonly { ranges: readonly Range[] }[] }[]
    }
    for (const { url, functions } of result.filter(each => each.url.startsWith(prefix))) {
      const file = `src${url.slice(prefix.length).replace(/\?.*/, '')}`
      reached.set(file, [...(reached.get(file) ?? []), ...functions.flatMap(each => each.ranges)])
    }
  }
  return reached
}

/** The innermost range that holds the place decides; of equal ones (two processes), any that was entered. */
function reaches(test: TestFile, mutant: Mutant): boolean {
  const ranges = (test.reached.get(mutant.file) ?? []).filter(
    ({ startOffset, endOffset }) => startOffset <= mutant.start && mutant.end <= endOffset,
  )
  const size = Math.min(...ranges.map(({ startOffset, endOffset }) => endOffset - startOffset))
  return ranges.some(({ startOffset, endOffset, count }) => endOffset - startOffset === size && count > 0)
}

async function tryMutant(copy: string, mutant: Mutant, tests: readonly TestFile[]): Promise<Outcome> {
  // A test that reaches few files is about them: it notices the change, and at once.
  const reaching = tests.filter(test => reaches(test, mutant)).sort((a, b) => a.reached.size - b.reached.size)
  if (reaching.length === 0) return 'not reached'
  const path = join(copy, mutant.file)
  writeFileSync(path, applyMutation(mutant.text, mutant))
  try {
    for (const test of reaching) {
      const { result } = await runTest(copy, test.path, 10_000 + 5 * test.tookMs)
      if (result !== 'passed') return result === 'failed' ? 'killed' : 'timeout'
    }
    return 'survived'
  } finally {
    writeFileSync(path, mutant.text)
  }
}

function lineOf({ text, start }: Mutant): number {
  return text.slice(0, start).split('\n').length
}

function describeMutant(mutant: Mutant): string {
  const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}…` : text).replaceAll(/\s+/g, ' ')
  const was = short(mutant.text.slice(mutant.start, mutant.end))
  return `${mutant.file}:${lineOf(mutant)} ${mutant.kind}: ${was} → ${short(mutant.replacement)}`
}

function mutantsOf(copy: string, folder: string): readonly Mutant[] {
  const mutants: Mutant[] = []
  const files = globSync(`src/${folder}/**/*.ts`, { cwd: copy }).sort()
  readTrees(
    join(copy, 'tsconfig.json'),
    files.map(file => join(copy, file)),
    tree => {
      const file = relative(copy, tree.fileName).replaceAll('\\', '/')
      for (const mutation of mutationsOf(tree)) mutants.push({ ...mutation, folder, file, text: tree.text })
    },
  )
  return mutants
}

function chooseMutants(copy: string, folder: string): readonly Mutant[] {
  const all = mutantsOf(copy, folder)
  const chosen =
    places.length > 0
      ? all.filter(mutant => places.some(({ file, line }) => file === mutant.file && line === lineOf(mutant)))
      : shuffle(all, seed).slice(0, sampleSize)
  console.log(`${folder}: ${chosen.length} of ${all.length} changes, seed ${seed}`)
  return chosen
}

const copy = copyCheckout()
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
let isInterrupted = false // Ctrl-C: the change in hand is tried to its end, then the score so far is printed
process.on('SIGINT', () => {
  isInterrupted = true
})
process.on('SIGTERM', () => process.exit())

const measured = new Map<string, readonly TestFile[]>()
for (const folder of folders) {
  if (isInterrupted) break
  const tests: TestFile[] = []
  for (const testFolder of testFolders[folder] ?? []) {
    const known = measured.get(testFolder)
    const found = known ?? (await measureTests(copy, globSync(`test/${testFolder}/**/*.test.ts`, { cwd: copy }).sort()))
    measured.set(testFolder, found)
    tests.push(...found)
  }
  const counts: Record<Outcome, number> = { killed: 0, survived: 0, timeout: 0, 'not reached': 0 }
  for (const mutant of chooseMutants(copy, folder)) {
    if (isInterrupted) break
    const outcome = await tryMutant(copy, mutant, tests)
    counts[outcome] += 1
    if (outcome !== 'killed') console.log(`${outcome}: ${describeMutant(mutant)}`)
  }
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const noticed = counts.killed + counts.timeout
  console.log(
    `${folder}: ${noticed} of ${total} noticed (${total === 0 ? '–' : Math.round((100 * noticed) / total)} %), seed ${seed}: ${counts.killed} killed, ${counts.timeout} timeouts, ${counts.survived} survived, ${counts['not reached']} reached by no test`,
  )
}
