/** XML Schema Part 1 §4.2.1: a schema without a namespace takes that of the schema that includes it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readImportedContract } from '../../src/import/imported-contract.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { Malformed } from '../../src/xml/index.ts'
import { writeAskingWsdl } from './folder-find.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const included = `<xs:schema xmlns:xs="${schemas}" elementFormDefault="qualified">
  <xs:complexType name="G"><xs:sequence><xs:element name="h" type="H"/></xs:sequence></xs:complexType>
  <xs:simpleType name="H"><xs:restriction base="xs:int"/></xs:simpleType>
</xs:schema>`
const wsdlWith = (more: string): string =>
  writeAskingWsdl(`${more}<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t"><xs:include schemaLocation="c.xsd"/>
    <xs:element name="r" type="t:G"/></xs:schema>`)

for (const [what, more] of [
  ['alone', ''],
  ['next to a schema that imports alone', '<xs:schema><xs:import namespace="urn:t"/></xs:schema>'],
  ['next to a schema without a namespace', '<xs:schema><xs:complexType name="H"/></xs:schema>'],
] as const)
  test(`XML Schema §4.2.1 names of an included schema are those of its includer, ${what}`, () => {
    const found = readImportedContract(Buffer.from(wsdlWith(more)), 'a.wsdl', location =>
      location === 'c.xsd' ? { location: 'c.xsd', bytes: Buffer.from(included) } : undefined,
    )
    assert.ok(!(found instanceof Malformed))
    assert.deepEqual(found.losses, [])
    const text = writeTypescript(found, 'a.wsdl')
    assert.match(text, /h: x\.element\(H\)/)
  })
