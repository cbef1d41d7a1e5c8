/**
 * Ends the process where Node is older than package.json promises. It is the first import of
 * `cli.ts` and `index.ts`, and imports nothing that an older Node lacks: the modules after it may
 * not even load there.
 */
import { writeSync } from 'node:fs'

/**
 * `engines` of package.json. node:crypto has argon2 since 24.7, but before 24.16 each hash blocks
 * the event loop (nodejs/node#62861), so a flood of passwords would stop the service for every
 * caller.
 */
const oldest = '24.16'

const numbersOf = (version: string): number[] => version.split('.').map(Number)
const [major = 0, minor = 0] = numbersOf(process.versions.node)
const [leastMajor = 0, leastMinor = 0] = numbersOf(oldest)
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  writeSync(2, `Diglot needs Node ${oldest} or later: this is ${process.versions.node}\n`)
  process.exit(1)
}
