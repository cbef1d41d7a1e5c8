/**
 * XML Schema Part 1 §3.8.4: groups within choices. What a document is, is judged by libxml2 with the
 * schema as it came, and by the contract that was imported from it; both must say the same, and the
 * schema that is served again must be one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const wsdlOf = (content: string): string => writeAskingWsdl(schemaWith(content))
const schemaWith = (content: string): string =>
  `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t"><xs:element name="r"><xs:complexType>${content}</xs:complexType></xs:element>
    <xs:group name="G"><xs:sequence>${int('g')}${int('h')}</xs:sequence></xs:group></xs:schema>`
const int = (name: string, more = '') => `<xs:element name="${name}" type="xs:int" ${more}/>`
const sequence = (...of: readonly string[]) => `<xs:sequence>${of.join('')}</xs:sequence>`
const choice = (...of: readonly string[]) => `<xs:choice>${of.join('')}</xs:choice>`

const contents: readonly (readonly [string, string])[] = [
  ['sequences', choice(sequence(int('a'), int('b')), sequence(int('c'), int('a')))],
  ['a group', choice('<xs:group ref="t:G"/>', int('a'))],
  ['a choice of a sequence within one', choice(choice(sequence(int('a'), int('b')), int('c')), int('d'))],
  ['an empty sequence', choice(sequence(), int('a'))],
  ['a sequence in which nothing has to stand', choice(sequence(int('a', 'minOccurs="0"'), int('b', 'minOccurs="0"')), int('c'))],
  ['repeats', `<xs:choice minOccurs="0" maxOccurs="3">${sequence(int('a'), int('b', 'minOccurs="0"'))}${int('c')}</xs:choice>`],
  ['after an element, and before one', sequence(int('a'), choice(sequence(int('b'), int('c')), int('d')), int('a'))],
] // biome-ignore format: a table

/** Up to four of the elements that any of them has, in any order. */
const documents = Array.from({ length: 4 }, (_, at) => at).reduce<readonly string[]>(
  all => ['', ...all.flatMap(each => ['a', 'b', 'c', 'd', 'g', 'h'].map(name => `${each}${name}`))],
  [''],
)

for (const [what, content] of contents)
  test(`XML Schema §3.8.4 a choice among ${what}: what is valid is read and written, and nothing else`, () => {
    const contract = importText(wsdlOf(content))
    assert.deepEqual(contract.losses, [])
    const [port] = contract.ports
    const root = port?.exchanges['ask']?.input
    assert.ok(port && typeof root === 'object' && 'name' in root)
    const original = judge(schemaWith(content))
    const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
    const codec = createElementCodecs()(root)
    const json = createXmlJsonCodec(root, () => undefined)
    let valid = 0
    for (const names of documents) {
      const text = `<t:r xmlns:t="urn:t">${[...names].map(name => `<${name}>1</${name}>`).join('')}</t:r>`
      const expected = original.flaw(text) === undefined
      assert.equal(served.flaw(text) === undefined, expected, `served: ${text}`)
      const value = readContent(codec, text)
      assert.equal(value !== undefined, expected, text)
      if (value === undefined) continue
      valid++
      assert.equal(original.flaw(codec.write(value)), undefined, text)
      assert.deepEqual(readContent(codec, codec.write(value)), value, text)
      const problems: FieldProblem[] = []
      assert.deepEqual(json.read(parseJson(writeJson(json.write(value))).value as Json, problems), value, text)
      assert.deepEqual(problems, [])
    }
    assert.ok(valid > 0)
  })
