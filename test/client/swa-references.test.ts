/**
 * Elements, text and attributes that refer to an attachment by `ref:swaRef` (WS-I Attachments
 * Profile 1.0 §4.4): declared, served, published, called and shown by REST.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { completeLimits, transportOptionsOf } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { passInputs } from '../../src/bridge/passing-inputs.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createMessageDress } from '../../src/client/dressed-message.ts'
import { AnswerError, InputError } from '../../src/client/errors.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { createPortClient, type PortClientOptions } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { type DescribedPorts, exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { readWsdl } from '../../src/import/index.ts'
import { startHosted } from '../host/hosted-service.ts'

const desk = x.namespace('urn:desk')
const Scan = desk.type('Scan', { value: x.text(x.swaRef), label: x.attribute(x.string).optional() })
const Case = desk.element(
  'Case',
  x.object({
    title: x.element(x.string),
    scan: x.element(Scan).many(),
    cover: x.element(x.swaRef).nillable().optional(),
    plain: x.element(x.base64Binary).optional(),
    seal: x.attribute(x.swaRef).optional(),
  }),
)
const Note = desk.element('Note', x.swaRef)
const Broken = desk.element('Broken', x.object({ part: x.element(x.swaRef) }))
const told = { sum: x.element(x.int), copy: x.element(x.swaRef) }
const asked = { bild: x.element(x.swaRef), width: x.element(x.int) }
const Desk = port('Desk', {
  namespace: 'urn:desk:wsdl',
  allow: [anyone],
  exchanges: {
    File: exchange({ action: 'urn:File', input: Case, output: Case, faults: { Broken } }),
    Note: exchange({ action: 'urn:Note', input: Note, output: Note }),
    Draw: exchange({
      style: 'rpc',
      action: 'urn:Draw',
      input: x.call('urn:rpc', 'Draw', asked),
      output: x.call('urn:rpc', 'DrawResponse', told),
    }),
    DrawEncoded: exchange({
      style: 'encoded',
      action: 'urn:DrawEncoded',
      input: x.call('urn:rpc', 'DrawEncoded', asked),
      output: x.call('urn:rpc', 'DrawEncodedResponse', told),
    }),
    Beside: exchange({
      action: 'urn:Beside',
      input: x.body({ note: x.ref(Note), more: x.attachment(x.string, 'text/plain') }),
      output: x.body({ note: x.ref(Note), more: x.attachment(x.string, 'text/plain') }),
    }),
  },
})
const contract = service('desk', { namespace: 'urn:desk', resources: [], ports: [Desk] })
const app = implement(contract, {
  Desk: {
    File: (given, ctx) => (given.title === 'bad' ? ctx.fail('Broken', { part: new Uint8Array(1) }) : given),
    Note: note => note,
    Draw: ({ bild: copy, width }) => ({ sum: width + copy.length, copy }),
    DrawEncoded: ({ bild: copy, width }) => ({ sum: width + copy.length, copy }),
    Beside: ({ note, more }) => ({ note, more: `${more}!` }),
  },
})
const hosted = await startHosted({}, app)
const host = `127.0.0.1:${hosted.server.port}`
const wsdl = await readWsdl(`http://${host}/soap/Desk?wsdl`, { fetch: [host] })
const open = (options: PortClientOptions<'Desk', never> = {}, from: DescribedPorts = contract) => {
  const client = createPortClient<typeof contract>(from, { address: `http://${host}/soap/Desk`, ...options })
  after(() => client[Symbol.dispose]())
  return client
}
/** All octets, line ends and what looks like a boundary among them. */
const picture = Uint8Array.from([...Array(256).keys(), ...Buffer.from('\r\n--x\r\n\r\n')])
const [one, two] = [Uint8Array.of(1), Uint8Array.of(2, 2)]
const whole = {
  title: 'sea',
  scan: [{ value: picture, label: 'a' }, { value: one }],
  cover: two,
  plain: picture,
  seal: new Uint8Array(0),
}

