/**
 * Messages with attachments (WSDL 1.1 §5.11, SOAP Messages with Attachments, WS-I Attachments
 * Profile 1.0): declared, served, published, called and shown by REST.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { AnswerError, InputError } from '../../src/client/errors.ts'
import { createPortClient, type PortClientOptions } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { type DescribedPorts, exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { readWsdl } from '../../src/import/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { issuePartner } from '../host/partner-keys.ts'

const album = x.namespace('urn:album')
const Title = album.element('Title', x.string)
const Stamp = album.element('Stamp', x.int)
const image = x.attachment(x.base64Binary, 'image/gif', 'image/png')
const Album = port('Album', {
  namespace: 'urn:album:wsdl',
  allow: [anyone],
  exchanges: {
    Keep: exchange({
      action: 'urn:Keep',
      input: x.body({
        title: x.ref(Title),
        picture: x.attachment(x.base64Binary, 'image/jpeg'),
        notes: x.attachment(x.string, 'text/plain'),
        seal: x.attachment(x.base64Binary, 'application/*').optional(),
      }),
      output: x.body({ title: x.ref(Title), copy: x.attachment(x.base64Binary, 'image/jpeg') }),
      requestHeaders: { Stamp },
      replyHeaders: { Stamp },
    }),
    Drop: exchange({ action: 'urn:Drop', input: x.body({ octets: x.attachment(x.base64Binary) }), output: 'empty' }),
    Draw: exchange({
      style: 'rpc',
      action: 'urn:Draw',
      input: x.call('urn:rpc', 'Draw', { 'großes Bild': image, width: x.element(x.int) }),
      output: x.call('urn:rpc', 'DrawResponse', { width: x.element(x.int), drawn: image }),
    }),
    DrawEncoded: exchange({
      style: 'encoded',
      action: 'urn:DrawEncoded',
      input: x.call('urn:rpc', 'DrawEncoded', { width: x.element(x.int), image }),
      output: x.call('urn:rpc', 'DrawEncodedResponse', { drawn: image }),
    }),
    Show: exchange({
      action: 'urn:Show',
      input: album.element('Show', x.object({ name: x.element(x.string) })),
      output: x.body({ shown: x.attachment(x.string, 'text/html') }),
      safe: true,
    }),
  },
})
const contract = service('album', { namespace: 'urn:album', resources: [], ports: [Album] })
const app = implement(contract, {
  Album: {
    Keep: ({ title, picture, notes, seal }, ctx) => {
      if (ctx.headers.Stamp !== undefined) ctx.setHeader('Stamp', ctx.headers.Stamp + 1)
      const told = seal ? `, ${seal.mediaType} ${seal.value.length}` : ''
      return { title: `${title}: ${picture.length} ${notes}${told}`, copy: picture }
    },
    Drop: ({ octets }) => assert.ok(octets.value.length > 0),
    Draw: ({ 'großes Bild': drawn, width }) => ({ width: width + 1, drawn }),
    DrawEncoded: ({ image: drawn }) => ({ drawn }),
    Show: ({ name }) => ({ shown: name === 'bad' ? (7 as never) : `<p>${name} ✓</p>` }),
  },
})
const hosted = await startHosted({}, app)
const host = `127.0.0.1:${hosted.server.port}`
const wsdl = await readWsdl(`http://${host}/soap/Album?wsdl`, { fetch: [host] })
const open = (options: PortClientOptions<'Album', never> = {}, from: DescribedPorts = contract) => {
  const address = `http://${host}/soap/Album`
  const client = createPortClient<typeof contract>(from, { address, ...options })
  after(() => client[Symbol.dispose]())
  return client
}
/** All octets, line ends and what looks like a boundary among them. */
const picture = Uint8Array.from([...Array(256).keys(), ...Buffer.from('\r\n--x\r\n\r\n')])
const gif = { mediaType: 'image/gif', value: picture } as const

