/** A client of a port of others, by its WSDL at run time (docs/client.md, "Services of others"). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { AnswerError, ConnectionError, FaultError, InputError, TransportFailure } from '../../src/client/errors.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { createPortClient, type PortClientOptions } from '../../src/client/port-client.ts'
import type { ClientTransport, TransportRequest } from '../../src/client/transport.ts'
import { type DescribedPorts, exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import type { ExchangeContext } from '../../src/contract/port-handlers.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { readWsdl } from '../../src/import/index.ts'
import { startHosted } from '../host/hosted-service.ts'

const bank = x.namespace('urn:bank')
const Transfer = bank.element(
  'Transfer',
  x.object({ from: x.element(x.string), amount: x.element(x.decimal), slip: x.element(x.base64Binary).optional() }),
)
const Receipt = bank.element(
  'Receipt',
  x.object({
    number: x.element(x.long),
    kind: x.element(x.simple(x.string, { values: ['debit', 'credit'] })),
    note: x.element(x.string).optional(),
    branch: x.attribute(x.int).optional(),
  }),
)
const TooMuch = bank.element('TooMuch', x.object({ limit: x.element(x.decimal) }))
const CardProblem = bank.element('CardProblem', x.object({ card: x.element(x.string) }))
const Lack = bank.type('Lack', { by: x.element(x.int) })
const Excess = bank.type('Excess', { by: x.element(x.int) })
const Session = bank.element('Session', x.object({ id: x.element(x.string) }))
const Sacks = bank.element('Sacks', x.int)
const Buyer = bank.element('Buyer', x.string)
const messages = {
  input: Transfer,
  output: Receipt,
  faults: { TooMuch },
  requestHeaders: { Session },
  replyHeaders: { Session },
}
const BankPort = port('BankPort', {
  namespace: 'urn:bank:wsdl',
  allow: [anyone],
  exchanges: {
    transfer: exchange({ action: 'urn:transfer', ...messages }),
    order: exchange({
      action: 'urn:order',
      input: x.body({ sacks: x.ref(Sacks), buyer: x.ref(Buyer) }),
      output: x.body({ buyer: x.ref(Buyer), sacks: x.ref(Sacks) }),
    }),
    add: exchange({
      style: 'rpc',
      action: 'urn:add',
      input: x.call('urn:rpc', 'add', { a: x.element(x.int), b: x.element(x.int) }),
      output: x.call('urn:rpc', 'addResponse', { sum: x.element(x.int) }),
    }),
    addEncoded: exchange({
      style: 'encoded',
      action: 'urn:addEncoded',
      input: x.call('urn:rpc', 'addEncoded', { a: x.element(x.int), b: x.element(x.int) }),
      output: x.call('urn:rpc', 'addEncodedResponse', { sum: x.element(x.int) }),
      faults: { TooLittle: x.part('', 'problem', Lack), TooBig: x.part('', 'problem', Excess) },
    }),
    note: exchange({ action: 'urn:note', input: Buyer }),
    pay: exchange({
      action: 'urn:pay',
      addressedAs: { request: 'urn:bank:pay' },
      input: Session,
      output: 'empty',
      faults: {
        Expired: CardProblem,
        Stolen: CardProblem,
        Unknown: x.part('urn:bank', 'problem', x.string),
        Numbered: x.part('urn:bank', 'problem', x.int),
      },
    }),
    renew: exchange({ action: 'urn:swapped', addressedAs: { request: 'urn:renew' }, input: Sacks, output: Sacks }),
    cancel: exchange({ action: 'urn:cancel', addressedAs: { request: 'urn:swapped' }, input: Sacks, output: Sacks }),
    close: exchange({ action: '', input: 'empty', output: 'empty' }),
  },
})
const contract = service('bank', { namespace: 'urn:bank', resources: [], ports: [BankPort] })

const noted: string[] = []
const app = implement(contract, {
  BankPort: {
    transfer: ({ amount, slip }, ctx) => {
      if (Number(amount) > 100) ctx.fail('TooMuch', { limit: '100' }, 'too much')
      if (ctx.headers.Session) ctx.setHeader('Session', { id: `${ctx.headers.Session.id}!` })
      return { number: 9007199254740993n, kind: 'debit', ...(slip && { note: String(slip.length) }) }
    },
    order: ({ sacks, buyer }) => ({ buyer: `${buyer}!`, sacks: sacks + 1 }),
    add: ({ a, b }) => ({ sum: a + b }),
    addEncoded: ({ a, b }, ctx) => {
      if (a > 100) ctx.fail('TooBig', { by: a - 100 })
      if (a < -100) ctx.fail('TooLittle', { by: -100 - a })
      return { sum: a + b }
    },
    note: text => void noted.push(text),
    pay: ({ id }, ctx) => {
      if (id === 'stolen') return ctx.fail('Stolen', { card: id })
      return id === 'number' ? ctx.fail('Numbered', 7) : ctx.fail('Unknown', id)
    },
    renew: count => count + 1,
    cancel: count => -count,
    close: () => {},
  },
})

const hosted = await startHosted({}, app)
const host = `127.0.0.1:${hosted.server.port}`
const wsdl = await readWsdl(`http://${host}/soap/BankPort?wsdl`, { fetch: [host] })
const open = (options: PortClientOptions<'BankPort', never> = {}) => {
  const client = createPortClient<typeof contract>(wsdl, options)
  after(() => client[Symbol.dispose]())
  return client
}

for (const soap of ['1.1', '1.2'] as const)
  test(`SOAP ${soap}, WSDL 2.0 Part 2 §5.9: header blocks of either side are marked as the contract says`, async () => {
    const Ticket = bank.element('Ticket', x.object({ id: x.element(x.string) }))
    const blocks = { Session, Ticket }
    const desk = service('desk', {
      namespace: 'urn:desk',
      resources: [],
      ports: [
        port('Desk', {
          namespace: 'urn:desk',
          soap,
          allow: [anyone],
          exchanges: {
            ask: exchange({
              ...{ action: 'urn:ask', input: Sacks, output: Sacks, requestHeaders: blocks, replyHeaders: blocks },
              mandatoryHeaders: { request: ['Session'], reply: ['Ticket'] },
            }),
          },
        }),
      ],
    })
    const handlers = {
      ask: (count: number, ctx: ExchangeContext<{}, typeof blocks>) => {
        for (const name of ['Session', 'Ticket'] as const) ctx.setHeader(name, ctx.headers[name])
        return count
      },
    }
    const { server } = await startHosted({}, implement(desk, { Desk: handlers }))
    const seen: string[] = []
    const address = `http://127.0.0.1:${server.port}/soap/Desk`
    const transport = createHttpTransport(address)
    after(() => transport.close())
    const tapped: ClientTransport = {
      close: () => {},
      prepare: fields => {
        const post = transport.prepare({ ...fields, 'accept-encoding': 'identity' })
        return async sending => {
          const answer = await post(sending)
          seen.push(String(sending.content), Buffer.from(answer.content).toString())
          return answer
        }
      },
    }
    const client = createPortClient<typeof desk>({ ...wsdl, ports: desk.ports } as never, {
      transport: tapped,
      soap,
      address,
    })
    const sent = { Session: { id: 's' }, Ticket: { id: 't' } }
    const { headers } = await client.ask.callForHeaders(1, { headers: sent })
    assert.deepEqual(headers, sent)
    const marked = seen.map(text =>
      [...text.matchAll(/<(?:\w+:)?(Session|Ticket)[^>]*mustUnderstand="1"/g)].map(([, name]) => name),
    )
    assert.deepEqual(marked, [['Session'], ['Ticket']])
  })
for (const soap of ['1.1', '1.2'] as const) {
  test(`SOAP ${soap}: document, several parts, RPC literal and encoded, one-way, an empty Body, by a WSDL only`, async () => {
    assert.deepEqual([wsdl.losses, wsdl.missing], [[], []])
    const client = open({ soap })
    assert.deepEqual(await client.transfer({ from: 'a', amount: '12.50' }), {
      number: 9007199254740993n,
      kind: 'debit',
    })
    assert.deepEqual(await client.order({ sacks: 2, buyer: 'Ada' }), { buyer: 'Ada!', sacks: 3 })
    assert.deepEqual(await client.add({ a: 1, b: 2 }), { sum: 3 })
    assert.deepEqual(await client.addEncoded({ a: 1, b: 2 }), { sum: 3 })
    assert.equal(await client.close(), undefined)
    assert.equal(await client.note(`by ${soap}`), undefined)
    assert.ok(noted.includes(`by ${soap}`))
  })
  test(`SOAP ${soap}: header blocks of request and reply, and a declared fault with the type of its detail`, async () => {
    const client = open({ soap })
    const { output, headers, forgiven } = await client.transfer.callForHeaders(
      { from: 'a', amount: '1' },
      { headers: { Session: { id: 's' } } },
    )
    assert.deepEqual([output.kind, headers, forgiven], ['debit', { Session: { id: 's!' } }, []])
    const thrown = await client.transfer({ from: 'a', amount: '101' }).catch((fault: unknown) => fault)
    assert.ok(thrown instanceof FaultError)
    assert.ok(client.transfer.isFault(thrown, 'TooMuch'))
    const limit: string = thrown.detail.limit
    assert.deepEqual(
      [limit, thrown.fault, thrown.code, thrown.reasons[0]?.text],
      ['100', 'TooMuch', 'Sender', 'too much'],
    )
    assert.equal(
      (client.transfer as { isFault(thrown: unknown, name: string): boolean }).isFault(thrown, 'Other'),
      false,
    )
  })
  test(`SOAP ${soap}: WSDL 1.1 §3.6 of faults with one element it may be each, and Metadata §4.4.1 the one its action names`, async () => {
    const failWith = async (id: string, addressing: boolean) => {
      const client = open({ soap, addressing })
      const thrown = await client.pay({ id }).catch((fault: unknown) => fault)
      assert.ok(thrown instanceof FaultError)
      const names = ['Expired', 'Stolen', 'Unknown', 'Numbered'] as const
      return [thrown.fault, thrown.detail, names.filter(each => client.pay.isFault(thrown, each))]
    }
    assert.deepEqual(await failWith('stolen', false), ['Expired', { card: 'stolen' }, ['Expired', 'Stolen']])
    assert.deepEqual(await failWith('stolen', true), ['Stolen', { card: 'stolen' }, ['Stolen']])
    assert.deepEqual(await failWith('other', false), ['Unknown', 'other', ['Unknown']])
    assert.deepEqual(await failWith('number', false), ['Unknown', '7', ['Unknown']], 'a text may be 7, too')
    assert.deepEqual(await failWith('number', true), ['Numbered', 7, ['Numbered']])
  })
  test(`SOAP ${soap}: §5.1 rule 5 of encoded faults with one element it is the one whose type the detail says`, async () => {
    const client = open({ soap })
    for (const [a, name] of [[103, 'TooBig'], [-103, 'TooLittle']] as const) {
      const thrown = await client.addEncoded({ a, b: 0 }).catch((fault: unknown) => fault)
      assert.ok(thrown instanceof FaultError)
      const names = (['TooBig', 'TooLittle'] as const).filter(each => client.addEncoded.isFault(thrown, each))
      assert.deepEqual([thrown.fault, thrown.detail, names], [name, { by: 3 }, [name]])
    }
  }) // biome-ignore format: a long table
  test(`SOAP ${soap}: WS-Addressing 1.0 SOAP Binding §4.2, §5.2 HTTP states the [action], or without addressing that of the WSDL`, async () => {
    const statedBy = async (addressing: boolean) => {
      const { fields } = await open({ soap, addressing }).pay.render({ id: 'other' })
      return /"(urn:.*)"/.exec(fields['soapaction'] ?? fields['content-type'] ?? '')?.[1]
    }
    assert.deepEqual([await statedBy(false), await statedBy(true)], ['urn:pay', 'urn:bank:pay'])
    const envelope = soap === '1.1' ? 'http://schemas.xmlsoap.org/soap/envelope/' : 'http://www.w3.org/2003/05/soap-envelope'
    const wsa = 'http://www.w3.org/2005/08/addressing'
    const send = async (stated: string, action?: string) => {
      const blocks = action && `<a:Action xmlns:a="${wsa}">${action}</a:Action><a:MessageID xmlns:a="${wsa}">urn:m</a:MessageID>`
      const response = await fetch(`http://${host}/soap/BankPort`, {
        method: 'POST',
        headers: soap === '1.1' ? { 'content-type': 'text/xml', soapaction: `"${stated}"` } : { 'content-type': `application/soap+xml; action="${stated}"` },
        body: `<e:Envelope xmlns:e="${envelope}"><e:Header>${blocks ?? ''}</e:Header><e:Body><Session xmlns="urn:bank"><id>other</id></Session></e:Body></e:Envelope>`,
      })
      return />other<|ActionMismatch|ActionNotSupported|does not match/.exec(await response.text())?.[0]
    }
    const done = '>other<'
    assert.deepEqual([await send('urn:pay'), await send('urn:bank:pay')], [done, done])
    assert.deepEqual([await send('urn:pay', 'urn:bank:pay'), await send('urn:bank:pay', 'urn:bank:pay')], [done, done])
    assert.equal(await send('urn:other'), 'does not match')
    assert.equal(await send('urn:other', 'urn:bank:pay'), 'ActionMismatch')
    assert.match((await send('urn:pay', 'urn:pay')) ?? '', /ActionNotSupported|ActionMismatch/)
  }) // biome-ignore format: long lines
  test(`SOAP ${soap}: octets go outside the XML with mtom`, async () => {
    const client = open({ soap, mtom: true })
    const input = { from: 'a', amount: '1', slip: new Uint8Array(3000) }
    assert.equal((await client.transfer(input)).note, '3000')
    const { fields, content } = await client.transfer.render(input)
    assert.match(fields['content-type'] ?? '', /^multipart\/related/)
    assert.ok(content instanceof Uint8Array && content.length > 3000)
  })
}

test('among exchanges with the same content that of the [action] precedes that of a soapAction', async () => {
  const send = async (stated: string) => {
    const response = await fetch(`http://${host}/soap/BankPort`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml', soapaction: `"${stated}"` },
      body: '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><Sacks xmlns="urn:bank">7</Sacks></e:Body></e:Envelope>',
    })
    return />(-?\d+)</.exec(await response.text())?.[1]
  }
  assert.deepEqual([await send('urn:renew'), await send('urn:cancel'), await send('urn:swapped')], ['8', '-7', '-7'])
})

test('the imported contract serves as a description too: the address is given', async () => {
  const address = `http://127.0.0.1:${hosted.server.port}/soap/BankPort`
  using client = createPortClient(contract, { address })
  assert.deepEqual(await client.add({ a: 20, b: 22 }), { sum: 42 })
})

test('render returns everything that would be sent, and sends nothing', async () => {
  const nowhere = 'http://127.0.0.1:1/'
  const client = open({
    address: nowhere,
    credentials: { user: 'u', password: 'p' },
    addressing: true,
    fields: { 'X-Trace': 't' },
  })
  const { fields, content } = await client.transfer.render({ from: 'a', amount: '1' }, { messageId: 'urn:m' })
  assert.deepEqual(fields, {
    'x-trace': 't',
    authorization: 'Basic dTpw',
    accept: 'text/xml',
    soapaction: '"urn:transfer"',
    'content-type': 'text/xml; charset=utf-8',
  })
  assert.match(String(content), /<wsa:MessageID [^>]*>urn:m<.*<n1:amount>1<\/n1:amount>/)
  const closing = String((await client.close.render()).content)
  assert.match(
    closing,
    /<wsa:Action [^>]*>urn:bank:wsdl:BankPortPortType:closeRequest</,
    'WS-Addressing Metadata §4.4.4',
  )
})

test('input that breaks its type is an InputError with its place, and nothing is sent', async () => {
  const client = open({ transport: failing('unreachable').transport })
  const cases = [
    [() => client.transfer({ from: 'a', amount: 'many' }), ['amount'], /decimal/],
    [() => client.order({ sacks: 1, buyer: 2 as never }), ['buyer'], /string/],
    [
      () => client.transfer({ from: 'a', amount: '1' }, { headers: { Session: {} as never } }),
      ['headers', 'Session'],
      /./,
    ],
    [
      () => client.transfer({ from: 'a', amount: '1' }, { headers: { Other: 1 } as never }),
      ['headers', 'Other'],
      /not a header block/,
    ],
  ] as const
  for (const [call, path, detail] of cases)
    await assert.rejects(call, thrown => {
      assert.ok(thrown instanceof InputError)
      assert.deepEqual(thrown.problems[0]?.path, path)
      assert.match(thrown.problems[0]?.detail ?? '', detail)
      return true
    })
})

/** Answers each POST with this. */
const answering = (content: string, type = 'text/xml', status = 200): ClientTransport => ({
  prepare: () => async () => ({ status, fields: { 'content-type': type }, content: Buffer.from(content) }),
  close: () => {},
})
const envelope = (body: string, uri = 'http://schemas.xmlsoap.org/soap/envelope/'): string =>
  `<e:Envelope xmlns:e="${uri}" xmlns:b="urn:bank" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><e:Body>${body}</e:Body></e:Envelope>`
