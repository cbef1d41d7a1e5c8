/**
 * Rule B4.12, packages: MTOM and XOP both ways, SOAP with Attachments in requests; attacks M; the
 * messages of Spring-WS's own suite.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { type Content, contentOf } from '../../src/http/message.ts'
import { Refused } from '../../src/service/refusal.ts'
import { type PackagePart, readParts } from '../../src/soap/mime/multipart.ts'
import { readPackage } from '../../src/soap/mime/parts.ts'
import { bareElement } from '../../src/soap/operations/custom-operation.ts'
import { suites } from '../suites.ts'
import { assertReleased, heldOctets } from '../support/held-memory.ts'
import { likePng } from '../support/png.ts'
import { createEchoNode } from './echo.ts'
import {
  type Conversation,
  envelope,
  find,
  mediaType,
  ns,
  octets,
  readAnswer,
  startConversation,
} from './orders-over-soap.ts'

const picture = Buffer.from(likePng(Uint8Array.from([...Array(264).keys(), 13, 10, 45, 45, 13, 10])))
const put = (inside: string, id = 'p-1') =>
  `<PutProductPicture xmlns="${ns}"><id>${id}</id><picture>${inside}</picture><mediaType>image/png</mediaType></PutProductPicture>`
const xop = (href: string) => `<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="${href}"/>`

interface Pack {
  readonly version?: '1.1' | '1.2'
  readonly body: string
  readonly parts?: readonly (readonly [fields: string, bytes: Uint8Array | string])[]
  readonly type?: string
  readonly root?: string
  readonly end?: string
}
const image = (id = 'pic@x') => `Content-Type: image/png\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>`
function pack({ version = '1.1', body, parts = [[image(), picture]], root, end = '--' }: Pack): Buffer {
  const media = mediaType(version)
  const head = root ?? `Content-Type: application/xop+xml; charset=utf-8; type="${media}"\r\nContent-ID: <root@x>`
  const all = [[head, envelope(body, { version })] as const, ...parts]
  return Buffer.concat([
    ...all.flatMap(([fields, bytes]) => [
      Buffer.from(`--B\r\n${fields}\r\n\r\n`),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--B${end}\r\n`),
  ])
}
const mtom = (version: '1.1' | '1.2' = '1.1') =>
  `multipart/related; boundary=B; type="application/xop+xml"; start="<root@x>"; start-info="${mediaType(version)}"`

async function send(shop: Conversation, message: Pack, bytes: Uint8Array = pack(message)) {
  const fields = { 'content-type': message.type ?? mtom(message.version), authorization: 'Bearer maria' }
  return shop.send({ fields, content: contentOf(bytes) })
}

for (const version of ['1.1', '1.2'] as const)
  test(`B4.12 MTOM in and out, SOAP ${version}`, async () => {
    const shop = await startConversation()
    const stored = await send(shop, { version, body: put(xop('cid:pic@x')) })
    assert.equal(stored.status, 200, (await octets(stored.content)).toString())
    const asked = await shop.send({
      fields: {
        'content-type': mediaType(version),
        accept: `multipart/related; type="application/xop+xml", ${mediaType(version)}`,
      },
      content: contentOf(envelope(`<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>`, { version })),
    })
    const type = String(asked.fields['content-type'])
    assert.match(
      type,
      new RegExp(
        `^multipart/related; type="application/xop\\+xml"; start="<root@diglot>"; start-info="${mediaType(version).replace('+', '\\+')}"; boundary=`,
      ),
    )
    const [root, file, ...more] = await read(octets(asked.content), /boundary="([^"]+)"/.exec(type)?.[1] ?? '')
    assert.equal(more.length, 0)
    assert.match(root?.fields['content-type'] ?? '', /^application\/xop\+xml; charset=utf-8; type="/)
    assert.match(
      root?.bytes.toString() ?? '',
      /<picture><xop:Include xmlns:xop="[^"]+" href="cid:1@diglot"\/><\/picture>/,
    )
    assert.deepEqual([file?.fields['content-id'], file?.fields['content-type']], ['<1@diglot>', 'image/png'])
    assert.deepEqual(file?.bytes, picture)
    const plain = await shop.post({
      version,
      body: `<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>`,
    })
    assert.equal(find(plain.body, 'picture')?.text, picture.toString('base64'), 'inside the XML for who did not ask')
  })

for (const [title, type, root] of [
  ['of the package', 'Multipart/Related; boundary=B; type=application/xop+xml; start=<root@x>; start-info=text/xml;'],
  ['beside quotes', 'multipart/related; type=application/xop+xml; start-info="text/xml; a=b;c=d;"; boundary="B"'],
  ['of its root', mtom(), 'Content-Type: application/xop+xml; charset=utf-8; type=text/xml\r\nContent-ID: <root@x>'],
] as const)
  test(`B4.12 RFC 2045 §5.1 a value without its quotes: ${title}`, async () => {
    const message = { body: put(xop('cid:pic@x')), type, ...(root && { root }) }
    assert.equal((await send(await startConversation(), message)).status, 200)
  })
for (const type of [
  'multipart/related; boundary=B; type=text/xml text/xml; start="<root@x>"',
  'multipart/related; boundary=B; type=text/xml"; start="<root@x>"',
  'text/xml; charset=utf/8',
])
  test(`B4.2 not a valid media type either: ${type}`, async () => {
    assert.equal((await send(await startConversation(), { body: put(xop('cid:pic@x')), type })).status, 415)
  })

async function read(bytes: Promise<Uint8Array>, boundary: string) {
  const found: { fields: PackagePart['fields']; bytes: Buffer }[] = []
  for await (const part of readParts(contentOf(await bytes).chunks(), boundary)) {
    const pieces: Uint8Array[] = []
    for await (const piece of part.content) pieces.push(piece)
    found.push({ fields: part.fields, bytes: Buffer.concat(pieces) })
  }
  return found
}

for (const [accept, isPacked] of [
  ['application/xop+xml', true],
  ['multipart/related; type="application/xop+xml"', true],
  ['multipart/related; type="Application/XOP+xml"; q=0.5, text/xml', true],
  ['multipart/related', false],
  ['application/soap+xml, application/dime, multipart/related, text/*', false],
  ['multipart/related; type="text/xml"', false],
  ['application/xop+xml; q=0', false],
  ['*/*', false],
] as const)
  test(`B4.12 ${isPacked ? 'a package' : 'base64 in the message'} for Accept: ${accept}`, async () => {
    const shop = await startConversation()
    assert.equal((await send(shop, { body: put(xop('cid:pic@x')) })).status, 200)
    const body = envelope(`<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>`)
    const answer = await shop.send({ fields: { 'content-type': 'text/xml', accept }, content: contentOf(body) })
    assert.equal(String(answer.fields['content-type']).startsWith('multipart/related'), isPacked)
  })

