/**
 * What src/ declares, read from its text: each top-level declaration begins a line, as the
 * formatter writes it.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const sourceRoot = join(import.meta.dirname, '..', '..', 'src')

export interface Declaration {
  readonly file: string
  readonly name: string
  readonly kind: 'type' | 'function' | 'value'
  readonly isExported: boolean
  /** Written after load: `let`, or a map or set of its own; what base/memo.ts makes is kept there. */
  readonly isMemory: boolean
  /** From its first line to its last, comments before it apart. */
  readonly lines: number
}

export const sourceFiles: readonly string[] = globSync('**/*.ts', { cwd: sourceRoot })
  .map(file => file.replaceAll('\\', '/'))
  .sort()

const texts = new Map(sourceFiles.map(file => [file, readFileSync(join(sourceRoot, file), 'utf8')]))
export const sourceOf = (file: string): string => texts.get(file) ?? ''
/** Without comments; what is in quotes stays. */
export const codeOf = (file: string): string => sourceOf(file).replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')
export const commentsOf = (file: string): readonly string[] =>
  [...sourceOf(file).matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g)].map(found => found[0])

const head =
  /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|const|let|class|interface|type|enum) (\w+)/gm

export function declarationsOf(file: string): readonly Declaration[] {
  const code = codeOf(file)
  return [...code.matchAll(head)].map(found => {
    const [whole, exported, word = '', name = ''] = found
    const rest = code.slice(found.index + whole.length)
    const end = /\n(?=\S)(?![)}\]])/.exec(rest)?.index ?? rest.length
    const text = rest.slice(0, end)
    return {
      file,
      name,
      kind: kindOf(word, text),
      isExported: exported !== undefined,
      isMemory: word === 'let' || (word === 'const' && isContainer(text) && isWritten(code, name)),
      lines: text.trimEnd().split('\n').length,
    }
  })
}

function kindOf(word: string, text: string): Declaration['kind'] {
  if (word.startsWith('function')) return 'function'
  if (word !== 'const' && word !== 'let') return 'type' // a class is a type, too
  return /^(?:: [^=]*?)? =\s+(?:async )?(?:<[^>]*>)?(?:\w+ =>|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:: (?:[^=]|=>)*?)? =>)/.test(
    text,
  ) ||
    /^: (?:<[^>]*>)?\((?:[^()]|\([^()]*\))*\) => (?:[^=]|=>)*? =\s/.test(text) || // a function type, and not a record of functions
    /^(?:: .*?)? =\s+memoize\w*\(/s.test(text)
    ? 'function'
    : 'value'
}

const isContainer = (text: string): boolean => /^(?:: [^=]*?)? =\s+new (?:Weak)?(?:Map|Set|BoundedCache)\b/s.test(text)
const isWritten = (code: string, name: string): boolean =>
  new RegExp(`\\b${name}\\.(?:set|add|delete|clear)\\(`).test(code)

export const declarations: readonly Declaration[] = sourceFiles.flatMap(declarationsOf)
