/** Messages of others' services: value → XML → value → JSON → value, by the contract of their WSDL. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import type { AnyRootElement } from '../../src/contract/xml-type.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { type Element, Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { importFile } from './folder-find.ts'

const nameOfXml = (text: string) => {
  const document = parseXml(new TextEncoder().encode(text))
  return document instanceof Malformed ? undefined : document.root.name
}
const codecOf = createElementCodecs()
function readElement(root: AnyRootElement, element: Element): unknown {
  const cursor = walkTree(element)
  cursor.next()
  const reading = { found: [], parts: undefined, around: element.parent, blocks: [] }
  const value = codecOf(root).read(cursor, reading)
  assert.deepEqual(reading.found, [])
  return value
}
/** Samples that are not valid by their own WSDL, and what the reader says of them. */
const invalid: readonly (readonly [file: RegExp, detail: RegExp])[] = [
  [/^Dummy__ref_element\S+request/, /Commande.*expected Order/], // a member renamed by an option of its client
  [/^Dummy__should_deserialize\S+response/, /decimal.*out of order/],
  [/^Dummy__should_handle_inline_types\S+response/, /expected no namespace/],
  [/^Dummy__should_handle_nil.response/, /must not be nil/],
  [/^Dummy__should_(?:ignore_defined|use_defined_value)\S+request/, /DummyAccount.*not expected/],
  [/^GetItemInformation\S+/, /RequestedQuantity|Items/],
  [/^GetSubscription\S+response/, /expected Subscriptions/],
  [/^Message__\S+/, /expected bstrResourceID/],
  [/^RetrieveFareQuote\S+request/, /must be a date and time/],
  [/^UpdateProfile__\S+request/, /UniqueID|IDs/],
  [/^(?:addList__\S+response|get__\S+request|update__\S+response)/, /attribute type/], // the schema with it is missing
  [/^update__\S+request/, /nullFieldList/],
  [/^getMessage__\S+request/, /expected sessionId/],
  [/^multiCall__\S+request/, /must have the element options/],
]

const suite = suites('wsdl-json-samples')
for (const file of suite ? globSync('*/{request,response}.xml', { cwd: suite }).sort() : [])
  test(`wsdl-json-samples ${file}`, t => {
    const folder = join(suite ?? '', dirname(file))
    const wsdl = join(folder, 'soap.wsdl')
    const contract = existsSync(wsdl) ? importFile(wsdl) : undefined
    const envelope = parseXml(readFileSync(join(suite ?? '', file)))
    if (!contract || contract instanceof Malformed || envelope instanceof Malformed) return t.skip('nothing to read')
    const body = envelope.root
      .elements()
      .find(each => each.name.local === 'Body')
      ?.elements()[0]
    if (!body) return t.skip('no content')
    const roots = contract.ports.flatMap(port =>
      Object.values(port.exchanges).flatMap(({ input, output, faults }) => [input, output, ...Object.values(faults)]),
    )
    const root = roots.find(
      (each): each is AnyRootElement =>
        typeof each === 'object' && each.name.local === body.name.local && each.name.uri === body.name.uri,
    )
    if (!root) return t.skip(`no message has the element ${body.name.local}`)
    let value: unknown
    try {
      value = readElement(root, body)
    } catch (thrown) {
      assert.ok(thrown instanceof Refused)
      const why = JSON.stringify(thrown.refusal)
      assert.ok(
        invalid.some(([files, detail]) => files.test(file) && detail.test(why)),
        why,
      )
      return
    }
    const written = parseXml(new TextEncoder().encode(codecOf(root).write(value)))
    assert.ok(!(written instanceof Malformed))
    assert.deepEqual(readElement(root, written.root), value)
    const json = writeJson(createXmlJsonCodec(root, nameOfXml).write(value))
    const problems: FieldProblem[] = []
    assert.deepEqual(createXmlJsonCodec(root, nameOfXml).read(parseJson(json).value as never, problems), value, json)
    assert.deepEqual(problems, [])
  })
