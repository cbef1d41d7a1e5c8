/**
 * Compares two descriptions of one face: what was added, removed and changed, separately for the
 * callers that write and for those that read (rules A9.3, A9.4, B9.2).
 */
import { compareTypes } from './compare-types.ts'
import { type AffectedParty, type ChangeVerdict, judgeTypeChange, ruleOfChange } from './judge-changes.ts'
import type {
  DescribedFace,
  DescribedInput,
  DescribedOperation,
  DescribedOutput,
  ServiceDescription,
} from './service-description.ts'

export interface ServiceDifference {
  readonly face: DescribedFace
  /** Undefined: no caller of this kind is affected. */
  readonly readers: ChangeVerdict | undefined
  readonly writers: ChangeVerdict | undefined
  /** `A9.4`. */
  readonly rule: string
  /** The place: an operation, a type, or a member in it. */
  readonly place: string
  readonly text: string
  /** What to do instead; empty if nothing needs to be done. */
  readonly cure: string
  /** The affected operations, sorted. */
  readonly operations: readonly string[]
}
type OperationFinding = Omit<ServiceDifference, 'face' | 'rule' | 'operations'>
type OperationPair = readonly [before: DescribedOperation, after: DescribedOperation]

export const isBreaking = ({ readers, writers }: Pick<ServiceDifference, 'readers' | 'writers'>): boolean =>
  readers === 'breaking' || writers === 'breaking'

/**
 * @returns the differences, breaking ones first; one that affects several operations is listed once
 */
export function compareServices(before: ServiceDescription, after: ServiceDescription): readonly ServiceDifference[] {
  const found = new Map<string, OperationFinding & { readonly operations: Set<string> }>()
  const add = (operation: string, finding: OperationFinding): void => {
    const key = `${finding.place}\n${finding.text}`
    const known = found.get(key)
    found.set(key, known ? mergeFindings(known, finding, operation) : { ...finding, operations: new Set([operation]) })
  }
  for (const name of new Set([...before.operations.keys(), ...after.operations.keys()]))
    for (const finding of compareOperation(name, before, after)) add(name, finding)
  return [...found.values()]
    .map(({ operations, ...finding }) => ({
      ...finding,
      face: before.face,
      rule: ruleOfChange(before.face, isBreaking(finding) ? 'breaking' : 'compatible'),
      operations: [...operations].sort(),
    }))
    .sort(
      (a, b) => Number(isBreaking(b)) - Number(isBreaking(a)) || (a.place < b.place ? -1 : a.place > b.place ? 1 : 0),
    )
}

const worse = (a: ChangeVerdict | undefined, b: ChangeVerdict | undefined): ChangeVerdict | undefined =>
  a === 'breaking' || b === 'breaking' ? 'breaking' : (a ?? b)
const mergeFindings = (
  known: OperationFinding & { readonly operations: Set<string> },
  more: OperationFinding,
  operation: string,
) => ({
  ...known,
  readers: worse(known.readers, more.readers),
  writers: worse(known.writers, more.writers),
  cure: known.cure || more.cure,
  operations: known.operations.add(operation),
})

const both = (verdict: ChangeVerdict): Pick<OperationFinding, 'readers' | 'writers'> => ({
  readers: verdict,
  writers: verdict,
})
const forWriters = (verdict: ChangeVerdict): Pick<OperationFinding, 'readers' | 'writers'> => ({
  readers: undefined,
  writers: verdict,
})
const forReaders = (verdict: ChangeVerdict): Pick<OperationFinding, 'readers' | 'writers'> => ({
  readers: verdict,
  writers: undefined,
})

function compareOperation(
  name: string,
  before: ServiceDescription,
  after: ServiceDescription,
): readonly OperationFinding[] {
  const old = before.operations.get(name)
  const now = after.operations.get(name)
  if (!old) return [{ ...both('compatible'), place: name, text: 'operation added', cure: '' }]
  if (!now)
    return [
      { ...both('breaking'), place: name, text: 'operation removed', cure: 'keep it until the sunset of its version' },
    ]
  const pair: OperationPair = [old, now]
  return [
    ...compareFacts(name, pair),
    ...compareWays(name, pair),
    ...compareMemberWays(name, pair),
    ...compareInputs(name, pair, before, after),
    ...compareOutputs(name, pair, before, after),
  ]
}

function compareFacts(name: string, [before, after]: OperationPair): readonly OperationFinding[] {
  return [...new Set([...before.facts.keys(), ...after.facts.keys()])].flatMap(fact => {
    const [old = '(none)', now = '(none)'] = [before.facts.get(fact), after.facts.get(fact)]
    const cure = 'keep it: otherwise, messages of current clients do not arrive'
    return old === now ? [] : [{ ...both('breaking'), place: name, text: `${fact} ${old} → ${now}`, cure }]
  })
}

