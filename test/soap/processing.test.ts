/**
 * The processing model (rules B2, B4.8, B7, B9; attacks S, and P at the level of messages), by rule
 * and by clause.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { faultReason } from '../../src/soap/fault.ts'
import { block, compileBlockWriter, refuseWithFault } from '../../src/soap/headers/block.ts'
import { envelope, find, type Message, ns, ns11, ns12, startConversation } from './orders-over-soap.ts'

const get = `<GetOrder xmlns="${ns}"><id>o-1</id></GetOrder>`
const create = (inner = '') =>
  `<CreateOrder xmlns="${ns}"><order><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency>${inner}</order></CreateOrder>`
const xBlock = (attributes = '') => `<x:Block xmlns:x="urn:x"${attributes}>x</x:Block>`
const wrapEnvelope = (inside: string, v: string, attributes = '') =>
  `<e:Envelope xmlns:e="${v}"${attributes}>${inside}</e:Envelope>`
const body = `<e:Body>${create()}</e:Body>`

const shop = await startConversation()
const countChanges = async () => (await shop.store.read(reader => reader.changes(0, 1000))).length

/** For any message: the fault says why, nothing was performed, no internals are disclosed. */
async function requireFault(message: Message, code: string, reason = '') {
  const before = await countChanges()
  const answer = await shop.post(message)
  assert.equal(answer.fault?.code, code, answer.text)
  assert.ok(answer.fault?.reason.includes(reason), `${answer.fault?.reason} does not say: ${reason}`)
  assert.equal(answer.status, 500)
  assert.equal(await countChanges(), before, 'something has run')
  assert.deepEqual(shop.incidents, [], 'our bug')
  assert.doesNotMatch(answer.text, /\.ts|node:|select |at [A-Z]\w+\./i)
  return answer
}

