/** Guesses the states of a resource if the names of its actions say to which state they lead. */
import { type AnyField, type Fields, t } from '../../contract/field.ts'
import type { AnyAction } from '../../contract/resource.ts'
import type { Losses } from '../loss.ts'

interface GuessedMachine {
  readonly states: readonly string[]
  readonly actions: Readonly<Record<string, AnyAction>>
  /** The field of the state, if there are states. */
  readonly fields: Readonly<Record<string, AnyField>>
}

/** A field `state` with texts is one if every text except the first is the result of an action. */
export function guessMachine(
  name: string,
  fields: Fields,
  actions: Readonly<Record<string, AnyAction>>,
  losses: Losses,
): GuessedMachine {
  const none = { states: [], actions, fields: {} }
  const shape = fields['state']?.shape
  if (shape?.kind !== 'enum' || shape.values.length < 2) return none
  const [, ...later] = shape.values
  const leading = Object.entries(actions).flatMap(([verb, action]) => {
    const to = action.effect === 'transition' ? later.find(state => isPastOf(state, bareVerb(verb))) : undefined
    return to === undefined ? [] : [[verb, to] as const]
  })
  if (later.some(state => leading.every(([, to]) => to !== state))) return none
  losses.add(`${name}.state`, 'the document does not say from which states an action leads: check the guess')
  const ends = new Map(leading)
  const moved = Object.entries(actions).map(([verb, action]): [string, AnyAction] => {
    const to = ends.get(verb)
    return [verb, to === undefined ? action : { ...action, to, from: guessOrigins(shape.values, verb, to, ends) }]
  })
  const [first = '', ...others] = shape.values
  return {
    states: shape.values,
    actions: Object.fromEntries(moved),
    fields: { state: t.enum(first, ...others).readOnly() },
  }
}

const endings = /^(?:cancel|abort|reject|decline|void|close|withdraw|expire|delete|archive|fail|terminate|revoke)/
/** A step leads from the state listed before its own; a final action from all states before it. */
function guessOrigins(
  states: readonly string[],
  verb: string,
  to: string,
  ends: ReadonlyMap<string, string>,
): readonly string[] {
  const isEnding = (state: string): boolean =>
    [...ends].some(([each, end]) => end === state && endings.test(bareVerb(each)))
  const before = states.slice(0, states.indexOf(to)).filter(state => !isEnding(state))
  return endings.test(bareVerb(verb)) ? before : before.slice(-1)
}

/** `doCapture` → `capture`: an action whose path is its verb. */
const bareVerb = (verb: string): string => verb.replace(/^do(?=[A-Z])/, '').toLowerCase()

const irregular: Readonly<Record<string, string>> = {
  __proto__: null as never,
  pay: 'paid',
  see: 'seen',
  send: 'sent',
  begin: 'begun',
  hold: 'held',
  sell: 'sold',
  build: 'built',
  lose: 'lost',
  withdraw: 'withdrawn',
  take: 'taken',
  give: 'given',
  run: 'running',
  start: 'running',
}
function isPastOf(state: string, verb: string): boolean {
  const last = verb.slice(-1)
  const regular = [`${verb}ed`, `${verb}d`, `${verb}${last}ed`, `${verb.slice(0, -1)}ied`]
  return [irregular[verb], ...regular].includes(state.toLowerCase())
}
