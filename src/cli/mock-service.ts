/** `diglot mock`: a contract served by examples, for tests of its clients. */
import { type Command, Option } from 'commander'
import { collectOption, pairOption, wholeNumberOption } from './option-types.ts'
import { failUsage } from './usage.ts'

/** Adds `mock`. */
export function addMockCommand(program: Command): void {
  program
    .command('mock')
    .description('serve a contract by examples, with states that move, and with answers that misbehave on demand')
    .argument('[contract]', 'a module that exports a contract or an implementation, or a WSDL 1.1')
    .addOption(
      new Option('--port <number>', 'port; 0 picks a free one')
        .env('PORT')
        .default(8080)
        .argParser(wholeNumberOption(0, 65535)),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--exposed', 'let other machines ask it, though its passwords are known')
    .option('--seed <number>', 'another seed has other examples', wholeNumberOption(0, 4_294_967_295), 1)
    .option('--example <place=text>', 'a value, such as customers.name=Ada; repeatable', pairOption, {})
    .option('--behavior <behavior>', 'how every answer misbehaves, such as "delay=2s; cut" (default: not)')
    .option('--as <role>', 'the role of requests without credentials (default: none)')
    .option('--from <folder>', 'a folder with documents that a WSDL imports by address; repeatable', collectOption, [])
    .action(mockCommand)
}

interface MockFlags {
  readonly port: number
  readonly host: string
  readonly exposed?: boolean
  readonly seed: number
  readonly example: Readonly<Record<string, string>>
  readonly behavior?: string
  readonly as?: string
  readonly from: readonly string[]
}

async function mockCommand(file: string | undefined, { from, example: examples, ...flags }: MockFlags): Promise<void> {
  if (file === undefined) return failUsage('the contract is missing: give a contract, a service or a WSDL')
  const [{ loadMockedContract }, { startMock }, { endpointsOf }] = await Promise.all([
    import('../mock/mocked-contract.ts'),
    import('../mock/start-mock.ts'),
    import('../contract/endpoint-rule.ts'),
  ])
  const { contract, losses } = await loadMockedContract(file, from)
  for (const line of losses) process.stderr.write(`${line}\n`)
  const server = await startMock(contract, { ...flags, examples })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  const lines = [
    `mocking on ${server.url}`,
    ...contract.resources.map(({ name }) => `REST: ${server.url}/api/${name}`),
    ...endpointsOf(contract as never).map(({ path }) => `WSDL: ${server.url}${path}?wsdl`), // its types are erased
    ...contract.ports.map(({ port }) => `WSDL: ${server.url}/soap/${port}?wsdl`),
    ...server.people.map(({ subject }) => `${subject}: sign in as ${subject} with the password ${subject}`),
  ]
  console.log(lines.join('\n'))
}
