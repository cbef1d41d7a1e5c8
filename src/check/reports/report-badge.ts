/** A badge for a README: one SVG image with the counts, without a script or a foreign address. */
import { escapeMarkup } from '../../base/markup.ts'
import type { CheckReport } from '../rule.ts'

/** Wide enough for a character of Verdana at 11 pixels; `textLength` fits the text to it. */
const characterWidth = 7

/** @returns SVG with how many judged rules pass; red if one fails, grey if none was judged */
export function writeBadge({ verdicts }: CheckReport): string {
  const passed = verdicts.filter(({ status }) => status === 'pass').length
  const failed = verdicts.filter(({ status }) => status === 'fail').length
  const judged = passed + failed
  const result =
    judged === 0 ? 'nothing judged' : failed === 0 ? `${passed} of ${judged} pass` : `${failed} of ${judged} fail`
  const color = judged === 0 ? '#595959' : failed === 0 ? '#1a7f37' : '#b42318'
  return drawBadge('diglot check', result, color)
}

function drawBadge(label: string, counts: string, color: string): string {
  const [left, right] = [label, counts].map(text => text.length * characterWidth + 10) as [number, number]
  const name = escapeMarkup(`${label}: ${counts}`)
  const drawText = (text: string, x: number): string =>
    `<text x="${x + 5}" y="14" textLength="${text.length * characterWidth}">${escapeMarkup(text)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}">
<title>${name}</title>
<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${color}"/>
<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">${drawText(label, 0)}${drawText(counts, left)}</g>
</svg>
`
}
