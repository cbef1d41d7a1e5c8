/** `diglot relay`: a SOAP intermediary. */
import type { Command } from 'commander'
import { collectOption, wholeNumberOption } from './option-types.ts'
import { printError } from './usage.ts'

/** Adds `relay`. */
export function addRelayCommand(program: Command): void {
  program
    .command('relay')
    .description('a SOAP intermediary: process the blocks for this node, forward messages to the next')
    .requiredOption('--listen <port>', 'port; 0 picks a free one', wholeNumberOption(0, 65535))
    .requiredOption('--to <url>', 'the next node')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--role <uri>', 'a role that this node plays besides next; repeatable', collectOption, [])
    .option('--uri <uri>', 'URI of this node in faults (default: the address it listens on)')
    .action(relayCommand)
}

interface RelayFlags {
  readonly listen: number
  readonly to: string
  readonly host: string
  readonly role: readonly string[]
  readonly uri?: string
}
async function relayCommand({ listen: port, to, host, role: roles, uri }: RelayFlags): Promise<void> {
  const { startSoapRelay: relaying } = await import('../host/soap/soap-relay.ts')
  const listener = await relaying({ port, host, to, roles, uri, onError: printError })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void listener.close(10_000).then(() => process.exit(0)))
  console.log(`relaying from ${listener.url} to ${to}`)
}
