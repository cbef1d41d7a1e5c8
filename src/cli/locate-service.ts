/** Which service a command is about: its argument, DIGLOT_SERVICE, or diglot.config.ts. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Implementation } from '../contract/implement.ts'
import type { Service } from '../contract/service.ts'
import { loadModule } from '../host/operations/load-module.ts'
import { readConfig } from './read-config.ts'
import { UsageError } from './usage.ts'

export const serviceText =
  'the file whose default export is made by implement(…) (default: DIGLOT_SERVICE, or that of diglot.config.ts)'

/**
 * The default export of an application. Throws an error that says what to give for any other file.
 */
async function loadImplementation(file: string): Promise<Implementation> {
  if (!existsSync(file)) throw new Error(`${file} not found: give the file that exports your implement(…)`)
  const app = (await loadModule(file))['default'] as Partial<Implementation> | undefined
  if (app instanceof Object && 'resources' in app)
    throw new Error(`${file} exports a contract by default: export implement(contract, handlers)`)
  if (!app?.contract || !app.handlers)
    throw new Error(`${file} has no default export made by implement(…): give the file that has, such as service.ts`)
  return app as Implementation // made by `implement`
}

/** What follows the service, and the service if both are given. */
export function splitArguments(
  missing: string,
  first: string | undefined,
  second: string | undefined,
): readonly [file: string | undefined, other: string] {
  const isServiceAlone = second === undefined && /\.[cm]?[jt]s$/.test(first ?? '') && existsSync(first ?? '')
  if (first === undefined || isServiceAlone) throw new UsageError(`no ${missing} is given: write it after the service`)
  return second === undefined ? [undefined, first] : [first, second]
}

/** The service of this folder, if no argument names one. */
export const findServiceFile = async (): Promise<string | undefined> =>
  process.env['DIGLOT_SERVICE'] || (await readConfig())?.service

/** The service of an argument or of this folder; loads it. */
export async function loadService(file: string | undefined): Promise<Implementation> {
  const found = file ?? (await findServiceFile())
  if (found !== undefined) return loadImplementation(found)
  throw new UsageError(
    'the service is not known: give the file that exports your implement(…), set DIGLOT_SERVICE, or name it in diglot.config.ts',
  )
}

/**
 * Gives a command the members of diglot.config.ts as its defaults, unless it is about another
 * service.
 */
export async function applyConfig(command: Command): Promise<void> {
  const [first] = command.registeredArguments
  if (first?.name() !== 'service.ts') return
  const isGiven = command.args.length === command.registeredArguments.length
  const serviceArgument = isGiven ? command.args[0] : process.env['DIGLOT_SERVICE'] || undefined
  const config = await readConfig()
  if (!config || (serviceArgument !== undefined && resolve(serviceArgument) !== resolve(config.service))) return
  for (const [name, value] of Object.entries(config)) {
    const isKnown = command.options.some(each => each.attributeName() === name)
    const source = command.getOptionValueSource(name)
    if (isKnown && value !== undefined && (source === undefined || source === 'default'))
      command.setOptionValueWithSource(name, value, 'config')
  }
}

/** A service by its own file, with its contract, or by its database. */
export async function locateService(
  file: string | undefined,
  { data, key }: { readonly data?: string; readonly key?: string },
): Promise<{ readonly name: string; readonly data: string; readonly contract?: Service }> {
  const { dataFileOf, readServiceName } = await import('../host/store/open-store.ts')
  const known = file ?? (await findServiceFile())
  if (known !== undefined) {
    const app = await loadImplementation(known)
    const { contract } = app
    return { contract, name: contract.service, data: dataFileOf(app, data === undefined ? {} : { data }) }
  }
  const place = data ?? './data/orders.sqlite'
  const isKnown =
    data !== undefined || key !== undefined || existsSync(place) || existsSync('examples/orders/service.ts')
  if (!isKnown) throw new Error('the service is not known: give the file that exports your implement(…), or --data')
  return { name: (await readServiceName(place)) ?? 'orders', data: place }
}