/** [title, reason, SOAP 1.1 and 1.2 message, codes] */
const both: readonly (readonly [string, string, (ns: string) => string, string, string])[] = [
  [
    'S6 B2.2 two Headers',
    'the Envelope must contain an optional Header, then one Body',
    v => wrapEnvelope(`<e:Header/><e:Header/>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 B2.2 Header after Body',
    'the Envelope has content after the Body',
    v => wrapEnvelope(`${body}<e:Header/>`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 B2.2 two Bodies',
    'the Envelope has content after the Body',
    v => wrapEnvelope(`${body}${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 something after Body',
    'the Envelope has content after the Body',
    v => wrapEnvelope(`${body}<x xmlns="urn:x"/>`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 text after Body',
    'the Envelope has content after the Body',
    v => wrapEnvelope(`${body}x`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 B2.2 no Body',
    'the Envelope must contain an optional Header, then one Body',
    v => wrapEnvelope('<e:Header/>', v),
    'Client',
    'Sender',
  ],
  ['S6 text in the Envelope', 'the Envelope contains text', v => wrapEnvelope('text', v), 'Client', 'Sender'],
  ['S6 an empty Envelope', 'the Envelope has no Body', v => wrapEnvelope('', v), 'Client', 'Sender'],
  [
    'S6 a Fault as request',
    'a Fault is not a request',
    v => wrapEnvelope('<e:Body><e:Fault/></e:Body>', v),
    'Client',
    'Sender',
  ],
  ['S6 an empty Body', 'the Body is empty', v => wrapEnvelope('<e:Body/>', v), 'Client', 'Sender'],
  ['S6 text in Body', 'the Body contains text', v => wrapEnvelope('<e:Body>x</e:Body>', v), 'Client', 'Sender'],
  [
    'S6 text in Header',
    'the Header contains text',
    v => wrapEnvelope(`<e:Header>x</e:Header>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 two operations',
    'the Body has more than one element',
    v => wrapEnvelope(`<e:Body>${create()}${create()}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'S6 text behind the operation',
    'the Body has more than one element',
    v => wrapEnvelope(`<e:Body>${create()}x</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    '§5.1 an unqualified attribute of Envelope',
    'Envelope has the unqualified attribute a',
    v => wrapEnvelope(body, v, ' a="b"'),
    'Client',
    'Sender',
  ],
  [
    '§5.2 a header block without namespace',
    'the header block a has no namespace',
    v => wrapEnvelope(`<e:Header><a/></e:Header>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'B4.7 XML that is no Envelope',
    'not a SOAP message: the root is CreateOrder, not Envelope',
    () => create(),
    'Client',
    'Sender',
  ],
  [
    'S10 an operation of another version',
    '{urn:diglot:orders:v2}CreateOrder is not a known operation of this endpoint',
    v => wrapEnvelope(`<e:Body>${create().replace(':v1', ':v2')}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'S10 an operation of no namespace',
    'GetOrder is not a known operation of this endpoint',
    v => wrapEnvelope('<e:Body><GetOrder/></e:Body>', v),
    'Client',
    'Sender',
  ],
  [
    'S2 a Body of the other version',
    'the Envelope must contain an optional Header, then one Body',
    v => wrapEnvelope(`<f:Body xmlns:f="${v === ns11 ? ns12 : ns11}">${create()}</f:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'S3 B2.4 mustUnderstand="1"',
    'a mandatory header block is not understood: {urn:x}Block',
    v => wrapEnvelope(`<e:Header>${xBlock(' e:mustUnderstand="1"')}</e:Header>${body}`, v),
    'MustUnderstand',
    'MustUnderstand',
  ],
  [
    'S3 B2.4 mustUnderstand="true"',
    'a mandatory header block is not understood: {urn:x}Block',
    v => wrapEnvelope(`<e:Header>${xBlock(' e:mustUnderstand="true"')}</e:Header>${body}`, v),
    'MustUnderstand',
    'MustUnderstand',
  ],
  [
    'S3 B2.4 mustUnderstand=" 1 "',
    'a mandatory header block is not understood: {urn:x}Block',
    v => wrapEnvelope(`<e:Header>${xBlock(' e:mustUnderstand=" 1 "')}</e:Header>${body}`, v),
    'MustUnderstand',
    'MustUnderstand',
  ],
  [
    'S3 mustUnderstand that is not boolean',
    'mustUnderstand of Block is not boolean',
    v => wrapEnvelope(`<e:Header>${xBlock(' e:mustUnderstand="yes"')}</e:Header>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'S7 an unknown encodingStyle of the content',
    'the encoding urn:x is not supported',
    v => wrapEnvelope(`<e:Body>${create().replace('<order>', '<order e:encodingStyle="urn:x">')}</e:Body>`, v),
    'Client',
    'DataEncodingUnknown',
  ],
  [
    'P1 a DOCTYPE',
    'a document type declaration is not allowed',
    v => `<!DOCTYPE e:Envelope>${wrapEnvelope(body, v)}`,
    'Client',
    'Sender',
  ],
  [
    'P2 an internal entity',
    'a document type declaration is not allowed',
    v => `<!DOCTYPE a [<!ENTITY b "c">]>${wrapEnvelope(body, v)}`,
    'Client',
    'Sender',
  ],
  [
    'P3 an external entity',
    'a document type declaration is not allowed',
    v => `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${wrapEnvelope(`<e:Body>&b;</e:Body>`, v)}`,
    'Client',
    'Sender',
  ],
  [
    'P4 a parameter entity',
    'a document type declaration is not allowed',
    v => `<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1/"> %b;]>${wrapEnvelope(body, v)}`,
    'Client',
    'Sender',
  ],
  [
    'P5 P6 expansion',
    'a document type declaration is not allowed',
    v =>
      `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(999)}"><!ENTITY d "${'&b;'.repeat(99)}">]>${wrapEnvelope('<e:Body>&d;</e:Body>', v)}`,
    'Client',
    'Sender',
  ],
  [
    'P7 ATTLIST defaults',
    'a document type declaration is not allowed',
    v => `<!DOCTYPE a [<!ATTLIST a b CDATA "c">]>${wrapEnvelope(body, v)}`,
    'Client',
    'Sender',
  ],
  [
    'P8 200,000 deep',
    'nested deeper than 64',
    v => wrapEnvelope(`<e:Body>${'<a>'.repeat(200_000)}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P9 100,000 attributes',
    'more than 256 attributes',
    v => wrapEnvelope(`<e:Body><a ${Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(' ')}/></e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P10 100,000 declarations',
    'more than 256 attributes',
    v =>
      wrapEnvelope(
        `<e:Body><a ${Array.from({ length: 100_000 }, (_, i) => `xmlns:a${i}="u"`).join(' ')}/></e:Body>`,
        v,
      ),
    'Client',
    'Sender',
  ],
  [
    'P11 300,000 siblings',
    'more than 10000 children',
    v => wrapEnvelope(`<e:Header>${xBlock().replace('>x<', `>${'<a/>'.repeat(300_000)}<`)}</e:Header>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'P11 110,000 elements, none of which has many children',
    'more than 100000 elements',
    v =>
      wrapEnvelope(
        `<e:Header>${xBlock().replace('>x<', `>${`<a>${'<b/>'.repeat(999)}</a>`.repeat(110)}<`)}</e:Header>${body}`,
        v,
      ),
    'Client',
    'Sender',
  ],
  [
    'P12 a Header of 2 MB',
    'the Header is longer than the limit of 1048576 octets',
    v =>
      wrapEnvelope(
        `<e:Header>${xBlock()
          .replace('>x<', `>${'y'.repeat(2_000_000)}<`)
          .repeat(2)}</e:Header>${body}`,
        v,
      ),
    'Client',
    'Sender',
  ],
  [
    'P13 a 2 MB name',
    'a name is too long',
    v => wrapEnvelope(`<e:Body><${'a'.repeat(2_000_000)}/></e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P14 a million character references',
    'more than 200000 references',
    v => wrapEnvelope(`<e:Header>${xBlock().replace('>x<', `>${'&#65;'.repeat(1_000_000)}<`)}</e:Header>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'P15 names of Object.prototype',
    '__proto__ is not a known operation of this endpoint',
    v => wrapEnvelope('<e:Body><__proto__/></e:Body>', v),
    'Client',
    'Sender',
  ],
  [
    'P15 … as content',
    '/CreateOrder[1]/order[1]/constructor[1] is not expected here',
    v => wrapEnvelope(`<e:Body>${create('<constructor/>')}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P16 a processing instruction',
    'a processing instruction is not allowed',
    v => wrapEnvelope(`<?a b?>${body}`, v),
    'Client',
    'Sender',
  ],
  [
    'P16 … in the content',
    'a processing instruction is not allowed',
    v => wrapEnvelope(`<e:Body>${create('<?a b?>')}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  ['P17 two roots', 'a second root element', v => wrapEnvelope(body, v).repeat(2), 'Client', 'Sender'],
  [
    'P17 trailing junk',
    'the document is cut off, or something follows it',
    v => `${wrapEnvelope(body, v)}x`,
    'Client',
    'Sender',
  ],
  [
    'P18 an illegal character',
    'an illegal character',
    v => wrapEnvelope(`<e:Body>${create('<note>\u0001</note>')}</e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P22 the same attribute by two prefixes',
    'a duplicate attribute',
    v => wrapEnvelope(`<e:Body><a xmlns:p="u" xmlns:q="u" p:b="" q:b=""/></e:Body>`, v),
    'Client',
    'Sender',
  ],
  [
    'P23 an undeclared prefix',
    'the prefix p is not declared',
    v => wrapEnvelope('<e:Body><p:a/></e:Body>', v),
    'Client',
    'Sender',
  ],
  [
    'P24 xml rebound',
    'the prefix xml and its namespace belong together',
    v => wrapEnvelope('<e:Body><a xmlns:xml="u"/></e:Body>', v),
    'Client',
    'Sender',
  ],
  [
    'P25 xsi:type that is not the declared one',
    '/CreateOrder[1]/order[1]/lines[1]/line[1]/quantity[1] must not have the xsi:type xs:string',
    v =>
      wrapEnvelope(
        `<e:Body>${create().replace('<quantity>', '<quantity xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" i:type="xs:string">')}</e:Body>`,
        v,
      ),
    'Client',
    'Sender',
  ],
  [
    'P26 xsi:nil with content, on an element that is never nil',
    '/CreateOrder[1]/order[1]/lines[1]/line[1]/quantity[1] must not be nil',
    v =>
      wrapEnvelope(
        `<e:Body>${create().replace('<quantity>', '<quantity xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true">')}</e:Body>`,
        v,
      ),
    'Client',
    'Sender',
  ],
  [
    'P28 XInclude is an element like others',
    '/CreateOrder[1]/order[1]/include[1] is not expected here',
    v =>
      wrapEnvelope(
        `<e:Body>${create('<include xmlns="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>')}</e:Body>`,
        v,
      ),
    'Client',
    'Sender',
  ],
]
for (const [title, reason, message, code11, code12] of both)
  test(title, async () => {
    await requireFault({ version: '1.1', raw: message(ns11) }, code11, reason)
    await requireFault({ version: '1.2', raw: message(ns12) }, code12, reason)
  })

test('§4.1 §5.3 an unqualified attribute of Body, as old signatures refer to: any in SOAP 1.1, none in SOAP 1.2', async () => {
  const written = (v: string) => wrapEnvelope(`<e:Body Id="_0">${get}</e:Body>`, v)
  const old = await shop.post({ version: '1.1', raw: written(ns11) })
  assert.equal(old.status, 200, old.text)
  await requireFault({ version: '1.2', raw: written(ns12) }, 'Sender', 'Body has the unqualified attribute Id')
})

const only12: readonly (readonly [string, string, string, string])[] = [
  [
    'S7 §5.1.1 encodingStyle on Envelope',
    'Envelope must not have an encodingStyle',
    wrapEnvelope(body, ns12, ' e:encodingStyle="http://www.w3.org/2003/05/soap-encoding"'),
    'Sender',
  ],
  [
    'S7 §5.1.1 encodingStyle on Header',
    'Header must not have an encodingStyle',
    wrapEnvelope(`<e:Header e:encodingStyle=""/>${body}`, ns12),
    'Sender',
  ],
  [
    'S7 §5.1.1 encodingStyle on Body',
    'Body must not have an encodingStyle',
    wrapEnvelope(body.replace('<e:Body', '<e:Body e:encodingStyle=""'), ns12),
    'Sender',
  ],
  [
    'S7 §5.4.6 SOAP encoding at a literal endpoint',
    'the encoding http://www.w3.org/2003/05/soap-encoding is not supported',
    wrapEnvelope(
      `<e:Body>${create().replace('>', ' e:encodingStyle="http://www.w3.org/2003/05/soap-encoding">').replace('<CreateOrder', `<CreateOrder xmlns:e="${ns12}"`)}</e:Body>`,
      ns12,
    ),
    'DataEncodingUnknown',
  ],
]
for (const [title, reason, raw, code] of only12)
  test(title, async () => {
    await requireFault({ version: '1.2', raw }, code, reason)
  })

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`S7 B7.2 an unknown encodingStyle of the call itself, in ${style} style`, async () => {
    const styled = await startConversation({ style })
    for (const [version, uri, code] of [
      ['1.1', ns11, 'Client'],
      ['1.2', ns12, 'DataEncodingUnknown'],
    ] as const) {
      const id = style === 'document' ? 'm:id' : 'id'
      const call = `<m:GetOrder xmlns:m="${ns}" xmlns:e="${uri}" e:encodingStyle="urn:x"><${id}>o-1</${id}></m:GetOrder>`
      const known = await styled.post({ version, body: call.replace(' e:encodingStyle="urn:x"', '') })
      assert.equal(known.status, 200, known.text)
      assert.equal((await styled.post({ version, body: call })).fault?.code, code)
    }
  })

for (const style of ['rpc', 'encoded'] as const)
  test(`B7.3 SOAP 1.2 Part 2 §4.4 arguments of another number or type, in ${style} style: rpc:BadArguments`, async () => {
    const styled = await startConversation({ style })
    for (const inside of ['', '<id>o-1</id><id>o-1</id>', '<id><a/></id>', '<id>o 1</id>', '<id>o-1</id><x/>']) {
      const answer = await styled.post({ version: '1.2', body: `<m:GetOrder xmlns:m="${ns}">${inside}</m:GetOrder>` })
      assert.deepEqual([answer.fault?.code, answer.fault?.subcodes], ['Sender', ['BadArguments']], inside)
    }
  })

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`B7.5 a required parameter outside its bounds is Invalid, not missing, in ${style} style`, async () => {
    const styled = await startConversation({ style })
    const p = style === 'document' ? 'm:' : ''
    const inside = `<${p}id>o-1</${p}id><${p}method>card</${p}method><${p}amount>-1</${p}amount>`
    const { fault } = await styled.post({ version: '1.2', body: `<m:PayOrder xmlns:m="${ns}">${inside}</m:PayOrder>` })
    assert.deepEqual(fault?.subcodes, ['Invalid'])
    assert.equal(find(fault?.detail, 'Invalid', 'problems', 'problem', 'path')?.text, '/PayOrder[1]/amount[1]')
  })

test('S7 SOAP 1.1 §4.1.1 of several encodings, one known encoding suffices', async () => {
  const known = 'http://schemas.xmlsoap.org/soap/encoding/'
  for (const [encodings, code] of [
    [`urn:narrow ${known}`, undefined],
    ['urn:narrow urn:wide', 'Client'],
  ] as const) {
    const style = ` e:encodingStyle="${encodings}"`
    for (const raw of [
      wrapEnvelope(`<e:Body>${get}</e:Body>`, ns11, style),
      wrapEnvelope(`<e:Body>${get.replace(' ', `${style} `)}</e:Body>`, ns11),
    ])
      assert.equal((await shop.post({ raw })).fault?.code, code, raw)
  }
})

test('B4.8 P17 a message that is not well-formed up to its last octet is refused for that, whatever else is wrong', async () => {
  for (const inside of [get.replaceAll('GetOrder', 'GetNothing'), get.replaceAll('id>', 'nope>'), '<x/>'])
    for (const v of [ns11, ns12])
      await requireFault(
        { version: v === ns11 ? '1.1' : '1.2', raw: wrapEnvelope(`<e:Body>${inside}</e:Body><a></b>`, v) },
        v === ns11 ? 'Client' : 'Sender',
        'not well-formed',
      )
})

test('P17 B4.8 a message cut at any octet never runs', async () => {
  const before = await countChanges()
  for (const version of ['1.1', '1.2'] as const) {
    const whole = envelope(create(), { version })
    for (let to = 0; to < whole.length; to++) {
      const answer = await shop.post({ version, raw: whole.slice(0, to) })
      assert.ok(answer.fault, `cut at ${to}`)
    }
  }
  assert.equal(await countChanges(), before)
})

test('S1 B7.2 B9.1 an unknown envelope namespace: the fault has the version of the media type, and lists what is supported', async () => {
  for (const version of ['1.1', '1.2'] as const) {
    const answer = await requireFault({ version, raw: wrapEnvelope(body, 'urn:soap:2030') }, 'VersionMismatch')
    assert.equal(answer.document?.root.name.uri, version === '1.1' ? ns11 : ns12)
    const upgrade = answer.blocks.find(each => each.name.local === 'Upgrade')
    const names = upgrade?.elements().map(each => {
      const [prefix = '', local] = (each.attributes[0]?.value ?? '').split(':')
      return `${each.namespace(prefix)} ${local}`
    })
    assert.deepEqual(names, [`${ns12} Envelope`, `${ns11} Envelope`])
  }
})

test('B9.1 an endpoint of one version answers the other with VersionMismatch', async () => {
  for (const [speaks, asked, answered] of [
    ['1.1', '1.2', ns11], // SOAP 1.2 Part 1 appendix A: a 1.1 node knows no other envelope
    ['1.2', '1.1', ns11],
  ] as const) {
    const one = await startConversation({ versions: speaks })
    const answer = await one.post({ version: asked, body: get })
    assert.equal(answer.fault?.code, 'VersionMismatch')
    assert.equal(answer.document?.root.name.uri, answered)
    assert.equal((await one.post({ version: speaks, body: get })).status, 200)
  }
})

test('S2 B4.2 an Envelope of one version under the media type of the other', async () => {
  for (const [version, as, code] of [
    ['1.1', 'application/soap+xml', 'Client'],
    ['1.2', 'text/xml', 'Sender'],
  ] as const) {
    const answer = await requireFault({ version, body: create(), as }, code)
    assert.equal(answer.document?.root.name.uri, version === '1.1' ? ns11 : ns12, 'B2.1 the namespace says the version')
  }
})

test('B2.1 the prefix has no meaning', async () => {
  const raw = `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${ns12}"><Body xmlns="${ns12}"><o:GetOrder xmlns:o="${ns}"><o:id>o-1</o:id></o:GetOrder></Body></SOAP-ENV:Envelope>`
  assert.equal((await shop.post({ version: '1.2', raw })).status, 200)
})

const roles: readonly (readonly [string, string, string | undefined, string | undefined])[] = [
  ['none given', '', 'MustUnderstand', 'MustUnderstand'],
  ['empty', ' e:ROLE=""', 'MustUnderstand', 'MustUnderstand'],
  ['next', ' e:ROLE="NEXT"', 'MustUnderstand', 'MustUnderstand'],
  ['another', ' e:ROLE="urn:other"', undefined, undefined],
  ['1.2 none', ` e:ROLE="${ns12}/role/none"`, undefined, undefined],
  ['1.2 ultimateReceiver', ` e:ROLE="${ns12}/role/ultimateReceiver"`, undefined, 'MustUnderstand'],
]
for (const [title, attribute, code11, code12] of roles)
  test(`S4 B2.3 a mandatory block for role ${title}`, async () => {
    for (const [version, role, next, code] of [
      ['1.1', 'actor', 'http://schemas.xmlsoap.org/soap/actor/next', code11],
      ['1.2', 'role', `${ns12}/role/next`, code12],
    ] as const) {
      const written = attribute.replace('ROLE', role).replace('NEXT', next)
      const header = xBlock(` e:mustUnderstand="1"${written}`)
      const raw = wrapEnvelope(`<e:Header>${header}</e:Header><e:Body>${get}</e:Body>`, version === '1.1' ? ns11 : ns12)
      const answer = await shop.post({ version, raw })
      assert.equal(answer.fault?.code, code, answer.text)
    }
  })

test('S4 a role of its own, a block for the other version’s next, mustUnderstand of the other namespace', async () => {
  const own = await startConversation({}, { roles: ['urn:shop'] })
  const header = (attributes: string) => `<x:B xmlns:x="urn:x" xmlns:e="${ns12}" xmlns:f="${ns11}" ${attributes}/>`
  for (const [attributes, code] of [
    ['e:role="urn:shop" e:mustUnderstand="1"', 'MustUnderstand'],
    [`e:role="http://schemas.xmlsoap.org/soap/actor/next" e:mustUnderstand="1"`, undefined],
    ['f:mustUnderstand="1"', undefined],
  ] as const)
    assert.equal((await own.post({ version: '1.2', body: get, header: header(attributes) })).fault?.code, code)
})

test('B2.4 §5.4.8 every mandatory block that is not understood is named, and in SOAP 1.1 without a detail', async () => {
  const header = (ns: string) =>
    ['a', 'b'].map(each => `<p:${each} xmlns:p="urn:${each}" xmlns:e="${ns}" e:mustUnderstand="1"/>`).join('')
  const answer = await shop.post({ version: '1.2', body: get, header: header(ns12) })
  const named = answer.blocks.map(each => {
    const [prefix = '', local] = (each.attributes[0]?.value ?? '').split(':')
    return `${each.name.local} ${each.namespace(prefix)} ${local}`
  })
  assert.deepEqual(named, ['NotUnderstood urn:a a', 'NotUnderstood urn:b b'])
  const old = await shop.post({ version: '1.1', body: get, header: header(ns11) })
  assert.equal(old.fault?.detail, undefined, 'SOAP 1.1 §4.4: detail is for the Body')
})

test('B2.5 B2.3 a declared block is read typed by its handler, and written to the reply', async () => {
  const seen: unknown[] = []
  const receipt = compileBlockWriter('urn:t', 'Receipt', t.object({ total: t.decimal(9, 2) }))
  const withBlocks = await startConversation(
    {},
    {
      blocks: [
        block({
          namespace: 'urn:t',
          name: 'Transaction',
          content: t.object({ id: t.long(), at: t.dateTime().attribute() }),
          process: (value, { add, caller }) => {
            seen.push(value, caller.subject)
            add(receipt({ total: '1.50' }))
          },
        }),
        block({
          namespace: 'urn:t',
          name: 'Barred',
          content: t.string(),
          process: () => {
            throw refuseWithFault({
              code: 'Receiver',
              reasons: [
                { language: 'en', text: 'barred' },
                { language: 'de', text: 'gesperrt' },
              ],
              detail: '<w xmlns="urn:t"/>',
            })
          },
        }),
      ],
    },
  )
  const header = (more = '') =>
    `<t:Transaction xmlns:t="urn:t" xmlns:e="${ns12}" e:mustUnderstand="1" at="2026-11-21T00:00:00Z"><t:id>9007199254740993</t:id></t:Transaction>${more}`
  const answer = await withBlocks.post({ version: '1.2', body: get, header: header() })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(seen, [{ id: 9007199254740993n, at: '2026-11-21T00:00:00Z' }, 'clara'])
  assert.equal(find(answer.blocks[0], 'total')?.text, '1.50')

  for (const [title, attribute] of [
    [
      'WSS §4.2',
      'x:Id="a" xmlns:x="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"',
    ],
    ['B2.11 SOAP Binding §2.3', 'x:IsReferenceParameter="true" xmlns:x="http://www.w3.org/2005/08/addressing"'],
    ['SOAP 1.2 Part 1 §5.2 xml:base and xml:lang', 'xml:base="urn:a" xml:lang="de"'],
    ['SOAP 1.2 Part 1 §5.2 an attribute of another specification', 'x:any="1" xmlns:x="urn:other"'],
  ] as const) {
    const marked = header().replace(' at=', ` ${attribute} at=`)
    assert.equal((await withBlocks.post({ version: '1.2', body: get, header: marked })).status, 200, title)
  }

  seen.length = 2
  const unqualified = header().replace(' at=', ' other="1" at=')
  assert.equal((await withBlocks.post({ version: '1.2', body: get, header: unqualified })).fault?.code, 'Sender')
  const wrong = header().replace('9007199254740993', 'x')
  assert.equal((await withBlocks.post({ version: '1.2', body: get, header: wrong })).fault?.code, 'Sender')
  assert.equal(seen.length, 2, 'content that breaks its schema never reaches the handler')

  seen.length = 0
  const unsound = await withBlocks.post({ version: '1.2', body: get.replaceAll('id>', 'nope>'), header: header() })
  assert.ok(unsound.fault && seen.length === 0, 'no handler runs before the Body has been read')

  const barred = await withBlocks.post({
    version: '1.2',
    body: get,
    header: header('<t:Barred xmlns:t="urn:t">x</t:Barred>'),
  })
  assert.equal(barred.fault?.code, 'Receiver')
  assert.match(barred.text, /xml:lang="en">barred<.*xml:lang="de">gesperrt</, 'B2.9 several Texts')
})

test('SOAP 1.2 Part 1 §5.4.4 Role is the role in which the node processed the block that failed', async () => {
  const declared = block({
    namespace: 'urn:t',
    name: 'Barred',
    content: t.string({ max: 1 }),
    process: () => {
      throw refuseWithFault({ code: 'Receiver', reasons: faultReason('barred') })
    },
  })
  const playing = await startConversation({}, { blocks: [declared], roles: ['urn:r'] })
  const roleOfFault = async (header: string, body = get) => {
    const answer = await playing.post({ version: '1.2', body, header })
    return find(answer.body, 'Role')?.text
  }
  const roles = ['urn:r', `${ns12}/role/next`, `${ns12}/role/ultimateReceiver`]
  for (const role of roles) {
    const addressed = `xmlns:t="urn:t" xmlns:e="${ns12}" e:role="${role}" e:mustUnderstand="1"`
    assert.equal(await roleOfFault(`<t:Unknown ${addressed}/>`), role, 'not understood')
    assert.equal(await roleOfFault(`<t:Barred ${addressed}>x</t:Barred>`), role, 'refused by its handler')
    assert.equal(await roleOfFault(`<t:Barred ${addressed}>xx</t:Barred>`), role, 'invalid')
  }
  assert.equal(await roleOfFault('', get.replace('o-1', 'o-nope')), roles[2], 'the Body')
})

for (const [title, inside] of [
  ['a text that is too long', '<t:a>xxx</t:a>'],
  ['a number that is too large', '<t:a>x</t:a><t:b>9</t:b>'],
  ['text that is no number', '<t:a>x</t:a><t:b>y</t:b>'],
  ['an element that is not declared', '<t:a>x</t:a><t:c/>'],
] as const)
  test(`B2.5 a declared block whose content breaks its schema never reaches its handler: ${title}`, async () => {
    const seen: unknown[] = []
    const content = t.object({ a: t.string({ max: 2 }), b: t.int({ max: 5 }).optional() })
    const limited = block({ namespace: 'urn:t', name: 'L', content, process: value => void seen.push(value) })
    const one = await startConversation({}, { blocks: [limited] })
    const header = (text: string) => `<t:L xmlns:t="urn:t">${text}</t:L>`
    assert.equal((await one.post({ body: get, header: header('<t:a>xx</t:a><t:b>5</t:b>') })).status, 200)
    for (const [version, code] of [
      ['1.1', 'Client'],
      ['1.2', 'Sender'],
    ] as const) {
      const { fault } = await one.post({ version, body: get, header: header(inside) })
      assert.equal(fault?.code, code)
      assert.match(fault?.reason ?? '', /^\/L\[1\]/)
      assert.equal(fault?.detail, undefined, 'SOAP 1.1 §4.4: detail is for the Body')
    }
    assert.deepEqual(seen, [{ a: 'xx', b: 5 }])
  })

test('B2.9 B2.10 both structures of a fault, in their order', async () => {
  const missing = get.replace('o-1', 'o-nope')
  const new_ = await shop.post({ version: '1.2', body: missing })
  assert.deepEqual(
    new_.body?.elements().map(each => each.name.local),
    ['Code', 'Reason', 'Node', 'Role', 'Detail'],
  )
  assert.deepEqual([new_.fault?.code, new_.fault?.subcodes], ['Sender', ['NotFound']])
  assert.equal(find(new_.body, 'Node')?.text, 'http://shop.example/soap/v1')
  assert.equal(find(new_.body, 'Role')?.text, `${ns12}/role/ultimateReceiver`)
  const old = await shop.post({ version: '1.1', body: missing })
  assert.deepEqual(
    old.body?.elements().map(each => [each.name.uri, each.name.local].join('')),
    ['faultcode', 'faultstring', 'faultactor', 'detail'],
  )
  assert.equal(find(old.fault?.detail, 'NotFound')?.name.uri, ns, 'B7.4 the declared element')
})

test('B7.3 a bug of ours is Receiver with an incident id and nothing else', async () => {
  const broken = await startConversation(
    {},
    {
      blocks: [
        block({
          namespace: 'urn:t',
          name: 'B',
          content: t.string(),
          process: () => {
            throw new Error('secret /path')
          },
        }),
      ],
    },
  )
  const answer = await broken.post({ version: '1.2', body: get, header: '<B xmlns="urn:t">x</B>' })
  assert.deepEqual([answer.status, answer.fault?.code], [500, 'Receiver'])
  assert.match(find(answer.fault?.detail, 'incident')?.text ?? '', /^id\d+$/)
  assert.doesNotMatch(answer.text, /secret/)
  assert.equal(broken.incidents.length, 1)
})

test('B7.2 content that breaks the schema: Sender with the path of the element; a bound: Invalid', async () => {
  const schema = await requireFault({ version: '1.2', body: create().replace('>2<', '>two<') }, 'Sender')
  assert.equal(
    find(schema.fault?.detail, 'violation', 'path')?.text,
    '/CreateOrder[1]/order[1]/lines[1]/line[1]/quantity[1]',
  )
  for (const [quantity, limit] of [
    ['2147483648', '2147483647'],
    ['-2147483649', '-2147483648'],
  ] as const) {
    const wide = await requireFault({ version: '1.2', body: create().replace('>2<', `>${quantity}<`) }, 'Sender')
    assert.equal(
      find(wide.fault?.detail, 'violation', 'path')?.text,
      '/CreateOrder[1]/order[1]/lines[1]/line[1]/quantity[1]',
      'XML Schema Part 2 §3.3.17: it is no xs:int, whatever bounds the field has',
    )
    assert.ok(find(wide.fault?.detail, 'violation', 'detail')?.text.includes(limit))
  }
  const line = '<line><product>p-1</product><quantity>0</quantity></line>'
  const bounds = await requireFault({ version: '1.2', body: create().replace('</lines>', `${line}</lines>`) }, 'Sender')
  const problem = find(bounds.fault?.detail, 'Invalid', 'problems', 'problem')
  assert.equal(find(problem, 'path')?.text, '/CreateOrder[1]/order[1]/lines[1]/line[2]/quantity[1]')
  assert.match(
    bounds.fault?.reason ?? '',
    /^\/CreateOrder\[1\]\/order\[1\]\/lines\[1\]\/line\[2\]\/quantity\[1\] must be at least 1$/,
  )
  const unknown = await requireFault({ version: '1.2', body: create().replace('p-1', 'p-nope') }, 'Sender')
  assert.equal(
    find(unknown.fault?.detail, 'Invalid', 'problems', 'problem', 'path')?.text,
    '/CreateOrder[1]/order[1]/lines[1]/line[1]/product[1]',
  )
})

test('P20 P21 the binding receives one octet in each chunk; ]]> returns as it was sent', async () => {
  const answer = await shop.post({
    version: '1.2',
    body: `<SearchOrders xmlns="${ns}"><q>a]]&gt;b &amp;lt; ]]&gt;</q></SearchOrders>`,
  })
  assert.equal(answer.status, 200)
})

test('P27 xsi:schemaLocation is ignored', async () => {
  const hinted = get.replace(
    '>',
    ' xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="urn:x http://127.0.0.1/x.xsd">',
  )
  assert.equal((await shop.post({ version: '1.1', body: hinted })).status, 200)
})

test('RFC 7303 §3: a message in ISO-8859-1 is read by its charset, which its declaration may not contradict', async () => {
  const send = (declared: string, charset: string) => {
    const raw = Buffer.from(`<?xml version="1.0"${declared}?><!-- caf\xe9 -->${envelope(get)}`, 'latin1')
    return shop.post({ raw, as: `text/xml; charset=${charset}` })
  }
  assert.equal((await send('', 'ISO-8859-1')).status, 200)
  assert.equal((await send(' encoding="iso-8859-1"', 'ISO-8859-1')).status, 200)
  assert.equal((await send(' encoding="UTF-8"', 'ISO-8859-1')).fault?.code, 'Client')
  assert.equal((await send('', 'utf-8')).fault?.code, 'Client', 'the octet of é is no UTF-8')
})

test('P18 UTF-16 is read by its mark; a charset and a mark that contradict each other are refused', async () => {
  const raw = Buffer.from(`\ufeff${envelope(get)}`, 'utf16le')
  assert.equal((await shop.post({ raw, as: 'text/xml' })).status, 200)
  assert.equal((await shop.post({ raw, as: 'text/xml; charset=utf-16' })).status, 200)
  assert.equal((await shop.post({ raw, as: 'text/xml; charset=utf-8' })).fault?.code, 'Client')
})