test('the WSDL has the binding of MIME, and its contract is the same', async () => {
  assert.deepEqual(wsdl.losses, [])
  const { text } = await hosted.ask('GET', '/soap/Album?wsdl')
  const parts = (operation: string) =>
    new RegExp(`<wsdl:operation name="${operation}">\\s*<soap:operation.*?</wsdl:operation>`, 's').exec(text)?.[0] ?? ''
  assert.match(parts('Keep'), /<mime:part>\s*<soap:header [^>]*\/>\s*<soap:body parts="title" use="literal"\/>\s*<\/mime:part>/)
  assert.match(parts('Keep'), /<mime:content part="notes" type="text\/plain"\/>/)
  assert.match(parts('Drop'), /<soap:body parts="" use="literal"\/>[\s\S]*<mime:content part="octets"\/>/)
  assert.match(parts('Draw'), /<soap:body parts="width" use="literal" namespace="urn:rpc"\/>/)
  assert.match(parts('Draw'), /<mime:content part="drawn" type="image\/gif"\/>\s*<mime:content part="drawn" type="image\/png"\/>/)
  assert.match(text, /<wsdl:part name="notes" type="xs:string"\/>/)
  assert.doesNotMatch(text, /xs:element name="(?:picture|notes|copy)"/)
}) // biome-ignore format: long patterns

for (const soap of ['1.1', '1.2'] as const)
  describe(`SOAP ${soap}`, () => {
    test('octets and text, with header blocks, in both messages of document style, by the WSDL only', async () => {
      const client = open({ soap }, wsdl)
      const { output, headers } = await client.Keep.callForHeaders(
        { title: 'sea', picture, notes: 'blue ✓', seal: { mediaType: 'application/pdf', value: picture } },
        { headers: { Stamp: 1 } },
      )
      assert.equal(output.title, 'sea: 265 blue ✓, application/pdf 265')
      assert.deepEqual([new Uint8Array(output.copy), headers], [picture, { Stamp: 2 }])
      const without = await open({ soap }).Keep({ title: 'sea', picture, notes: '' })
      assert.equal(without.title, 'sea: 265 ')
    })
    test('RPC literal and encoded, with one of several media types', async () => {
      const client = open({ soap }, wsdl)
      const drawn = await client.Draw({ 'großes Bild': gif, width: 3 })
      assert.deepEqual([drawn.width, drawn.drawn.mediaType, new Uint8Array(drawn.drawn.value)], [4, 'image/gif', picture])
      const png = { mediaType: 'image/png', value: picture } as const
      assert.equal((await client.DrawEncoded({ width: 1, image: png })).drawn.mediaType, 'image/png')
    }) // biome-ignore format: a long line
    test('a media type as declared, also in other letters and with parameters', async () => {
      const type = { mediaType: 'IMAGE/PNG; q=1' as 'image/png', value: picture }
      assert.equal((await open({ soap }).DrawEncoded({ width: 1, image: type })).drawn.mediaType, 'image/png')
    })
    test('a Body without an element, and a reply with a part to a message without any', async () => {
      const client = open({ soap })
      assert.equal(await client.Drop({ octets: { mediaType: 'application/pdf', value: picture } }), undefined)
      assert.deepEqual(await client.Show({ name: 'sea' }), { shown: '<p>sea ✓</p>' })
    })
    test('octets of the XML travel outside too, with mtom', async () => {
      const client = open({ soap, mtom: true })
      const { content } = await client.Keep.render({ title: 'sea', picture, notes: '' })
      assert.ok(content instanceof Uint8Array)
      assert.equal((await client.Keep({ title: 'sea', picture, notes: '' })).title, 'sea: 265 ')
    })
  })