test('xml-media-types §2.1 octets may name their media type, and have no other attribute', async () => {
  const shop = await startConversation()
  const message = (attribute: string) => ({
    body: put(xop('cid:pic@x')).replace(
      '<picture>',
      `<picture xmlns:m="http://www.w3.org/2005/05/xmlmime" ${attribute}>`,
    ),
  })
  assert.equal((await send(shop, message('m:contentType="image/png"'))).status, 200)
  for (const attribute of ['m:other="x"', 'contentType="image/png"'])
    assert.equal((await send(shop, message(attribute))).status, 500, attribute)
})
test('B4.12 RFC 2046 §5.1.1 octets after the last boundary are ignored', async () => {
  const shop = await startConversation()
  for (const end of ['--', '--\t ', '--\r\n\r\nPOST / HTTP/1.1', `--\r\n--B\r\n${image()}\r\n\r\nx`]) {
    const answer = await send(shop, { body: put(xop('cid:pic@x')), end })
    assert.equal(answer.status, 200, end)
  }
  const answer = await readAnswer(await send(shop, { body: put(xop('cid:pic@x')), end: '--x' }))
  assert.match(answer.fault?.reason ?? '', /begins like the boundary/)
})

test('B4.12 RFC 2046 §5.1.1 a part with only fields: their empty line begins the next delimiter', async () => {
  const bytes = Buffer.from('--B\r\nContent-ID: <a>\r\n\r\n--B\r\n\r\n--B\r\nA: b\r\n\r\n--\r\n--B--')
  const parts = [
    { fields: { 'content-id': '<a>' }, text: '' },
    { fields: {}, text: '' },
    { fields: { a: 'b' }, text: '--' },
  ]
  for (const size of [1, 2, 7, bytes.length]) {
    const found: unknown[] = []
    for await (const { fields, content } of readParts(cutInto(bytes, size), 'B')) {
      let text = ''
      for await (const piece of content) text += Buffer.from(piece).toString()
      found.push({ fields: { ...fields }, text })
    }
    assert.deepEqual(found, parts, `${size} octets a chunk`)
  }
})
async function* cutInto(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size))
}

