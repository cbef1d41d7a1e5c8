/** WS-Addressing (rules B2.11, B4.11; attacks W), and the requests of Spring-WS's own suite. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { refuse } from '../../src/service/refusal.ts'
import { Unavailable } from '../../src/service/store.ts'
import type { ReplyTargets } from '../../src/soap/headers/addressing.ts'
import { bareElement } from '../../src/soap/operations/custom-operation.ts'
import { suites } from '../suites.ts'
import { createEchoNode } from './echo.ts'
import { type Answer, find, ns, ns12, startConversation } from './orders-over-soap.ts'

const uri10 = 'http://www.w3.org/2005/08/addressing'
const uri04 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
const here = 'http://shop.example/soap/v1'

interface Blocks {
  readonly id?: string | undefined
  readonly action?: string | undefined
  readonly to?: string | undefined
  readonly replyTo?: string
  readonly faultTo?: string
  readonly more?: string
}
function blocks(uri: string, operation: string, { more = '', ...given }: Blocks = {}): string {
  const { id, action, to, replyTo, faultTo } = { id: 'urn:uuid:1', action: `${ns}/${operation}`, to: here, ...given }
  const tag = (name: string, value?: string) =>
    value === undefined ? '' : `<w:${name} xmlns:w="${uri}">${value}</w:${name}>`
  const reference = (address?: string) =>
    address?.startsWith('<') ? address : address && `<w:Address>${address}</w:Address>`
  return (
    tag('MessageID', id) +
    tag('To', to) +
    tag('Action', action) +
    tag('ReplyTo', reference(replyTo)) +
    tag('FaultTo', reference(faultTo)) +
    more
  )
}
const get = `<GetOrder xmlns="${ns}"><id>o-1</id></GetOrder>`
const pay = (id = 'o-1') =>
  `<PayOrder xmlns="${ns}"><id>${id}</id><method>card</method><amount>4.95</amount></PayOrder>`
const readBlocks = (answer: Answer, uri: string) =>
  Object.fromEntries(answer.blocks.filter(each => each.name.uri === uri).map(each => [each.name.local, each.text]))

const shop = await startConversation()
const countChanges = async (of = shop) => (await of.store.read(reader => reader.changes(0, 1000))).length

for (const [uri, anonymous] of [
  [uri10, `${uri10}/anonymous`],
  [uri04, `${uri04}/role/anonymous`],
] as const)
  for (const version of ['1.1', '1.2'] as const) {
    test(`B2.11 B4.11 a reply relates to its request: ${uri}, SOAP ${version}`, async () => {
      const answer = await shop.post({ version, body: get, header: blocks(uri, 'GetOrder', { replyTo: anonymous }) })
      assert.equal(answer.status, 200, answer.text)
      const { Action, RelatesTo, To, MessageID } = readBlocks(answer, uri)
      assert.deepEqual([Action, RelatesTo, To], [`${ns}/GetOrderResponse`, 'urn:uuid:1', anonymous])
      assert.match(MessageID ?? '', /^urn:diglot:message:/)
    })
    test(`B4.11 a fault relates to its request too, with its own action: ${uri}, SOAP ${version}`, async () => {
      const header = blocks(uri, 'GetOrder', { replyTo: anonymous })
      const declared = await shop.post({ version, body: get.replace('o-1', 'o-nope'), header })
      assert.deepEqual(
        [readBlocks(declared, uri)['RelatesTo'], readBlocks(declared, uri)['Action']],
        ['urn:uuid:1', `${ns}/GetOrder/Fault/NotFound`],
      )
      const early = await shop.post({
        version,
        body: get,
        header: `${header}<x:y xmlns:x="urn:x" xmlns:e="${version === '1.2' ? ns12 : 'http://schemas.xmlsoap.org/soap/envelope/'}" e:mustUnderstand="1"/>`,
      })
      assert.equal(early.fault?.code, 'MustUnderstand')
      assert.deepEqual(
        [readBlocks(early, uri)['RelatesTo'], readBlocks(early, uri)['Action']],
        ['urn:uuid:1', uri === uri10 ? `${uri10}/soap/fault` : `${uri04}/fault`],
      )
      const malformed = await shop.post({ version, body: '<a', header })
      assert.equal(readBlocks(malformed, uri)['RelatesTo'], 'urn:uuid:1', 'also when the Body is not well-formed')
    })
  }

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`B4.11 SOAP Binding §6 a fault of SOAP's own has SOAP's action, also one with a subcode, in ${style} style`, async () => {
    const styled = await startConversation({ style })
    const body = `<m:GetOrder xmlns:m="${ns}"><nothing/></m:GetOrder>`
    const answer = await styled.post({ version: '1.2', body, header: blocks(uri10, 'GetOrder') })
    assert.deepEqual(answer.fault?.subcodes, style === 'document' ? [] : ['BadArguments'])
    assert.equal(readBlocks(answer, uri10)['Action'], `${uri10}/soap/fault`)
  })

const anonymous = `${uri10}/anonymous`
const withParameter = (parameter: string) =>
  `<w:Address>${anonymous}</w:Address><w:ReferenceParameters>${parameter}</w:ReferenceParameters>`
const repeatBlock = (name: string) => `<w:${name} xmlns:w="${uri10}">urn:2</w:${name}>`
/** [title, blocks, subcodes] */
const refusedRows: readonly (readonly [string, Blocks, readonly string[]])[] = [
  ...[
    'http://127.0.0.1:9/x',
    'http://localhost/x',
    'http://169.254.169.254/latest',
    'http://[::1]/x',
    'http://[::ffff:7f00:1]/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'file:///etc/passwd',
    'gopher://127.0.0.1/x',
    'http://rebind.example/x',
    'mailto:a@example.org',
  ].flatMap(address => [
    [
      `W1 ReplyTo ${address}`,
      { replyTo: address },
      ['InvalidAddressingHeader', 'OnlyAnonymousAddressSupported'],
    ] as const,
    [
      `W1 FaultTo ${address}`,
      { faultTo: address },
      ['InvalidAddressingHeader', 'OnlyAnonymousAddressSupported'],
    ] as const,
  ]),
  ['W2 ReplyTo ourselves', { replyTo: here }, ['InvalidAddressingHeader', 'OnlyAnonymousAddressSupported']],
  ['W3 two MessageIDs', { more: repeatBlock('MessageID') }, ['InvalidAddressingHeader', 'InvalidCardinality']],
  ['W3 two Actions', { more: repeatBlock('Action') }, ['InvalidAddressingHeader', 'InvalidCardinality']],
  ['W3 two Tos', { more: repeatBlock('To') }, ['InvalidAddressingHeader', 'InvalidCardinality']],
  [
    'W3 two ReplyTos',
    { replyTo: anonymous, more: `<w:ReplyTo xmlns:w="${uri10}"><w:Address>${anonymous}</w:Address></w:ReplyTo>` },
    ['InvalidAddressingHeader', 'InvalidCardinality'],
  ],
  ['W3 ReplyTo without MessageID', { id: undefined, replyTo: anonymous }, ['MessageAddressingHeaderRequired']],
  ['W3 no MessageID where an answer is expected', { id: undefined }, ['MessageAddressingHeaderRequired']],
  ['W3 no Action', { action: undefined }, ['MessageAddressingHeaderRequired']],
  ['W3 an empty MessageID', { id: '' }, ['InvalidAddressingHeader', 'InvalidAddress']],
  [
    'W3 a MessageID of 2,000 characters',
    { id: `urn:${'x'.repeat(2000)}` },
    ['InvalidAddressingHeader', 'InvalidAddress'],
  ],
  [
    'W6 a reference parameter that is an Action',
    { replyTo: withParameter('<w:Action>urn:x</w:Action>') },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'W6 a reference parameter that is a Security block',
    {
      replyTo: withParameter(
        '<s:Security xmlns:s="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"/>',
      ),
    },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'W6 a reference parameter of SOAP’s own',
    { replyTo: withParameter(`<e:Upgrade xmlns:e="${ns12}"/>`) },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'W9 a thousand reference parameters',
    { replyTo: withParameter('<a xmlns="urn:x"/>'.repeat(1000)) },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'W9 a reference parameter of 100 KB',
    { replyTo: withParameter(`<a xmlns="urn:x">${'y'.repeat(100_000)}</a>`) },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'W9 sixteen reference parameters in a namespace of 60 KB, each of which takes it along',
    {
      replyTo: `<w:Address>${anonymous}</w:Address><w:ReferenceParameters xmlns:p="urn:${'p'.repeat(60_000)}">${'<a xmlns="urn:x"/>'.repeat(16)}</w:ReferenceParameters>`,
    },
    ['InvalidAddressingHeader', 'InvalidEPR'],
  ],
  [
    'an endpoint reference without Address',
    { replyTo: '<w:Metadata/>' },
    ['InvalidAddressingHeader', 'MissingAddressInEPR'],
  ],
  [
    'a source endpoint without Address',
    { more: `<w:From xmlns:w="${uri10}"><w:Metadata/></w:From>` },
    ['InvalidAddressingHeader', 'MissingAddressInEPR'],
  ],
  ...['not a uri', '', '/soap/v1', '//host/x', 'http:', 'urn:a b'].flatMap(address => {
    const reference = `<w:Address>${address}</w:Address>`
    const subcodes = ['InvalidAddressingHeader', 'InvalidAddress']
    const from = `<w:From xmlns:w="${uri10}">${reference}</w:From>`
    return [
      [`Core §2.1 ReplyTo with the Address “${address}”`, { replyTo: reference }, subcodes] as const,
      [`Core §2.1 FaultTo with the Address “${address}”`, { faultTo: reference }, subcodes] as const,
      [`Core §2.1 From with the Address “${address}”`, { more: from }, subcodes] as const,
    ]
  }),
  ...['', '/soap/v1', 'shop'].map(
    to => [`§6.4.1 To “${to}” is no absolute IRI`, { to }, ['InvalidAddressingHeader', 'InvalidAddress']] as const,
  ),
  ['W7 To of another endpoint', { to: 'http://shop.example/soap/v2' }, ['DestinationUnreachable']],
  ['W7 To of another host', { to: 'http://other.example/soap/v1' }, ['DestinationUnreachable']],
  ['W7 To that is no URL', { to: 'mailto:fabrikam@example.com' }, ['DestinationUnreachable']],
  ['H7 an action of another operation', { action: `${ns}/GetOrder` }, ['ActionNotSupported']],
]
/** SOAP Binding §6.4.3, §6.4.4: details of faults besides the header. */
const problems: Readonly<Record<string, string>> = {
  DestinationUnreachable: 'ProblemIRI',
  ActionNotSupported: 'ProblemAction',
}
for (const [title, given, subcodes] of refusedRows)
  test(`${title}: a Sender fault, and nothing runs`, async () => {
    const before = await countChanges()
    const answer = await shop.post({ version: '1.2', body: pay(), header: blocks(uri10, 'PayOrder', given) })
    assert.deepEqual([answer.status, answer.fault?.code, answer.fault?.subcodes], [500, 'Sender', subcodes])
    const [problem] = answer.fault?.detail?.elements() ?? []
    assert.deepEqual(
      [problem?.name.uri, problem?.name.local],
      [uri10, problems[subcodes[0] ?? ''] ?? 'ProblemHeaderQName'],
    )
    if (problem?.name.local === 'ProblemIRI') assert.equal(problem.text, given.to)
    if (problem?.name.local === 'ProblemAction') assert.equal(find(problem, 'Action')?.text, given.action)
    assert.equal(readBlocks(answer, uri10)['Action'], `${uri10}/fault`)
    const hasNoId = 'id' in given ? !given.id : title === 'W3 two MessageIDs'
    assert.equal(
      readBlocks(answer, uri10)['RelatesTo'],
      hasNoId ? `${uri10}/unspecified` : (given.id ?? 'urn:uuid:1'),
      'SOAP Binding §6',
    )
    assert.equal(
      answer.blocks.filter(each => each.name.local === 'Upgrade' || each.name.local === 'Security').length,
      0,
    )
    const old = await shop.post({ body: pay(), header: blocks(uri10, 'PayOrder', given) })
    assert.equal(old.fault?.code, subcodes.at(-1), 'SOAP Binding §6.2: SOAP 1.1 has the subcode for its faultcode')
    assert.ok(old.blocks.some(each => each.name.local === 'FaultDetail') && !old.fault?.detail)
    assert.equal(await countChanges(), before)
  })