const soap12Uri = 'http://www.w3.org/2003/05/soap-envelope'
const receipt = (content: string, attributes = '') => envelope(`<b:Receipt${attributes}>${content}</b:Receipt>`)
const valid = '<b:number>7</b:number><b:kind>debit</b:kind>'

const flaws: readonly (readonly [
  kind: NonNullable<PortClientOptions['lenient']>[number],
  answer: string,
  output: object,
  told: RegExp,
  type?: string,
])[] = [
  [
    'namespace',
    receipt('<number>7</number><b:kind>debit</b:kind>'),
    { number: 7n, kind: 'debit' },
    /number in no namespace in place of the namespace urn:bank/,
  ],
  [
    'namespace',
    envelope(`<Receipt xmlns="urn:other">${valid}</Receipt>`),
    { number: 7n, kind: 'debit' },
    /Receipt in the namespace urn:other/,
  ],
  [
    'namespace',
    receipt(valid, ' b:branch="3"'),
    { number: 7n, kind: 'debit', branch: 3 },
    /branch in the namespace urn:bank in place of no namespace/,
  ],
  [
    'order',
    receipt('<b:kind>debit</b:kind><b:number>7</b:number>'),
    { number: 7n, kind: 'debit' },
    /kind before number/,
  ],
  ['unknown', receipt(`<b:new>1</b:new>${valid}<c/>`), { number: 7n, kind: 'debit' }, /is not declared/],
  ['unknown', receipt(valid, ' new="1"'), { number: 7n, kind: 'debit' }, /attribute new/],
  ['unknown', receipt(valid, ' i:type="b:Other"'), { number: 7n, kind: 'debit' }, /xsi:type b:Other/],
  ['unknown', envelope(`<b:Receipt>${valid}</b:Receipt><b:More/>`), { number: 7n, kind: 'debit' }, /is not declared/],
  ['nil', receipt(`${valid}<b:note i:nil="true"/>`), { number: 7n, kind: 'debit' }, /is nil/],
  ['nil', receipt(`${valid}<b:note i:nil="false">x</b:note>`), { number: 7n, kind: 'debit', note: 'x' }, /has xsi:nil/],
  ['missing', receipt('<b:number>7</b:number>'), { number: 7n }, /without kind/],
  ['facets', receipt('<b:number>7</b:number><b:kind>gift</b:kind>'), { number: 7n, kind: 'gift' }, /debit/],
  [
    'envelope',
    receipt(valid),
    { number: 7n, kind: 'debit' },
    /application\/xml instead of text\/xml/,
    'application/xml',
  ],
  [
    'envelope',
    envelope(`<b:Receipt>${valid}</b:Receipt>`, soap12Uri),
    { number: 7n, kind: 'debit' },
    /SOAP 1\.2, in answer to SOAP 1\.1/,
    'application/soap+xml',
  ],
]
for (const [kind, answer, output, told, type] of flaws)
  test(`an answer whose ${kind} is wrong (${told.source}) is refused, and read by the name of the flaw alone`, async () => {
    const transport = answering(answer, type)
    const input = { from: 'a', amount: '1' }
    await assert.rejects(open({ transport }).transfer(input), AnswerError)
    const others = ['envelope', 'namespace', 'order', 'unknown', 'nil', 'missing', 'facets'] as const
    const rest = others.filter(each => each !== kind && !(kind === 'namespace' && each === 'unknown'))
    await assert.rejects(open({ transport, lenient: rest }).transfer(input), AnswerError)
    const reply = await open({ transport, lenient: [kind] }).transfer.callForHeaders(input)
    assert.deepEqual(reply.output, output)
    assert.ok(reply.forgiven.length > 0)
    for (const each of reply.forgiven) assert.equal(each.kind, kind)
    assert.match(reply.forgiven.map(({ detail }) => detail).join(), told)
    const all = await open({ transport, lenient: others }).transfer.callForHeaders(input)
    assert.deepEqual(all.output, output, 'one flaw does not hide another')
  })

