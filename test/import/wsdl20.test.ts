/** WSDL 2.0: its interfaces and bindings as ports, judged by the W3C's suite. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Port } from '../../src/contract/exchange.ts'
import { compareServices } from '../../src/diff/compare-services.ts'
import { readSoapDescription } from '../../src/diff/read-soap.ts'
import type { ImportedContract } from '../../src/import/imported-contract.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { assertLinear } from '../support/cost.ts'
import { importFile, importText } from './folder-find.ts'
import { askPort, digestElement, findPort, readMessage } from './served-port.ts'

const describe = (operations: string, bindings: string, face = ''): ImportedContract =>
  importText(writeDescription(operations, bindings, face))
const writeDescription = (operations: string, bindings: string, face = '') =>
  `<description xmlns="http://www.w3.org/ns/wsdl" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:wsoap="http://www.w3.org/ns/wsdl/soap" xmlns:wsdlx="http://www.w3.org/ns/wsdl-extensions">
  <types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:element name="Ask" type="xs:string"/><xs:element name="Answer" type="xs:int"/>
    <xs:element name="Closed" type="xs:string"/><xs:element name="Session" type="xs:string"/>
  </xs:schema></types>
  ${face}
  <interface name="Desk"${face ? ' extends="t:Base"' : ''}>
    <fault name="ClosedFault" element="t:Closed"/>${operations}
  </interface>
  ${bindings}
  <service name="DeskService" interface="t:Desk"><endpoint name="DeskPort" binding="t:B" address="http://x/"/></service>
</description>`
const soap = (inside = '', attributes = '') =>
  `<binding name="B" interface="t:Desk" type="http://www.w3.org/ns/wsdl/soap" wsoap:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/" ${attributes}>${inside}</binding>`
const inOut =
  '<operation name="ask" pattern="http://www.w3.org/ns/wsdl/in-out" wsdlx:safe="true"><input element="t:Ask"/><output element="t:Answer"/><outfault ref="t:ClosedFault"/></operation>'
const inPattern = (pattern: string, inside = '<input element="t:Ask"/>') =>
  `<operation name="tell" pattern="http://www.w3.org/ns/wsdl/${pattern}">${inside}</operation>`
const onlyPort = ({ ports }: ImportedContract): Port => ports[0] ?? assert.fail('no port')
const lossesOf = ({ losses }: ImportedContract) => losses.map(({ place, detail }) => `${place}: ${detail}`)

test('Part 1 §2.2–2.4: an operation has its element in, its element out, its faults, and may be safe', () => {
  const contract = describe(inOut, soap('<operation ref="t:ask" wsoap:action="urn:ask"/>'))
  const port = onlyPort(contract)
  assert.deepEqual(
    [port.port, port.names, port.soap],
    ['DeskPort', { service: 'DeskService', portType: 'Desk' }, '1.2'],
  )
  const { ask } = port.exchanges
  assert.deepEqual(
    [ask?.action, ask?.style, nameOf(ask?.input), Object.keys(ask?.faults ?? {}), ask?.isSafe],
    ['urn:ask', 'document', '{urn:t}Ask', ['ClosedFault'], true],
  )
  assert.deepEqual(contract.losses, [])
  assert.match(writeTypescript(contract, 'desk.wsdl'), /faults: \{ ClosedFault: Closed \},\n {6}safe: true/)
})
test('Part 1 §2.2.1: an interface has the operations of the interfaces it extends, once each', () => {
  const base = (name: string, more = '') =>
    `<interface name="${name}"${more}>${inOut.replace('"ask"', `"${name.toLowerCase()}"`).replace(/<outfault.*\/>/, '')}</interface>`
  const contract = describe(
    inOut,
    soap('<operation ref="t:base" wsoap:action="urn:base"/><operation ref="t:root" wsoap:action="urn:root"/>'),
    base('Base', ' extends="t:Root t:Base"') + base('Root'),
  )
  assert.deepEqual(Object.keys(onlyPort(contract).exchanges), ['ask', 'base', 'root'])
})
test('Part 2 §5.9 mandatory header blocks are reported by their side, also in TypeScript', () => {
  const block = (mark: string) => `<wsoap:header element="t:Session"${mark}/>`
  const bound = (asked: string, answered: string) =>
    soap(
      `<operation ref="t:ask" wsoap:action="urn:a"><input>${block(asked)}</input><output>${block(answered)}</output></operation>`,
    )
  const mark = ' mustUnderstand=" true "'
  for (const [asked, answered, written] of [
    [mark, '', { request: ['Session'] }],
    ['', ' mustUnderstand="1"', { reply: ['Session'] }],
    [mark, mark, { request: ['Session'], reply: ['Session'] }],
    [' mustUnderstand="false"', '', {}],
  ] as const) {
    const contract = describe(inOut, bound(asked, answered))
    assert.deepEqual(onlyPort(contract).exchanges['ask']?.mandatoryHeaders, written)
    const printed = /mandatoryHeaders: .*/.exec(writeTypescript(contract, 'desk.wsdl'))?.[0]
    const sides = Object.keys(written).map(side => `${side}: ['Session']`)
    assert.equal(printed, sides.length === 0 ? undefined : `mandatoryHeaders: { ${sides.join(', ')} },`)
    assert.deepEqual(contract.losses, [])
  }
})
test('diglot diff reports a header block that has become mandatory', () => {
  const read = (mark: string) => {
    const bound = `<operation ref="t:ask" wsoap:action="urn:a"><output><wsoap:header element="t:Session"${mark}/></output></operation>`
    return readSoapDescription(writeDescription(inOut, soap(bound)), 'desk.wsdl', () => undefined)
  }
  assert.deepEqual(compareServices(read(''), read(' mustUnderstand="0"')), [])
  const found = compareServices(read(''), read(' mustUnderstand="true"'))
  assert.match(JSON.stringify(found), /mandatory header blocks.*Session of the reply/)
})
for (const pattern of ['in-only', 'robust-in-only'])
  test(`Part 2 §2.2: ${pattern} has no reply`, () => {
    const contract = describe(inPattern(pattern, '<input element="t:Ask"/><outfault ref="t:ClosedFault"/>'), soap())
    const { tell } = onlyPort(contract).exchanges
    assert.deepEqual([tell?.output, Object.keys(tell?.faults ?? {})], [undefined, ['ClosedFault']])
    assert.deepEqual(contract.losses, [])
  })
