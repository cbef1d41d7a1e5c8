/**
 * Text as its words, so that a database finds whole words in any case by plain comparison: the text is kept beside the
 * value as " word word ", and a word is looked for with a space at each side. What is no letter, digit or mark is a word of
 * its own, so "%" finds "100%" and nothing else, and "e-mail" is found as it is written.
 */

/** Changes when `foldText` does: what is kept then is made again at start. */
export const foldingVersion = 'words 1'

const token = /[\p{L}\p{N}\p{M}]+|[^\s]/gu

/** " word word ", or "" when there is none. */
export function foldText(text: string): string {
  const tokens = caseless(text).match(token)
  return tokens ? ` ${tokens.join(' ')} ` : ''
}

/** Unicode §3.13: upper case first, so that ß meets SS and ſ meets S; the final sigma is a sigma. */
const caseless = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
