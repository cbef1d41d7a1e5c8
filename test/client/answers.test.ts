/** What counts as a reply, and what does not: by rule and by clause, in both versions of SOAP. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AnswerError,
  block,
  type FailureReason,
  FaultError,
  type SoapClientOptions,
  type TransportResponse,
} from '../../src/client/index.ts'
import { t } from '../../src/contract/field.ts'
import { came, envelope, mediaType, ns, ns11, ns12, product, recordRequests } from './canned.ts'

const versions = ['1.1', '1.2'] as const
type Number = (typeof versions)[number]
const uri = { '1.1': ns11, '1.2': ns12 }
const x = (attributes = '') => `<x:Block xmlns:x="urn:x"${attributes}>x</x:Block>`

/** The error that an incoming message is for a call; undefined when it is a reply. */
async function heard(answer: TransportResponse, options: Partial<SoapClientOptions<'v2'>>): Promise<unknown> {
  const { client } = recordRequests(answer, options)
  return client.GetProduct({ id: 'p-1' }).then(
    ({ product }) => assert.deepEqual(product, { id: 'p-1', name: 'Tea', price: '4.95', stock: 3, version: '7' }),
    thrown => thrown,
  )
}

/** [title, what comes in a version, why it is not a reply] */
const refused: readonly (readonly [string, (version: Number) => TransportResponse, FailureReason, RegExp])[] = [
  // Not SOAP
  [
    'a page with an error',
    () => came(502, 'text/html', '<!doctype html><h1>Bad Gateway'),
    'status',
    /502 with text\/html/,
  ],
  ['a page that says all is well', () => came(200, 'text/html', '<h1>Sign in'), 'media-type', /text\/html/],
  ['JSON', () => came(200, 'application/json', '{}'), 'media-type', /json/],
  ['a status and nothing else', () => came(503, undefined), 'status', /503/],
  ['no media type', () => came(200, undefined, 'x'), 'media-type', /no media type/],
  ['an invalid media type', () => came(200, 'xml', 'x'), 'media-type', /xml/],
  [
    '301, never followed',
    () => came(301, undefined, '', { location: 'http://other.example/' }),
    'redirect',
    /other\.example/,
  ],
  ['307, never followed', () => came(307, 'text/html', 'x', { location: '/there' }), 'redirect', /\/there/],
  ['304', () => came(304, undefined), 'redirect', /304/],
  ['202 where an answer is declared', () => came(202, undefined), 'empty', /202/],
  ['200 and nothing', v => came(200, mediaType[v]), 'empty', /200/],
  [
    'a coding that was not asked for',
    v => came(200, mediaType[v], 'x', { 'content-encoding': 'gzip' }),
    'coding',
    /gzip/,
  ],
  [
    'a charset that is not read',
    v => came(200, `${mediaType[v].split(';')[0]}; charset=ISO-2022-JP`, envelope(v, product)),
    'media-type',
    /ISO-2022-JP/,
  ],
  // Not XML
  ['not XML', v => came(200, mediaType[v], 'hello'), 'malformed', /octet/],
  ['cut short', v => came(200, mediaType[v], envelope(v, product).slice(0, -20)), 'malformed', /octet/],
  ['cut short in the middle', v => came(200, mediaType[v], envelope(v, product).slice(0, 200)), 'malformed', /octet/],
  [
    'not well-formed behind the Body',
    v => came(200, mediaType[v], envelope(v, product).replace(/<\/e:Envelope>$/, '</e:Envelopes>')),
    'malformed',
    /octet/,
  ],
  ['something behind the Envelope', v => came(200, mediaType[v], `${envelope(v, product)}<x/>`), 'malformed', /octet/],
  [
    'P a DTD',
    v => came(200, mediaType[v], `<!DOCTYPE x [<!ENTITY a "b">]>${envelope(v, product)}`),
    'malformed',
    /octet/,
  ],
  [
    'P deep nesting that is not the reply: refused at its first element',
    v => came(200, mediaType[v], envelope(v, `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`)),
    'unexpected',
    /not the reply of this operation/,
  ],
  [
    'longer than answers may be',
    v => came(200, mediaType[v], envelope(v, product.padEnd(5000))),
    'malformed',
    /too long/,
  ],
  // Not a message
  ['B4.7 XML that is not an Envelope', v => came(200, mediaType[v], product), 'structure', /Envelope/],
  [
    'B2.1 an Envelope of no version',
    v => came(200, mediaType[v], '<e:Envelope xmlns:e="urn:x"><e:Body/></e:Envelope>'),
    'structure',
    /urn:x/,
  ],
  [
    'B4.2 the other version’s media type',
    v => came(200, mediaType[v === '1.1' ? '1.2' : '1.1'], envelope(v, product)),
    'structure',
    /must not be sent as/,
  ],
  [
    'B9.1 an answer in the other version',
    v => {
      const o = v === '1.1' ? '1.2' : '1.1'
      return came(200, mediaType[o], envelope(o, product))
    },
    'structure',
    /the reply is in SOAP/,
  ],
  ['B2.2 no Body', v => came(200, mediaType[v], `<e:Envelope xmlns:e="${uri[v]}"/>`), 'structure', /Body/],
  ['an empty Body', v => came(200, mediaType[v], envelope(v, '')), 'structure', /no element/],
  ['text in the Body', v => came(200, mediaType[v], envelope(v, 'x')), 'structure', /no element/],
  [
    'something behind the answer',
    v => came(200, mediaType[v], envelope(v, `${product}<x/>`)),
    'structure',
    /more than one/,
  ],
  [
    'something behind the Body',
    v => came(200, mediaType[v], envelope(v, product).replace('</e:Body>', '</e:Body><x/>')),
    'structure',
    /has content after the Body/,
  ],
  [
    'a message that is not a fault with status 500',
    v => came(500, mediaType[v], envelope(v, product)),
    'status',
    /500/,
  ],
  [
    'something behind a Fault',
    v => came(500, mediaType[v], envelope(v, '<e:Fault/><x/>')),
    'structure',
    /after the Fault/,
  ],
  [
    'not well-formed behind a Fault',
    v => came(500, mediaType[v], envelope(v, '<e:Fault/>').slice(0, -3)),
    'malformed',
    /octet/,
  ],
  // Not understood
  [
    'B2.4 mustUnderstand="1"',
    v => came(200, mediaType[v], envelope(v, product, x(' e:mustUnderstand="1"'))),
    'not-understood',
    /urn:x/,
  ],
  [
    'B2.4 mustUnderstand="true"',
    v => came(200, mediaType[v], envelope(v, product, x(' e:mustUnderstand="true"'))),
    'not-understood',
    /urn:x/,
  ],
  [
    'B2.4 mandatory for whoever is next',
    v =>
      came(
        200,
        mediaType[v],
        envelope(
          v,
          product,
          x(
            ` e:mustUnderstand="1" ${v === '1.1' ? 'e:actor="http://schemas.xmlsoap.org/soap/actor/next"' : `e:role="${ns12}/role/next"`}`,
          ),
        ),
      ),
    'not-understood',
    /urn:x/,
  ],
  [
    'B2.4 in a fault',
    v => came(500, mediaType[v], envelope(v, '<e:Fault/>', x(' e:mustUnderstand="1"'))),
    'not-understood',
    /urn:x/,
  ],
  [
    'WS-Addressing that was not asked for, and must be understood',
    v =>
      came(
        200,
        mediaType[v],
        envelope(
          v,
          product,
          '<a:RelatesTo xmlns:a="http://www.w3.org/2005/08/addressing" e:mustUnderstand="1">urn:x</a:RelatesTo>',
        ),
      ),
    'not-understood',
    /RelatesTo/,
  ],
  // Not the answer
  [
    'the answer of another operation',
    v => came(200, mediaType[v], envelope(v, `<GetOrderResponse xmlns="${ns}"/>`)),
    'unexpected',
    /GetOrderResponse/,
  ],
  [
    'the request',
    v => came(200, mediaType[v], envelope(v, `<GetProduct xmlns="${ns}"><id>p-1</id></GetProduct>`)),
    'unexpected',
    /GetProduct/,
  ],
  [
    'B9.3 of another version of the contract',
    v => came(200, mediaType[v], envelope(v, product.replace(':v2', ':v1'))),
    'unexpected',
    /orders:v1/,
  ],
  [
    'a Fault of another namespace',
    v => came(200, mediaType[v], envelope(v, '<Fault xmlns="urn:x"/>')),
    'unexpected',
    /urn:x/,
  ],
  // Not of the contract
  [
    'an element that is missing',
    v => came(200, mediaType[v], envelope(v, product.replace('<stock>3</stock>', ''))),
    'invalid',
    /product\[1\].*stock/,
  ],
  [
    'an element that is not declared',
    v => came(200, mediaType[v], envelope(v, product.replace('<stock>', '<more/><stock>'))),
    'invalid',
    /more\[1\]/,
  ],
  [
    'out of order',
    v => came(200, mediaType[v], envelope(v, product.replace(/(<name>.*<\/name>)(<price>.*<\/price>)/, '$2$1'))),
    'invalid',
    /out of order/,
  ],
  [
    'of no namespace',
    v => came(200, mediaType[v], envelope(v, product.replace('<id>', '<id xmlns="">'))),
    'invalid',
    /id\[1\]/,
  ],
  [
    'an invalid number',
    v => came(200, mediaType[v], envelope(v, product.replace('>3<', '>three<'))),
    'invalid',
    /stock\[1\] must be a whole number/,
  ],
  [
    'a value outside its bounds',
    v => came(200, mediaType[v], envelope(v, product.replace('>3<', '>-3<'))),
    'invalid',
    /stock\[1\] must be at least 0/,
  ],
  [
    'an attribute that is not declared',
    v => came(200, mediaType[v], envelope(v, product.replace('<stock>', '<stock a="b">'))),
    'invalid',
    /attribute a/,
  ],
  [
    'nil where nothing may be',
    v =>
      came(
        200,
        mediaType[v],
        envelope(
          v,
          product.replace('<stock>3', '<stock xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true">'),
        ),
      ),
    'invalid',
    /nil/,
  ],
  [
    'another type',
    v =>
      came(
        200,
        mediaType[v],
        envelope(
          v,
          product.replace('<stock>', '<stock xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="x">'),
        ),
      ),
    'invalid',
    /type/,
  ],
]

