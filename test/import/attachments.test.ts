/** WSDL 1.1 §5.11: parts that travel next to the envelope, as a contract says them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

interface Given {
  readonly style?: 'document' | 'rpc'
  readonly use?: string
  /** The attributes of `mime:content` for the part `b`. */
  readonly contents: readonly string[]
  readonly type?: string
}
const write = ({ style = 'document', use = 'literal', contents, type = 'xs:base64Binary' }: Given) => `<definitions
    xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t" xmlns:m="http://schemas.xmlsoap.org/wsdl/mime/"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t"><xs:element name="A" type="xs:int"/></xs:schema></types>
  <message name="In"><part name="b" type="${type}"><documentation>The picture.</documentation></part>
    <part name="a" ${style === 'rpc' ? 'type="xs:int"' : 'element="t:A"'}/></message><message name="Out"/>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><s:binding style="${style}" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/><input><m:multipartRelated>
      <m:part><s:body use="${use}" namespace="urn:t"/></m:part><m:part>${contents.map(each => `<m:content part="b" ${each}/>`).join('')}</m:part>
    </m:multipartRelated></input><output><s:body use="${use}" namespace="urn:t"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`

/** [what the document says, its parts, the attachment in TypeScript] */
const cases: readonly (readonly [string, Given, string])[] = [
  ['one media type', { contents: ['type="image/png"'] }, "x.attachment(x.base64Binary, 'image/png')"],
  ['alternatives', { contents: ['type="image/png"', 'type="image/gif"'] }, "x.attachment(x.base64Binary, 'image/png', 'image/gif')"],
  ['a range of them', { contents: ['type="image/*"'] }, "x.attachment(x.base64Binary, 'image/*')"],
  ['any of them', { contents: [''] }, 'x.attachment(x.base64Binary)'],
  ['any of them, by a range', { contents: ['type="*/*"'] }, 'x.attachment(x.base64Binary)'],
  ['text', { contents: ['type="text/plain"'], type: 'xs:string' }, "x.attachment(x.string, 'text/plain')"],
  ['text of a media type of octets', { contents: ['type="image/png"'], type: 'xs:string' }, "x.attachment(x.base64Binary, 'image/png')"],
  ['text of any media type', { contents: [''], type: 'xs:string' }, 'x.attachment(x.base64Binary)'],
  ['RPC literal', { style: 'rpc', contents: ['type="image/png"'] }, "x.attachment(x.base64Binary, 'image/png')"],
  ['RPC encoded', { style: 'rpc', use: 'encoded', contents: ['type="image/png"'] }, "x.attachment(x.base64Binary, 'image/png')"],
] // biome-ignore format: a table
for (const [title, given, printed] of cases)
  test(`WSDL 1.1 §5.11 ${title}`, () => {
    const contract = importText(write(given))
    assert.deepEqual(contract.losses, [])
    const text = writeTypescript(contract, 'test.wsdl')
    const first = given.style === 'rpc' ? 'a: x.element(x.int),' : 'a: x.ref(A),'
    assert.ok(text.includes(`${first}\n        /** The picture. */\n        b: ${printed},\n`), text)
    const port = contract.ports[0] ?? assert.fail('no port')
    const again = importText(writePortWsdl(port, 'http://localhost/'))
    assert.deepEqual(again.losses, [])
    assert.equal(digestPort(again.ports[0] ?? assert.fail('no port')), digestPort(port))
  })

test('WSDL 1.1 §5.3 the content of the only part of a message need not name it', () => {
  const named = write({ contents: ['type="image/png"'] }).replace(/<part name="a"[^>]*>/, '')
  const unnamed = named.replace('part="b" ', '')
  assert.notEqual(unnamed, named)
  const [contract, same] = [importText(unnamed), importText(named)]
  assert.deepEqual([contract.losses, same.losses], [[], []])
  assert.equal(writeTypescript(contract, 'test.wsdl'), writeTypescript(same, 'test.wsdl'))
  const severalParts = importText(write({ contents: ['type="image/png"'] }).replace('part="b" ', ''))
  assert.match(severalParts.losses.map(({ detail }) => detail).join(), /attachment {2}is not a part/)
})
