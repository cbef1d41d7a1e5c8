/** The content of a Body as WSDL 1.1 §3.5 declares it: elements of parts, a type, or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import type { ExchangeBody, Port, PortExchange } from '../../src/contract/exchange.ts'
import { BodyContent, x } from '../../src/contract/xml-type.ts'
import { makeMessage } from '../../src/describe/example-message.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { readSoapDescription } from '../../src/diff/read-soap.ts'
import { contentOf } from '../../src/http/message.ts'
import type { ImportedContract } from '../../src/import/imported-contract.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createBodyCodecs } from '../../src/soap/codecs/body-codec.ts'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { createEchoNode, createPortContext } from '../soap/echo.ts'
import { importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

interface Described {
  readonly parts: string
  readonly body?: string
  readonly style?: 'document' | 'rpc'
  /** Operations next to it. */
  readonly more?: readonly { readonly name: string; readonly parts: string; readonly action?: string }[]
}
const describe = ({ parts, body = 'use="literal"', style = 'document', more = [] }: Described): ImportedContract => {
  const all: NonNullable<Described['more']> = [{ name: 'ask', parts }, ...more]
  const named = (at: number) => (more.length > 0 ? ` name="in${at}"` : '')
  return importText(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:element name="A" type="xs:string"/><xs:element name="B" type="xs:int" nillable="true"/>
    <xs:complexType name="Pair"><xs:sequence><xs:element ref="t:A"/><xs:element name="b" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>
    <xs:complexType name="Marked"><xs:sequence><xs:element ref="t:A"/></xs:sequence><xs:attribute name="k"/></xs:complexType>
  </xs:schema></types>
  ${all.map((each, at) => `<message name="M${at}">${each.parts}</message>`).join('')}
  <portType name="P">${all.map((each, at) => `<operation name="${each.name}"><input${named(at)} message="t:M${at}"/></operation>`).join('')}</portType>
  <binding name="B" type="t:P"><s:binding style="${style}" transport="http://schemas.xmlsoap.org/soap/http"/>
    ${all.map((each, at) => `<operation name="${each.name}"><s:operation soapAction="${each.action ?? ''}"/><input${named(at)}><s:body ${body}/></input></operation>`).join('')}</binding>
  <service name="S"><port name="Port" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`)
}
const part = (name: string, of: string) => `<part name="${name}" ${of}/>`
const [a, b] = [part('one', 'element="t:A"'), part('two', 'element="t:B"')]
const lossesOf = ({ losses }: ImportedContract) =>
  losses.map(({ place, detail, cause }) => `${cause}: ${place}: ${detail}`)
const portOf = (contract: ImportedContract): Port => contract.ports[0] ?? assert.fail('no port')
const exchangeOf = (contract: ImportedContract): PortExchange =>
  portOf(contract).exchanges['ask'] ?? assert.fail(lossesOf(contract).join('\n'))
const keysOf = (body: ExchangeBody): readonly string[] => {
  assert.ok(body instanceof BodyContent)
  const { definition } = body.type()
  return definition.kind === 'complex' ? Object.keys(definition.members) : []
}
/** Nothing is lost, and what is described of it means the same. */
function assertWhole(contract: ImportedContract): ImportedContract {
  assert.deepEqual(lossesOf(contract), [])
  const again = importText(writePortWsdl(portOf(contract), 'http://x/'))
  assert.deepEqual(lossesOf(again), [])
  assert.equal(digestPort(portOf(again)), digestPort(portOf(contract)))
  return contract
}

test('§3.5 several parts with elements: a member for each, under the name of its part, in their order', () => {
  const contract = assertWhole(describe({ parts: a + b }))
  assert.deepEqual(keysOf(exchangeOf(contract).input), ['one', 'two'])
  assert.match(
    writeTypescript(contract, 't.wsdl'),
    /input: x\.body\(\{\n\s+one: x\.ref\(A\),\n\s+two: x\.ref\(B\),\n\s+\}\)/,
  )
})
test('§3.5 the attribute parts of soap:body names those that the Body has: several, one, none', () => {
  const of = (names: string) =>
    exchangeOf(assertWhole(describe({ parts: a + b, body: `parts="${names}" use="literal"` })))
  assert.deepEqual(keysOf(of('two one').input), ['one', 'two'])
  assert.equal((of('two').input as { name: { local: string } }).name.local, 'B')
  assert.equal(of('').input, 'empty')
})
test('§3.5 one part with an element is that element, and a message without parts is empty', () => {
  assert.ok(!(exchangeOf(assertWhole(describe({ parts: a }))).input instanceof BodyContent))
  assert.equal(exchangeOf(assertWhole(describe({ parts: '' }))).input, 'empty')
})
test('§3.5 two parts with one element are two members', () => {
  const { input } = exchangeOf(assertWhole(describe({ parts: a + part('again', 'element="t:A"') })))
  assert.deepEqual(keysOf(input), ['one', 'again'])
})
test('§3.5 the only part has a type: the Body has the content of it', () => {
  const contract = assertWhole(describe({ parts: part('p', 'type="t:Pair"') }))
  assert.deepEqual(keysOf(exchangeOf(contract).input), ['A', 'b'])
  assert.match(writeTypescript(contract, 't.wsdl'), /input: x\.body\(Pair\)/)
})
test('§3.5 the only part has the type of every type: the Body has any elements', () => {
  const { input } = exchangeOf(assertWhole(describe({ parts: part('p', 'type="xs:anyType"') })))
  const { read, write, firsts } = createBodyCodecs()(input)
  assert.ok(typeof read === 'function' && firsts.includes(undefined))
  assert.equal(write({ any: ['<a/>', '<b xmlns="urn:b"/>'] }), '<a/><b xmlns="urn:b"/>')
})
for (const [what, parts, line] of [
  [
    'text',
    part('p', 'type="xs:string"'),
    'document: operation ask, ask: the part p has the type string, which is text, and a Body has only elements: the operation is left out (R2204)',
  ],
  [
    'attributes',
    part('p', 'type="t:Marked"'),
    'document: operation ask, ask: the part p has the type Marked, which has attributes or text, and a Body has only elements: the operation is left out (R2204)',
  ],
  [
    'a part with a type among others',
    a + part('p', 'type="t:Pair"'),
    'document: operation ask, ask: the part p has no element: the operation is left out (R2204)',
  ],
] as const)
  test(`SOAP 1.2 Part 1 §5.3 a Body cannot have ${what}: one line says it`, () => {
    assert.ok(lossesOf(describe({ parts })).includes(line), lossesOf(describe({ parts })).join('\n'))
  })

test('§2.4.5 overloaded operations of RPC keep their name, and are distinguished by their parts', () => {
  const text = part('p', 'type="xs:string"')
  const more = [
    { name: 'ask', parts: text + part('q', 'type="xs:int"') },
    { name: 'ask', parts: '' },
  ]
  const contract = assertWhole(describe({ style: 'rpc', body: 'use="literal" namespace="urn:r"', parts: text, more }))
  assert.deepEqual(Object.keys(portOf(contract).exchanges), ['ask', 'ask2', 'ask3'])
  const same = describe({ style: 'rpc', parts: text, more: [{ name: 'ask', parts: text }] })
  const line =
    'document: operation ask: has the same content of Body as ask, and the same action: it is left out (R2710)'
  assert.ok(lossesOf(same).includes(line), lossesOf(same).join('\n'))
})
test('operations that begin with the same element are all imported', () => {
  const contract = assertWhole(
    describe({
      parts: a,
      more: [
        { name: 'two', parts: a + b },
        { name: 'three', parts: b + a },
      ],
    }),
  )
  assert.deepEqual(Object.keys(portOf(contract).exchanges), ['ask', 'two', 'three'])
})
test('R2745 of operations with the same content, a message without an action is for the one without a soapAction', async () => {
  const contract = assertWhole(describe({ parts: a, more: [{ name: 'acted', parts: a, action: 'urn:acted' }] }))
  const port = portOf(contract)
  const { ask, acted } = port.exchanges
  assert.ok(ask && acted)
  // In either order.
  for (const exchanges of [
    { ask, acted },
    { acted, ask },
  ]) {
    const asked: string[] = []
    const context = createPortContext({ ...port, exchanges }, () => undefined)
    const bound = bindExchanges(context, { ...port, exchanges }).map(each => ({
      ...each,
      perform: (...given: Parameters<typeof each.perform>) => {
        asked.push(each.name)
        return each.perform(...given)
      },
    }))
    const { send } = createEchoNode(bound)
    const post = (fields: Record<string, string>, namespace: string) => {
      const text = `<e:Envelope xmlns:e="${namespace}"><e:Body><A xmlns="urn:t">x</A></e:Body></e:Envelope>`
      return send({ fields, content: contentOf(text) })
    }
    for (const soapaction of ['""', '"urn:acted"'])
      await post({ 'content-type': 'text/xml', soapaction }, 'http://schemas.xmlsoap.org/soap/envelope/')
    for (const action of ['', '; action="urn:acted"'])
      await post({ 'content-type': `application/soap+xml${action}` }, 'http://www.w3.org/2003/05/soap-envelope')
    assert.deepEqual(asked, ['ask', 'acted', 'ask', 'acted'])
  }
})

// What else knows of them

test('a value that a Body cannot have is not sent, and the error names its place', () => {
  const { write } = createBodyCodecs()(exchangeOf(describe({ parts: a + b })).input)
  assert.equal(
    write({ one: 'x', two: null }).replaceAll(/ xmlns:\w+="[^"]*"/g, ''),
    '<n1:A>x</n1:A><n1:B xsi:nil="true"/>',
  )
  assert.throws(() => write({ one: 'x' }), /Body must have two/)
  assert.throws(() => write({ one: 'x', two: 'y' }), /Body\.two /)
  assert.throws(() => write({ one: 'x', two: 1, three: 1 }), /Body has the member three/)
  assert.throws(() => write('x'), /Body must be an object/)
})
test('a mock makes an example of each element of a Body', () => {
  const { input } = exchangeOf(describe({ parts: a + b }))
  assert.ok(typeof input === 'object')
  const value = makeMessage(input, { seed: 1, name: 'ask', item: 1, idOf: () => undefined, given: {} })
  assert.deepEqual(Object.keys(value as object), ['one', 'two'])
  assert.doesNotThrow(() => createBodyCodecs()(input).write(value))
})
test('diglot diff names an operation by all elements of its Body', () => {
  const text = writePortWsdl(portOf(describe({ parts: a + b })), 'http://x/')
  const { operations } = readSoapDescription(text, 't.wsdl', () => undefined)
  assert.deepEqual([...operations.keys()], ['SOAP 1.1 document {urn:t}A {urn:t}B'])
})
test('a caller of a bridge sends and receives several elements, and the bridge forwards no others', async () => {
  const declared = portOf(describe({ parts: a + b }))
  const ask = {
    ...exchangeOf(describe({ parts: a + b })),
    output: x.body({ b: x.ref(named.element('B', x.int)), a: x.ref(named.element('A', x.string)) }),
  }
  const answers = (body: string) => {
    const sent: string[] = []
    const call = createPortCaller(
      { ...declared, exchanges: { ask } },
      {
        prepare:
          () =>
          async ({ content }: { readonly content: unknown }) => {
            sent.push(String(content))
            const envelope = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${body}</e:Body></e:Envelope>`
            return { status: 200, fields: {}, content: new TextEncoder().encode(envelope) }
          },
      } as never,
      { timeLimit: 1000 },
    )
    return call('ask', { input: { one: 'x', two: 2 }, blocks: {} }).then(answer => ({ answer, sent }))
  }
  const right = await answers('<B xmlns="urn:t">3</B><A xmlns="urn:t">y</A>')
  assert.match(right.sent[0] ?? '', /<n1:A xmlns:n1="urn:t">x<\/n1:A><n1:B xmlns:n1="urn:t">2<\/n1:B><\/soap:Body>/)
  assert.deepEqual(right.answer, { kind: 'answer', content: { b: 3, a: 'y' }, blocks: {} })
  for (const wrong of ['<B xmlns="urn:t">3</B>', '<A xmlns="urn:t">y</A><B xmlns="urn:t">3</B>', ''])
    assert.equal((await answers(wrong)).answer.kind, 'garbage', wrong)
})
const named = x.namespace('urn:t')