test('Part 2 §2.2.3: a robust-in-only operation responds with its fault, or with nothing', async () => {
  const contract = describe(
    inPattern('robust-in-only', '<input element="t:Ask"/><outfault ref="t:ClosedFault"/>'),
    soap(),
  )
  const envelope = (body: string) =>
    Buffer.from(`<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>${body}</e:Body></e:Envelope>`)
  const ask = envelope('<Ask xmlns="urn:t">?</Ask>')
  assert.equal((await askPort(onlyPort(contract), ask, undefined)).status, 202)
  const closed = readMessage(envelope('<Fault><detail><Closed xmlns="urn:t">noon</Closed></detail></Fault>'))
  const { fault } = await askPort(onlyPort(contract), ask, closed)
  assert.equal(fault?.detail?.elements()[0]?.text, 'noon')
})
test('Part 2 §5.2, §5.9: the version of SOAP, and header blocks, are those of the binding', () => {
  const blocks =
    '<operation ref="t:ask"><input><wsoap:header element="t:Session"/></input><output><wsoap:header element="t:Session"/></output></operation>'
  const port = onlyPort(describe(inOut, soap(blocks, 'wsoap:version="1.1"')))
  assert.equal(port.soap, '1.1')
  assert.deepEqual(Object.keys(port.exchanges['ask']?.requestHeaders ?? {}), ['Session'])
  assert.deepEqual(Object.keys(port.exchanges['ask']?.replyHeaders ?? {}), ['Session'])
})
test('Part 1 §2.9.1: a binding without an interface serves the interface of the service', () => {
  const contract = describe(inOut, soap().replace('interface="t:Desk"', ''))
  assert.deepEqual(Object.keys(onlyPort(contract).exchanges), ['ask'])
})
test('§2.9: a binding without an endpoint is a port', () => {
  const second = soap('', 'wsoap:version="1.1"').replace('name="B"', 'name="B11"')
  const contract = describe(inOut, soap() + second)
  assert.deepEqual(
    contract.ports.map(each => [each.port, each.soap]),
    [
      ['DeskPort', '1.2'],
      ['B11', '1.1'],
    ],
  )
})

