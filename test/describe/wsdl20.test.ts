/**
 * WSDL 2.0 (rule B2.13): our document meets the assertions of Part 1; their checker is tested with
 * the W3C's documents.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileMessages, faultAction, replyAction } from '../../src/contract/xml-message.ts'
import { readWsdl20Services } from '../../src/describe/reader/read-wsdl20.ts'
import { writeWsdl20 } from '../../src/describe/wsdl20.ts'
import { Malformed } from '../../src/xml/malformed.ts'
import type { Element } from '../../src/xml/tree.ts'
import { parseXml } from '../../src/xml/tree.ts'
import { writeElement } from '../../src/xml/write.ts'
import { suites } from '../suites.ts'
import { services } from './contracts.ts'
import { judge } from './oracle.ts'
import { shop } from './orders-contract.ts'
import { attribute, below, children, only, rootOf } from './tree.ts'
import { flaws } from './wsdl20-checker.ts'

const ours = writeWsdl20(shop, 'v1', { address: 'http://127.0.0.1:8080/soap/v1' })

test('B2.13 our document meets every assertion that is checked', () => assert.deepEqual(flaws([rootOf(ours)]), []))
test('B2.13 with addressing and MTOM it still does, and names each [action] (Metadata §4.1)', () => {
  const policy = { addressing: true, mtom: true }
  const root = rootOf(writeWsdl20(shop, 'v1', { address: 'http://x/', policy }))
  assert.deepEqual(flaws([root]), [])
  const { bindings } = readWsdl20Services([root])
  assert.equal(bindings.length, 2)
  for (const { operations, policies } of bindings) {
    const assertions = (policies ?? []).flatMap(each => each.elements()).map(({ name }) => name.local)
    assert.deepEqual(assertions, ['Addressing', 'OptimizedMimeSerialization'])
    assert.deepEqual(
      operations.map(({ name, addressedAs: { request, reply, faults }, output }) => [
        name,
        request,
        output && reply,
        faults,
      ]),
      compileMessages(shop, 'v1').map(message => [
        message.operation.name,
        message.action,
        message.response && replyAction(message),
        Object.fromEntries(message.faults.map(({ fault }) => [fault, faultAction(message, fault)])),
      ]),
    )
  }
})
test('B2.13 the document of any contract does too, with a valid schema', () => {
  fc.assert(
    fc.property(services, service => {
      const root = rootOf(writeWsdl20(service, 'v1', { address: 'http://x/' }))
      assert.deepEqual(flaws([root]), [])
      judge(writeElement(only(only(root, 'types'), 'schema')))
    }),
    { numRuns: 30 },
  )
})
test('B2.13 it has nothing that the checker does not check: no style, no binding of HTTP', () => {
  const leftOut = / style(?:Default)?=|http:\/\/www\.w3\.org\/ns\/wsdl\/(?:http|rpc|style)/
  assert.doesNotMatch(ours, leftOut)
  fc.assert(
    fc.property(services, service =>
      assert.doesNotMatch(writeWsdl20(service, 'v1', { address: 'http://x/' }), leftOut),
    ),
    { numRuns: 30 },
  )
})
test('B2.13 an operation for each message, with the pattern of its reply', () => {
  const operations = children(only(rootOf(ours), 'interface'), 'operation')
  assert.deepEqual(
    operations.map(each => [attribute(each, 'name'), attribute(each, 'pattern')?.split('/').at(-1)]),
    compileMessages(shop, 'v1').map(({ operation, response }) => [operation.name, response ? 'in-out' : 'in-only']),
  )
})
test('A1.7 safe operations are marked', () => {
  const safe = below(rootOf(ours), 'operation').filter(each => attribute(each, 'safe') === 'true')
  assert.ok(safe.some(each => attribute(each, 'name') === 'GetOrder'))
  assert.ok(!safe.some(each => attribute(each, 'name') === 'PayOrder'))
})
test('B9.1 a binding and an endpoint for each version of SOAP', () => {
  const root = rootOf(ours)
  assert.deepEqual(
    children(root, 'binding').map(each => attribute(each, 'version')),
    ['1.2', '1.1'],
  )
  assert.deepEqual(
    below(root, 'endpoint').map(each => attribute(each, 'address')),
    Array(2).fill('http://127.0.0.1:8080/soap/v1'),
  )
})
test('B7.3 the code of a fault names the party that caused it', () => {
  const codes = children(children(rootOf(ours), 'binding')[0] as Element, 'fault').map(each => attribute(each, 'code')) // there are two
  assert.ok(codes.includes('soap12:Sender'))
})
test('D1 it refers to no other document', () =>
  assert.doesNotMatch(ours, /schemaLocation|wsdl:import|wsdl:include|xs:import/))

const tree = (content: string, more = '') =>
  rootOf(`<description xmlns="http://www.w3.org/ns/wsdl" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:wsoap="http://www.w3.org/ns/wsdl/soap" xmlns:whttp="http://www.w3.org/ns/wsdl/http" xmlns:wsdlx="http://www.w3.org/ns/wsdl-extensions"${more}>${content}</description>`)
const described = `<types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:element name="ask"><xs:complexType><xs:sequence>
    <xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema></types>
  <interface name="I"><fault name="F"/><operation name="ask" style="http://www.w3.org/ns/wsdl/style/iri" pattern="http://www.w3.org/ns/wsdl/in-out"><input element="t:ask"/><output element="#none"/><outfault ref="t:F"/></operation></interface>
  <binding name="B" interface="t:I" type="http://www.w3.org/ns/wsdl/soap" wsoap:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/"><fault ref="t:F"/><operation ref="t:ask"><input/><output/></operation></binding>
  <binding name="H" interface="t:I" type="http://www.w3.org/ns/wsdl/http"><fault ref="t:F"/><operation ref="t:ask" whttp:method="GET"><input/><output/></operation></binding>
  <service name="S" interface="t:I"><endpoint name="P" binding="t:B"/></service>`
/** [what is replaced, by what] */
const spoilt: readonly (readonly [string, string, RegExp])[] = [
  ['<service name="S"', '<service', /service has no name/],
  ['<endpoint name="P"', '<endpoint name="a:b"', /endpoint a:b has no NCName/],
  ['<interface name="I">', '<interface name="I" extend="t:I">', /interface I has the attribute extend/],
  ['<interface name="I">', '<interface name="I"><input element="t:ask"/>', /interface I has the element input/],
  ['<interface name="I">', 'text<interface name="I">', /description has text/],
  ['</interface>', '<documentation/></interface>', /documentation behind other elements/],
  ['</types>', '</types><types/>', /Description-1005/],
  ['<interface name="I">', '<include/><interface name="I">', /include has no location/],
  ['<interface name="I">', '<t:x xmlns:w="http://www.w3.org/ns/wsdl" w:required="1"/><interface name="I">', /Extensions-1093/],
  ['style=', 'wsdlx:safe="maybe" style=', /safe cannot be maybe/],
  ['<output element="#none"/>', '', /MEP-1022/],
  ['<outfault ref="t:F"/>', '<outfault ref="t:F"/><outfault ref="t:F" messageLabel="Out"/>', /InterfaceFaultReference-1039/],
  ['<operation ref="t:ask"><input/>', '<operation ref="t:ask"><input><wsoap:header/></input>', /header has no element/],
  ['<operation ref="t:ask"><input/>', '<operation ref="t:ask"><input><wsoap:header element="t:no"/></input>', /SOAPHeaderBlock-2079/],
  ['<operation ref="t:ask"><input/>', '<operation ref="t:ask"><wsoap:module/><input/>', /module has no ref/],
  ['2003/05/soap/bindings/HTTP/"', 'smtp/" whttp:cookies="true"', /SOAPHTTPProperties-2064/],
  ['whttp:method="GET"', 'whttp:method="GET" whttp:location="{1}"', /HTTPSerialization-2106/],
  ['whttp:method="GET"', 'whttp:method="GET" whttp:location="{b}" whttp:ignoreUncited="true"', /HTTPQueryString-2116/],
  ['whttp:method="GET"', 'whttp:method="POST" whttp:inputSerialization="multipart/form-data"', /HTTPSerialization-2121/],
  ['style="http://www.w3.org/ns/wsdl/style/iri" ', '', /^$/],
  ['whttp:method="GET"', 'whttp:method="GET" whttp:queryParameterSeparator="&amp;&amp;"', /queryParameterSeparator cannot be &&/],
  ['<fault ref="t:F"/><operation ref="t:ask" whttp', '<fault ref="t:F" whttp:code="099"/><operation ref="t:ask" whttp', /HTTPBindingFault-2106/],
] // biome-ignore format: a table
test('the checker finds a document of another namespace that is included, or imported as one that it is not', () => {
  const other = rootOf('<description xmlns="http://www.w3.org/ns/wsdl" targetNamespace="urn:o"/>')
  const flawsWith = (how: string) => flaws([tree(how + described), other]).join()
  assert.match(flawsWith('<include location="o"/>'), /Include-1081 urn:o/)
  assert.match(flawsWith('<import namespace="urn:x" location="o"/>'), /Include-1081 urn:o/)
  assert.equal(flawsWith('<import namespace="urn:o" location="o"/>'), '')
})
test('a document that meets every assertion', () => assert.deepEqual(flaws([tree(described)]), []))
for (const [right, wrong, flaw] of spoilt)
  test(`the checker finds ${wrong || `that ${right} is missing`}`, () => {
    assert.ok(described.includes(right))
    assert.match(flaws([tree(described.replace(right, wrong))]).join('; '), flaw)
  })

