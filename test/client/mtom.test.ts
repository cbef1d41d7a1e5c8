/**
 * Octets outside the XML, both ways (rule B4.12; MTOM, XOP 1.0, SOAP Messages with Attachments).
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import {
  AnswerError,
  type ClientTransport,
  createSoapClient,
  type FailureReason,
  type SoapClientOptions,
  type TransportResponse,
} from '../../src/client/index.ts'
import type { TransportRequest } from '../../src/client/transport.ts'
import { startConversation } from '../soap/orders-over-soap.ts'
import { likePng } from '../support/png.ts'
import { address, came, envelope, ns, recordRequests, transportTo } from './canned.ts'

const picture = likePng(Uint8Array.from({ length: 3000 }, (_, at) => (at * 7) % 256))
const path = '/soap/v2'

/** The real face, and all messages to and from it. */
async function service() {
  const { face } = await startConversation({ version: 'v2', path })
  const inner = transportTo(face, path)
  const seen: { sent: TransportRequest; came: TransportResponse }[] = []
  const transport: ClientTransport = {
    prepare: fields => {
      const post = inner.prepare(fields)
      return async sent => {
        const came = await post(sent)
        seen.push({ sent: { ...sent, fields: { ...fields, ...sent.fields } }, came })
        return came
      }
    },
    close: () => {},
  }
  const client = (options: Partial<SoapClientOptions<'v2'>>) =>
    createSoapClient(shop, { address, version: 'v2', transport, credentials: { bearer: 'maria' }, ...options })
  return { seen, client }
}
const type = (of: { fields?: TransportResponse['fields'] | undefined } | undefined) =>
  of?.fields?.['content-type'] ?? ''

for (const soap of ['1.1', '1.2'] as const)
  describe(`SOAP ${soap}`, () => {
    test('octets travel in packages both ways', async () => {
      const { seen, client } = await service()
      const mtom = client({ soap, mtom: true })
      await mtom.PutProductPicture({ id: 'p-1', picture, mediaType: 'image/png' })
      const got = await mtom.GetProductPicture({ id: 'p-1' })
      assert.deepEqual([Buffer.from(got.picture), got.mediaType], [Buffer.from(picture), 'image/png'])
      const [put, get] = seen
      assert.match(type(put?.sent), /^multipart\/related; type="application\/xop\+xml"/)
      assert.ok(type(put?.sent).includes(soap === '1.2' ? `action="${ns}/PutProductPicture"` : 'start-info="text/xml"'))
      assert.ok(Buffer.concat(put?.sent.content as Uint8Array[]).includes(picture), 'as they are')
      assert.doesNotMatch(type(get?.sent), /multipart/, 'no package where there are no octets')
      assert.match(type(get?.came), /^multipart\/related/)
    })
    test('or inside the XML', async () => {
      const { seen, client } = await service()
      const plain = client({ soap })
      await plain.PutProductPicture({ id: 'p-1', picture, mediaType: 'image/png' })
      const got = await plain.GetProductPicture({ id: 'p-1' })
      assert.deepEqual(Buffer.from(got.picture), Buffer.from(picture))
      for (const { sent, came } of seen) assert.doesNotMatch(type(sent) + type(came), /multipart/)
    })
  })

test('with addressing, and a UsernameToken', async () => {
  const { client } = await service()
  const { version } = await client({ mtom: true, addressing: true }).PutProductPicture({
    id: 'p-1',
    picture,
    mediaType: 'image/png',
  })
  assert.ok(version)
})

const xop = 'http://www.w3.org/2004/08/xop/include'
const answer = (inside: string) =>
  envelope(
    '1.2',
    `<GetProductPictureResponse xmlns="${ns}"><picture>${inside}</picture><mediaType>image/png</mediaType><version>1</version></GetProductPictureResponse>`,
  )
const include = (href: string) => `<x:Include xmlns:x="${xop}" href="${href}"/>`
const part = (content: string, fields: string) => `--B\r\n${fields}\r\n\r\n${content}\r\n`
const rootFields = 'Content-Type: application/xop+xml; charset=utf-8; type="application/soap+xml"\r\nContent-ID: <root>'
const packaged = (
  parts: string,
  type = 'type="application/xop+xml"; start="<root>"; start-info="application/soap+xml"; boundary="B"',
) => came(200, `multipart/related; ${type}`, Buffer.from(parts, 'latin1'))
const whole = (inside: string, more = part('\x00\xff\r\n--', 'Content-Type: image/png\r\nContent-ID: <1@x>')) =>
  `${part(answer(inside), rootFields)}${more}--B--\r\n`