test('B4.12 RFC 2046 §4.1.1 the refusal of a package with bare LF says so', async () => {
  const shop = await startConversation()
  for (const padding of [0, 20_000]) {
    const message = pack({ body: put(xop('cid:pic@x')), parts: [[image(), 'x'.repeat(padding)]] })
    const bytes = Buffer.from(message.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    const { fault } = await readAnswer(await send(shop, { body: '' }, bytes))
    assert.equal(fault?.reason, 'the lines of a package must end with CRLF, not just LF')
  }
})

test('peers 10 a request in a package without parts gets its response in one', async () => {
  const shop = await startConversation()
  const answer = await send(shop, { body: `<GetOrder xmlns="${ns}"><id>o-1</id></GetOrder>`, parts: [] })
  assert.equal(answer.status, 200)
  assert.match(String(answer.fields['content-type']), /^multipart\/related/)
})

test('SOAP with Attachments in: by an attribute, and by WS-I’s reference', async () => {
  const shop = await startConversation()
  const root = 'Content-Type: text/xml; charset=utf-8'
  const type = 'multipart/related; boundary="B"; type="text/xml"'
  for (const body of [put('').replace('<picture>', '<picture href="cid:pic@x">'), put('cid:pic@x')]) {
    const answer = await send(shop, { body, root, type })
    assert.equal(answer.status, 200, (await octets(answer.content)).toString())
  }
  const kept = await shop.post({ body: `<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>` })
  assert.equal(find(kept.body, 'picture')?.text, picture.toString('base64'))
})

test('peers 10 Content-ID without brackets, escaped in the reference, base64 as transfer encoding, folded fields, a preamble', async () => {
  const shop = await startConversation()
  for (const [fields, href, bytes] of [
    ['Content-Type: image/png\r\nContent-ID: a', 'cid:a', picture],
    ['Content-Type: image/png\r\nContent-ID: <a b%@x>', 'cid:a%20b%25@x', picture],
    [
      'Content-Type: image/png\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64',
      'cid:a',
      picture.toString('base64').replace(/.{60}/g, '$&\r\n'),
    ],
    ['Content-Type: image/png;\r\n name="x"\r\nContent-ID:\r\n\t<a>', 'cid:a', picture],
    ['Content-Type: image/png (a (nested) picture)\r\nContent-ID: (c) <a>', 'cid:a', picture],
    ['Content-ID: <a>\r\nContent-Transfer-Encoding: (c) base64 (d)', 'cid:a', picture.toString('base64')],
    ['Content-ID: <ä@x>', 'cid:%C3%A4@x', picture],
    ['Content-ID: <ä@x>', 'cid:ä@x', picture],
  ] as const) {
    const bytesOf = pack({ body: put(xop(href)), parts: [[fields, bytes]] })
    const answer = await send(shop, { body: '' }, Buffer.concat([Buffer.from('a preamble\r\n'), bytesOf]))
    assert.equal(answer.status, 200, (await octets(answer.content)).toString())
  }
})

test('RFC 2045 §5.1 the Content-Type of the root may have comments, which quotes protect', async () => {
  const shop = await startConversation()
  const rootWith = (type: string) => `Content-Type: ${type}\r\nContent-ID: <root@x>`
  for (const [type, status] of [
    ['application/xop+xml (XOP); charset=utf-8 (\\) "); type="text/xml"', 200],
    ['application/xop+xml; type="text/xml"; note="(not a comment"', 200],
    ['text/plain (application/xop+xml); type="text/xml"', 415],
  ] as const) {
    const { status: found } = await send(shop, { body: put(xop('cid:pic@x')), root: rootWith(type) })
    assert.equal(found, status, type)
  }
})

/** Octets as a mail program writes them: lines of 70 characters, with blanks added on the way. */
const quote = (octets: Uint8Array): string =>
  Array.from(octets, octet =>
    octet > 32 && octet < 127 && octet !== 61 ? String.fromCharCode(octet) : escapeOctet(octet),
  )
    .join('')
    .replace(/(?:=..|[^=]){70}/g, '$&= \t\r\n')
const escapeOctet = (octet: number): string => `=${octet.toString(16).toUpperCase().padStart(2, '0')}`
const long = Buffer.concat([picture, Buffer.alloc(300 * 1024, 7)])
const codedAs = (coding: string) =>
  `Content-Type: image/png\r\nContent-ID: <pic@x>\r\nContent-Transfer-Encoding: ${coding}`
const named = (id: string) => `Content-Type: image/png\r\nContent-ID: ${id}`
/** [title, fields of the part, its octets as sent, reference, or why it is refused] */
const partForms: readonly (readonly [string, string, string | Uint8Array, string, RegExp?])[] = [
  ['RFC 2045 §6.7 quoted-printable', codedAs('Quoted-Printable'), quote(picture), 'cid:pic@x'],
  [
    'RFC 2045 §6.7 lower-case digits',
    codedAs('quoted-printable'),
    quote(picture).replace(/=../g, each => each.toLowerCase()),
    'cid:pic@x',
  ],
  [
    'RFC 2045 §6.7 a sign without digits',
    codedAs('quoted-printable'),
    `${quote(picture)}=G0`,
    'cid:pic@x',
    /not valid quoted-printable/,
  ],
  [
    'RFC 2045 §6.7 a line without end',
    codedAs('quoted-printable'),
    'a'.repeat(999),
    'cid:pic@x',
    /not valid quoted-printable/,
  ],
  ['RFC 2045 §6.1 a comment', codedAs('base64 (of RFC 2045)'), picture.toString('base64'), 'cid:pic@x'],
  ['RFC 2045 §7 a comment', named('(one) <pic@x> (of one)'), picture, 'cid:pic@x'],
  ['RFC 2046 §5.1 fields of no meaning come twice', `X-A: 1\r\n${named('<pic@x>')}\r\nx-a: 2`, picture, 'cid:pic@x'],
  [
    'RFC 2045 §3 fields of MIME come once',
    `${named('<pic@x>')}\r\ncontent-id: <a>`,
    picture,
    'cid:pic@x',
    /two content-id fields/,
  ],
  ['RFC 2392 §2 escapes', named('<http://a/b c>'), picture, 'cid:http%3A%2F%2Fa%2Fb%20c'],
  ['RFC 2392 §2 an escaped escape', named('<a%40b>'), picture, 'cid:a%2540b'],
  [
    'RFC 2392 §2 a Content-ID that is written as it is',
    named('<1@http%3A%2F%2Fa%2F>'),
    picture,
    'cid:1@http%3A%2F%2Fa%2F',
  ],
  ['RFC 2392 §2 the same while it arrives', named('<1@http%3A%2F%2Fa%2F>'), long, 'cid:1@http%3A%2F%2Fa%2F'],
  ['RFC 2392 §2 what is no escape', named('<100%@x>'), picture, 'cid:100%@x'],
  ['XML Schema Part 2 §3.2.17 white space around the URI', named('<pic@x>'), picture, ' cid:pic@x\t'],
  ['RFC 2392 §2 another part', named('<pic@x>'), picture, 'cid:pic%2540x', /a referenced part is missing/],
]
for (const [title, fields, bytes, href, why] of partForms)
  test(`B4.12 ${title}: ${why ? 'refused' : 'taken'}`, async () => {
    const shop = await startConversation()
    const sent = await readAnswer(await send(shop, { body: put(xop(href)), parts: [[fields, bytes]] }))
    if (why) assert.match(sent.fault?.reason ?? '', why)
    else {
      assert.equal(sent.status, 200, sent.fault?.reason ?? '')
      const kept = await shop.post({ body: `<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>` })
      assert.equal(find(kept.body, 'picture')?.text, (bytes === long ? long : picture).toString('base64'))
    }
  })

test('MTOM §4 SOAP 1.2 the action of a package is in one of four places', async () => {
  const shop = await startConversation()
  const type = mtom('1.2')
  const root = (more: string) => `Content-Type: application/xop+xml; ${more}\r\nContent-ID: <root@x>`
  const soap = 'type="application/soap+xml"'
  for (const [where, message] of [
    ['the type of the root', { root: root('type="application/soap+xml; action=\\"urn:x\\""') }],
    ['the root part', { root: root(`${soap}; action="urn:x"`) }],
    ['the package', { type: `${type}; action="urn:x"`, root: root(soap) }],
    ['start-info', { type: type.replace('soap+xml"', 'soap+xml; action=\\"urn:x\\""'), root: root(soap) }],
  ] as const) {
    const sent = await readAnswer(await send(shop, { version: '1.2', body: put(xop('cid:pic@x')), ...message }))
    assert.match(sent.fault?.reason ?? '', /the action urn:x does not match/, where)
  }
})

test('RFC 9110 §12.5.3 a package may state that it has no content coding', async () => {
  const shop = await startConversation()
  for (const [coding, status] of [
    ['Identity', 200],
    ['gzip', 415],
  ] as const) {
    const fields = { 'content-type': mtom(), authorization: 'Bearer maria', 'content-encoding': coding }
    const answer = await shop.send({ fields, content: contentOf(pack({ body: put(xop('cid:pic@x')) })) })
    assert.equal(answer.status, status, coding)
  }
})

test('the root is the part that start names, in any place', async () => {
  const shop = await startConversation()
  const message = pack({ body: put(xop('cid:pic@x')) }).toString('latin1')
  const [, root, file] = message.split('--B\r\n')
  const swapped = `--B\r\n${(file ?? '').replace('--B--\r\n', '')}--B\r\n${root}--B--\r\n`
  assert.equal((await send(shop, { body: '' }, Buffer.from(swapped, 'latin1'))).status, 200)
})

const putWithReference = (reference: string) => ({ body: put(xop(reference)) })
/** [title, reason, package, status] */
const hostile: readonly (readonly [string, string, Pack, number])[] = [
  [
    'M1 a reference to http:',
    'a message may refer only to parts of its own package, by cid:',
    putWithReference('http://127.0.0.1/x'),
    500,
  ],
  [
    'M1 a reference to file:',
    'a message may refer only to parts of its own package, by cid:',
    putWithReference('file:///etc/passwd'),
    500,
  ],
  ['M1 a part that is missing', 'a referenced part is missing', putWithReference('cid:other@x'), 500],
  [
    'M1 an Include next to another',
    '/PutProductPicture[1]/picture[1]/Include[2] is not expected here: an Include stands alone',
    { body: `${put(xop('cid:pic@x')).replace('</picture>', `${xop('cid:pic@x')}</picture>`)}` },
    500,
  ],
  [
    'M1 an Include with text beside it',
    '/PutProductPicture[1]/picture[1]/Include[1] is an element where only text is expected',
    { body: put(`x${xop('cid:pic@x')}`) },
    500,
  ],
  [
    'M1 an Include where no octets belong',
    '/PutProductPicture[1]/id[1]/Include[1] is an element where only text is expected',
    { body: put('').replace('p-1', xop('cid:pic@x')) },
    500,
  ],
  [
    'M2 10,000 parts',
    'the package has more than 64 parts',
    { body: put(''), parts: Array.from({ length: 10_000 }, (_, i) => [image(`${i}`), 'x'] as const) },
    500,
  ],
  [
    'M2 10,000 fields',
    'a part has more than 32 fields',
    { body: put(''), parts: [[`${image()}${'\r\na: b'.repeat(10_000)}`, 'x']] },
    500,
  ],
  [
    'M2 a field of 1 MB',
    'the fields of a part are longer than the limit',
    { body: put(''), parts: [[`${image()}\r\na: ${'b'.repeat(1_000_000)}`, 'x']] },
    500,
  ],
  [
    'M2 a field folded 10,000 times',
    'the fields of a part are longer than the limit',
    { body: put(''), parts: [[`${image()}${'\r\n b'.repeat(10_000)}`, 'x']] },
    500,
  ],
  [
    'M2 two Content-IDs that are equal',
    'two parts have the same Content-ID',
    {
      body: put(xop('cid:pic@x')),
      parts: [
        [image(), 'x'],
        [image(), 'y'],
      ],
    },
    500,
  ],
  [
    'M2 two Content-IDs in one part',
    'a part has two Content-ID fields',
    { body: put(xop('cid:pic@x')), parts: [[`${image()}\r\nContent-ID: <b>`, 'x']] },
    500,
  ],
  ['M2 no last boundary', 'the package ends before its last boundary', { body: put(xop('cid:pic@x')), end: '' }, 500],
  [
    'M2 a line that begins like the boundary',
    'a line begins like the boundary but continues',
    { body: put(xop('cid:pic@x')), parts: [[image(), 'a\r\n--Bc\r\nd']] },
    500,
  ],
  [
    'M2 … before what would be another part',
    'a line begins like the boundary but continues',
    { body: put(xop('cid:pic@x')), parts: [[image(), 'a\r\n--Bc\r\n\r\nd']] },
    500,
  ],
  [
    'M3 no type anywhere',
    'this media type is not supported',
    { body: put(xop('cid:pic@x')), root: 'Content-ID: <root@x>' },
    415,
  ],
  [
    'M3 a type that is none of SOAP’s',
    'this media type is not supported',
    { body: put(xop('cid:pic@x')), root: 'Content-Type: text/html\r\nContent-ID: <root@x>' },
    415,
  ],
  [
    'M3 start names no part',
    'the root part of the package is missing',
    { body: put(xop('cid:pic@x')), type: mtom().replace('root@x', 'nobody') },
    500,
  ],
  [
    'M3 H4 no boundary',
    'multipart/related has no boundary parameter',
    { body: put(xop('cid:pic@x')), type: 'multipart/related; type="application/xop+xml"' },
    415,
  ],
  [
    'M3 a boundary that is none',
    'the boundary is invalid',
    { body: put(''), type: `multipart/related; boundary="${'x'.repeat(71)}"; type="application/xop+xml"` },
    500,
  ],
  [
    'M4 a part over its limit',
    'the message is longer than the limit of 8388608 octets',
    { body: put(xop('cid:pic@x')), parts: [[image(), Buffer.alloc(8 * 1024 * 1024)]] },
    413,
  ],
  [
    'M4 an Envelope over its limit',
    'the message is longer than the limit of 8388608 octets',
    { body: `${put('')}${' '.repeat(2 * 1024 * 1024)}` },
    413,
  ],
  [
    'a transfer encoding that is not read',
    'this transfer encoding is not supported: use binary, 8bit, 7bit, base64 or quoted-printable',
    { body: put(xop('cid:pic@x')), parts: [[image().replace('binary', 'x-uuencode'), 'x']] },
    500,
  ],
]
for (const [title, reason, message, status] of hostile)
  test(title, async () => {
    const shop = await startConversation()
    const before = process.memoryUsage().arrayBuffers
    const chunked: Content = { ...contentOf(pack(message)), length: undefined }
    const answer = await shop.send({
      fields: { 'content-type': message.type ?? mtom(), authorization: 'Bearer maria' },
      content: chunked,
    })
    assert.equal(answer.status, status, (await octets(answer.content)).toString())
    const { fault, text } = await readAnswer(answer)
    assert.equal(fault !== undefined, status === 500)
    assert.ok((fault?.reason ?? text).includes(reason), `${fault?.reason ?? text} does not say: ${reason}`)
    assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024)
    assert.deepEqual(shop.incidents, [])
    assert.equal((await shop.store.read(reader => reader.changes(0, 9))).length, 0)
  })

