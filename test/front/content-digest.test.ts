/** RFC 9530: content that is not what its sender digested is not stored, and answers state digests that are wanted. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const notes = resource('notes', {
  fields: { id: t.id('n'), text: t.string({ max: 3000 }) },
  files: { scan: { mediaTypes: ['application/octet-stream'], max: 3_000_000 } },
}).rules({ allow: { read: [anyone], create: [anyone], change: [anyone] }, precondition: false, search: ['text'] })
const archive = service('archive', { namespace: 'urn:archive', resources: [notes] })

const digestOf = (algorithm: 'sha-256' | 'sha-512', octets: string | Uint8Array): string =>
  `${algorithm}=:${createHash(algorithm.replace('-', '')).update(octets).digest('base64')}:`

describe('RFC 9530', () => {
  let running: Awaited<ReturnType<typeof startTestService<typeof archive>>>
  before(async () => {
    const seed = () => ({ items: { notes: [{ id: 'n-1', text: 'first '.repeat(400) }] } })
    running = await startTestService(archive, implement(archive, {}, { seed }))
  })
  after(() => running.close())

  const ask = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Uint8Array<ArrayBuffer> | ReadableStream,
  ) =>
    running.fetchAs()(running.address + path, { method, headers, ...(body !== undefined && { body, duplex: 'half' }) })
  const note = JSON.stringify({ text: 'second' })
  const json = { 'content-type': 'application/json' }
  const countNotes = async (): Promise<number> =>
    ((await (await ask('GET', '/api/notes', {})).json()) as { readonly total: number }).total

  const coded = gzipSync(note)
  const requests: readonly (readonly [
    title: string,
    fields: Record<string, string>,
    status: number,
    sent?: string | Uint8Array<ArrayBuffer>,
  ])[] = [
    ['§2 Content-Digest of the content', { 'content-digest': digestOf('sha-256', note) }, 201],
    ['§3 Repr-Digest of the content', { 'repr-digest': digestOf('sha-512', note) }, 201],
    ['§2 of other content', { 'content-digest': digestOf('sha-256', `${note} `) }, 400],
    ['§3 of another representation', { 'repr-digest': digestOf('sha-512', '') }, 400],
    [
      '§2 two algorithms, one of them of other content',
      { 'content-digest': `${digestOf('sha-256', note)}, ${digestOf('sha-512', '')}` },
      400,
    ],
    ['§2 an algorithm that is not known is left aside', { 'content-digest': 'crc32c=:AAAAAA==:' }, 201],
    ['RFC 9651 §4.2 a field that is malformed', { 'content-digest': 'sha-256=AAAA' }, 400],
    ['§2 a value that is not octets', { 'content-digest': 'sha-256="AAAA"' }, 400],
    [
      '§2 of content with its coding',
      { 'content-encoding': 'gzip', 'content-digest': digestOf('sha-256', coded) },
      201,
      coded,
    ],
    [
      '§2 of content without its coding',
      { 'content-encoding': 'gzip', 'content-digest': digestOf('sha-256', note) },
      400,
      coded,
    ],
  ]
  for (const [title, fields, status, sent = note] of requests)
    it(`${title}: ${status}`, async () => {
      const before = await countNotes()
      const response = await ask('POST', '/api/notes', { ...json, ...fields }, sent)
      const text = await response.text()
      assert.equal(response.status, status, text)
      assert.equal((await countNotes()) - before, status === 201 ? 1 : 0)
      if (status === 400) assert.match(text, /Digest/)
    })

  const scan = new Uint8Array(1_000_000).map((_, at) => at * 7)
  const pieces = () =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < scan.length; at += 100_000) controller.enqueue(scan.slice(at, at + 100_000))
        controller.close()
      },
    })
  for (const [title, octets, status] of [
    ['of other octets', scan.subarray(1), 400],
    ['of its octets', scan, 201],
  ] as const)
    it(`§2 a file in pieces, with the digest ${title}: ${status}`, async () => {
      const fields = {
        'content-type': 'application/octet-stream',
        'content-digest': digestOf('sha-256', octets),
      }
      const response = await ask('PUT', '/api/notes/n-1/scan', fields, pieces())
      assert.equal(response.status, status, await response.text())
      const stored = await ask('GET', '/api/notes/n-1/scan', {})
      assert.equal(stored.status, status === 201 ? 200 : 404)
    })

  const envelope = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CreateNote xmlns="urn:archive:v1"><note><text>x</text></note></CreateNote></e:Body></e:Envelope>`
  const packed = `--b\r\nContent-Type: application/xop+xml; type="application/soap+xml"\r\n\r\n${envelope}\r\n--b--\r\n`
  for (const [title, type, sent] of [
    ['a message', 'application/soap+xml', envelope],
    ['a package', 'multipart/related; type="application/xop+xml"; boundary=b', packed],
  ] as const)
    it(`§2 ${title} of SOAP that is not what was digested is a fault, and nothing is done`, async () => {
      const before = await countNotes()
      const send = (of: string) =>
        ask('POST', '/soap/v1', { 'content-type': type, 'content-digest': digestOf('sha-256', of) }, sent)
      assert.match(await (await send(`${sent} `)).text(), /Sender[\s\S]*sha-256 of Content-Digest/)
      assert.equal(await countNotes(), before)
      assert.equal((await send(sent)).status, 200)
      assert.equal(await countNotes(), before + 1)
    })

  it('a page that is sent a form refuses it, too', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-digest': digestOf('sha-256', '') }
    assert.equal((await ask('POST', '/login', form, 'user=a&password=b')).status, 400)
  })

  it('§4 an answer states the digests that are wanted, of its octets as they are sent', async () => {
    const wanted = { 'want-content-digest': 'sha-512=3, sha-256=10, md5=10', 'want-repr-digest': 'sha-512=1' }
    for (const coding of ['identity', 'gzip']) {
      const response = await ask('GET', '/api/notes/n-1', { ...wanted, 'accept-encoding': coding })
      const octets = new Uint8Array(await response.arrayBuffer())
      assert.equal(response.headers.get('content-encoding'), coding === 'identity' ? null : coding)
      assert.equal(response.headers.get('content-digest'), digestOf('sha-256', octets))
      assert.equal(response.headers.get('repr-digest'), digestOf('sha-512', octets))
      const head = await ask('HEAD', '/api/notes/n-1', { ...wanted, 'accept-encoding': coding })
      assert.equal(head.headers.get('repr-digest'), digestOf('sha-512', octets), 'RFC 9110 §9.3.2')
    }
    const part = await ask('GET', '/api/notes/n-1/scan', { ...wanted, range: 'bytes=0-9' })
    assert.deepEqual([part.status, part.headers.get('repr-digest')], [206, null])
  })
  for (const field of ['', 'sha-256=0', 'sha-256=11', 'sha-256', 'md5=1', 'sha-256=1.5', '?'])
    it(`§4 ${field || 'nothing'} wants no digest`, async () => {
      const response = await ask('GET', '/api/notes/n-1', { 'want-content-digest': field })
      assert.equal(response.headers.get('content-digest'), null)
    })
})
