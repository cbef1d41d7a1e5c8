/**
 * XML Schema Part 1 §3.4.4, 2.1: an empty content type has no characters, so no white space; one of
 * elements that may all be absent has it. libxml2 judges the schema as it came.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerError, createPortClient } from '../../src/client/index.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemaWith = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
    <xs:complexType name="Empty"/><xs:complexType name="Open"><xs:sequence><xs:element name="a" minOccurs="0"/></xs:sequence></xs:complexType>
    <xs:element name="r"><xs:complexType>${content}</xs:complexType></xs:element></xs:schema>`
const extend = (base: string, content = ''): string =>
  `<xs:complexContent><xs:extension base="t:${base}">${content}</xs:extension></xs:complexContent>`
const attribute = '<xs:attribute name="of" type="xs:string"/>'

const contents = [
  '',
  attribute,
  '<xs:sequence/>',
  '<xs:all/>',
  '<xs:choice minOccurs="0"/>',
  `<xs:sequence/>${attribute}`,
  '<xs:sequence><xs:element name="a" minOccurs="0"/></xs:sequence>',
  '<xs:choice minOccurs="0"><xs:element name="a"/></xs:choice>',
  '<xs:all><xs:element name="a" minOccurs="0"/></xs:all>',
  extend('Empty', attribute),
  extend('Open', attribute),
]
const documents = ['', ' ', '\n\t', '<!-- -->', ' <!-- -->', 'a', '<a/>', ' <a/> ']

for (const content of contents)
  test(`§3.4.4 white space is where the schema has it: ${content}`, () => {
    const root = importText(writeAskingWsdl(schemaWith(content))).ports[0]?.exchanges['ask']?.input
    assert.ok(typeof root === 'object' && 'name' in root)
    const codec = createElementCodecs()(root)
    const original = judge(schemaWith(content))
    for (const inner of documents) {
      const text = `<t:r xmlns:t="urn:t">${inner}</t:r>`
      assert.equal(readContent(codec, text) !== undefined, original.flaw(text) === undefined, text)
    }
  })

const described = importText(
  writeAskingWsdl(schemaWith('')).replace(
    '<message name="Out"/>',
    '<message name="Out"><part name="a" element="t:r"/></message>',
  ),
)
const ask = (inner: string, lenient?: readonly ['unknown']) => {
  const content = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><t:r xmlns:t="urn:t">${inner}</t:r></e:Body></e:Envelope>`
  const answer = { status: 200, fields: { 'content-type': 'text/xml' }, content: Buffer.from(content) }
  const transport = { prepare: () => async () => answer, close: () => {} }
  const [port] = described.ports
  const service = { ...described, ports: [port ?? assert.fail()] }
  const client = createPortClient(service as never, { address: 'http://x/', transport, ...(lenient && { lenient }) })
  return (client as unknown as { ask: { callForHeaders(input: object): Promise<{ forgiven: object[] }> } }).ask
}
test('a client refuses undeclared white space in a response, unless it is lenient', async () => {
  await assert.rejects(ask('\n').callForHeaders({}), AnswerError)
  for (const inner of ['\n', '\n<more/>\n']) {
    const { forgiven } = await ask(inner, ['unknown']).callForHeaders({})
    assert.deepEqual(forgiven.length, 1, inner)
  }
})
