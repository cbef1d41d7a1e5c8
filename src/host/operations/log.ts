/**
 * Log lines for operators, as JSON. What it guards:
 *  (1) No line has a credential: of an error it has message, stack and code, in which texts that
 *      look like credentials are redacted. Of a request it has what the audit has, and no more.
 */
import { createRequire } from 'node:module'
import type { AuditRecord } from '../../service/store.ts'

/**
 * The part of pino's interface that we use: pino itself, or another logger with these functions.
 */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * pino on standard error, so that standard output is the application's; loaded with the first line.
 */
export function createLogger(): Logger {
  let made: Logger | undefined
  const logger = (): Logger => (made ??= loadPino())
  return {
    info: (fields, message) => logger().info(fields, message),
    warn: (fields, message) => logger().warn(fields, message),
    error: (fields, message) => logger().error(fields, message),
  }
}

function loadPino(): Logger {
  const pino: typeof import('pino') = createRequire(import.meta.url)('pino')
  const redact = { paths: secretNames.flatMap(name => [name, `*.${name}`]), censor: redacted }
  return pino.pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, redact },
    pino.destination({ dest: 2, sync: true }),
  )
}

const redacted = '[redacted]'
const secretNames = ['password', 'token', 'cookie', 'authorization', 'secret', 'key']

const secrets = [
  /\b(?:Bearer|Basic|ApiKey) +[\w\-.~+/]+=*/gi,
  /\beyJ[\w-]*\.[\w-]*\.[\w-]*/g, // a JWT
  /\bdk-[\w-]{43}/g, // an API key
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, // the password of a URL
]
const scrubText = (text: string): string => secrets.reduce((rest, secret) => rest.replace(secret, redacted), text)

/** (1) */
export function errorFields(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { error: scrubText(String(thrown)) }
  const { stack, message } = thrown
  const code = 'code' in thrown ? thrown.code : undefined
  return { error: scrubText(stack ?? message), ...(typeof code === 'string' && { code }) }
}

/** The fields of a line about a committed change. */
export const changeFields = ({ subject, operation, resource, id, version, face, request }: AuditRecord): object => ({
  subject,
  operation,
  resource,
  id,
  ...(version !== undefined && { version }),
  face,
  request,
})
