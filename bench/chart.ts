/** The rows as a picture: how far each goal is exceeded or missed, on a logarithmic scale; readable in light and in dark. */
import { type Result, score } from './report.ts'

const width = 1040
const [left, right] = [600, 950]
const line = 20
const top = 56
/** A bar ends where its row is so many times its goal. */
const most = 8

const x = (times: number): number => {
  const within = Math.min(most, Math.max(1 / most, times))
  return left + ((Math.log(within) / Math.log(most) + 1) / 2) * (right - left)
}
const at = (value: number): string => value.toFixed(1)
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const style = `text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.dim { fill: #59636e } .met { fill: #1a7f37 } .not { fill: #fff; stroke: #bc4c00; stroke-width: 1.5 }
line { stroke: #d1d9e0 } .goal { stroke: #59636e; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .dim { fill: #9198a1 } .met { fill: #3fb950 } .not { fill: #0d1117; stroke: #f0883e }
line { stroke: #3d444d } .goal { stroke: #9198a1 } }`

/** Filled: the goal is met; outlined: it is not. */
function bar(result: Result, index: number): string {
  const found = score(result)
  if (found === undefined) return ''
  const y = top + index * line
  const [from, to] = [x(Math.min(1, found)), x(Math.max(1, found))]
  const label = escaped(`${result.what} / ${result.against}`)
  const value = `${result.ratio.toFixed(2)} (${result.goal})`
  return `<text x="${left - 12}" y="${y + 13}" text-anchor="end">${cut(label)}</text>
<rect class="${found >= 1 ? 'met' : 'not'}" x="${at(from)}" y="${y + 3}" width="${at(Math.max(1, to - from))}" height="13" rx="2"/>
<text class="dim" x="${width - 4}" y="${y + 13}" text-anchor="end">${value}</text>`
}

const cut = (text: string): string => (text.length > 96 ? `${text.slice(0, 94)} …` : text)

export function chart(results: readonly Result[]): string {
  const shown = results.filter(each => score(each) !== undefined)
  const met = shown.filter(each => score(each)! >= 1).length
  const bottom = top + shown.length * line
  const marks = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8].map(
    times => `<line class="${times === 1 ? 'goal' : ''}" x1="${at(x(times))}" x2="${at(x(times))}" y1="${top - 6}" y2="${bottom}"/>
<text class="dim" x="${at(x(times))}" y="${top - 12}" text-anchor="middle">${times === 1 ? 'goal' : times < 1 ? `1/${1 / times}` : `${times} ×`}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 12}" role="img" aria-label="Each figure as a multiple of its goal">
<title>Each figure as a multiple of its goal: ${met} of ${shown.length} are met</title>
<style>${style}</style>
<text x="4" y="18">${met} of ${shown.length} goals are met (filled); a bar to the right is better than its goal</text>
${marks.join('\n')}
${shown.map(bar).join('\n')}
</svg>
`
}
