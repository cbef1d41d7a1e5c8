/** Where a description attaches policies, and what its assertions demand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PortPolicy } from '../../src/contract/endpoint-rule.ts'
import { policyLimits } from '../../src/describe/reader/policy-lookup.ts'
import { readPortRules } from '../../src/import/port-rule.ts'
import { importText } from './folder-find.ts'

const wsp = 'xmlns:wsp="http://www.w3.org/ns/ws-policy"'
const token = `<sp:SupportingTokens xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">
  <wsp:Policy ${wsp}><sp:UsernameToken/></wsp:Policy></sp:SupportingTokens>`
const addressing = '<wsam:Addressing xmlns:wsam="http://www.w3.org/2007/05/addressing/metadata"/>'
const mtom11 = '<o:MTOM xmlns:o="http://www.w3.org/2007/08/soap12-mtom-policy"/>'
const mtom10 =
  '<o:OptimizedMimeSerialization xmlns:o="http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization"/>'
const reliable = '<rm:RMAssertion xmlns:rm="http://docs.oasis-open.org/ws-rx/wsrmp/200702"/>'
const reliableName = '{http://docs.oasis-open.org/ws-rx/wsrmp/200702}RMAssertion'

/** The places of a WSDL at which policies may be attached: attributes, or elements. */
interface Places {
  readonly document?: string
  readonly message?: string
  readonly portType?: string
  readonly portOperation?: string
  readonly portInput?: string
  readonly binding?: string
  readonly boundOperation?: string
  readonly boundInput?: string
  readonly port?: string
}
const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:bank">
  <xs:element name="Pay" type="xs:string"/><xs:element name="Ask" type="xs:string"/></xs:schema>`
const named =
  'xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" wsu:Id="P"'
const policyP = (inside: string) => `<wsp:Policy ${wsp} ${named}>${inside}</wsp:Policy>`
const byElement = `<wsp:PolicyReference ${wsp} URI="#P"/>`
const byAttribute = `${wsp} wsp:PolicyURIs="#P"`

const wsdl11 = (at: Places) => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:bank"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" targetNamespace="urn:bank">${at.document ?? ''}
  <types>${schema}</types>
  <message name="Pay">${at.message ?? ''}<part name="in" element="t:Pay"/></message>
  <message name="Ask"><part name="in" element="t:Ask"/></message>
  <portType name="Bank" ${at.portType ?? ''}>
    <operation name="Pay">${at.portOperation ?? ''}<input message="t:Pay" ${at.portInput ?? ''}/></operation>
    <operation name="Ask"><input message="t:Ask"/></operation></portType>
  <binding name="Bank" type="t:Bank">${at.binding ?? ''}
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Pay">${at.boundOperation ?? ''}<soap:operation soapAction="p"/>
      <input>${at.boundInput ?? ''}<soap:body use="literal"/></input></operation>
    <operation name="Ask"><soap:operation soapAction="a"/><input><soap:body use="literal"/></input></operation>
  </binding>
  <service name="Bank"><port name="Bank" binding="t:Bank">${at.port ?? ''}<soap:address location="http://b.example/"/></port></service>
</definitions>`

/** `portType` is its interface, `port` its endpoint, and messages have no element of their own. */
const wsdl20 = (at: Places) => `<description xmlns="http://www.w3.org/ns/wsdl" xmlns:t="urn:bank"
  xmlns:wsoap="http://www.w3.org/ns/wsdl/soap" targetNamespace="urn:bank">${at.document ?? ''}
  <types>${schema}</types>
  <interface name="Base" ${at.portType ?? ''}>
    <operation name="Pay" pattern="http://www.w3.org/ns/wsdl/in-only">${at.portOperation ?? ''}<input element="t:Pay" ${at.portInput ?? ''}/></operation></interface>
  <interface name="Bank" extends="t:Base">
    <operation name="Ask" pattern="http://www.w3.org/ns/wsdl/in-only"><input element="t:Ask"/></operation></interface>
  <binding name="Bank" interface="t:Bank" type="http://www.w3.org/ns/wsdl/soap"
    wsoap:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/">${at.binding ?? ''}
    <operation ref="t:Pay" wsoap:action="p">${at.boundOperation ?? ''}<input>${at.boundInput ?? ''}</input></operation>
    <operation ref="t:Ask" wsoap:action="a"/></binding>
  <service name="Bank" interface="t:Bank"><endpoint name="Bank" binding="t:Bank" address="http://b.example/">${at.port ?? ''}</endpoint></service>
</description>`

