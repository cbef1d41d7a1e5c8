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

const Lot = mill.element('Lot', x.object({ number: x.element(x.simple(x.string, { patterns: ['[0-9]{4}'] })) }))
/** A partner whose identifiers have a form of their own, and whose WSDL declares no fault. */
const strict = port('Mill', {
  namespace,
  allow: [anyone],
  exchanges: { GetLot: exchange({ action: 'lot', input: Lot, output: Due }) },
})

const rules = checkRules.filter(({ id }) => id.startsWith('B'))
/** Those of any style. */
const shared = ['B2.1', 'B2.2', 'B2.4', 'B2.11', 'B4.1', 'B4.2', 'B4.4', 'B4.5', 'B4.7', 'B5.5', 'B7.1', 'B8.1']

for (const [title, mill, style] of [
  ['RPC style alone', rpc, 'B2.6'],
  ['documents of several elements', several, 'B2.7'],
  ['documents whose texts have patterns, of which the checker has no example', strict, undefined],
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
    it('the rules that its style has are judged', { skip: style === undefined }, () => {
      const passed = verdicts.filter(({ status }) => status === 'pass').map(({ rule }) => rule.id)
      assert.deepEqual(
        [...shared, style ?? ''].filter(id => !passed.includes(id)),
        [],
      )
    })
  })

describe('B7.5: what an imported port refuses', async () => {
  const mock = await startMock(service('mill', { namespace, resources: [], ports: [strict] }))
  after(() => mock[Symbol.asyncDispose]())
  const ask = async (version: '1.1' | '1.2', body: string, action = 'lot') => {
    const uri =
      version === '1.1' ? 'http://schemas.xmlsoap.org/soap/envelope/' : 'http://www.w3.org/2003/05/soap-envelope'
    const answer = await fetch(`${mock.url}/soap/Mill`, {
      method: 'POST',
      headers:
        version === '1.1'
          ? { 'content-type': 'text/xml', soapaction: `"${action}"` }
          : { 'content-type': `application/soap+xml; action="${action}"` },
      body: `<e:Envelope xmlns:e="${uri}"><e:Body>${body}</e:Body></e:Envelope>`,
    })
    return answer.text()
  }
  const lot = (content: string) => `<Lot xmlns="http://mill.test/messages">${content}</Lot>`
  /** In SOAP 1.1, an empty detail says that the Body could not be processed (§4.4). */
  const refused: readonly (readonly [what: string, body: string, says: RegExp, detail: string])[] = [
    [
      'a text that its type does not allow',
      lot('<number>probe</number>'),
      /\/Lot\[1\]\/number\[1\].*\[0-9\]\{4\}/,
      '<detail></detail>',
    ],
    ['an element that is not there', lot(''), /number/, '<detail></detail>'],
    ['an unknown operation', '<Sell xmlns="http://mill.test/messages"/>', /Sell/, '<detail></detail>'],
    ['text that is not XML', '<Lot', /not well-formed/, '<detail></detail>'],
  ]
  for (const [what, body, says, detail] of refused)
    for (const version of ['1.1', '1.2'] as const)
      it(`${what}, in SOAP ${version}: the text says it, and Detail has nothing undeclared`, async () => {
        const text = await ask(version, body)
        assert.match(text, says)
        assert.match(text, version === '1.1' ? /faultcode>[^<]*:Client</ : /Value>[^<]*:Sender</)
        assert.doesNotMatch(text, /urn:diglot|xmlns:code="http:\/\/mill/)
        if (version === '1.1') assert.ok(text.includes(detail), text)
        else assert.doesNotMatch(text, /Detail/)
      })
})
