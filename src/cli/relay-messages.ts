/** `diglot relay`: a SOAP intermediary. */
import type { Command } from 'commander'
import {
  addTlsOptions,
  createProxyOption,
  createProxyProtocolOption,
  type ProxyFlags,
  readTlsFlags,
  reloadOnSignal,
  type TlsFlags,
} from './listen-options.ts'
import { collectOption, wholeNumberOption } from './option-types.ts'
import { printError } from './usage.ts'

/** Adds `relay`. */
export function addRelayCommand(program: Command): void {
  const command = program
    .command('relay')
    .description('a SOAP intermediary: process the blocks for this node, forward messages to the next')
    .requiredOption('--listen <port>', 'port; 0 picks a free one', wholeNumberOption(0, 65535))
    .requiredOption('--to <url>', 'the next node')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--role <uri>', 'a role that this node plays besides next; repeatable', collectOption, [])
    .option('--uri <uri>', 'URI of this node in faults (default: the address it listens on)')
    .addOption(createProxyOption())
    .addOption(createProxyProtocolOption())
    .option(
      '--time-limit <milliseconds>',
      'time for a response of the next node',
      wholeNumberOption(1, 600_000),
      30_000,
    )
    .option(
      '--longest <octets>',
      'octets of a message held in memory, at most',
      wholeNumberOption(1, 1024 ** 3),
      16 * 1024 ** 2,
    )
  addTlsOptions(command).action(relayCommand)
}

interface RelayFlags extends Pick<ProxyFlags, 'trustProxy' | 'proxyProtocol'>, Omit<TlsFlags, 'authorities'> {
  readonly listen: number
  readonly to: string
  readonly host: string
  readonly role: readonly string[]
  readonly uri?: string
  readonly timeLimit: number
  readonly longest: number
}
async function relayCommand(flags: RelayFlags): Promise<void> {
  const { listen: port, to, host, role: roles, uri, trustProxy, proxyProtocol } = flags
  const { timeLimit: timeLimitMs, longest: octetsMax } = flags
  const tls = readTlsFlags(flags)
  const { startSoapRelay: relaying } = await import('../host/soap/soap-relay.ts')
  const listener = await relaying({
    ...{ port, host, to, roles, uri, tls, trustProxy, proxyProtocol, timeLimitMs, octetsMax },
    onError: printError,
  })
  reloadOnSignal({ reload: () => tls && listener.secure(tls) }, printError)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void listener.close(10_000).then(() => process.exit(0)))
  const { origin, pathname } = new URL(to) // without any credentials
  console.log(`relaying from ${listener.url} to ${origin}${pathname}`)
}
