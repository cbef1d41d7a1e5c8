/** `diglot describe`, `docs`, `diff`, `check`, `import`: contracts, our own or another party's. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { showControls } from '../base/markup.ts'
import type { CheckFlags } from '../check/command.ts'
import type { Implementation } from '../contract/implement.ts'
import type { EarlierRelease } from '../describe/earlier-release.ts'
import type { DiffFlags } from '../diff/diff-command.ts'
import type { LoadedContract } from '../diff/diff-sources.ts'
import type { DocsFlags } from '../docs/docs-command.ts'
import type { ImportFlags } from '../import/import-command.ts'
import { findServiceFile, loadService, serviceText } from './locate-service.ts'
import { addressOption, collectOption, foldersOption, hostsOption, wholeNumberOption } from './option-types.ts'
import { failUsage, printError, UsageError, writeReaderLine } from './usage.ts'

const descriptions = ['access', 'openapi', 'wsdl', 'wsdl2', 'xsd', 'machine'] as const

/** Adds `describe`, `docs`, `diff`, `check` and `import`. */
export function addContractCommands(program: Command): void {
  addDescribeCommand(program)
  addDocsCommand(program)
  addDiffCommand(program)
  addCheckCommand(program)
  addImportCommand(program)
}

function addDescribeCommand(program: Command): void {
  program
    .command('describe')
    .description('print one description of a contract')
    .argument('[service.ts]', serviceText)
    .option('--access', 'the access matrix, as a Markdown table')
    .option('--openapi', 'OpenAPI')
    .option('--wsdl', 'WSDL 1.1')
    .option('--wsdl2', 'WSDL 2.0')
    .option('--xsd', 'the XML Schema')
    .option('--machine', 'the states of each resource, as Mermaid diagrams')
    .option('--release <release>', 'OpenAPI release: 3.1, or 3.2 with QUERY and the stream of changes', '3.1')
    .option('--contract <version>', 'version of the contract, such as v1 (default: the newest)')
    .option(
      '--endpoint <path>',
      'the SOAP endpoint of a WSDL, such as that of a port (default: the first of the version, or else the first port)',
    )
    .option('--address <url>', 'the address in the description', addressOption, 'http://127.0.0.1:8080')
    .action(describeCommand)
}

function addDocsCommand(program: Command): void {
  program
    .command('docs')
    .description('write a site about a contract: both faces side by side, with examples that were run')
    .argument('[service.ts]', serviceText)
    .requiredOption('-o, --output <folder>', 'the folder to write; an existing site in it is replaced')
    .option(
      '--role <role>',
      'write a site for callers with this role, without anything that they may not call; anyone: for those without credentials; repeatable (default: everything)',
      collectOption,
      [],
    )
    .option('--address <url>', 'the address in examples and descriptions', addressOption, 'https://api.example.org')
    .option('--against <old>', 'add the changes since this release: a file, an address or git:REVISION')
    .option('--no-examples', 'run no examples: handlers are not called')
    .option('--force', 'write into a folder that has other files')
    .action(docsCommand)
}

function addDiffCommand(program: Command): void {
  program
    .command('diff')
    .description('compare two releases: which changes break callers that read or write, in each face')
    .argument('[old]', 'a contract (service.ts), an OpenAPI document, a WSDL, their address, or git:REVISION[:path]')
    .argument('[new]', 'the other release, likewise')
    .option('--against <old>', 'compare the first argument, as the new release, with this one: --against git:main')
    .option('--breaking', 'print no compatible changes')
    .option('--json <file>', 'write all differences there, as JSON')
    .option('--sarif <file>', 'write all differences there, as SARIF 2.1.0')
    .action(diffCommand)
}