for (const [version, type, root] of [
  ['1.1', mtom('1.1'), undefined],
  ['1.2', mtom('1.2'), undefined],
  ['1.1', 'multipart/related; boundary=B; type="text/xml"', 'Content-Type: text/xml'],
  ['1.2', 'multipart/related; boundary=B; type="application/soap+xml"', 'Content-Type: application/soap+xml'],
] as const)
  test(`B9.1 the response to a broken package has the version of its message: ${type}`, async () => {
    const shop = await startConversation()
    const message = { version, type, end: '', body: put(''), parts: [], ...(root && { root }) }
    const answer = await readAnswer(await send(shop, message))
    assert.equal(answer.fault?.code, version === '1.1' ? 'Client' : 'Sender')
    assert.equal(answer.fields['content-type'], `${mediaType(version)}; charset=utf-8`)
  })

test('M5 a signature would cover octets: the security step sees those of each part', async () => {
  const found: (string | undefined)[] = []
  const shop = await startConversation(
    { secure: true },
    {
      secure: ({ parts, body }) => {
        for (const [id, { bytes }] of parts) found.push(id, Buffer.from(bytes).toString('hex'))
        return { caller: { subject: 'maria', roles: ['manager'], claims: {} }, body, parts }
      },
    },
  )
  assert.equal((await send(shop, { body: put(xop('cid:pic@x')) })).status, 200)
  assert.deepEqual(found, ['pic@x', picture.toString('hex')])
})

