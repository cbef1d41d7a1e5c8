/** Single changes that break somebody, though no call of the peers shows it (docs/diff.md). */
export interface UnseenChange {
  readonly face: 'REST' | 'SOAP'
  readonly title: string
  readonly side: 'writers' | 'readers'
  readonly reason: string
}

const soap = (title: string, side: UnseenChange['side'], reason: string): UnseenChange => ({
  ...{ face: 'SOAP', title, side, reason },
})
const rest = (title: string, side: UnseenChange['side'], reason: string): UnseenChange => ({
  ...{ face: 'REST', title, side, reason },
})
const sendsDefault =
  'the class by openapi-generator sends the default that it knows; other clients leave the member out'

export const unseenChanges: readonly UnseenChange[] = [
  soap(
    'an attribute is removed',
    'readers',
    'it was optional: the call continues, and code that relied on it finds nothing',
  ),
  soap(
    'elements in any order become a sequence',
    'writers',
    'XJC writes `xs:all` in the order of the schema; other clients need not',
  ),
  soap('other elements are checked', 'writers', 'our service requires no declaration for what a wildcard admits'),
  soap('other attributes are checked', 'writers', 'our service requires no declaration for what a wildcard admits'),
  soap('a header block is added', 'writers', 'our service accepts a request without it; others need not'),
  rest('the default of a member changes', 'writers', sendsDefault),
  rest('a default is removed', 'writers', sendsDefault),
  rest('a map accepts names beyond its pattern', 'readers', 'neither client checks the names of a map'),
]
/** Whether no call shows that a change breaks a side. */
export const isUnseen = (face: UnseenChange['face'], title: string, side: UnseenChange['side']): boolean =>
  unseenChanges.some(each => each.face === face && each.title === title && each.side === side)