test('W6 a bad reference parameter is not echoed by an earlier fault either', async () => {
  const header = blocks(uri10, 'PayOrder', { replyTo: withParameter('<w:Action>urn:x</w:Action>') })
  const answer = await shop.post({
    version: '1.2',
    body: pay(),
    header: `${header}<a:b xmlns:a="urn:a" xmlns:e="${ns12}" e:mustUnderstand="1"/>`,
  })
  assert.equal(answer.fault?.code, 'MustUnderstand')
  assert.equal(answer.blocks.filter(each => each.name.local === 'Action').length, 1)
})

test('B2.11 reference parameters are echoed and marked, and names in their content are kept', async () => {
  const replyTo = `<w:Address>${anonymous}</w:Address><w:ReferenceParameters xmlns:q="urn:q"><c:Key xmlns:c="urn:c" a="1">q:v &amp; 7</c:Key><c:Other xmlns:c="urn:c"/></w:ReferenceParameters>`
  const answer = await shop.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder', { replyTo }) })
  const echoed = answer.blocks.filter(each => each.name.uri === 'urn:c')
  assert.deepEqual(
    echoed.map(each => [each.name.local, each.text, each.namespace('q')]),
    [
      ['Key', 'q:v & 7', 'urn:q'],
      ['Other', '', 'urn:q'],
    ],
  )
  assert.ok(
    echoed.every(each =>
      each.attributes.some(a => a.name.uri === uri10 && a.name.local === 'IsReferenceParameter' && a.value === 'true'),
    ),
  )
  const older = replyTo.replaceAll(anonymous, `${uri04}/role/anonymous`)
  const plain = await shop.post({ version: '1.2', body: get, header: blocks(uri04, 'GetOrder', { replyTo: older }) })
  assert.deepEqual(
    plain.blocks.filter(each => each.name.uri === 'urn:c').map(each => each.attributes.length),
    [1, 0],
  )
})

