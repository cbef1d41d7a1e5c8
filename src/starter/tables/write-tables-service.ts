/** A service over tables, as the files of a project that a person could have written. */
import { type PlannedResource, type PlannedService, quoteConstant } from './plan-resources.ts'
import type { TableLoss } from './sql-table.ts'

/** The place of the tables, as the project opens it. */
export type TablesPlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'script'; readonly source: string }
  | { readonly kind: 'postgres'; readonly address: string }

export interface TablesServiceFacts {
  readonly name: string
  readonly title: string
  readonly place: TablesPlace
  readonly plan: PlannedService
}

/** Path in the project → text, without the copied files. */
export const writeTablesService = (facts: TablesServiceFacts): Readonly<Record<string, string>> => ({
  'contract.ts': writeContract(facts),
  'service.ts': writeService(facts),
  'service.test.ts': writeTest(facts),
})

const sourceOf = (place: TablesPlace): string =>
  place.kind === 'sqlite' ? place.file : place.kind === 'script' ? place.source : place.address
const memberKeyText = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoteConstant(key))
const listText = (names: readonly string[]): string => `[${names.map(quoteConstant).join(', ')}]`

/** Names of constants: those of resources, unless the file has something else with that name. */
const constantOf = (name: string): string =>
  /^(?:resource|role|service|t|clerk|contract|default|delete|new|class|function|in|package|with|import|export|switch|case|this|true|false|null|void|var|let|const|for|if|do|try|yield|await|enum|static|public|private)$/.test(
    name,
  )
    ? `${name}Resource`
    : name

function writeContract({ name, title, place, plan: { resources, losses } }: TablesServiceFacts): string {
  return `${writeContractHead(sourceOf(place), losses)}
import { resource, role, service, t } from 'diglot'

const clerk = role('clerk')

${resources.map(writeResource).join('\n')}
export const contract = service(${quoteConstant(name)}, {
  namespace: ${quoteConstant(`urn:example:${name}`)},
  title: ${quoteConstant(title)},
  resources: [${resources.map(each => constantOf(each.name)).join(', ')}],
})
`
}

function writeContractHead(source: string, losses: readonly TableLoss[]): string {
  const lines = losses.map(({ place, detail }) =>
    ` * - ${place}: ${detail}`.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' '),
  )
  if (lines.length === 0) return `/** The tables of ${source}, which stay where they are. */`
  const first = ` * The tables of ${source}, which stay where they are.`
  return ['/**', first, ' * What the contract does not express:', ...lines, ' */'].join('\n')
}

function writeResource(each: PlannedResource): string {
  const { name, prefix, fields, allow, filter, sort, relations, putCreates } = each
  const rules = [
    ...(filter.length > 0 ? [`filter: ${listText(filter)}`] : []),
    ...(sort.length > 0 ? [`sort: ${listText(sort)}`] : []),
    `order: ['id']`,
    // The indexes of the tables determine which lists are fast.
    ...(filter.length + sort.length > 0 ? [`unserved: 'accept'`] : []),
    ...(relations.length > 0
      ? [`relations: { ${relations.map(field => `${field}: { by: ${quoteConstant(field)} }`).join(', ')} }`]
      : []),
    ...(putCreates ? ['putCreates: true'] : []),
    `allow: { ${allow.map(operation => `${operation}: [clerk]`).join(', ')} }`,
  ]
  return `export const ${constantOf(name)} = resource(${quoteConstant(name)}, {
  fields: {
    id: t.id(${quoteConstant(prefix)}),
${fields.map(field => `    ${field.name}: ${field.text},\n`).join('')}  },
}).rules({
${rules.map(rule => `  ${rule},\n`).join('')}})
`
}