test('Part 1 §2.5.1: a message of any element is one', () => {
  const contract = describe(inPattern('in-only', '<input element="#any"/>'), soap())
  assert.deepEqual(contract.losses, [])
  assert.match(writeTypescript(contract, 'desk.wsdl'), /input: x\.body\(\{\s+any: x\.any\(\),\s+\}\)/)
})

const retrieved = (operation: string, location: string) =>
  `<operation ref="t:${operation}" wsoap:mep="http://www.w3.org/2003/05/soap/mep/soap-response/" xmlns:whttp="http://www.w3.org/ns/wsdl/http"${location && ` whttp:location="${location}"`}/>`
test('Part 2 §5.10.4.2, §6.8: an operation bound to GET has a template of its address, and is safe', () => {
  const nothing = inPattern('in-out', '<input element="#none"/><output element="t:Answer"/>')
  const contract = describe(nothing, soap(retrieved('tell', 'now')))
  const { tell } = onlyPort(contract).exchanges
  assert.deepEqual([tell?.location, tell?.isSafe, contract.losses], ['now', true, []])
  assert.match(writeTypescript(contract, 'desk.wsdl'), /location: 'now',/)
  const { tell: bare } = onlyPort(describe(nothing, soap(retrieved('tell', '')))).exchanges
  assert.equal(bare?.location, '')
})

test('diglot diff: a removed address of GET breaks its callers, a new one does not', () => {
  const nothing = inPattern('in-out', '<input element="#none"/><output element="t:Answer"/>')
  const read = (inside: string) =>
    readSoapDescription(writeDescription(nothing, soap(inside)), 'desk.wsdl', () => undefined)
  const [bare, bound] = [read(''), read(retrieved('tell', 'now'))]
  const told = (from: typeof bare, to: typeof bare) =>
    compareServices(from, to).map(({ text, writers }) => `${text}: ${writers}`)
  assert.deepEqual(told(bound, bare), ['GET at now removed: breaking'])
  assert.deepEqual(told(bare, bound), ['GET at now added: compatible'])
})