function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('test every rule of the conventions against a live service, with each exchange as evidence')
    .argument('[address]', 'the base address of a service, or the address of a WSDL')
    .option('--list', 'print the rules; with --markdown as a page')
    .option('--markdown', 'print the rules as a Markdown page')
    .option('--explain <rule>', 'print how a rule is tested')
    .option('--caller <name:password>', 'a caller by HTTP Basic; repeatable', collectOption, [])
    .option('--token <token>', 'a caller by bearer token; repeatable', collectOption, [])
    .option('--key <key>', 'a caller by API key, or by "FIELD: key"; repeatable', collectOption, [])
    .option('--wsdl <address>', 'the address or the file of a WSDL of the service; repeatable', collectOption, [])
    .option('--openapi <file>', 'the OpenAPI document of the service, or its path there: /docs/openapi.json')
    .option(
      '--before <release>',
      'an earlier release, in any form that `diglot diff` accepts: nothing may break its callers; repeatable',
      collectOption,
      [],
    )
    .option('--profile <file>', 'what cannot be discovered, as JSON or a module')
    .option('--learn <file>', 'write a first profile to this file, and test no rule; the service is not changed')
    .option('--rule <rule>', 'test only this rule; repeatable', collectOption, [])
    .option('--attacks', 'also try the attacks: small, rate-limited, and harmless to a sound service')
    .option('--allow-changes', 'create, change and remove items of the service')
    .option('--resume <file>', 'record progress in this file, and continue an interrupted run')
    .option('--insecure', 'accept any TLS certificate')
    .option('--rate <number>', 'requests a second', wholeNumberOption(1, 10_000), 50)
    .option('--time <seconds>', 'seconds for the whole run', wholeNumberOption(1, 3600), 120)
    .option('--json <file>', 'write the report as JSON, also for --baseline')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--badge <file>', 'write the counts as an SVG image for a README')
    .option('--baseline <file>', 'a JSON report whose failures are known')
    .action(checkCommand)
}

function addImportCommand(program: Command): void {
  program
    .command('import')
    .description('write the contract of a WSDL or an OpenAPI document, or the types of an XML Schema, as TypeScript')
    .argument(
      '<file>',
      'a WSDL, XSD or OpenAPI document (JSON or YAML); documents that it refers to are looked up next to it',
    )
    .option('-o, --output <file>', 'the file to write, or to update: edits in it are kept (default: standard output)')
    .option(
      '--from <folder>',
      'a folder with documents that the description imports by address; repeatable',
      foldersOption,
      [],
    )
    .option('--fetch <host>', 'a host whose documents may be fetched; repeatable (default: none)', hostsOption, [])
    .option('--operations', 'OpenAPI only: write each operation as an exchange, for the client of diglot/openapi')
    .option('--force', 'replace the file, and discard edits in it')
    .action(importCommand)
}

async function importCommand(file: string, flags: ImportFlags): Promise<void> {
  const { importContract } = await import('../import/import-command.ts')
  await importContract(file, flags, {
    text: text => process.stdout.write(text),
    note: writeReaderLine,
  })
}

/** 2: the check was impossible. */
async function checkCommand(
  address: string | undefined,
  flags: CheckFlags & { readonly before: readonly string[] },
): Promise<void> {
  const { performCheck } = await import('../check/command.ts')
  const openapi = flags.openapi?.startsWith('/') && !existsSync(flags.openapi) ? undefined : flags.openapi
  await printVerdict(async () =>
    performCheck(address, flags, {
      ...(openapi !== undefined && { openapi: await readOpenApiOf(openapi) }),
      ...(flags.before.length > 0 && { earlier: await readEarlierRelease(flags.before) }),
    }),
  )
}

async function readEarlierRelease(sources: readonly string[]): Promise<EarlierRelease> {
  const { loadReleasedPromises } = await import('../diff/released-promises.ts')
  return loadReleasedPromises(sources, loadDescribed)
}

async function readOpenApiOf(file: string) {
  const { readOpenApiFile } = await import('../import/import-command.ts')
  return await readOpenApiFile(file)
}

/** Prints the findings and exits with their status, or with 2 if nothing could be judged. */
async function printVerdict(judge: () => Promise<{ readonly text: string; readonly status: number }>): Promise<void> {
  try {
    const { text, status } = await judge()
    process.stdout.write(showControls(text))
    process.exitCode = status
  } catch (thrown) {
    printError(thrown)
    process.exit(2) // 1 would mean that something fails, or breaks callers
  }
}

