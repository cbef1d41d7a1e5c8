/** Messages for people: indented. Only white space is added, and only between tokens. */

/** JSON with one member per line; numbers keep their digits. */
export function indentJson(json: string, characters = Number.POSITIVE_INFINITY): string {
  const lines = new IndentedText(characters)
  let before = ''
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    const wasOpened = before === '{' || before === '['
    if (token === '}' || token === ']') {
      lines.depth--
      if (!wasOpened) lines.startLine()
    } else if (wasOpened || before === ',') lines.startLine()
    lines.add(token === ':' ? ': ' : token)
    if (token === '{' || token === '[') lines.depth++
    if (lines.isFull) break
    before = token
  }
  return lines.text
}

/** XML with one element per line; the text of an element stays on its line. */
export function indentXml(xml: string, characters = Number.POSITIVE_INFINITY): string {
  const lines = new IndentedText(characters)
  let before = ''
  let isOpen = false
  for (const [token] of xml.matchAll(/<[^>]+>|[^<]+/g)) {
    const isTag = token.startsWith('<')
    const isEnd = token.startsWith('</')
    if (isEnd) lines.depth--
    if (isTag && before.endsWith('>') && !(isEnd && isOpen)) lines.startLine()
    lines.add(token)
    if (isTag) isOpen = !isEnd && !/^<\?|\/>$/.test(token)
    if (isTag && isOpen) lines.depth++
    if (lines.isFull) break
    before = token
  }
  return lines.text
}

/** Lines up to a number of characters: a growing text is never scanned again. */
class IndentedText {
  text = ''
  depth = 0
  readonly #characters: number
  constructor(characters: number) {
    this.#characters = characters
  }
  get isFull(): boolean {
    return this.text.length > this.#characters
  }
  startLine(): void {
    this.text += `\n${'  '.repeat(this.depth)}`
  }
  add(token: string): void {
    this.text += token
  }
}

/** A text of at most this many characters, which says where it was cut. */
export const shortenText = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters)}\n… the rest is not shown` : text

/** A text with as many rows as fit before the cut of `shortenText`: later rows cost nothing. */
export function writeShownRows<Row>(
  characters: number,
  rows: readonly Row[],
  write: (rows: readonly Row[]) => string,
): string {
  const around = write([]).length
  for (let count = 1; ; count *= 2) {
    const text = write(rows.slice(0, count))
    if (count >= rows.length || text.length - around > characters) return text
  }
}
