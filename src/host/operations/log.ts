/**
 * Lines for whoever runs the service, as JSON. What it guards:
 *  (1) No credential is in a line: of an error only its message, its stack and its code are said,
 *      and what looks like a credential in them is struck out. Nothing else is taken from a request
 *      but what the audit has.
 */
import { createRequire } from 'node:module'
import type { AuditRecord } from '../../service/store.ts'

/** The part of pino's logger that is used: pino itself, or whatever is called the same way. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * pino on standard error, so that standard output is the application's; loaded when there is
 * something to say.
 */
export function createLogger(): Logger {
  let made: Logger | undefined
  const logger = (): Logger => (made ??= load())
  return {
    info: (fields, message) => logger().info(fields, message),
    warn: (fields, message) => logger().warn(fields, message),
    error: (fields, message) => logger().error(fields, message),
  }
}

function load(): Logger {
  const pino: typeof import('pino') = createRequire(import.meta.url)('pino')
  const redact = { paths: secretNames.flatMap(name => [name, `*.${name}`]), censor: struck }
  return pino.pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, redact },
    pino.destination({ dest: 2, sync: true }),
  )
}

const struck = '[redacted]'
const secretNames = ['password', 'token', 'cookie', 'authorization', 'secret', 'key']

const secrets = [
  /\b(?:Bearer|Basic|ApiKey) +[\w\-.~+/]+=*/gi,
  /\beyJ[\w-]*\.[\w-]*\.[\w-]*/g, // a JWT
  /\bdk-[\w-]{43}/g, // an API key
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, // the password of a URL
]
const scrubText = (text: string): string => secrets.reduce((rest, secret) => rest.replace(secret, struck), text)

/** (1) */
export function errorFields(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { error: scrubText(String(thrown)) }
  const { stack, message } = thrown
  const code = 'code' in thrown ? thrown.code : undefined
  return { error: scrubText(stack ?? message), ...(typeof code === 'string' && { code }) }
}

/** One committed change: who did what to which, by which face. */
export const changeFields = ({ subject, operation, resource, id, version, face, request }: AuditRecord): object => ({
  subject,
  operation,
  resource,
  id,
  ...(version !== undefined && { version }),
  face,
  request,
})