const read = (document: string) => {
  const contract = importText(document)
  const policy = contract.policies.get('Bank') ?? assert.fail('no policy')
  const losses = [...contract.losses, ...readPortRules(contract).losses]
  return { policy, losses: losses.map(({ place, detail }) => `${place}: ${detail}`) }
}
const secured = ({ security }: PortPolicy) => [...security.keys()]
const inBinding = (...policies: readonly string[]) =>
  wsdl11({ document: policies.slice(1).join(''), binding: policies[0] ?? '' })
const policyOf = (inside: string) => `<wsp:Policy ${wsp}>${inside}</wsp:Policy>`

const inBoth = ['Pay', 'Ask']
const attachments: readonly [place: keyof Places, how: string, reached: readonly string[], versions?: '1.1'][] = [
  ['portType', byAttribute, inBoth],
  ['binding', byElement, inBoth],
  ['binding', policyP(token), inBoth],
  ['port', byElement, inBoth],
  ['portOperation', byElement, ['Pay']],
  ['portInput', byAttribute, ['Pay']],
  ['boundOperation', byElement, ['Pay']],
  ['boundInput', byElement, ['Pay']],
  ['message', byElement, ['Pay'], '1.1'],
]
for (const [place, how, reached, versions] of attachments)
  for (const [version, write] of [['1.1', wsdl11] as const, ['2.0', wsdl20] as const]) {
    if (versions !== undefined && versions !== version) continue
    const manner = how === byElement ? 'a reference' : how === byAttribute ? 'PolicyURIs' : 'the policy itself'
    test(`WS-Policy Attachment §4, §5: WSDL ${version}: ${manner} at ${place}`, () => {
      const document = how === policyP(token) ? '' : policyP(token)
      const { policy, losses } = read(write({ document, [place]: how }))
      assert.deepEqual([secured(policy).sort(), losses], [[...reached].sort(), []])
    })
  }

const included: readonly [how: string, document: string][] = [
  ['by its id', inBinding(policyOf(byElement), policyP(token))],
  [
    'by its name',
    inBinding(policyOf(byElement.replace('#P', 'urn:p')), `<wsp:Policy ${wsp} Name="urn:p">${token}</wsp:Policy>`),
  ],
  [
    'inside of its operators',
    inBinding(policyOf(`<wsp:ExactlyOne><wsp:All>${byElement}</wsp:All></wsp:ExactlyOne>`), policyP(token)),
  ],
  ['from where it is attached', wsdl11({ binding: policyP(token), port: byElement })],
]
for (const [how, document] of included)
  test(`WS-Policy 1.5 §4.3.5: a policy includes the policies that it refers to: ${how}`, () => {
    const { policy, losses } = read(document)
    assert.deepEqual([secured(policy), losses], [['Pay', 'Ask'], []])
  })

test('WS-Policy 1.5 §4.3.4: a policy that includes itself, or a missing one, is reported', () => {
  assert.deepEqual(read(inBinding(byElement, policyP(token + byElement))).losses, [
    'document: the policy #P includes itself',
  ])
  assert.deepEqual(read(inBinding(policyOf(token + byElement))).losses, [
    'document: the policy #P is not in the document',
  ])
})
/** Each policy includes the next one so many times. */
const chainOf = (length: number, times: number) =>
  Array.from({ length }, (_, at) =>
    policyP(`<wsp:PolicyReference URI="#P${at + 1}"/>`.repeat(times)).replace('"P"', `"P${at}"`),
  )
const { inclusions, depth } = policyLimits
const floods: readonly [says: string, chain: readonly string[], told: string][] = [
  ['twice at each step', chainOf(40, 2), `policies include others more than ${inclusions} times: the rest is left out`],
  [
    'in a long chain',
    chainOf(5000, 1),
    `the policy #P${depth + 1} is included more than ${depth} deep: it is left out`,
  ],
]
for (const [says, chain, told] of floods)
  test(`D1 policies that include others ${says} end at a bound, which is reported`, () => {
    const last = policyP(token).replace('"P"', `"P${chain.length}"`)
    const { losses } = read(inBinding(byElement.replace('#P', '#P0'), ...chain, last))
    assert.ok(losses.includes(`document: ${told}`), String(losses))
  })

const both = (...ways: readonly string[]) =>
  policyOf(`<wsp:ExactlyOne>${ways.map(way => `<wsp:All>${way}</wsp:All>`).join('')}</wsp:ExactlyOne>`)
const usingAddressing = (attributes: string) =>
  `<wsaw:UsingAddressing xmlns:wsaw="http://www.w3.org/2006/05/addressing/wsdl" xmlns:w="http://schemas.xmlsoap.org/wsdl/" ${attributes}/>`
