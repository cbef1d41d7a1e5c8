/**
 * The security step as the face sees it: its place, its input, and that the face reads its result
 * (attacks X1, X14).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/index.ts'
import { replaceElement, trustedFragment } from '../../src/security/tree/tree-edit.ts'
import { block as declareBlock } from '../../src/soap/headers/block.ts'
import { refuseMessage } from '../../src/soap/refusal.ts'
import { type Evidence, encryptedHeaderName, securityName, type VerifyMessage } from '../../src/soap/security-port.ts'
import { Element, Malformed, parseXml } from '../../src/xml/index.ts'
import { envelope, find, ns, startConversation } from './orders-over-soap.ts'

const get = (id = 'o-1') => `<GetOrder xmlns="${ns}"><id>${id}</id></GetOrder>`
const block = `<w:Security xmlns:w="${securityName.uri}"><w:Token>clara</w:Token></w:Security>`
const failed = { uri: securityName.uri, local: 'FailedAuthentication' }

/** Accepts a token by its text. */
const believing: VerifyMessage = ({ targeted, body, demanded, parts }) => {
  const token = targeted.find(each => each.name === securityName)?.elements()[0]?.text
  if (token === undefined && demanded) refuseMessage({ kind: 'security', subcode: failed, detail: 'no Security block' })
  if (token !== 'clara') refuseMessage({ kind: 'security', subcode: failed, detail: 'it proves nothing' })
  return { caller: { subject: 'clara', roles: ['clerk'], claims: {} }, body, parts }
}

test('X14 an endpoint whose policy nothing could enforce does not start', async () => {
  await assert.rejects(startConversation({ secure: true }), /demands WS-Security/)
})

test('B5.1 if WS-Security is required, a bearer token never replaces it', async () => {
  const shop = await startConversation({ secure: true }, { secure: believing })
  for (const version of ['1.1', '1.2'] as const) {
    const bare = await shop.post({ version, body: get() })
    assert.deepEqual([bare.status, bare.fault?.code], [500, version === '1.1' ? 'FailedAuthentication' : 'Sender'])
    const proven = await shop.post({ version, body: get(), header: block, fields: { authorization: 'Bearer nobody' } })
    assert.equal(proven.status, 200, proven.text)
  }
  const got = await shop.send({
    method: 'GET',
    target: '/soap/v1/GetOrder?id=o-1',
    fields: { authorization: 'Bearer clara' },
  })
  assert.equal(got.status, 404, 'nor does the response pattern go around it')
})

test('otherwise a Security block is verified if present: an invalid one with a valid bearer token is refused', async () => {
  const shop = await startConversation({}, { secure: believing })
  assert.equal((await shop.post({ body: get() })).status, 200)
  assert.equal(
    (await shop.post({ body: get(), header: block.replace('clara', 'mallory') })).fault?.code,
    'FailedAuthentication',
  )
  const mine = await shop.post({ body: get('o-2'), header: block, fields: { authorization: 'Bearer alice' } })
  assert.equal(mine.status, 200, 'who the message proves is who asks')
})

test('X1 the Body that is read is exactly the element that was verified', async () => {
  const proven = parseXml(
    Buffer.from(`<s:Body xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">${get('o-3')}</s:Body>`),
  )
  assert.ok(!(proven instanceof Malformed))
  const shop = await startConversation(
    { secure: true },
    {
      secure: ({ parts }) => ({
        caller: { subject: 'clara', roles: ['clerk'], claims: {} },
        body: proven.root,
        parts,
      }),
    },
  )
  const answer = await shop.post({ body: get('o-1'), header: block })
  assert.equal(find(answer.body, 'order', 'id')?.text, 'o-3')
})

test('it sees the whole message, its own elements, and the octets that arrived', async () => {
  let seen: Evidence | undefined
  const shop = await startConversation({ secure: true }, { secure: evidence => believing((seen = evidence)) })
  const raw = envelope(get(), { header: `${block}<a:b xmlns:a="urn:a"/>` })
  await shop.post({ raw, fields: { authorization: '' } })
  assert.ok(seen)
  assert.ok(seen.body instanceof Element && seen.document.root.elements().includes(seen.body))
  assert.ok(seen.blocks.every(each => each.parent?.parent === seen?.document.root))
  assert.equal(
    Buffer.from(seen.document.bytes.subarray(seen.body.from, seen.body.to)).toString(),
    raw.slice(raw.indexOf('<s:Body'), raw.indexOf('</s:Envelope>')),
  )
  assert.deepEqual(
    [seen.demanded, seen.confidential, seen.from, seen.address],
    [true, true, '127.0.0.1', 'http://shop.example/soap/v1'],
  )
})

