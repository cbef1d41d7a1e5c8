/**
 * Files of many pieces through the SOAP face (rules B4.12, A8.3): parts are stored as they arrive,
 * and sent as they are read.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Content, contentOf } from '../../src/http/message.ts'
import { pieceOctets } from '../../src/service/file-content.ts'
import type { Endpoint } from '../../src/soap/face.ts'
import { readParts } from '../../src/soap/mime/multipart.ts'
import { likePng } from '../support/png.ts'
import {
  type Answer,
  type Conversation,
  envelope,
  find,
  ns,
  octets,
  readAnswer,
  startConversation,
} from './orders-over-soap.ts'

const most = 5 * 1024 * 1024
const hour = 3_600_000
const wsa = 'http://www.w3.org/2005/08/addressing'

function picture(seed: number, length = 3 * pieceOctets + 100): Uint8Array {
  const made = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < made.length; i++) made[i] = Math.imul(i + 1, 2654435761) ^ seed
  return likePng(new Uint8Array(made.buffer, 0, length))
}
/** The pieces and the name of a picture of this length. */
const rows = 5

const xop = (href: string) => `<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="${href}"/>`
const put = (inside = xop('cid:pic@x'), id = 'p-1') =>
  `<PutProductPicture xmlns="${ns}"><id>${id}</id><picture>${inside}</picture><mediaType>image/png</mediaType></PutProductPicture>`
const get = `<GetProductPicture xmlns="${ns}"><id>p-1</id></GetProductPicture>`

type Part = readonly [fields: string, octets: Uint8Array]
const image = (octets: Uint8Array, id = 'pic@x', coding = 'binary'): Part => [
  `Content-Type: image/png\r\nContent-Transfer-Encoding: ${coding}\r\nContent-ID: <${id}>`,
  octets,
]
const root = (body: string, header?: string): Part => [
  'Content-Type: application/xop+xml; charset=utf-8; type="text/xml"\r\nContent-ID: <root@x>',
  Buffer.from(envelope(body, header === undefined ? {} : { header })),
]
const pack = (parts: readonly Part[], end = '--'): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([fields, octets]) => [Buffer.from(`--B\r\n${fields}\r\n\r\n`), octets, Buffer.from('\r\n')]),
    Buffer.from(`--B${end}\r\n`),
  ])
const type = 'multipart/related; boundary=B; type="application/xop+xml"; start="<root@x>"; start-info="text/xml"'

/** Chunked content. */
function chunked(all: Uint8Array, step = 50_000): Content & { readonly taken: () => number } {
  let taken = 0
  return {
    length: undefined,
    bytes: async () => all,
    chunks: async function* () {
      for (; taken < all.length; taken += step) yield all.slice(taken, taken + step)
    },
    taken: () => taken,
  }
}
const send = async (shop: Conversation, content: Content, who = 'maria'): Promise<Answer> =>
  readAnswer(await shop.send({ fields: { 'content-type': type, authorization: `Bearer ${who}` }, content }))
const sendAll = (shop: Conversation, ...parts: readonly Part[]) => send(shop, chunked(pack(parts)))
const requireEqual = (found: Uint8Array | undefined, expected: Uint8Array) =>
  assert.ok(Buffer.from(expected).equals(found ?? Buffer.alloc(0)), `${found?.length} octets, or others`)
const requireStored = async (shop: Conversation, expected: Uint8Array | undefined) => {
  const file = await shop.store.read(reader => reader.file('products', 'p-1', 'picture'))
  if (!expected) return assert.equal(file, undefined)
  requireEqual(Buffer.concat(await Array.fromAsync(file?.octets.read(0, file.octets.length) ?? [])), expected)
}
const sweepLater = (shop: Conversation) => shop.store.sweep(shop.clock.now + 20 * hour)

