/** Code with its comments, texts and keywords told apart, when the page is written: without a script. */
import { escapeMarkup } from '../../../src/base/markup.ts'
import type { PageMarkup } from '../../../src/html/element.ts'

const keywords =
  /\b(?:as|async|await|class|const|default|else|export|extends|false|for|from|function|if|import|in|interface|keyof|let|new|null|of|readonly|return|satisfies|static|throw|true|try|catch|type|typeof|undefined|using|void|while)\b/

/** Groups: a comment, a text, a keyword. What else there is stays as it is. */
const script = new RegExp(
  String.raw`(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|${'`'}(?:[^${'`'}\\]|\\.)*${'`'})|(${keywords.source})`,
  'g',
)
const shell = /(^#[^\n]*|(?<=\s)#[^\n]*)|('[^']*'|"(?:[^"\\]|\\.)*")|(?!)()/gm
const change = /(?!)()|(^\+[^\n]*)|(^-[^\n]*)/gm
const spellings: Readonly<Record<string, RegExp>> = {
  ...{ ts: script, js: script, java: script, json: script },
  ...{ sh: shell, diff: change },
}

export function markCode(text: string, language: string): PageMarkup {
  const spelling = spellings[language]
  if (!spelling) return escapeMarkup(text)
  let markup = ''
  let from = 0
  for (const found of text.matchAll(spelling)) {
    const name = found[1] !== undefined ? 'note' : found[2] !== undefined ? 'text' : 'word'
    markup += `${escapeMarkup(text.slice(from, found.index))}<span class="${name}">${escapeMarkup(found[0])}</span>`
    from = found.index + found[0].length
  }
  return markup + escapeMarkup(text.slice(from))
}
