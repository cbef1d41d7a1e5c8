/**
 * XML Schema Part 1 §3.4.4 3, 4: a required attribute is there, even if its value is fixed; the
 * value of an optional one is filled in. Both libxml2 and the imported contract judge.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { x } from '../../src/contract/xml-type.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemaWith = (attribute: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
    <xs:element name="r"><xs:complexType><xs:attribute ${attribute}</xs:complexType></xs:element>
    <xs:attribute name="five" type="xs:int" fixed="5"/></xs:schema>`
const absent = '<r xmlns="urn:t"/>'
const plain = (value: string): string => `<r xmlns="urn:t" a="${value}"/>`
const referred = (value: string): string => `<t:r xmlns:t="urn:t" t:five="${value}"/>`

/** The value of each message; undefined: it is refused. */
const cases: readonly (readonly [attribute: string, values: Readonly<Record<string, unknown>>])[] = [
  ['name="a" type="xs:int" fixed="5"/>', { [absent]: { a: 5 }, [plain('5')]: { a: 5 }, [plain('6')]: undefined }],
  ['name="a" type="xs:int" fixed="5" use="required"/>', { [absent]: undefined, [plain('5')]: { a: 5 }, [plain('6')]: undefined }],
  ['name="a" type="xs:int" default="5"/>', { [absent]: { a: 5 }, [plain('6')]: { a: 6 } }],
  ['ref="t:five" use="required"/>', { [absent]: undefined, [referred('5')]: { five: 5 } }],
  ['ref="t:five"/>', { [absent]: { five: 5 }, [referred('5')]: { five: 5 } }],
] // biome-ignore format: a table

for (const [attribute, values] of cases)
  test(`XML Schema §3.4.4 <attribute ${attribute}`, () => {
    const { ports, losses } = importText(writeAskingWsdl(schemaWith(attribute)))
    const [asked] = ports
    const root = asked?.exchanges['ask']?.input
    assert.ok(asked && typeof root === 'object')
    assert.deepEqual(losses, [])
    const judges = [judge(schemaWith(attribute)), judge(schemaOf(writePortWsdl(asked, 'http://x/'), 'document'))]
    const codec = createElementCodecs()(root)
    for (const [message, value] of Object.entries(values)) {
      assert.deepEqual(readContent(codec, message), value, message)
      for (const each of judges) assert.equal(each.flaw(message) === undefined, value !== undefined, message)
      if (value !== undefined) for (const each of judges) assert.equal(each.flaw(codec.write(value)), undefined)
    }
  })

test('XML Schema §3.2.3 an attribute with a default is published as optional', () => {
  const space = x.namespace('urn:t')
  const input = space.element('r', x.object({ a: x.attribute(x.int).default('5') }))
  const asked = port('Asked', {
    namespace: 'urn:t',
    allow: [],
    exchanges: { ask: exchange({ action: 'urn:ask', input }) },
  })
  const published = judge(schemaOf(writePortWsdl(asked, 'http://x/'), 'document'))
  const codec = createElementCodecs()(input)
  assert.equal(published.flaw(absent), undefined)
  assert.deepEqual(readContent(codec, absent), { a: 5 })
})
