/**
 * What messages of `diglot bridge` wear: from flags, files, the environment, and `behind` in the
 * map.
 */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { ClientKeys } from '../client/message-keys.ts'
import type { PortDressOptions } from '../client/port-dress.ts'
import type { MembersOf } from '../contract/member-kinds.ts'
import { failUsage } from './usage.ts'

export interface DressFlags {
  readonly key?: string
  readonly certificate?: string
  readonly serviceCertificates?: string
  readonly serviceAuthorities?: string
  readonly serviceName?: string
  readonly encryptTo?: string
  readonly assertion?: string
  readonly digest?: boolean
  readonly addressing?: boolean
  readonly mtom?: boolean
}

const dressFlags: MembersOf<DressFlags> = {
  key: true, certificate: true, serviceCertificates: true, serviceAuthorities: true, serviceName: true, encryptTo: true,
  assertion: true, digest: true, addressing: true, mtom: true,
} // biome-ignore format: a list of names reads best in few lines

/** Ends with a usage error if one is given for a REST service, where it has no meaning. */
export function refuseDressFlags(flags: DressFlags): void {
  const flag = Object.keys(dressFlags).find(name => flags[name as keyof DressFlags] !== undefined)
  const option = flag?.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  if (option !== undefined)
    failUsage(`--${option} is for SOAP messages, which a REST service does not use: leave it out`)
}

/** Adds the options for what messages to a SOAP service wear. */
export function addDressOptions(command: Command): Command {
  return command
    .option('--key <file>', 'PEM key that signs messages and decrypts responses')
    .option('--certificate <file>', 'its certificate in PEM')
    .option('--service-certificates <file>', 'PEM certificates that may sign responses')
    .option(
      '--service-authorities <file>',
      'PEM certificates of authorities whose certificates may sign responses; requires --service-name',
    )
    .option('--service-name <name>', 'common name of the signer of responses')
    .option('--encrypt-to <file>', 'PEM certificate that messages are encrypted to (default: the one that signs)')
    .option('--assertion <file>', 'a SAML assertion, read again for each message')
    .option('--digest', 'send the UsernameToken password (DIGLOT_BEHIND_PASSWORD) as a digest')
    .option('--addressing', 'add WS-Addressing to each message')
    .option('--mtom', 'send octets outside the XML')
}

/** The members of the map, overridden by flags. Throws if a file or half of a pair is missing. */
export function readDressFlags(flags: DressFlags, mapped: PortDressOptions = {}): PortDressOptions {
  const keys = readKeys(flags, mapped.keys)
  const credentials = readCredentials(flags) ?? mapped.credentials
  return {
    ...mapped,
    ...(keys && { keys }),
    ...(credentials && { credentials }),
    ...(flags.addressing && { addressing: mapped.addressing || true }),
    ...(flags.mtom && { mtom: true }),
  }
}

function readKeys(flags: DressFlags, mapped: ClientKeys | undefined): ClientKeys | undefined {
  const { assertion } = flags
  const certificates = readPem(flags.serviceCertificates)
  const authorities = readPem(flags.serviceAuthorities)
  const options = {
    ...readMember('key', flags.key),
    ...readMember('certificate', flags.certificate),
    ...readMember('encryptTo', flags.encryptTo),
    ...(assertion !== undefined && { assertion: () => readFileSync(assertion, 'utf8').trim() }),
    ...((certificates ?? authorities ?? flags.serviceName) !== undefined && {
      service: {
        ...mapped?.service,
        ...(certificates !== undefined && { certificates }),
        ...(authorities !== undefined && { authorities }),
        ...(flags.serviceName !== undefined && { name: flags.serviceName }),
      },
    }),
  }
  return Object.keys(options).length === 0 ? mapped : { ...mapped, ...options }
}
const readPem = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readFileSync(file, 'utf8')
const readMember = (name: string, file: string | undefined) => (file === undefined ? {} : { [name]: readPem(file) })

/** Only from the environment: everyone on the machine can see a command line. */
function readCredentials({ digest = false }: DressFlags): PortDressOptions['credentials'] {
  const { DIGLOT_BEHIND_USERNAME: username, DIGLOT_BEHIND_PASSWORD: password } = process.env
  if (!username && !password) return digest ? failUsage(`${nameless}, for --digest`) : undefined
  if (!username || !password) return failUsage(nameless)
  return { username, password, digest }
}
const nameless = 'a UsernameToken has two parts: set DIGLOT_BEHIND_USERNAME and DIGLOT_BEHIND_PASSWORD'
