/**
 * WS-Addressing of the client (rules B2.11, B4.11): what it states, and which replies it rejects.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AddressingOptions, AnswerError, compileBlockWriter, FaultError } from '../../src/client/index.ts'
import { t } from '../../src/contract/field.ts'
import { type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import { address, came, envelope, mediaType, ns, ns11, product, recordRequests, type Sent, wsa } from './canned.ts'

const wsa04 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'

function blocksOf({ text }: Sent): readonly Element[] {
  const document = parseXml(Buffer.from(text))
  assert.ok(!(document instanceof Malformed))
  const header = document.root.elements().find(each => each.name.local === 'Header')
  return header?.elements() ?? []
}
const said = (sent: Sent | undefined, uri = wsa) =>
  Object.fromEntries(
    blocksOf(sent!)
      .filter(each => each.name.uri === uri)
      .map(each => [each.name.local, each.text]),
  )

/** An answer with the blocks that `written` makes of the message's id. */
const answering = (
  written: (id: string) => string,
  addressing: boolean | AddressingOptions = true,
  body = product,
  status = 200,
) =>
  recordRequests(
    sent =>
      came(
        status,
        mediaType['1.2'],
        envelope('1.2', body, written(/MessageID[^>]*>([^<]*)</.exec(sent.text)?.[1] ?? '')),
      ),
    { addressing },
  )
const block = (local: string, content: string, attributes = '', uri = wsa) =>
  `<a:${local} xmlns:a="${uri}"${attributes}>${content}</a:${local}>`
const relates = (id: string, attributes = '') => block('RelatesTo', id, attributes)
const action = block('Action', `${ns}/GetProductResponse`)

describe('a message identifies itself', () => {
  test('MessageID, Action, To; replies go back', async () => {
    const { client, sent } = answering(id => relates(id) + action)
    await client.GetProduct({ id: 'p-1' })
    await client.GetProduct({ id: 'p-1' })
    const [first, second] = sent.map(each => said(each))
    assert.deepEqual({ ...first, MessageID: '' }, { Action: `${ns}/GetProduct`, To: address, MessageID: '' })
    assert.match(first?.['MessageID'] ?? '', /^urn:uuid:[0-9a-f-]{36}$/)
    assert.notEqual(first?.['MessageID'], second?.['MessageID'])
  })
  test('an id of the caller’s, an address by which the service knows itself', async () => {
    const { client, sent } = answering(relates, { to: 'https://shop.example/known?a=b&c' })
    await client.GetProduct({ id: 'p-1' }, { messageId: 'urn:mine:1' })
    const { MessageID, To } = said(sent[0])
    assert.deepEqual([MessageID, To], ['urn:mine:1', 'https://shop.example/known?a=b&c'])
  })
  test('the submission of 2004/08 requires ReplyTo', async () => {
    const { client, sent } = answering(id => block('RelatesTo', id, '', wsa04), { of: '2004/08' })
    await client.GetProduct({ id: 'p-1' })
    const [reply] = blocksOf(sent[0]!).filter(each => each.name.local === 'ReplyTo')
    assert.equal(reply?.elements()[0]?.text, `${wsa04}/role/anonymous`)
  })
  test('required blocks must be understood', async () => {
    const { client, sent } = answering(relates, { demanded: true })
    await client.GetProduct({ id: 'p-1' })
    for (const each of blocksOf(sent[0]!))
      assert.equal(each.attributes.find(one => one.name.local === 'mustUnderstand')?.value, '1', each.name.local)
  })
  test('one-way messages too', async () => {
    const { client, sent } = recordRequests(came(202, undefined), { addressing: true })
    await client.NotifyDelivery({ id: 'o-1' })
    assert.equal(said(sent[0])['Action'], `${ns}/NotifyDelivery`)
  })
  test('nothing if it was not requested', async () => {
    const { client, sent } = recordRequests(came(200, mediaType['1.2'], envelope('1.2', product)))
    await client.GetProduct({ id: 'p-1' })
    assert.deepEqual(blocksOf(sent[0]!), [])
  })
  test('next to blocks of the caller’s', async () => {
    const tenant = compileBlockWriter('urn:x', 'Tenant', t.string())
    const { client, sent } = answering(relates)
    await client.GetProduct({ id: 'p-1' }, { blocks: [tenant('a & b')] })
    assert.deepEqual(
      blocksOf(sent[0]!).map(each => each.name.local),
      ['Action', 'MessageID', 'To', 'Tenant'],
    )
    assert.equal(blocksOf(sent[0]!)[3]?.text, 'a & b')
  })
})

