/**
 * Imports again into an edited file: whatever a person has changed, added or removed stays,
 * everything else is written anew. The file ends with a digest of each declaration as written;
 * white space, quotes and commas do not count, so a formatter changes nothing.
 */
import { createHash } from 'node:crypto'

/** A statement at the beginning of a line, with the comment above it. */
interface FileStatement {
  /** `const orders`; for anything else its text. */
  readonly key: string
  readonly text: string
  /** An empty line precedes it. */
  readonly isApart: boolean
}
interface MergedFile {
  readonly text: string
  /** Declarations that were kept although the document now says something else. */
  readonly notes: readonly string[]
}

const recordHead = '// What `diglot import` has written here; the rest is kept when it imports again.'
const recordLine = /^\/\/ {3}(\S.*)$/
const widthMax = 96

/** The file with the digests of its statements appended. */
export function appendRecord(text: string): string {
  const entries = splitStatements(text).statements.map(({ key, text: own }) => `${key} ${digestText(own)}`)
  const lines: string[] = []
  for (const entry of entries) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + entry.length < widthMax) lines[lines.length - 1] = `${last}; ${entry}`
    else lines.push(entry)
  }
  return `${text.trimEnd()}\n\n${[recordHead, ...lines.map(line => `//   ${line}`)].join('\n')}\n`
}

/**
 * @param fresh what would be written into an empty file
 * @returns undefined if the old file has no record, since no import wrote it
 */
export function mergeEdits(old: string, fresh: string): MergedFile | undefined {
  const [body = '', record] = old.split(recordHead, 2)
  if (record === undefined) return undefined
  const written = readRecord(record)
  const before = splitStatements(body)
  const after = splitStatements(fresh)
  const known = new Map(before.statements.map(each => [each.key, each]))
  const isOwn = ({ key, text }: FileStatement): boolean => written.get(key) !== digestText(text)
  const notes: string[] = []
  const merged = after.statements.flatMap(each => {
    const mine = known.get(each.key)
    const hasChanged = written.get(each.key) !== digestText(each.text)
    if (!mine && written.has(each.key)) {
      notes.push(`${nameInKey(each.key)}: was removed from the file and is left out`)
      return []
    }
    if (!mine || !isOwn(mine)) return [each]
    if (hasChanged && digestText(mine.text) !== digestText(each.text))
      notes.push(`${nameInKey(each.key)}: was edited and is kept; the document has changed it too`)
    return [mine]
  })
  const names = new Set(after.statements.map(({ key }) => key))
  const own = before.statements.filter(each => isOwn(each) && !names.has(each.key))
  for (const each of own) {
    if (written.has(each.key))
      notes.push(`${nameInKey(each.key)}: was edited and is kept; the document no longer has it`)
    merged.splice(findPlace(each, before.statements, merged), 0, each)
  }
  const code = merged.map(({ text, isApart }, at) => (at === 0 ? '' : isApart ? '\n\n' : '\n') + text).join('')
  const text = [`${after.head}\n${mergeImports(before.imports, after.imports, code)}`, code].join('\n\n')
  // The digests are those of what an import writes, so edits remain recognizable as edits.
  return { text: replaceRecord(`${text}\n`, fresh), notes }
}

const nameInKey = (key: string): string => key.replace(/^\w+ /, '')
const replaceRecord = (text: string, fresh: string): string => {
  const [, record = ''] = appendRecord(fresh).split(recordHead, 2)
  return `${text}\n${recordHead}${record}`
}

/** After the nearest statement before it that is still there. */
function findPlace(own: FileStatement, before: readonly FileStatement[], merged: readonly FileStatement[]): number {
  const places = new Map(merged.map(({ key }, i) => [key, i]))
  for (let i = before.indexOf(own) - 1; i >= 0; i--) {
    const place = places.get(before[i]?.key ?? '')
    if (place !== undefined) return place + 1
  }
  return 0
}