test('M1 a part that two elements refer to', async () => {
  const two = createEchoNode([
    bareElement({
      namespace: 'urn:two',
      name: 'put',
      content: t.object({ a: t.bytes(), b: t.bytes().optional() }),
      answer: { name: 'size', content: t.int() },
      perform: ({ a }) => a.length,
    }),
  ])
  const put = (more: string) => ({ body: `<put xmlns="urn:two"><a>${xop('cid:pic@x')}</a>${more}</put>` })
  const ask = (message: Pack) => two.post({ raw: pack(message), as: mtom() })
  assert.equal((await ask(put(''))).status, 200)
  for (const href of ['cid:pic@x', 'cid:pic%40x', ' CID:p%69c@x '])
    assert.match((await ask(put(`<b>${xop(href)}</b>`))).fault?.reason ?? '', /twice/, href)
})

test('M1 XOP §2.1 an Include replaces base64, and never hexadecimal', async () => {
  const seen: Uint8Array[] = []
  const hex = createEchoNode([
    bareElement({
      namespace: 'urn:hex',
      name: 'put',
      content: t.bytes({ encoding: 'hex' }),
      answer: { name: 'size', content: t.int() },
      perform: octets => seen.push(octets),
    }),
  ])
  const ask = (inside: string) => hex.post({ raw: pack({ body: `<put xmlns="urn:hex">${inside}</put>` }), as: mtom() })
  assert.equal((await ask('00FF')).status, 200)
  assert.equal((await ask(xop('cid:pic@x'))).fault?.code, 'Client')
  assert.deepEqual(seen, [Uint8Array.of(0, 255)])
})

