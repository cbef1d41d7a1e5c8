/**
 * Fields that one version has in place of others in the newest one, as one value with many members.
 *  (1) If a group means the same as the item does already, the newest values stay, since they may
 *      say more.
 *  (2) Read-only fields must agree with the item as it is, or are refused: a part of a group cannot
 *      be compared with the values that the newest version will have.
 */

import { omitUndefined, ownMember, pickMembers } from '../base/objects.ts'
import { fillDefaults } from '../contract/default-values.ts'
import type { Fields } from '../contract/field.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import type { Reshape } from '../contract/reshape.ts'
import type { Resource } from '../contract/resource.ts'
import { checkValue } from '../contract/typed-value.ts'
import type { Input } from './call.ts'
import { isSameValue } from './typed-json.ts'

export class FieldGroup {
  readonly #place: string
  readonly #reshape: Reshape
  /** In the newest version. */
  readonly #fields: Fields
  readonly #isReadOnly: boolean

  constructor(version: string, { name, fields }: Resource, reshape: Reshape) {
    this.#place = `${version}: ${name}.${Object.keys(reshape.former).join(', ')}`
    this.#reshape = reshape
    this.#fields = Object.fromEntries(Object.entries(fields).filter(([each]) => reshape.newest.includes(each)))
    this.#isReadOnly = Object.values(this.#fields).every(each => each.isReadOnly)
  }

  hasField(name: string): boolean {
    return Object.hasOwn(this.#reshape.former, name)
  }
  hasNewest(name: string): boolean {
    return Object.hasOwn(this.#fields, name)
  }
  /** The field that a problem with newest values is reported for. */
  get firstName(): string {
    return Object.keys(this.#reshape.former)[0] ?? ''
  }

  /** An item of the newest version, as this version shows it. */
  down(item: Values): Values {
    const values = convertValues(this.#reshape.down, pickMembers(item, this.#fields))
    const [problem] = checkValue(this.#reshape.former, values)
    if (problem)
      throw new Error(
        `${this.#place}: down() returned a value whose ${problem.path.join('.')} ${problem.detail}: make it one of the version's types`,
      )
    return values
  }

  /** The newest values for content of this version. */
  up(content: Values, current: Values | undefined, problems: FieldProblem[]): Values {
    if (this.#isReadOnly) return {}
    const { former, up } = this.#reshape
    const input = omitUndefined(pickMembers(content, former))
    if (current && isSameValue(this.down(current), input)) return pickMembers(current, this.#fields) // (1)
    const values = convertValues(up, fillDefaults(former, input), current && pickMembers(current, this.#fields))
    const [problem] = checkValue(this.#fields, values)
    if (problem)
      problems.push({
        path: [Object.keys(input)[0] ?? this.firstName],
        code: problem.code,
        detail: `has no equivalent in the newest version of the service, whose ${problem.path.join('.')} ${problem.detail}`,
      })
    return values
  }

  /** (2) */
  findChanged(server: Input['server'], current: Values | undefined): readonly FieldProblem[] {
    const currentView = current && this.down(current)
    return server
      .filter(({ path: [name] }) => this.hasField(String(name)))
      .filter(({ path: [name], value }) => !currentView || !isSameValue(ownMember(currentView, String(name)), value))
      .map(({ path }) => ({ path, code: 'readOnly', detail: 'is read-only' }))
  }
}

const convertValues = (convert: Reshape['up'], values: Values, current?: Values): Values =>
  (convert as (values: Values, current?: Values) => Values)(values, current) // its own types name both
