/**
 * Text as its words, so that a database finds whole words in any case by plain comparison: the text
 * is kept next to the value as " word word ", and a search looks for the word with a space at each
 * side. A character that is not a letter, digit or mark is a word of its own, so "%" finds "100%"
 * and nothing else, and "e-mail" is found as it is written.
 */

/** Changes when `foldText` does: stored words are then made again at start. */
export const foldingVersion = 'words 1'

const tokenPattern = /[\p{L}\p{N}\p{M}]+|[^\s]/gu

/** " word word ", or "" for a text without words. */
export function foldText(text: string): string {
  const tokens = foldCase(text).match(tokenPattern)
  return tokens ? ` ${tokens.join(' ')} ` : ''
}

/**
 * Unicode §3.13: upper case first, so that ß meets SS and ſ meets S; the final sigma is a sigma.
 */
const foldCase = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