for (const [by, from] of [['the contract', contract], ['the WSDL that is served', wsdl]] as const)
  for (const soap of ['1.1', '1.2'] as const)
    for (const mtom of [false, true])
      describe(`by ${by}, SOAP ${soap}${mtom ? ', next to MTOM' : ''}`, () => {
        test('document/literal: in elements that repeat, in text, in attributes, nil and absent', async () => {
          const client = open({ soap, mtom }, from)
          const { plain, ...others } = await client.File(whole)
          assert.deepEqual({ ...others, plain: new Uint8Array(plain ?? []) }, whole)
          assert.deepEqual(await client.File({ title: '', scan: [], cover: null }), { title: '', scan: [], cover: null })
          assert.deepEqual(await client.File({ title: '', scan: [] }), { title: '', scan: [] })
        })
        test('document/literal: the element of the Body itself, and with a part of its own', async () => {
          const client = open({ soap, mtom }, from)
          assert.deepEqual(await client.Note(picture), picture)
          assert.deepEqual(await client.Beside({ note: picture, more: 'blue' }), { note: picture, more: 'blue!' })
        })
        for (const style of ['Draw', 'DrawEncoded'] as const)
          test(`RPC: ${style}`, async () => {
            const answer = await open({ soap, mtom }, from)[style]({ bild: picture, width: 3 })
            assert.deepEqual(answer, { sum: 268, copy: picture })
          })
      }) // biome-ignore format: a long line

test('the WSDL has the type of the profile, declared and imported; its contract is the same', async () => {
  assert.deepEqual(wsdl.losses, [])
  const { text } = await hosted.ask('GET', '/soap/Desk?wsdl')
  const [, prefix] = /xmlns:(\w+)="http:\/\/ws-i.org\/profiles\/basic\/1.1\/xsd"/.exec(text) ?? []
  for (const expected of [
    '<xs:import namespace="http://ws-i.org/profiles/basic/1.1/xsd"/>',
    `<xs:element name="Note" type="${prefix}:swaRef"/>`,
    `<xs:attribute name="seal" type="${prefix}:swaRef"/>`,
    `<xs:extension base="${prefix}:swaRef">`,
    `<wsdl:part name="bild" type="${prefix}:swaRef"/>`,
  ])
    assert.ok(text.includes(expected), expected)
  assert.match(text, /targetNamespace="http:\/\/ws-i.org\/profiles\/basic\/1.1\/xsd"[^>]*>\s*<xs:simpleType name="swaRef">\s*<xs:restriction base="xs:anyURI"\/>/)
  assert.doesNotMatch(text, /xs:swaRef/)
}) // biome-ignore format: a long pattern

test('R2931, R2932 the root is the Envelope, in its own media type; R2928 each URI is that of a part', async () => {
  const { fields, content } = await open().File.render(whole)
  const text = Buffer.from(content as Uint8Array).toString('latin1')
  assert.match(fields['content-type'] ?? '', /^multipart\/related; type="text\/xml"; start="<root@diglot>"; boundary=/)
  assert.equal(fields['accept'], 'multipart/related; type="text/xml", text/xml')
  assert.doesNotMatch(text, /xop/i)
  const referred = [...text.matchAll(/cid:([\w@]+)/g)].map(([, id]) => id)
  assert.equal(new Set(referred).size, 4)
  for (const id of referred) assert.match(text, new RegExp(`Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>`))
}) // biome-ignore format: a long pattern