/** The names of both that the code uses; imports of other modules unchanged. */
function mergeImports(before: readonly string[], after: readonly string[], code: string): string {
  const isOurs = (line: string): boolean => /from ['"]diglot['"]/.test(line)
  const names = [...before, ...after].filter(isOurs).flatMap(line =>
    (/\{([\s\S]*)\}/.exec(line)?.[1] ?? '')
      .split(',')
      .map(each => each.trim())
      .filter(Boolean),
  )
  const used = [...new Set(names)].filter(each => {
    const local = each.split(/\s+/).at(-1) ?? ''
    return new RegExp(`(?<![${nameCharacters}.])${local.replaceAll('$', '\\$')}(?![${nameCharacters}])`, 'u').test(code)
  })
  return [`import { ${used.join(', ')} } from 'diglot'`, ...before.filter(line => !isOurs(line))].join('\n')
}

/** ECMAScript §12.7: names may have letters of any script. */
const nameCharacters = '\\p{ID_Continue}$'
const statementStart =
  /^(?:export|const|let|var|function|async|class|abstract|type|interface|enum|declare|import|namespace|\/\/|\/\*|[\p{ID_Start}_$][\p{ID_Continue}$.]*[(.])/u

interface SplitFile {
  /** The comment before the imports. */
  readonly head: string
  readonly imports: readonly string[]
  readonly statements: readonly FileStatement[]
}
function splitStatements(text: string): SplitFile {
  const blocks: string[][] = []
  let isOpen = true // only comments so far: the next lines belong to the block
  let isInComment = false
  for (const line of text.split('\n')) {
    const begins = !isInComment && statementStart.test(line)
    if (begins && !isOpen) blocks.push([line])
    else if (blocks.length === 0) blocks.push([line])
    else blocks.at(-1)?.push(line)
    const isComment = isInComment || /^\s*(?:\/\/|\/\*)/.test(line)
    if (/^\s*\/\*/.test(line) && !line.includes('*/')) isInComment = true
    else if (isInComment && line.includes('*/')) isInComment = false
    isOpen = isComment || (isOpen && line.trim() === '')
  }
  const all = blocks
    .map((lines, at) => ({ text: lines.join('\n').trim(), isApart: blocks[at - 1]?.at(-1)?.trim() === '' }))
    .filter(({ text }) => text !== '')
  const isImport = (block: string): boolean => /^import\b/.test(withoutComments(block))
  const texts = all.map(each => each.text)
  const first = texts.find(isImport) ?? ''
  const imports = texts.filter(isImport).map(withoutComments)
  const statements = all.flatMap(each => (isImport(each.text) ? [] : [{ ...each, key: keyOfStatement(each.text) }]))
  return { head: first.slice(0, first.length - withoutComments(first).length).trim(), imports, statements }
}
const withoutComments = (block: string): string => block.replace(/^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*\n))*\s*/, '')
function keyOfStatement(block: string): string {
  const code = withoutComments(`${block}\n`).trim()
  const [, kind, name] =
    /^(?:export\s+)?(?:declare\s+)?(?:async\s+|abstract\s+)?(const|let|var|function|class|type|interface|enum)\s+([\p{ID_Continue}$]+)/u.exec(
      code,
    ) ?? []
  return name === undefined ? code.replace(/[\s;]+/g, ' ').slice(0, 60) : `${kind} ${name}`
}

const digestText = (text: string): string =>
  createHash('sha256')
    .update(text.replaceAll('"', "'").replace(/[\s;,()]+/g, ''))
    .digest('hex')
    .slice(0, 12)
function readRecord(record: string): ReadonlyMap<string, string> {
  const entries = record.split('\n').flatMap(line => recordLine.exec(line)?.[1]?.split('; ') ?? [])
  return new Map(
    entries.map(entry => [entry.slice(0, entry.lastIndexOf(' ')), entry.slice(entry.lastIndexOf(' ') + 1)]),
  )
}
