/** Ports that another party's WSDL dictates: of RPC style alone, and of documents with several elements. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { checkRules, openSocketTransport, runCheck } from '../../src/check/index.ts'
import { anyone, exchange, port, service, x } from '../../src/index.ts'
import { startMock } from '../../src/testing/index.ts'

const namespace = 'http://mill.test/wsdl'
const mill = x.namespace('http://mill.test/messages')
const [Sacks, Buyer, Due] = [mill.element('Sacks', x.int), mill.element('Buyer', x.string), mill.element('Due', x.date)]

const call = (name: string) =>
  exchange({
    style: 'rpc',
    action: '',
    input: x.call(namespace, name, { sacks: x.element(x.int) }),
    output: x.call(namespace, `${name}Response`, { due: x.element(x.date) }),
  })
const rpc = port('Mill', {
  namespace,
  allow: [anyone],
  exchanges: { GetFlour: call('GetFlour'), GetBran: call('GetBran') },
})
/** The first element of both is the same: only the whole Body, or the action, tells them apart. */
const several = port('Mill', {
  namespace,
  allow: [anyone],
  exchanges: {
    GetDue: exchange({
      action: '',
      input: x.body({ sacks: x.ref(Sacks), buyer: x.ref(Buyer) }),
      output: x.body({ due: x.ref(Due), buyer: x.ref(Buyer) }),
    }),
    GetBuyer: exchange({ action: '', input: x.body({ sacks: x.ref(Sacks) }), output: x.body({ buyer: x.ref(Buyer) }) }),
  },
})

const rules = checkRules.filter(({ id }) => id.startsWith('B'))
/** Those of any style. */
const shared = ['B2.1', 'B2.2', 'B2.4', 'B2.11', 'B4.1', 'B4.2', 'B4.4', 'B4.5', 'B4.7', 'B5.5', 'B7.1', 'B8.1']

for (const [title, mill, style] of [
  ['RPC style alone', rpc, 'B2.6'],
  ['documents of several elements', several, 'B2.7'],
] as const)
  describe(`a port of ${title}`, async () => {
    const mock = await startMock(service('mill', { namespace, resources: [], ports: [mill] }))
    const transport = await openSocketTransport(mock.url)
    after(async () => {
      transport.close()
      await mock[Symbol.asyncDispose]()
    })
    const { verdicts } = await runCheck(transport, { rules, rate: 1e5 })

    it('no rule fails', () => {
      const failed = verdicts.filter(({ status }) => status === 'fail')
      assert.deepEqual(
        failed.map(({ rule, reason }) => `${rule.id} ${reason}`),
        [],
      )
    })
    it('the rules that its style has are judged', () => {
      const passed = verdicts.filter(({ status }) => status === 'pass').map(({ rule }) => rule.id)
      assert.deepEqual(
        [...shared, style].filter(id => !passed.includes(id)),
        [],
      )
    })
  })
