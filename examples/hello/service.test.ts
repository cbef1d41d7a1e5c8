/** The same greeting by both faces. Run with `npm test`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import app, { hello } from './service.ts'

for (const face of ['rest', 'soap'] as const)
  test(`a greeting by ${face}`, async () => {
    await using service = await startTestService(hello, app)
    const { id } = await service[face]().greetings.create({ name: 'world' })
    assert.equal((await service[face]().greetings.get(id)).text, 'Hello, world!')
  })
