/**
 * What a bridge forgives in a response that breaks its own WSDL. Whatever it passes on is valid by
 * the contract that its callers know, so it cannot forgive anything that would leave out a value of
 * that contract.
 */
import type { Forgiven, Leniency } from '../soap/codecs/mended-element.ts'

/** Besides `envelope`, which is always forgiven: the backend may be an old one. */
export const bridgeLeniencies = ['namespace', 'order', 'unknown', 'nil'] as const satisfies readonly Leniency[]
export type BridgeLeniency = (typeof bridgeLeniencies)[number]

export const isBridgeLeniency = (name: unknown): name is BridgeLeniency => bridgeLeniencies.some(each => each === name)

/** @param place where the names are, for the error */
export function requireLeniencies(place: string, names: readonly unknown[]): void {
  const wrong = names.find(each => !isBridgeLeniency(each))
  if (wrong !== undefined) throw new Error(`${place} names ${String(wrong)}: use ${bridgeLeniencies.join(', ')}`)
}

/** Places of messages that are remembered: those of a backend are few. */
const placesMax = 1000

/**
 * Tells the operator what was forgiven, once for each place in a message, since it recurs with
 * every message.
 */
export function createForgivenNotes(note: (line: string) => void): (operation: string, forgiven: Forgiven) => void {
  const reported = new Set<string>()
  return (operation, { kind, path, detail }) => {
    const place = `${operation} ${kind} ${path.replace(/\[\d+\]/g, '')}`
    if (reported.has(place) || reported.size === placesMax) return
    reported.add(place)
    note(`${operation}: forgiven (${kind}), reported once: ${path === '' ? 'the answer' : path} ${detail}`)
    if (reported.size === placesMax)
      note(`flaws at ${placesMax} places were tolerated: further places are not reported`)
  }
}
