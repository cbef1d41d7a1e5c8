/**
 * Reading WSDL 1.1: our documents, and those of other tools; nothing is fetched (attacks D1–D3).
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { readWsdl11 } from '../../src/describe/reader/read-wsdl.ts'
import { type Find, type WsdlDocument, wsdlLimits } from '../../src/describe/reader/wsdl-document.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { Malformed } from '../../src/xml/malformed.ts'
import { parseXml } from '../../src/xml/tree.ts'
import { suites } from '../suites.ts'
import { shop } from './orders-contract.ts'

const octets = (text: string) => new TextEncoder().encode(text)
function read(text: string, find?: Find): WsdlDocument {
  const document = readWsdl11(octets(text), 'root', find)
  assert.ok(!(document instanceof Malformed))
  return document
}

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`B2.12 our document in ${style} style is read back`, () => {
    const { services, flaws } = read(writeWsdl11(shop, 'v1', { address: 'http://x/soap/v1', style }))
    assert.deepEqual(flaws, [])
    const ports = services[0]?.ports ?? []
    assert.deepEqual(
      ports.map(({ soap, address }) => [soap, address]),
      [
        ['1.1', 'http://x/soap/v1'],
        ['1.2', 'http://x/soap/v1'],
      ],
    )
    for (const { operations } of ports)
      assert.deepEqual(
        operations.map(each => [
          each.name,
          each.action,
          each.output !== undefined,
          each.faults.map(({ fault }) => fault),
        ]),
        compileMessages(shop, 'v1').map(({ operation, action, response, faults }) => [
          operation.name,
          action,
          response !== undefined,
          faults.map(({ fault }) => fault),
        ]),
      )
    const pay = ports[0]?.operations.find(({ name }) => name === 'PayOrder')
    assert.equal(pay?.style, style === 'document' ? 'document' : 'rpc')
    assert.equal(pay?.input?.use, style === 'encoded' ? 'encoded' : 'literal')
    assert.deepEqual(
      pay?.input?.parts.map(({ name }) => name),
      style === 'document' ? ['parameters'] : ['id', 'version', 'method', 'amount'],
    )
  })

const definitions = (content: string) =>
  `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t">${content}</definitions>`
const hostile = [
  [
    'D1 an import over http is not fetched',
    definitions('<import namespace="urn:x" location="http://127.0.0.1:1/x.wsdl"/>'),
  ],
  ['D1 nor one of a file', definitions('<import namespace="urn:x" location="file:///etc/passwd"/>')],
  [
    'D1 nor a schema',
    definitions(
      '<types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="http://127.0.0.1:1/x.xsd"/></xs:schema></types>',
    ),
  ],
] as const
for (const [title, text] of hostile) test(title, () => assert.equal(read(text).missing.length, 1))

test('D1 a loop of imports ends', () => {
  let asked = 0
  const find: Find = location => {
    asked++
    return {
      location,
      bytes: octets(definitions(`<import namespace="urn:t" location="${location === 'a' ? 'b' : 'a'}"/>`)),
    }
  }
  assert.deepEqual(read(definitions('<import namespace="urn:t" location="a"/>'), find).flaws, [])
  assert.equal(asked, 3)
})
test('D1 ten thousand imports end at the limit', () => {
  let asked = 0
  const find: Find = location => {
    asked++
    return { location, bytes: octets(definitions('')) }
  }
  const imports = Array.from({ length: 10_000 }, (_, i) => `<import namespace="urn:t" location="${i}"/>`).join('')
  assert.deepEqual(read(definitions(imports), find).flaws, [
    `more than ${wsdlLimits.documents} documents: the others were not read`,
  ])
  assert.ok(asked <= wsdlLimits.documents)
})
test('XML Schema Part 1 §4.2.1 a schema without namespace belongs to that of each including schema', () => {
  const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
  const including = (namespace: string) =>
    `<xs:schema ${xs} targetNamespace="${namespace}"><xs:include schemaLocation="common.xsd"/></xs:schema>`
  const common = `<xs:schema ${xs}><xs:include schemaLocation="common.xsd"/><xs:element name="e"/></xs:schema>`
  const find: Find = location => ({ location, bytes: octets(common) })
  const part = (name: string, element: string) => `<part name="${name}" element="${element}"/>`
  const text = definitions(`
    <types>${including('urn:t')}${including('urn:u')}</types>
    <message name="m" xmlns:u="urn:u">${part('a', 't:e')}${part('b', 'u:e')}${part('c', 'u:f')}</message>
    <portType name="p"><operation name="o"><input message="t:m"/></operation></portType>
    <binding name="b" type="t:p" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
      <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><operation name="o"/>
    </binding>
    <service name="s"><port name="p" binding="t:b"/></service>`)
  const { flaws, schemas } = read(text, find)
  assert.deepEqual(flaws, ['o input: element {urn:u}f is not declared'])
  assert.equal(schemas.length, 3)
})
test('D2 a DTD is refused', () => {
  const text = `<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]>${definitions('<documentation>&e;</documentation>')}`
  assert.ok(readWsdl11(octets(text)) instanceof Malformed)
})
test('D2 a DTD in an imported document is refused too', () => {
  const find: Find = location => ({ location, bytes: octets('<!DOCTYPE d><d/>') })
  assert.match(read(definitions('<import namespace="urn:t" location="a"/>'), find).flaws.join(), /^a: /)
})
test('B2.12 a document other than WSDL 1.1 is refused', () => {
  assert.ok(readWsdl11(octets('<description xmlns="http://www.w3.org/ns/wsdl"/>')) instanceof Malformed)
})

const root = (file: string, suite: string): WsdlDocument | Malformed => {
  const path = join(suite, file)
  const find: Find = (location, base) => {
    const there = join(dirname(base), location)
    return !/^[a-z]+:/i.test(location) && existsSync(there)
      ? { location: there, bytes: readFileSync(there) }
      : undefined
  }
  return readWsdl11(readFileSync(path), path, find)
}

/** Documents that the other reader of the suite reads differently. */
const differing: Readonly<Record<string, string>> = {
  'axis1.4/_import__Import/Import.wsdl': 'the interface that it imports is not in the suite',
  'node-soap/builtin_types/builtin_types.wsdl': 'the other reader cannot read one of its two operations',
  'node-soap/Dummy/Dummy.wsdl': 'likewise',
  'node-soap/schema_with_no_targetnamespace/schema_with_no_targetnamespace.wsdl': 'likewise',
  'node-soap/json_response/json_response.wsdl': 'it names an element that its schema does not have: we report the flaw',
  'mono__443095/443095.wsdl': 'its binding has none of the operations: we report the flaw',
  'spring-ws/concrete/concrete.wsdl': 'its binding is in no namespace, the reference is in one: we report the flaw',
}
for (const name of ['wsdl11-real', 'wsdl11-features', 'wsdl11-suspect']) {
  const suite = suites(name)
  if (!suite) continue
  const cases: unknown = JSON.parse(readFileSync(join(suite, 'cases.json'), 'utf8'))
  assert.ok(Array.isArray(cases))
  for (const { file, wsdl, targetNamespace, services, ports, zeep, zeepOperationsPerPort } of cases) {
    if (wsdl !== '1.1') continue
    test(`${name} ${file}: ${services ?? 0} services, ${ports ?? 0} ports`, () => {
      const found = root(file, suite)
      assert.ok(!(found instanceof Malformed), String(found instanceof Malformed && found.reason))
      const all = found.services.flatMap(service => service.ports.map(port => ({ service: service.name, ...port })))
      assert.equal(found.targetNamespace, targetNamespace ?? '')
      assert.equal(found.services.length, services ?? 0)
      assert.equal(all.length, ports ?? 0)
      if (zeep !== 'ok' || file in differing) return
      // The other reader counts operations that it cannot read as 0, and operations of HTTP
      // bindings too.
      for (const { soap, service, name, operations } of all) {
        const counted: unknown = zeepOperationsPerPort?.[`${service}/${name}`] ?? 0
        const names = new Set(operations.map(operation => operation.name)) // it counts overloads once
        if (soap !== undefined && counted !== 0) assert.equal(names.size, counted, `${service}/${name}`)
      }
      if (name !== 'wsdl11-suspect') assert.deepEqual(found.flaws, [])
    })
  }
}

