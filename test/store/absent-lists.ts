/** Lists of what is absent, and the indexes by which both databases give them without sorting. */
import { anyone, resource, service, t } from '../../src/index.ts'
import type { Query, Sort } from '../../src/service/store.ts'
import type { Dialect } from '../../src/store/dialect.ts'
import { compileListing } from '../../src/store/listing.ts'
import { sql } from '../../src/store/sql.ts'
import { boundParameters, compileStatement } from '../../src/store/statement.ts'
import { compileTables } from '../../src/store/table.ts'

export const tickets = resource('tickets', {
  fields: {
    id: t.id('t'),
    agent: t.string({ max: 40 }).optional(),
    closed: t.dateTime().optional(),
    kind: t.enum('question', 'complaint'),
    due: t.date(),
  },
}).rules({
  filter: ['agent', 'closed', 'kind'],
  sort: ['due', 'closed'],
  indexes: [
    ['agent', '-_created'],
    ['kind', 'agent', '-due'],
  ],
  allow: { read: [anyone] },
})
export const desk = service('desk', { namespace: 'urn:desk', resources: [tickets], versions: { v1: {} } })

const by = (field: string, descending = false): Sort => ({ field, descending })
const noAgent = { field: 'agent', is: 'absent', value: true } as const
const isQuestion = { field: 'kind', is: 'eq', value: 'question' } as const
type List = Partial<Pick<Query, 'filters' | 'sort' | 'from'>>
/** Each with whether an index has its items in its order. */
export const absentLists: readonly (readonly [name: string, list: List, isServed: boolean])[] = [
  ['the newest without an agent', { filters: [noAgent] }, true],
  ['the same, before a place', { filters: [noAgent], from: { keys: [9], id: 't-9', backwards: true } }, true],
  ['questions without an agent, by a date', { filters: [isQuestion, noAgent], sort: [by('due', true)] }, true],
  ['the same in the other direction', { filters: [noAgent, isQuestion], sort: [by('due')] }, true],
  ['not closed, by the same field', { filters: [{ ...noAgent, field: 'closed' }], sort: [by('closed')] }, true],
  ['without an agent, by a date', { filters: [noAgent], sort: [by('due')] }, false],
  ['with an agent, the newest', { filters: [{ ...noAgent, value: false }] }, false],
]

/** The statement of a page, and its parameters. */
export function compilePage(
  list: List,
  dialect: Dialect,
): { readonly text: string; readonly values: readonly unknown[] } {
  const tables = compileTables(desk, dialect)
  const table = tables.get('tickets')
  if (!table) throw new Error('no tickets')
  const query: Query = { within: 'all', filters: [], sort: [], size: 20, counted: false, ...list }
  const { texts, values } = compileListing(table, tables, query, dialect, sql`"id"`)
  const statement = compileStatement(dialect, texts().page)
  return { text: statement.text, values: boundParameters(statement, values) }
}
export const formOf = ({ filters = [], sort = [] }: List) => ({ filters, sort })
