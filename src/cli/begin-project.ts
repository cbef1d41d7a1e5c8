/** `diglot new`: a folder of one's own to begin with. */
import { type Command, Option } from 'commander'
import type { StarterExample } from '../starter/create-project.ts'

/** Adds `new`. */
export function addNewCommand(program: Command): void {
  program
    .command('new')
    .description('make a folder with a service of your own, its tests, a container and checks; nothing is overwritten')
    .argument('<folder>', 'the folder, whose name is the name of the service')
    .addOption(
      new Option(
        '--from <example>',
        'one resource with states, the smallest service, or a clinic with files, jobs and versions',
      )
        .choices(['tickets', 'hello', 'clinic'] satisfies StarterExample[])
        .default('tickets'),
    )
    .action(newCommand)
}

async function newCommand(folder: string, { from }: { readonly from: StarterExample }): Promise<void> {
  const { createProject } = await import('../starter/create-project.ts')
  const files = createProject(folder, from)
  console.log([...files, '', `next: cd ${folder} && npm install && npm test && npm start`].join('\n'))
}