test('M6 names and paths in the fields of a part have no effect', async () => {
  const shop = await startConversation()
  const fields = `${image('../../etc/passwd')}\r\nContent-Disposition: attachment; filename="../../x"\r\nContent-Location: file:///etc/passwd`
  const answer = await send(shop, { body: put(xop('cid:../../etc/passwd')), parts: [[fields, picture]] })
  assert.equal(answer.status, 200)
})

test('P20 one octet in each chunk', async () => {
  const shop = await startConversation()
  const bytes = pack({ body: put(xop('cid:pic@x')) })
  const slow: Content = {
    length: undefined,
    bytes: async () => bytes,
    async *chunks() {
      for (const octet of bytes) yield Uint8Array.of(octet)
    },
  }
  const fields = { 'content-type': mtom(), authorization: 'Bearer maria' }
  assert.equal((await shop.send({ fields, content: slow })).status, 200)
})

test('RFC 2045 §6.7 a line of 998 octets that is cut before its last one, and base64 cut after its end', async () => {
  const line = 'a'.repeat(998)
  for (const [fields, sent, kept] of [
    [codedAs('quoted-printable'), `${line}\r\n=41 b`, `${line}\r\nA b`],
    [codedAs('base64'), 'QUI=\r\n \r\n', 'AB'],
    [codedAs('base64'), 'QUI=\r\n \r\nQUI=', undefined],
  ] as const)
    for (const size of [1, 3, 997, 5000]) {
      const bytes = pack({ body: '<a/>', parts: [[fields, sent]] })
      async function* cut() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      }
      const read = readPackage(cut(), 'B', '<root@x>', { root: 10_000, rest: 10_000 })
      if (kept === undefined) await assert.rejects(read, Refused)
      else assert.equal(Buffer.from((await read)?.parts.get('pic@x')?.bytes ?? []).toString(), kept)
    }
})