test('header blocks of the client go with each operation that declares them, and those of a call before them', async () => {
  const client = createPortClient<typeof contract>(wsdl, { headers: { Session: { id: 'all' } } })
  const input = { from: 'a', amount: '1' }
  const own = { headers: { Session: { id: 'own' } } }
  assert.deepEqual((await client.transfer.callForHeaders(input)).headers, { Session: { id: 'all!' } })
  assert.deepEqual((await client.transfer.callForHeaders(input, own)).headers, { Session: { id: 'own!' } })
  assert.match(String((await client.transfer.render(input)).content), />all</)
  assert.doesNotMatch(String((await client.order.render({ sacks: 1, buyer: 'Ada' })).content), />all</)
  client[Symbol.dispose]()
  const unknown = { headers: { Sesion: 1 } } as never
  assert.throws(() => createPortClient(wsdl, unknown), /the option headers: unknown member "Sesion": use Session/)
  // @ts-expect-error the value of a block has its type
  createPortClient<typeof contract>(wsdl, { headers: { Session: { id: 1 } } })
  const wrong = createPortClient(wsdl, { headers: { Session: { id: 1 } } })
  await assert.rejects(async () => wrong['transfer']?.(input as never), /headers\.Session/)
})

test('a lenient client reads correct replies like a strict one, and forgives nothing', async () => {
  const client = open({ lenient: ['envelope', 'namespace', 'order', 'unknown', 'nil', 'missing', 'facets'] })
  for (const reply of [
    await client.transfer.callForHeaders({ from: 'a', amount: '1' }, { headers: { Session: { id: 's' } } }),
    await client.order.callForHeaders({ sacks: 2, buyer: 'Ada' }),
    await client.add.callForHeaders({ a: 1, b: 2 }),
    await client.addEncoded.callForHeaders({ a: 1, b: 2 }),
    await client.close.callForHeaders(),
  ])
    assert.deepEqual(reply.forgiven, [])
})

