/** The service before its first resource. Run with `npm test`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import app, { empty } from './service.ts'

test('the service starts, and its entry names it', async () => {
  await using service = await startTestService(empty, app)
  const entry = await service.fetchAs()(new URL('/api', service.address))
  assert.equal(((await entry.json()) as { service: string }).service, empty.service)
})
