/** Patterns of a contract in the language of XML Schema. */

/**
 * A pattern (ECMAScript, Unicode mode, of the whole value) in the language of XML Schema Part 2
 * Appendix F. Undefined where that has no equivalent: lookaround, back references, boundaries and
 * the like.
 */
export function toSchemaPattern(pattern: string): string | undefined {
  let rest = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  // `^a|b$` anchors each half at one end.
  if (/^\^|\|/.test(pattern) && rest !== pattern && hasTopLevelBar(pattern)) return undefined
  let written = ''
  while (rest !== '') {
    const step = parseStep(rest)
    if (!step) return undefined
    written += step.as
    rest = rest.slice(step.length)
  }
  return written
}

/** Whether there is a `|` outside of all groups and classes. */
function hasTopLevelBar(pattern: string): boolean {
  let bare = pattern.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, '')
  for (let before = ''; before !== bare; ) {
    before = bare
    bare = bare.replace(/\([^()]*\)/g, '')
  }
  return bare.includes('|')
}

interface PatternStep {
  readonly as: string
  /** UTF-16 units of the source. */
  readonly length: number
}
const stepOf = (written: string, length: number): PatternStep => ({ as: written, length })

function parseStep(rest: string): PatternStep | undefined {
  const group = /^\((\?[^)]?[^)]?)?/.exec(rest)
  if (group)
    return group[1] === undefined ? stepOf('(', 1) : group[1].startsWith('?:') ? stepOf('(', 3) : parseNamedGroup(rest)
  const quantifier = /^([*+?]|\{[0-9]+(?:,[0-9]*)?\})(\??)/.exec(rest)
  if (quantifier) return quantifier[2] === '?' ? undefined : stepOf(quantifier[0], quantifier[0].length)
  if (rest.startsWith('[')) return parseClass(rest)
  if (rest.startsWith('\\')) return parseEscape(rest, false)
  const [character = ''] = rest
  if (character === '.') return stepOf('[^\\n\\r\u2028\u2029]', 1)
  if (character === '^' || character === '$') return undefined
  return stepOf(character, character.length)
}

/** `(?<name>` groups as `(` does, as long as no reference uses the name. */
function parseNamedGroup(rest: string): PatternStep | undefined {
  const name = /^\(\?<[A-Za-z_$][\w$]*>/.exec(rest)
  return name ? stepOf('(', name[0].length) : undefined
}

const digitRange = '0-9'
const wordRanges = 'A-Za-z0-9_'
/**
 * ECMA-262 §12.2, §12.3, without the two that XML cannot carry; `\\s` of XML Schema has only four
 * of them.
 */
const spaceRanges = '\\s\\p{Z}\uFEFF'
const rangesOfEscape: Readonly<Record<string, string>> = { d: digitRange, w: wordRanges, s: spaceRanges }
const categoryEscape =
  /^\\([pP])\{(?:(?:General_Category|gc)=)?(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)\}/

function parseEscape(rest: string, inClass: boolean): PatternStep | undefined {
  const category = categoryEscape.exec(rest)
  if (category) return stepOf(`\\${category[1]}{${category[2]}}`, category[0].length)
  const code = /^\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))/.exec(rest)
  if (code) return codePointStep(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16), code[0].length)
  const letter = rest[1] ?? ''
  const set = rangesOfEscape[letter]
  if (set !== undefined) return stepOf(inClass ? set : `[${set}]`, 2)
  const complement = rangesOfEscape[letter.toLowerCase()]
  if (complement !== undefined) return inClass ? undefined : stepOf(`[^${complement}]`, 2)
  if ('nrt'.includes(letter)) return letter === '' ? undefined : stepOf(`\\${letter}`, 2)
  return /[A-Za-z0-9]/.test(letter) ? undefined : stepOf(escapeLiteral(letter), 2)
}
function codePointStep(code: number, length: number): PatternStep | undefined {
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) return undefined
  return stepOf(escapeLiteral(String.fromCodePoint(code)), length)
}
const escapeLiteral = (character: string): string =>
  /[\\|.?*+(){}[\]^-]/.test(character) ? `\\${character}` : character

function parseClass(rest: string): PatternStep | undefined {
  let at = rest.startsWith('[^') ? 2 : 1
  let written = rest.slice(0, at)
  if (rest[at] === ']') return undefined // no character, or any
  while (rest[at] !== ']') {
    const step = parseClassMember(rest.slice(at))
    if (!step) return undefined
    written += step.as
    at += step.length
  }
  return stepOf(`${written}]`, at + 1)
}

/** One character, range or set; a literal hyphen is escaped. */
function parseClassMember(rest: string): PatternStep | undefined {
  const first = parseClassAtom(rest)
  if (!first) return undefined
  const after = rest.slice(first.length)
  if (after[0] !== '-' || after[1] === ']' || after[1] === undefined) return first
  const last = parseClassAtom(after.slice(1))
  return last && stepOf(`${first.as}-${last.as}`, first.length + 1 + last.length)
}
function parseClassAtom(rest: string): PatternStep | undefined {
  if (rest === '') return undefined
  if (rest.startsWith('\\')) return parseEscape(rest, true)
  const [character = ''] = rest
  return stepOf(escapeLiteral(character), character.length)
}