/** WSDL 2.0 Additional MEPs §2; the last one is of no specification. */
const unaskedBy: Readonly<Record<string, string>> = {
  'robust-out-only': 'the service speaks first: a notification is left out',
  'out-in': 'the service speaks first (out-in): it is left out',
  'out-opt-in': 'the service speaks first (out-opt-in): it is left out',
  'in-opt-out':
    'its response is optional (in-opt-out), which an exchange cannot express: it is left out; describe it as in-out, or as robust-in-only',
  'in-optional-out':
    'its pattern http://www.w3.org/ns/wsdl/in-optional-out is not known: it is left out; give one of http://www.w3.org/ns/wsdl/',
}
const told: readonly (readonly [what: string, contract: ImportedContract, line: string])[] = [
  [
    'a binding of HTTP',
    describe(inOut, '<binding name="B" interface="t:Desk" type="http://www.w3.org/ns/wsdl/http"/>'),
    'port DeskPort: is a binding of HTTP, not of SOAP: it is left out',
  ],
  [
    'a GET with what an address cannot have',
    describe(inOut, soap(retrieved('ask', ''))),
    'operation ask: is bound to a GET, and served by POST: an address cannot have the content of its input (§4.2)',
  ],
  [
    'a GET at another address',
    describe(
      inPattern('in-out', '<input element="#none"/><output element="t:Answer"/>'),
      soap(retrieved('tell', 'http://y/')),
    ),
    'operation tell: is bound to a GET, and served by POST: the address http://y/ leads away from that of its endpoint',
  ],
  [
    'a required module',
    describe(inOut, soap('<wsoap:module ref="urn:m" required="true"/>')),
    'document: the SOAP module urn:m is required',
  ],
  [
    'content that is not XML',
    describe(inPattern('in-only', '<input element="#other"/>'), soap()),
    'operation tell, tell: its content is not XML: the operation is left out',
  ],
  [
    'a notification',
    describe(inPattern('out-only', '<output element="t:Ask"/>'), soap()),
    'operation tell: the service speaks first: a notification is left out',
  ],
  ...['robust-out-only', 'out-in', 'out-opt-in', 'in-opt-out', 'in-optional-out'].map(
    pattern =>
      [
        `the pattern ${pattern}`,
        describe(inPattern(pattern, '<input element="t:Ask"/><output element="t:Answer"/>'), soap()),
        `operation tell: ${unaskedBy[pattern]}`,
      ] as const,
  ),
  [
    'a missing interface',
    describe('', soap().replace('t:Desk', 't:Shop')),
    'document: binding B: interface {urn:t}Shop is not found',
  ],
  [
    'a missing interface that another one extends',
    describe(inOut, soap(), '<interface name="Base" extends="t:Gone"/>'),
    'document: interface Base: interface t:Gone is not found',
  ],
]
for (const [what, contract, line] of told)
  test(`${what} is reported in one line`, () =>
    assert.ok(lossesOf(contract).includes(line), lossesOf(contract).join('\n')))

test('a WSDL 2.0 document with 8,000 operations is read in linear time', () => {
  assertLinear(count => {
    const names = Array.from({ length: count }, (_, i) => `o${i}`)
    const operations = names.map(name => inOut.replace('"ask"', `"${name}"`)).join('')
    const bound = names.map(name => `<operation ref="t:${name}" wsoap:action="urn:${name}"/>`).join('')
    const faults = names
      .slice(0, count / 8)
      .map(name => `<fault name="${name}" element="t:Closed"/>`)
      .join('')
    return () => {
      const { exchanges } = onlyPort(describe(faults + operations, soap(bound)))
      assert.equal(Object.keys(exchanges).length, count)
    }
  }, 2000)
})

// The W3C's suite

const suite = suites('wsdl20-w3c')
const parse = (path: string): Element => {
  const document = parseXml(readFileSync(path))
  return document instanceof Malformed ? assert.fail(document.reason) : document.root
}
const children = (element: Element | undefined, ...path: string[]): Element[] =>
  path.reduce<Element[]>(
    (found, local) => found.flatMap(each => each.elements().filter(({ name }) => name.local === local)),
    element ? [element] : [],
  )
const textAt = (element: Element | undefined, ...path: string[]) => children(element, ...path)[0]?.text.trim()
const nameAt = (element: Element | undefined, ...path: string[]) =>
  `{${textAt(element, ...path, 'namespaceName')}}${textAt(element, ...path, 'localName')}`
const idsOf = (root: Element): ReadonlyMap<string, Element> => {
  const all = [
    root,
    ...root.elements().flatMap(function list(each): Element[] {
      return [each, ...each.elements().flatMap(list)]
    }),
  ]
  return new Map(
    all.flatMap(each => each.attributes.flatMap(a => (a.name.local === 'id' ? [[a.value, each] as const] : []))),
  )
}
const refOf = (element: Element | undefined, ids: ReadonlyMap<string, Element>): Element | undefined =>
  ids.get(element?.attributes.find(({ name }) => name.local === 'ref')?.value ?? '')

