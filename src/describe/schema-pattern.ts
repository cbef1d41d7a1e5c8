/**
 * Patterns of a contract in the language of XML Schema. They are written in ASCII, because some
 * generators cannot read others: beyond ASCII a pattern may accept more than the contract's
 * pattern, never less.
 */

export interface SchemaPattern {
  readonly written: string
  /** Whether it accepts exactly the same texts. */
  readonly isExact: boolean
}

/**
 * A pattern (ECMAScript, Unicode mode, of the whole value) in the language of XML Schema Part 2
 * Appendix F. Undefined where there is no equivalent: lookaround, back references, boundaries and
 * the like.
 */
export function toSchemaPattern(pattern: string): SchemaPattern | undefined {
  let rest = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  // `^a|b$` anchors each half at one end.
  if (/^\^|\|/.test(pattern) && rest !== pattern && hasTopLevelBar(pattern)) return undefined
  let text = ''
  let isExact = true
  while (rest !== '') {
    const step = parseStep(rest)
    if (!step) return undefined
    text += writeStep(step)
    isExact &&= !step.isLoose
    rest = rest.slice(step.length)
  }
  return { written: text, isExact }
}

/** Whether there is a `|` outside all groups and classes. */
function hasTopLevelBar(pattern: string): boolean {
  let bare = pattern.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, '')
  for (let before = ''; before !== bare; ) {
    before = bare
    bare = bare.replace(/\([^()]*\)/g, '')
  }
  return bare.includes('|')
}

interface PatternStep {
  /** The part in ASCII; in a class, its members. */
  readonly as: string
  /** The length of the source in UTF-16 units. */
  readonly length: number
  /** It includes unspecified characters beyond ASCII. */
  readonly isLoose?: true
  /** A class that lists the characters which do not match. */
  readonly isNegated?: true
}
const stepOf = (as: string, length: number): PatternStep => ({ as, length })
const looseStep = (as: string, length: number): PatternStep => ({ as, length, isLoose: true })

/** Any character beyond ASCII; control characters that XML cannot carry do not matter. */
const beyondAscii = '[^\\t\\n\\r -~]'
function writeStep({ as, isLoose, isNegated }: PatternStep): string {
  if (!isLoose || isNegated) return as
  return as === '' ? beyondAscii : `(${as}|${beyondAscii})`
}

/** Whatever either language considers white space, a character is or is not. */
const anyCharacter = '[\\s\\S]'

function parseStep(rest: string): PatternStep | undefined {
  const group = /^\((\?[^)]?[^)]?)?/.exec(rest)
  if (group)
    return group[1] === undefined ? stepOf('(', 1) : group[1].startsWith('?:') ? stepOf('(', 3) : parseNamedGroup(rest)
  const quantifier = /^([*+?]|\{[0-9]+(?:,[0-9]*)?\})(\??)/.exec(rest)
  if (quantifier) return quantifier[2] === '?' ? undefined : stepOf(quantifier[0], quantifier[0].length)
  if (rest.startsWith(anyCharacter)) return stepOf(anyCharacter, anyCharacter.length)
  if (rest.startsWith('[')) return parseClass(rest)
  if (rest.startsWith('\\')) return parseEscape(rest) ?? parseComplement(rest)
  const [character = ''] = rest
  // ECMA-262 §12.3 has two more line terminators than Appendix F.
  if (character === '.') return { as: '.', length: 1, isLoose: true, isNegated: true }
  if (character === '^' || character === '$') return undefined
  return isAscii(character) ? stepOf(character, 1) : looseStep('', character.length)
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** `(?<name>` groups like `(`, as long as no reference uses the name. */
function parseNamedGroup(rest: string): PatternStep | undefined {
  const name = /^\(\?<[A-Za-z_$][\w$]*>/.exec(rest)
  return name ? stepOf('(', name[0].length) : undefined
}

/**
 * ECMA-262 §12.2, §12.3: the white space that `\s` of XML Schema lacks is beyond ASCII, or cannot
 * occur in XML at all.
 */
const rangesOfEscape: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9_', s: '\\s' }
const categoryEscape =
  /^\\([pP])\{(?:(?:General_Category|gc)=)?(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)\}/

/** An escape inside or outside a class; outside, several ranges form a class. */
function parseEscape(rest: string, isInClass = false): PatternStep | undefined {
  const category = categoryEscape.exec(rest)
  if (category) return stepOf(`\\${category[1]}{${category[2]}}`, category[0].length)
  const code = /^\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))/.exec(rest)
  if (code) return codePointStep(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16), code[0].length)
  const letter = rest[1] ?? ''
  const ranges = rangesOfEscape[letter]
  if (letter === 's') return looseStep('\\s', 2)
  if (ranges !== undefined) return stepOf(isInClass ? ranges : `[${ranges}]`, 2)
  if ('nrt'.includes(letter)) return letter === '' ? undefined : stepOf(`\\${letter}`, 2)
  return /[A-Za-z0-9]/.test(letter) ? undefined : stepOf(escapeLiteral(letter), 2)
}

/** Here `\S` accepts white space beyond ASCII. */
function parseComplement(rest: string): PatternStep | undefined {
  if (rest[1] === 'S') return { as: '\\S', length: 2, isLoose: true, isNegated: true }
  const ranges = rangesOfEscape[rest[1]?.toLowerCase() ?? '']
  return ranges === undefined ? undefined : stepOf(`[^${ranges}]`, 2)
}

function codePointStep(code: number, length: number): PatternStep | undefined {
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) return undefined
  return code < 0x80 ? stepOf(escapeLiteral(String.fromCodePoint(code)), length) : looseStep('', length)
}
const escapeLiteral = (character: string): string =>
  /[\\|.?*+(){}[\]^-]/.test(character) ? `\\${character}` : character

function parseClass(rest: string): PatternStep | undefined {
  const isNegated = rest.startsWith('[^')
  let at = isNegated ? 2 : 1
  let members = ''
  let isLoose = false
  if (rest[at] === ']') return undefined // no character, or any
  while (rest[at] !== ']') {
    const step = parseClassMember(rest.slice(at))
    if (!step) return undefined
    members += step.as
    isLoose ||= step.isLoose === true
    at += step.length
  }
  const length = at + 1
  if (isNegated) {
    const as = members === '' ? '[\\s\\S]' : `[^${members}]`
    return isLoose ? { as, length, isLoose, isNegated } : stepOf(as, length)
  }
  const as = members === '' ? '' : `[${members}]`
  return isLoose ? looseStep(as, length) : stepOf(as, length)
}

/** One character, range or set; a literal hyphen is escaped. A range is cut to its ASCII part. */
function parseClassMember(rest: string): PatternStep | undefined {
  const first = parseClassAtom(rest)
  if (!first) return undefined
  const after = rest.slice(first.length)
  if (after[0] !== '-' || after[1] === ']' || after[1] === undefined) return first
  const last = parseClassAtom(after.slice(1))
  if (!last) return undefined
  const length = first.length + 1 + last.length
  if (first.isLoose) return looseStep('', length)
  return last.isLoose ? looseStep(`${first.as}-~`, length) : stepOf(`${first.as}-${last.as}`, length)
}
function parseClassAtom(rest: string): PatternStep | undefined {
  if (rest === '') return undefined
  if (rest.startsWith('\\')) return parseEscape(rest, true)
  const [character = ''] = rest
  return isAscii(character) ? stepOf(escapeLiteral(character), 1) : looseStep('', character.length)
}