function writeService({ place, plan: { resources } }: TablesServiceFacts): string {
  const hasUniques = resources.some(each => each.uniques.length > 0)
  const names = resources.map(each => constantOf(each.name))
  return `/** Serves the existing rows of the tables: a change through this service changes the tables. */
import { implement, type Item } from 'diglot'
import { contract, ${names.map(name => `type ${name}`).join(', ')} } from './contract.ts'
${writeOpening(place)}
${hasUniques ? helper : ''}export default implement(
  contract,
  {
${resources.map(writeHandlers).join('')}  },
  { seed: () => ({ people: [{ subject: 'ann', password: 'ann-secret', roles: ['clerk'] }] }) },
)
`
}

const helper = `/** Whether another item is in a list. */
async function hasOther(list: AsyncIterable<{ readonly id: string }>, own: string | undefined): Promise<boolean> {
  for await (const { id } of list) if (id !== own) return true
  return false
}

`

/** No secret is written: the password of an address is left to the environment. */
function writeOpening(place: TablesPlace): string {
  if (place.kind === 'postgres')
    return `import { openPostgres } from './postgres-database.ts'
import { keepTable } from './table.ts'

const database = openPostgres(process.env['TABLES'] ?? ${quoteConstant(place.address)})
`
  const file = place.kind === 'sqlite' ? place.file : 'data/tables.sqlite'
  const script = place.kind === 'script'
  return `${script ? "import { mkdirSync, readFileSync } from 'node:fs'\n" : ''}import { openSqlite } from './sqlite-database.ts'
import { keepTable } from './table.ts'

${script ? "if (process.env['TABLES'] === undefined) mkdirSync('data', { recursive: true })\n" : ''}const database = openSqlite(process.env['TABLES'] ?? ${quoteConstant(file)}${script ? ", readFileSync('tables.sql', 'utf8')" : ''})
`
}

function writeHandlers(each: PlannedResource): string {
  const { name, table, key, fields, types, uniques } = each
  const column = (of: { column: string; cell: string; filled: string | undefined }): string =>
    `[${[of.column, of.cell, ...(of.filled === undefined ? [] : [of.filled])].map(quoteConstant).join(', ')}]`
  const typed = Object.entries(types).map(([of, type]) => `${memberKeyText(of)}: ${quoteConstant(type)}`)
  return `    ${memberKeyText(name)}: {
      keep: keepTable<Item<typeof ${constantOf(name)}>>(database, {
        table: ${quoteConstant(table)},
        key: [${key.map(column).join(', ')}],
        columns: {
${fields.map(field => `          ${field.name}: ${column(field)},\n`).join('')}        },
${typed.length === 0 ? '' : `        types: { ${typed.join(', ')} },\n`}      }),
${uniques.length === 0 ? '' : writeDerive(name, uniques)}    },
`
}

/** The database enforces it, too; checked here, the caller learns which fields are concerned. */
const writeDerive = (name: string, uniques: PlannedResource['uniques']): string =>
  `      derive: async (ctx, draft, current) => {
${uniques
  .map(fields => {
    const condition = fields.map(field => `draft.${field} !== undefined`).join(' && ')
    const filter = fields.map(field => `${field}: draft.${field}`).join(', ')
    return `        if (${condition} && (await hasOther(ctx.items.all.list(${quoteConstant(name)}, { ${filter} }), current?.id)))
          ctx.conflict('another item has the same ${fields.join(' and ')}')\n`
  })
  .join('')}        return {}
      },
`

function writeTest({ plan: { resources }, place }: TablesServiceFacts): string {
  const note =
    place.kind === 'postgres' ? ' The tests only read.' : ' The tests only read; TABLES names a copy to change.'
  return `/** Each row is the same by both faces: \`npm test\`.${note} */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import { contract } from './contract.ts'
import app from './service.ts'

${resources
  .map(
    ({ name }) => `test('${name} are read by REST and by SOAP', async () => {
  await using service = await startTestService(contract, app)
  const [rest, soap] = [service.rest('ann'), service.soap('ann')]
  let count = 0
  for await (const item of rest.${name}.list()) {
    assert.partialDeepStrictEqual({ ...(await soap.${name}.get(item.id)) }, { ...item })
    if (++count === 20) break
  }
})
`,
  )
  .join('\n')}`
}