test('WS-I AP 1.0 R2933, SwA §3 each part has its name in its Content-ID, the root the type of the message', async () => {
  const { fields, content } = await open().Draw.render({ 'großes Bild': gif, width: 3 })
  const text = Buffer.from(content as Uint8Array).toString('latin1')
  assert.match(fields['content-type'] ?? '', /^multipart\/related; type="text\/xml"; start="<root@diglot>"; boundary=/)
  assert.match(text, /^--\S+\r\nContent-Type: text\/xml; charset=utf-8\r\n/)
  assert.match(text, /Content-Type: image\/gif\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <gro%C3%9Fes%20Bild=[\w-]+@diglot>/)
  assert.doesNotMatch(text, /xop/)
  assert.equal(fields['accept'], 'multipart/related; type="text/xml", text/xml')
}) // biome-ignore format: long patterns

test('in REST an attachment is a value like any other', async () => {
  const ask = async (path: string, content: object, fields = {}) =>
    hosted.ask('POST', `/api/v1/Album/${path}`, { 'content-type': 'application/json', ...fields }, JSON.stringify(content))
  const kept = await ask('Keep', { title: 'sea', picture: 'AAEC', notes: 'blue' })
  assert.deepEqual(JSON.parse(kept.text), { title: 'sea: 3 blue', copy: 'AAEC' })
  const drawn = await ask('Draw', { 'großes Bild': { mediaType: 'image/png', value: 'AA==' }, width: 1 })
  assert.deepEqual(JSON.parse(drawn.text), { width: 2, drawn: { mediaType: 'image/png', value: 'AA==' } })
  assert.equal((await ask('Draw', { 'großes Bild': { mediaType: 'image/bmp', value: 'AA==' }, width: 1 })).status, 422)
  const { paths } = JSON.parse((await hosted.ask('GET', '/openapi.json')).text)
  const { properties } = paths['/api/v1/Album/Keep'].post.requestBody.content['application/json'].schema
  assert.deepEqual([properties.picture.contentEncoding, properties.picture.contentMediaType], ['base64', 'image/jpeg'])
}) // biome-ignore format: long lines

test('a value that cannot be attached is refused before it is sent, with its place', async () => {
  const client = open()
  const good = { title: 'sea', picture, notes: '' }
  const cases = [
    [client.Keep.render({ ...good, picture: 'sea' as never }), ['picture'], /octets/],
    [client.Keep.render({ ...good, notes: 7 as never }), ['notes'], /text/],
    [client.Keep.render({ title: 'sea', picture } as never), ['notes'], /text/],
    [client.Keep.render({ ...good, seal: { mediaType: 'image/gif', value: picture } }), ['seal', 'mediaType'], /application\/\*/],
    [client.Draw.render({ 'großes Bild': { mediaType: 'image/bmp' as never, value: picture }, width: 1 }), ['großes Bild', 'mediaType'], /image\/gif or image\/png/],
    [client.Drop.render({ octets: { mediaType: 'a/b\r\nX: 1', value: picture } }), ['octets', 'mediaType'], /a media type/],
  ] as const // biome-ignore format: a table
  for (const [sent, path, detail] of cases)
    await assert.rejects(sent, thrown => {
      assert.ok(thrown instanceof InputError, String(thrown))
      assert.deepEqual(thrown.problems[0]?.path, path)
      assert.match(thrown.problems[0]?.detail ?? '', detail)
      return true
    })
})

// What comes

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const part = (id: string, type: string, content = 'x') =>
  `--b\r\nContent-Type: ${type}\r\nContent-ID: <${id}>\r\n\r\n${content}\r\n`
const write = (body: string, ...parts: readonly string[]) =>
  `${part('root', 'text/xml', `<e:Envelope xmlns:e="${soap11}"><e:Body>${body}</e:Body></e:Envelope>`)}${parts.join('')}--b--\r\n`