describe('B4.12 a part of many pieces, in', () => {
  for (const [title, coding, parts] of [
    ['as octets', 'binary', picture(1)],
    [
      'as base64 in lines',
      'base64',
      Buffer.from(Buffer.from(picture(1)).toString('base64').replace(/.{76}/g, '$&\r\n')),
    ],
  ] as const)
    for (const step of [50_000, 777_777, 1013])
      it(`${title}, ${step} octets at a time`, async () => {
        const shop = await startConversation()
        const answer = await send(shop, chunked(pack([root(put()), image(parts, 'pic@x', coding)]), step))
        assert.equal(answer.status, 200, answer.text)
        await requireStored(shop, picture(1))
        assert.equal(await sweepLater(shop), 0)
      })

  it('anywhere: before the Envelope, after unreferenced parts, or as base64 in the XML', async () => {
    const other = image(picture(9), 'other@x')
    for (const parts of [
      [image(picture(1)), root(put())],
      [other, root(put()), image(picture(1))],
      [root(put()), other, image(picture(1)), image(picture(8), 'more@x')],
    ]) {
      const shop = await startConversation()
      const answer = await sendAll(shop, ...parts)
      assert.equal(answer.status, 200, answer.text)
      await requireStored(shop, picture(1))
      assert.equal(await sweepLater(shop), 0, 'nothing but the file')
    }
    const shop = await startConversation()
    const body = put(Buffer.from(picture(1)).toString('base64'))
    assert.equal((await shop.post({ body, fields: { authorization: 'Bearer maria' } })).status, 200)
    await requireStored(shop, picture(1))
    assert.equal(await shop.store.sweep(1e15), 0)
  })

  it('no part is read for a caller that may not send it, or for a missing item', async () => {
    const shop = await startConversation()
    for (const [who, body, fault] of [
      ['clara', put(), 'Forbidden'],
      ['maria', put(xop('cid:pic@x'), 'p-0'), 'NotFound'],
      ['maria', put().replace('image/png', 'image/gif'), ''],
    ] as const) {
      const content = chunked(pack([root(body), image(picture(1))]))
      const answer = await send(shop, content, who)
      assert.equal(answer.status, 500)
      assert.match(answer.text, new RegExp(fault))
      assert.ok(content.taken() <= 100_000, `${content.taken()} octets were read`)
    }
    await requireStored(shop, undefined)
    assert.equal(await sweepLater(shop), 0)
  })

  it('an incomplete package, or one without a referenced part: a fault; the old file stays, and nothing of the new one', async () => {
    const shop = await startConversation()
    assert.equal((await sendAll(shop, root(put()), image(picture(1)))).status, 200)
    const longer = picture(2, 6 * pieceOctets)
    const all = [root(put()), image(longer)]
    const packages: readonly Buffer[] = [
      pack(all).subarray(0, -8),
      pack(all, '--more'),
      pack([...all, image(picture(3))]),
      pack([...all, ['Content-ID: <root@x>', Buffer.from('x')]]),
      pack([root(put()), image(longer, 'other@x')]),
      pack([root(put()), image(longer, 'pic@x', 'quoted-printable')]),
      pack([root(put()), image(longer, 'pic@x', 'base64')]),
    ]
    for (const each of packages) {
      const answer = await send(shop, chunked(each))
      assert.deepEqual([answer.status, answer.fault !== undefined], [500, true], answer.text)
    }
    await requireStored(shop, picture(1))
    assert.equal(await shop.store.sweep(shop.clock.now), 4 * rows, 'four had come as far as the store')
    assert.equal(await sweepLater(shop), 0)
    assert.deepEqual(shop.incidents, [])
  })

  it('A8.3 a picture over its limit: a fault that names the element; a package over it: 413, before its end', async () => {
    const shop = await startConversation()
    const over = await sendAll(shop, root(put()), image(picture(1, most + 1)))
    assert.equal(over.status, 500)
    assert.match(over.text, /must have at most 5242880 octets/)
    assert.match(over.text, /\/PutProductPicture\[1\]\/picture\[1\]/)
    const content = chunked(pack([root(put()), image(picture(1, 4 * most))]))
    assert.equal((await send(shop, content)).status, 413)
    assert.ok(content.taken() < 2 * most)
    await requireStored(shop, undefined)
    await sweepLater(shop)
    assert.equal(await sweepLater(shop), 0)
  })

  it('cut short: the transport reports it, and nothing stays', async () => {
    const shop = await startConversation()
    const whole = pack([root(put()), image(picture(1))])
    const cut: Content = {
      length: undefined,
      bytes: async () => whole,
      async *chunks() {
        yield* chunked(whole.subarray(0, 600_000)).chunks()
        throw Object.assign(new Error('the content stalled'), { name: 'Aborted' })
      },
    }
    await assert.rejects(send(shop, cut), { name: 'Aborted' })
    assert.deepEqual(shop.incidents, [])
    await requireStored(shop, undefined)
  })

  it('W5 the same MessageID is the same upload, and its octets are kept once; with other octets it is refused', async () => {
    const shop = await startConversation()
    const header = `<a:MessageID xmlns:a="${wsa}">urn:uuid:1</a:MessageID><a:Action xmlns:a="${wsa}">${ns}/PutProductPicture</a:Action><a:To xmlns:a="${wsa}">http://shop.example/soap/v1</a:To>`
    const ask = (seed: number) => sendAll(shop, root(put(), header), image(picture(seed)))
    const version = async (answer: Promise<Answer>) => /<version>(\d+)</.exec((await answer).text)?.[1]
    const first = await version(ask(1))
    assert.equal(first, await version(ask(1)))
    assert.ok(first)
    assert.match((await ask(2)).text, /DuplicateMessageID/)
    await requireStored(shop, picture(1))
    assert.equal(await shop.store.sweep(shop.clock.now), 2 * rows)
  })
})