const suspect = [
  [
    'axis1.4/badWSDL__Error-InputInOperationWithMissingMessageAttribute.wsdl',
    /^GetCityTemperatureForecast input: message without a name is not found$/,
  ],
  [
    'axis1.4/badWSDL__Error-FaultInOperationWithUndefinedMessage-MultipleFaults.wsdl',
    /UndefinedFaultMessage is not found$/,
  ],
  ['cxf-validator/validator_wsdl__cxf1793.wsdl', /^header: message opTwo has no part header2$/],
  [
    'cxf-validator/validator_wsdl__hello_world_error_reference.wsdl',
    /^port SoapPort: binding .*Greeter_SOAPBinding1 is not found$/,
  ],
  ['rubiii-wsdl/unresolved_references__message.wsdl', /^Ping input: message {urn:bad}MissingMessage is not found$/],
  ['soap-wsdl-perl/SOAP__WSDL_NO_BINDING.wsdl', /^port NewPort: binding .*BadBinding is not found$/],
  ['soap-wsdl-perl/SOAP__WSDL_NO_PORTTYPE.wsdl', /^binding NewBinding: portType .*BadPortType is not found$/],
] as const
const suspects = suites('wsdl11-suspect')
if (suspects)
  for (const [file, flaw] of suspect)
    test(`B2.12 the flaw of ${file} is reported with its place`, () => {
      const found = root(file, suspects)
      assert.ok(!(found instanceof Malformed))
      assert.match(found.flaws[0] ?? '', flaw)
    })
