/**
 * A pattern of a contract (ECMAScript, Unicode mode, the whole value) in the language of XML Schema Part 2 Appendix F.
 * Undefined where the two cannot say the same: looking around, back references, boundaries, and the like.
 */
export function toSchemaPattern(pattern: string): string | undefined {
  let rest = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  if (/^\^|\|/.test(pattern) && rest !== pattern && hasTopLevelBar(pattern)) return undefined // `^a|b$` anchors its halves
  let written = ''
  while (rest !== '') {
    const taken = token(rest)
    if (!taken) return undefined
    written += taken.as
    rest = rest.slice(taken.length)
  }
  return written
}

/** Whether `|` stands outside of all groups and classes. */
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
const as = (written: string, length: number): PatternStep => ({ as: written, length })

function token(rest: string): PatternStep | undefined {
  const group = /^\((\?[^)]?[^)]?)?/.exec(rest)
  if (group) return group[1] === undefined ? as('(', 1) : group[1].startsWith('?:') ? as('(', 3) : named(rest)
  const quantifier = /^([*+?]|\{[0-9]+(?:,[0-9]*)?\})(\??)/.exec(rest)
  if (quantifier) return quantifier[2] === '?' ? undefined : as(quantifier[0], quantifier[0].length)
  if (rest.startsWith('[')) return charClass(rest)
  if (rest.startsWith('\\')) return escaped(rest, false)
  const [character = ''] = rest
  if (character === '.') return as('[^\\n\\r\u2028\u2029]', 1)
  if (character === '^' || character === '$') return undefined
  return as(character, character.length)
}

/** `(?<name>` groups as `(` does, where nothing refers to it. */
function named(rest: string): PatternStep | undefined {
  const name = /^\(\?<[A-Za-z_$][\w$]*>/.exec(rest)
  return name ? as('(', name[0].length) : undefined
}

const digits = '0-9'
const word = 'A-Za-z0-9_'
/** ECMA-262 §12.2 and §12.3, less the two that XML cannot carry: `\\s` of XML Schema is only four of them. */
const space = '\\s\\p{Z}\uFEFF'
const sets: Readonly<Record<string, string>> = { d: digits, w: word, s: space }
const categories =
  /^\\([pP])\{(?:(?:General_Category|gc)=)?(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)\}/

function escaped(rest: string, inClass: boolean): PatternStep | undefined {
  const category = categories.exec(rest)
  if (category) return as(`\\${category[1]}{${category[2]}}`, category[0].length)
  const code = /^\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))/.exec(rest)
  if (code) return coded(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16), code[0].length)
  const letter = rest[1] ?? ''
  const set = sets[letter]
  if (set !== undefined) return as(inClass ? set : `[${set}]`, 2)
  const complement = sets[letter.toLowerCase()]
  if (complement !== undefined) return inClass ? undefined : as(`[^${complement}]`, 2)
  if ('nrt'.includes(letter)) return letter === '' ? undefined : as(`\\${letter}`, 2)
  return /[A-Za-z0-9]/.test(letter) ? undefined : as(literal(letter), 2)
}
function coded(code: number, length: number): PatternStep | undefined {
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) return undefined
  return as(literal(String.fromCodePoint(code)), length)
}
const literal = (character: string): string => (/[\\|.?*+(){}[\]^-]/.test(character) ? `\\${character}` : character)

function charClass(rest: string): PatternStep | undefined {
  let at = rest.startsWith('[^') ? 2 : 1
  let written = rest.slice(0, at)
  if (rest[at] === ']') return undefined // nothing, or anything
  while (rest[at] !== ']') {
    const taken = member(rest.slice(at))
    if (!taken) return undefined
    written += taken.as
    at += taken.length
  }
  return as(`${written}]`, at + 1)
}

/** One character, range or set; a hyphen that stands for itself is escaped. */
function member(rest: string): PatternStep | undefined {
  const first = single(rest)
  if (!first) return undefined
  const after = rest.slice(first.length)
  if (after[0] !== '-' || after[1] === ']' || after[1] === undefined) return first
  const last = single(after.slice(1))
  return last && as(`${first.as}-${last.as}`, first.length + 1 + last.length)
}
function single(rest: string): PatternStep | undefined {
  if (rest === '') return undefined
  if (rest.startsWith('\\')) return escaped(rest, true)
  const [character = ''] = rest
  return as(literal(character), character.length)
}