test('Core §3.2 a reference parameter keeps its prefixes, whatever prefix marks it', async () => {
  const replyTo = withParameter('<c:Key xmlns:c="urn:c" xmlns:wsa="urn:q" wsa:a="1">wsa:v</c:Key>')
  const answer = await shop.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder', { replyTo }) })
  const [key] = answer.blocks.filter(each => each.name.uri === 'urn:c')
  assert.equal(key?.namespace('wsa'), 'urn:q')
  assert.deepEqual(
    key.attributes.map(each => [each.name.uri, each.name.local]),
    [
      ['urn:q', 'a'],
      [uri10, 'IsReferenceParameter'],
    ],
  )
})

test('B4.10 ReplyTo none: 202, and the call was carried out; W8 with a fault too', async () => {
  const before = await countChanges()
  const none = { replyTo: `${uri10}/none` }
  const paid = await shop.post({
    version: '1.2',
    body: pay('o-6'),
    header: blocks(uri10, 'PayOrder', { ...none, id: 'urn:n1' }),
  })
  assert.deepEqual([paid.status, paid.text], [202, ''])
  const missing = await shop.post({
    version: '1.2',
    body: pay('o-nope'),
    header: blocks(uri10, 'PayOrder', { ...none, id: 'urn:n2' }),
  })
  assert.deepEqual([missing.status, missing.text], [202, ''])
  const back = await shop.post({
    version: '1.2',
    body: pay('o-nope'),
    header: blocks(uri10, 'PayOrder', { ...none, faultTo: anonymous, id: 'urn:n3' }),
  })
  assert.equal(back.fault?.code, 'Sender', 'FaultTo brings it back')
  const order = await shop.post({ body: get.replace('o-1', 'o-6') })
  assert.ok((await countChanges()) >= before && order.status === 200)
})

