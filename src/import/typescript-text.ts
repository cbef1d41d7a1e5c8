/** Pieces of TypeScript as a person would write them: literals, keys, comments. */
import { showControls } from '../base/markup.ts'
import type { Loss } from './loss.ts'

/** Lines in the head of the file; the command prints all of them. */
const lossesShown = 10

export const quoteLiteral = (text: string): string =>
  `'${text
    .replace(/[\\']/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/[\u2028\u2029]|[^\P{C}\u200c\u200d]/gu, escapeUnseen)}'`
/** One that cannot be seen, or that a file cannot hold. */
const escapeUnseen = (each: string): string => {
  const code = (each.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
/** A text, a number, a boolean or a 64-bit integer. */
export const writeScalarLiteral = (value: unknown): string =>
  typeof value === 'string' ? quoteLiteral(value) : typeof value === 'bigint' ? `${value}n` : String(value)
export const writeMemberKey = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoteLiteral(key))

export function writeDocComment(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  const lines = wrapText(text.replaceAll('*/', '* /'), 92 - indent.length)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map(line => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of showControls(text).replaceAll('*/', '* /').split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** The head comment of a file: its source, and what it does not express. */
export function writeHeadComment(source: string, losses: readonly Loss[]): string {
  const lines = [`The contract of ${source}, imported.`]
  if (losses.length > 0) {
    lines.push('What it leaves out of that document:')
    for (const { place, detail } of losses.slice(0, lossesShown)) lines.push(`- ${place}: ${detail}`)
    if (losses.length > lossesShown) lines.push(`- and ${losses.length - lossesShown} more`)
  }
  return `/**\n${lines
    .flatMap(line => wrapText(line, 96))
    .map(line => ` * ${line}`.trimEnd())
    .join('\n')}\n */`
}

/** Plain data as an expression on one line. */
export function writeConstant(value: unknown): string {
  if (typeof value === 'string') return quoteLiteral(value)
  if (Array.isArray(value)) return `[${value.map(writeConstant).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([key, each]) => `${writeMemberKey(key)}: ${writeConstant(each)}`)
  return `{ ${members.join(', ')} }`
}
