/** Lists of absent values or beyond a cursor, and the rows that both databases read for them. */
import { anyone, resource, service, t } from '../../src/index.ts'
import type { Query, Sort } from '../../src/service/store.ts'
import type { Dialect } from '../../src/store/dialect.ts'
import { compileItems } from '../../src/store/item-rows.ts'
import { compileListing } from '../../src/store/listing.ts'
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
  filter: ['agent', 'closed', 'kind', 'due'],
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

const from = (keys: readonly unknown[], backwards = false) => ({ from: { keys, id: 't-5', backwards } })
const noon = '2026-01-01T12:00:00Z'
/**
 * Each with the terms of an index in which its rows are, as SQLite tells them, range by range: so no row before the cursor
 * is looked at, however many have its values.
 */
export const cursorLists: readonly (readonly [name: string, list: List, ranges: readonly string[]])[] = [
  ['the newest', from([9]), ['_created=? AND id>?', '_created<?']],
  ['the newest, backwards', from([9], true), ['_created=? AND id<?', '_created>?']],
  ['by a date', { sort: [by('due')], ...from(['2026-01-01']) }, ['due#order=? AND id>?', 'due#order>?']],
  [
    'by a date, from one on',
    { filters: [{ field: 'due', is: 'gte', value: '2025-01-01' }], sort: [by('due')], ...from(['2026-01-01']) },
    ['due#order=? AND id>?', 'due#order>?'],
  ],
  [
    'by a time that may be absent, descending',
    { sort: [by('closed', true)], ...from([noon]) },
    ['closed#order=? AND id>?', 'closed#order<?', 'closed#order=?'],
  ],
  ['the same, where it is absent', { sort: [by('closed', true)], ...from([undefined]) }, ['closed#order=? AND id>?']],
  [
    'ascending, where it is absent',
    { sort: [by('closed')], ...from([undefined]) },
    ['closed#order=? AND id>?', 'closed#order>?'],
  ],
  [
    'questions without an agent, by a date',
    { filters: [isQuestion, noAgent], sort: [by('due', true)], ...from(['2026-01-01']) },
    ['kind=? AND agent=? AND due#order=? AND id>?', 'kind=? AND agent=? AND due#order<?'],
  ],
]

/** The statements of a page, and their parameters. */
export function compilePages(
  list: List,
  dialect: Dialect,
): readonly { readonly text: string; readonly values: readonly unknown[] }[] {
  const tables = compileTables(desk, dialect)
  const table = tables.get('tickets')
  if (!table) throw new Error('no tickets')
  const query: Query = { within: 'all', filters: [], sort: [], size: 20, counted: false, ...list }
  const { texts, values } = compileListing(table, tables, query, dialect, compileItems(table, dialect).columns)
  return texts().page.map(page => {
    const statement = compileStatement(dialect, page)
    return { text: statement.text, values: boundParameters(statement, values) }
  })
}
export const formOf = ({ filters = [], sort = [] }: List) => ({ filters, sort })