test('B2.12 a name that is declared twice is reported', () => {
  const twice = '<message name="m"/><message name="m"/>'
  assert.deepEqual(read(definitions(twice)).flaws, ['message {urn:t}m is declared twice'])
})

/** [title, two operations of one name, the binding of one of them, the part of its message] */
const overloads: readonly (readonly [string, string, string, string])[] = [
  [
    'the name of the input',
    '<operation name="o"><input name="x" message="t:A"/></operation><operation name="o"><input name="y" message="t:B"/></operation>',
    '<input name="y"/>',
    'b',
  ],
  [
    'the default name of an input, one way',
    '<operation name="o"><input name="x" message="t:A"/></operation><operation name="o"><input message="t:B"/></operation>',
    '<input name="o"/>',
    'b',
  ],
  [
    '… and with an output',
    '<operation name="o"><input name="x" message="t:A"/><output message="t:A"/></operation><operation name="o"><input message="t:B"/><output message="t:B"/></operation>',
    '<input name="oRequest"/><output/>',
    'b',
  ],
  [
    'the name of the output',
    '<operation name="o"><input message="t:A"/><output name="x" message="t:A"/></operation><operation name="o"><input message="t:B"/><output name="y" message="t:B"/></operation>',
    '<input/><output name="y"/>',
    'b',
  ],
]
for (const [title, portType, bound, part] of overloads)
  test(`B2.12 §2.4.5 an overloaded operation is found by ${title}`, () => {
    const messages = ['A', 'B'].map(
      each =>
        `<message name="${each}"><part name="${each.toLowerCase()}" type="xs:string" xmlns:xs="http://www.w3.org/2001/XMLSchema"/></message>`,
    )
    const binding = `<binding name="b" type="t:P"><s:binding xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"/><operation name="o">${bound}</operation></binding>`
    const service = '<service name="s"><port name="p" binding="t:b"/></service>'
    const text = definitions(`${messages.join('')}<portType name="P">${portType}</portType>${binding}${service}`)
    const { services } = read(text)
    const input = services[0]?.ports[0]?.operations[0]?.input
    assert.deepEqual(
      input?.parts.map(({ name }) => name),
      [part],
    )
  })