test('several flaws are forgiven together, each with its place', async () => {
  const text = receipt('<kind>gift</kind><b:extra/><b:number>7</b:number>')
  const client = open({ transport: answering(text), lenient: ['namespace', 'order', 'unknown', 'facets'] })
  const { output, forgiven } = await client.transfer.callForHeaders({ from: 'a', amount: '1' })
  assert.deepEqual(output, { number: 7n, kind: 'gift' })
  assert.deepEqual(
    forgiven.map(({ kind, path }) => `${kind} ${path}`),
    [
      'namespace /Receipt[1]/kind[1]',
      'unknown /Receipt[1]/extra[1]',
      'order /Receipt[1]',
      'facets /Receipt[1]/kind[1]',
    ],
  )
})

test('a message that is no reply stays one: another element, a page, a status, a value of another type', async () => {
  const all = ['envelope', 'namespace', 'order', 'unknown', 'nil', 'missing', 'facets'] as const
  const cases: readonly (readonly [ClientTransport, RegExp])[] = [
    [answering(envelope('<b:Other/>')), /Other|nothing instead of Receipt/],
    [answering('<html/>', 'text/html'), /not a SOAP message/],
    [answering(receipt(valid), 'text/xml', 500), /status is 500/],
    [answering(receipt('<b:number>seven</b:number><b:kind>debit</b:kind>')), /number/],
    [answering(receipt(valid).slice(0, -20)), /not well-formed/],
  ]
  for (const [transport, detail] of cases)
    await assert.rejects(open({ transport, lenient: all }).transfer({ from: 'a', amount: '1' }), {
      name: 'AnswerError',
      message: detail,
    })
})

