/**
 * The SOAPBuilders interoperability rounds: each request goes to an echo that declares its
 * operation.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AnyField, Field, type Fields, t } from '../../src/contract/field.ts'
import { block, compileBlockWriter, refuseWithFault } from '../../src/soap/headers/block.ts'
import type { BoundOperation } from '../../src/soap/operations/bound-operation.ts'
import { bareElement, bindCustomOperation, emptyBodyOperation } from '../../src/soap/operations/custom-operation.ts'
import { type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { createEchoNode } from './echo.ts'
import { find } from './orders-over-soap.ts'

interface Outcome {
  readonly kind: 'response' | 'fault' | 'empty-body'
  readonly code?: string
  readonly text?: string
  readonly headers: readonly string[]
}
const folder = suites('soapbuilders-interop')
const cases: { id: string; title: string; group: string; messages: { file: string; outcome?: Outcome }[] }[] = folder
  ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))
  : []

/** Requests that a contract cannot express. */
const exceptions: Readonly<Record<string, string>> = {
  r4_groupH_complex_doclit_002w: 'a request whose children are of another namespace than itself',
  r3_groupE_list_006w: 'a list that is part of itself: a graph with a circle is refused (S8)',
  r4_groupI_xsd_014w: 'items in one namespace whose members are in another: a contract has one, and its types one more',
  r4_groupI_xsd_028w: 'content of any type: a contract declares what it takes',
}

const float = t.double({ xsd: 'float' })
/** Types of names in the schemas of the rounds. */
const leaves: Readonly<Record<string, AnyField>> = {
  varString: t.string(),
  stringMessage: t.string(),
  string: t.string(),
  inputString: t.string(),
  param: t.string(),
  name1: t.string(),
  varInt: t.int(),
  int: t.int(),
  intMessage: t.int(),
  anotherIntMessage: t.int(),
  whichFault: t.int(),
  inputInteger: t.int(),
  varFloat: float,
  floatMessage: float,
  inputFloat: float,
  shortMessage: t.int({ xsd: 'short' }),
  inputBoolean: t.boolean(),
  inputDate: t.dateTime(),
  inputHexBinary: t.bytes({ encoding: 'hex' }),
  inputBase64: t.bytes(),
  inputDecimal: t.decimal(18, 9),
}
/** Parameters without a name: without a WSDL, PHP calls them param0 and so on. */
const nameless: Readonly<Record<string, readonly AnyField[]>> = {
  echoString: [t.string()],
  echoInteger: [t.int()],
  echoFloat: [float],
  echoDate: [t.dateTime()],
  echoBoolean: [t.boolean()],
  echoHexBinary: [t.string()],
  echoSimpleTypesAsStruct: [t.string(), t.int(), float],
}
const arrays = new Set(['item', 'string', 'int', 'value'])

function fieldOf(element: Element, operation: string): AnyField {
  const { local } = element.name
  const children = element.elements()
  const [first] = children
  if (first && arrays.has(first.name.local) && !children.some(each => each.name !== first.name)) {
    const item =
      first.name.local === 'value' || first.name.local === 'item'
        ? guessField(first, operation)
        : fieldOf(first, operation)
    return t.list(new Field(item.shape), { element: first.name.local })
  }
  if (/Array$/.test(local) || (operation.endsWith('Array') && local === 'param0')) return t.list(t.string())
  if (local === 'child' || operation === 'echoLinkedList') return list(element)
  if (first) return t.object(Object.fromEntries(children.map(each => [each.name.local, fieldOf(each, operation)])))
  const at = /^param(\d)$/.exec(local)?.[1]
  return leaves[local] ?? nameless[operation]?.[Number(at)] ?? guessField(element, operation)
}
const list = (element: Element): AnyField =>
  t
    .object({
      varInt: t.int().optional(),
      varString: t.string().optional(),
      child:
        element.elements().at(-1)?.name.local === 'child'
          ? list(element.elements().at(-1)!).nullable()
          : t.string().optional(),
    })
    .nullable()
/** Parameters and items whose type depends on the case. */
const guessField = (element: Element, operation: string): AnyField =>
  element.elements().length > 0
    ? fieldOf(element.elements()[0]!.parent!, operation)
    : /^[\d.]+$/.test(element.text)
      ? t.double()
      : t.string()

const leafTexts = (element: Element | undefined): string[] =>
  element ? (element.elements().length === 0 ? [element.text] : element.elements().flatMap(leafTexts)) : []