const packageType = 'multipart/related; type="text/xml"; start="<root>"; boundary=b'
const title = '<Title xmlns="urn:album">sea</Title>'
const [jpeg, plain] = [part('picture=1@x', 'image/jpeg'), part('notes=1@x', 'text/plain; charset=ISO-8859-1', '\xe4')]
/** [what comes, its Body, its parts, what the fault says; undefined: it is answered] */
const requests: readonly (readonly [string, string, readonly string[], RegExp?])[] = [
  ['parts in any order, and text by its charset', title, [plain, jpeg]],
  ['a media type in other letters, with parameters', title, [part('picture=1@x', 'IMAGE/JPEG; q=1'), plain]],
  ['a part that nothing declares', title, [jpeg, plain, part('more=1@x', 'image/jpeg'), part('9@x', 'image/jpeg')]],
  ['attack: a part is missing', title, [jpeg], /the part notes is missing: send a part whose Content-ID begins with notes=/],
  ['attack: a part is there twice', title, [jpeg, plain, part('picture=2@x', 'image/jpeg')], /the part picture occurs twice/],
  ['attack: the same Content-ID twice', title, [jpeg, plain, jpeg], /two parts have the same Content-ID/],
  ['attack: a part of another type', title, [part('picture=1@x', 'text/html'), plain], /the part picture has the media type text\/html: send image\/jpeg/],
  ['attack: a part without a type', title, [part('picture=1@x', ''), plain], /the part picture has no media type/],
  ['attack: a name that only begins so', title, [part('pictures=1@x', 'image/jpeg'), plain], /the part picture is missing/],
  ['attack: a Content-ID that is not decoded', title, [part('%E0%A4%A=1@x', 'image/jpeg'), jpeg, plain]],
  ['attack: text in a charset that is not known', title, [jpeg, part('notes=1@x', 'text/plain; charset=x-none')], /the part notes is not text in x-none/],
  ['attack: text that its charset does not have', title, [jpeg, part('notes=1@x', 'text/plain', '\xff')], /the part notes is not text in utf-8/],
  ['attack: the part in the Body, too', `${title}<picture>AA==</picture>`, [jpeg, plain], /more than one element|not expected/],
] // biome-ignore format: a table
const ask = (content: string, type = packageType) =>
  hosted.ask(
    'POST',
    '/soap/Album',
    { 'content-type': type, soapaction: '"urn:Keep"' },
    Buffer.from(content, 'latin1') as never,
  )
for (const [what, body, parts, refused] of requests)
  test(`a request with attachments: ${what}`, async () => {
    const { status, text, fields } = await ask(write(body, ...parts))
    assert.equal(status, refused ? 500 : 200, text)
    assert.match(text, refused ?? /sea: 1 /)
    if (refused) assert.match(text, /<faultcode>soap:Client</)
    else assert.match(String(fields['content-type']), /^multipart\/related; type="text\/xml"/)
  })
test('a request with attachments: its text is read by its charset', async () =>
  assert.match((await ask(write(title, jpeg, plain))).text, /sea: 1 ä</))
test('attack: a message without its package is refused', async () => {
  const envelope = `<e:Envelope xmlns:e="${soap11}"><e:Body>${title}</e:Body></e:Envelope>`
  assert.match((await ask(envelope, 'text/xml')).text, /the part picture is missing/)
})
test('attack: more parts and more octets than a package may have are refused', async () => {
  const many = Array.from({ length: 70 }, (_, i) => part(`${i}@x`, 'image/jpeg'))
  assert.match((await ask(write(title, jpeg, plain, ...many))).text, /more than 64 parts/)
  const long = part('picture=1@x', 'image/jpeg', 'x'.repeat(9 * 1024 * 1024))
  assert.equal((await ask(write(title, long, plain))).status, 413)
})

