/** What documents refer to and do not bring: standard schemas, and drafts of XML Schema. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText } from './folder-find.ts'

const importSchema = (inside: string, xs = 'http://www.w3.org/2001/XMLSchema') => {
  const contract = importText(
    `<xs:schema xmlns:xs="${xs}" targetNamespace="urn:s" xmlns:s="urn:s" xmlns:mime="http://www.w3.org/2005/05/xmlmime"
      xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/" elementFormDefault="qualified">${inside}</xs:schema>`,
  )
  return { losses: contract.losses.map(({ detail }) => detail), text: writeTypescript(contract, 's.xsd') }
}

for (const draft of ['http://www.w3.org/2000/10/XMLSchema', 'http://www.w3.org/1999/XMLSchema'])
  test(`a schema in the namespace of the draft ${draft} is read`, () => {
    const { losses, text } = importSchema(
      '<xs:complexType name="Visit"><xs:all><xs:element name="at" type="xs:timeInstant"/><xs:element name="lasts" type="xs:timeDuration"/><xs:element name="page" type="xs:uriReference"/></xs:all></xs:complexType><xs:element name="Visited" type="s:Visit"/>',
      draft,
    )
    assert.deepEqual(losses, [])
    assert.match(
      text,
      /at: x\.element\(x\.dateTime\),\s+lasts: x\.element\(x\.duration\),\s+page: x\.element\(x\.anyURI\)/,
    )
  })
test('octets with their media type are known, and their schema need not be there', () => {
  const { losses, text } = importSchema(
    '<xs:import namespace="http://www.w3.org/2005/05/xmlmime" schemaLocation="http://www.w3.org/2005/05/xmlmime"/><xs:element name="Photo" type="mime:base64Binary"/>',
  )
  assert.deepEqual(losses, [])
  assert.match(text, /value: x\.text\(x\.base64Binary\),\s+contentType: x\.attribute\(x\.string\)/)
})
test('a schema of another namespace that is not there is told', () => {
  const { losses } = importSchema('<xs:import namespace="urn:other" schemaLocation="other.xsd"/>')
  assert.deepEqual(losses, ['other.xsd is imported and was not found'])
})
test('the common attributes of the encoding are no members', () => {
  const { losses, text } = importSchema(
    '<xs:complexType name="T"><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence><xs:attributeGroup ref="enc:commonAttributes"/></xs:complexType>',
  )
  assert.deepEqual(losses, [])
  assert.match(text, /type\('T', \{\s+a: x\.element\(x\.int\),\s+\}\)/)
})
