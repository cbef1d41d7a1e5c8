/** XML Schema Part 2 §3.2.18: names in values of a schema mean what its own prefixes say. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const wsdlOf = (content: string): string =>
  writeAskingWsdl(
    `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" xmlns:p="urn:p" targetNamespace="urn:t"><xs:element name="r">${content}</xs:element></xs:schema>`,
  )
const complex = (content: string): string => `<xs:complexType>${content}</xs:complexType>`
const ofElement = (marks: string): string =>
  complex(`<xs:sequence><xs:element name="a" type="xs:QName" ${marks}/></xs:sequence>`)
const oneOf = (base: string, ...values: readonly string[]): string =>
  `<xs:simpleType><xs:restriction>${`<xs:simpleType>${base}</xs:simpleType>`}${values.map(each => `<xs:enumeration value="${each}"/>`).join('')}</xs:restriction></xs:simpleType>`
const names = '<xs:list itemType="xs:QName"/>'
const nameOrNumber = '<xs:union memberTypes="xs:QName xs:int"/>'
const texts = '<xs:restriction base="xs:string"/>'

/** The value of each document; undefined: it is refused. */
const rows: readonly (readonly [why: string, content: string, documents: Readonly<Record<string, unknown>>])[] = [
  ['§3.3.1 a fixed value of an element', ofElement('fixed="t:a"'), { '><a>z:a</a>': { a: '{urn:t}a' }, '><a>y:a</a>': undefined, '><a/>': { a: '{urn:t}a' } }],
  ['§3.3.1 a default of an element', ofElement('default="p:a"'), { '><a/>': { a: '{urn:p}a' }, '><a>z:b</a>': { a: '{urn:t}b' } }],
  ['§3.2.1 a fixed value of an attribute', complex('<xs:attribute name="k" type="xs:QName" fixed="p:k"/>'), { '>': { k: '{urn:p}k' }, ' k="y:k">': { k: '{urn:p}k' }, ' k="z:k">': undefined }],
  ['§4.3.5 names in a list', oneOf(names, 'p:k  t:k'), { '>y:k z:k': ['{urn:p}k', '{urn:t}k'], '>z:k y:k': undefined }],
  ['§4.3.5 names in a union', oneOf(nameOrNumber, 'p:k', '5'), { '>y:k': '{urn:p}k', '>05': 5, '>z:k': undefined, '>6': undefined }],
  ['§4.3.5 text that looks like a name is not a name', oneOf(texts, '{urn:p}k', 'p:k'), { '>{urn:p}k': '{urn:p}k', '>p:k': 'p:k', '>y:k': undefined }],
] // biome-ignore format: a table

for (const [why, content, documents] of rows)
  test(`${why}: read, written and described`, () => {
    const [port] = importText(wsdlOf(content)).ports
    const root = port?.exchanges['ask']?.input
    assert.ok(port && typeof root === 'object' && 'name' in root)
    const codec = createElementCodecs()(root)
    const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
    for (const [inside, expected] of Object.entries(documents)) {
      const value = readContent(codec, `<z:r xmlns:z="urn:t" xmlns:y="urn:p"${inside}</z:r>`)
      assert.deepEqual(value, expected, inside)
      // libxml2 compares fixed names of elements as they are written.
      if (value !== undefined && !content.includes('fixed="t:a"'))
        assert.equal(served.flaw(codec.write(value as never)), undefined, inside)
    }
  })
