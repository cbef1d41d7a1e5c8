/** Killed at any moment, the service loses no answered write (store invariant 2). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { folder, service } from './peer.ts'

it('kill -9 under load: every confirmed write exists after the restart', async () => {
  const data = join(folder(), 'orders.sqlite')
  const answered: string[] = []
  for (let round = 0; round < 3; round++) {
    const running = await service([], data)
    const authorization = `Bearer ${running.token('maria', 'manager')}`
    let going = true
    const writer = async (): Promise<void> => {
      while (going) {
        const made = await fetch(`${running.url}/api/products`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'kept', price: '1.00', stock: 1 }),
        }).catch(() => undefined)
        const body = (await made?.json().catch(() => undefined)) as { id?: string } | undefined
        if (made?.status === 201 && body?.id) answered.push(body.id)
        if (made?.status === 429) going = false
      }
    }
    const writers = Array.from({ length: 8 }, writer)
    await new Promise(resolve => setTimeout(resolve, 400 + 150 * round))
    await running.stop('SIGKILL')
    going = false
    await Promise.all(writers)
  }
  assert.ok(answered.length > 50, `${answered.length} answered`)
  const running = await service([], data)
  for (const [i, id] of answered.entries()) {
    if (i % 500 === 499) await new Promise(resolve => setTimeout(resolve, 1000)) // below the flood limit of one address
    const found = await fetch(`${running.url}/api/products/${id}`)
    assert.equal(found.status, 200, id)
    await found.arrayBuffer()
  }
  await running.stop()
})
