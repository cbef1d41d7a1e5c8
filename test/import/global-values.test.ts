/**
 * XML Schema Part 1 §3.3.1, §3.3.4 5: the default and the fixed value of a global element count
 * wherever it is: as a message, and where a type refers to it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { compareServices } from '../../src/diff/compare-services.ts'
import { readSoapDescription } from '../../src/diff/read-soap.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const schemaWith = (content: string) =>
  `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">${content}
    <xs:complexType name="S"><xs:simpleContent><xs:extension base="xs:int"><xs:attribute name="u" type="xs:int" fixed="7"/></xs:extension></xs:simpleContent></xs:complexType></xs:schema>`
const element = (name: string, more: string) => `<xs:element name="${name}" ${more}/>`
const referring = (...names: readonly string[]) =>
  `<xs:element name="r"><xs:complexType><xs:sequence>${names.map(name => `<xs:element ref="t:${name}" minOccurs="0"/>`).join('')}</xs:sequence></xs:complexType></xs:element>`

const nilMessage = (nil: string) =>
  `<r xmlns="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><f i:nil="${nil}"${nil === 'true' ? '/>' : '>5</f>'}</r>`

/** libxml2 compares the texts, though the clause compares values. */
const comparedAsText = 'the fixed value in another spelling'
/** A message, its value, and what is written of it; undefined: it is refused. */
const cases: readonly (readonly [what: string, schema: string, message: string, value: unknown])[] = [
  ['the default of a message', element('r', 'type="xs:int" default="5"'), '<r xmlns="urn:t"/>', 5],
  ['a message with another value than the default', element('r', 'type="xs:int" default="5"'), '<r xmlns="urn:t">6</r>', 6],
  ['the default where it is referred to', referring('d') + element('d', 'type="xs:int" default="5"'), '<r xmlns="urn:t"><d/></r>', { d: 5 }],
  ['no default where it is absent', referring('d') + element('d', 'type="xs:int" default="5"'), '<r xmlns="urn:t"/>', {}],
  ['no default where it is nil', referring('d') + element('d', 'type="xs:int" default="5" nillable="true"'), '<r xmlns="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><d i:nil="true"/></r>', { d: null }],
  ['3.2.2 no nil where the value is fixed', referring('f') + element('f', 'type="xs:int" fixed="5" nillable="true"'), nilMessage('true'), undefined],
  ['3.1 xsi:nil may say false there', referring('f') + element('f', 'type="xs:int" fixed="5" nillable="true"'), nilMessage('false'), { f: 5 }],
  ['the fixed value of an empty element', referring('f') + element('f', 'type="xs:int" fixed="5"'), '<r xmlns="urn:t"><f/></r>', { f: 5 }],
  [comparedAsText, referring('f') + element('f', 'type="xs:int" fixed="5"'), '<r xmlns="urn:t"><f>05</f></r>', { f: 5 }],
  ['no value but the fixed one', referring('f') + element('f', 'type="xs:int" fixed="5"'), '<r xmlns="urn:t"><f>6</f></r>', undefined],
  ['no message but the fixed one', element('r', 'type="xs:int" fixed="5"'), '<r xmlns="urn:t">6</r>', undefined],
  ['the default of text with attributes', referring('s') + element('s', 'type="t:S" default="5"'), '<r xmlns="urn:t"><s u="7"/></r>', { s: { value: 5, u: 7 } }],
  ['no text with attributes but the fixed one', referring('s') + element('s', 'type="t:S" fixed="5"'), '<r xmlns="urn:t"><s>6</s></r>', undefined],
] // biome-ignore format: a table

for (const [what, schema, message, value] of cases)
  test(`XML Schema §3.3.4 5 ${what}`, () => {
    const { root, contract, port } = importRoot(schemaWith(schema))
    assert.deepEqual(contract.losses, [])
    const codec = createElementCodecs()(root)
    const judges =
      what === comparedAsText
        ? []
        : [judge(schemaWith(schema)), judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))]
    assert.deepEqual(readContent(codec, message), value)
    for (const each of judges) assert.equal(each.flaw(message) === undefined, value !== undefined, message)
    if (value === undefined) return
    for (const each of judges) assert.equal(each.flaw(codec.write(value)), undefined)
    assert.deepEqual(readContent(codec, codec.write(value)), value)
  })

/** Values that are not the fixed one, by the path of their flaw. */
const wrong: readonly (readonly [schema: string, value: Json, path: readonly string[]])[] = [
  [element('r', 'type="xs:int" fixed="5"'), 6, []],
  [referring('f') + element('f', 'type="xs:int" fixed="5"'), { f: 6 }, ['f']],
  [referring('f') + element('f', 'type="xs:int" fixed="5" nillable="true"'), { f: null }, ['f']],
  [referring('s') + element('s', 'type="t:S" fixed="5"'), { s: { value: 6 } }, ['s']],
  [referring('s') + element('s', 'type="t:S"'), { s: { value: 5, u: 8 } }, ['s', 'u']],
] // biome-ignore format: a table
for (const [schema, value, path] of wrong)
  test(`XML Schema §3.3.4 5.2.2.2 ${JSON.stringify(value)} is neither sent nor accepted as JSON`, () => {
    const { root } = importRoot(schemaWith(schema))
    const problems: { path: readonly (string | number)[] }[] = []
    createXmlJsonCodec(root, () => undefined).read(value, problems as never)
    assert.deepEqual(problems.map(each => each.path), [path])
    assert.throws(() => createElementCodecs()(root).write(value), /must be ([57]|a whole number)$/)
  }) // biome-ignore format: a table

test('the written TypeScript has the default and fixed values', () => {
  const { contract } = importRoot(
    schemaWith(referring('d', 'f') + element('d', 'type="xs:int" default="5" nillable="true"') + element('f', 'type="xs:int" fixed="6"')),
  ) // biome-ignore format: one line
  const text = writeTypescript(contract, 'ask.wsdl')
  assert.match(text, /\.element\('d', x\.int\)\.nillable\(\)\.default\('5'\)/)
  assert.match(text, /\.element\('f', x\.int\)\.fixed\('6'\)/)
})

test('B9.2 diglot diff reports another default or fixed value of an element that is referred to', () => {
  const describe = (more: string) =>
    readSoapDescription(writeAskingWsdl(schemaWith(referring('d') + element('d', `type="xs:int" ${more}`))), 'a', () => undefined)
  const compare = (before: string, after: string) =>
    compareServices(describe(before), describe(after)).map(each => each.text)
  assert.deepEqual(compare('default="5"', 'default="6"'), ['default 5 → 6'])
  assert.deepEqual(compare('', 'fixed="6"'), ['any value → one of 6'])
}) // biome-ignore format: one line

function importRoot(schema: string) {
  const contract = importText(writeAskingWsdl(schema))
  const [port] = contract.ports
  const root = port?.exchanges['ask']?.input
  assert.ok(port && typeof root === 'object' && 'name' in root)
  return { contract, port, root }
}
