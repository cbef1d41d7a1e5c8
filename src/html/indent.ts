/** Messages for people: indented. Only white space is added, and only between tokens. */

/** JSON as it was written, with a member a line; numbers keep their digits. */
export function indentJson(json: string): string {
  let text = ''
  let depth = 0
  const newLine = (): string => `\n${'  '.repeat(depth)}`
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    if (token === '{' || token === '[') {
      depth++
      text += token + newLine()
    } else if (token === '}' || token === ']') {
      depth--
      text = /[{[]\s*$/.test(text) ? text.trimEnd() + token : text + newLine() + token
    } else if (token === ',') text += token + newLine()
    else if (token === ':') text += ': '
    else text += token
  }
  return text
}

/** XML with an element a line; the text of an element stays on its line. */
export function indentXml(xml: string): string {
  let text = ''
  let depth = 0
  let isOpen = false
  for (const [token] of xml.matchAll(/<[^>]+>|[^<]+/g)) {
    const isEnd = token.startsWith('</')
    if (isEnd) depth--
    if (!token.startsWith('<')) text += token
    else {
      const isInline = isEnd && isOpen
      text += isInline || text === '' || !text.endsWith('>') ? token : `\n${'  '.repeat(depth)}${token}`
    }
    isOpen = token.startsWith('<') ? !isEnd && !/^<\?|\/>$/.test(token) : isOpen
    if (token.startsWith('<') && isOpen && !isEnd && !/^<\?|\/>$/.test(token)) depth++
  }
  return text
}

/** A text of so many characters at most, which says how many it lacks. */
export const shortenText = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters)}\n… and ${text.length - characters} more` : text