for (const [title, given] of [
  ['ReplyTo', { replyTo: `${uri10}/none` }],
  ['FaultTo', { faultTo: `${uri10}/none` }],
  ['FaultTo, with ReplyTo back', { faultTo: `${uri10}/none`, replyTo: anonymous }],
] as const)
  for (const version of ['1.1', '1.2'] as const)
    test(`WS-I Basic Profile R1036 the response reports a block that is not understood: none in ${title}, SOAP ${version}`, async () => {
      const soap = version === '1.2' ? ns12 : 'http://schemas.xmlsoap.org/soap/envelope/'
      const mandatory = `<x:y xmlns:x="urn:x" xmlns:e="${soap}" e:mustUnderstand="1"/>`
      const answer = await shop.post({ version, body: get, header: blocks(uri10, 'GetOrder', given) + mandatory })
      const { Action, To, RelatesTo } = readBlocks(answer, uri10)
      assert.deepEqual(
        [answer.status, answer.fault?.code, Action, To, RelatesTo],
        [500, 'MustUnderstand', `${uri10}/soap/fault`, anonymous, 'urn:uuid:1'],
      )
    })

test('Core §3.4 a message that goes back is addressed to anonymous, without parameters of the refused address', async () => {
  const elsewhere = `<w:Address>https://other.example/</w:Address><w:ReferenceParameters><c:Key xmlns:c="urn:c"/></w:ReferenceParameters>`
  for (const given of [{ replyTo: elsewhere }, { faultTo: elsewhere }]) {
    const answer = await shop.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder', given) })
    assert.deepEqual(answer.fault?.subcodes, ['InvalidAddressingHeader', 'OnlyAnonymousAddressSupported'])
    assert.equal(readBlocks(answer, uri10)['To'], anonymous)
    assert.deepEqual(
      answer.blocks.filter(each => each.name.uri === 'urn:c'),
      [],
    )
  }
})

