/** JSON Schema Validation §6.4.2: a list that may be left out, and is not shorter than minItems if it is there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { findMismatch } from '../../src/check/schema-judge.ts'
import { createXmlJsonCodec, UnfitMessage } from '../../src/contract/xml-json.ts'
import { listReachedTypes } from '../../src/contract/xml-reach.ts'
import { DocumentPrefixes, PortSchemas } from '../../src/describe/port-schema.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { Losses } from '../../src/import/loss.ts'
import { OpenApiDocument } from '../../src/import/openapi/openapi-document.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const parse = await loadAnyParser()
const how = { find: () => undefined, parse }
function importList(bounds: object, isRequired = false) {
  const tags = { type: 'array', items: { type: 'string' }, ...bounds }
  const schema = { type: 'object', properties: { tags, note: { type: 'string' } }, ...(isRequired && { required: ['tags'] }) }
  const content = { 'application/json': { schema } }
  const text = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Lists', version: '1' },
    paths: { '/run': { post: { operationId: 'run', requestBody: { content }, responses: { 204: {} } } } },
  })
  const rest = readRestPort(text, 'api.json', [], how)
  const root = rest.exchanges.get('Run')?.input ?? assert.fail('no operation')
  const document = new OpenApiDocument(text, 'api.json', { ...how, losses: new Losses() })
  const isValid = (value: Json) => findMismatch(document.root, schema as never, value) === undefined
  return { rest, root, isValid }
} // biome-ignore format: long lines

const letters = ['a', 'b', 'c', 'd']
const contents: readonly Json[] = [{}, ...[0, 1, 2, 3, 4].map(count => ({ tags: letters.slice(0, count), note: 'x' }))]
const bounds: readonly (readonly [bounds: object, isRequired?: boolean])[] = [
  [{ minItems: 1 }],
  [{ minItems: 2 }],
  [{ minItems: 2, maxItems: 3 }],
  [{ minItems: 3, maxItems: 3 }],
  [{ minItems: 0 }],
  [{ maxItems: 2 }],
  [{ minItems: 2 }, true],
]
for (const [given, isRequired] of bounds) {
  const what = `${JSON.stringify(given)}${isRequired ? ', required' : ''}`
  test(`${what}: JSON is accepted as the schema says`, () => {
    const { root, isValid } = importList(given, isRequired)
    const codec = createXmlJsonCodec(root, () => undefined)
    for (const content of contents) {
      const problems: never[] = []
      codec.read(content, problems)
      assert.equal(problems.length === 0, isValid(content), JSON.stringify(content))
    }
  })
  test(`${what}: XML is read and written, and the served schema accepts the same`, () => {
    const { rest, root, isValid } = importList(given, isRequired)
    const codec = createElementCodecs()(root)
    const prefixes = new DocumentPrefixes()
    const [schema = ''] = new PortSchemas([root], [], prefixes).write()
    const served = judge(schema.replace('<xs:schema', `<xs:schema ${Object.entries(prefixes.declarations()).filter(([name]) => name !== 'xmlns:xs').map(([name, uri]) => `${name}="${uri}"`).join(' ')}`))
    for (const content of contents) {
      const { tags = [] } = content as { tags?: string[] }
      const isThere = tags.length > 0 || isRequired // XML does not tell an empty list from none
      const isFit = isThere ? isValid({ tags }) : true
      const message = `<Run xmlns="${rest.namespace}">${tags.map(each => `<tags>${each}</tags>`).join('')}<note>x</note></Run>`
      assert.equal(readContent(codec, message) !== undefined, isFit, message)
      assert.equal(served.flaw(message) === undefined, isFit, `${message} ${schema}`)
      const value = { tags, note: 'x' }
      if (isFit) assert.deepEqual(readContent(codec, codec.write(value)), value)
      else {
        assert.throws(() => codec.write(value), /must have at least|must have at most/)
        assert.throws(() => createXmlJsonCodec(root, () => undefined).write(value), UnfitMessage)
      }
    }
  }) // biome-ignore format: long lines
}

test('a reply omits an empty list that its schema does not allow', () => {
  const { root, isValid } = importList({ minItems: 1 })
  const json = createXmlJsonCodec(root, () => undefined).write({ tags: [] })
  assert.deepEqual(json, {})
  assert.ok(isValid(json))
})

test('XML Schema §3.8.4 elements that are either absent or several are an optional list, in a choice too', () => {
  const several = '<xs:sequence minOccurs="0"><xs:element name="a" type="xs:int" minOccurs="2" maxOccurs="3"/></xs:sequence>'
  const int = (name: string) => `<xs:element name="${name}" type="xs:int"/>`
  for (const content of [`<xs:sequence>${several}${int('b')}</xs:sequence>`, `<xs:choice>${several}${int('b')}</xs:choice>`]) {
    const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:element name="r"><xs:complexType>${content}</xs:complexType></xs:element></xs:schema>`
    const [port] = importText(writeAskingWsdl(schema)).ports
    const root = port?.exchanges['ask']?.input
    assert.ok(port && typeof root === 'object' && 'name' in root)
    const codec = createElementCodecs()(root)
    const judges = [judge(schema), judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))]
    for (let count = 0; count < 10; count++) {
      const [as, bs] = [Math.floor(count / 2), count % 2]
      const message = `<t:r xmlns:t="urn:t">${'<a>1</a>'.repeat(as)}${'<b>1</b>'.repeat(bs)}</t:r>`
      const value = readContent(codec, message)
      for (const each of judges) assert.equal(each.flaw(message) === undefined, value !== undefined, message)
      if (value !== undefined) assert.deepEqual(readContent(codec, codec.write(value)), value)
    }
  }
}) // biome-ignore format: long lines

test('the TypeScript marks the list as optional', () => {
  const { rest, root } = importList({ minItems: 2, maxItems: 3 })
  const { types, elements } = listReachedTypes([root])
  const text = writeTypescript({ ...rest, ports: [rest.port], types, elements }, 'api.json')
  assert.match(text, /tags: x\.element\(x\.string\)\.manyOrNone\(2, 3\),/)
})
