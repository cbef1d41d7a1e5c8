/** All commands of `diglot`, as one value: the command line parses it, completions walk it. */
import { statSync } from 'node:fs'
import { Command } from 'commander'
import { attempt } from '../base/attempt.ts'
import { addNewCommand } from './begin-project.ts'
import { addBridgeCommand } from './bridge-service.ts'
import { addCompletionCommand } from './complete-words.ts'
import { addCopyCommand } from './copy-service.ts'
import { addContractCommands } from './describe-service.ts'
import { addDevCommand } from './develop-service.ts'
import { addCredentialCommands } from './issue-credentials.ts'
import { addPeopleCommands } from './keep-people.ts'
import { applyConfig } from './locate-service.ts'
import { addMigrateCommand } from './migrate-database.ts'
import { addMockCommand } from './mock-service.ts'
import { addRelayCommand } from './relay-messages.ts'
import { addServeCommand } from './serve-service.ts'
import { failUsage } from './usage.ts'
import { addRecordCommands } from './work-and-records.ts'

/** A program that throws where commander would exit. */
export function createProgram(): Command {
  const program = new Command('diglot')
    .description('one service contract, served as resource-oriented HTTP and as SOAP')
    .version('0.2.0')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'diglot: ').replace(...newHint)) })
    .configureHelp({ subcommandTerm: each => `${each.name()} ${each.usage()}` })
    .hook('preAction', (_, command) => applyConfig(command))
    .hook('preAction', (_, command) => requireFiles(command))
  addNewCommand(program)
  addServeCommand(program)
  addDevCommand(program)
  addRecordCommands(program)
  addMigrateCommand(program)
  addCopyCommand(program)
  addCredentialCommands(program)
  addPeopleCommands(program)
  addContractCommands(program)
  addMockCommand(program)
  addRelayCommand(program)
  addBridgeCommand(program)
  addCompletionCommand(program)
  nameHelp(program, 'diglot')
  return program
}

/** A folder is found before anything is done, and named with its option. */
function requireFiles(command: Command): void {
  for (const option of command.options) {
    if (!/<[a-z ]*\bfile\b/.test(option.flags)) continue
    const values: unknown[] = [command.getOptionValue(option.attributeName())].flat()
    const folder = values.find(each => typeof each === 'string' && isFolder(each))
    if (folder !== undefined) failUsage(`${option.long} ${folder} is a folder: give a file`)
  }
}
const isFolder = (path: string): boolean =>
  attempt(
    () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    () => true,
  ) ?? false

/** The names that other programs have for `new`. */
const newHint = [
  /^(diglot: unknown command '(?:init|create|scaffold)')$/m,
  '$1: diglot new <folder> makes a project',
] as const

/** An error that commander prints ends by saying where the usage of its command is. */
function nameHelp(command: Command, name: string): void {
  command.showHelpAfterError(`see ${name} --help`)
  for (const each of command.commands) nameHelp(each, `${name} ${each.name()}`)
}