test('SOAP Binding §6.2 FaultDetail is in the version of WS-Addressing of its message', async () => {
  for (const uri of [uri10, uri04]) {
    const header = blocks(uri, 'GetOrder', { action: `${ns}/PayOrder` })
    const answer = await shop.post({ body: get, header })
    assert.equal(answer.fault?.code, 'ActionNotSupported')
    const namespaces = answer.blocks.map(each => each.name.uri)
    assert.ok(answer.blocks.some(each => each.name.local === 'FaultDetail'))
    assert.deepEqual([...new Set(namespaces)], [uri])
  }
})

const failingNode = (fail: () => never) =>
  createEchoNode([
    bareElement({
      namespace: 'urn:f',
      name: 'Fail',
      action: 'urn:fail',
      content: t.string(),
      answer: { name: 'Failed', content: t.string() },
      perform: fail,
    }),
  ])
for (const [status, fail, field] of [
  [401, () => refuse({ kind: 'unauthenticated' }), 'www-authenticate'],
  [429, () => refuse({ kind: 'too-many', after: 7, limit: 1 }), 'retry-after'],
  [503, () => { throw new Unavailable(7, 'the disk is full') }, 'retry-after'],
  [202, () => refuse({ kind: 'forbidden' }), undefined],
] as const satisfies readonly (readonly [number, () => never, string | undefined])[])
  test(`B7.1 ReplyTo none: the status is ${status}, without a message`, async () => {
    const header = blocks(uri10, '', { action: 'urn:fail', to: undefined, replyTo: `${uri10}/none` })
    const answer = await failingNode(fail).post({ version: '1.2', body: '<Fail xmlns="urn:f"/>', header })
    assert.deepEqual([answer.status, answer.text], [status, ''])
    assert.ok(field === undefined || answer.fields[field])
  }) // biome-ignore format: a table

test('W4 RelatesTo of another exchange changes nothing: the reply relates to the request', async () => {
  const more = `<w:RelatesTo xmlns:w="${uri10}">urn:another</w:RelatesTo>`
  const answer = await shop.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder', { more }) })
  assert.equal(readBlocks(answer, uri10)['RelatesTo'], 'urn:uuid:1')
})

test('W5 a repeated MessageID: the first reply again for the same message, a refusal for another, one effect', async () => {
  const create = `<CreateOrder xmlns="${ns}"><order><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency></order></CreateOrder>`
  const header = blocks(uri10, 'CreateOrder', { id: 'urn:uuid:w5' })
  const before = await countChanges()
  const first = await shop.post({ version: '1.2', body: create, header })
  const again = await shop.post({ version: '1.2', body: create, header })
  assert.equal(find(again.body, 'order', 'id')?.text, find(first.body, 'order', 'id')?.text)
  const other = await shop.post({ version: '1.2', body: create.replace('>2<', '>3<'), header })
  assert.deepEqual(other.fault?.subcodes, ['InvalidAddressingHeader', 'DuplicateMessageID'])
  assert.equal(await countChanges(), before + 1)
})