type DescribeFlags = { readonly [K in (typeof descriptions)[number]]?: boolean } & {
  readonly contract?: string
  readonly endpoint?: string
  readonly address: string
  readonly release: string
}
async function describeCommand(file: string | undefined, flags: DescribeFlags): Promise<void> {
  const [kind = 'access', ...more] = descriptions.filter(each => flags[each])
  if (more.length > 0 || !flags[kind]) failUsage(`give one of ${descriptions.map(each => `--${each}`).join(', ')}`)
  const app = await loadService(file)
  await warnOfUnstarted(app)
  const [
    { writeAccessMatrix: access, writeStateDiagram: diagram, writeWsdl11: wsdl11, writeWsdl20: wsdl20, writeXsd: xsd },
    { writePortWsdl },
    { newestVersion: newest },
    { endpointsOf },
    { portPath },
    { describeDeclaredEndpoint, describeDeclaredPort },
  ] = await Promise.all([
    import('../describe/index.ts'),
    import('../describe/port-wsdl.ts'),
    import('../contract/service.ts'),
    import('../contract/endpoint-rule.ts'),
    import('../contract/exchange.ts'),
    import('../security/policy/described-endpoint.ts'),
  ])
  const { contract } = app
  const version = flags.contract ?? newest(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new Error(`${version} is not a known version: use ${Object.keys(contract.versions).join(', ')}`)
  const endpoint = endpointsOf(contract).find(each =>
    flags.endpoint ? each.path === flags.endpoint : each.version === version,
  )
  const ports = kind === 'wsdl' && !endpoint ? contract.ports : [] // their other descriptions do not exist
  const port = ports.find(each => !flags.endpoint || portPath(each) === flags.endpoint)
  if (!endpoint && !port && kind.startsWith('wsdl')) {
    const known = [...endpointsOf(contract).map(({ path }) => path), ...ports.map(portPath)]
    const cure = known.length > 0 ? `use ${known.join(', ')}` : 'the contract has none'
    throw new Error(`no SOAP endpoint with --${kind} was found: ${cure}`)
  }
  const { release } = flags
  if (release !== '3.1' && release !== '3.2') failUsage(`--release ${release}: give 3.1 or 3.2`)
  const { path, style = 'document', soap = 'both', version: served = version } = endpoint ?? {}
  const address = flags.address.replace(/\/+$/, '') + (path ?? (port ? portPath(port) : ''))
  const policy = endpoint && { policy: describeDeclaredEndpoint(contract, endpoint, address) }
  if (kind.startsWith('wsdl') && (endpoint ?? port)?.security === 'settings')
    process.stderr.write(`the settings of the service say what a message must prove: ${address}?wsdl has that policy\n`)
  const written: Readonly<Record<(typeof descriptions)[number], () => string | Promise<string>>> = {
    access: () => access(contract),
    openapi: async () => {
      if (!contract.hasRest)
        throw new Error('the contract has rest: false, and OpenAPI describes only REST: use --wsdl or --wsdl2')
      return (await import('../pages/openapi.ts')).describeService(app, flags.address, release)
    },
    wsdl: () =>
      port
        ? writePortWsdl(port, address, describeDeclaredPort(port, address))
        : wsdl11(contract, served, { address, style, soap, ...policy }),
    wsdl2: () => wsdl20(contract, served, { address, soap, ...policy }),
    xsd: () => xsd(contract, version),
    machine: () => contract.resources.flatMap(each => diagram(each) ?? []).join('\n'),
  }
  process.stdout.write(`${(await written[kind]()).trimEnd()}\n`)
}

/**
 * A service that is described may not be able to start yet; its contract can be described anyway.
 */
async function warnOfUnstarted(app: Implementation): Promise<void> {
  const { findContractMistakes } = await import('../contract/review.ts')
  for (const mistake of findContractMistakes(app)) process.stderr.write(`does not start yet: ${mistake}\n`)
}

async function docsCommand(file: string | undefined, flags: DocsFlags): Promise<void> {
  const [{ writeDocs, DocsImpossible }, { DiffImpossible }] = await Promise.all([
    import('../docs/docs-command.ts'),
    import('../diff/diff-command.ts'),
  ])
  try {
    const app = await loadService(file)
    const source = file ?? (await findServiceFile()) ?? ''
    process.stdout.write(await writeDocs(app, source, flags, loadService))
  } catch (thrown) {
    if (thrown instanceof DocsImpossible || thrown instanceof DiffImpossible) throw new UsageError(thrown.message)
    throw thrown
  }
}

async function diffCommand(first: string | undefined, second: string | undefined, flags: DiffFlags): Promise<void> {
  const { performDiff } = await import('../diff/diff-command.ts')
  const old = first ?? (flags.against === undefined ? undefined : await findServiceFile())
  if (old === undefined) failUsage('the releases are missing: give two, or one with --against')
  await printVerdict(() => performDiff([old, second], flags, loadDescribed))
}

async function loadDescribed(file: string): Promise<LoadedContract> {
  const { describeFaces } = await import('../docs/change-page.ts')
  return describeFaces(await loadService(file))
}