const plainReceipt = '<Receipt xmlns="urn:bank"><number>7</number><kind>debit</kind></Receipt>'
const textOf = ({ content }: TransportRequest): string =>
  typeof content === 'string' ? content : Buffer.concat(content).toString()
const envelope11 = (header: string, body: string) =>
  Buffer.from(
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:w="http://www.w3.org/2005/08/addressing"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
  )
test('WS-Addressing 1.0 Core §3.4 a reply arrives later at an address of the caller, as a message of its own', async () => {
  const sent: string[] = []
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async sending => {
      sent.push(textOf(sending))
      return { status: 202, fields: {}, content: new Uint8Array() }
    },
  }
  const client = open({ addressing: true, transport, address: 'http://bank.example/' })
  const [kept, replyTo]: [string[], string] = [[], 'https://caller.example/replies/4f1c']
  const keep = async (request: string) => {
    assert.equal(sent.length, 0, 'what is not kept is not sent')
    kept.push(request)
  }
  const input = { from: 'a', amount: '1' }
  assert.equal(await client.transfer.callLater(input, { replyTo, keep }), 'accepted')
  assert.match(sent[0] ?? '', /<wsa:ReplyTo[^>]*><wsa:Address>https:\/\/caller\.example\/replies\/4f1c</)
  const id = /MessageID[^>]*>([^<]+)</.exec(sent[0] ?? '')?.[1] ?? ''
  const [request = ''] = kept
  const contentType = 'text/xml; charset=utf-8'
  const about = (to: string) => `<w:RelatesTo>${to}</w:RelatesTo><w:To>${replyTo}</w:To>`
  const content = envelope11(`${about(id)}<b:Session xmlns:b="urn:bank"><b:id>s</b:id></b:Session>`, plainReceipt)
  const reply = await client.transfer.readLater({ contentType, content }, request)
  assert.deepEqual(reply, { output: { number: 7n, kind: 'debit' }, headers: { Session: { id: 's' } }, forgiven: [] })

  const fault = `<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring><detail><TooMuch xmlns="urn:bank"><limit>5</limit></TooMuch></detail></s:Fault>`
  const failed = client.transfer.readLater({ contentType, content: envelope11(about(id), fault) }, request)
  await assert.rejects(failed, thrown => client.transfer.isFault(thrown, 'TooMuch') && thrown.detail.limit === '5')
  const foreign = [
    ['of another message', envelope11(about('urn:uuid:other'), plainReceipt), 'uncorrelated'],
    ['that relates to nothing', envelope11('', plainReceipt), 'uncorrelated'],
    ['a fault that relates to nothing', envelope11('', fault), 'uncorrelated'],
    ['to another address', envelope11(about(id).replace('/4f1c', '/other'), plainReceipt), 'uncorrelated'],
    ['that breaks its schema', envelope11(about(id), '<Receipt xmlns="urn:bank"/>'), 'invalid'],
    ['that is cut', content.subarray(0, -9), 'malformed'],
  ] as const
  for (const [what, bytes, why] of foreign)
    await assert.rejects(client.transfer.readLater({ contentType, content: bytes }, request), { why }, what)
  const bare = createPortClient(contract, { transport, address: 'http://bank.example/' })
  await assert.rejects(bare.transfer.callLater(input, { replyTo, keep }), /option addressing/)
})

