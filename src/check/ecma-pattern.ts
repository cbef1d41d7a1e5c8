/**
 * Patterns of JSON Schema (ECMA-262 with the flag u, Validation §6.3.3), matched in a time that
 * grows with the text, so no description holds up a run. A pattern with lookaround, back
 * references, or anchors other than at the ends of the whole or of an alternative is not judged;
 * nor is one longer than `patternCharactersMax`.
 */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { LinearPattern } from '../base/linear-pattern.ts'
import { memoizeByText } from '../base/memo.ts'

/** Groups are read recursively: this many fit on any stack. */
export const patternCharactersMax = 1000

/** Whether a part of the text matches; undefined: the pattern is not judged. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  return pattern.length > patternCharactersMax ? undefined : compileOnce(pattern).matcher?.test(text)
}

const compileOnce = memoizeByText(
  (pattern: string) => ({ matcher: attempt(() => compileEcmaPattern(pattern), isSyntaxError) }),
  256,
  patternCharactersMax,
)

function compileEcmaPattern(pattern: string): LinearPattern {
  new RegExp(pattern, 'u') // throws for any other text, so the reader below may trust its syntax
  return new LinearPattern(new EcmaReader([...pattern]).convert())
}

const anything = '[\\s\\S]*'
/** Written by its number, so that it is a syntax character nowhere. */
const writeCharacter = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

const ofCode = (hexadecimal: string): string => String.fromCodePoint(Number.parseInt(hexadecimal, 16))
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', v: '\v', f: '\f', r: '\r', 0: '\0' }
const escapeForms: readonly { readonly form: RegExp; readonly read: (one: string, other: string) => string }[] = [
  { form: /^([tnvfr0])/, read: letter => controls[letter] ?? '' },
  { form: /^c([A-Za-z])/, read: letter => String.fromCharCode(letter.charCodeAt(0) % 32) },
  { form: /^x([0-9A-Fa-f]{2})/, read: ofCode },
  { form: /^u\{([0-9A-Fa-f]+)\}/, read: ofCode },
  { form: /^u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/i, read: (high, low) => ofCode(high) + ofCode(low) },
  { form: /^u([0-9A-Fa-f]{4})/, read: ofCode },
]

/** The grammar of ECMA-262 §22.2.1, written as the expression of a `LinearPattern`. */
class EcmaReader {
  readonly #characters: readonly string[]
  #at = 0
  constructor(characters: readonly string[]) {
    this.#characters = characters
  }

  convert(): string {
    const alternatives = [this.#alternative()]
    while (this.#take('|')) alternatives.push(this.#alternative())
    return alternatives.join('|')
  }

  /** An alternative of the whole pattern: unanchored, any text may precede and follow it. */
  #alternative(): string {
    const before = this.#take('^') ? '' : anything
    const source = this.#terms()
    const behind = this.#take('$') ? '' : anything
    if (!this.#isAtEnd && this.#peek() !== '|') throw new SyntaxError('an anchor stands within the pattern')
    return `${before}(?:${source})${behind}`
  }

  #terms(): string {
    let source = ''
    while (!this.#isAtEnd && !'|)$'.includes(this.#peek())) source += this.#atom() + this.#quantifier()
    return source
  }

  #atom(): string {
    const character = this.#next()
    if (character === '(') return this.#group()
    if (character === '[') return this.#class()
    if (character === '.') return character
    if (character === '^') throw new SyntaxError('an anchor stands within the pattern')
    return character === '\\' ? this.#escape() : writeCharacter(character)
  }

  /** Captures and names do not affect a match. */
  #group(): string {
    const [kind = ''] = /^\?(?::|<(?![=!])[^>]*>)/.exec(this.#rest()) ?? []
    if (kind === '' && this.#peek() === '?') throw new SyntaxError('a group looks around')
    this.#at += [...kind].length
    const alternatives = [this.#terms()]
    while (this.#take('|')) alternatives.push(this.#terms())
    if (!this.#take(')')) throw new SyntaxError('an anchor stands in a group')
    return `(?:${alternatives.join('|')})`
  }

  /** Lazy or greedy makes no difference to a match. */
  #quantifier(): string {
    const [found = ''] = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(this.#rest()) ?? []
    this.#at += found.length
    if (found !== '') this.#take('?')
    return found
  }

  #escape(): string {
    const letter = this.#peek()
    if (/^[bBk1-9]$/.test(letter)) throw new SyntaxError(`\\${letter} looks around or back`)
    return this.#classEscape() ?? writeCharacter(this.#escapedCharacter())
  }

  #class(): string {
    let members = this.#take('^') ? '^' : ''
    while (!this.#take(']')) {
      const first = this.#member()
      const isRange = this.#peek() === '-' && this.#characters[this.#at + 1] !== ']'
      if (isRange) this.#at++
      members += isRange ? `${first}-${this.#member()}` : first
    }
    return `[${members}]`
  }
  #member(): string {
    const character = this.#next()
    if (character !== '\\') return writeCharacter(character)
    if (this.#take('b')) return writeCharacter('\b')
    return this.#classEscape() ?? writeCharacter(this.#escapedCharacter())
  }

  /** Undefined: this is another escape. */
  #classEscape(): string | undefined {
    const [found] = /^(?:[dDwWsS]|[pP]\{[^}]*\})/.exec(this.#rest()) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    return `\\${found}`
  }

  /** §22.2.1 CharacterEscape. */
  #escapedCharacter(): string {
    for (const { form, read } of escapeForms) {
      const found = form.exec(this.#rest())
      if (!found) continue
      this.#at += found[0].length
      return read(found[1] ?? '', found[2] ?? '')
    }
    return this.#next() // a syntax character stands for itself
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#characters.length
  }
  #peek(): string {
    return this.#characters[this.#at] ?? ''
  }
  #next(): string {
    return this.#characters[this.#at++] ?? ''
  }
  #take(character: string): boolean {
    if (this.#peek() !== character || this.#isAtEnd) return false
    this.#at++
    return true
  }
  #rest(): string {
    return this.#characters.slice(this.#at, this.#at + 64).join('')
  }
}
