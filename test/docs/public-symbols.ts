/** What the entries of the package export, with their docstrings, read from the text of src/. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { checkout } from '../support/linked-project.ts'

export interface PublicSymbol {
  readonly name: string
  /** Below src/. */
  readonly file: string
  /** As Markdown: without the signs of the comment. */
  readonly docstring: string | undefined
  /** Its declaration without a body. */
  readonly signature: string
}

export interface PackageEntry {
  /** What is imported, such as `diglot/client`. */
  readonly specifier: string
  readonly docstring: string | undefined
  readonly symbols: readonly PublicSymbol[]
}

const manifest: { readonly exports: Readonly<Record<string, string | { readonly 'diglot-source': string }>> } =
  JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
const sourceOf = (file: string): string => readFileSync(join(checkout, 'src', file), 'utf8')

export const listEntries = (): readonly PackageEntry[] =>
  Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return []
    const file = target['diglot-source'].replace('./src/', '')
    const symbols = exportsOf(file).map(([name, home]) => readSymbol(name, home))
    return { specifier: posix.join('diglot', path), docstring: headOf(sourceOf(file)), symbols }
  })

/** Exported name → the file that declares it. */
function exportsOf(file: string): readonly (readonly [name: string, home: string])[] {
  const text = withoutComments(sourceOf(file))
  const resolve = (from: string): string => posix.join(posix.dirname(file), from)
  const all = [...text.matchAll(/^export \* from '([^']+)'/gm)].flatMap(([, from = '']) => exportsOf(resolve(from)))
  const named = [...text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm)].flatMap(
    ([, list = '', from]) =>
      namesIn(list).map(name => [name, from === undefined ? homeOf(text, file, name) : resolve(from)] as const),
  )
  const own = [...text.matchAll(declarationHead)].map(([, , name = '']) => [name, file] as const)
  return [...all, ...named, ...own].sort(([a], [b]) => (a < b ? -1 : 1))
}

const declarationHead =
  /^export (?:declare )?(?:abstract )?(?:async )?(function\*?|const|class|interface|type|enum) (\w+)/gm
const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')
const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map(each => each.replace(/\btype /, '').trim())
    .filter(Boolean)

/** A name that the file imports, and exports again. */
function homeOf(text: string, file: string, name: string): string {
  for (const [, list = '', from = ''] of text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']+)'/gm))
    if (namesIn(list).includes(name)) return posix.join(posix.dirname(file), from)
  return file
}

function readSymbol(name: string, file: string): PublicSymbol {
  const text = sourceOf(file)
  const head = new RegExp(
    String.raw`^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|class|interface|type|enum) ${name}\b`,
    'm',
  ).exec(text)
  if (!head) {
    const further = exportsOf(file).find(([other, home]) => other === name && home !== file)
    if (further) return readSymbol(name, further[1])
    throw new Error(`${name} is not declared in ${file}`)
  }
  const before = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?:\/\/ biome-ignore [^\n]*\n)?$/.exec(text.slice(0, head.index))
  return {
    name,
    file,
    docstring: before?.[1] && toMarkdown(before[1]),
    signature: readSignature(text.slice(head.index)),
  }
}

/** The comment at the head of a file. */
const headOf = (text: string): string | undefined => {
  const head = /^(?:#![^\n]*\n)?\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n/.exec(text)
  return head?.[1] && toMarkdown(head[1])
}

const toMarkdown = (comment: string): string =>
  comment
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .trim()

/** Up to the body of a function or a class; interfaces and types as they are written. */
function readSignature(text: string): string {
  const declaration = text.slice(0, /\n(?=\S)(?![)}\]>])/.exec(text)?.index ?? text.length).trimEnd()
  const isData = /^export (?:declare )?(?:interface|type)/.test(declaration)
  const whole = declaration.replace(/^export (?:declare )?/, '')
  if (isData) return whole
  if (/^(?:abstract )?class/.test(whole)) return writeClass(whole)
  if (whole.startsWith('const')) return /^const \w+(?:: [^=]+?(?= = )|)/.exec(whole)?.[0] ?? whole
  return whole.slice(0, bodyAt(whole)).trimEnd()
}

/** The head of a class and its public members, each with its comment and without its body. */
function writeClass(text: string): string {
  const head = text.slice(0, text.indexOf('{')).trimEnd()
  const members = listMembers(text).flatMap(writeMember)
  return members.length === 0 ? head : [`${head} {`, ...members, '}'].join('\n')
}

/** What stands at the indentation of members, from one to the next, with the comment before it. */
function listMembers(text: string): readonly string[] {
  const members: string[] = []
  const isComment = (member: string | undefined) =>
    member !== undefined && /^ {2}\/\*\*(?:(?!\*\/)[\s\S])*(?:\*\/)?$/.test(member)
  for (const line of text.split('\n').slice(1)) {
    const begins = /^ {2}[^\s}\])>]/.test(line) && !isComment(members.at(-1))
    if (begins) members.push(line)
    else if (members.length > 0) members.push(`${members.pop()}\n${line}`)
  }
  return members
}

function writeMember(member: string): string[] {
  const [, comment = '', code = ''] = /^((?: {2}\/\*\*[\s\S]*?\*\/\n)?)([\s\S]*)$/.exec(member) ?? []
  const declaration = code.replace(/\n}?\s*$/, '').trimEnd()
  if (
    /^ {2}(?:(?:readonly |get |static )?#|private |protected |\/\/|override readonly name\b|static \{)/.test(
      declaration,
    )
  )
    return []
  const isFunction = /^ {2}(?:static |async |override |get |set |\*)*[\w[\].]+(?:<[^(]*>)?\(/.test(declaration)
  const end = isFunction ? bodyAt(declaration) : (/ = /.exec(declaration)?.index ?? declaration.length)
  return [`${comment}${declaration.slice(0, end).trimEnd()}`]
}

/** Where the body of a function begins: the last "{" at the end of a line that is not within brackets. */
function bodyAt(text: string): number {
  let depth = 0
  for (const found of text.matchAll(/[([{<)\]}>]|=>/g)) {
    const sign = found[0]
    if (sign === '=>') continue
    if (
      sign === '{' &&
      depth === 0 &&
      /^\{ *\n/.test(text.slice(found.index)) &&
      !/[:|&<] *$/.test(text.slice(0, found.index))
    )
      return found.index
    depth += '([{<'.includes(sign) ? 1 : -1
  }
  return text.length
}
