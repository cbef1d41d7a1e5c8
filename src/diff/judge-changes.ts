/**
 * Decides which change breaks which callers. A writer sends the values of requests: it breaks if
 * something that was accepted is now refused. A reader receives the values of responses: it breaks
 * if something unexpected arrives, or if something that it relied on is gone.
 */
import type { TypeChange, TypeEffect } from './compare-types.ts'
import type { DescribedFace } from './service-description.ts'

export type ChangeVerdict = 'breaking' | 'compatible'
export type AffectedParty = 'readers' | 'writers'

/** The rule of the conventions that covers this change to this face. */
export function ruleOfChange(face: DescribedFace, verdict: ChangeVerdict): string {
  if (face === 'soap') return 'B9.2'
  return verdict === 'breaking' ? 'A9.4' : 'A9.3'
}

export interface TypeJudgement {
  readonly verdict: ChangeVerdict
  /** What to do instead of a breaking change; empty for a compatible one. */
  readonly cure: string
}

const compatible: TypeJudgement = { verdict: 'compatible', cure: '' }
const breakingWith = (cure: string): TypeJudgement => ({ verdict: 'breaking', cure })
const inNewVersion = 'publish it in a new version, and keep this one until its sunset'

const ofWriters: Readonly<Record<TypeEffect, TypeJudgement>> = {
  wider: compatible,
  addition: compatible,
  narrower: breakingWith(`keep accepting what callers send today, or ${inNewVersion}`),
  removal: breakingWith(`keep the member and ignore it, or ${inNewVersion}`),
  other: breakingWith(inNewVersion),
  default: breakingWith(`callers that leave it out now get another value: keep the default, or ${inNewVersion}`),
}
const ofReaders: Readonly<Record<TypeEffect, TypeJudgement>> = {
  narrower: compatible,
  wider: breakingWith(`send only what callers know, or ${inNewVersion}`),
  removal: breakingWith(`keep the member, or ${inNewVersion}`),
  other: breakingWith(inNewVersion),
  addition: compatible,
  default: compatible,
}
/** Measured: zeep and CXF refuse an element that is not in the schema they were generated from. */
const ofStrictReaders = breakingWith(
  'clients made from a WSDL refuse an element they do not know: publish it in a new version',
)

const isNewMember = ({ effect, text }: TypeChange): boolean =>
  effect === 'addition' || (effect === 'narrower' && text === 'required member added')

/** Rule A9.3: REST readers tolerate unknown members; SOAP readers do where the schema says so. */
export function judgeTypeChange(face: DescribedFace, party: AffectedParty, change: TypeChange): TypeJudgement {
  if (party === 'writers') return ofWriters[change.effect]
  if (face === 'soap' && isNewMember(change) && !change.isExpected) return ofStrictReaders
  return ofReaders[change.effect]
}
