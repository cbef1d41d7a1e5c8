/** `diglot completion`: scripts for shells, generated from the commands themselves. */
import { Argument, type Command } from 'commander'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** Adds `completion`. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print the completions for a shell, for its start file: eval "$(diglot completion bash)"')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => void process.stdout.write(writers[shell](listCommands(program))))
}

interface KnownCommand {
  /** The command's words after `diglot`, such as `people add`. */
  readonly path: string
  readonly description: string
  /** The words that may follow: flags, then subcommands. */
  readonly words: readonly string[]
}

/** Every command with the words that may follow it, the program itself first. */
export function listCommands(command: Command, path = ''): readonly KnownCommand[] {
  const flags = command.options.map(each => each.long ?? each.flags)
  const words = [...flags, '--help', ...command.commands.map(each => each.name())]
  const own = { path, description: command.description(), words }
  return [own, ...command.commands.flatMap(each => listCommands(each, `${path} ${each.name()}`.trim()))]
}

/** Bash finds the longest command among the words before the cursor; other words are files. */
const writeBash = (commands: readonly KnownCommand[]): string => `_diglot() {
  local path= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
${commands
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path}') path='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
${commands.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _diglot diglot
`

const writeFish = (commands: readonly KnownCommand[]): string =>
  commands
    .flatMap(({ path, words }) => {
      const names = path === '' ? [] : path.split(' ')
      const below = commands.filter(each => each.path !== path && each.path.startsWith(`${path} `.trimStart()))
      const inner = [...new Set(below.map(each => each.path.split(' ')[names.length]))].join(' ')
      const conditions = [
        ...names.map(name => `__fish_seen_subcommand_from ${name}`),
        ...(inner === '' ? [] : [`not __fish_seen_subcommand_from ${inner}`]),
      ]
      return words.map(word => {
        const option = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
        return `complete -c diglot -n '${conditions.join('; and ')}' ${option}`
      })
    })
    .join('\n')
    .concat('\n')

const writers: Readonly<Record<Shell, (commands: readonly KnownCommand[]) => string>> = {
  bash: writeBash,
  zsh: commands => `autoload -U +X bashcompinit && bashcompinit\n${writeBash(commands)}`,
  fish: writeFish,
}
