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
  soap('an attribute goes', 'readers', 'it was optional: a call goes on, and what relied on it finds nothing'),
  soap(
    'elements in any order get an order',
    'writers',
    'XJC writes `xs:all` in the order of the schema; others need not',
  ),
  soap('other elements are checked', 'writers', 'our service asks for no declaration of what a wildcard admits'),
  soap('other attributes are checked', 'writers', 'our service asks for no declaration of what a wildcard admits'),
  soap('a header block comes', 'writers', 'our service takes a request without it; others need not'),
  rest('what stands for an absent member is another', 'writers', sendsDefault),
  rest('a default goes', 'writers', sendsDefault),
  rest('a map takes other names than those of its pattern', 'readers', 'neither client looks at the names of a map'),
]
/** Whether no call shows that a change breaks a side. */
export const isUnseen = (face: UnseenChange['face'], title: string, side: UnseenChange['side']): boolean =>
  unseenChanges.some(each => each.face === face && each.title === title && each.side === side)