test('W1 an allow-listed address gets the reply and the fault from the outbox; others do not', async () => {
  const sent: { to: string; action: string; content: string }[] = []
  const elsewhere: ReplyTargets = {
    allowed: address => address === 'https://partner.example/replies',
    send: async (to, { action, content }) => void sent.push({ to, action, content }),
  }
  const open = await startConversation({}, { elsewhere })
  const replyTo = 'https://partner.example/replies'
  const answer = await open.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder', { replyTo }) })
  assert.deepEqual([answer.status, answer.text], [202, ''])
  assert.deepEqual([sent[0]?.to, sent[0]?.action], [replyTo, `${ns}/GetOrderResponse`])
  assert.match(sent[0]?.content ?? '', /RelatesTo[^>]*>urn:uuid:1</)
  await open.post({
    version: '1.2',
    body: get.replace('o-1', 'o-nope'),
    header: blocks(uri10, 'GetOrder', { replyTo }),
  })
  assert.match(sent[1]?.content ?? '', /NotFound/)
  const other = await open.post({
    version: '1.2',
    body: get,
    header: blocks(uri10, 'GetOrder', { replyTo: `${replyTo}x` }),
  })
  assert.ok(other.fault && sent.length === 2)
})

test('W1 A8.1 a stranger sends no faults to an allowed address: 401 is the response, and other faults need room', async () => {
  const sent: string[] = []
  let isFull = false
  const elsewhere: ReplyTargets = {
    allowed: () => true,
    requireRoom: async () => (isFull ? refuse({ kind: 'too-many', after: 10, limit: 100 }) : undefined),
    send: async to => void sent.push(to),
  }
  const open = await startConversation({}, { elsewhere })
  const replyTo = 'https://partner.example/replies'
  const header = blocks(uri10, 'PayOrder', { replyTo })
  const stranger = { version: '1.2', body: pay(), header, fields: { authorization: '' } } as const
  const answer = await open.post(stranger)
  assert.deepEqual([answer.status, answer.fault?.code, sent], [401, 'Sender', []])
  assert.equal(readBlocks(answer, uri10)['To'], anonymous)
  const mistaken = { version: '1.2', body: get, header } as const
  assert.equal((await open.post(mistaken)).status, 202)
  assert.deepEqual(sent, [replyTo])
  isFull = true
  const full = await open.post(mistaken)
  assert.deepEqual([full.status, full.fields['retry-after'], full.fault?.code], [429, '10', 'Receiver'])
  assert.deepEqual(sent, [replyTo])
})

test('A8.1 if too many replies wait for an address, the next call is refused in the response, before anything runs', async () => {
  const sent: string[] = []
  const full = await startConversation(
    {},
    {
      elsewhere: {
        allowed: () => true,
        send: async to => void sent.push(to),
        requireRoom: async () => refuse({ kind: 'too-many', after: 10, limit: 100 }),
      },
    },
  )
  const replyTo = 'https://partner.example/replies'
  const header = blocks(uri10, 'GetOrder', { replyTo })
  const answer = await full.post({ version: '1.2', body: get, header })
  assert.deepEqual([answer.status, answer.fields['retry-after'], answer.fault?.code], [429, '10', 'Receiver'])
  assert.deepEqual(sent, [])
  assert.equal((await full.post({ version: '1.2', body: get, header: blocks(uri10, 'GetOrder') })).status, 200)
})

test('B4.11 a reply or fault that cannot be kept for its address: the sender is told to try again', async () => {
  const send = async () => {
    throw new Unavailable(1, 'the disk is full')
  }
  const full = await startConversation({}, { elsewhere: { allowed: () => true, send } })
  const header = blocks(uri10, 'GetOrder', { replyTo: 'https://partner.example/replies' })
  for (const [what, body] of Object.entries({ reply: get, fault: get.replace('o-1', 'o-nope') })) {
    const answer = await full.post({ version: '1.2', body, header })
    assert.deepEqual([answer.status, answer.fields['retry-after'], answer.fault?.code], [503, '1', 'Receiver'], what)
  }
})

test('To may be mandatory, absent in 1.0, anonymous, or https where TLS ended before us; in 2004/08 it is required', async () => {
  for (const to of [undefined, anonymous, 'https://shop.example/soap/v1'])
    assert.equal((await shop.post({ body: get, header: blocks(uri10, 'GetOrder', { to }) })).status, 200)
  const mandatory = blocks(uri10, 'GetOrder').replace(
    '<w:To ',
    `<w:To xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" e:mustUnderstand="1" `,
  )
  assert.equal((await shop.post({ body: get, header: mandatory })).status, 200)
  const older = await shop.post({ version: '1.2', body: get, header: blocks(uri04, 'GetOrder', { to: undefined }) })
  assert.deepEqual(older.fault?.subcodes, ['MessageInformationHeaderRequired'])
})

