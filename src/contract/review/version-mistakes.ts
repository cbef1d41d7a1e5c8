/**
 * Mistakes in the versions of a contract, each with its place and its cure (rules A9.1–A9.3, B9.3).
 * Values that follow from a type alone are converted once, up and down: a pair that loses one of
 * them does not start (`conversion-law.ts`).
 */
import { type AnyField, mayBeLeftOut } from '../field.ts'
import { findUnknownMembers, type MembersOf } from '../member-kinds.ts'
import type { Resource } from '../resource.ts'
import { newestVersion, type Service, type VersionRule } from '../service.ts'
import { findOtherFieldMistakes, forResources } from './other-field-mistakes.ts'
import { findReshapeMistakes } from './reshape-mistakes.ts'

const versionMembers: MembersOf<VersionRule> = {
  without: true,
  renames: true,
  retypes: true,
  reshapes: true,
  deprecated: true,
  sunset: true,
  retired: true,
  security: true,
  description: true,
}

/** @param checkField the mistakes of a field, wherever it is declared */
export function findVersionMistakes(
  contract: Service,
  checkField: (place: string, field: AnyField) => string[],
): string[] {
  return Object.entries(contract.versions).flatMap(([version, rule]) => [
    ...(/^v[1-9][0-9]*$/.test(version) ? [] : [`"${version}" is not a valid name of a version: use v1, v2, …`]),
    ...[rule.deprecated, rule.sunset]
      .filter(date => date !== undefined && Number.isNaN(Date.parse(date)))
      .map(date => `${version}: "${date}" is not a date: write it as 2027-01-31`),
    ...(rule.deprecated !== undefined &&
    rule.sunset !== undefined &&
    Date.parse(rule.sunset) < Date.parse(rule.deprecated)
      ? [
          `${version} has its sunset ${rule.sunset} before it is deprecated ${rule.deprecated}: let it end later (RFC 9745 §4)`,
        ]
      : []),
    ...findUnknownMembers(version, rule, versionMembers),
    ...forResources(contract, rule.without, `${version} leaves out fields`, (resource, fields) =>
      hiddenFieldMistakes(version, resource, fields),
    ),
    ...(version === newestVersion(contract)
      ? newestMistakes(version, rule)
      : [
          ...findOtherFieldMistakes(contract, version, checkField),
          ...findReshapeMistakes(contract, version, checkField),
        ]),
  ])
}

/** A version can only hide fields that its clients need not send (rule A9.3). */
function hiddenFieldMistakes(version: string, { name, fields, within }: Resource, hidden: readonly string[]): string[] {
  const unknown = hidden.filter(field => !Object.hasOwn(fields, field))
  if (unknown.length > 0)
    return unknown.map(
      field => `${version} leaves out ${name}.${field}, which is not a field: use ${Object.keys(fields).join(', ')}`,
    )
  if (within !== undefined && hidden.includes(within))
    return [`${version} leaves out ${name}.${within}, which names the parent: rename it there, or leave it as it is`]
  return hidden
    .filter(field => !mayBeHidden(fields[field]) || field === 'id' || field === 'state')
    .map(
      field =>
        `${version} leaves out ${name}.${field}, which its clients then cannot send: make it optional or read-only, give it a default, or convert it together with another field (reshapes)`,
    )
}

const mayBeHidden = (field: AnyField | undefined): boolean => field !== undefined && mayBeLeftOut(field)

const newestMistakes = (version: string, { renames, retypes, reshapes, retired }: VersionRule): string[] => [
  ...(renames || retypes || reshapes
    ? [`${version} is the newest version, which has the fields as they are declared: change them there`]
    : []),
  ...(retired
    ? [`${version} is the newest version and cannot be retired: declare a newer one, or leave out retired`]
    : []),
]