for (const version of versions)
  describe(`SOAP ${version}: not a reply`, () => {
    for (const [title, answer, why, detail] of refused)
      test(title, async () => {
        const answered = answer(version)
        const thrown = await heard(answered, { soap: version, longest: 4000 })
        assert.ok(thrown instanceof AnswerError, String(thrown))
        assert.equal(thrown.why, why, thrown.message)
        assert.match(thrown.message, detail)
        assert.match(thrown.message, /^GetProduct: /)
        assert.equal(thrown.status, answered.status)
        assert.deepEqual(thrown.content, answered.content, 'what came is there to be looked at')
      })
  })

/** [title, what comes in a version] */
const taken: readonly (readonly [string, (version: Number) => TransportResponse])[] = [
  ['B4.4 an answer', v => came(200, mediaType[v], envelope(v, product))],
  ['a BOM', v => came(200, mediaType[v], `\ufeff${envelope(v, product)}`)],
  [
    'UTF-16',
    v => came(200, mediaType[v].replace('utf-8', 'utf-16'), Buffer.from(`\ufeff${envelope(v, product)}`, 'utf16le')),
  ],
  [
    'ISO-8859-1, as old toolkits write it',
    v => {
      const text = `<?xml version="1.0" encoding="ISO-8859-1"?><!-- caf\xe9 -->${envelope(v, product)}`
      return came(200, mediaType[v].replace('utf-8', 'ISO-8859-1'), Buffer.from(text, 'latin1'))
    },
  ],
  ['no charset', v => came(200, mediaType[v].split(';')[0], envelope(v, product))],
  [
    'B2.3 a block for another',
    v =>
      came(
        200,
        mediaType[v],
        envelope(v, product, x(` e:mustUnderstand="1" ${v === '1.1' ? 'e:actor' : 'e:role'}="urn:other"`)),
      ),
  ],
  ['B2.4 a block that may be passed over', v => came(200, mediaType[v], envelope(v, product, x()))],
  [
    'white space, comments, prefixes',
    v =>
      came(
        200,
        mediaType[v],
        envelope(v, `\n <!-- x -->${product.replaceAll(/<(\/?)(\w)/g, '<$1p:$2').replace('xmlns=', 'xmlns:p=')}\n`),
      ),
  ],
  [
    'hints of schemas',
    v =>
      came(
        200,
        mediaType[v],
        envelope(
          v,
          product.replace(
            '<stock>',
            '<stock xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:s="http://www.w3.org/2001/XMLSchema" i:type="s:int">',
          ),
        ),
      ),
  ],
]
for (const version of versions)
  describe(`SOAP ${version}: what is an answer`, () => {
    for (const [title, answer] of taken)
      test(title, async () => assert.equal(await heard(answer(version), { soap: version }), undefined))
  })

