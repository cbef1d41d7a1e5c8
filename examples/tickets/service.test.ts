/** The same journey by both faces. Run with `npm test`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import app, { helpdesk } from './service.ts'

for (const face of ['rest', 'soap'] as const) {
  test(`a question is asked, answered and closed by ${face}`, async () => {
    await using service = await startTestService(helpdesk, app)
    const [anyone, ann] = [service[face](), service[face]('ann')]
    const { id } = await anyone.tickets.create({ question: 'Where is the manual?' })
    const asked = await ann.tickets.get(id)
    assert.ok(asked.state === 'open')
    await ann.tickets.reply(asked, { text: 'On the first page.' })
    const answered = await ann.tickets.get(id)
    assert.equal(answered.answer, 'On the first page.')
    assert.ok(answered.state === 'answered')
    await ann.tickets.close(answered)
    assert.equal((await anyone.tickets.get(id)).state, 'closed')
  })

  test(`only an agent answers by ${face}`, async () => {
    await using service = await startTestService(helpdesk, app)
    const anyone = service[face]()
    const { id } = await anyone.tickets.create({ question: 'May I?' })
    const asked = await anyone.tickets.get(id)
    assert.ok(asked.state === 'open')
    await assert.rejects(anyone.tickets.reply(asked, { text: 'Yes.' }), /credentials|XX/)
  })
}
