/** How replies are declared to come later: WSDL, command, map; what the bridge then needs. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { block, envelope, price } from './later-bridge.ts'
import { folder, importMap, runBridge } from './map-command.ts'

const wsp = 'http://www.w3.org/ns/ws-policy'
const wsam = 'http://www.w3.org/2007/05/addressing/metadata'
const wsaw = 'http://www.w3.org/2006/05/addressing/wsdl'
interface Demands {
  readonly binding?: string
  readonly operation?: string
}
const writeWsdl = ({ binding = '', operation = '' }: Demands = {}): string => `<w:definitions name="shop"
    xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:wsp="${wsp}" xmlns:wsam="${wsam}" xmlns:wsaw="${wsaw}"
    xmlns:t="urn:shop" targetNamespace="urn:shop">
  <w:types><s:schema xmlns:s="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:shop" elementFormDefault="qualified">
    <s:element name="Ask"><s:complexType><s:sequence><s:element name="item" type="s:string"/></s:sequence></s:complexType></s:element>
    <s:element name="Price"><s:complexType><s:sequence><s:element name="item" type="s:string"/><s:element name="amount" type="s:decimal"/></s:sequence></s:complexType></s:element>
  </s:schema></w:types>
  <w:message name="AskIn"><w:part name="p" element="t:Ask"/></w:message>
  <w:message name="PriceOut"><w:part name="p" element="t:Price"/></w:message>
  <w:portType name="ShopType">
    <w:operation name="GetPrice"><w:input message="t:AskIn"/><w:output message="t:PriceOut"/></w:operation>
    <w:operation name="Tell"><w:input message="t:AskIn"/></w:operation>
    <w:operation name="GetOther"><w:input message="t:AskIn"/><w:output message="t:PriceOut"/></w:operation>
  </w:portType>
  <w:binding name="ShopBinding" type="t:ShopType">${binding}
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    ${['GetPrice', 'Tell', 'GetOther']
      .map(
        name =>
          `<w:operation name="${name}">${name === 'GetOther' ? '' : operation}<soap:operation soapAction="urn:${name}"/><w:input><soap:body use="literal"/></w:input>${name === 'Tell' ? '' : '<w:output><soap:body use="literal"/></w:output>'}</w:operation>`,
      )
      .join('')}
  </w:binding>
  <w:service name="ShopService"><w:port name="Shop" binding="t:ShopBinding"><soap:address location="http://127.0.0.1:9/"/></w:port></w:service>
</w:definitions>`

const policy = (inside: string): string => `<wsp:Policy>${inside}</wsp:Policy>`
const addressed = (inside: string, attributes = ''): string =>
  policy(`<wsam:Addressing${attributes}>${policy(inside)}</wsam:Addressing>`)
const elsewhere = '<wsam:NonAnonymousResponses/>'
const either = `<wsp:ExactlyOne><wsam:AnonymousResponses/>${elsewhere}</wsp:ExactlyOne>`

describe('the requirements of a WSDL', () => {
  const rows: readonly (readonly [what: string, demands: Demands, later: readonly string[]])[] = [
    ['nothing', {}, []],
    ['WS-Addressing Metadata §3.1.3', { binding: addressed(elsewhere) }, ['GetPrice', 'GetOther']],
    ['§3.1.1: addressing of any kind', { binding: addressed('') }, []],
    ['§3.1.2: answers in the response', { binding: addressed('<wsam:AnonymousResponses/>') }, []],
    ['either of them', { binding: addressed(either) }, []],
    ['an addressing that is optional', { binding: addressed(elsewhere, ' wsp:Optional="true"') }, []],
    [
      'in each of its alternatives',
      {
        binding: policy(
          `<wsp:ExactlyOne>${[elsewhere, elsewhere].map(each => `<wsp:All><wsam:Addressing>${policy(each)}</wsam:Addressing></wsp:All>`).join('')}</wsp:ExactlyOne>`,
        ),
      },
      ['GetPrice', 'GetOther'],
    ],
    [
      'in one of its alternatives',
      {
        binding: policy(
          `<wsp:ExactlyOne><wsp:All/><wsp:All><wsam:Addressing>${policy(elsewhere)}</wsam:Addressing></wsp:All></wsp:ExactlyOne>`,
        ),
      },
      [],
    ],
    ['WSDL Binding §3.2', { operation: '<wsaw:Anonymous>prohibited</wsaw:Anonymous>' }, ['GetPrice']],
    ['§3.2: optional', { operation: '<wsaw:Anonymous>optional</wsaw:Anonymous>' }, []],
    ['§3.2: required', { operation: '<wsaw:Anonymous>required</wsaw:Anonymous>' }, []],
  ]
  for (const [what, demands, later] of rows)
    test(`${what}: ${later.join() || 'no answer comes later'}`, () => {
      const read = readImportedContract(Buffer.from(writeWsdl(demands)), 'shop.wsdl', () => undefined)
      assert.ok(!(read instanceof Malformed))
      assert.deepEqual([...(read.policies.get('Shop')?.later ?? [])], later)
    })
})

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const data = (name: string): readonly string[] => ['--data', join(folder, `${name}.sqlite`)]

describe('the command', { concurrency: 2 }, () => {
  const plain = write('plain.wsdl', writeWsdl())
  const demanding = write('demanding.wsdl', writeWsdl({ binding: addressed(elsewhere) }))
  const to = ['--to', 'http://127.0.0.1:9/', '--anyone']
  const rows: readonly (readonly [what: string, words: readonly string[], says: RegExp])[] = [
    [
      'without an address for answers that the WSDL demands',
      [demanding, ...to],
      /answers of Shop.GetPrice, Shop.GetOther come later: give --replies <url>/,
    ],
    [
      'with an address that no answer needs',
      [plain, ...to, '--replies', 'http://a.test'],
      /no answer comes later: give --later/,
    ],
    ['with what is no address', [plain, ...to, '--later', '--replies', 'a.test'], /--replies a.test is not an http/],
    [
      'with a query',
      [plain, ...to, '--later', '--public-url', 'http://a.test?b'],
      /--public-url http:\/\/a.test\?b is not/,
    ],
    [
      'in memory',
      [plain, ...to, '--later', '--replies', 'http://a.test', '--data', ':memory:'],
      /a bridge in memory would forget the calls that wait for them: give --data a file/,
    ],
  ]
  for (const [what, words, says] of rows)
    test(`ends ${what}, and says what to give`, async () => {
      const { said, url } = await runBridge(words)
      assert.equal(url, '')
      assert.match(said, says)
    })

  test('runs behind a proxy only with --public-url, where its links and replies begin', async () => {
    const address = 'https://bridge.example/gate'
    const { said, url } = await runBridge([plain, ...to, '--later', '--public-url', address, ...data('proxied')])
    assert.match(said, /answers come later to https:\/\/bridge\.example\/gate\/replies\//)
    const { servers } = (await (await fetch(`${new URL(url).origin}/openapi.json`)).json()) as { servers: unknown }
    assert.deepEqual(servers, [{ url: address }])
  })

  test('ends before a REST service', async () => {
    const api = write('api.json', JSON.stringify({ openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: {} }))
    assert.match((await runBridge([api, ...to, '--later'])).said, /--later is for replies by WS-Addressing/)
  })

  test('receives replies where --replies says, by the map, and reads no exchange of them as a resource', async () => {
    const asked: string[] = []
    const behind = createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString()
      asked.push(text)
      if (/ReplyTo/.test(text)) return void response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'text/xml' })
      const [, id = ''] = /<wsa:MessageID[^>]*>([^<]*)</.exec(text) ?? []
      response.end(envelope(price(), block('RelatesTo', id)))
    })
    await new Promise<void>(resolve => void behind.listen(0, '127.0.0.1', resolve))
    after(() => behind.close())
    const address = `http://127.0.0.1:${(behind.address() as AddressInfo).port}/`
    const map = importMap(plain)
    const named = write('named.ts', `${map}\nexport const behind = { later: ['GetPrice'] }\n`)
    const words = [plain, '--to', address, '--map', named, ...data('map'), '--replies', 'http://bridge.test/gate/']
    const { url, said } = await runBridge(words)
    assert.match(said, /answers come later to http:\/\/bridge.test\/gate\/replies\//)
    const post = async (name: string) => {
      const response = await fetch(`${url}/v1/Shop/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"item":"tea"}',
      })
      return { status: response.status, at: response.headers.get('location') ?? '', text: await response.text() }
    }
    const [later, atOnce] = [await post('GetPrice'), await post('GetOther')]
    assert.deepEqual([later.status, atOnce.status], [202, 200], atOnce.text)
    const [text = ''] = asked
    const [, id = ''] = /<wsa:MessageID[^>]*>([^<]*)</.exec(text) ?? []
    const [, path = ''] = /ReplyTo[^>]*><wsa:Address>http:\/\/bridge.test\/gate(\/replies\/[^<]*)</.exec(text) ?? []
    const origin = new URL(url).origin
    const message = { method: 'POST', headers: { 'content-type': 'text/xml' } }
    const to = block('To', `http://bridge.test/gate${path}`)
    const body = envelope(price('2'), block('RelatesTo', id) + to)
    assert.equal((await fetch(origin + path, { ...message, body })).status, 202)
    const result = await fetch(origin + later.at.replace('/jobs/', '/'))
    assert.deepEqual(await result.json(), { item: 'tea', amount: '2' })

    const unknown = write('unknown.ts', `${map}\nexport const behind = { later: ['Tell'] }\n`)
    const refused = await runBridge([plain, '--to', address, '--map', unknown, '--replies', 'http://bridge.test'])
    assert.match(refused.said, /behind.later names Tell, and no exchange with an answer has this name/)
  })
})