test('fields that only the server sets are in the reply', async () => {
  const order = `<GetOrderResponse xmlns="${ns}"><order><id>o-1</id><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity><price>4.95</price></line></lines><currency>EUR</currency><total>9.90</total><placedAt>2026-01-01T09:00:00Z</placedAt><state>paid</state><paidAt>2026-01-02T09:00:00Z</paidAt><version>2</version></order></GetOrderResponse>`
  const { client } = recordRequests(came(200, mediaType['1.2'], envelope('1.2', order)))
  assert.deepEqual((await client.GetOrder({ id: 'o-1' })).order, {
    id: 'o-1',
    customer: 'c-1',
    lines: [{ product: 'p-1', quantity: 2, price: '4.95' }],
    currency: 'EUR',
    total: '9.90',
    placedAt: '2026-01-01T09:00:00Z',
    state: 'paid',
    paidAt: '2026-01-02T09:00:00Z',
    version: '2',
  })
})

test('every value outside its bounds is reported, with its place', async () => {
  const two = product.replace('>3<', '>-3<').replace('>4.95<', '>-1.00<')
  const { client } = recordRequests(came(200, mediaType['1.2'], envelope('1.2', two)))
  await assert.rejects(client.GetProduct({ id: 'p-1' }), (thrown: unknown) => {
    assert.ok(thrown instanceof AnswerError)
    assert.deepEqual(
      thrown.problems.map(each => each.path),
      ['/GetProductResponse[1]/product[1]/price[1]', '/GetProductResponse[1]/product[1]/stock[1]'],
    )
    return true
  })
})

