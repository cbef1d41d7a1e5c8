/** Replies that come later (docs/bridge.md): calls as jobs, and the messages that end them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import { markLater } from '../../src/bridge/later-limits.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { role } from '../../src/contract/policy.ts'
import { x } from '../../src/contract/xml-type.ts'
import { quietLogger } from '../../src/host/operations/log.ts'
import { openStore } from '../../src/host/serve.ts'
import { createLaterLedger } from '../../src/service/later-ledger.ts'
import {
  accepted,
  block,
  envelope,
  fault,
  noTea,
  openLaterBridge,
  price,
  respondWith,
  type Sent,
  shopPort,
  soapUri,
  wsaUri,
} from './later-bridge.ts'

const resultOf = (job: string): string => job.replace('/jobs/', '/')
const stateOf = ({ text }: { readonly text: string }) => JSON.parse(text)

describe('a call whose answer comes later', () => {
  test('is 202 with a job (A3.1), and its result is what an immediate call would have given', async () => {
    const { ask, answer, begin, incidents } = await openLaterBridge()
    const { started, message, job } = await begin()
    assert.match(job, /^\/api\/v1\/Shop\/GetPrice\/jobs\/j-\w+$/)
    assert.equal(started.fields['retry-after'], '1')
    const waiting = await ask('GET', job)
    assert.deepEqual([waiting.status, stateOf(waiting).state], [200, 'running'])
    assert.equal((await ask('GET', job, { fields: { 'if-none-match': waiting.fields['etag'] ?? '' } })).status, 304)
    assert.equal((await ask('GET', resultOf(job))).status, 404)

    const more = `<s:rate>NaN</s:rate><s:stock>9007199254740993</s:stock><s:picture>AAEC/w==</s:picture>`
    const quota = '<s:Quota xmlns:s="urn:shop"><s:left>7</s:left></s:Quota>'
    assert.equal((await answer(message, price('1.50', more), quota)).status, 202)

    const done = await ask('GET', job)
    const { state, _links: links } = stateOf(done)
    assert.deepEqual([state, links.related.href, links.cancel], ['completed', resultOf(job), undefined])
    assert.notEqual(done.fields['etag'], waiting.fields['etag'])
    const result = await ask('GET', resultOf(job))
    assert.deepEqual([result.status, result.fields['soap-quota']], [200, '{"left":7}'])
    assert.equal(
      result.text,
      '{"item":"tea","amount":"1.50","rate":"NaN","stock":9007199254740993,"picture":"AAEC/w=="}',
    )
    const etag = result.fields['etag'] ?? ''
    assert.equal((await ask('GET', resultOf(job), { fields: { 'if-none-match': etag } })).status, 304)
    const xml = await ask('GET', resultOf(job), { fields: { accept: 'application/xml' } })
    assert.match(xml.text, /<\w+:amount>1.50<\/\w+:amount>/)
    assert.deepEqual(incidents, [])
  })

  test('requests the reply, and faults, at an address of its own (WS-Addressing Core §3.3)', async () => {
    const { begin } = await openLaterBridge()
    const [one, other] = [await begin(), await begin()]
    for (const { message } of [one, other]) {
      assert.match(message.replyTo, /^http:\/\/bridge\.test\/replies\/j-\w+\/[\w-]{32}$/)
      assert.ok(message.text.includes(`<wsa:FaultTo xmlns:wsa="${wsaUri}"><wsa:Address>${message.replyTo}</`))
    }
    assert.notEqual(one.message.replyTo, other.message.replyTo)
    assert.ok(!one.started.text.includes(one.message.replyTo.split('/').at(-1) ?? ''))
  })

  test('ends by a declared fault with its status and its element, also when it is read again', async () => {
    const { ask, answer, begin, notes } = await openLaterBridge()
    const { message, job } = await begin()
    assert.equal((await answer(message, fault(noTea))).status, 202)
    const { state, failure, _links: links } = stateOf(await ask('GET', job))
    assert.deepEqual([state, failure, links.related.href], ['failed', 'NoSuchItem', resultOf(job)])
    for (let i = 0; i < 2; i++) {
      const problem = await ask('GET', resultOf(job))
      assert.equal(problem.status, 404)
      assert.deepEqual(stateOf(problem).fault, { item: 'tea' })
    }
    assert.deepEqual(notes, [])
  })

  test('ends by any other fault like an immediate call, and the log has it once', async () => {
    const { ask, answer, begin, notes } = await openLaterBridge()
    const { message, job } = await begin()
    await answer(message, fault('', 'ask for coffee'))
    assert.equal(stateOf(await ask('GET', job)).failure, 'Refused')
    for (let i = 0; i < 2; i++) assert.match((await ask('GET', resultOf(job))).text, /ask for coffee/)
    assert.deepEqual(notes, ['Shop.GetPrice: fault Sender: ask for coffee'])
  })

  test('has no content if its message has none', async () => {
    const { ask, answer, sent } = await openLaterBridge()
    const { fields } = await ask('POST', '/api/v1/Shop/Ping')
    await answer(sent[0] as Sent, '')
    assert.equal((await ask('GET', resultOf(fields['location'] ?? ''))).status, 204)
  })

  test('is no part of a resource, whatever the names of its exchange', () => {
    const shop = x.namespace('urn:shop')
    const item = x.object({ id: x.element(x.string), name: x.element(x.string) })
    const [Id, Part, Parts] = [
      shop.element('Id', x.object({ id: x.element(x.string) })),
      shop.element('Part', x.object({ part: x.element(item) })),
      shop.element('Parts', x.object({ part: x.element(item).many(0) })),
    ]
    const parts = port('Parts', {
      namespace: 'urn:shop:wsdl',
      allow: [role('clerk')],
      exchanges: {
        GetPart: exchange({ action: 'urn:GetPart', input: Id, output: Part, safe: true }),
        ListParts: exchange({ action: 'urn:ListParts', input: 'empty', output: Parts, safe: true }),
        DeletePart: exchange({ action: 'urn:DeletePart', input: Id, output: 'empty' }),
      },
    })
    const guess = (...later: string[]) =>
      guessResources([markLater(parts, later, undefined, { keep: 1 })]).map(({ resource, writes }) => [
        resource.name,
        writes.remove?.exchange,
      ])
    assert.deepEqual(guess(), [['parts', 'DeletePart']])
    assert.deepEqual(guess('DeletePart'), [['parts', undefined]])
    assert.deepEqual(guess('Parts.GetPart'), [])
  })

  test('does not apply to an exchange without a reply', async () => {
    const { ask, sent } = await openLaterBridge()
    assert.equal((await ask('POST', '/api/v1/Shop/Tell', { body: { item: 'tea' } })).status, 204)
    assert.equal(sent[0]?.replyTo, '')
  })

  test('is refused before anything is sent if its content is wrong', async () => {
    const { ask, sent, readFigure } = await openLaterBridge()
    assert.equal((await ask('POST', '/api/v1/Shop/GetPrice', { body: { thing: 'tea' } })).status, 422)
    assert.deepEqual([sent.length, await readFigure('diglot_later_calls')], [0, '0'])
  })

  test('is waited for by Prefer: wait (RFC 7240 §4.3), and respond-async is applied', async () => {
    const { ask, answer, wire } = await openLaterBridge()
    wire.behind = sent => {
      setTimeout(() => void answer(sent), 100)
      return accepted
    }
    const post = (prefer: string) => ask('POST', '/api/v1/Shop/GetPrice', { body: { item: 'tea' }, fields: { prefer } })
    const waited = await post('wait=20')
    assert.deepEqual([waited.status, stateOf(waited).state], [202, 'completed'])
    assert.match(waited.fields['preference-applied'] ?? '', /wait=20/)
    const async = await post('respond-async')
    assert.match(async.fields['preference-applied'] ?? '', /respond-async/)
  })

  for (const accept of ['text/html', 'application/xml', 'application/json'])
    test(`has its job as ${accept}, too`, async () => {
      const { ask, answer, sent, incidents } = await openLaterBridge()
      const fields = { accept }
      const started = await ask('POST', '/api/v1/Shop/GetPrice', { body: { item: 'tea' }, fields })
      assert.deepEqual([started.status, started.fields['content-type']?.split(';')[0]], [202, accept])
      const job = started.fields['location'] ?? ''
      assert.match((await ask('GET', job, { fields })).text, /running/)
      await answer(sent[0] as Sent)
      const done = await ask('GET', job, { fields })
      assert.match(done.text, /completed/)
      assert.ok(done.text.includes(resultOf(job)), done.text)
      assert.deepEqual(incidents, [])
    })

  test('is one by WS-Addressing of August 2004, too', async () => {
    const { ask, begin, reply } = await openLaterBridge({ worn: { addressing: { of: '2004/08' } } })
    const { message, job } = await begin()
    const uri = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
    assert.ok(message.text.includes(`<wsa:FaultTo xmlns:wsa="${uri}"><wsa:Address>${message.replyTo}</`))
    const relate = (id: string) => `<a:RelatesTo xmlns:a="${uri}">${id}</a:RelatesTo>`
    const refused = await reply(message.replyTo, envelope(price(), relate('urn:other')))
    assert.match(refused.text, /InvalidMessageInformationHeader/)
    assert.equal((await reply(message.replyTo, envelope(price(), relate(message.id)))).status, 202)
    assert.equal((await ask('GET', resultOf(job))).status, 200)
  })

  test('has refusals of its replies in SOAP 1.2, if it was sent in that', async () => {
    const { begin, reply } = await openLaterBridge({ bridged: { ...shopPort, soap: '1.2' } })
    const { message } = await begin()
    const refused = await reply(message.replyTo, envelope(price(), block('RelatesTo', 'urn:other')))
    assert.equal(refused.status, 400)
    assert.match(refused.fields['content-type'] ?? '', /application\/soap\+xml/)
    assert.match(refused.text, /Subcode>.*InvalidAddressingHeader/)
  })

  test('SOAP Binding §6 has refusals of its answers with the action of a fault', async () => {
    const { begin, reply } = await openLaterBridge()
    const { message } = await begin()
    const other = 'http://bridge.test/replies/j-1/none'
    const relation = block('RelatesTo', message.id)
    const stranger = `<x xmlns="urn:x" xmlns:e="${soapUri}" e:mustUnderstand="1"/>`
    const rows: readonly (readonly [to: string, text: string, action: string])[] = [
      [message.replyTo, envelope(price(), block('RelatesTo', 'urn:other')), `${wsaUri}/fault`],
      [other, envelope(price(), relation), `${wsaUri}/fault`],
      [message.replyTo, envelope(price(), relation + stranger), `${wsaUri}/soap/fault`],
    ]
    for (const [to, text, action] of rows) {
      const refused = await reply(to, text)
      assert.match(refused.text, new RegExp(`<wsa:Action xmlns:wsa="${wsaUri}">${action}</wsa:Action>`))
      assert.match(refused.text, new RegExp(`<wsa:RelatesTo [^>]*>${wsaUri}/unspecified<`))
    }
  })

  test('is polled less often the longer it takes', async () => {
    const { ask, begin, clock } = await openLaterBridge()
    const { job } = await begin()
    const seen: unknown[] = []
    for (const seconds of [5, 95, 5000]) {
      clock.now += seconds * 1000
      seen.push((await ask('GET', job)).fields['retry-after'])
    }
    assert.deepEqual(seen, ['1', '10', '60'])
  })

  test('belongs only to the caller that started it', async () => {
    const { ask, answer, begin } = await openLaterBridge()
    const { message, job } = await begin('maria')
    await answer(message)
    for (const as of ['tom', undefined]) {
      const who = as === undefined ? {} : { as }
      assert.equal((await ask('GET', job, who)).status, 404)
      assert.equal((await ask('GET', resultOf(job), who)).status, 404)
      assert.equal((await ask('POST', `${job}/cancellation`, who)).status, 404)
    }
    assert.equal((await ask('GET', resultOf(job), { as: 'maria' })).status, 200)
    const closed = await openLaterBridge({ allow: [role('clerk')] })
    assert.equal((await closed.ask('GET', job)).status, 401)
    assert.equal((await closed.ask('GET', job, { as: 'maria' })).status, 403)
  })
})

describe('immediate results', () => {
  test('a fault in the response is the reply, and no job is left', async () => {
    const { ask, sent, reply, readFigure } = await openLaterBridge({
      behind: () => respondWith(500, envelope(fault(noTea))),
    })
    const refused = await ask('POST', '/api/v1/Shop/GetPrice', { body: { item: 'tea' } })
    assert.deepEqual([refused.status, stateOf(refused).fault], [404, { item: 'tea' }])
    assert.equal(await readFigure('diglot_later_calls'), '0')
    const [message] = sent as [Sent]
    const late = await reply(message.replyTo, envelope(price(), block('RelatesTo', message.id)))
    assert.equal(late.status, 404)
  })

  test('a reply in the response ends the job; 202 with any content is no reply', async () => {
    const { ask, begin, wire } = await openLaterBridge()
    wire.behind = ({ id }) => respondWith(200, envelope(price('3'), block('RelatesTo', id)))
    const { started, job } = await begin()
    assert.equal(stateOf(started).state, 'completed')
    assert.equal(stateOf(await ask('GET', resultOf(job))).amount, '3')
    wire.behind = () => respondWith(202, '<html/>')
    assert.equal(stateOf((await begin()).started).state, 'running')
  })

  test('nothing was carried out: 503, and no job is left', async () => {
    const { ask, wire, readFigure } = await openLaterBridge()
    for (const behind of [
      () => Promise.reject(new TransportFailure('unreachable', 'no route', { mayHaveRun: false, begun: false })),
      () => respondWith(429, ''),
    ]) {
      wire.behind = behind
      const refused = await ask('POST', '/api/v1/Shop/GetPrice', { body: { item: 'tea' } })
      assert.equal(refused.status, 503)
      assert.match(refused.text, /nothing was carried out/)
    }
    assert.deepEqual(
      [await readFigure('diglot_later_calls'), await readFigure('diglot_jobs{state="running"}')],
      ['0', '0'],
    )
  })

  test('an incomplete response leaves the job waiting, since the reply may come', async () => {
    const { ask, answer, begin, wire, notes } = await openLaterBridge()
    for (const behind of [
      () => Promise.reject(new TransportFailure('lost', 'cut', { mayHaveRun: true, begun: false })),
      () => Promise.reject(new TransportFailure('late', 'slow', { mayHaveRun: true, begun: false })),
      () => respondWith(504, '<html/>'),
    ]) {
      wire.behind = behind
      const { started, message, job } = await begin()
      assert.equal(stateOf(started).state, 'running')
      assert.match(notes.at(-1) ?? '', /it may have been carried out, and j-\w+ waits for its answer/)
      await answer(message)
      assert.equal((await ask('GET', resultOf(job))).status, 200)
    }
  })

  test('any other response that is no reply is 502, and no job is left', async () => {
    const { ask, readFigure } = await openLaterBridge({ behind: () => respondWith(500, '<html/>') })
    assert.equal((await ask('POST', '/api/v1/Shop/GetPrice', { body: { item: 'tea' } })).status, 502)
    assert.equal(await readFigure('diglot_later_calls'), '0')
  })

  test('a reply may be faster than the response to its message', async () => {
    const { ask, answer, begin, wire } = await openLaterBridge()
    wire.behind = async sent => {
      assert.equal((await answer(sent)).status, 202)
      return accepted
    }
    const { started, job } = await begin()
    assert.equal(stateOf(started).state, 'completed')
    assert.equal((await ask('GET', resultOf(job))).status, 200)
  })
})

describe('a message that is not the reply changes nothing', () => {
  const isSame = async (bridge: Awaited<ReturnType<typeof openLaterBridge>>, job: string) => {
    assert.equal(stateOf(await bridge.ask('GET', job)).state, 'running')
  }
  const relate = (id: string) => block('RelatesTo', id)
  type Forge = (message: Sent, other: Sent) => readonly [to: string, content: string, type?: string]
  const rows: readonly (readonly [what: string, status: number, says: RegExp, forge: Forge])[] = [
    [
      'another secret',
      404,
      /DestinationUnreachable/,
      ({ replyTo, id }) => [replyTo.replace(/.{4}$/, 'AAAA'), envelope(price(), relate(id))],
    ],
    [
      'no secret',
      404,
      /expected/,
      ({ replyTo, id }) => [replyTo.replace(/\/[^/]+$/, ''), envelope(price(), relate(id))],
    ],
    [
      'a longer secret',
      404,
      /DestinationUnreachable/,
      ({ replyTo, id }) => [`${replyTo}${'a'.repeat(2000)}`, envelope(price(), relate(id))],
    ],
    [
      'a job that is none',
      404,
      /DestinationUnreachable/,
      ({ replyTo, id }) => [replyTo.replace(/j-\w+/, 'j-none'), envelope(price(), relate(id))],
    ],
    ['no RelatesTo', 500, /InvalidAddressingHeader/, ({ replyTo }) => [replyTo, envelope(price())]],
    [
      'a fault without RelatesTo',
      500,
      /InvalidAddressingHeader/,
      ({ replyTo }) => [replyTo, envelope(fault(noTea), relate(`${wsaUri}/unspecified`))],
    ],
    [
      'the answer to another message',
      500,
      /ProblemHeaderQName[^>]*>wsa:RelatesTo/,
      ({ replyTo }, other) => [replyTo, envelope(price(), relate(other.id))],
    ],
    [
      "the answer at another message's address",
      500,
      /InvalidAddressingHeader/,
      ({ id }, other) => [other.replyTo, envelope(price(), relate(id))],
    ],
    [
      'another relationship',
      500,
      /InvalidAddressingHeader/,
      ({ replyTo, id }) => [
        replyTo,
        envelope(price(), `<a:RelatesTo xmlns:a="${wsaUri}" RelationshipType="urn:cancels">${id}</a:RelatesTo>`),
      ],
    ],
    [
      'another [to]',
      500,
      /addressed to http:\/\/else/,
      ({ replyTo, id }) => [replyTo, envelope(price(), relate(id) + block('To', 'http://else.test/'))],
    ],
    ['no XML', 500, /not well-formed/, ({ replyTo }) => [replyTo, '{"item":"tea"}']],
    ['an entity', 500, /not well-formed/, ({ replyTo }) => [replyTo, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']],
    ['nothing', 500, /no content/, ({ replyTo }) => [replyTo, '']],
    [
      'a mandatory block that is not declared',
      500,
      /MustUnderstand/,
      ({ replyTo, id }) => [
        replyTo,
        envelope(
          price(),
          `${relate(id)}<x:Pay xmlns:x="urn:x" xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" e:mustUnderstand="1"/>`,
        ),
      ],
    ],
    [
      'more octets than may be',
      413,
      /longer than the limit of 4000/,
      ({ replyTo, id }) => [replyTo, envelope(price('1', ' '.repeat(5000)), relate(id))],
    ],
  ]
  for (const [what, status, says, forge] of rows)
    test(`with ${what}: ${status}`, async () => {
      const bridge = await openLaterBridge({ longest: 4000 })
      const [{ message, job }, other] = [await bridge.begin(), await bridge.begin()]
      const [to, content, type] = forge(message, other.message)
      const refused = await bridge.reply(to, content, type)
      assert.equal(refused.status, status, refused.text)
      assert.match(refused.text, says)
      await isSame(bridge, job)
      await isSame(bridge, other.job)
      assert.equal((await bridge.answer(message)).status, 202, 'the answer still counts')
      assert.deepEqual(bridge.incidents, [])
    })

  test('by another method than POST, or from a page of another origin', async () => {
    const bridge = await openLaterBridge()
    const { message, job } = await bridge.begin()
    const path = new URL(message.replyTo).pathname
    for (const method of ['GET', 'PUT', 'DELETE']) assert.equal((await bridge.ask(method, path)).status, 405)
    await isSame(bridge, job)
  })

  test('while another one of the call is received: it waits, and is a copy then', async () => {
    const bridge = await openLaterBridge()
    const { message, job } = await bridge.begin()
    let end = () => {}
    const slow = new ReadableStream({
      start: controller => {
        end = () => {
          controller.enqueue(Buffer.from(envelope(price(), relate(message.id))))
          controller.close()
        }
      },
    })
    const first = bridge.reply(message.replyTo, slow as unknown as string)
    await new Promise(resolve => setTimeout(resolve, 100))
    const second = bridge.answer(message)
    const third = bridge.answer(message, price('9'))
    await new Promise(resolve => setTimeout(resolve, 100))
    await isSame(bridge, job)
    end()
    const all = await Promise.all([first, second, third])
    assert.deepEqual(
      all.map(each => each.status),
      [202, 202, 500],
    )
  })

  test('content to an unknown address is not read', async () => {
    const { reply } = await openLaterBridge()
    let pulled = 0
    const endless = new ReadableStream(
      {
        pull: controller => {
          pulled++
          controller.enqueue(new Uint8Array(65_536))
        },
      },
      { highWaterMark: 0 },
    )
    const refused = await reply('http://bridge.test/replies/j-1/none', endless as unknown as string)
    assert.deepEqual([refused.status, pulled], [404, 0])
  })
})

describe('a call ends once', () => {
  test('a copy of its reply is acknowledged, and another reply is refused', async () => {
    const { ask, answer, begin, readFigure } = await openLaterBridge()
    const { message, job } = await begin()
    await answer(message, price('1'))
    const { etag } = (await ask('GET', resultOf(job))).fields
    assert.equal((await answer(message, price('1'))).status, 202)
    const second = await answer(message, price('2'))
    assert.equal(second.status, 500)
    assert.match(second.text, /InvalidAddressingHeader.*has been answered/s)
    const result = await ask('GET', resultOf(job))
    assert.deepEqual([stateOf(result).amount, result.fields['etag']], ['1', etag])
    assert.equal(await readFigure('diglot_later_answers_total{outcome="answer"}'), '1')
    assert.equal(await readFigure('diglot_later_refused_total{why="ended"}'), '1')
  })

  test('by a reply that breaks the schema: 502, since it was proven to be the reply', async () => {
    const { ask, answer, begin, notes } = await openLaterBridge()
    const { message, job } = await begin()
    assert.equal((await answer(message, price('dear'))).status, 202)
    assert.equal(stateOf(await ask('GET', job)).failure, 'BadGateway')
    assert.equal((await ask('GET', resultOf(job))).status, 502)
    assert.match(notes.join(), /amount/)
  })

  test('by its time: 504, it may have been carried out, and no reply counts any more', async () => {
    const { ask, answer, begin, clock, notes, readFigure } = await openLaterBridge({
      limits: { answerLimit: 60_000 },
    })
    const [first, second] = [await begin(), await begin()]
    clock.now += 59_999
    assert.equal((await answer(first.message)).status, 202)
    clock.now += 1
    const late = await answer(second.message)
    assert.equal(late.status, 500)
    assert.match(late.text, /came too late/)
    assert.equal(stateOf(await ask('GET', second.job)).failure, 'GatewayTimeout')
    const result = await ask('GET', resultOf(second.job))
    assert.equal(result.status, 504)
    assert.match(result.text, /it may have been carried out/)
    const third = await begin()
    clock.now += 60_000
    await new Promise(resolve => setTimeout(resolve, 1200)) // a look every second
    assert.equal(stateOf(await ask('GET', third.job)).failure, 'GatewayTimeout')
    assert.match(notes.at(-1) ?? '', /no answer \(late\); it may have been carried out/)
    assert.equal(await readFigure('diglot_later_answers_total{outcome="late"}'), '2')
  })

  test('by its caller, which ends only the waiting: the sent message stays in effect', async () => {
    const { ask, answer, begin, readFigure } = await openLaterBridge()
    const { message, job } = await begin()
    const cancelled = await ask('POST', `${job}/cancellation`)
    assert.deepEqual([cancelled.status, stateOf(cancelled).state], [200, 'cancelled'])
    assert.equal((await ask('POST', `${job}/cancellation`)).status, 409)
    const refused = await answer(message)
    assert.equal(refused.status, 500)
    assert.match(refused.text, /was cancelled/)
    assert.equal((await ask('GET', resultOf(job))).status, 404)
    assert.equal(await readFigure('diglot_later_calls'), '0')
    assert.equal(await readFigure('diglot_later_answers_total{outcome="cancelled"}'), '1')
  })

  test('even if two ends of it meet in the store', async () => {
    const { ask, begin, open } = await openLaterBridge()
    const { job } = await begin()
    const id = job.split('/').at(-1) ?? ''
    const ledger = createLaterLedger(open.context.app.contract, open.store, Date.now)
    const { proof: asked } = (await ledger.find(id)) ?? assert.fail()
    const end = (state: 'completed' | 'failed') => ledger.end(id, { state, answer: '{}', proof: asked })
    assert.deepEqual([await end('completed'), await end('failed'), await end('completed')], [true, false, false])
    assert.equal(stateOf(await ask('GET', job)).state, 'completed')
    const other = (await begin()).job
    await ask('POST', `${other}/cancellation`)
    assert.equal(
      await ledger.end(other.split('/').at(-1) ?? '', { state: 'completed', answer: '{}', proof: asked }),
      false,
    )
    assert.equal(stateOf(await ask('GET', other)).state, 'cancelled')
  })

  test('and is forgotten after its time', async () => {
    const { ask, answer, begin, clock, open } = await openLaterBridge({ keep: 100 })
    const [done, waiting] = [await begin(), await begin()]
    await answer(done.message)
    clock.now += 99_000
    await open.store.sweep(clock.now)
    assert.equal((await ask('GET', resultOf(done.job))).status, 200)
    clock.now += 2000
    await open.store.sweep(clock.now)
    assert.equal((await ask('GET', resultOf(done.job))).status, 404)
    assert.equal((await ask('GET', waiting.job)).status, 200)
  })
})

describe('bounds', () => {
  test('a limited number of calls of one caller wait, and the next is 429; a reply makes room', async () => {
    const { ask, answer, begin } = await openLaterBridge({ limits: { answersOfCaller: 2 } })
    const { message } = await begin('maria')
    await begin('maria')
    const third = () => ask('POST', '/api/v1/Shop/GetPrice', { as: 'maria', body: { item: 'tea' } })
    const refused = await third()
    assert.deepEqual([refused.status, refused.fields['retry-after']], [429, '30'])
    await begin('tom')
    await answer(message)
    assert.equal((await third()).status, 202)
  })

  test('a limited number wait in all, and the next is 503, for as long as none is cancelled', async () => {
    const { ask, begin } = await openLaterBridge({ limits: { answers: 2 } })
    const { job } = await begin('maria')
    await begin('tom')
    const third = () => ask('POST', '/api/v1/Shop/GetPrice', { as: 'ann', body: { item: 'tea' } })
    assert.equal((await third()).status, 503)
    await ask('POST', `${job}/cancellation`, { as: 'maria' })
    assert.equal((await third()).status, 202)
  })

  test('a call that is asked now takes room, too', async () => {
    let go = () => {}
    const gate = new Promise<void>(resolve => (go = resolve))
    const { ask } = await openLaterBridge({
      limits: { answersOfCaller: 3 },
      behind: () => gate.then(() => accepted),
    })
    const all = Array.from({ length: 8 }, () =>
      ask('POST', '/api/v1/Shop/GetPrice', { as: 'maria', body: { item: 'tea' } }),
    )
    await new Promise(resolve => setTimeout(resolve, 200))
    go()
    const statuses = (await Promise.all(all)).map(each => each.status).sort()
    assert.deepEqual(statuses, [202, 202, 202, 429, 429, 429, 429, 429])
  })
})

describe('a request with an Idempotency-Key', () => {
  const key = { 'idempotency-key': '"k-1"' }
  type Bridge = Awaited<ReturnType<typeof openLaterBridge>>
  const post = ({ ask }: Bridge, item: string, as: string | undefined = 'maria') =>
    ask('POST', '/api/v1/Shop/GetPrice', { ...(as && { as }), body: { item }, fields: key })

  test('is one call, however often it is sent', async () => {
    const bridge = await openLaterBridge()
    const first = await post(bridge, 'tea')
    const again = await post(bridge, 'tea')
    assert.deepEqual([again.status, again.fields['location']], [202, first.fields['location']])
    assert.equal(bridge.sent.length, 1)
    await bridge.answer(bridge.sent[0] as Sent)
    assert.equal(stateOf(await post(bridge, 'tea')).state, 'completed')
    assert.equal((await post(bridge, 'coffee')).status, 422)
    assert.notEqual((await post(bridge, 'tea', 'tom')).fields['location'], first.fields['location'])
    assert.equal(bridge.sent.length, 2)
  })

  test('is in flight while its call is sent, and sends again after a refusal', async () => {
    let go = () => {}
    const gate = new Promise<void>(resolve => (go = resolve))
    const bridge = await openLaterBridge({ behind: () => gate.then(() => respondWith(429, '')) })
    const first = post(bridge, 'tea')
    while (bridge.sent.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    assert.equal((await post(bridge, 'tea')).status, 409)
    go()
    assert.equal((await first).status, 503)
    bridge.wire.behind = () => accepted
    assert.equal((await post(bridge, 'tea')).status, 202)
    assert.equal(bridge.sent.length, 2)
  })

  test('needs credentials', async () => {
    const bridge = await openLaterBridge()
    assert.equal((await post(bridge, 'tea', '')).status, 400)
    assert.equal(bridge.sent.length, 0)
  })
})

test('a restart loses no call: a reply that comes after it finds its job', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-later-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'bridge.sqlite')
  const clock = { now: Date.parse('2026-03-01T09:00:00Z') }
  const choice = { data, limits: { answerLimit: 60_000, answersOfCaller: 3 } }
  const first = await openLaterBridge(choice, clock)
  const [answered, waiting, late] = [await first.begin('maria'), await first.begin('maria'), await first.begin('maria')]
  await first.answer(answered.message)
  await first.close()

  const second = await openLaterBridge(choice, clock)
  assert.equal(await second.readFigure('diglot_later_calls'), '2')
  assert.equal((await second.answer(answered.message)).status, 202, 'a copy is known')
  assert.equal((await second.answer(answered.message, price('9'))).status, 500)
  assert.equal((await second.answer(waiting.message, price('2'))).status, 202)
  const result = await second.ask('GET', resultOf(waiting.job), { as: 'maria' })
  assert.equal(stateOf(result).amount, '2')
  assert.equal((await second.ask('GET', resultOf(waiting.job), { as: 'tom' })).status, 404)
  await second.begin('maria')
  await second.begin('maria')
  const full = await second.ask('POST', '/api/v1/Shop/GetPrice', { as: 'maria', body: { item: 'tea' } })
  assert.equal(full.status, 429, 'calls from before the restart count')
  await second.close()

  clock.now += 61_000
  const third = await openLaterBridge(choice, clock)
  assert.equal((await third.answer(late.message)).status, 500)
  const failed = await third.ask('GET', late.job, { as: 'maria' })
  assert.equal(stateOf(failed).failure, 'GatewayTimeout')
  assert.deepEqual([...first.incidents, ...second.incidents, ...third.incidents], [])
})

test('calls of an exchange that is gone are named at start, and removed a day after their time is over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-gone-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'bridge.sqlite')
  const clock = { now: Date.parse('2026-03-01T09:00:00Z') }
  const limits = { answerLimit: 60_000 }
  const first = await openLaterBridge({ data, limits }, clock)
  const [ended, waiting] = [await first.begin('maria'), await first.begin('maria')]
  await first.answer(ended.message)
  await first.close()

  const { Tell, Ping, GetPrice } = shopPort.exchanges
  const exchanges = { Tell, Ping, AskPrice: GetPrice }
  const bridged = port('Shop', { namespace: 'urn:shop:wsdl', soap: '1.1', exchanges })
  const said: unknown[] = []
  const logger = { ...quietLogger, warn: (fields: object) => void said.push(fields) }
  const second = await openLaterBridge({ data, limits, bridged, logger }, clock)
  assert.deepEqual(said, [{ exchange: 'Shop/GetPrice', calls: 1 }])
  assert.equal(await second.readFigure('diglot_later_calls'), '0')
  assert.equal((await second.answer(waiting.message)).status, 404)
  const other = await second.ask('POST', '/api/v1/Shop/AskPrice', { as: 'maria', body: { item: 'tea' } })
  assert.equal(other.status, 202, 'it is declared')
  await second.close()

  const store = await openStore(second.app, { data })
  const listLeft = () =>
    store.read(reader => Promise.all([ended, waiting].map(({ job }) => reader.job(job.split('/').at(-1) ?? ''))))
  const day = 24 * 3_600_000
  await store.sweep(clock.now + day - 1)
  assert.deepEqual(
    (await listLeft()).map(each => each?.state),
    ['completed', 'running'],
    'its exchange may come back',
  )
  await store.sweep(clock.now + day)
  assert.deepEqual(
    (await listLeft()).map(each => each?.state),
    [undefined, 'running'],
  )
  await store.sweep(clock.now + day + 60_000)
  assert.deepEqual(await listLeft(), [undefined, undefined])
  const declared = other.fields['location']?.split('/').at(-1) ?? ''
  assert.equal((await store.read(reader => reader.job(declared)))?.state, 'running')
  await store.close()
})

describe('by SOAP', () => {
  const askBySoap = async (bridge: Awaited<ReturnType<typeof openLaterBridge>>) =>
    bridge.reply('http://bridge.test/soap/Shop', envelope('<s:Ask xmlns:s="urn:shop"><s:item>tea</s:item></s:Ask>'))

  test('the bridge waits for the reply', async () => {
    const bridge = await openLaterBridge()
    bridge.wire.behind = sent => {
      setTimeout(() => void bridge.answer(sent), 50)
      return accepted
    }
    const answer = await askBySoap(bridge)
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.text, /amount>1.50</)
    bridge.wire.behind = sent => {
      setTimeout(() => void bridge.answer(sent, fault(noTea)), 50)
      return accepted
    }
    const failed = await askBySoap(bridge)
    assert.equal(failed.status, 500)
    assert.match(failed.text, /NoSuchItem/)
  })

  test('and says which job continues waiting, if it does not come in time', async () => {
    const bridge = await openLaterBridge({ timeLimit: 100 })
    const late = await askBySoap(bridge)
    assert.equal(late.status, 500)
    const [, job] = /it may have been carried out; the job (j-\w+) waits for its answer/.exec(late.text) ?? []
    assert.ok(job, late.text)
    await bridge.answer(bridge.sent[0] as Sent)
    assert.equal((await bridge.ask('GET', `/api/v1/Shop/GetPrice/${job}`)).status, 200)
  })
})

test('OpenAPI has the job, its end by its caller, and its result', async () => {
  const { ask } = await openLaterBridge()
  const { paths } = stateOf(await ask('GET', '/openapi.json'))
  const at = (path: string) => paths[`/api/v1/Shop/GetPrice${path}`]
  assert.deepEqual(
    Object.keys(at('').post.responses).filter(each => each < '300'),
    ['202'],
  )
  assert.match(JSON.stringify(at('').post.parameters), /idempotencyKey/, 'its job is kept')
  assert.equal(at('').get, undefined, 'it is asked by POST alone, though its name reads')
  assert.equal(at('/jobs/{id}').get.operationId, 'v1_Shop_GetPrice_job')
  assert.ok(at('/jobs/{id}/cancellation').post.responses['200'])
  const { responses, tags } = at('/{id}').get
  assert.deepEqual(tags, ['Shop'])
  assert.deepEqual(Object.keys(responses['200'].content['application/json'].schema.properties), [
    ...['item', 'amount', 'rate', 'stock', 'picture'],
  ])
  assert.ok(responses['404'] && responses['504'] && responses['502'])
})