test('in REST octets are base64, in JSON and in XML', async () => {
  const ask = (type: string, content: string) =>
    hosted.ask('POST', '/api/v1/Desk/File', { 'content-type': type, accept: type }, content)
  const json = { title: 'sea', scan: [{ value: 'AAEC' }], cover: 'AQ==', seal: 'Ag==' }
  assert.deepEqual(JSON.parse((await ask('application/json', JSON.stringify(json))).text), json)
  const xml = await ask('application/xml', '<Case xmlns="urn:desk" seal="Ag=="><title>sea</title><scan>AAEC</scan></Case>')
  assert.match(xml.text, /seal="Ag=="[^>]*>.*<\w*:?scan>AAEC</)
  assert.equal((await ask('application/json', JSON.stringify({ ...json, cover: 'cid:1@x' }))).status, 422)
  const { components } = JSON.parse((await hosted.ask('GET', '/openapi.json')).text)
  assert.match(JSON.stringify(components), /"value":\{"type":"string","contentEncoding":"base64"/)
}) // biome-ignore format: a long line

// What comes

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const part = (id: string, content = 'x') =>
  `--b\r\nContent-Type: image/png\r\nContent-ID: <${id}>\r\n\r\n${content}\r\n`
const envelope = (body: string) => `<e:Envelope xmlns:e="${soap11}"><e:Body>${body}</e:Body></e:Envelope>`
const write = (body: string, ...parts: readonly string[]) =>
  `--b\r\nContent-Type: text/xml\r\nContent-ID: <root>\r\n\r\n${envelope(body)}\r\n${parts.join('')}--b--\r\n`
const packageType = 'multipart/related; type="text/xml"; start="<root>"; boundary=b'
const file = (...scans: readonly string[]) =>
  `<Case xmlns="urn:desk"><title>sea</title>${scans.map(each => `<scan>${each}</scan>`).join('')}</Case>`
const ask = (action: string, content: string, type = packageType) =>
  hosted.ask(
    'POST',
    '/soap/Desk',
    { 'content-type': type, soapaction: `"urn:${action}"` },
    Buffer.from(content, 'latin1') as never,
  )
// biome-ignore format: a long line
const noPart = (id: string) => new RegExp(`/Case\\[1\\]/scan\\[1\\] refers to ${id}, a part that its message does not have`)
/** [title, Body, parts, what the fault says; undefined: it is answered] */
const requests: readonly (readonly [string, string, readonly string[], RegExp?])[] = [
  ['R2928 a part', file('cid:a@x'), [part('a@x')]],
  ['R2928 a part twice', file('cid:a@x', 'cid:a@x'), [part('a@x')]],
  ['R2928 a part sixteen times', file(...Array<string>(16).fill('cid:a@x')), [part('a@x')]],
  ['attack: a part seventeen times', file(...Array<string>(17).fill('cid:a@x')), [part('a@x')], /a part is referred to more than 16 times/],
  ['R2928 parts in another order, one of them not referred to', file('cid:a@x', 'cid:b@x'), [part('c@x'), part('b@x'), part('a@x')]],
  ['RFC 2392 a Content-ID with escapes, in white space, the scheme in capitals', file('\n CID:a%20b%25@x '), [part('a b%@x')]],
  ['a Content-ID without its scheme, as Apache CXF writes it', file('a@x'), [part('a@x')]],
  ['a part before the root', file('cid:a@x'), []],
  ['R2928 attack: a part that is not there', file('cid:z@x'), [part('a@x')], noPart('cid:z@x')],
  ['R2928 attack: no part at all', file('cid:a@x'), [], noPart('cid:a@x')],
  ['R2928 attack: an address', file('http://127.0.0.1/x'), [part('a@x')], /must be the cid: URI of an attachment of its message/],
  ['R2928 attack: a file', file('file:///etc/passwd'), [part('a@x')], /must be the cid: URI/],
  ['R2928 attack: a relative URI', file('AAEC'), [part('a@x')], /must be the cid: URI/],
  ['R2928 attack: nothing', file(''), [part('a@x')], /must be the cid: URI/],
  ['R2928 attack: an element', file('<a/>'), [part('a@x')], /scan\[1\](?:\/a\[1\])? is an element/],
  ['R2928 attack: XOP', file('<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:a@x"/>'), [part('a@x')], /is an element/],
  ['R2928 attack: an attribute that is not there', file().replace('<Case', '<Case seal="cid:z@x"'), [], /seal refers to cid:z@x, a part that its/],
  ['attack: the same Content-ID twice', file('cid:a@x'), [part('a@x'), part('a@x')], /two parts have the same Content-ID/],
] // biome-ignore format: a table
for (const [title, body, parts, refused] of requests)
  test(`a request that refers to an attachment: ${title}`, async () => {
    const message = title === 'a part before the root' ? `${part('a@x')}${write(body)}` : write(body, ...parts)
    const { status, text } = await ask('File', message)
    assert.equal(status, refused ? 500 : 200, text)
    if (!refused) return assert.match(text, /scan>cid:1@diglot</)
    assert.match(text, refused)
    assert.match(text, /<faultcode>soap:Client</)
  })
test('R2928 attack: a message without a package is refused, and so is one with octets in it', async () => {
  for (const scan of ['cid:a@x', 'AAEC']) {
    const { status, text } = await ask('File', envelope(file(scan)), 'text/xml')
    assert.deepEqual([status, /<faultcode>soap:Client</.test(text), /\/scan\[1\]/.test(text)], [500, true, true], text)
  }
})

test('the detail of a fault has no attachment: to raise one with it is an incident that names it', async () => {
  await assert.rejects(open().File({ ...whole, title: 'bad' }))
  const lines = JSON.stringify(hosted.lines.map(({ fields }) => String(JSON.stringify(fields))))
  assert.match(lines, /Broken.part refers to an attachment, which is possible only in a Body/)
})

const answering = (content: string): ClientTransport => ({
  prepare: () => async () => ({ status: 200, fields: { 'content-type': packageType }, content: Buffer.from(content, 'latin1') }),
  close: () => {},
}) // biome-ignore format: a long line
for (const [title, parts, refused] of [
  ['a part', [part('a@x')]],
  ['R2928 attack: a part that is not there', [part('b@x')], /refers to cid:a@x, a part that its message does not have/],
] as const)
  test(`an answer that refers to an attachment: ${title}`, async () => {
    const asking = open({ transport: answering(write(file('cid:a@x'), ...parts)) }).File({ title: '', scan: [] })
    if (!refused) return assert.deepEqual((await asking).scan, [{ value: Uint8Array.from(Buffer.from('x')) }])
    await assert.rejects(asking, thrown => {
      assert.ok(thrown instanceof AnswerError, String(thrown))
      assert.deepEqual([thrown.why, refused.test(thrown.message)], ['invalid', true], thrown.message)
      return true
    })
  })

test('a value that is no octets is refused before it is sent, with its place', () =>
  assert.rejects(open().File.render({ title: '', scan: [], cover: 'cid:a' as never }), thrown => {
    assert.ok(thrown instanceof InputError, String(thrown))
    assert.deepEqual(thrown.problems[0]?.path, ['cover'])
    return true
  }))

for (const mtom of [false, true])
  test(`a bridge sends and reads them as octets of JSON${mtom ? ', next to MTOM' : ''}`, async () => {
    const to = `http://${host}/soap/Desk`
    const limits = completeLimits({})
    const transport = createHttpTransport(to, transportOptionsOf(limits))
    after(() => transport.close())
    const dress = createMessageDress(undefined, to, { mtom })
    const port = passInputs(openPort(wsdl.ports[0] ?? assert.fail('no port'), [anyone]), dress, 1_000_000)
    const app = createBridge(describeBridge('desk', 'urn:desk', [port]), {
      callerOf: each => createPortCaller(each, transport, { timeLimit: 20_000, ...limits, dress }),
      note: () => {},
      limits,
    })
    const bridge = await startHosted({}, app)
    const send = (name: string, content: object) =>
      bridge.ask('POST', `/api/v1/Desk/${name}`, { 'content-type': 'application/json' }, JSON.stringify(content))
    const given = { title: 'sea', scan: [{ value: 'AAEC' }], cover: 'AQ==', plain: 'AQI=', seal: 'Ag==' }
    assert.deepEqual(JSON.parse((await send('File', given)).text), given)
    assert.deepEqual(JSON.parse((await send('Draw', { bild: 'AAEC', width: 2 })).text), { sum: 5, copy: 'AAEC' })
  })