describe('packages that arrive, requested or not', () => {
  const taken: readonly (readonly [string, TransportResponse])[] = [
    ['XOP', packaged(whole(include('cid:1@x')))],
    [
      'the root behind what it refers to',
      packaged(`${part('\x00\xff\r\n--', 'Content-ID: <1@x>')}${part(answer(include('cid:1@x')), rootFields)}--B--`),
    ],
    ['an escaped id', packaged(whole(include('cid:1%40x')))],
    [
      'SwA: a text that refers to a part',
      packaged(
        whole('cid:1@x').replace(
          'application/xop+xml; charset=utf-8; type="application/soap+xml"',
          'application/soap+xml',
        ),
        'type="application/soap+xml"; start="<root>"; boundary=B',
      ),
    ],
    [
      'types without their quotes (RFC 2045 §5.1)',
      packaged(
        whole(include('cid:1@x')).replace('type="application/soap+xml"', 'type=application/soap+xml'),
        'type=application/xop+xml; start=<root>; start-info=application/soap+xml; boundary=B;',
      ),
    ],
    ['octets inside the XML of a package', packaged(whole(Buffer.from('\x00\xff\r\n--', 'latin1').toString('base64')))],
  ]
  for (const [title, answered] of taken)
    test(title, async () => {
      const { picture } = await recordRequests(answered).client.GetProductPicture({ id: 'p-1' })
      assert.equal(Buffer.from(picture).toString('latin1'), '\x00\xff\r\n--')
    })
  const refused: readonly (readonly [string, TransportResponse, FailureReason, RegExp])[] = [
    ['a part that is missing', packaged(whole(include('cid:2@x'))), 'package', /missing/],
    ['a URI without a part', packaged(whole(include('http://other.example/'))), 'package', /cid:/],
    ['no boundary', packaged(whole(include('cid:1@x')), 'type="application/xop+xml"'), 'package', /boundary/],
    ['cut short', packaged(whole(include('cid:1@x')).slice(0, -10)), 'package', /last boundary/],
    ['cut short in the message', packaged(whole('').slice(0, 300)), 'package', /last boundary/],
    [
      'no root',
      packaged(whole(include('cid:1@x')).replaceAll('<root>', '<stem>')),
      'package',
      /the root part of the package is missing$/,
    ],
    [
      'two parts of one name',
      packaged(whole(include('cid:1@x'), part('a', 'Content-ID: <1@x>') + part('b', 'Content-ID: <1@x>'))),
      'package',
      /same Content-ID/,
    ],
    [
      'a root that is not a message',
      packaged(whole('').replace('type="application/soap+xml"', 'type="image/png"')),
      'media-type',
      /not a SOAP message/,
    ],
    [
      'a root of no media type',
      packaged(
        whole('').replace('Content-Type: application/xop+xml; charset=utf-8; type="application/soap+xml"', 'X: y'),
      ),
      'package',
      /media type/,
    ],
    [
      'an Include outside of a package',
      came(200, 'application/soap+xml', answer(include('cid:1@x'))),
      'invalid',
      /element/,
    ],
    ['content next to an Include', packaged(whole(`${include('cid:1@x')}AAAA`)), 'invalid', /stands alone/],
  ]
  for (const [title, answered, why, detail] of refused)
    test(`none: ${title}`, async () => {
      await assert.rejects(recordRequests(answered).client.GetProductPicture({ id: 'p-1' }), (thrown: unknown) => {
        assert.ok(thrown instanceof AnswerError, String(thrown))
        assert.equal(thrown.why, why, thrown.message)
        assert.match(thrown.message, detail)
        return true
      })
    })
  test('none: more than replies may have', async () => {
    const call = recordRequests(packaged(whole(include('cid:1@x'))), { longest: 300 }).client.GetProductPicture({
      id: 'p-1',
    })
    await assert.rejects(call, (thrown: unknown) => thrown instanceof AnswerError && thrown.why === 'package')
  })
})
