/**
 * Judges what clients saw of a service while faults came. Items are registers that are changed by compare-and-set: each
 * change writes the position after the one that it read, and a mark of its own. Where every item is linearizable, each
 * position has one mark and none goes back; where effects are as if made one after the other in the order of the feed,
 * what a change has read elsewhere is what the feed tells before it.
 */

export interface Deed {
  readonly key: string
  readonly kind: 'read' | 'set'
  /** Milliseconds; an end that is not known is Infinity. */
  readonly began: number
  readonly ended: number
  /** `stale`: another was told to have come first. `unknown`: no answer came, or one that does not tell (5xx). */
  readonly outcome: 'done' | 'stale' | 'refused' | 'unknown'
  /** Of a read that is done and of every set: what was read, or written. */
  readonly position: number
  readonly mark: string
  /** Where the answer gave one. */
  readonly tag?: string | undefined
}

/** A change as the feed tells it. */
export interface ToldChange {
  readonly sequence: number
  readonly resource: string
  readonly id: string
  readonly version: number
  readonly what: string
}

/** An item whose creation has read the position of a key. */
export interface QuotedPosition {
  readonly id: string
  readonly key: string
  readonly position: number
}

/** Of a change by compare-and-set, by the status of its answer. */
export function outcomeOf(status: number): Deed['outcome'] {
  if (status >= 500) return 'unknown'
  if (status === 412) return 'stale'
  return status < 300 ? 'done' : 'refused'
}

/** @param changesAfter a part of the feed behind a sequence; none at its end */
export async function readWholeFeed(
  changesAfter: (sequence: number) => Promise<readonly ToldChange[]>,
): Promise<readonly ToldChange[]> {
  const all: ToldChange[] = []
  for (;;) {
    const found = await changesAfter(all.at(-1)?.sequence ?? 0)
    if (found.length === 0) return all
    all.push(...found)
  }
}

const start = 0

/** One sentence for each contradiction; none where the history can be explained. */
export const judgeHistory = (deeds: readonly Deed[]): readonly string[] =>
  [...Map.groupBy(deeds, deed => deed.key)].flatMap(([key, own]) => judgeKey(own).map(text => `${key}: ${text}`))

function judgeKey(deeds: readonly Deed[]): readonly string[] {
  const known = deeds.filter(deed => deed.outcome === 'done')
  return [
    ...findDoubleMarks(known),
    ...findDoubleTags(known),
    ...findGhosts(deeds, known),
    ...findReturns(known),
    ...findNeedlessRefusals(deeds),
  ]
}

/** Two changes of one state: one of them is lost. */
const findDoubleMarks = (known: readonly Deed[]): readonly string[] =>
  [...Map.groupBy(known, deed => deed.position)].flatMap(([position, at]) => {
    const marks = new Set(at.map(deed => deed.mark))
    return marks.size > 1 ? [`position ${position} was written by ${[...marks].join(' and ')}`] : []
  })

/** A tag names one content. */
const findDoubleTags = (known: readonly Deed[]): readonly string[] =>
  [...Map.groupBy(known, deed => deed.tag)].flatMap(([tag, at]) => {
    const contents = new Set(at.map(deed => `${deed.position} ${deed.mark}`))
    return tag !== undefined && contents.size > 1 ? [`${tag} names ${[...contents].join(' and ')}`] : []
  })

/** What was refused had no effect; what was read, somebody had begun to write. */
function findGhosts(deeds: readonly Deed[], known: readonly Deed[]): readonly string[] {
  const sets = new Map(deeds.filter(deed => deed.kind === 'set').map(deed => [deed.mark, deed]))
  return known.flatMap(({ kind, mark, position, ended }) => {
    if (kind !== 'read' || position === start) return []
    const set = sets.get(mark)
    if (!set) return [`${mark} was read, and nobody wrote it`]
    if (set.began > ended) return [`${mark} was read before it was written`]
    return set.outcome === 'refused' || set.outcome === 'stale' ? [`${mark} was refused, and is read`] : []
  })
}

/** What begins after another has ended sees its state, or a later one. */
function findReturns(known: readonly Deed[]): readonly string[] {
  const ends = known.toSorted((a, b) => a.ended - b.ended)
  let [at, highest] = [0, start]
  return known
    .toSorted((a, b) => a.began - b.began)
    .flatMap(deed => {
      for (; (ends[at]?.ended ?? Number.POSITIVE_INFINITY) < deed.began; at++)
        highest = Math.max(highest, ends[at]?.position ?? start)
      const least = deed.kind === 'set' ? highest + 1 : highest
      return deed.position < least ? [`${deed.mark} is at ${deed.position}, after ${highest} was seen`] : []
    })
}

/** Who is told that another came first can name one who may have: it wrote that position, and had begun. */
function findNeedlessRefusals(deeds: readonly Deed[]): readonly string[] {
  const others = Map.groupBy(
    deeds.filter(deed => deed.kind === 'set' && (deed.outcome === 'done' || deed.outcome === 'unknown')),
    deed => deed.position,
  )
  return deeds.flatMap(({ outcome, position, mark, ended }) =>
    outcome === 'stale' && !others.get(position)?.some(other => other.began < ended)
      ? [`${mark} was told that another wrote position ${position}, and nobody had`]
      : [],
  )
}

/**
 * Judges the feed by what was read.
 * @param told the whole feed, in its order, once nobody changes anything
 * @param followed the same as somebody read it meanwhile, from one sequence to the next
 * @param last the position of each key in the end; it was `start` before its first change
 */
export function judgeFeed(
  told: readonly ToldChange[],
  followed: readonly ToldChange[],
  last: ReadonlyMap<string, number>,
  quoted: readonly QuotedPosition[],
): readonly string[] {
  const quotes = new Map(quoted.map(quote => [quote.id, quote]))
  const at = new Map<string, number>()
  const versions = new Map<string, number>()
  const made = new Set<string>()
  const problems: string[] = []
  for (const { sequence, resource, id, version, what } of told) {
    const item = `${resource} ${id}`
    if (version <= (versions.get(item) ?? 0)) problems.push(`${sequence}: ${item} goes back to version ${version}`)
    versions.set(item, version)
    if (last.has(id)) at.set(id, (at.get(id) ?? start - 1) + 1)
    if (what !== 'created') continue
    if (made.has(item)) problems.push(`${sequence}: ${item} was created twice`)
    made.add(item)
    const quote = quotes.get(id)
    const now = quote && at.get(quote.key)
    if (quote && quote.position !== now)
      problems.push(`${sequence}: ${id} has read position ${quote.position} of ${quote.key}, which was at ${now}`)
    quotes.delete(id)
  }
  for (const id of quotes.keys()) problems.push(`${id} was made, and is not told`)
  for (const [key, position] of last)
    if (at.get(key) !== position) problems.push(`${key} is at ${position}, and ${at.get(key)} changes are told`)
  return [...problems, ...findMissed(told, followed)]
}

/** Who reads on from the last sequence misses nothing, and sees nothing that is not there later. */
function findMissed(told: readonly ToldChange[], followed: readonly ToldChange[]): readonly string[] {
  const lines = (of: readonly ToldChange[]) => of.map(each => `${each.sequence} ${each.id} ${each.version}`)
  const [all, seen] = [new Set(lines(told)), new Set(lines(followed))]
  const missed = [...all].filter(line => !seen.has(line)).map(line => `${line} was missed by who follows`)
  const gone = [...seen].filter(line => !all.has(line)).map(line => `${line} was told, and is not there`)
  return [...missed, ...gone]
}
