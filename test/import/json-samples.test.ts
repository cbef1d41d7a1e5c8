/** Messages of others' services: value → XML → value → JSON → value, by the contract of their WSDL. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { attempt } from '../../src/base/attempt.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import type { AnyRootElement } from '../../src/contract/xml-type.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import type { ImportedContract } from '../../src/import/imported-contract.ts'
import { Refused } from '../../src/service/refusal.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { type Element, internName, Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { suites } from '../suites.ts'
import { importFile } from './folder-find.ts'
import { judgeByWsdl, writeApart } from './wsdl-judge.ts'

const nameOfXml = (text: string) => {
  const document = parseXml(new TextEncoder().encode(text))
  return document instanceof Malformed ? undefined : document.root.name
}
const codecOf = createElementCodecs()
function readElement(root: AnyRootElement, element: Element): unknown {
  const cursor = walkTree(element)
  cursor.next()
  const reading = { flaws: [], parts: undefined, around: element.parent, blocks: [] }
  const value = codecOf(root).read(cursor, reading)
  assert.deepEqual(reading.flaws, [])
  return value
}
/** By libxml2 and the schemas as they came, or those that are published where it cannot have them. */
function flawOf(body: Element, { ports }: ImportedContract, folder: string): string | undefined {
  const text = writeApart(body)
  const published = ports.map(port => writePortWsdl(port, 'http://localhost/'))
  const judges = [
    judgeByWsdl(readFileSync(join(folder, 'soap.wsdl')), folder),
    ...published.flatMap(each => [judgeByWsdl(new TextEncoder().encode(each)), judgeCalls(each)]),
  ]
  for (const each of judges) {
    const flaw = each?.flaw(text)
    if (flaw !== undefined && !flaw.includes('No matching global declaration')) return flaw
  }
  const isCall = ports.some(port => Object.values(port.exchanges).some(({ style }) => style !== 'document'))
  return isCall ? describeForeignParts(body, readFileSync(join(folder, 'soap.wsdl'))) : undefined
}

/** By the wrappers of RPC, which no schema declares. */
const judgeCalls = (wsdl: string) =>
  attempt(
    () => judge(schemaOf(wsdl, 'rpc')),
    () => true,
  )
/** RPC: its parts are those of no message. */
function describeForeignParts(call: Element, wsdl: Uint8Array): string | undefined {
  const document = parseXml(wsdl)
  if (document instanceof Malformed) return undefined
  const namesOf = (all: readonly (string | undefined)[]) => [...all].sort().join()
  const given = namesOf(call.elements().map(each => each.name.local))
  const messages = document.root.elements().filter(({ name }) => name.local === 'message')
  const parts = messages.map(each => namesOf(each.elements().map(part => part.attribute(internName('', 'name')))))
  return parts.includes(given) ? undefined : `no message has the parts ${given}`
}

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
      Object.values(port.exchanges).flatMap(({ input, output, faults }) =>
        file.endsWith('request.xml') ? [input] : [output, ...Object.values(faults)],
      ),
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
      if (!(thrown instanceof Refused) && !(thrown instanceof assert.AssertionError)) throw thrown
      const why = thrown instanceof Refused ? JSON.stringify(thrown.refusal) : thrown.message
      assert.ok(flawOf(body, contract, folder) !== undefined, why)
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
