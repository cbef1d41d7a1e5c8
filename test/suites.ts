import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = process.env['DIGLOT_SUITES'] ?? fileURLToPath(new URL('../../shared/suites', import.meta.url))

/** The folder of a public suite, kept beside the project; undefined, and one line on standard output, when it is not there. */
export function suites(name: string): string | undefined {
  const path = join(root, name)
  if (existsSync(path)) return path
  console.log(`skipped: ${name} (no suites at ${root}; DIGLOT_SUITES names another place)`)
  return undefined
}
