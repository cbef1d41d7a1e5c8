/**
 * Mistakes of the versions of a contract, each with its place and its cure (rules A9.1–A9.3, B9.3).
 * Values that can be told from a type alone are converted here once, up and down: a pair that loses
 * one of them does not start.
 */
import { type AnyField, Field, type Fields, mayBeLeftOut } from './field.ts'
import { valueWriter } from './field-json.ts'
import { findUnknownMembers, type MembersOf } from './known-members.ts'
import { isMadeWith } from './member-kinds.ts'
import type { Resource } from './resource.ts'
import type { Retype } from './retype.ts'
import { newestVersion, type Service, type VersionRule } from './service.ts'
import { foldScalar, innerFields, isScalar, type ScalarCases } from './shape.ts'
import { checkValue } from './typed-value.ts'
import { fieldsInVersion, nameInVersion } from './version-fields.ts'

const versionMembers: MembersOf<VersionRule> = {
  without: true,
  renames: true,
  retypes: true,
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
      : otherFieldMistakes(contract, version, checkField)),
  ])
}

/** The mistakes of what a rule says, resource by resource. */
function forResources<T>(
  { resources }: Service,
  said: Readonly<Record<string, T>> | undefined,
  what: string,
  check: (resource: Resource, of: T) => string[],
): string[] {
  return Object.entries(said ?? {}).flatMap(([name, of]) => {
    const resource = resources.find(each => each.name === name)
    return resource ? check(resource, of) : [`${what} of "${name}", which is not a resource: name one of the service's`]
  })
}

/** A version can only hide fields that its clients need not send (rule A9.3). */
function hiddenFieldMistakes(version: string, { name, fields }: Resource, hidden: readonly string[]): string[] {
  const unknown = hidden.filter(field => !Object.hasOwn(fields, field))
  if (unknown.length > 0)
    return unknown.map(
      field => `${version} leaves out ${name}.${field}, which is not a field: use ${Object.keys(fields).join(', ')}`,
    )
  return hidden
    .filter(field => !mayBeHidden(fields[field]) || field === 'id' || field === 'state')
    .map(
      field =>
        `${version} leaves out ${name}.${field}, which its clients then cannot send: make it optional or read-only, or give it a default`,
    )
}

const mayBeHidden = (field: AnyField | undefined): boolean => field !== undefined && mayBeLeftOut(field)

const newestMistakes = (version: string, { renames, retypes, retired }: VersionRule): string[] => [
  ...(renames || retypes
    ? [`${version} is the newest version, which has the fields as they are declared: rename or retype them there`]
    : []),
  ...(retired
    ? [`${version} is the newest version and cannot be retired: declare a newer one, or leave out retired`]
    : []),
]

function otherFieldMistakes(
  contract: Service,
  version: string,
  checkField: (place: string, field: AnyField) => string[],
): string[] {
  const rule = contract.versions[version] ?? {}
  const renames = forResources(contract, rule.renames, `${version} renames fields`, (resource, of) =>
    Object.entries(of).flatMap(([name, newest]) =>
      renameMistakes(
        { contract, version, rule, resource, name, place: `${version} calls ${resource.name}.${newest} "${name}"` },
        newest,
      ),
    ),
  )
  if (renames.length > 0) return renames
  return forResources(contract, rule.retypes, `${version} retypes fields`, (resource, of) =>
    Object.entries(of).flatMap(([name, retype]) => {
      if (!isPair(retype))
        return [
          `${version}: ${resource.name}.${name} is not a retype: write it as retype(${resource.name}.fields.${name}, t.string(), { up, down })`,
        ]
      const at = { contract, version, rule, resource, name, place: `${version}: ${resource.name}.${name}` }
      const mistakes = [...retypeMistakes(at, retype), ...checkField(at.place, retype.former)]
      return mistakes.length > 0 ? mistakes : pairMistakes(at, retype)
    }),
  )
}

/** JavaScript may give anything. */
const isPair = (retype: Partial<Retype>): boolean =>
  isMadeWith('shape', retype.newest) &&
  isMadeWith('shape', retype.former) &&
  typeof retype.up === 'function' &&
  typeof retype.down === 'function'

/** A field that a version has under another name or in another type. */
interface OtherFieldPlace {
  readonly contract: Service
  readonly version: string
  readonly rule: VersionRule
  readonly resource: Resource
  /** In the version. */
  readonly name: string
  readonly place: string
}

const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/
const fixedMistake = (field: AnyField | undefined, name: string): string | undefined => {
  if (name === 'id' || name === 'state') return 'has one name and type in all versions'
  return field?.isInternal ? 'is internal, and seen in no version' : undefined
}

function renameMistakes({ contract, rule, resource, name, place }: OtherFieldPlace, newest: string): string[] {
  const { fields } = resource
  const all = Object.values(rule.renames?.[resource.name] ?? {})
  const hidden = rule.without?.[resource.name] ?? []
  const shown = Object.keys(fields).filter(each => !hidden.includes(each))
  const fixed = fixedMistake(fields[newest], newest)
  const related = hidden.includes(name) ? findRelation(contract, resource, name) : undefined
  return [
    ...(shown.includes(newest) ? [] : [`${place}, but has no such field: use ${shown.join(', ')}`]),
    ...(fixed === undefined ? [] : [`${place}, which ${fixed}: leave it as it is`]),
    ...(fieldNameText.test(name) && name !== 'id' && name !== 'state'
      ? []
      : [`${place}, which is not a valid name of a field: start with a letter, and use letters, digits and "_"`]),
    ...(shown.includes(name) && !all.includes(name)
      ? [`${place}, which is the name of another field of this version: choose another, or leave that one out`]
      : []),
    ...(related === undefined
      ? []
      : [`${place}, the name of a field that it leaves out and that the relation ${related} goes by: choose another`]),
    ...(all.filter(each => each === newest).length > 1
      ? [`${place}, and by another name, too: a field has one name in a version`]
      : []),
  ]
}

