/**
 * Regular expressions of XML Schema (Part 2, appendix F) as those of JavaScript. They differ in
 * anchors, in the classes \i, \c and \w, in blocks of characters and in the subtraction of classes.
 */

import { LinearPattern } from '../../base/linear-pattern.ts'

const nameStart =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const nameChar = `${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}`
/** The classes of one letter, as sets. */
const letterClasses: Readonly<Record<string, string>> = {
  s: '[ \\t\\n\\r]',
  S: '[^ \\t\\n\\r]',
  i: `[${nameStart}]`,
  I: `[^${nameStart}]`,
  c: `[${nameChar}]`,
  C: `[^${nameChar}]`,
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: '[^\\p{P}\\p{Z}\\p{C}]',
  W: '[\\p{P}\\p{Z}\\p{C}]',
}
/** Blocks of Unicode by the names of appendix F.1.1, the ones that occur in schemas. */
const blocks: Readonly<Record<string, string>> = {
  BasicLatin: '\\u{0}-\\u{7F}',
  'Latin-1Supplement': '\\u{80}-\\u{FF}',
  'LatinExtended-A': '\\u{100}-\\u{17F}',
  'LatinExtended-B': '\\u{180}-\\u{24F}',
  IPAExtensions: '\\u{250}-\\u{2AF}',
  SpacingModifierLetters: '\\u{2B0}-\\u{2FF}',
  CombiningDiacriticalMarks: '\\u{300}-\\u{36F}',
  Greek: '\\u{370}-\\u{3FF}',
  Cyrillic: '\\u{400}-\\u{4FF}',
  Hebrew: '\\u{590}-\\u{5FF}',
  Arabic: '\\u{600}-\\u{6FF}',
  Devanagari: '\\u{900}-\\u{97F}',
  Thai: '\\u{E00}-\\u{E7F}',
  LatinExtendedAdditional: '\\u{1E00}-\\u{1EFF}',
  GreekExtended: '\\u{1F00}-\\u{1FFF}',
  GeneralPunctuation: '\\u{2000}-\\u{206F}',
  CurrencySymbols: '\\u{20A0}-\\u{20CF}',
  Hiragana: '\\u{3040}-\\u{309F}',
  Katakana: '\\u{30A0}-\\u{30FF}',
  CJKUnifiedIdeographs: '\\u{4E00}-\\u{9FFF}',
  HangulSyllables: '\\u{AC00}-\\u{D7A3}',
}

/** The expression, anchored at both ends; undefined for text that is not one of XML Schema. */
export const compileXsdPattern = (pattern: string): RegExp | undefined =>
  compile(pattern, source => new RegExp(`^(?:${source})$`, 'v'))

/**
 * Whether a text matches, in a time that grows with its length and no faster; undefined for text
 * that is not a pattern, or one of more steps than are followed.
 */
export const compileXsdMatcher = (pattern: string): ((text: string) => boolean) | undefined =>
  compile(pattern, source => {
    const expression = new RegExp(`^(?:${source})$`, 'v')
    if (hasOneWay(source)) return text => expression.test(text)
    const linear = new LinearPattern(source)
    return text => linear.test(text)
  })

/** A single quantifier of one character leads back nowhere: any engine takes it in one way. */
function hasOneWay(source: string): boolean {
  const bare = source.replace(/\\[\s\S]/g, 'a').replace(/\[[^\]]*\]+/g, 'a')
  const quantifiers = bare.match(/[*+]|\?(?!:)|\{\d+,\d*\}|\)\{/g) ?? []
  return quantifiers.length <= 1 && !/\)[*+{]/.test(bare)
}

function compile<T>(pattern: string, make: (source: string) => T): T | undefined {
  try {
    return make(new PatternConverter(pattern).convert())
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

/** A fault of the pattern is a SyntaxError, as one that JavaScript finds is. */
class PatternConverter {
  readonly #characters: readonly string[]
  #at = 0
  constructor(pattern: string) {
    this.#characters = [...pattern]
  }

  convert(): string {
    let as = ''
    while (this.#at < this.#characters.length) {
      const character = this.#take()
      if (character === '[') as += this.#convertClass()
      else if (character === '\\') as += this.#convertEscape()
      else if (character === '.') as += '[^\\n\\r]'
      else if (character === '(') as += '(?:'
      else if (character === '^' || character === '$' || character === '/') as += `\\${character}`
      else as += character
    }
    return as
  }

  #take(): string {
    const character = this.#characters[this.#at++]
    if (character === undefined) throw new SyntaxError('the pattern ends early')
    return character
  }

  #convertEscape(): string {
    const letter = this.#take()
    if (letter === 'n' || letter === 'r' || letter === 't') return `\\${letter}`
    if (letter === 'p' || letter === 'P') return this.#convertCategory(letter)
    return letterClasses[letter] ?? escapeSet(letter)
  }

  #convertCategory(letter: string): string {
    if (this.#take() !== '{') throw new SyntaxError('a category has no name')
    const end = this.#characters.indexOf('}', this.#at)
    const name = this.#characters.slice(this.#at, end).join('')
    this.#at = end + 1
    if (!name.startsWith('Is')) return `\\${letter}{${name}}`
    const block = blocks[name.slice(2)]
    if (block === undefined) throw new SyntaxError(`the block ${name} is unknown`)
    return letter === 'p' ? `[${block}]` : `[^${block}]`
  }

  /** From behind its bracket to behind the other one. */
  #convertClass(): string {
    const isNegated = this.#characters[this.#at] === '^'
    if (isNegated) this.#at++
    let members = ''
    for (let character = this.#take(); character !== ']'; character = this.#take()) {
      if (character === '-' && this.#characters[this.#at] === '[') {
        this.#at++
        const without = this.#convertClass()
        if (this.#take() !== ']') throw new SyntaxError('a subtraction ends its class')
        return `[[${isNegated ? '^' : ''}${members}]--${without}]`
      }
      if (character === '\\') members += this.#convertEscape()
      else if (character === '-' && this.#isRange(members)) members += '-'
      else members += escapeSet(character)
    }
    return `[${isNegated ? '^' : ''}${members}]`
  }

  #isRange(members: string): boolean {
    return members !== '' && this.#characters[this.#at] !== ']'
  }
}

const escapeSet = (character: string): string =>
  /[()[\]{}/\\|^$*+?.-]/.test(character) || /[&!#%,:;<=>@`~]/.test(character)
    ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
    : character