describe('B4.10 one-way', () => {
  const rows: readonly (readonly [string, TransportResponse, undefined | 'fault' | FailureReason])[] = [
    ['202', came(202, undefined), undefined],
    ['200 and nothing', came(200, undefined), undefined],
    ['204', came(204, undefined), undefined],
    ['WS-I BP R2750: an envelope is passed over', came(202, mediaType['1.2'], envelope('1.2', product)), undefined],
    ['a fault', came(500, mediaType['1.2'], envelope('1.2', '<e:Fault/>')), 'fault'],
    ['a page with an error', came(502, 'text/html', 'x'), 'status'],
    ['401', came(401, undefined), 'status'],
  ]
  for (const [title, answer, expected] of rows)
    test(title, async () => {
      const { client } = recordRequests(answer)
      const thrown = await client.NotifyDelivery({ id: 'o-1' }).then(
        said => said,
        thrown => thrown,
      )
      if (expected === 'fault') assert.ok(thrown instanceof FaultError)
      else assert.equal(thrown instanceof AnswerError ? thrown.why : thrown, expected)
    })
})

describe('blocks that are understood here', () => {
  const seen: string[] = []
  const quota = block({
    namespace: 'urn:x',
    name: 'Quota',
    content: t.int(),
    process: left => void seen.push(`${left}`),
  })
  const q = (content: string) => `<x:Quota xmlns:x="urn:x" e:mustUnderstand="1">${content}</x:Quota>`
  test('are processed, mandatory or not', async () => {
    assert.equal(
      await heard(came(200, mediaType['1.2'], envelope('1.2', product, q('7'))), { blocks: [quota] }),
      undefined,
    )
    assert.deepEqual(seen.splice(0), ['7'])
  })
  test('are not processed before all are known to be understood, and read', async () => {
    for (const [header, body] of [
      [q('7') + x(' e:mustUnderstand="1"'), product],
      [q('7'), product.replace('>3<', '>x<')],
    ] as const)
      assert.ok(
        (await heard(came(200, mediaType['1.2'], envelope('1.2', body, header)), { blocks: [quota] })) instanceof
          AnswerError,
      )
    assert.deepEqual(seen, [])
  })
  test('that break their schema are none', async () => {
    const thrown = await heard(came(200, mediaType['1.2'], envelope('1.2', product, q('many'))), { blocks: [quota] })
    assert.equal(thrown instanceof AnswerError && thrown.why, 'invalid')
  })
})

test('pages of a list whose cursors go in a circle end with an error', async () => {
  const page = (cursor: number) =>
    `<ListProductsResponse xmlns="${ns}"><products/><next>c${cursor}</next></ListProductsResponse>`
  const { client, sent } = recordRequests(({ text }) => {
    const asked = Number(/<cursor>c(\d)/.exec(text)?.[1] ?? 0)
    return came(200, mediaType['1.2'], envelope('1.2', page((asked % 4) + 1)))
  })
  await assert.rejects(
    async () => {
      for await (const _ of client.products.list().pages()) assert.ok(sent.length < 9)
    },
    (thrown: unknown) => thrown instanceof AnswerError && thrown.why === 'structure' && /c1/.test(thrown.message),
  )
  assert.equal(sent.length, 5)
})