/** Documents that contradict their description in the suite. */
const contradicting: readonly (readonly [reason: string, ids: RegExp])[] = [
  ['Endpoint-1062: its second endpoint has a binding of an interface that is not its service’s', /^WSAddressing-1G$/],
  ['IRIStyle-2054: the element of the input has another name than the operation', /^(?:LocationTemplate|Sparql).*G$/],
  ['WRPC-2045: the signature leaves an element of the input out', /^RPC-4G$/],
]

const suite = suites('wsdl20-w3c')
if (suite) {
  const cases: unknown = JSON.parse(readFileSync(join(suite, 'cases.json'), 'utf8'))
  assert.ok(Array.isArray(cases))
  for (const { id, expect, root } of cases) {
    const reason = contradicting.find(([, ids]) => ids.test(id))?.[0]
    test(`W3C ${id} is ${expect}${reason ? `, which the checker does not see: ${reason}` : ''}`, () => {
      const found = flaws(documents(join(suite, 'documents', expect === 'valid' ? 'good' : 'bad', id, root)))
      // An exception that is not needed any more goes.
      const told = expect === 'valid' ? 'invalid' : 'valid'
      assert.equal(found.length > 0 ? 'invalid' : 'valid', reason ? told : expect, found.join('; '))
    })
  }
}

/** A document, and the files next to it that it refers to. */
function documents(path: string, seen = new Map<string, Element>()): readonly Element[] {
  if (seen.has(path) || !existsSync(path)) return [...seen.values()]
  const document = parseXml(readFileSync(path))
  assert.ok(!(document instanceof Malformed))
  seen.set(path, document.root)
  for (const local of ['include', 'import'])
    for (const each of below(document.root, local)) {
      const location = attribute(each, 'location') ?? attribute(each, 'schemaLocation')
      if (location) documents(join(dirname(path), location.split('#')[0] ?? ''), seen)
    }
  const located = attribute(document.root, 'wsdlLocation')?.trim().split(/\s+/) ?? []
  for (const location of located.filter((_, at) => at % 2 === 1)) documents(join(dirname(path), location), seen)
  return [...seen.values()]
}
