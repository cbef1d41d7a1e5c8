/**
 * The fields of a resource as a version has them: without those that it leaves out, some under
 * another name, some with another type, and groups in place of groups. A field keeps its place.
 */
import { type AnyField, Field, type Fields } from './field.ts'
import type { Reshape } from './reshape.ts'
import type { Resource } from './resource.ts'
import type { Retype } from './retype.ts'
import type { VersionRule } from './service.ts'

/** The field at the beginning of a path to a nested reference. */
export const firstStep = (path: string): string => path.split('.', 1)[0] ?? ''
/** The path with another field as its first step. */
export const withFirstStep = (path: string, field: string): string => field + path.slice(firstStep(path).length)

/** The name in a version of a field of the newest one, or the path that begins with it. */
export function nameInVersion({ renames }: VersionRule, resource: string, newest: string): string {
  const field = firstStep(newest)
  const [name] = Object.entries(renames?.[resource] ?? {}).find(([, each]) => each === field) ?? []
  return name === undefined ? newest : withFirstStep(newest, name)
}

/**
 * The group that a field of the newest version belongs to, if the version replaces it by others.
 */
export const findReshape = ({ reshapes }: VersionRule, resource: string, newest: string): Reshape | undefined =>
  reshapes?.[resource]?.find(each => each.newest.includes(newest))

export function fieldsInVersion(rule: VersionRule, { name: resource, fields }: Resource): Fields {
  const { without, retypes } = rule
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([newest]) => !without?.[resource]?.includes(newest))
      .flatMap(([newest, field]) => {
        const group = findReshape(rule, resource, newest)
        if (group) return group.newest[0] === newest ? Object.entries(group.former) : []
        const name = nameInVersion(rule, resource, newest)
        const retype = retypes?.[resource]?.[name]
        return [[name, retype ? toFormerField(retype, field) : field] as const]
      }),
  )
}

/** The newest version's marks of presence apply to each. */
const toFormerField = ({ former: { shape, isAttribute, texts } }: Retype, field: AnyField): AnyField =>
  new Field(shape, { ...field, isAttribute, texts })