test('S3 a mandatory block of a dialect that this message does not use is not understood', async () => {
  const mixed = `${blocks(uri10, 'GetOrder')}<o:To xmlns:o="${uri04}" xmlns:e="${ns12}" e:mustUnderstand="1">${here}</o:To>`
  assert.equal((await shop.post({ version: '1.2', body: get, header: mixed })).fault?.code, 'MustUnderstand')
})

test('an action of the transport that differs from that of the blocks: ActionMismatch', async () => {
  const answer = await shop.post({
    body: get,
    header: blocks(uri10, 'GetOrder'),
    fields: { soapaction: `"${ns}/PayOrder"` },
  })
  assert.equal(answer.fault?.code, 'ActionMismatch')
})

test('S11 a one-way message needs no MessageID, and never gets a reply', async () => {
  const notify = `<NotifyDelivery xmlns="${ns}"><id>o-1</id></NotifyDelivery>`
  for (const given of [{ id: undefined }, { replyTo: anonymous }])
    assert.deepEqual(
      [(await shop.post({ body: notify, header: blocks(uri10, 'NotifyDelivery', given) })).status],
      [202],
    )
})

/**
 * From Spring-WS: an endpoint at mailto:fabrikam@example.com with the operation Delete. Our replies
 * go back to the sender, so messages with another address are refused.
 */
const folder = suites('ws-addressing')
/** What a sample leads to, by the addresses in it; undefined for a reply. */
function judgeSample(raw: string): string | undefined {
  if (/<wsa:RelatesTo|Body>\s*<\w+:Fault>/.test(raw)) return undefined
  const [, local] = /Body>\s*<(?:\w+:)?(\w+)/.exec(raw) ?? []
  assert.equal(local, 'Delete', 'not a message that this test can judge')
  const is10 = raw.includes(uri10)
  if (!/<wsa:MessageID>/.test(raw)) return is10 ? 'MessageAddressingHeaderRequired' : 'MessageInformationHeaderRequired'
  const addresses = [...raw.matchAll(/<wsa:(?:ReplyTo|FaultTo)>\s*<wsa:Address>\s*([^<]*?)\s*</g)].map(([, at]) => at)
  const others = addresses.filter(each => each !== `${uri10}/none` && !each?.endsWith('/anonymous'))
  if (others.length > 0) return is10 ? 'OnlyAnonymousAddressSupported' : 'InvalidMessageInformationHeader'
  return addresses[0] === `${uri10}/none` ? 'accepted' : 'answered'
}
const files: { file: string }[] = folder ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) : []
for (const { file } of files) {
  test(`Spring-WS ${file}`, async () => {
    const raw = readFileSync(join(folder ?? '', file), 'utf8').replace(/<!--.*?-->/gs, '')
    const expected = judgeSample(raw)
    if (expected === undefined) return assert.match(file, /response/)
    const [, space = '', local = ''] = /<S:Body>\s*<(?:\w+:Delete xmlns:\w+="([^"]+)"|\w+:(Delete))/.exec(raw) ?? []
    const namespace = space || (/xmlns:f123="([^"]+)"/.exec(raw)?.[1] ?? local)
    const action = /<wsa:Action>([^<]+)</.exec(raw)?.[1] ?? ''
    const uri = raw.includes(uri10) ? uri10 : uri04
    const address = 'http://shop.example/mail'
    const mail = createEchoNode(
      [
        bareElement({
          namespace,
          name: 'Delete',
          action,
          content: t.object({ maxCount: t.int() }),
          answer: { name: 'Deleted', content: t.string() },
          perform: () => '',
        }),
      ],
      {},
      '/mail',
    )
    // The samples address a mailbox; some have a Body with an unqualified child, others a qualified
    // one.
    const asked = raw
      .replace(/(mailto:(fabrikam@example\.com|joe@fabrikam123\.example))(?=\s*<\/wsa:To)/, address)
      .replace(/<(\/?)maxCount>/g, raw.includes('f123') ? '<$1f123:maxCount>' : '<$1f:maxCount>')
    const answer = await mail.post({ version: '1.2', raw: asked })
    if (expected === 'accepted') return assert.deepEqual([answer.status, answer.text], [202, ''])
    if (expected !== 'answered') return assert.equal(answer.fault?.subcodes.at(-1), expected, answer.text)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(readBlocks(answer, uri)['RelatesTo'], /<wsa:MessageID>([^<]+)</.exec(raw)?.[1])
  })
}
