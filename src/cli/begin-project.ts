/** `diglot new`: the folder of a new project. */
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { ImportedProjectOptions } from '../starter/descriptions/imported-project.ts'
import { foldersOption, hostsOption } from './option-types.ts'
import { failUsage, writeReaderLine } from './usage.ts'

/** Adds `new`. */
export function addNewCommand(program: Command): void {
  program
    .command('new')
    .description(
      'create a folder with a service of your own, its tests, a container file and checks; nothing is overwritten',
    )
    .argument('<folder>', 'the folder, whose name is the name of the service')
    .addOption(
      new Option(
        '--from <source>',
        `${exampleNames.join(', ')}: one resource with states, the smallest service, or a clinic with files, jobs and versions; or existing tables: an SQLite file, an SQL script, postgres://…; or the description of another party: a WSDL, an OpenAPI document`,
      ).default('tickets'),
    )
    .option(
      '--documents <folder>',
      'a folder with documents that the description imports by address; repeatable',
      foldersOption,
      [],
    )
    .option('--fetch <host>', 'a host whose documents may be fetched; repeatable (default: none)', hostsOption, [])
    .action(newCommand)
}

const exampleNames = ['tickets', 'hello', 'empty', 'clinic'] as const
type ExampleName = (typeof exampleNames)[number]
const isExample = (from: string): from is ExampleName => exampleNames.some(name => name === from)

const isDatabaseAddress = (from: string): boolean => /^postgres(?:ql)?:\/\//.test(from)

interface NewFlags extends ImportedProjectOptions {
  readonly from: string
}
/** Says what was written, and what it leaves out of its source. */
interface MadeProject {
  readonly files: readonly string[]
  readonly notes: readonly string[]
}

async function newCommand(folder: string, { from, ...flags }: NewFlags): Promise<void> {
  const { files, notes } = await makeProject(folder, from, flags)
  for (const note of notes) writeReaderLine(note)
  console.log([...files, '', `next: cd ${folder} && npm install && npm test && npm start`].join('\n'))
}

async function makeProject(folder: string, from: string, flags: ImportedProjectOptions): Promise<MadeProject> {
  const { createProject, createTablesProject } = await import('../starter/create-project.ts')
  if (isExample(from)) return { files: createProject(folder, from), notes: [] }
  const isAddress = /^https?:\/\//i.test(from)
  if (!isDatabaseAddress(from) && !isAddress && !existsSync(from))
    failUsage(
      `${from} is not an example, and no file has this name: use ${exampleNames.join(', ')}, an SQLite file, an SQL script, postgres://…, a WSDL or an OpenAPI document`,
    )
  const describe = (losses: readonly { readonly place: string; readonly detail: string }[]): readonly string[] =>
    losses.map(({ place, detail }) => `${place}: ${detail}`)
  if (isAddress || /\.(?:wsdl|xml|xsd|json|ya?ml)$/i.test(from)) {
    const { createImportedProject } = await import('../starter/descriptions/imported-project.ts')
    const { files, losses, isPartial } = await createImportedProject(folder, from, flags)
    return { files, notes: [...describe(losses), ...(isPartial ? [partialNote] : [])] }
  }
  const { files, losses } = await createTablesProject(folder, from)
  return { files, notes: describe(losses) }
}
const partialNote =
  'documents were not found: save them and name their folder with --documents, or their host with --fetch, for another folder'
