/** WSDL 1.1 §3.7: which faults of an operation travel as header blocks, read and published again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

const header = (part: string, ...faults: readonly string[]) =>
  `<s:header message="t:H" part="${part}" use="literal">${faults.join('')}</s:header>`
const headerFault = (part: string, more = '') => `<s:headerfault message="t:F" part="${part}" use="literal" ${more}/>`
const abstractFault = (name: string, message: string) => `<fault name="${name}" message="t:${message}"/>`
const boundFault = (name: string) => `<fault name="${name}"><s:fault name="${name}" use="literal"/></fault>`
interface Given {
  readonly input?: string
  readonly output?: string
  readonly faults?: string
  readonly bound?: string
}
const write = ({ input = '', output = '', faults = '', bound = '' }: Given) => `<definitions
    xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
    ${['r', 'h', 'k', 'f', 'g'].map(name => `<xs:element name="${name}" type="xs:int"/>`).join('')}</xs:schema></types>
  <message name="In"><part name="a" element="t:r"/></message><message name="Out"/>
  <message name="H"><part name="h" element="t:h"/><part name="k" element="t:k"/></message>
  <message name="F"><part name="f" element="t:f"/><part name="g" element="t:g"/><part name="p" type="xs:string"/></message>
  <message name="OnlyF"><part name="f" element="t:f"/></message>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/>${faults}</operation></portType>
  <binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/><input><s:body use="literal"/>${input}</input>
      <output><s:body use="literal"/>${output}</output>${bound}</operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`

/** [what the document says, its parts, faults by name and element, blocks with the faults about them] */
const cases: readonly (readonly [string, Given, Readonly<Record<string, string>>, object])[] = [
  ['one fault', { input: header('h', headerFault('f')) }, { f: 'f' }, { h: ['f'] }],
  ['several faults of a block', { input: header('h', headerFault('f'), headerFault('g')) }, { f: 'f', g: 'g' }, { h: ['f', 'g'] }],
  ['one fault of two blocks', { input: header('h', headerFault('f')) + header('k', headerFault('f')) }, { f: 'f' }, { h: ['f'], k: ['f'] }],
  ['a part with a type', { input: header('h', headerFault('p', 'namespace="urn:p"')) }, { p: 'p' }, { h: ['p'] }],
  ['a block of the reply', { output: header('k', headerFault('g')) }, { g: 'g' }, { k: ['g'] }],
  ['a fault of the portType that the binding has as a block alone', { input: header('h', headerFault('f')), faults: abstractFault('Late', 'OnlyF') }, { Late: 'f' }, { h: ['Late'] }],
  ['a fault of the portType that the binding has as a detail, too', { input: header('h', headerFault('f')), faults: abstractFault('f', 'OnlyF'), bound: boundFault('f') }, { f: 'f', f2: 'f' }, { h: ['f2'] }],
  ['a fault of the portType without a binding is one of the detail', { input: header('h'), faults: abstractFault('Late', 'OnlyF') }, { Late: 'f' }, {}],
] // biome-ignore format: a table
for (const [title, given, faults, headerFaults] of cases)
  test(`WSDL 1.1 §3.7 ${title}`, () => {
    const contract = importText(write(given))
    assert.deepEqual(contract.losses, [])
    const port = contract.ports[0] ?? assert.fail('no port')
    const ask = port.exchanges['ask'] ?? assert.fail('no operation')
    assert.deepEqual(Object.fromEntries(Object.entries(ask.faults).map(([name, root]) => [name, root.name.local])), faults)
    assert.deepEqual(ask.headerFaults, headerFaults)
    const again = importText(writePortWsdl(port, 'http://localhost/'))
    assert.equal(digestPort(again.ports[0] ?? assert.fail('no port')), digestPort(port))
    const printed = /headerFaults: .*/.exec(writeTypescript(contract, 'test.wsdl'))?.[0]
    const written = Object.entries(headerFaults).map(([name, all]) => `${name}: [${all.map((each: string) => `'${each}'`).join(', ')}]`)
    assert.equal(printed, written.length === 0 ? undefined : `headerFaults: { ${written.join(', ')} },`)
  }) // biome-ignore format: a long line

test('WSDL 1.1 §3.7 a header fault whose message has no such part is reported and left out', () => {
  const { losses, ports } = importText(write({ input: header('h', headerFault('x')) }))
  assert.deepEqual(
    losses.map(({ detail, cause }) => [cause, detail]),
    [['document', 'headerfault: message F has no part x']],
  )
  assert.deepEqual(ports[0]?.exchanges['ask']?.headerFaults, {})
})

test('SOAP 1.1 §4.2, SOAP 1.2 §5.2.1 a header block has a namespace; those without one are reported and left out', () => {
  const headers = `<s:header message="t:F" part="p" use="literal"/>${header('h', headerFault('p'))}`
  const { losses, ports } = importText(write({ input: headers }))
  const told = 'the header block p has no namespace, which SOAP forbids: it is left out'
  assert.deepEqual(losses, [{ place: 'operation ask', detail: told, cause: 'document' }])
  const ask = ports[0]?.exchanges['ask'] ?? assert.fail('no operation')
  assert.deepEqual(Object.keys(ask.requestHeaders), ['h'])
  assert.deepEqual(ask.faults, {})
})