const other = 'urn:uuid:00000000-0000-0000-0000-000000000000'
/** [title, blocks of the message, why it is not the reply] */
const answers: readonly (readonly [string, (id: string) => string, RegExp | undefined])[] = [
  ['B4.11 it relates to the message', id => relates(id) + action, undefined],
  ['white space around the id', id => relates(`\n ${id} \n`), undefined],
  ['it says that it is a reply', id => relates(id, ` RelationshipType="${wsa}/reply"`), undefined],
  ['it relates to others in other ways', id => relates(id) + relates(other, ' RelationshipType="urn:x"'), undefined],
  ['it is mandatory to understand', id => envelopeAttributes(relates(id) + action), undefined],
  ['it is for whoever asked', id => relates(id) + block('To', `${wsa}/anonymous`), undefined],
  ['no block at all', () => '', undefined],
  ['B4.11 it relates to another', () => relates(other) + action, /the reply to urn:uuid:0/],
  [
    'it relates to the message in another way',
    id => relates(id, ' RelationshipType="urn:x"'),
    /does not name the message/,
  ],
  ['it relates to none', () => action, /does not name the message/],
  ['it is for another', id => relates(id) + block('To', 'http://other.example/'), /addressed to http:\/\/other/],
  ['SOAP Binding §3.2 it has two actions', id => relates(id) + action + action, /more than one Action/],
  ['it is of another action', id => relates(id) + block('Action', `${ns}/GetOrderResponse`), /action/],
]
const envelopeAttributes = (blocks: string) => blocks.replaceAll(/<a:(\w+)/g, '<a:$1 e:mustUnderstand="1"')

describe('a reply states which message it answers', () => {
  for (const [title, written, why] of answers)
    test(`${why ? 'none: ' : ''}${title}`, async () => {
      const call = answering(written).client.GetProduct({ id: 'p-1' })
      if (!why) return void (await call)
      await assert.rejects(call, (thrown: unknown) => {
        assert.ok(thrown instanceof AnswerError, String(thrown))
        assert.equal(thrown.why, 'uncorrelated')
        assert.match(thrown.message, why)
        return true
      })
    })
  test('none: no block at all, although required', async () => {
    const call = answering(() => '', { demanded: true }).client.GetProduct({ id: 'p-1' })
    await assert.rejects(call, (thrown: unknown) => thrown instanceof AnswerError && thrown.why === 'uncorrelated')
  })
})

const fault = '<e:Fault><e:Code><e:Value>e:Sender</e:Value></e:Code></e:Fault>'
describe('a fault does so as far as it can', () => {
  const rows: readonly (readonly [string, (id: string) => string, boolean])[] = [
    ['it relates to the message, whatever its action', id => relates(id) + block('Action', `${wsa}/fault`), true],
    ['of a node that could not read the id', () => block('Action', `${wsa}/soap/fault`), true],
    ['of a node that says so', () => relates(`${wsa}/unspecified`), true],
    ['it relates to another', () => relates(other), false],
  ]
  for (const [title, written, taken] of rows)
    test(title, async () => {
      const call = answering(written, { demanded: true }, fault, 500).client.GetProduct({ id: 'p-1' })
      await assert.rejects(call, (thrown: unknown) =>
        taken ? thrown instanceof FaultError : thrown instanceof AnswerError && thrown.why === 'uncorrelated',
      )
    })
})

test('SOAP 1.2 Part 1 §2.6 a client that writes no WS-Addressing gets the fault of a service that requires it', async () => {
  const must = ' e:mustUnderstand="1"'
  const written = block('Action', `${wsa}/fault`, must) + block('RelatesTo', `${wsa}/unspecified`, must)
  await assert.rejects(answering(() => written, false, fault, 500).client.GetProduct({ id: 'p-1' }), FaultError)
  const strange = written + block('Metadata', '', must)
  await assert.rejects(
    answering(() => strange, false, fault, 500).client.GetProduct({ id: 'p-1' }),
    (thrown: unknown) => thrown instanceof AnswerError && thrown.why === 'not-understood',
  )
})

test('SOAP 1.1 states it in the same blocks', async () => {
  const { client, sent } = recordRequests(
    ({ text }) =>
      came(200, mediaType['1.1'], envelope('1.1', product, relates(/MessageID[^>]*>([^<]*)</.exec(text)?.[1] ?? ''))),
    { addressing: true, soap: '1.1' },
  )
  await client.GetProduct({ id: 'p-1' })
  assert.ok(sent[0]?.text.includes(ns11))
  assert.equal(sent[0]?.fields['soapaction'], `"${ns}/GetProduct"`)
})