const left = `port Bank: its policy demands ${reliableName}: messages are sent and read without it`
const demands: readonly [clause: string, says: string, policy: string, expected: object, losses?: readonly string[]][] =
  [
    ['WS-Addressing Metadata §3.1', 'an assertion', policyOf(addressing), { addressing: true, mtom: false }],
    [
      'WS-Addressing WSDL Binding §3.1',
      'a required extension',
      usingAddressing('w:required="true"'),
      { addressing: true, mtom: false },
    ],
    [
      'WS-Addressing WSDL Binding §3.1',
      'an extension that is an offer',
      usingAddressing(''),
      { addressing: false, mtom: false },
    ],
    ['MTOM Serialization Policy Assertion 1.1', 'MTOM', policyOf(mtom11), { addressing: false, mtom: true }],
    ['WS-MTOMPolicy', 'OptimizedMimeSerialization', policyOf(mtom10), { addressing: false, mtom: true }],
    [
      'WS-Policy 1.5 §4.3.1',
      'an optional assertion',
      policyOf(mtom11.replace('/>', ` ${wsp} wsp:Optional="true"/>`)),
      { addressing: false, mtom: false },
    ],
    ['WS-Policy 1.5 §4.5', 'what is not known', policyOf(reliable), { addressing: false, mtom: false }, [left]],
    [
      'WS-Policy 1.5 §4.5',
      'an unknown assertion that may be ignored',
      policyOf(reliable.replace('/>', ` ${wsp} wsp:Ignorable="true"/>`)),
      { addressing: false, mtom: false },
    ],
    [
      'WS-Policy 1.5 §4.5',
      'an unknown assertion in one of two alternatives',
      both(reliable, mtom11),
      { addressing: false, mtom: true },
    ],
  ]
for (const [clause, says, policy, expected, losses = []] of demands)
  test(`${clause}: ${says}`, () => {
    const found = read(inBinding(policy))
    const { addressing, mtom } = found.policy
    assert.deepEqual([{ addressing, mtom }, found.losses], [expected, losses])
  })

const endpointReference = `<a:EndpointReference xmlns:a="http://www.w3.org/2005/08/addressing"><a:Address>http://b.example/</a:Address>
  <a:ReferenceParameters><k xmlns="urn:k">1</k></a:ReferenceParameters></a:EndpointReference>`
for (const [version, write] of [['1.1', wsdl11] as const, ['2.0', wsdl20] as const])
  test(`WS-Addressing Metadata §4.3: WSDL ${version}: reference parameters of a port are reported`, () => {
    const told = read(write({ port: endpointReference })).losses
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /Bank: messages must carry the reference parameters of its wsa:EndpointReference/)
    assert.deepEqual(
      read(write({ port: endpointReference.replace(/<a:ReferenceParameters>.*<\/a:ReferenceParameters>/, '') })).losses,
      [],
    )
  })

/** A service with a port for each version of SOAP, as .NET has them, and a policy in each binding. */
const twins = (inSoap11: string, inSoap12: string) => {
  const bind = (name: string, policy: string, soap: string) =>
    `<binding name="${name}" type="t:Bank">${policy}<${soap}:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Pay"><${soap}:operation soapAction="p"/><input><${soap}:body use="literal"/></input></operation></binding>`
  const bound = (name: string, soap: string) =>
    `<port name="${name}" binding="t:${name}"><${soap}:address location="http://b.example/${name}"/></port>`
  return importText(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:bank"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/" targetNamespace="urn:bank">
  <types>${schema}</types><message name="Pay"><part name="in" element="t:Pay"/></message>
  <portType name="Bank"><operation name="Pay"><input message="t:Pay"/></operation></portType>
  ${bind('Basic', inSoap11, 'soap')}${bind('Ws', inSoap12, 'soap12')}
  <service name="Bank">${bound('Basic', 'soap')}${bound('Ws', 'soap12')}</service></definitions>`)
}
test('WS-Policy Attachment §4: ports of two versions of SOAP are one only if they demand the same', () => {
  const kept = (inSoap11: string, inSoap12: string) => {
    const { ports, policies } = twins(inSoap11, inSoap12)
    return ports.map(({ port, soap }) => [port, soap, policies.get(port)?.security.size])
  }
  assert.deepEqual(kept('', ''), [['Basic', 'both', 0]])
  assert.deepEqual(kept(policyOf(token), policyOf(token)), [['Basic', 'both', 1]])
  const apart = (first: number, second: number) => [
    ['Basic', '1.1', first],
    ['Ws', '1.2', second],
  ]
  assert.deepEqual(kept('', policyOf(token)), apart(0, 1))
  assert.deepEqual(kept(policyOf(token), ''), apart(1, 0))
  assert.deepEqual(kept('', policyOf(addressing)), apart(0, 0))
})