test('WS-Addressing 1.0 SOAP Binding §5.1 a service may still reply at once', async () => {
  const client = open({ addressing: true })
  const options = { replyTo: 'https://caller.example/r', keep: () => {} }
  const refused = client.transfer.callLater({ from: 'a', amount: '1' }, options)
  await assert.rejects(refused, { name: 'FaultError', message: /replies to this address are not allowed/ })
  const reply: string[] = []
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async sending => {
      const id = /MessageID[^>]*>([^<]+)</.exec(textOf(sending))?.[1]
      const content = envelope11(`<w:RelatesTo>${id}</w:RelatesTo><w:To>${reply[0]}</w:To>`, plainReceipt)
      return { status: 200, fields: { 'content-type': 'text/xml' }, content }
    },
  }
  const prompt = open({ addressing: true, transport })
  const call = () => prompt.transfer.callLater({ from: 'a', amount: '1' }, options)
  reply[0] = options.replyTo
  assert.deepEqual(await call(), { output: { number: 7n, kind: 'debit' }, headers: {}, forgiven: [] })
  reply[0] = 'https://other.example/r'
  await assert.rejects(call(), { why: 'uncorrelated' })
})

test('types: members, operations, header blocks and faults are those of the contract', () => {
  const client = open({ transport: failing('lost').transport })
  const compile = () => [
    // @ts-expect-error a member is missing
    client.transfer({ from: 'a' }),
    // @ts-expect-error an operation that is not there
    client.Transfer({}),
    // @ts-expect-error a header block that is not declared
    client.transfer({ from: 'a', amount: '1' }, { headers: { Other: 1 } }),
    (thrown: unknown) => {
      if (client.pay.isFault(thrown, 'Stolen')) thrown.fault satisfies 'Stolen' | 'Expired'
      // @ts-expect-error it may be the other one with this element
      if (client.pay.isFault(thrown, 'Stolen')) thrown.fault satisfies 'Stolen'
      if (client.pay.isFault(thrown, 'Numbered')) thrown.fault satisfies 'Numbered'
    },
    // @ts-expect-error a fault that is not declared
    client.transfer.isFault(undefined, 'Other'),
    // @ts-expect-error an output that is not a text
    client.add({ a: 1, b: 2 }).then(({ sum }) => sum.trim()),
    // @ts-expect-error a port that is not there
    createPortClient(contract, { port: 'Other' }),
    // @ts-expect-error an operation that is not there
    createPortClient(contract, { safe: ['Transfer'] }),
    client.close().then((nothing: undefined) => nothing),
    createPortClient(wsdl)['anything']?.({ any: 'input' }),
  ]
  assert.equal(typeof compile, 'function')
})