/** What the component model of a document says of its SOAP endpoints. */
function listExpected(model: Element): readonly object[] {
  const ids = idsOf(model)
  return children(model, 'services', 'serviceComponent', 'endpoints', 'endpointComponent').flatMap(endpoint => {
    const binding = refOf(children(endpoint, 'binding')[0], ids)
    const version = textAt(binding, 'soapBindingExtension', 'soapVersion')
    const face = refOf(children(binding, 'interface')[0], ids)
    const operations = children(face, 'interfaceOperations', 'interfaceOperationComponent').map(operation => {
      const messages = children(operation, 'interfaceMessageReferences', 'interfaceMessageReferenceComponent')
      const elementIn = (direction: string) => {
        const message = messages.find(each => textAt(each, 'direction') === direction)
        return message && nameAt(refOf(children(message, 'elementDeclaration')[0], ids), 'name')
      }
      return [textAt(operation, 'name', 'localName'), elementIn('in'), elementIn('out')]
    })
    return version === undefined ? [] : [{ name: textAt(endpoint, 'name'), version, operations: operations.sort() }]
  })
}
const nameOf = (body: unknown): string | undefined => {
  const name = (body as { name?: { uri: string; local: string } } | undefined)?.name
  return name && `{${name.uri}}${name.local}`
}
const listFound = (ports: readonly Port[]): readonly object[] =>
  ports.map(({ port, soap: version, exchanges }) => ({
    name: port,
    version,
    operations: Object.entries(exchanges)
      .map(([name, { input, output }]) => [name, nameOf(input), nameOf(output)])
      .sort(),
  }))

if (suite) {
  for (const file of globSync('**/*.wsdlcm', { cwd: suite }).sort())
    test(`wsdl20-w3c ${file}: the imported ports are those of the component model`, () => {
      const contract = importFile(join(suite, file.replace(/cm$/, '')))
      assert.ok(!(contract instanceof Malformed))
      const expected = listExpected(parse(join(suite, file)))
      assert.ok(expected.length > 0)
      assert.deepEqual(listFound(contract.ports), expected)
    })
  for (const file of globSync('messages/**/*.descmsg', { cwd: suite }).sort())
    test(`wsdl20-w3c ${file}: the imported port responds to the recorded messages`, async () => {
      const [wsdl] = globSync('*.wsdl', { cwd: join(suite, dirname(file)) })
      const contract = importFile(join(suite, dirname(file), wsdl ?? ''))
      assert.ok(!(contract instanceof Malformed))
      const text = readFileSync(join(suite, file), 'utf8')
      const envelopes = [...text.matchAll(/<message [^>]*type="(\w+)"[\s\S]*?<\/message>/g)].map(([all, type]) => ({
        type,
        octets: Buffer.from(/<(\w+:)?Envelope[\s\S]*<\/(\w+:)?Envelope>/.exec(all)?.[0] ?? ''),
      }))
      const requests = envelopes.filter(({ type, octets }) => type === 'request' && octets.length > 0)
      assert.ok(requests.length > 0)
      for (const { octets } of requests) {
        const next = envelopes[envelopes.findIndex(each => each.octets === octets) + 1]
        const wanted = next?.type === 'response' && next.octets.length > 0 ? readMessage(next.octets) : undefined
        // The recorded clients speak SOAP 1.1 to bindings of 1.2.
        const port: Port = { ...findPort(contract.ports, readMessage(octets).body), soap: 'both' }
        const answer = await askPort(port, octets, wanted)
        assert.equal(answer.fault, undefined, answer.text)
        assert.equal(digestElement(answer.body, false), digestElement(wanted?.body, false))
      }
    })
  for (const file of globSync('documents/bad/*/*.wsdl', { cwd: suite }).sort())
    test(`wsdl20-w3c ${file}: a document with an error is imported, or refused with a reason`, () => {
      const contract = importFile(join(suite, file))
      if (contract instanceof Malformed) return assert.notEqual(contract.reason, '')
      assert.ok(contract.losses.every(({ place, detail }) => place !== '' && detail !== ''))
      assert.doesNotThrow(() => writeTypescript(contract, file))
    })
}
