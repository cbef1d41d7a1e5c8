import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { type Answer, json, order, startOrders } from './orders-over-rest.ts'

const twenty = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 20 }, (_, n) => work(n)))
const count = (answers: readonly Answer[], status: number): number =>
  answers.filter(answer => answer.status === status).length

describe('many at once', async () => {
  const shop = await startOrders()
  const made = async (): Promise<Answer> => shop.as.clara('POST', '/api/v1/orders', json, order)

  it('A4.20 twenty PUTs with one tag: one wins, nineteen get 412', async () => {
    const { fields } = await made()
    const location = fields['location'] ?? ''
    const answers = await twenty(n =>
      shop.as.clara(
        'PUT',
        location,
        { ...json, 'if-match': fields['etag'] ?? '' },
        { ...order, lines: [{ product: 'p-1', quantity: n + 1 }] },
      ),
    )
    assert.deepEqual([count(answers, 200), count(answers, 412)], [1, 19])
    const winner = answers.find(answer => answer.status === 200)
    assert.deepEqual((await shop.as.clara('GET', location)).json, winner?.json)
  })

  it('A4.11 twenty payments: one', async () => {
    const { fields, json: is } = await made()
    const pay = () => shop.as.clara('POST', `${fields['location']}/payment`, json, { method: 'card', amount: is.total })
    const answers = await twenty(pay)
    assert.deepEqual([count(answers, 201), count(answers, 409)], [1, 19])
  })

  it('twenty requests with one Idempotency-Key: one effect, and the same response afterwards', async () => {
    const key = { ...json, 'idempotency-key': '"once"' }
    const before = (await shop.as.clara('GET', '/api/v1/orders?size=1')).json.total
    const answers = await twenty(() => shop.as.clara('POST', '/api/v1/orders', key, order))
    assert.equal(count(answers, 201) + count(answers, 409), 20)
    assert.equal((await shop.as.clara('GET', '/api/v1/orders?size=1')).json.total, before + 1)
    const again = await shop.as.clara('POST', '/api/v1/orders', key, order)
    const first = answers.find(answer => answer.status === 201)
    assert.deepEqual(
      [again.status, again.fields['location'], again.text],
      [201, first?.fields['location'], first?.text],
    )
  })

  it('a key is recognized by a later release: what identifies its request stays the same', async () => {
    const key = { ...json, 'idempotency-key': '"kept"' }
    const text = JSON.stringify(order)
    await shop.as.clara('POST', '/api/v1/orders', key, text)
    const stored = await shop.store.read(reader => reader.recall('idempotency', '["clara","CreateOrder","kept"]'))
    const digest = (of: string) => hash('sha256', of, 'hex').slice(0, 16)
    const fingerprint = `${digest('POST /api/v1/orders')} application/json ${digest(text)}`
    assert.ok(stored?.value.includes(fingerprint), 'as 0.1 wrote it')
  })

  it('a key belongs to its caller: another caller’s equal key is another', async () => {
    const key = { ...json, 'idempotency-key': '"shared"' }
    const one = await shop.as.clara('POST', '/api/v1/orders', key, order)
    const other = await shop.as.alice('POST', '/api/v1/orders', key, order)
    assert.notEqual(one.fields['location'], other.fields['location'])
  })

  it('a key whose request was refused is free again', async () => {
    const key = { ...json, 'idempotency-key': '"again"' }
    assert.equal((await shop.as.clara('POST', '/api/v1/orders', key, { ...order, currency: 'XXX' })).status, 422)
    assert.equal((await shop.as.clara('POST', '/api/v1/orders', key, order)).status, 201)
  })

  it('a key that is not a quoted string: 400', async () => {
    assert.equal(
      (await shop.as.clara('POST', '/api/v1/orders', { ...json, 'idempotency-key': 'bare' }, order)).status,
      400,
    )
  })

  it('a key on a safe request has no effect, however it is written', async () => {
    const fields = { 'idempotency-key': 'bare' }
    assert.equal((await shop.as.clara('GET', '/api/v1/orders', fields)).status, 200)
  })

  it('A1.8 a key without credentials: 400', async () => {
    const notes = resource('notes', { fields: { id: t.id('n') } }).rules({
      allow: { read: [anyone], create: [anyone] },
    })
    const open = service('open', { namespace: 'urn:open', resources: [notes], versions: { v1: {} } })
    const { as } = await startOrders({ app: implement(open, {}) })
    const key = { ...json, 'idempotency-key': '"k"' }
    assert.equal((await as.anyone('POST', '/api/v1/notes', json, {})).status, 201)
    const refused = await as.anyone('POST', '/api/v1/notes', key, {})
    assert.deepEqual([refused.status, /requires credentials/.test(refused.text)], [400, true])
    assert.equal((await as.clara('POST', '/api/v1/notes', key, {})).status, 201)
  })
})
