/** A service with a new name finds what it had under the old one, or says where that is. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import { startService } from '../../src/host/serve.ts'
import { basic, type Line, sendRequest } from './hosted-service.ts'

const home = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'diglot-renamed-'))
process.chdir(folder)
after(() => {
  process.chdir(home)
  rmSync(folder, { recursive: true })
})
const renamed: Implementation = { ...app, contract: { ...app.contract, service: 'shop' } }
const says =
  'a new database is created next to that of another service: if this service had that name before, give its file by `data`'

/** Starts, asks for a product that is removed, and stops. @returns its status, and the warnings */
async function look(of: Implementation, data?: string): Promise<[number, unknown[]]> {
  const lines: Line[] = []
  const add =
    (level: Line['level']) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields: { ...fields }, message })
  const logger = { info: add('info'), warn: add('warn'), error: add('error') }
  const server = await startService(of, { port: 0, logger, ...(data !== undefined && { data }) })
  const maria = { ...basic('maria', 'maria-secret'), 'if-match': '*' }
  const { status } = await sendRequest(server.port, 'DELETE', '/api/v1/products/p-20', maria)
  await server.close()
  return [status, lines.filter(({ message }) => message === says).map(({ fields }) => fields)]
}

test('a renamed service says that it makes a new database beside the old one, and continues with the old one on request', async () => {
  assert.deepEqual(await look(app), [204, []])
  assert.deepEqual(await look(app), [410, []])
  assert.deepEqual(await look(renamed), [
    204,
    [{ file: './data/orders.sqlite', service: 'orders', made: './data/shop.sqlite' }],
  ])
  assert.ok(existsSync('data/shop.sqlite'))
  assert.deepEqual(await look(renamed), [410, []], 'once: from then on it is its own')
  // Its people are there, and nothing is seeded again.
  assert.deepEqual(await look(renamed, './data/orders.sqlite'), [410, []])
  assert.deepEqual(await look(app), [410, []])
})
