/** WS-I Basic Profile 1.1, 1.2 and 2.0, rule by rule: what docs/soap.md, "Profiles", says of messages. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({ allow: { read: [anyone] } })
const archive = service('archive', { namespace: 'urn:archive', resources: [notes] })
const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const soap12 = 'http://www.w3.org/2003/05/soap-envelope'
const encoding11 = 'http://schemas.xmlsoap.org/soap/encoding/'

describe('WS-I Basic Profile', () => {
  let running: Awaited<ReturnType<typeof startTestService<typeof archive>>>
  before(async () => {
    const seed = () => ({ items: { notes: [{ id: 'n-1', text: 'é' }] } })
    running = await startTestService(archive, implement(archive, {}, { seed }))
  })
  after(() => running.close())

  const getNote = (id = 'n-1', attributes = '') =>
    `<GetNote xmlns="urn:archive:v1"${attributes}><id>${id}</id></GetNote>`
  interface Sent {
    readonly version?: string
    readonly envelope?: string
    readonly header?: string
    readonly body?: string
    readonly before?: string
    readonly after?: string
    readonly fields?: Record<string, string>
    readonly path?: string
    readonly method?: string
  }
  async function send(sent: Sent) {
    const { version = soap11, envelope = '', header = '', body = getNote(), before = '', after: behind = '' } = sent
    const usual: Record<string, string> =
      version === soap11 ? { 'content-type': 'text/xml', soapaction: '""' } : { 'content-type': 'application/soap+xml' }
    const text = `${before}<e:Envelope xmlns:e="${version}"${envelope}>${header}<e:Body>${body}</e:Body>${behind}</e:Envelope>`
    const { method = 'POST', path = '/soap/v1', fields = usual } = sent
    const content = method === 'GET' ? {} : { body: text }
    const response = await running.fetchAs()(running.address + path, { method, headers: fields, ...content })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  const block = (more: string) => `<e:Header><x:y xmlns:x="urn:x"${more}/></e:Header>`

  const received: readonly (readonly [rule: string, sent: Sent, status: number, said?: RegExp])[] = [
    ['R1005 an encodingStyle of the Envelope promises nothing', { envelope: ` e:encodingStyle="${encoding11}"` }, 200],
    ['R1006 nor does that of a child of Body', { body: getNote('n-1', ' e:encodingStyle=""') }, 200],
    ['R1008 no document type', { before: '<!DOCTYPE a>' }, 500, /document type/],
    ['R1009 no processing instruction', { before: '<?a?>' }, 500, /processing instruction/],
    ['R1010 an XML declaration', { before: '<?xml version="1.0"?>' }, 200],
    ['R1011 nothing follows Body', { after: '<x xmlns="urn:x"/>' }, 500, /after the Body/],
    ['R1012 another encoding', { before: '<?xml version="1.0" encoding="iso-8859-1"?>' }, 200],
    ['R1013 mustUnderstand is 1', { header: block(' e:mustUnderstand="1"') }, 500, /MustUnderstand/],
    ['R1013 or true', { header: block(' e:mustUnderstand="true"') }, 500, /MustUnderstand/],
    ['R1014 a child of Body has a namespace', { body: '<GetNote><id>n-1</id></GetNote>' }, 500, /GetNote/],
    [
      'R1015 the root is Envelope',
      { version: 'urn:x', fields: { 'content-type': 'text/xml' } },
      500,
      /VersionMismatch/,
    ],
    ['R1017 xsi:type is not needed', {}, 200],
    ['R1027 a mandatory block comes first', { header: block(' e:mustUnderstand="1"'), body: '<x/>' }, 500, /MustUnder/],
    ['R1032 attributes of SOAP on the Envelope', { envelope: ' e:mustUnderstand="1"' }, 200],
    ['R1114 POST alone', { method: 'GET', fields: {} }, 405],
    ['R1115 a media type', { fields: { 'content-type': 'text/plain' } }, 415],
    ['R1119 SOAPAction in quotes', { fields: { 'content-type': 'text/xml', soapaction: 'urn:a' } }, 500, /in quotes/],
    ['R1127 of another operation', { fields: { 'content-type': 'text/xml', soapaction: '"urn:a"' } }, 500, /expected/],
    ['R2744 no SOAPAction', { fields: { 'content-type': 'text/xml' } }, 200],
    ['R4001 a byte order mark', { before: '\ufeff' }, 200],
    ['R9981 one child of Body', { body: getNote() + getNote() }, 500, /more than one/],
    ['2.0 R1008 no document type', { version: soap12, before: '<!DOCTYPE a>' }, 500, /document type/],
    ['2.0 R9981 one child of Body', { version: soap12, body: getNote() + getNote() }, 500, /more than one/],
  ]
  for (const [rule, sent, status, said = /./] of received)
    it(`${rule}: ${status}`, async () => {
      const answer = await send(sent)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.text, said)
    })

  for (const [version, type] of [
    [soap11, 'text/xml; charset=utf-8'],
    [soap12, 'application/soap+xml; charset=utf-8'],
  ] as const)
    it(`R1000, R1001, R1004, R1018, R1032, R1111, R1126, R2738: what is sent, in ${type}`, async () => {
      const answer = await send({ version })
      const fault = await send({ version, body: getNote('n-0') })
      assert.deepEqual([answer.status, answer.type, fault.status, fault.type], [200, type, 500, type])
      for (const { text } of [answer, fault]) {
        assert.match(text, /^<\?xml version="1.0" encoding="UTF-8"\?><soap:Envelope xmlns:soap="[^" ]*"><soap:Body>/)
        assert.doesNotMatch(text, /encodingStyle|<!DOCTYPE|xmlns:xml=/)
      }
      if (version === soap11)
        assert.match(
          fault.text,
          /<soap:Fault><faultcode>soap:Client<\/faultcode><faultstring xml:lang="en">[^<]*<\/faultstring><faultactor>[^<]*<\/faultactor><detail><NotFound /,
        )
    })

  it('R2729, R2735 an RPC/literal response is named after its operation, and its parts have no namespace', async () => {
    const body = '<m:GetNote xmlns:m="urn:archive:v1"><id>n-1</id></m:GetNote>'
    const { text } = await send({ body, path: '/soap/v1/rpc' })
    assert.match(text, /<m:GetNoteResponse xmlns:m="urn:archive:v1"[^>]*><note>/)
  })
})
