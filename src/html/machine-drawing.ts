/**
 * Draws the state machine of a resource (rule A3.4): a column for each step from the first state,
 * an arrow for each transition, and a returning arrow where an action stays. The words are included
 * as text, too, for readers that see no drawing.
 */
import { escapeMarkup } from '../base/markup.ts'
import type { Machine, Stays } from '../contract/machine.ts'
import { buildElement, type PageMarkup } from './element.ts'

/** The parts of a resource that are drawn. */
interface DrawnResource {
  readonly name: string
  readonly states: readonly string[]
  readonly machine: Machine
  readonly stays: Stays
}
/** What the drawing marks. */
export interface MachineMarks {
  /** The state of the item that is shown. */
  readonly current?: string
  /** Transitions that this caller may now make. */
  readonly offered?: readonly string[]
}
type DrawnMachine = DrawnResource & MachineMarks

interface Spot {
  readonly state: string
  readonly x: number
  readonly y: number
  readonly width: number
}
interface Edge {
  readonly from: Spot
  readonly to: Spot
  readonly verbs: readonly string[]
}

/** In units of the drawing; boxes and gaps are wider where their words are. */
const size = {
  width: 116,
  height: 40,
  columnGap: 104,
  rowGap: 64,
  loop: 36,
  margin: 20,
  letter: 8.5,
  readable: 576,
} as const

const widthOf = (words: readonly string[], least: number): number =>
  Math.max(least, ...words.map(each => Math.ceil(each.length * size.letter) + 2 * size.margin))

/** Empty for a resource without states. */
export function drawMachine(resource: DrawnResource, marks: MachineMarks = {}): PageMarkup {
  const { name, states, machine, stays } = resource
  if (states.length === 0) return ''
  const svg = drawPicture({ name, states, machine, stays, ...marks })
  return buildElement(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': 'Drawing of the states', tabindex: 0 },
    svg,
  )
}

function drawPicture(drawn: DrawnMachine): PageMarkup {
  const spots = placeStates(drawn)
  const edges = listEdges(drawn, spots)
  const all = [...spots.values()]
  const width = Math.max(...all.map(spot => rightmostOf(spot, drawn))) + size.margin
  const height = Math.max(...all.map(({ y }) => y)) + size.height + size.margin + (edges.some(isBackward) ? 44 : 0)
  return buildElement(
    'svg',
    {
      class: width > size.readable ? 'machine wide' : 'machine',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-label': describeMachine(drawn),
    },
    arrowHead,
    ...edges.map(edge => drawEdge(edge, drawn)),
    ...all.map(spot => drawStay(spot, drawn)),
    ...all.map(spot => drawState(spot, drawn)),
  )
}

/** The right end of a state, or of the words of actions that stay in it. */
function rightmostOf({ state, x, width }: Spot, { stays }: DrawnMachine): number {
  const words = writeVerbs(stays[state] ?? [])
  return x + width + (words === '' ? 0 : Math.ceil(words.length * size.letter))
}

const arrowHead =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"></path></marker></defs>'

function describeMachine({ name, states, machine, stays, current }: DrawnMachine): string {
  const ways = states.flatMap(state => [
    ...Object.entries(machine[state] ?? {}).map(([verb, to]) => `${verb} leads from ${state} to ${to}`),
    ...(stays[state] ?? []).map(verb => `${verb} stays in ${state}`),
  ])
  const now = current === undefined ? '' : ` The state is ${current} now.`
  return `The states of ${name}: ${states.join(', ')}. ${ways.join('; ')}.${now}`
}

/** Columns by the number of steps from the first state; unreachable states come last. */
function placeStates({ states, machine, stays }: DrawnMachine): ReadonlyMap<string, Spot> {
  const steps = new Map([[states[0] ?? '', 0]])
  for (const [state, step] of steps)
    for (const to of Object.values(machine[state] ?? {})) if (!steps.has(to)) steps.set(to, step + 1)
  const last = Math.max(...steps.values())
  const width = widthOf(states.map(writeCurrent), size.width)
  const top = size.margin + (Object.values(stays).some(({ length }) => length > 0) ? size.loop : 0)
  const gap = widthOf([...listLabels(machine), ...Object.values(stays).map(writeVerbs)], size.columnGap)
  const rows = new Map<number, number>()
  return new Map(
    states.map(state => {
      const column = steps.get(state) ?? last + 1
      const row = rows.get(column) ?? 0
      rows.set(column, row + 1)
      const x = size.margin + column * (width + gap)
      const y = top + row * (size.height + size.rowGap)
      return [state, { state, x, y, width }]
    }),
  )
}

/** The words on the arrows. */
const listLabels = (machine: Machine): readonly string[] =>
  Object.values(machine).flatMap(ways =>
    [...Map.groupBy(Object.entries(ways), ([, to]) => to).values()].map(alike =>
      writeVerbs(alike.map(([verb]) => verb)),
    ),
  )
