/**
 * WSDL 1.1 (rule B2.12): all references resolve within the document, and nothing in it breaks
 * generators.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { type Wsdl11Options, writeWsdl11 } from '../../src/describe/wsdl11.ts'
import type { Element } from '../../src/xml/tree.ts'
import { writeElement } from '../../src/xml/write.ts'
import { services } from './contracts.ts'
import { judge } from './oracle.ts'
import { shop } from './orders-contract.ts'
import { attribute, below, children, only, qname, rootOf } from './tree.ts'

const address = 'http://127.0.0.1:8080/soap/v1'
const writeShop = (options: Partial<Wsdl11Options> = {}) => writeWsdl11(shop, 'v1', { address, ...options })
const styles: readonly MessageStyle[] = ['document', 'rpc', 'encoded']
const wsdl = 'http://schemas.xmlsoap.org/wsdl/'
const soap11 = 'http://schemas.xmlsoap.org/wsdl/soap/'
const soap12 = 'http://schemas.xmlsoap.org/wsdl/soap12/'

test('B9.1 both ports, by default, at the same address', () => {
  const ports = below(rootOf(writeShop()), 'port')
  assert.deepEqual(
    ports.map(port => port.elements().map(({ name }) => name.uri)),
    [[soap11], [soap12]],
  )
  assert.deepEqual(
    below(rootOf(writeShop()), 'address').map(each => attribute(each, 'location')),
    [address, address],
  )
})
const alone = [
  ['1.1', soap12, /soap12|2003\/05\/soap|w3\.org\/2003/i],
  ['1.2', soap11, /wsdl\/soap\/|schemas\.xmlsoap\.org\/soap\/(?:encoding|envelope)|xmlns:soap=/],
] as const
for (const [soap, other, traces] of alone)
  for (const style of styles)
    test(`B9.1 the ${soap} port by itself does not name the other version (${style})`, () => {
      const text = writeShop({ soap, style })
      assert.ok(!text.includes(other))
      const types = style === 'encoded' ? text.replace(/ xmlns:soapenc="[^"]*"|<xs:import [^>]*>/g, '') : text
      assert.doesNotMatch(types, traces)
    })

for (const style of styles)
  test(`B2.12 every type but that of a global element has a name, as generators need it (${style})`, () => {
    const [schema] = below(rootOf(writeShop({ style })), 'schema')
    const all = ['simpleType', 'complexType'].flatMap(kind => below(schema!, kind))
    const anonymous = all.filter(each => attribute(each, 'name') === undefined)
    const ofElements = schema!.elements().filter(each => each.name.local === 'element')
    assert.ok(all.length > anonymous.length)
    assert.deepEqual(
      anonymous.filter(each => !ofElements.some(element => element.elements().includes(each))).map(writeElement),
      [],
    )
  })

test('B7.5 the message of a fault has another name than its element', () => {
  const root = rootOf(writeShop())
  const elements = new Set(below(only(root, 'types'), 'element').map(each => attribute(each, 'name')))
  for (const message of children(root, 'message')) assert.ok(!elements.has(attribute(message, 'name')))
})
test('B7.5 each operation names its faults, in the interface and in the bindings', () => {
  const root = rootOf(writeShop())
  const pay = below(root, 'operation').filter(each => attribute(each, 'name') === 'PayOrder' && each.name.uri === wsdl)
  assert.equal(pay.length, 3)
  for (const each of pay)
    assert.deepEqual(
      children(each, 'fault').map(fault => attribute(fault, 'name')),
      ['PaymentDeclined', 'StateConflict', 'NotFound', 'VersionConflict', 'Forbidden'],
    )
})
test('B4.3 the action of each operation is its soapAction', () => {
  const root = rootOf(writeShop({ soap: '1.1' }))
  const actions = below(root, 'operation').filter(each => each.name.uri === soap11)
  assert.deepEqual(
    actions.map(each => attribute(each, 'soapAction')),
    compileMessages(shop, 'v1').map(({ action }) => action),
  )
})
test('B4.10 a one-way operation has only an input', () => {
  const notify = below(rootOf(writeShop()), 'operation').filter(each => attribute(each, 'name') === 'NotifyDelivery')
  assert.equal(notify.length, 3)
  for (const each of notify) assert.equal(below(each, 'output').length + below(each, 'fault').length, 0)
})
test('B2.11 the actions of addressing are present only if addressing is requested', () => {
  assert.doesNotMatch(writeShop(), /addressing/)
  const addressed = writeShop({ policy: { addressing: true } })
  assert.equal(addressed.match(/wsam:Action="urn:diglot:orders:v1\/PayOrder"/g)?.length, 1)
  assert.match(addressed, /wsam:Action="urn:diglot:orders:v1\/PayOrder\/Fault\/PaymentDeclined"/)
  assert.equal(addressed.match(/wsaw:UsingAddressing wsdl:required="false"/g)?.length, 2)
})
test('B4.12 MTOM is an optional policy of the endpoint, if it is requested', () => {
  assert.doesNotMatch(writeShop(), /olicy/)
  const root = rootOf(writeShop({ policy: { mtom: true } }))
  const [policy] = children(root, 'Policy')
  assert.ok(policy)
  assert.equal(attribute(only(policy, 'OptimizedMimeSerialization'), 'Optional'), 'true')
  for (const reference of below(root, 'PolicyReference'))
    assert.equal(attribute(reference, 'URI'), `#${attribute(policy, 'Id')}`)
})
const bodies = [
  ['B2.7 document', 'document', { use: 'literal' }],
  ['B2.6 rpc', 'rpc', { use: 'literal', namespace: 'urn:diglot:orders:v1' }],
  [
    'B2.8 encoded',
    'encoded',
    {
      use: 'encoded',
      namespace: 'urn:diglot:orders:v1',
      encodingStyle: 'http://schemas.xmlsoap.org/soap/encoding/',
    },
  ],
] as const
for (const [title, style, attributes] of bodies)
  test(`${title}: the attributes of soap:body`, () => {
    for (const body of below(rootOf(writeShop({ style, soap: '1.1' })), 'body'))
      assert.deepEqual(Object.fromEntries(body.attributes.map(({ name, value }) => [name.local, value])), attributes)
  })
test('B2.6 the parts of RPC are the children of the wrapper, with types', () => {
  const message = children(rootOf(writeShop({ style: 'rpc' })), 'message').find(
    each => attribute(each, 'name') === 'PayOrderInput',
  )
  assert.ok(message)
  assert.deepEqual(
    children(message, 'part').map(part => [attribute(part, 'name'), attribute(part, 'type')]),
    [
      ['id', 'tns:Identifier'],
      ['version', 'xs:string'],
      ['method', 'tns:Method'],
      ['amount', 'tns:Amount'],
    ],
  )
})
test('B2.8 the binding of each version has the encoding of its version', () => {
  const root = rootOf(writeShop({ style: 'encoded' }))
  const styles = new Set(below(root, 'body').map(each => `${each.name.uri} ${attribute(each, 'encodingStyle')}`))
  assert.deepEqual(
    [...styles],
    [`${soap11} http://schemas.xmlsoap.org/soap/encoding/`, `${soap12} http://www.w3.org/2003/05/soap-encoding`],
  )
})
test('B2.8 WSDL 1.1 §2.2 a list is an array by arrayType, in either version: no client reads another description', () => {
  const [encoding, attributes] = ['http://schemas.xmlsoap.org/soap/encoding/', { arrayType: 'tns:Line[]' }] as const
  for (const soap of ['1.1', '1.2', 'both'] as const) {
    const root = rootOf(writeShop({ style: 'encoded', soap }))
    assert.deepEqual(
      below(root, 'import').map(each => attribute(each, 'namespace')),
      [encoding],
    )
    const array = below(root, 'complexType').find(each => attribute(each, 'name') === 'ArrayOfLine')
    assert.ok(array)
    assert.deepEqual(
      below(array, 'restriction').map(each => qname(each, 'base')),
      [`{${encoding}}Array`],
    )
    assert.deepEqual(
      below(array, 'attribute').map(each => {
        const local = `${qname(each, 'ref')}`.replace(`{${encoding}}`, '')
        return [local, attribute(each, local)]
      }),
      Object.entries(attributes),
    )
  }
})

/** WSDL 1.1 and WS-I Basic Profile 1.1: every reference resolves. */
function check(text: string): void {
  const root = rootOf(text)
  const namespace = attribute(root, 'targetNamespace')
  const mapByName = (elements: readonly Element[]) => {
    const names = elements.map(each => `{${namespace}}${attribute(each, 'name')}`)
    assert.equal(new Set(names).size, names.length, `twice: ${names}`)
    return new Map(names.map((name, i) => [name, elements[i] as Element])) // one of each
  }
  const schema = only(only(root, 'types'), 'schema')
  const elements = mapByName(children(schema, 'element'))
  const types = mapByName([...children(schema, 'complexType'), ...children(schema, 'simpleType')])
  const portTypes = mapByName(children(root, 'portType'))
  const bindings = mapByName(children(root, 'binding'))
  const all = mapByName(children(root, 'message'))
  for (const message of all.values()) {
    const parts = children(message, 'part')
    assert.equal(new Set(parts.map(part => attribute(part, 'name'))).size, parts.length)
    for (const part of parts) {
      const [element, type] = [qname(part, 'element'), qname(part, 'type')]
      assert.ok((element === undefined) !== (type === undefined), 'R2204, R2203: an element or a type')
      if (element !== undefined) assert.ok(elements.has(element), element)
      if (type !== undefined) assert.ok(type.startsWith('{http://www.w3.org/2001/XMLSchema}') || types.has(type), type)
    }
  }
  for (const portType of portTypes.values()) {
    const operations = children(portType, 'operation')
    assert.equal(new Set(operations.map(each => attribute(each, 'name'))).size, operations.length, 'R2304')
    for (const operation of operations)
      for (const each of operation.elements()) assert.ok(all.has(qname(each, 'message') ?? ''))
  }
  for (const binding of bindings.values()) {
    const portType = portTypes.get(qname(binding, 'type') ?? '')
    assert.ok(portType)
    const shape = (element: Element) =>
      children(element, 'operation').map(operation => [
        attribute(operation, 'name'),
        ...operation
          .elements()
          .filter(({ name }) => name.uri === wsdl)
          .map(each => [each.name.local, each.name.local === 'fault' && attribute(each, 'name')]),
      ])
    assert.deepEqual(shape(binding), shape(portType), 'R2718: the same operations')
    for (const fault of below(binding, 'fault')) assert.ok(attribute(fault, 'name'), 'R2721')
  }
  for (const port of below(root, 'port')) assert.ok(bindings.has(qname(port, 'binding') ?? ''))
  assert.doesNotMatch(text, /schemaLocation|wsdl:import/)
}

/** The schema alone. */
function schemaOf(text: string): string {
  const schema = only(only(rootOf(text), 'types'), 'schema')
  return writeElement(schema)
}
for (const style of styles)
  for (const soap of ['1.1', '1.2', 'both'] as const)
    test(`B2.12 ${style}, ${soap}: every reference resolves`, () => {
      const text = writeShop({ style, soap })
      check(text)
      if (style !== 'encoded') judge(schemaOf(text)) // libxml2 would fetch the schema of the encoding
    })
test('B2.12 D5 the same holds for any contract', () => {
  const law = (service: Service, style: MessageStyle) => {
    const text = writeWsdl11(service, 'v1', {
      address: 'http://x/?a=1&b="2"',
      style,
      policy: { addressing: true, mtom: true },
    })
    check(text)
    if (style !== 'encoded') judge(schemaOf(text))
  }
  fc.assert(fc.property(services, fc.constantFrom(...styles), law), { numRuns: 60 })
})
test('B2.12 all characters of an address are escaped', () => {
  const [written] = below(rootOf(writeShop({ address: 'http://x/?a=1&b="<2>"', soap: '1.1' })), 'address')
  assert.equal(written && attribute(written, 'location'), 'http://x/?a=1&b="<2>"')
})
