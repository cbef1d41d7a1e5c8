/** Types whose required elements have no end: only nil can end a value (SOAP 1.1 §5.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Port } from '../../src/contract/exchange.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { assertLinear } from '../support/cost.ts'
import { importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

const wsdl = (types: string, use: 'encoded' | 'literal' = 'encoded', type = 'List'): string =>
  `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
<types><xs:schema targetNamespace="urn:t">${types}</xs:schema></types>
<message name="M"><part name="list" type="t:${type}"/></message>
<portType name="P"><operation name="put"><input message="t:M"/></operation></portType>
<binding name="B" type="t:P"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><operation name="put"><s:operation soapAction="put"/><input><s:body use="${use}" namespace="urn:t"/></input></operation></binding>
<service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`
const struct = (name: string, ...elements: readonly string[]): string =>
  `<xs:complexType name="${name}"><xs:sequence>${elements.map(each => `<xs:element ${each}/>`).join('')}</xs:sequence></xs:complexType>`
const value = 'name="value" type="xs:int"'

const cases: readonly (readonly [title: string, types: string, nillable: readonly string[]])[] = [
  ['a list', struct('List', value, 'name="next" type="t:List"'), ['list', 'next']],
  ['a list that says so', struct('List', value, 'name="next" type="t:List" nillable="true"'), ['list', 'next']],
  ['an optional end', struct('List', value, 'name="next" type="t:List" minOccurs="0"'), ['list']],
  ['no list', struct('List', value), ['list']],
  [
    'two types in turn',
    struct('List', 'name="of" type="t:Node"') + struct('Node', value, 'name="rest" type="t:List"'),
    ['list', 'of', 'rest'],
  ],
  [
    'what has a list, and what a list has',
    struct('List', 'name="first" type="t:Item"', 'name="next" type="t:List"') + struct('Item', value),
    ['list', 'next'],
  ],
  [
    'a member of another struct',
    struct('List', 'name="head" type="t:Node"') + struct('Node', 'name="next" type="t:Node"'),
    ['list', 'next'],
  ],
  [
    'a choice that may end',
    '<xs:complexType name="List"><xs:choice><xs:element name="end" type="xs:int"/><xs:element name="next" type="t:List"/></xs:choice></xs:complexType>',
    ['list'],
  ],
]
/** Parameters have a type alone, whose values may be nil (SOAP 1.1 §5.1), but for numbers. */
const parameters: readonly (readonly [type: string, mayBeNil: boolean])[] = [
  ['xs:int', false],
  ['xs:double', false],
  ['xs:boolean', false],
  ['xs:string', true],
  ['xs:decimal', true],
  ['enc:int', false],
  ['enc:string', true],
  ['enc:Array', true],
]
for (const [type, mayBeNil] of parameters)
  test(`§5.1 a parameter of the type ${type} may${mayBeNil ? '' : ' not'} be nil`, () => {
    const text = wsdl('')
      .replace('type="t:List"', `type="${type}"`)
      .replace('<definitions', '<definitions xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"')
    assert.deepEqual(nillableNames(importText(text).ports[0]), mayBeNil ? ['list'] : [])
    assert.deepEqual(nillableNames(importText(text.replace('"encoded"', '"literal"')).ports[0]), [])
  })

/** The names of members that may be nil, each once. */
function nillableNames(port: Port | undefined): readonly string[] {
  const text = writeTypescript(importText(writePortWsdl(port ?? assert.fail('no port'), 'http://x/')), 'x.wsdl')
  return [
    ...new Set([...text.matchAll(/(\w+): x\.element\([^\n]*\.nillable\(\)/g)].map(([, name = '']) => name)),
  ].sort()
}
for (const [title, types, nillable] of cases)
  test(`§5.1 ${title}: ${nillable.join(', ') || 'nothing'} may be nil`, () => {
    const port = importText(wsdl(types)).ports[0] ?? assert.fail('no port')
    assert.deepEqual(nillableNames(port), [...nillable].sort())
    const again = importText(writePortWsdl(port, 'http://x/'))
    assert.equal(digestPort(again.ports[0] ?? assert.fail('no port')), digestPort(port))
  })

test('WS-I R2211 a parameter of RPC/literal is not nil', () => {
  const [, types] = cases[1] ?? assert.fail('no case')
  assert.deepEqual(nillableNames(importText(wsdl(types, 'literal')).ports[0]), ['next'])
})

test('a chain of types is judged in linear time', () => {
  assertLinear(count => {
    const names = Array.from({ length: count }, (_, at) => `T${at}`)
    const types = names.map((name, at) =>
      struct(name, value, `name="next" type="t:${names[at + 1] ?? 'T0'}" minOccurs="${at % 50 === 49 ? 0 : 1}"`),
    )
    return () => void importText(wsdl(types.join(''), 'encoded', 'T0'))
  }, 300)
})