test('XML Schema Part 1 §4.2.1 an included schema without namespace has that of the including schema', () => {
  const schema = (content: string, attributes = '') =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"${attributes}>${content}</xs:schema>`
  const files: Readonly<Record<string, string>> = {
    'a.xsd': schema('<xs:include schemaLocation="b.xsd"/>'),
    'b.xsd': schema('<xs:element name="here"/>'),
  }
  const find: Find = location => ({ location, bytes: octets(files[location] ?? '') })
  const flaws = (element: string, how: string) =>
    read(
      definitions(
        `<types>${schema(`<xs:${how} schemaLocation="a.xsd"/>`, ' targetNamespace="urn:t"')}</types><message name="m"><part name="p" element="t:${element}"/></message><portType name="P"><operation name="o"><input message="t:m"/></operation></portType><binding name="b" type="t:P"><s:binding xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"/><operation name="o"><input/></operation></binding><service name="s"><port name="p" binding="t:b"/></service>`,
      ),
      find,
    ).flaws
  for (const how of ['include', 'redefine']) assert.deepEqual(flaws('here', how), [], how)
  assert.deepEqual(flaws('here', 'import'), ['o input: element {urn:t}here is not declared'])
  assert.deepEqual(flaws('nowhere', 'include'), ['o input: element {urn:t}nowhere is not declared'])
})

