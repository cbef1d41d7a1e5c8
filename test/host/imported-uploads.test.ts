/**
 * A partner's WSDL with MTOM, `xmime:contentType` and a policy of signatures, as `diglot import`
 * reads it: served again, called by a client from the served WSDL, with files of any length.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { createPortClient } from '../../src/client/index.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { readPortRules } from '../../src/import/port-rule.ts'
import { anyone, implement, role, service } from '../../src/index.ts'
import { importText } from '../import/folder-find.ts'
import { startHosted } from './hosted-service.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot, writeKeyFiles } from './partner-keys.ts'

const sp = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'
const x509 = (when: string) =>
  `<wsp:Policy><sp:X509Token sp:IncludeToken="${sp}/IncludeToken/${when}"><wsp:Policy><sp:WssX509V3Token10/></wsp:Policy></sp:X509Token></wsp:Policy>`
const signed = `<sp:AsymmetricBinding><wsp:Policy>
  <sp:InitiatorToken>${x509('AlwaysToRecipient')}</sp:InitiatorToken><sp:RecipientToken>${x509('AlwaysToInitiator')}</sp:RecipientToken>
  <sp:AlgorithmSuite><wsp:Policy><sp:Basic256Sha256/></wsp:Policy></sp:AlgorithmSuite><sp:IncludeTimestamp/><sp:EncryptBeforeSigning/><sp:ProtectTokens/>
  </wsp:Policy></sp:AsymmetricBinding><sp:Wss11><wsp:Policy><sp:MustSupportRefThumbprint/><sp:RequireSignatureConfirmation/></wsp:Policy></sp:Wss11>
  <sp:SignedParts><sp:Body/></sp:SignedParts>`
const policies = { open: '', signed, sealed: `${signed}<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>` } as const
type Kind = keyof typeof policies

const wsdlOf = (kind: Kind) => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:claims"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" targetNamespace="urn:claims">
  <types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xmime="http://www.w3.org/2005/05/xmlmime"
      targetNamespace="urn:claims" elementFormDefault="qualified">
    <xs:import namespace="http://www.w3.org/2005/05/xmlmime"/>
    <xs:complexType name="File"><xs:simpleContent><xs:extension base="xs:base64Binary">
      <xs:attribute ref="xmime:contentType" use="required"/></xs:extension></xs:simpleContent></xs:complexType>
    <xs:element name="File"><xs:complexType><xs:sequence><xs:element name="claim" type="xs:string"/>
      <xs:element name="scan" type="t:File" xmime:expectedContentTypes="application/pdf, image/*"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="Filed"><xs:complexType><xs:sequence><xs:element name="digest" type="xs:string"/>
      <xs:element name="copy" type="t:File"/></xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="File"><part name="in" element="t:File"/></message><message name="Filed"><part name="out" element="t:Filed"/></message>
  <portType name="Claims"><operation name="File"><input message="t:File"/><output message="t:Filed"/></operation></portType>
  <binding name="Claims" type="t:Claims"><wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy" xmlns:sp="${sp}">
      <wsoma:OptimizedMimeSerialization xmlns:wsoma="http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization"/>${policies[kind]}</wsp:Policy>
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="File"><soap:operation soapAction="file"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  </binding>
  <service name="Claims"><port name="Claims" binding="t:Claims"><soap:address location="http://insurer.example/"/></port></service>
</definitions>`

const bank = issueBank()
const acme = issuePartner('O=Acme/CN=acme')
const keys = { ...acme, service: { authorities: bankRoot, name: 'bank.example' }, encryptTo: bank.certificate }
const digestOf = (octets: Uint8Array) => createHash('sha256').update(octets).digest('hex')

interface Filing {
  readonly claim: string
  readonly scan: { readonly value: Uint8Array; readonly contentType: string }
}
async function serve(kind: Kind) {
  const imported = importText(wsdlOf(kind))
  assert.deepEqual(imported.losses, [])
  const { rules, losses } = readPortRules(imported)
  assert.deepEqual(losses, [])
  const [port = assert.fail()] = imported.ports
  const security = rules.get('Claims')
  const allow = [security ? role('partner') : anyone]
  const exchanges = Object.fromEntries(Object.entries(port.exchanges).map(([name, each]) => [name, { ...each, allow }]))
  const contract = service('claims', {
    namespace: 'urn:claims',
    resources: [],
    ports: [{ ...port, exchanges, ...(security && { security }) }],
  })
  const handlers = { Claims: { File: ({ scan }: Filing) => ({ digest: digestOf(scan.value), copy: scan }) } }
  const app = implement(contract, handlers as never, {
    seed: () => ({ people: [{ subject: 'acme', password: 'acme-secret', roles: ['partner'] }] }),
  })
  const messageSecurity = { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] }
  const { server, ask } = await startHosted(security ? { messageSecurity } : {}, app as never)
  const described = importText((await ask('GET', '/soap/Claims?wsdl')).text)
  return { address: `${server.url}/soap/Claims`, described }
}

const types: string[] = []
function tapped(address: string): ClientTransport {
  return {
    close: () => {},
    prepare: common => async sending => {
      const content = typeof sending.content === 'string' ? [Buffer.from(sending.content)] : sending.content
      const headers: Record<string, string> = { ...common, ...sending.fields, 'accept-encoding': 'identity' }
      const answer = await fetch(address, { method: 'POST', headers, body: Buffer.concat(content) })
      const fields = Object.fromEntries(answer.headers)
      types.splice(0, 2, headers['content-type'] ?? '', fields['content-type'] ?? '')
      return { status: answer.status, fields, content: new Uint8Array(await answer.arrayBuffer()) }
    },
  }
}

for (const kind of Object.keys(policies) as Kind[])
  for (const [length, says] of [
    [0, 'no octets'],
    [1000, 'few octets'],
    [2_000_000, 'two megabytes'],
  ] as const)
    test(`an imported port takes a file of ${says} by MTOM, ${kind}, with its xmime:contentType`, async () => {
      const { address, described } = await serve(kind)
      const client = createPortClient(described, {
        address,
        mtom: true,
        transport: tapped(address),
        ...(kind !== 'open' && { keys }),
      })
      after(() => client[Symbol.dispose]())
      const value = Uint8Array.from({ length }, (_, at) => (at * 7) % 256)
      const call = Reflect.get(client, 'File') as (input: Filing) => Promise<{ digest: string; copy: Filing['scan'] }>
      const { digest, copy } = await call({ claim: 'c-1', scan: { value, contentType: 'image/png' } })
      assert.equal(digest, digestOf(value))
      assert.deepEqual([copy.contentType, digestOf(copy.value)], ['image/png', digestOf(value)])
      // What a signature covers stays inside of the XML (WSS 1.1 §8, XOP §2).
      if (length > 0) for (const type of types) assert.equal(/^multipart\/related/.test(type), kind === 'open', type)
    })
