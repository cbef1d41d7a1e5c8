/** SOAP stacks of the Node world, in a folder of their own: what it installs is none of the project's. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const there = (): boolean => {
  if (existsSync(join(import.meta.dirname, 'node_modules'))) return true
  return (
    spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: import.meta.dirname }).status === 0
  )
}

/** Why they cannot run here; false when they can. */
export function installed(): string | false {
  if (there()) return false
  if (process.env['CI'] === 'true') throw new Error('npm ci fails in test/peers/npm-soap')
  return 'skipped: npm ci fails in test/peers/npm-soap'
}
