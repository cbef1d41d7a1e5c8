/**
 * Log lines for operators, as JSON. What it guards:
 *  (1) No line contains a credential: of an error it has message, stack, code and causes, with
 *      everything redacted that looks like a credential. Of a request it has only what the audit
 *      has.
 */
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { memoizeOnce } from '../../base/memo.ts'
import { type AuditRecord, Unavailable } from '../../service/store.ts'
import { LogOutput } from './log-output.ts'

/**
 * The part of pino's interface that we use: pino itself, or another logger with these functions.
 */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** For a test or a mock: writes nothing. */
export const quietLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} }

/**
 * pino on standard error, since standard output belongs to the application; loaded with the first
 * line.
 */
export function createLogger(): Logger {
  const logger = memoizeOnce(loadPino)
  return {
    info: (fields, message) => logger().info(fields, message),
    warn: (fields, message) => logger().warn(fields, message),
    error: (fields, message) => logger().error(fields, message),
  }
}

function loadPino(): Logger {
  const pino: typeof import('pino') = createRequire(import.meta.url)('pino')
  const redact = { paths: secretNames.flatMap(name => [name, `*.${name}`]), censor: redacted }
  const output = new LogOutput(2, lines =>
    logger.warn({ lines }, 'lines of the log were lost: it could not be written'),
  )
  const logger = pino.pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime, redact }, output)
  return logger
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
  if (thrown instanceof Unavailable) return errorFields(thrown.cause ?? 'unavailable, without a known cause')
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return { error: scrubText(describeThrown(thrown)), ...(typeof code === 'string' && { code }) }
}

/** The fields that a handler gives for its line: (1) holds for the errors among them. */
export const describeErrors = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? errorFields(value) : value]),
  )

/** How many causes of causes, or errors of an AggregateError, are described. */
const causesMax = 4
const valueCharacters = 1000

/** The stack or message of an error and of its causes; anything else as Node shows it. */
function describeThrown(thrown: unknown, depth = 0): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return inspect(thrown, { depth: 3 }).slice(0, valueCharacters)
  const { stack, message, cause } = thrown
  const inner = [
    ...(cause === undefined ? [] : [cause]),
    ...(thrown instanceof AggregateError ? (thrown.errors as unknown[]).slice(0, causesMax) : []),
  ]
  const causes = depth < causesMax ? inner.map(each => `\n[cause]: ${describeThrown(each, depth + 1)}`) : []
  return `${stack ?? message}${causes.join('')}`
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