function retypeMistakes({ contract, rule, resource, name, place }: OtherFieldPlace, retype: Retype): string[] {
  const known = Object.keys(fieldsInVersion(rule, resource))
  const newest = newestNameOf(rule, resource, name)
  const field = resource.fields[newest]
  if (!field || !known.includes(name))
    return [`${place} is retyped, but the version has no such field: use ${known.join(', ')}`]
  const fixed = fixedMistake(field, newest)
  const related = findRelation(contract, resource, newest)
  return [
    ...(fixed === undefined ? [] : [`${place} ${fixed}: leave it as it is`]),
    ...(retype.newest.shape.kind === field.shape.kind
      ? []
      : [
          `${place} converts another field than ${resource.name}.${newest}: give retype(${resource.name}.fields.${newest}, …)`,
        ]),
    ...(hasReadOnlyParts(field) || hasReadOnlyParts(retype.former)
      ? [
          `${place} has read-only parts, which clients send back as they have read them: retype a field without such, or add a field`,
        ]
      : []),
    ...(related === undefined
      ? []
      : [`${place} is what the relation ${related} goes by: a version can rename it, but has it as a reference`]),
  ]
}

const newestNameOf = (rule: VersionRule, resource: Resource, name: string): string =>
  Object.keys(resource.fields).find(
    each => nameInVersion(rule, resource.name, each) === name && !rule.without?.[resource.name]?.includes(each),
  ) ?? name

const hasReadOnlyParts = ({ shape }: AnyField): boolean =>
  innerFields(shape).some((fields: Fields) =>
    Object.values(fields).some(each => each.isReadOnly || hasReadOnlyParts(each)),
  )

const findRelation = ({ resources }: Service, { name, given }: Resource, field: string): string | undefined =>
  Object.entries(given.relations ?? {}).find(([, each]) => !('of' in each) && each.by === field)?.[0] ??
  resources
    .flatMap(each => Object.entries(each.given.relations ?? {}))
    .find(([, each]) => 'of' in each && each.of === name && each.by === field)?.[0]

/** The law of the pair, for values that its types name. */
function pairMistakes({ rule, resource, name, place }: OtherFieldPlace, retype: Retype): string[] {
  const newest = resource.fields[newestNameOf(rule, resource, name)] as AnyField // has been looked up before
  const there = { field: retype.former, convert: retype.up, how: 'up' }
  const back = { field: newest, convert: retype.down, how: 'down' }
  const found = [
    ...sampleValues(retype.former).flatMap(each => roundMistakes(place, there, back, each, true)),
    ...sampleValues(newest).flatMap(each => roundMistakes(place, back, there, each, retype.exact)),
  ]
  return found.slice(0, 1)
}

interface Way {
  /** Whose values it takes. */
  readonly field: AnyField
  readonly convert: Retype['up']
  readonly how: string
}

function roundMistakes(place: string, way: Way, back: Way, value: unknown, isLaw: boolean): string[] {
  const told = writeSample(way.field, value)
  const made = attemptConversion(way, value)
  if ('thrown' in made)
    return [`${place}: ${way.how}(${told}) throws "${made.thrown}": give a value for each of the type`]
  const [problem] = checkValue({ it: toPlain(back.field) }, { it: made.value })
  if (problem) return [`${place}: ${way.how}(${told}) gives a value that ${problem.detail}: give one of the other type`]
  if (!isLaw) return []
  const again = attemptConversion(back, made.value)
  const isSame =
    'value' in again &&
    checkValue({ it: toPlain(way.field) }, { it: again.value }).length === 0 &&
    writeSample(way.field, again.value) === told
  if (isSame) return []
  const gave = 'thrown' in again ? `throws "${again.thrown}"` : `is ${writeSample(way.field, again.value)}`
  return [
    way.how === 'up'
      ? `${place}: down(up(${told})) ${gave}: make it ${told}, or clients of the version read another value than they sent`
      : `${place}: up(down(${told})) ${gave}: remove \`exact\`, or convert each value to one of its own`,
  ]
}

function attemptConversion(
  { convert }: Way,
  value: unknown,
): { readonly value: unknown } | { readonly thrown: string } {
  try {
    return { value: (convert as (value: unknown) => unknown)(value) }
  } catch (thrown) {
    return { thrown: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** The field whose values are there, and not null. */
const toPlain = ({ shape }: AnyField): AnyField => new Field(shape)

function writeSample(field: AnyField, value: unknown): string {
  const [problem] = checkValue({ it: toPlain(field) }, { it: value })
  return problem ? String(value) : valueWriter(toPlain(field))(value)
}

/** Values that a type names by itself, and its example. */
function sampleValues({ shape, texts }: AnyField): readonly unknown[] {
  const own = isScalar(shape) ? foldScalar(shape, scalarSamples) : []
  return texts?.example === undefined ? own : [...own, texts.example]
}
const boundsOf = ({ min, max }: { readonly min?: unknown; readonly max?: unknown }): unknown[] =>
  [min, max].filter(each => each !== undefined)
const noSamples = (): unknown[] => []
const scalarSamples: ScalarCases<readonly unknown[]> = {
  string: noSamples,
  boolean: () => [true, false],
  int: boundsOf,
  long: boundsOf,
  decimal: noSamples,
  double: boundsOf,
  date: noSamples,
  time: noSamples,
  dateTime: noSamples,
  duration: noSamples,
  bytes: noSamples,
  enum: ({ values }) => values,
  id: noSamples,
  ref: noSamples,
}
