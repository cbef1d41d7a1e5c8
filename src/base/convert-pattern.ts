/**
 * Regular expressions of JavaScript with the flag u (ECMA-262 §22.2.1), written as the expressions
 * that `linear-pattern.ts` reads. Captures, names and laziness do not affect whether a text
 * matches. Their syntax is valid: `new RegExp(pattern, 'u')` has taken them.
 */

/**
 * For a pattern of which a part of the text has to match, as in JSON Schema (Validation §6.3.3).
 * @throws SyntaxError for lookaround, back references, and anchors other than at the ends of the
 *   whole or of an alternative
 */
export const convertSearchedPattern = (pattern: string): string => new EcmaReader([...pattern]).convertSearched()

/**
 * For the time that a pattern of a whole text takes: the pattern without what consumes nothing
 * (lookaround, anchors) and without back references, then what each lookaround looks for.
 */
export function convertConsumingParts(pattern: string): readonly string[] {
  const looks: string[] = []
  return [new EcmaReader([...pattern], looks).convertWhole(), ...looks]
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
  /** Receives the expressions of lookaround, where that, anchors and back references are left out. */
  readonly #looks: string[] | undefined
  #at = 0
  constructor(characters: readonly string[], looks?: string[]) {
    this.#characters = characters
    this.#looks = looks
  }

  convertSearched(): string {
    const alternatives = [this.#alternative()]
    while (this.#take('|')) alternatives.push(this.#alternative())
    return alternatives.join('|')
  }
  convertWhole(): string {
    const alternatives = [this.#terms()]
    while (this.#take('|')) alternatives.push(this.#terms())
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
    const ends = this.#looks ? '|)' : '|)$'
    while (!this.#isAtEnd && !ends.includes(this.#peek())) source += this.#atom() + this.#quantifier()
    return source
  }

  #atom(): string {
    const character = this.#next()
    if (character === '(') return this.#group()
    if (character === '[') return this.#class()
    if (character === '.') return character
    if (character === '^' || character === '$') return this.#leaveOut('an anchor stands within the pattern')
    return character === '\\' ? this.#escape() : writeCharacter(character)
  }

  #leaveOut(reason: string): '' {
    if (!this.#looks) throw new SyntaxError(reason)
    return ''
  }

  #group(): string {
    const [kind = ''] = /^\?(?::|<?[=!]|<[^>]*>)/.exec(this.#rest()) ?? []
    const isLook = /[=!]$/.test(kind)
    if (isLook) this.#leaveOut('a group looks around')
    this.#at += [...kind].length
    const source = this.convertWhole()
    if (!this.#take(')')) throw new SyntaxError('an anchor stands in a group')
    if (isLook) this.#looks?.push(source)
    return isLook ? '' : `(?:${source})`
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
    const [look] = /^(?:[bB]|k<[^>]*>|[1-9]\d*)/.exec(this.#rest()) ?? []
    if (look !== undefined) {
      this.#at += look.length
      return this.#leaveOut(`\\${letter} looks around or back`)
    }
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