/** Fails each POST in this way; counts them. */
function failing(why: 'unreachable' | 'lost') {
  let posts = 0
  const transport: ClientTransport = {
    prepare: () => async () => {
      posts++
      throw new TransportFailure(why, why, { mayHaveRun: why === 'lost' })
    },
    close: () => {},
  }
  return { transport, count: () => posts }
}
test('calls that cannot have had an effect are sent again, and so are safe ones', async () => {
  const cases = [
    ['unreachable', {}, 2],
    ['lost', {}, 1],
    ['lost', { safe: ['transfer'] }, 2],
    ['lost', { addressing: { once: true } }, 2],
    ['lost', { safe: ['transfer'], retries: 0 }, 1],
    ['lost', { safe: ['add'] }, 1],
  ] as const
  for (const [why, options, posts] of cases) {
    const { transport, count } = failing(why)
    const given: PortClientOptions = { transport, wait: async () => {}, ...options }
    const client = createPortClient<typeof contract>(wsdl, given as object)
    await assert.rejects(client.transfer({ from: 'a', amount: '1' }), ConnectionError)
    assert.equal(count(), posts, JSON.stringify([why, options]))
  }
})

test('one of two ports is named for the types, too', async () => {
  const Ping = x.namespace('urn:bank').element('Ping', x.object({ at: x.element(x.string) }))
  const PingPort = port('PingPort', {
    namespace: 'urn:bank',
    allow: [anyone],
    exchanges: { ping: exchange({ action: 'urn:ping', input: Ping, output: Ping }) },
  })
  const both = service('both', { namespace: 'urn:bank', resources: [], ports: [BankPort, PingPort] })
  const at = { address: 'http://127.0.0.1:1/', port: 'PingPort' } as const
  const [byContract, byWsdl] = [
    createPortClient(both, at),
    createPortClient<typeof both, 'PingPort'>(both as DescribedPorts, at),
  ]
  for (const client of [byContract, byWsdl])
    assert.match(String((await client.ping.render({ at: 'noon' })).content), /noon/)
  // @ts-expect-error the port has no such operation
  assert.equal(byContract.transfer, undefined)
  // @ts-expect-error the types do not know which port it is
  createPortClient<typeof both>(both as DescribedPorts, at)
  // @ts-expect-error there is no such port
  assert.throws(() => createPortClient<typeof both, 'PongPort'>(both as DescribedPorts, { port: 'PongPort' }))
})