const writeVerbs = (verbs: readonly string[]): string => verbs.join(', ')
const writeCurrent = (state: string): string => `● ${state}`

/** Transitions in the same direction share an arrow. */
function listEdges({ machine }: DrawnMachine, spots: ReadonlyMap<string, Spot>): readonly Edge[] {
  const edges = new Map<string, { from: Spot; to: Spot; verbs: string[] }>()
  for (const [state, ways] of Object.entries(machine))
    for (const [verb, target] of Object.entries(ways)) {
      const [from, to] = [spots.get(state), spots.get(target)]
      if (!from || !to || from === to) continue
      const edge = edges.get(`${state} ${target}`)
      if (edge) edge.verbs.push(verb)
      else edges.set(`${state} ${target}`, { from, to, verbs: [verb] })
    }
  return [...edges.values()]
}

const isBackward = ({ from, to }: Edge): boolean => to.x < from.x

function drawEdge(edge: Edge, { current, offered = [] }: DrawnMachine): PageMarkup {
  const { from, to, verbs } = edge
  const isNow = from.state === current && verbs.some(verb => offered.includes(verb))
  const { d, x, y, anchor } = edgePath(edge)
  return buildElement(
    'g',
    { class: isNow ? 'edge now' : 'edge' },
    buildElement('path', { d, 'marker-end': 'url(#arrow)' }),
    buildElement('text', { x, y, 'text-anchor': anchor }, escapeMarkup(writeVerbs(verbs))),
    buildElement('title', {}, escapeMarkup(`${writeVerbs(verbs)}: ${from.state} → ${to.state}`)),
  )
}

/** An arrow from the top of a state back to it, right of those from above, then its words. */
function drawStay({ state, x, y, width }: Spot, { stays, current, offered = [] }: DrawnMachine): PageMarkup {
  const verbs = stays[state] ?? []
  if (verbs.length === 0) return ''
  const isNow = state === current && verbs.some(verb => offered.includes(verb))
  const right = x + width - size.height / 2
  const d = `M${right - 24} ${y}C${right - 30} ${y - 26} ${right + 6} ${y - 26} ${right} ${y}`
  return buildElement(
    'g',
    { class: isNow ? 'edge now' : 'edge' },
    buildElement('path', { d, 'marker-end': 'url(#arrow)' }),
    buildElement('text', { x: right + 8, y: y - 8, 'text-anchor': 'start' }, escapeMarkup(writeVerbs(verbs))),
    buildElement('title', {}, escapeMarkup(`${writeVerbs(verbs)}: stays in ${state}`)),
  )
}

function edgePath(edge: Edge): { d: string; x: number; y: number; anchor: string } {
  const { from, to } = edge
  const half = { x: from.width / 2, y: size.height / 2 }
  if (from.x === to.x) {
    const x = from.x + half.x
    const [start, end] = to.y > from.y ? [from.y + size.height, to.y] : [from.y, to.y + size.height]
    return { d: `M${x} ${start}V${end}`, x: x + 10, y: (start + end) / 2 + 4, anchor: 'start' }
  }
  if (isBackward(edge)) {
    const low = Math.max(from.y, to.y) + size.height + 44
    const [a, b] = [from.x + half.x, to.x + half.x]
    const d = `M${a} ${from.y + size.height}C${a} ${low} ${b} ${low} ${b} ${to.y + size.height}`
    return { d, x: (a + b) / 2, y: low - 16, anchor: 'middle' }
  }
  const start = { x: from.x + from.width, y: from.y + half.y }
  const end = { x: to.x, y: to.y + half.y }
  const middle = (start.x + end.x) / 2
  const d = `M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}`
  // Arrows cross in the middle, so their words are nearer to their beginnings.
  const at = start.y === end.y ? 0.5 : 0.3
  const [near, far] = [(1 - at) ** 2 * (1 + 2 * at), at ** 2 * (3 - 2 * at)]
  const x = (1 - at) ** 3 * start.x + 3 * at * (1 - at) * middle + at ** 3 * end.x
  return { d, x: Math.round(x), y: Math.round(near * start.y + far * end.y) - 8, anchor: 'middle' }
}

function drawState({ state, x, y, width }: Spot, { current, machine }: DrawnMachine): PageMarkup {
  const isEnd = Object.keys(machine[state] ?? {}).length === 0
  const kind = ['state', ...(state === current ? ['now'] : []), ...(isEnd ? ['end'] : [])].join(' ')
  return buildElement(
    'g',
    { class: kind },
    buildElement('rect', { x, y, width, height: size.height, rx: size.height / 2 }),
    buildElement(
      'text',
      { x: x + width / 2, y: y + size.height / 2 + 5, 'text-anchor': 'middle' },
      escapeMarkup(state === current ? writeCurrent(state) : state),
    ),
  )
}