test('S6 B4.8 the structure is checked on this path too: nothing after the Body, one operation, well-formed', async () => {
  const shop = await startConversation({ secure: true }, { secure: believing })
  for (const raw of [
    envelope(get(), { header: block }).replace('</s:Envelope>', '<x xmlns="urn:x"/></s:Envelope>'),
    envelope(get() + get(), { header: block }),
    envelope(get(), { header: block }).slice(0, -3),
    envelope('', { header: block }),
  ])
    assert.equal((await shop.post({ raw })).fault?.code, 'Client')
})

const sealed = (attributes = '') =>
  `<h:EncryptedHeader xmlns:h="${encryptedHeaderName.uri}" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"${attributes}>sealed</h:EncryptedHeader>`

/** Puts this block into the place of the EncryptedHeader, as decryption does. */
const revealing =
  (text: string, seen: boolean[] = []): VerifyMessage =>
  evidence => {
    const { document, isProcessed } = evidence
    const [header] = document.root.elements()
    const found = header!.elements().find(({ name }) => name === encryptedHeaderName)
    const [revealed] = trustedFragment(text, header!)
    if (found && revealed) replaceElement(found, [revealed])
    if (revealed) seen.push(isProcessed(revealed))
    return believing(evidence)
  }

const rows: [string, string, string, { status: number; code?: string; said?: string[]; signed?: boolean }][] = [
  [
    'is processed',
    ' s:mustUnderstand="1"',
    '<t:T xmlns:t="urn:t">seen</t:T>',
    { status: 200, said: ['seen'], signed: true },
  ],
  [
    'is processed if it is not mandatory',
    '',
    '<t:T xmlns:t="urn:t">seen</t:T>',
    { status: 200, said: ['seen'], signed: true },
  ],
  [
    'is ignored if it is unknown',
    ' s:mustUnderstand="1"',
    '<t:U xmlns:t="urn:t"/>',
    { status: 200, said: [], signed: false },
  ],
  [
    'is refused if it is unknown and mandatory',
    '',
    `<t:U xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:mustUnderstand="1"/>`,
    { status: 500, code: 'MustUnderstand', said: [], signed: false },
  ],
  [
    'is refused if it stays encrypted and is mandatory',
    ' s:mustUnderstand="1"',
    '',
    { status: 500, code: 'MustUnderstand', said: [] },
  ],
  ['is ignored if it stays encrypted', '', '', { status: 200, said: [] }],
  [
    'of WS-Addressing counts',
    '',
    '<a:Action xmlns:a="http://www.w3.org/2005/08/addressing">urn:other</a:Action>',
    { status: 500, code: 'MessageAddressingHeaderRequired', said: [], signed: true },
  ],
  [
    'for another role is not processed',
    '',
    `<t:T xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:actor="urn:other">seen</t:T>`,
    { status: 200, said: [], signed: true },
  ],
]
for (const [title, attributes, revealed, expected] of rows) {
  test(`WSS §9.3: a block that arrives encrypted ${title}`, async () => {
    const said: string[] = []
    const process = (value: string) => void said.push(value)
    const signed: boolean[] = []
    const shop = await startConversation(
      { secure: true },
      {
        secure: revealing(revealed, signed),
        blocks: [declareBlock({ namespace: 'urn:t', name: 'T', content: t.string(), process })],
      },
    )
    const answer = await shop.post({ body: get(), header: block + sealed(attributes) })
    assert.deepEqual(
      { status: answer.status, code: answer.fault?.code, said, signed: signed[0] },
      { code: undefined, signed: undefined, ...expected },
    )
  })
}

test('SOAP 1.1 §4.2.3: without a Security block, nothing understands a mandatory EncryptedHeader', async () => {
  const shop = await startConversation({}, { secure: believing })
  const answer = await shop.post({ body: get(), header: sealed(' s:mustUnderstand="1"') })
  assert.equal(answer.fault?.code, 'MustUnderstand')
})
