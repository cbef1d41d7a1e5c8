/**
 * What an instance tells other programs on its database: the tables and fields that it needs, in a
 * record that expires unless the instance renews it.
 */
import { storedFieldsOf } from '../contract/computed-fields.ts'
import type { Service } from '../contract/service.ts'
import type { Steps } from './database-shape.ts'
import { sql } from './sql.ts'
import { parameterAt } from './statement.ts'
import { tableNameOf } from './stored-resources.ts'

/** The space of these records. */
export const instanceSpace = 'instance'

export interface InstanceNeeds {
  /** For a person: `host, process 4711`. */
  readonly instance: string
  /** The name of its service; absent in the record of an older release. */
  readonly service?: string
  /** Tables and their fields by their names in the database: `notes`, `notes.text`. */
  readonly names: readonly string[]
}

export const neededNames = ({ resources }: Service): readonly string[] =>
  resources.flatMap(resource => {
    const table = tableNameOf(resource)
    const fields = Object.entries(storedFieldsOf(resource))
    return [table, ...fields.map(([field, { formerName }]) => `${table}.${formerName ?? field}`)]
  })

export interface NeedOfName {
  readonly name: string
  readonly instance: string
  /** Seconds until the record expires, unless the instance renews it. */
  readonly seconds: number
}
/** Which of the names some instance still needs at this time, in milliseconds since 1970. */
export function* findNeeds(names: readonly string[], now: number): Steps<readonly NeedOfName[]> {
  const rows = yield {
    text: sql`select "value", "expires" from "_memo" where "space" = ${parameterAt(0)} and "expires" > ${parameterAt(1)} order by "key"`,
    values: [instanceSpace, now],
  }
  return rows.flatMap(([value, expires]) => {
    const needs = JSON.parse(String(value)) as InstanceNeeds // as `InstanceLease` wrote it
    const seconds = Math.ceil((Number(expires) - now) / 1000)
    return names.filter(name => needs.names.includes(name)).map(name => ({ name, instance: needs.instance, seconds }))
  })
}
