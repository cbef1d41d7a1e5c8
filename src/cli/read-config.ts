/** Reads `diglot.config.ts` in the working folder. */
import { existsSync } from 'node:fs'
import { loadModule } from '../host/operations/load-module.ts'
import type { CommandConfig } from './config.ts'

const configFiles: readonly string[] = ['diglot.config.ts', 'diglot.config.mjs', 'diglot.config.js']
const members: Readonly<Record<keyof CommandConfig, 'string' | 'number'>> = {
  service: 'string',
  data: 'string',
  database: 'string',
  replica: 'string',
  key: 'string',
  keys: 'string',
  host: 'string',
  port: 'number',
  publicUrl: 'string',
}

/** Undefined if the folder has none; throws an error that names the member and the cure. */
export async function readConfig(): Promise<CommandConfig | undefined> {
  const file = configFiles.find(each => existsSync(each))
  if (file === undefined) return undefined
  const { default: config } = await loadModule(file)
  if (!(config instanceof Object) || !('service' in config))
    throw new Error(`${file} names no service: write export default defineConfig({ service: './service.ts' })`)
  for (const [name, value] of Object.entries(config)) {
    const type = Object.hasOwn(members, name) ? members[name as keyof CommandConfig] : undefined
    if (!type) throw new Error(`${file}: ${name} is not known: use ${Object.keys(members).join(', ')}`)
    if (value !== undefined && (typeof value !== type || !isPort(value)))
      throw new Error(`${file}: ${name} must be ${type === 'number' ? 'a port from 0 to 65535' : 'a text'}`)
  }
  return config as CommandConfig // each member was checked
}

const isPort = (value: unknown): boolean =>
  typeof value !== 'number' || (Number.isInteger(value) && value >= 0 && value <= 65535)
