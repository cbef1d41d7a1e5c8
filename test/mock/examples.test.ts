/** Examples of the messages of others, and of the REST face: accepted by the descriptions that are published. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { XmlDocument } from 'libxml2-wasm'
import { shop } from '../../examples/orders/contract.ts'
import { listPortElements } from '../../src/contract/xml-derivation.ts'
import { type AnyRootElement, BodyContent, type XmlType, x } from '../../src/contract/xml-type.ts'
import { makeMessage } from '../../src/describe/example-message.ts'
import type { ExamplePlace } from '../../src/describe/example-text.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { describeService } from '../../src/pages/openapi.ts'
import { createPortMessageCodecs } from '../../src/soap/codecs/port-message-codec.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { soap11 } from '../../src/soap/version.ts'
import { startTestService } from '../../src/testing/index.ts'
import { Element, Malformed, parseXml, walkTree, writeElement } from '../../src/xml/index.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importFile } from '../import/folder-find.ts'
import { suites } from '../suites.ts'

const placeOf = (name: string): ExamplePlace => ({ seed: 1, name, item: 1, idOf: () => undefined, given: {} })

/** An `xs:any` that is strict wants an element of another schema, which a WSDL need not name. */
const strictWildcard = 'demanded by the strict wildcard'
const noGlobal = 'No matching global declaration'

for (const name of ['wsdl11-real', 'wsdl11-features', 'wsdl-json-samples']) {
  const suite = suites(name)
  if (!suite) continue
  for (const file of globSync('**/*.wsdl', { cwd: suite }).sort())
    test(`${name} ${file}: every message has an example that its schema accepts`, () => {
      const contract = importFile(join(suite, file))
      if (contract instanceof Malformed) return
      const codecOf = createElementCodecs()
      for (const port of contract.ports) {
        const isLiteral = Object.values(port.exchanges).every(each => each.style === 'document')
        const valid = isLiteral ? schemaJudge(writePortWsdl(port, 'http://localhost/soap')) : undefined
        for (const root of listPortElements(port)) {
          const text = codecOf(root).write(makeMessage(root, placeOf(root.name.local)))
          assert.deepEqual(readFlaws(root, text, codecOf), [], text)
          // A schema has elements alone, and no Body; a part with a type has elements that are local to it.
          const isContent = root instanceof BodyContent
          for (const each of isContent ? listChildTexts(text) : [text]) {
            const flaw = valid?.flaw(each)
            const isOpen = flaw?.includes(strictWildcard) || (isContent && flaw?.includes(noGlobal))
            if (!isOpen) assert.equal(flaw, undefined, each)
          }
        }
      }
    })
}

/**
 * Of a WSDL whose types are one schema that libxml2 accepts, as it does its namespaces; others are judged by what reads
 * them.
 */
function schemaJudge(wsdl: string): ReturnType<typeof judge> | undefined {
  try {
    using document = XmlDocument.fromString(wsdl)
    if (document.find('//*[local-name()="schema"]').length !== 1) return undefined
    return judge(schemaOf(wsdl, 'document'))
  } catch {
    return undefined
  }
}

function listChildTexts(text: string): readonly string[] {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed))
  const { root } = document
  return root.elements().map(each => {
    const declarations = [...root.declarations, ...each.declarations]
    const alone = new Element(undefined, each.name, each.prefix, each.attributes, declarations)
    alone.append(each.children)
    return writeElement(alone)
  })
}

function readFlaws(root: AnyRootElement, text: string, codecOf: ReturnType<typeof createElementCodecs>): unknown {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed), text)
  const cursor = walkTree(document.root)
  cursor.next()
  const reading = { flaws: [], parts: undefined, around: undefined, blocks: [], isDocument: true as const }
  codecOf(root).read(cursor, reading)
  return reading.flaws
}

// The package is a part of the judge of OpenAPI documents.
const Ajv = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))('ajv/dist/2020.js').default

test('responses of REST are valid by the published OpenAPI', async () => {
  const app = createMock(shop)
  await using memory = await startTestService(shop, app)
  const document = JSON.parse(await describeService(app))
  const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(document, 'openapi')
  const send = memory.fetchAs('manager')
  for (const path of [
    '/orders',
    '/orders/{id}',
    '/products',
    '/products/{id}',
    '/customers/{id}',
    '/orders/{id}/tracking',
  ]) {
    const [found = ''] = Object.keys(document.paths).filter(each => each.endsWith(path))
    const { schema } = document.paths[found].get.responses['200'].content['application/json']
    const pointer = schema.$ref ?? assert.fail(`${path} has no schema by reference`)
    const id = { '/orders/{id}/tracking': 'o-3', '/orders/{id}': 'o-1', '/products/{id}': 'p-1' }[path] ?? 'c-1'
    const response = await send(`${memory.address}/api/v2${path.replace('{id}', id)}`, {
      headers: { accept: 'application/json' },
    })
    const json = await response.json()
    assert.equal(response.status, 200, JSON.stringify(json))
    const validate = ajv.getSchema(`openapi${pointer}`)
    assert.ok(validate(json), `${path}: ${JSON.stringify(validate.errors)}`)
  }
})

/** [the media types of an attachment, that of its example] */
const openTypes: readonly (readonly [readonly string[], string])[] = [
  [['image/*'], 'image/png'],
  [['text/*', 'image/gif'], 'text/plain'],
  [['model/*'], 'model/example'],
  [[], 'application/octet-stream'],
]
for (const [mediaTypes, expected] of openTypes)
  test(`an attachment whose media type is ${mediaTypes.join(' or ') || 'open'} is ${expected}`, () => {
    const root = x.body({ octets: x.attachment(x.base64Binary, ...mediaTypes) })
    const value = makeMessage(root, { seed: 1, name: 'a', item: 1, idOf: () => undefined, given: {} })
    const sent: string[] = []
    const writing = { attach: undefined, attachPart: (_: string, mediaType: string) => void sent.push(mediaType) }
    createPortMessageCodecs()(root, 'document').write(value, writing, soap11)
    assert.deepEqual(sent, [expected])
  })

const big = x.namespace('urn:big')
for (const [title, type, reason] of [
  [
    '999999999 elements',
    x.object({ b: x.element(x.int).many(999_999_999) }),
    /no example of big\.b was found: .*20000 values; lower/,
  ],
  [
    'thousands of thousands of elements',
    x.object({
      b: x.element(x.object({ c: x.element(x.object({ d: x.element(x.int).many(1000) })).many(1000) })).many(1000),
    }),
    /no example of big\.b\.c\.d was found: .*20000 values; lower/,
  ],
  [
    '999999999 characters',
    x.object({ b: x.element(x.simple(x.string, { minLength: 999_999_999 })) }),
    /big\.b was found: .*100000 characters/,
  ],
  [
    'a pattern of 999999999 characters',
    x.object({ b: x.element(x.simple(x.string, { patterns: ['a{999999999}'] })) }),
    /no text fits its facets/,
  ],
] as const)
  test(`a message of ${title} has no example, and its error says so at once`, () => {
    assert.throws(() => makeMessage(big.element('Big', type as XmlType<object>), placeOf('big')), reason)
  })
