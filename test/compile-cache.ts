/**
 * Compiled code is kept from process to process, for what the tests start as well: hundreds of
 * processes load the same files, which is half of the time that all tests take.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../node_modules/.cache/compiled')
enableCompileCache(process.env['NODE_COMPILE_CACHE'])
