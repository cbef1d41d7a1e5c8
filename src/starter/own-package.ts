/** The folder of this package, whether its programs are sources or bundled. */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

export const packageRoot = dirname(createRequire(import.meta.url).resolve('diglot/package.json'))