test('B4.12 50 MB pass through without growing the heap in proportion', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x\r\n-')
  async function* large() {
    yield Buffer.from(`--B\r\n${image()}\r\n\r\n`)
    for (let sent = 0; sent < 800; sent++) yield piece
    yield Buffer.from('\r\n--B--\r\n')
  }
  let length = 0
  let count = 0
  const before = heldOctets()
  for await (const part of readParts(large(), 'B'))
    for await (const octets of part.content) {
      length += octets.length
      if (++count % 100 === 0) await assertReleased(before, 10 * 1024 * 1024)
    }
  assert.equal(length, 800 * piece.length)
})

test('a package cut at any octet is refused', async () => {
  const bytes = pack({ body: '<a/>', parts: [[image(), 'abc']] })
  for (let to = 0; to < bytes.length - 4; to++)
    await assert.rejects(
      async () => read(Promise.resolve(bytes.subarray(0, to)), 'B'),
      thrown => thrown instanceof Refused,
      `cut at ${to}`,
    )
})

// Spring-WS

const folder = suites('envelopes-mime')
const files: { file: string }[] = folder ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) : []
const acceptAnything = (namespace: string, name: string, field: string) =>
  bareElement({
    namespace,
    name,
    content: t.object({ [field]: t.bytes() }),
    answer: { name: 'size', content: t.int() },
    perform: value => Object.values(value)[0]?.length ?? 0,
  })
const spring = createEchoNode([
  acceptAnything('http://springframework.org/spring-ws/mtom', 'image', 'image'),
  bareElement({
    namespace: 'http://example.org/alert',
    name: 'alert',
    content: t.object({ msg: t.string() }),
    answer: { name: 'said', content: t.string() },
    perform: ({ msg }) => msg,
  }),
])
for (const { file } of files)
  test(`Spring-WS ${file}`, async () => {
    const raw = readFileSync(join(folder ?? '', file))
    const version = file.includes('soap12/') ? '1.2' : '1.1'
    const boundary = /^--([^\r\n]+)/m.exec(raw.toString('latin1'))?.[1]
    const as = boundary
      ? `multipart/related; boundary="${boundary}"; type="${file.includes('mtom') ? 'application/xop+xml' : mediaType(version)}"`
      : mediaType(version)
    const answer = await spring.post({ version, raw, as })
    // Each is read as a message; their Bodies belong to several services, so most end at the
    // operation.
    if (file.includes('ill-formed')) assert.match(answer.fault?.reason ?? '', /not well-formed/)
    else assert.doesNotMatch(answer.fault?.reason ?? '', /not well-formed|package|Envelope/, answer.text)
  })
