/** `diglot token` and `diglot key`. */
import { type Command, Option } from 'commander'
import { explainUnknownRoles } from '../contract/review-warnings.ts'
import type { Service } from '../contract/service.ts'
import { locateService, serviceText } from './locate-service.ts'
import { collectOption, pairOption, wholeNumberOption } from './option-types.ts'

/** Adds `token` and `key`. */
export function addCredentialCommands(program: Command): void {
  program
    .command('token')
    .description('print a bearer token signed by the local key, and nothing else')
    .argument('[service.ts]', serviceText)
    .requiredOption('--subject <name>', 'name of the caller')
    .option('--role <role>', 'a role of the caller; repeatable', collectOption, [])
    .option('--claim <name=value>', 'a claim of the caller, such as customer=c-1; repeatable', pairOption, {})
    .option('--expires <seconds>', 'seconds until it expires; may be negative', wholeNumberOption(-1e9, 1e9), 8 * 3600)
    .option('--audience <service>', 'the service that accepts it (default: the service)')
    .option('--data <file>', 'the database file whose key signs (default: ./data/<service>.sqlite)')
    .addOption(new Option('--key <file>', 'the key that signs (default: next to the data)').env('DIGLOT_KEY'))
    .action(tokenCommand)

  program
    .command('key')
    .description('print a new API key, and nothing else; only its hash is stored')
    .argument('[service.ts]', serviceText)
    .requiredOption('--subject <name>', 'name of the caller')
    .option('--role <role>', 'a role of the caller; repeatable', collectOption, [])
    .option('--claim <name=value>', 'a claim of the caller, such as customer=c-1; repeatable', pairOption, {})
    .option('--expires <seconds>', 'seconds until it expires (default: never)', wholeNumberOption(1, 1e9))
    .option('--data <file>', 'the database file next to which it is stored (default: ./data/<service>.sqlite)')
    .option('--keys <file>', 'the file in which it is stored (default: next to the data)')
    .action(keyCommand)
}

interface TokenFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires: number
  readonly audience?: string
  readonly data?: string
  readonly key?: string
}
async function tokenCommand(file: string | undefined, flags: TokenFlags): Promise<void> {
  const [{ openLocalKey }, { signToken }, { createFolderOf }, { name, data, contract }] = await Promise.all([
    import('../identity/local-key.ts'),
    import('../identity/bearer-token.ts'),
    import('../store/private-file.ts'),
    locateService(file, flags),
  ])
  const { subject, role: roles, claim: claims, expires, key = `${data}.key`, audience = name } = flags
  if (contract) warnOfUnknownRoles(contract, roles)
  createFolderOf(key)
  console.log(await signToken(openLocalKey(key), audience, { subject, roles, claims, expires }, Date.now()))
}

interface KeyFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires?: number
  readonly data?: string
  readonly keys?: string
}
async function keyCommand(service: string | undefined, flags: KeyFlags): Promise<void> {
  const [{ issueKey }, { createFolderOf }] = await Promise.all([
    import('../identity/api-key.ts'),
    import('../store/private-file.ts'),
  ])
  const { subject, role: roles, claim: claims, expires } = flags
  const located = flags.keys === undefined || service !== undefined ? await locateService(service, flags) : undefined
  if (located?.contract) warnOfUnknownRoles(located.contract, roles)
  const file = flags.keys ?? `${located?.data}.keys`
  createFolderOf(file)
  const until = expires === undefined ? {} : { expires: Date.now() + expires * 1000 }
  console.log(issueKey(file, { subject, roles, claims, ...until }))
}

export function warnOfUnknownRoles(contract: Service, given: readonly string[]): void {
  for (const says of explainUnknownRoles(contract, given).values()) console.error(`diglot: ${says}`)
}
