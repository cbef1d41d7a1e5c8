/** `diglot people`: people who have a password. */
import { type Command, Option } from 'commander'
import type { PeopleFlags } from '../host/operations/people-command.ts'
import { warnOfUnknownRoles } from './issue-credentials.ts'
import { loadService, serviceText, splitArguments } from './locate-service.ts'
import { collectOption, pairOption } from './option-types.ts'

/** Adds `people` and its subcommands. */
export function addPeopleCommands(program: Command): void {
  const people = program
    .command('people')
    .description('manage people with passwords; passwords are read from standard input')
  const commandBelow = (name: string, description: string): Command =>
    people
      .command(name)
      .description(description)
      .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
      .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
  const commandOnPeople = (name: string, description: string): Command =>
    commandBelow(name, description).argument('[service.ts]', serviceText)
  const commandOnPerson = (name: string, description: string): Command =>
    commandBelow(name, description)
      .usage('[options] [service.ts] <name>')
      .argument('[service.ts]', serviceText)
      .argument('[name]', 'name of the person')
  const withDigests = (command: Command): Command =>
    command
      .option(
        '--digests',
        'also store the password encrypted under the local key, so that UsernameToken digests can be checked',
      )
      .addOption(new Option('--key <file>', 'the local key (default: next to the data)').env('DIGLOT_KEY'))

  withDigests(commandOnPerson('add', 'add a person, whose password is the one line of standard input'))
    .option('--role <role>', 'a role of the person; repeatable', collectOption, [])
    .option('--claim <name=value>', 'a claim of the person, such as customer=c-1; repeatable', pairOption, {})
    .action(async (first: string | undefined, second: string | undefined, { role, claim, ...flags }: AddFlags) => {
      const { addOnePerson, app, name } = await loadPerson(first, second)
      warnOfUnknownRoles(app.contract, role)
      await addOnePerson(app, flags, { subject: name, roles: role, claims: claim })
    })
  withDigests(commandOnPerson('password', 'set the password of a person to the one line of standard input')).action(
    async (first: string | undefined, second: string | undefined, flags: PeopleFlags) => {
      const { setPassword, app, name } = await loadPerson(first, second)
      await setPassword(app, flags, name)
    },
  )
  for (const [command, isDisabled, description] of [
    ['disable', true, 'refuse every credential of a person, until diglot people enable'],
    ['enable', false, 'let a disabled person sign in again'],
  ] as const)
    commandOnPerson(command, description).action(
      async (first: string | undefined, second: string | undefined, flags: PeopleFlags) => {
        const { setPersonDisabled, app, name } = await loadPerson(first, second)
        await setPersonDisabled(app, flags, name, isDisabled)
      },
    )
  commandOnPeople('list', 'list the people, one JSON line each').action(
    async (file: string | undefined, flags: PeopleFlags) => {
      const { describePeople, app } = await loadPeople(file)
      for (const line of await describePeople(app, flags)) console.log(line)
    },
  )
  withDigests(
    commandOnPeople('import', 'add people, all or none: one JSON line each with subject, password, roles and claims'),
  ).action(async (file: string | undefined, flags: PeopleFlags) => {
    const { importPeople, app } = await loadPeople(file)
    const added = await importPeople(app, flags)
    warnOfUnknownRoles(app.contract, [...new Set(added.flatMap(({ roles }) => roles))])
    console.log(`${added.length} people added`)
  })
}

type AddFlags = PeopleFlags & {
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
}
async function loadPeople(file: string | undefined) {
  const [commands, app] = await Promise.all([import('../host/operations/people-command.ts'), loadService(file)])
  return { ...commands, app }
}

/** `[service.ts] <name>`: a single word is the name. */
const loadPerson = async (first: string | undefined, second: string | undefined) => {
  const [file, name] = splitArguments('name', first, second)
  return { ...(await loadPeople(file)), name }
}