const answering = (content: string): ClientTransport => ({
  prepare: () => async () => ({ status: 200, fields: { 'content-type': packageType }, content: Buffer.from(content, 'latin1') }),
  close: () => {},
}) // biome-ignore format: a long line
/** [what comes, its parts, why it is refused] */
const answers: readonly (readonly [string, readonly string[], RegExp?])[] = [
  ['the part', [part('copy=1@x', 'image/jpeg')]],
  ['attack: no part', [], /the part copy is missing/],
  ['attack: two parts', [part('copy=1@x', 'image/jpeg'), part('copy=2@x', 'image/jpeg')], /copy occurs twice/],
  ['attack: another type', [part('copy=1@x', 'text/html')], /copy has the media type text\/html/],
]
for (const [what, parts, refused] of answers)
  test(`an answer with attachments: ${what}`, async () => {
    const call = open({ transport: answering(write(title, ...parts)) }).Keep({ title: 'sea', picture, notes: '' })
    if (!refused) return assert.deepEqual(Buffer.from((await call).copy), Buffer.from('x'))
    await assert.rejects(call, thrown => {
      assert.ok(thrown instanceof AnswerError, String(thrown))
      assert.deepEqual([thrown.why, refused.test(thrown.message)], ['package', true], thrown.message)
      return true
    })
  })

test('WS-Addressing: a reply with parts goes back to the sender, since elsewhere it would be one text', async () => {
  const elsewhere = 'http://127.0.0.1:9/replies'
  const { ask } = await startHosted({ replies: [elsewhere] }, app)
  const wsa = 'http://www.w3.org/2005/08/addressing'
  const blocks = (action: string) =>
    `<a:Action xmlns:a="${wsa}">${action}</a:Action><a:MessageID xmlns:a="${wsa}">urn:${action}</a:MessageID><a:ReplyTo xmlns:a="${wsa}"><a:Address>${elsewhere}</a:Address></a:ReplyTo>`
  const send = (action: string, type: string, content: string) =>
    ask('POST', '/soap/Album', { 'content-type': type, soapaction: `"${action}"` }, content)
  const show = `<e:Envelope xmlns:e="${soap11}"><e:Header>${blocks('urn:Show')}</e:Header><e:Body><Show xmlns="urn:album"><name>sea</name></Show></e:Body></e:Envelope>`
  const refused = await send('urn:Show', 'text/xml', show)
  assert.match(refused.text, /OnlyAnonymousAddressSupported/)
  const envelope = `<e:Envelope xmlns:e="${soap11}"><e:Header>${blocks('urn:Drop')}</e:Header><e:Body/></e:Envelope>`
  const drop = `${part('root', 'text/xml', envelope)}${part('octets=1@x', 'a/b')}--b--\r\n`
  assert.equal((await send('urn:Drop', packageType, drop)).status, 202)
})

test('a reply that breaks its part is an incident', async () => {
  await assert.rejects(open().Show({ name: 'bad' }), /Show/)
  assert.match(JSON.stringify((await hosted).lines.map(({ fields }) => String(JSON.stringify(fields)))), /Body.shown must be text/)
}) // biome-ignore format: a long line

test('types: octets, text, and a media type if it is open', () => {
  const compile = async () => {
    const client = open()
    const { copy } = await client.Keep({ title: '', picture, notes: '' })
    const octets: Uint8Array = copy
    const { drawn } = await client.DrawEncoded({ width: 1, image: gif })
    const type: 'image/gif' | 'image/png' = drawn.mediaType
    // @ts-expect-error a media type that is not declared
    await client.DrawEncoded({ width: 1, image: { mediaType: 'image/bmp', value: picture } })
    // @ts-expect-error text in place of octets
    await client.Keep({ title: '', picture: '', notes: '' })
    return [octets, type]
  }
  assert.equal(typeof compile, 'function')
})

test('SwA Profile 1.1 §5.4 a client that signs its messages signs its attachments', async () => {
  const { key, certificate } = issuePartner('CN=ann')
  const signing = open({ security: { signature: { key, by: { certificate } } } })
  const { content } = await signing.Keep.render({ title: 'sea', picture, notes: 'blue' })
  const references = [...Buffer.from(content as Uint8Array).toString('latin1').matchAll(/<ds:Reference URI="cid:(\w+)=/g)]
  assert.deepEqual(references.map(([, name]) => name), ['picture', 'notes'])
}) // biome-ignore format: long lines
