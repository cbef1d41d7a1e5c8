import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { importDocument } from '../../src/import/import-command.ts'

const policyOf = (assertion: string) => `<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy"
  xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">${assertion}</wsp:Policy>`

const wsdl = (inBinding: string) => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:bank"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" targetNamespace="urn:bank">
  <types><schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:bank">
    <element name="Pay" type="string"/></schema></types>
  <message name="Pay"><part name="in" element="t:Pay"/></message>
  <portType name="Bank"><operation name="Pay"><input message="t:Pay"/></operation></portType>
  <binding name="Bank" type="t:Bank">${inBinding}
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Pay"><soap:operation soapAction=""/><input><soap:body use="literal"/></input></operation></binding>
  <service name="Bank"><port name="Bank" binding="t:Bank"><soap:address location="http://b.example/"/></port></service>
</definitions>`

async function importText(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'policy-'))
  try {
    const file = join(folder, 'bank.wsdl')
    writeFileSync(file, text)
    return await importDocument(file, [], [])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('WS-SecurityPolicy 1.3: an imported contract requires of messages what its WSDL requires', async () => {
  const token = '<sp:SupportingTokens><wsp:Policy><sp:UsernameToken/></wsp:Policy></sp:SupportingTokens>'
  const { text, losses } = await importText(wsdl(policyOf(token)))
  assert.deepEqual(losses, [])
  assert.match(
    text,
    /const BankSecurity: SecurityRule \| undefined = \{ callers: \[\{ by: 'username', passwords: \['text'\], signed: false \}\] \}/,
  )
})

test('WS-SecurityPolicy 1.3: an import reports what a contract cannot say about a port', async () => {
  const { text, losses } = await importText(wsdl(policyOf('<sp:EncryptedElements/>')))
  const [loss, ...others] = losses
  assert.deepEqual(others, [])
  assert.equal(loss?.place, 'port Bank')
  assert.match(
    loss.detail,
    /^the policy of Pay demands EncryptedElements, which a contract cannot express: it is left out/,
  )
  assert.doesNotMatch(text, /security/)
  assert.deepEqual((await importText(wsdl(''))).losses, [])
})
