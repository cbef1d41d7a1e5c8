/** A text that a regular expression matches: what the expression says, read and followed. */

/** One of `count` ways, from 0. */
export type Choose = (count: number) => number

/**
 * A text that a regular expression of JavaScript matches, readable if the expression allows that.
 * Look-around, back references and bounds of length are not solved, and a text of more than
 * `atomsMax` parts is cut off: test the text, and try another `more` if it does not match.
 * @param more repetitions beyond the fewest that the expression allows
 */
export function writePatternText({ source, flags }: RegExp, choose: Choose, more: number): string {
  return new PatternWalk([...source], flags, choose, more).alternatives()
}

const atomsMax = 20_000

class PatternWalk {
  readonly #characters: readonly string[]
  readonly #flags: string
  readonly #choose: Choose
  readonly #more: number
  #at = 0
  #atoms = 0
  /** The characters of a class, by what is preferred. */
  readonly #members = new Map<string, readonly (readonly string[])[]>()

  constructor(characters: readonly string[], flags: string, choose: Choose, more: number) {
    this.#characters = characters
    this.#flags = flags
    this.#choose = choose
    this.#more = more
  }

  alternatives(): string {
    const branches = [this.#branch()]
    while (this.#take('|')) branches.push(this.#branch())
    return branches[this.#choose(branches.length)] ?? ''
  }

  #branch(): string {
    let text = ''
    while (this.#at < this.#characters.length && !['|', ')'].includes(this.#peek())) text += this.#piece()
    return text
  }

  /**
   * An atom, as often as its quantifier says; it is read again for each repetition, so that each
   * may choose differently.
   */
  #piece(): string {
    const from = this.#at
    const first = this.#atom()
    const [min, max] = this.#quantifier()
    const after = this.#at
    const count = Math.min(max, min + (max > min ? this.#more : 0))
    let text = count > 0 ? first : ''
    for (let i = 1; i < count && this.#atoms < atomsMax; i++) {
      this.#at = from
      text += this.#atom()
    }
    this.#at = after
    return text
  }

  #quantifier(): readonly [number, number] {
    const [, least = '', comma, most = ''] = /^\{([0-9]+)(,)?([0-9]*)\}/.exec(this.#rest(24)) ?? []
    let found: readonly [number, number] = [1, 1]
    if (least !== '') {
      while (!this.#take('}')) this.#at++
      const open = comma === undefined ? Number(least) : Number.POSITIVE_INFINITY
      found = [Number(least), most === '' ? open : Number(most)]
    } else if (this.#take('*')) found = [0, Number.POSITIVE_INFINITY]
    else if (this.#take('+')) found = [1, Number.POSITIVE_INFINITY]
    else if (this.#take('?')) return this.#lazy([0, 1])
    else return found
    return this.#lazy(found)
  }
  #lazy(found: readonly [number, number]): readonly [number, number] {
    this.#take('?')
    return found
  }

  #atom(): string {
    this.#atoms++
    const character = this.#next()
    if (character === '(') return this.#group()
    if (character === '[') return this.#member(this.#classText())
    if (character === '.') return this.#member('.')
    if (character === '\\') return this.#escape()
    return character === '^' || character === '$' ? '' : character
  }

  #group(): string {
    const [kind = ''] = /^\?(?:[:=!]|<[=!]|<[^>]*>)/.exec(this.#rest(80)) ?? []
    this.#at += [...kind].length
    const text = this.alternatives()
    this.#take(')')
    return /^\?<?[=!]$/.test(kind) ? '' : text
  }

  /**
   * From after the opening bracket to the closing one; with the flag `v`, a class may contain
   * classes.
   */
  #classText(): string {
    const nests = this.#flags.includes('v')
    let text = '['
    for (let depth = 1; depth > 0 && this.#at < this.#characters.length; ) {
      const character = this.#next()
      text += character === '\\' ? character + this.#next() : character
      if (character === '[' && nests) depth++
      if (character === ']') depth--
    }
    return text
  }

  #escape(): string {
    const character = this.#next()
    if (character === 'b' || character === 'B' || /[1-9k]/.test(character)) return ''
    const [more = ''] =
      /^[pP]\{[^}]*\}|^u\{[^}]*\}|^u[0-9a-fA-F]{4}|^x[0-9a-fA-F]{2}|^c[A-Za-z]/.exec(character + this.#rest(60)) ?? []
    if (more !== '') this.#at += [...more].length - 1
    return this.#member(`\\${more === '' ? character : more}`)
  }

  /** A character of a class: a letter rather than a digit, a digit rather than a sign. */
  #member(of: string): string {
    const known = this.#members.get(of) ?? this.#listMembers(of)
    this.#members.set(of, known)
    for (const matches of known) {
      const chosen = matches[this.#choose(matches.length)]
      if (chosen !== undefined) return chosen
    }
    return ''
  }
  #listMembers(of: string): readonly (readonly string[])[] {
    const expression = new RegExp(`^${of}$`, this.#flags)
    const groups = readable.map(group => [...group].filter(each => expression.test(each)))
    for (let code = 0; code < 0x3000 && groups.every(({ length }) => length === 0); code++) {
      const character = String.fromCodePoint(code)
      if (expression.test(character)) groups.push([character])
    }
    return groups
  }

  #peek(): string {
    return this.#characters[this.#at] ?? ''
  }
  #next(): string {
    return this.#characters[this.#at++] ?? ''
  }
  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }
  #rest(length: number): string {
    return this.#characters.slice(this.#at, this.#at + length).join('')
  }
}
const readable = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789', '-_./:@#+,;!?*=()&% ']