/** [what, a document of 8,000 of them]: quadratic work takes a thousand times as long as parsing. */
const soap11 = 'xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"'
const repeat = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')
const large: readonly (readonly [string, (count: number) => string])[] = [
  [
    'operations',
    count =>
      definitions(`<message name="m"/><portType name="P">${repeat(count, i => `<operation name="o${i}"><input message="t:m"/></operation>`)}</portType>
        <binding name="b" type="t:P" ${soap11}><s:binding/>${repeat(count, i => `<operation name="o${i}"><input><s:body use="literal"/></input></operation>`)}</binding>
        <service name="s"><port name="p" binding="t:b"/></service>`),
  ],
  [
    'flaws, seen from many ports',
    count =>
      definitions(`<portType name="P">${repeat(count, i => `<operation name="o${i}"><input message="t:m${i}"/></operation>`)}</portType>
        <binding name="b" type="t:P" ${soap11}><s:binding/>${repeat(count, i => `<operation name="o${i}"/>`)}</binding>
        <service name="s">${repeat(count / 10, i => `<port name="p${i}" binding="t:b"/>`)}</service>`),
  ],
  [
    'schemas and parts of one message',
    count =>
      definitions(`<types>${repeat(count / 4, i => `<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:${i}"/>`)}</types>
        <message name="m">${repeat(count / 4, i => `<part name="p${i}" element="t:e${i}"/>`)}</message>
        <portType name="P">${repeat(count / 2, i => `<operation name="o${i}"><input message="t:m"/></operation>`)}</portType>
        <binding name="b" type="t:P" ${soap11}><s:binding/>${repeat(count / 2, i => `<operation name="o${i}"><input/></operation>`)}</binding>
        <service name="s"><port name="p" binding="t:b"/></service>`),
  ],
]
for (const [what, write] of large)
  test(`(5) D1 a document of many ${what} takes linear time`, () => {
    const bytes = octets(write(8000))
    const best = (work: () => unknown): number => {
      const times = Array.from({ length: 5 }, () => {
        const start = performance.now()
        work()
        return performance.now() - start
      })
      return Math.min(...times)
    }
    const ratio = best(() => readWsdl11(bytes)) / best(() => parseXml(bytes))
    assert.ok(ratio < 300, `reading takes ${ratio} times as long as parsing`)
  })

test('B2.12 a document without a service shows its bindings, its portTypes and their operations', () => {
  const { services, bindings, portTypes } = read(
    definitions(`<message name="m"/><portType name="P"><operation name="o"><input message="t:m"/></operation></portType>
      <binding name="b" type="t:P" ${soap11}><s:binding style="rpc" transport="urn:x"/><operation name="o"><s:operation soapAction="a"/><input/></operation></binding>`),
  )
  assert.deepEqual(services, [])
  assert.deepEqual(portTypes, [{ name: '{urn:t}P', operations: ['o'] }])
  const [binding] = bindings
  assert.deepEqual(
    [binding?.name, binding?.soap, binding?.transport, binding?.operations[0]?.action, binding?.operations[0]?.style],
    ['{urn:t}b', '1.1', 'urn:x', 'a', 'rpc'],
  )
})

/** [rule, the part of the message, the style, the extension of the body, the remark] */
const remarks: readonly (readonly [string, string, string, string, RegExp])[] = [
  [
    'R2717',
    'type="xs:int"',
    'rpc',
    '<s:body use="literal"/>',
    /^o input: soap:body of an RPC operation has no namespace/,
  ],
  [
    'R2203',
    'element="t:e"',
    'rpc',
    '<s:body use="literal" namespace="urn:t"/>',
    /^o input: part p: an RPC part must have a type/,
  ],
  [
    'R2204',
    'type="xs:int"',
    'document',
    '<s:body use="literal"/>',
    /^o input: part p: a document part must have an element/,
  ],
  [
    '§2.3.1',
    'type="u:a"',
    'rpc',
    '<s:body use="literal" namespace="urn:t"/>',
    /^o input: type {urn:u}a is in a namespace without a schema/,
  ],
  [
    'A.4.1',
    'type="xs:int" minOccurs="0"',
    'rpc',
    '<s:body use="literal" namespace="urn:t"/>',
    /^part p: unknown attribute minOccurs/,
  ],
  [
    'A.4.2',
    'type="xs:int"',
    'rpc',
    '<s:body use="literal" namespace="urn:t" part="p"/>',
    /^body: unknown attribute part/,
  ],
  ['A.4.2', 'element="t:e"', 'document', '<s:body use="none"/>', /^body: use must be literal or encoded/],
  ['A.4.2', 'element="t:e"', 'document', '<s:body use="literal"/><s:bodies/>', /^unknown element bodies/],
  ['A.4.1', 'element="t:e"', 'document', '<s:body use="literal"/><part name="q"/><prat/>', /^unknown element prat/],
  ['R2306', 'element="t:e" type="xs:int"', 'document', '<s:body use="literal"/>', /^o input: part p: .* both/],
  ['§3.5', 'element="t:e"', 'document', '<s:body use="literal" parts="q"/>', /^o input: its message has no part q/],
  ['§3.5', 'element="t:e"', 'document', '<s:body use="literal" parts="p q"/>', /^o input: its message has no part q/],
]
for (const [rule, part, style, body, remark] of remarks)
  test(`B2.12 ${rule} a forbidden construct with a clear meaning is remarked`, () => {
    const found = read(
      definitions(`<types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:element name="e"/></xs:schema></types>
        <message name="m" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:u="urn:u"><part name="p" ${part}/></message>
        <portType name="P"><operation name="o"><input message="t:m"/></operation></portType>
        <binding name="b" type="t:P" ${soap11}><s:binding style="${style}"/><operation name="o"><input>${body}</input></operation></binding>
        <service name="s"><port name="p" binding="t:b"/></service>`),
    )
    assert.deepEqual(found.flaws, [])
    assert.equal(found.remarks.length, 1)
    assert.match(found.remarks[0] ?? '', remark)
    const [operation] = found.services[0]?.ports[0]?.operations ?? []
    assert.deepEqual(
      operation?.input?.parts.map(({ name }) => name),
      ['p'],
    )
  })

/** [rule, the operation of the portType, the faults of its binding, the flaws, the remarks] */
const declared = '<input message="t:m"/><output message="t:m"/>'
const mistakes: readonly (readonly [string, string, string, readonly string[], readonly string[]])[] = [
  [
    '§2.4.4 a fault twice',
    `${declared}${'<fault name="F" message="t:m"/>'.repeat(2)}`,
    '',
    ['o: fault F is declared twice'],
    [],
  ],
  ['§2.4.4 a fault without a name', `${declared}<fault message="t:m"/>`, '', ['o: a fault has no name'], []],
  ['§2.5 a fault that is only bound', declared, '<fault name="G"/>', [], ['o: fault G is bound, but not declared']],
  ['§2.4.2 a second input', `${declared}<input message="t:m"/>`, '', [], ['operation o: only the first input counts']],
  ['§2.3 a part twice', '<input message="t:two"/>', '', ['o input: part p is declared twice'], []],
]
for (const [title, operation, faults, flaws, remarked] of mistakes)
  test(`B2.12 ${title} is told`, () => {
    const part = '<part name="p" type="xs:int" xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'
    const found = read(
      definitions(`<message name="m">${part}</message><message name="two">${part}${part}</message>
        <portType name="P"><operation name="o">${operation}</operation></portType>
        <binding name="b" type="t:P" ${soap11}><s:binding style="rpc"/><operation name="o">${faults}</operation></binding>
        <service name="s"><port name="p" binding="t:b"/></service>`),
    )
    assert.deepEqual([found.flaws, found.remarks], [flaws, remarked])
  })
