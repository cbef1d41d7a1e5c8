/**
 * Converts regular expressions of XML Schema (Part 2, appendix F) to JavaScript's. They differ in
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
/** Blocks of Unicode by the names of appendix F.1.1, each from its first to its last character. */
const blockTexts: readonly string[] = [
  'BasicLatin 0 7F, Latin-1Supplement 80 FF, LatinExtended-A 100 17F, LatinExtended-B 180 24F',
  'IPAExtensions 250 2AF, SpacingModifierLetters 2B0 2FF, CombiningDiacriticalMarks 300 36F, Greek 370 3FF',
  'Cyrillic 400 4FF, Armenian 530 58F, Hebrew 590 5FF, Arabic 600 6FF, Syriac 700 74F, Thaana 780 7BF',
  'Devanagari 900 97F, Bengali 980 9FF, Gurmukhi A00 A7F, Gujarati A80 AFF, Oriya B00 B7F, Tamil B80 BFF',
  'Telugu C00 C7F, Kannada C80 CFF, Malayalam D00 D7F, Sinhala D80 DFF, Thai E00 E7F, Lao E80 EFF',
  'Tibetan F00 FFF, Myanmar 1000 109F, Georgian 10A0 10FF, HangulJamo 1100 11FF, Ethiopic 1200 137F',
  'Cherokee 13A0 13FF, UnifiedCanadianAboriginalSyllabics 1400 167F, Ogham 1680 169F, Runic 16A0 16FF',
  'Khmer 1780 17FF, Mongolian 1800 18AF, LatinExtendedAdditional 1E00 1EFF, GreekExtended 1F00 1FFF',
  'GeneralPunctuation 2000 206F, SuperscriptsandSubscripts 2070 209F, CurrencySymbols 20A0 20CF',
  'CombiningMarksforSymbols 20D0 20FF, LetterlikeSymbols 2100 214F, NumberForms 2150 218F, Arrows 2190 21FF',
  'MathematicalOperators 2200 22FF, MiscellaneousTechnical 2300 23FF, ControlPictures 2400 243F',
  'OpticalCharacterRecognition 2440 245F, EnclosedAlphanumerics 2460 24FF, BoxDrawing 2500 257F',
  'BlockElements 2580 259F, GeometricShapes 25A0 25FF, MiscellaneousSymbols 2600 26FF, Dingbats 2700 27BF',
  'BraillePatterns 2800 28FF, CJKRadicalsSupplement 2E80 2EFF, KangxiRadicals 2F00 2FDF',
  'IdeographicDescriptionCharacters 2FF0 2FFF, CJKSymbolsandPunctuation 3000 303F, Hiragana 3040 309F',
  'Katakana 30A0 30FF, Bopomofo 3100 312F, HangulCompatibilityJamo 3130 318F, Kanbun 3190 319F',
  'BopomofoExtended 31A0 31BF, EnclosedCJKLettersandMonths 3200 32FF, CJKCompatibility 3300 33FF',
  'CJKUnifiedIdeographsExtensionA 3400 4DBF, CJKUnifiedIdeographs 4E00 9FFF, YiSyllables A000 A48F',
  'YiRadicals A490 A4CF, HangulSyllables AC00 D7A3',
  'CJKCompatibilityIdeographs F900 FAFF, AlphabeticPresentationForms FB00 FB4F',
  'ArabicPresentationForms-A FB50 FDFF, CombiningHalfMarks FE20 FE2F, CJKCompatibilityForms FE30 FE4F',
  'SmallFormVariants FE50 FE6F, ArabicPresentationForms-B FE70 FEFE, HalfwidthandFullwidthForms FF00 FFEF',
  'OldItalic 10300 1032F, Gothic 10330 1034F, Deseret 10400 1044F, ByzantineMusicalSymbols 1D000 1D0FF',
  'MusicalSymbols 1D100 1D1FF, MathematicalAlphanumericSymbols 1D400 1D7FF',
  'CJKUnifiedIdeographsExtensionB 20000 2A6DF, CJKCompatibilityIdeographsSupplement 2F800 2FA1F',
  'Tags E0000 E007F',
]
const blocks: ReadonlyMap<string, string> = new Map([
  ...blockTexts
    .flatMap(line => line.split(', '))
    .map(text => {
      const [name = '', first, last] = text.split(' ')
      return [name, `\\u{${first}}-\\u{${last}}`] as const
    }),
  ['Specials', '\\u{FEFF}\\u{FFF0}-\\u{FFFD}'],
  ['PrivateUse', '\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}'],
])