describe('B4.12 a part of many pieces, out', () => {
  const styles: readonly (readonly [Endpoint['style'], string])[] = [
    ['document', get],
    ['rpc', `<m:GetProductPicture xmlns:m="${ns}"><id>p-1</id></m:GetProductPicture>`],
    ['encoded', `<m:GetProductPicture xmlns:m="${ns}"><id>p-1</id></m:GetProductPicture>`],
  ]
  for (const [style, body] of styles)
    for (const length of [3 * pieceOctets + 100, 2 * pieceOctets, pieceOctets + 1, pieceOctets])
      it(`${style}: ${length} octets are in the XML, or outside it for clients that accept packages`, async () => {
        const shop = await startConversation({ style })
        await shop.store.write(async writer => {
          const all = picture(4, length)
          const pieces = Array.from({ length: Math.ceil(length / pieceOctets) }, (_, i) =>
            all.subarray(i * pieceOctets, (i + 1) * pieceOctets),
          )
          await writer.stage('file-1', 0, pieces, 1)
          const octets = { length, inMemory: undefined, name: 'file-1' }
          await writer.putFile('products', 'p-1', 'picture', { mediaType: 'image/png', octets }, 1)
        })
        const plain = await shop.post({ body })
        assert.equal(plain.status, 200, plain.text)
        const inside = find(plain.body, 'picture') ?? find(plain.body, 'return', 'picture') ?? plain.body
        requireEqual(Buffer.from(inside?.text.match(/[A-Za-z0-9+/=]{1000,}/)?.[0] ?? '', 'base64'), picture(4, length))
        const packed = await shop.send({
          fields: { 'content-type': 'text/xml', accept: 'application/xop+xml', authorization: 'Bearer clara' },
          content: contentOf(envelope(body)),
        })
        assert.match(String(packed.fields['content-type']), /^multipart\/related/)
        const found: Buffer[] = []
        const boundary = /boundary="([^"]+)"/.exec(String(packed.fields['content-type']))?.[1] ?? ''
        const whole = await octets(packed.content)
        for await (const part of readParts(contentOf(whole).chunks(), boundary))
          found.push(Buffer.concat(await Array.fromAsync(part.content)))
        assert.equal(found.length, style === 'encoded' ? 1 : 2)
        if (style !== 'encoded') requireEqual(found[1], picture(4, length))
        else assert.ok(found[0]?.includes(Buffer.from(picture(4, length)).toString('base64')))
      })
})
