/**
 * The fields of a resource as a version has them: without those that it leaves out, some under
 * another name, some in another type. A field keeps its place.
 */
import { type AnyField, Field, type Fields } from './field.ts'
import type { Resource } from './resource.ts'
import type { Retype } from './retype.ts'
import type { VersionRule } from './service.ts'

/** The name in a version of a field of the newest one. */
export const nameInVersion = ({ renames }: VersionRule, resource: string, newest: string): string =>
  Object.entries(renames?.[resource] ?? {}).find(([, each]) => each === newest)?.[0] ?? newest

export function fieldsInVersion(rule: VersionRule, { name: resource, fields }: Resource): Fields {
  const { without, retypes } = rule
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([newest]) => !without?.[resource]?.includes(newest))
      .map(([newest, field]) => {
        const name = nameInVersion(rule, resource, newest)
        const retype = retypes?.[resource]?.[name]
        return [name, retype ? toFormerField(retype, field) : field]
      }),
  )
}

/** What the newest version says of presence holds for each. */
const toFormerField = ({ former: { shape, isAttribute, texts } }: Retype, field: AnyField): AnyField =>
  new Field(shape, { ...field, isAttribute, texts })
