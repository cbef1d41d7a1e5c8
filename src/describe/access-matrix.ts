/**
 * The access policy as a table for reviewers (rules A5.2, A5.3), made from the grants that the
 * service checks.
 */
import { guardedFieldsOf } from '../contract/field-access.ts'
import { listOperations, type Operation } from '../contract/operation.ts'
import { describeFieldAccess } from '../contract/operation-texts.ts'
import { type Grant, listRoles } from '../contract/policy.ts'
import { listPortOperations } from '../contract/port-operation.ts'
import type { Service } from '../contract/service.ts'

/**
 * A Markdown table with a row for each operation and a column for each role, `anyone` first. A cell
 * is `yes`, `own: customer` if the field must equal a claim of the caller, `if …` if a named
 * condition must be met, or the status of the refusal: 401 or 403. Below are the people who have
 * the roles, and the fields that only some callers see or set.
 */
export function writeAccessMatrix(service: Service): string {
  const all = [...listOperations(service), ...listPortOperations(service)]
  const roles = ['*', ...listRoles(all.flatMap(({ grants }) => grants))]
  const head = ['', ...roles.map(role => (role === '*' ? 'anyone' : role))]
  const rows = all.map(operation => [nameOf(operation), ...roles.map(role => describeAccess(operation, role))])
  const described = new Map(
    all.flatMap(({ grants }) =>
      grants.flatMap(each => (each.description === undefined ? [] : [[each.role, each.description]])),
    ),
  )
  const people = roles.flatMap(role => (described.has(role) ? [`- ${role}: ${described.get(role)}`] : []))
  const legend = people.length === 0 ? '' : `\n${people.join('\n')}\n`
  const fields = service.resources.flatMap(resource =>
    guardedFieldsOf(resource).map(([name, access]) => `- ${resource.name}.${name}: ${describeFieldAccess(access)}`),
  )
  const guarded = fields.length === 0 ? '' : `\n${fields.join('\n')}\n`
  return writeMarkdownTable([head, ...rows]) + legend + guarded
}

/** An exchange has the same name as in the audit. */
const nameOf = (operation: Operation): string =>
  operation.kind === 'exchange' ? `${operation.port.port}.${operation.exchangeName}` : operation.name

function describeAccess({ grants }: Operation, role: string): string {
  const grantTexts = grants.filter(grant => grant.role === role || grant.role === '*').map(describeGrant)
  if (grantTexts.includes('yes')) return 'yes'
  if (grantTexts.length > 0) return [...new Set(grantTexts)].join('; ')
  return role === '*' ? '401' : '403'
}

function describeGrant({ where, when }: Grant): string {
  const own = Object.keys(where)
  const parts = [...(own.length > 0 ? [`own: ${own.join(', ')}`] : []), ...(when ? [`if ${when.name}`] : [])]
  return parts.length > 0 ? parts.join(' ') : 'yes'
}

function writeMarkdownTable(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map(row => row.map(cell => cell.replaceAll('|', '\\|')))
  const widths = (escaped[0] ?? []).map((_, i) => Math.max(3, ...escaped.map(row => row[i]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = escaped
  return `${[line(head), line(widths.map(width => '-'.repeat(width))), ...body.map(line)].join('\n')}\n`
}
