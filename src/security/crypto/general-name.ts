/** GeneralName (RFC 5280 §4.2.1.6): the name of a subject, a constraint, or a place of CRLs. */

import { constructedTag, type DerValue, NotDer, primitiveTag, readDer, readDerValues } from './der.ts'
import { type DistinguishedName, readDistinguishedName, writeNameKey } from './distinguished-name.ts'

export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly value: string }
  | { readonly kind: 'directory'; readonly value: DistinguishedName }
  | { readonly kind: 'ip'; readonly value: Buffer }
  /** otherName, x400Address, ediPartyName, registeredID: known by their tag, but not compared. */
  | { readonly kind: 'other'; readonly tag: number; readonly value: Buffer }

const textKindOf: ReadonlyMap<number, 'email' | 'dns' | 'uri'> = new Map([
  [primitiveTag(1), 'email'],
  [primitiveTag(2), 'dns'],
  [primitiveTag(6), 'uri'],
])
const directoryTag = constructedTag(4)
const ipTag = primitiveTag(7)
const otherTags = new Set([constructedTag(0), constructedTag(3), constructedTag(5), primitiveTag(8)])

/** @throws NotDer */
export function readGeneralName({ tag, content, octets }: DerValue): GeneralName {
  const kind = textKindOf.get(tag)
  if (kind) return { kind, value: content.toString('latin1') }
  if (tag === directoryTag) return { kind: 'directory', value: readDistinguishedName(readDer(content)) }
  if (tag === ipTag) return { kind: 'ip', value: content }
  if (otherTags.has(tag)) return { kind: 'other', tag, value: octets }
  throw new NotDer('a name of an unknown form')
}

/** GeneralNames, whatever their tag. @throws NotDer */
export function readGeneralNames({ content }: DerValue): GeneralName[] {
  const names = readDerValues(content).map(readGeneralName)
  if (names.length === 0) throw new NotDer('an empty list of names')
  return names
}

/** The directory names among these. */
export const listDirectoryNames = (names: readonly GeneralName[]): DistinguishedName[] =>
  names.flatMap(name => (name.kind === 'directory' ? [name.value] : []))

/** A text that is equal for equal names only. */
export function writeGeneralNameKey(name: GeneralName): string {
  if (name.kind === 'directory') return `directory:${writeNameKey(name.value)}`
  if (name.kind === 'ip' || name.kind === 'other') return `${name.kind}:${name.value.toString('latin1')}`
  return `${name.kind}:${name.kind === 'dns' ? name.value.toLowerCase() : name.value}`
}
