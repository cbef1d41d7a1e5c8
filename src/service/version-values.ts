/**
 * Converts item values between a version of the contract and the newest one: names first, then
 * types; groups of fields separately.
 *  (1) A value that means the same as the item's current one keeps the newest value, which may say
 *      more: a date that a client of the version sends back does not truncate a time.
 *  (2) A value of the version that does not fit the newest type is the caller's problem, reported
 *      under the version's name; one that `down` makes and the version does not allow is a bug.
 */
import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import type { Resource } from '../contract/resource.ts'
import type { Retype } from '../contract/retype.ts'
import type { VersionRule } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import { fieldsInVersion, firstStep, nameInVersion, withFirstStep } from '../contract/version-fields.ts'
import { renameKeys } from '../contract/version-view.ts'
import type { Input } from './call.ts'
import { FieldGroup } from './field-group.ts'
import { refuse } from './refusal.ts'
import { isShared, type Snapshot } from './store.ts'
import { isSameValue } from './typed-json.ts'

/** The items of one resource, as one version has them. */
export class VersionValues {
  readonly #version: string
  readonly #resource: Resource
  readonly #rule: VersionRule
  readonly #retypes: Readonly<Record<string, Retype>>
  readonly #groups: readonly FieldGroup[]
  readonly #fields: Fields
  /** The newest snapshot for one that a face has. */
  readonly #newest = new WeakMap<Snapshot, Snapshot>()

  constructor(version: string, rule: VersionRule, resource: Resource) {
    this.#version = version
    this.#resource = resource
    this.#rule = rule
    this.#retypes = rule.retypes?.[resource.name] ?? {}
    this.#groups = (rule.reshapes?.[resource.name] ?? []).map(each => new FieldGroup(version, resource, each))
    this.#fields = fieldsInVersion(rule, resource)
  }

  /**
   * For a field that the version has in a group with others: the first field of the group there.
   */
  readonly nameOf = (newest: string): string =>
    this.#groups.find(each => each.hasNewest(firstStep(newest)))?.firstName ??
    nameInVersion(this.#rule, this.#resource.name, newest)
  readonly newestNameOf = (name: string): string => {
    const newest = ownMember(this.#rule.renames?.[this.#resource.name] ?? {}, firstStep(name))
    return newest === undefined ? name : withFirstStep(name, newest)
  }

  isRetyped(name: string): boolean {
    return Object.hasOwn(this.#retypes, name)
  }

  /** The same object for the same snapshot: faces remember what they have written for one. */
  readonly snapshotOf: (item: Snapshot) => Snapshot = memoizeByObject((item: Snapshot) => {
    const view = { ...item, value: this.#valueOf(item.value) }
    this.#newest.set(view, item)
    return isShared(item) ? Object.freeze(view) : view
  })
  readonly newestOf = (view: Snapshot): Snapshot => this.#newest.get(view) ?? view

  #valueOf(value: Values): Values {
    const named = renameKeys(
      Object.fromEntries(Object.entries(value).filter(([newest]) => this.#isShown(newest))),
      this.nameOf,
    )
    return Object.assign({ ...named, ...this.#retypedOf(named) }, ...this.#groups.map(each => each.down(value)))
  }
  /** A field that the version leaves out may have the name of another field there. */
  #isShown(newest: string): boolean {
    return (
      Object.hasOwn(this.#fields, this.nameOf(newest)) &&
      !this.#rule.without?.[this.#resource.name]?.includes(newest) &&
      !this.#groups.some(each => each.hasNewest(newest))
    )
  }
  #retypedOf(named: Values): Values {
    const present = Object.keys(this.#retypes).filter(name => named[name] !== undefined)
    return Object.fromEntries(present.map(name => [name, this.down(name, named[name])]))
  }

  /** A value of the newest version, as a value of the field with this name in this version. */
  down(name: string, newest: unknown): unknown {
    const retype = this.#retypes[name]
    if (!retype || newest === null || newest === undefined) return newest
    const value = convertBy(retype.down, newest)
    const [problem] = checkValue({ [name]: this.#fields[name] as AnyField }, { [name]: value })
    if (problem)
      throw new Error(
        `${this.#version}: down() of ${this.#resource.name}.${name} returned a value that ${problem.detail}: make it one of the version's type`,
      )
    return value
  }

  /** A value of the field with this name in this version, as the newest version has it. */
  up(name: string, content: unknown, problems: FieldProblem[]): unknown {
    const retype = this.#retypes[name]
    if (!retype || content === null || content === undefined) return content
    const value = convertBy(retype.up, content)
    const newest = this.newestNameOf(name)
    const [problem] = checkValue({ [newest]: this.#resource.fields[newest] as AnyField }, { [newest]: value })
    if (problem)
      problems.push({
        path: [name],
        code: problem.code,
        detail: `has no equivalent in the newest version of the service, where the value ${problem.detail}`,
      })
    return value
  }

  /** Content of the version, for a call of the newest one. */
  inputOf({ value, server }: Input, current: Snapshot | undefined): Input {
    const problems: FieldProblem[] = []
    const convert = (name: string, content: unknown): unknown => {
      const stored = current && ownMember(current.value, this.newestNameOf(name))
      const isKept = this.isRetyped(name) && stored !== undefined && isSameValue(this.down(name, stored), content) // (1)
      return isKept ? stored : this.up(name, content, problems)
    }
    const isGrouped = (name: unknown): boolean => this.#groups.some(each => each.hasField(String(name)))
    const ungrouped = Object.fromEntries(Object.entries(value).filter(([name]) => !isGrouped(name)))
    const grouped = this.#groups.map(each => each.up(value, current?.value, problems))
    problems.push(...this.#groups.flatMap(each => each.findChanged(server, current?.value)))
    const input = {
      value: Object.assign(this.#newestValueOf(ungrouped, convert), ...grouped),
      server: server
        .filter(each => !isGrouped(each.path[0]))
        .map(({ path: [name = '', ...inner], value }) => ({
          path: [this.newestNameOf(String(name)), ...inner],
          value: inner.length > 0 ? value : convert(String(name), value),
        })),
    }
    return problems.length > 0 ? refuse({ kind: 'invalid', problems }) : input // (2)
  }

  #newestValueOf(value: Values, convert: (name: string, content: unknown) => unknown): Values {
    return Object.fromEntries(
      Object.entries(value).map(([name, content]) => [this.newestNameOf(name), convert(name, content)]),
    )
  }

  /** A path in the newest content; to the whole field if the version has it in another type. */
  readonly pathOf = ([newest, ...inner]: FieldProblem['path']): FieldProblem['path'] => {
    if (typeof newest !== 'string') return newest === undefined ? [] : [newest, ...inner]
    const name = this.nameOf(newest)
    const isWhole = this.isRetyped(name) || this.#groups.some(each => each.hasNewest(newest))
    return isWhole ? [name] : [name, ...inner]
  }
}

const convertBy = (convert: Retype['up'], value: unknown): unknown => (convert as (value: unknown) => unknown)(value)