/** The expression, anchored at both ends; undefined if the text is not a pattern of XML Schema. */
export const compileXsdPattern = (pattern: string): RegExp | undefined =>
  compile(pattern, source => new RegExp(`^(?:${source})$`, 'v'))

/**
 * Whether a text matches, in a time that grows no faster than its length; undefined if the pattern
 * is invalid, or has more steps than are followed.
 */
export const compileXsdMatcher = (pattern: string): ((text: string) => boolean) | undefined =>
  compile(pattern, source => {
    const expression = new RegExp(`^(?:${source})$`, 'v')
    if (hasOneWay(source)) return text => expression.test(text)
    const linear = new LinearPattern(source)
    return text => linear.test(text)
  })

/**
 * A single quantifier of one character never backtracks: any engine matches it in one way. Each bar
 * may double the ways, as in `(a|aa)(a|aa)`.
 */
function hasOneWay(source: string): boolean {
  const bare = source.replace(/\\[\s\S]/g, 'a').replace(/\[[^\]]*\]+/g, 'a')
  const quantifiers = bare.match(/[*+]|\?(?!:)|\{\d+,\d*\}|\)\{/g) ?? []
  const bars = bare.match(/\|/g) ?? []
  return quantifiers.length <= 1 && bars.length <= 4 && !/\)[*+{]/.test(bare)
}

function compile<T>(pattern: string, make: (source: string) => T): T | undefined {
  try {
    return make(new PatternConverter(pattern).convert())
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

/** A mistake in the pattern is a SyntaxError, like one that JavaScript finds. */
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
    const set = letterClasses[letter]
    // Others, such as \b and \u0041, belong to other languages, where they do not mean their
    // letter.
    if (set === undefined && /[A-Za-z0-9]/.test(letter)) throw new SyntaxError(`\\${letter} is not an escape`)
    return set ?? escapeSet(letter)
  }

  #convertCategory(letter: string): string {
    if (this.#take() !== '{') throw new SyntaxError('a category has no name')
    const end = this.#characters.indexOf('}', this.#at)
    const name = this.#characters.slice(this.#at, end).join('')
    this.#at = end + 1
    if (!name.startsWith('Is')) return `\\${letter}{${name}}`
    const block = blocks.get(name.slice(2))
    if (block === undefined) throw new SyntaxError(`the block ${name} is unknown`)
    return letter === 'p' ? `[${block}]` : `[^${block}]`
  }

  /** Starts after its opening bracket, and ends after the closing one. */
  #convertClass(): string {
    const isNegated = this.#characters[this.#at] === '^'
    if (isNegated) this.#at++
    let members = ''
    for (let character = this.#take(); character !== ']'; character = this.#take()) {
      if (character === '-' && members !== '' && this.#isAhead('-') && !this.#isAhead('-['))
        throw new SyntaxError('a hyphen cannot end a range')
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

  #isAhead(text: string): boolean {
    return [...text].every((character, index) => this.#characters[this.#at + index] === character)
  }

  #isRange(members: string): boolean {
    return members !== '' && this.#characters[this.#at] !== ']'
  }
}

const escapeSet = (character: string): string =>
  /[()[\]{}/\\|^$*+?.-]/.test(character) || /[&!#%,:;<=>@`~]/.test(character)
    ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
    : character
