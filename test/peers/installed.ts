/** Packages for one peer, in a folder of their own: what they bring along is none of the project's. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

function isThere(cwd: string): boolean {
  if (existsSync(join(cwd, 'node_modules'))) return true
  return spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd }).status === 0
}

/** Why the packages of a folder of `test/peers` cannot run here; false when they can. */
export function installed(folder: 'npm-soap' | 'json-server' | 'openapi-clients'): string | false {
  if (isThere(join(import.meta.dirname, folder))) return false
  if (process.env['CI'] === 'true') throw new Error(`npm ci fails in test/peers/${folder}`)
  return `skipped: npm ci fails in test/peers/${folder}`
}
