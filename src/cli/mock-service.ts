/** `diglot mock`: a contract served with examples, for tests of its clients. */
import type { Command } from 'commander'
import type { MockServer, MockServerOptions, startMock, startOpenApiMock } from '../mock/start-mock.ts'
import {
  addTlsOptions,
  createProxyOption,
  type ProxyFlags,
  publicUrlText,
  readTlsFlags,
  type TlsFlags,
} from './listen-options.ts'
import { createPortOption, foldersOption, pairOption, wholeNumberOption } from './option-types.ts'
import { failUsage, writeReaderLine } from './usage.ts'

/** Adds `mock`. */
export function addMockCommand(program: Command): void {
  const command = program
    .command('mock')
    .description('serve a contract with example data, state changes, and faulty responses on demand')
    .argument('[contract]', 'a module that exports a contract or an implementation, a WSDL, or an OpenAPI document')
    .addOption(createPortOption())
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--exposed', 'listen for other machines, although the passwords are publicly known')
    .option(
      '--seed <number>',
      'seed for the examples: another seed yields other values',
      wholeNumberOption(0, 4_294_967_295),
      1,
    )
    .option('--example <place=text>', 'an example value, such as customers.name=Ada; repeatable', pairOption, {})
    .option('--behavior <behavior>', 'fault in every response, such as "delay=2s; cut" (default: none)')
    .option('--as <role>', 'the role of requests without credentials (default: none)')
    .option('--signers <file>', 'PEM certificates of signers of SOAP messages, if the contract demands proof')
    .option('--message-key <file>', 'PEM key that signs SOAP responses and decrypts requests')
    .option('--message-certificate <file>', 'its certificate, in PEM')
    .option(
      '--record <folder>',
      'call the service of --to instead of using a contract, and record its responses in this folder',
    )
    .option('--to <url>', 'the service to record')
    .option('--replay <folder>', 'respond from a recording instead of a contract')
    .option(
      '--from <folder>',
      'a folder with documents that a description imports by address; repeatable',
      foldersOption,
      [],
    )
    .addOption(createProxyOption())
    .option('--public-url <url>', publicUrlText)
  addTlsOptions(command).action(mockCommand)
}

interface MockFlags extends ProxyFlags, Omit<TlsFlags, 'authorities'> {
  readonly port: number
  readonly host: string
  readonly exposed?: boolean
  readonly seed: number
  readonly example: Readonly<Record<string, string>>
  readonly behavior?: string
  readonly as?: string
  readonly signers?: string
  readonly messageKey?: string
  readonly messageCertificate?: string
  readonly record?: string
  readonly to?: string
  readonly replay?: string
  readonly from: readonly string[]
}

/** What a mock knows about where it listens. */
type Listening = Pick<MockServerOptions, 'tls'>

async function mockCommand(file: string | undefined, words: MockFlags): Promise<void> {
  const tls = readTlsFlags(words)
  const flags: MockFlags & Listening = { ...words, ...(tls && { tls }) }
  const { record, to, replay } = flags
  const sources = [file, record, replay].filter(each => each !== undefined)
  if (sources.length !== 1)
    return failUsage('give one of: a contract, a service, a WSDL or an OpenAPI document; --record with --to; --replay')
  if ((record === undefined) !== (to === undefined)) return failUsage('--record and --to belong together: give both')
  const { startMock, startOpenApiMock, startRecordedMock } = await import('../mock/start-mock.ts')
  const { isOpenApiName } = await import('../mock/mocked-openapi.ts')
  if (file !== undefined && isOpenApiName(file)) return mockOpenApi(file, flags, startOpenApiMock)
  if (file !== undefined) return mockContract(file, flags, startMock)
  refusePublicUrl(flags, 'a recording')
  const source = replay === undefined ? { record: record ?? '', to: to ?? '' } : { replay }
  announceMock(await startRecordedMock(source, flags), replay === undefined ? [`recording ${to} to ${record}`] : [])
}

async function mockOpenApi(
  file: string,
  { example: examples, as, ...flags }: MockFlags & Listening,
  start: typeof startOpenApiMock,
): Promise<void> {
  refusePublicUrl(flags, 'an OpenAPI document')
  if (as !== undefined)
    failUsage('--as names a person, and an OpenAPI document has none: leave it out, since any credentials are accepted')
  const server = await start(file, { ...flags, examples })
  for (const line of server.losses) writeReaderLine(line)
  announceMock(server, server.operations)
}

function refusePublicUrl({ publicUrl }: ProxyFlags, source: string): void {
  if (publicUrl !== undefined)
    failUsage(`--public-url is for links and descriptions, which a mock of ${source} does not have: leave it out`)
}

async function mockContract(
  file: string,
  { from, example: examples, ...flags }: MockFlags & Listening,
  start: typeof startMock,
): Promise<void> {
  const [{ loadMockedContract }, { endpointsOf }, { listCollectionPaths }] = await Promise.all([
    import('../mock/mocked-contract.ts'),
    import('../contract/endpoint-rule.ts'),
    import('../contract/nesting.ts'),
  ])
  const { contract, losses } = await loadMockedContract(file, from)
  for (const line of losses) writeReaderLine(line)
  const messageSecurity = readMockKeys(flags)
  const server = await start(contract, { ...flags, examples, ...(messageSecurity && { messageSecurity }) })
  announceMock(server, [
    ...(contract.hasRest ? listCollectionPaths(contract.resources).map(path => `REST: ${server.url}/api${path}`) : []),
    ...endpointsOf(contract as never).map(({ path }) => `WSDL: ${server.url}${path}?wsdl`), // its types are erased
    ...contract.ports.map(({ port }) => `WSDL: ${server.url}/soap/${port}?wsdl`),
  ])
}

function readMockKeys({ signers, messageKey: key, messageCertificate: certificate }: Partial<MockFlags>) {
  if ((key === undefined) !== (certificate === undefined))
    failUsage('--message-key and --message-certificate must be given together')
  if (signers === undefined && key === undefined) return undefined
  return {
    ...(signers !== undefined && { signerFiles: [signers] }),
    ...(key !== undefined && certificate !== undefined && { keyFiles: [{ key, certificate }] }),
  }
}

function announceMock(server: MockServer, lines: readonly string[]): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  const people = server.people.map(({ subject }) => `${subject}: sign in as ${subject} with the password ${subject}`)
  console.log([`mocking on ${server.url}`, ...lines, ...people].join('\n'))
}