/** The value of a text, for types with several texts for one value. */
const booleans: Readonly<Record<string, string>> = { 0: 'FALSE', 1: 'TRUE', false: 'FALSE', true: 'TRUE' }
const normalizeText = (text: string) =>
  booleans[text] ?? (/^-?[\d.]+$/.test(text) ? String(Math.fround(Number(text))) : text.toUpperCase())

/** The namespace of the first type of the service itself. */
function typesOf(element: Element): string | undefined {
  const type = element.attributes.find(each => each.name.local === 'type')?.value.split(':')[0]
  const uri = type && element.namespace(type)
  if (uri && !/XMLSchema|encoding/.test(uri) && !/Array/.test(element.name.local)) return uri
  for (const child of element.elements()) {
    const found = typesOf(child)
    if (found) return found
  }
  return undefined
}

/** An echo of this one request. */
function echoOf(call: Element | undefined, encoded: boolean, fails: boolean): BoundOperation {
  const failing = () => {
    throw refuseWithFault({
      code: 'Receiver',
      reasons: [{ language: 'en', text: 'as asked' }],
      detail: '<part xmlns="urn:t"/>',
    })
  }
  if (!call) return emptyBodyOperation('urn:empty', () => {})
  const { uri: namespace, local: name } = call.name
  const children = call.elements()
  const types = (encoded ? typesOf(call) : children.flatMap(each => each.elements())[0]?.name.uri) || namespace
  if (!encoded && children.every(each => arrays.has(each.name.local))) {
    const content = children.length > 0 ? fieldOf(call, name) : t.string()
    return bareElement({
      namespace,
      name,
      content,
      answer: { name: `${name}Return`, content },
      perform: said => (fails ? failing() : said),
    })
  }
  const request: Fields = Object.fromEntries(children.map(each => [each.name.local, fieldOf(each, name)]))
  return bindCustomOperation({
    namespace,
    types,
    name,
    style: encoded ? 'encoded' : 'document',
    request,
    response: request,
    perform: row => (fails ? failing() : row),
  })
}

const headers = ['Header1', 'Header2'].map(name =>
  block({
    namespace: 'http://soapinterop.org/xsd',
    name,
    content: t.object(name === 'Header1' ? { string: t.string(), int: t.int() } : { int: t.int(), string: t.string() }),
  }),
)
const echoBlock = (name: string, fields: Fields) => {
  const content = t.object(fields)
  return block({
    namespace: 'http://soapinterop.org/',
    types: 'http://soapinterop.org/echoheader/',
    name: `${name}Request`,
    content,
    process: (said, { add }) => add(compileBlockWriter('http://soapinterop.org/', `${name}Response`, content)(said)),
  })
}
const me = [
  echoBlock('echoMeString', { varString: t.string() }),
  echoBlock('echoMeComplexType', { varString: t.string(), varInt: t.int(), varFloat: float }),
]

for (const { id, title, messages } of cases)
  test(`${id} ${title}${exceptions[id] ? `: not here: ${exceptions[id]}` : ''}`, async () => {
    const [asked, wanted] = ['request', 'response'].map(part => messages.find(each => each.file.includes(`.${part}.`)))
    if (!asked) return
    const raw = readFileSync(join(folder ?? '', asked.file))
    const document = parseXml(raw)
    assert.ok(!(document instanceof Malformed))
    const call = find(document.root, 'Body')?.elements()[0]
    const encoded = raw.includes('encodingStyle')
    const fails = wanted?.outcome?.kind === 'fault' && wanted.outcome.code !== 'MustUnderstand'
    const { post, incidents } = createEchoNode([echoOf(call, encoded, fails)], { blocks: [...headers, ...me] })
    const answer = await post({ raw, version: raw.includes('2003/05/soap-envelope') ? '1.2' : '1.1' })
    assert.deepEqual(incidents, [])
    if (exceptions[id]) return assert.ok(answer.fault)
    assert.equal(answer.fault?.code, wanted?.outcome?.code, answer.text)
    assert.deepEqual(
      answer.blocks.map(each => each.name.local),
      wanted?.outcome?.headers.map(each => each.replace(/^.*\}/, '')) ?? [],
    )
    if (answer.fault) return
    assert.deepEqual(leafTexts(answer.body).map(normalizeText), leafTexts(call).map(normalizeText), answer.text)
  })