function compareWays(name: string, [before, after]: OperationPair): readonly OperationFinding[] {
  return [...new Set([...before.ways.keys(), ...after.ways.keys()])].flatMap(kind => {
    return compareLists(name, kind, forWriters, before.ways.get(kind) ?? [], after.ways.get(kind) ?? [])
  })
}
const compareMemberWays = (name: string, [before, after]: OperationPair): readonly OperationFinding[] =>
  [...(before.memberWays ?? [])].flatMap(([kind, { party, ways }]) => {
    const now = after.memberWays?.get(kind)
    return now ? compareLists(name, kind, party === 'readers' ? forReaders : forWriters, ways, now.ways) : []
  })

/** Then the loss of another way breaks no caller. */
const isOpenToAll = (way: string): boolean => /^anyone($| that )/.test(way)

function compareLists(
  place: string,
  kind: string,
  forParty: typeof forWriters,
  old: readonly string[],
  now: readonly string[],
): readonly OperationFinding[] {
  const cure = 'keep allowing it: callers rely on it'
  const gone = now.some(isOpenToAll) ? [] : old.filter(each => !now.includes(each))
  const come = now.filter(each => !old.includes(each))
  return [
    ...gone.map(each => ({ ...forParty('breaking'), place, text: `${kind} ${each} removed`, cure })),
    ...come.map(each => ({ ...forParty('compatible'), place, text: `${kind} ${each} added`, cure: '' })),
  ]
}

function compareInputs(
  name: string,
  [before, after]: OperationPair,
  from: ServiceDescription,
  to: ServiceDescription,
): readonly OperationFinding[] {
  return [...new Set([...before.inputs.keys(), ...after.inputs.keys()])].flatMap(input => {
    const place = `${name} ${input}`
    const [old, now] = [before.inputs.get(input), after.inputs.get(input)]
    if (!old && now)
      return [
        addedInput(
          place,
          now,
          [...before.inputs.values()].some(each => each.isAlternative),
        ),
      ]
    if (old && !now)
      return [{ ...forWriters('breaking'), place, text: 'removed', cure: 'keep accepting it, if only to ignore it' }]
    if (!old || !now) return []
    return [...compareNeed(place, old, now), ...compareContent(place, 'writers', old, now, from, to)]
  })
}

/** A further media type is an additional way, not a demand. */
function addedInput(
  place: string,
  { isRequired, isAlternative }: DescribedInput,
  hasOthers: boolean,
): OperationFinding {
  if (!isRequired || (isAlternative && hasOthers))
    return { ...forWriters('compatible'), place, text: 'optional input added', cure: '' }
  return { ...forWriters('breaking'), place, text: 'required input added', cure: 'make it optional, with a default' }
}
const compareNeed = (place: string, before: DescribedInput, after: DescribedInput): readonly OperationFinding[] => {
  if (before.isRequired === after.isRequired) return []
  return after.isRequired
    ? [{ ...forWriters('breaking'), place, text: 'optional → required', cure: 'leave it optional, with a default' }]
    : [{ ...forWriters('compatible'), place, text: 'required → optional', cure: '' }]
}

function compareContent(
  place: string,
  party: AffectedParty,
  before: Pick<DescribedInput, 'type'>,
  after: Pick<DescribedInput, 'type'>,
  from: ServiceDescription,
  to: ServiceDescription,
): readonly OperationFinding[] {
  return compareTypes({ place, before: before.type, after: after.type }, from.types, to.types).map(change => {
    const { verdict, cure } = judgeTypeChange(from.face, party, change)
    const who = party === 'writers' ? forWriters(verdict) : forReaders(verdict)
    return { ...who, place: change.place, text: change.text, cure }
  })
}

function compareOutputs(
  name: string,
  [before, after]: OperationPair,
  from: ServiceDescription,
  to: ServiceDescription,
): readonly OperationFinding[] {
  const had = new Set([...before.outputs.values()].map(each => each.outcome))
  return [...new Set([...before.outputs.keys(), ...after.outputs.keys()])].flatMap(output => {
    const place = `${name} ${output}`
    const [old, now] = [before.outputs.get(output), after.outputs.get(output)]
    if (!old && now) return [addedOutput(place, now, had.has(now.outcome))]
    if (old && !now) return [removedOutput(place, old, [...after.outputs.values()])]
    return old && now ? compareContent(place, 'readers', old, now, from, to) : []
  })
}

/** RFC 9110 §15: a client treats an unknown error like the general one of its class. */
function addedOutput(place: string, { kind }: DescribedOutput, isKnownOutcome: boolean): OperationFinding {
  const isNewSuccess = kind === 'content' && !isKnownOutcome
  return isNewSuccess
    ? {
        ...forReaders('breaking'),
        place,
        text: 'outcome added',
        cure: 'callers do not expect it: add it in a new version',
      }
    : { ...forReaders('compatible'), place, text: 'added', cure: '' }
}
/** A success that no longer occurs breaks no caller if its media types remain elsewhere. */
function removedOutput(place: string, old: DescribedOutput, rest: readonly DescribedOutput[]): OperationFinding {
  const isStillThere = rest.some(each => each.outcome === old.outcome)
  if (old.kind === 'error' || (old.kind === 'content' && !isStillThere))
    return { ...forReaders('compatible'), place, text: 'no longer occurs', cure: '' }
  return { ...forReaders('breaking'), place, text: 'removed', cure: 'keep sending it to clients that request it' }
}
