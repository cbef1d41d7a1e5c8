import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { importDocument } from '../../src/import/import-command.ts'

const policy = `<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy"
  xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">
  <sp:SupportingTokens><wsp:Policy><sp:UsernameToken/></wsp:Policy></sp:SupportingTokens></wsp:Policy>`

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

async function listLosses(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'policy-'))
  try {
    const file = join(folder, 'bank.wsdl')
    writeFileSync(file, text)
    return (await importDocument(file, [], [])).losses
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('WS-SecurityPolicy 1.3: an import says that a port loses what its WSDL demands', async () => {
  const [loss, ...others] = await listLosses(wsdl(policy))
  assert.deepEqual(others, [])
  assert.equal(loss?.place, 'port Bank')
  assert.match(loss.detail, /^the WS-SecurityPolicy of Pay is left out/)
  assert.deepEqual(await listLosses(wsdl('')), [])
})