test('a wrong option gives an error that says what to give', () => {
  const two: DescribedPorts = { ports: [BankPort, { ...BankPort, port: 'Other', soap: '1.2' }] }
  const make = (description: DescribedPorts, options: object) => () => createPortClient(description, options)
  const cases: readonly (readonly [() => unknown, RegExp])[] = [
    [make(two, {}), /the description has the ports BankPort, Other: name one with the option port/],
    [make(two, { port: 'Nowhere' }), /unknown port Nowhere: use BankPort, Other/],
    [make(two, { port: 'Other' }), /the port Other has no address for SOAP 1\.2: give the option address/],
    [make(two, { port: 'Other', soap: '1.1' }), /supports only SOAP 1\.2: leave out the option soap/],
    [make({ ports: [] }, {}), /no port for SOAP: give a WSDL with a binding/],
    [make(wsdl, { lenient: ['ordre'] }), /unknown member "ordre": use envelope/],
    [make(wsdl, { safe: ['Transfer'] }), /unknown member "Transfer": use transfer/],
    [make(wsdl, { adress: 'x' }), /unknown member "adress"/],
    [make(wsdl, { keys: {} }), /the keys are not used: BankPort declares no security, so give rule in the options/],
    [make(wsdl, { address: 'ftp://x' }), /not an http or https address/],
  ]
  for (const [create, detail] of cases) assert.throws(create, { name: 'TypeError', message: detail })
})

test('readWsdl contacts no unnamed host, reads a file, and reports mistakes in one', async t => {
  const place = mkdtempSync(join(tmpdir(), 'diglot-wsdl-'))
  t.after(() => rmSync(place, { recursive: true }))
  const address = `http://127.0.0.1:${hosted.server.port}/soap/BankPort?wsdl`
  await assert.rejects(readWsdl(address), /is not fetched: name its host/)
  await assert.rejects(readWsdl(`${place}/none.wsdl`), /not found: give a WSDL/)
  writeFileSync(`${place}/bad.wsdl`, '<definitions')
  await assert.rejects(readWsdl(`${place}/bad.wsdl`), /bad\.wsdl: .*octet/)
  writeFileSync(`${place}/bank.wsdl`, await (await fetch(address)).text())
  const read = await readWsdl(`${place}/bank.wsdl`)
  assert.deepEqual(await createPortClient<typeof contract>(read).add({ a: 1, b: 1 }), { sum: 2 })
})
