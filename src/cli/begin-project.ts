/** `diglot new`: a folder of one's own to begin with. */
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { failUsage } from './usage.ts'

/** Adds `new`. */
export function addNewCommand(program: Command): void {
  program
    .command('new')
    .description('make a folder with a service of your own, its tests, a container and checks; nothing is overwritten')
    .argument('<folder>', 'the folder, whose name is the name of the service')
    .addOption(
      new Option(
        '--from <source>',
        `${exampleNames.join(', ')}: one resource with states, the smallest service, or a clinic with files, jobs and versions; or tables that are there: a file of SQLite, a script of SQL, postgres://…`,
      ).default('tickets'),
    )
    .action(newCommand)
}

const exampleNames = ['tickets', 'hello', 'clinic'] as const
type ExampleName = (typeof exampleNames)[number]
const isExample = (from: string): from is ExampleName => exampleNames.some(name => name === from)

const isDatabaseAddress = (from: string): boolean => /^postgres(?:ql)?:\/\//.test(from)

async function newCommand(folder: string, { from }: { readonly from: string }): Promise<void> {
  if (!isExample(from) && !isDatabaseAddress(from) && !existsSync(from))
    failUsage(
      `${from} is not an example, and no file has this name: use ${exampleNames.join(', ')}, a file of SQLite or SQL, or postgres://…`,
    )
  const { createProject, createTablesProject } = await import('../starter/create-project.ts')
  const { files, losses } = isExample(from)
    ? { files: createProject(folder, from), losses: [] }
    : await createTablesProject(folder, from)
  for (const { place, detail } of losses) console.error(`${place}: ${detail}`)
  console.log([...files, '', `next: cd ${folder} && npm install && npm test && npm start`].join('\n'))
}
