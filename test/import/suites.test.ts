/** Documents of others: imported, served back, imported again. Nothing that a message depends on may differ. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { Malformed } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { assertLinear } from '../support/cost.ts'
import { importFile, importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

/** A part with an element whose type has no name gets one, so the port is described otherwise. */
const rpcElement = 'an RPC part with an element has its type here (R2203)'
for (const name of [
  'wsdl11-real',
  'wsdl11-features',
  'wsdl11-suspect',
  'wsdl-json-samples',
  'soapbuilders-interop',
  'wsdl20-w3c',
]) {
  const suite = suites(name)
  if (!suite) continue
  for (const file of globSync('**/*.wsdl', { cwd: suite }).sort())
    test(`${name} ${file}: the WSDL that we serve describes the same messages`, () => {
      const contract = importFile(join(suite, file))
      if (contract instanceof Malformed) return assert.notEqual(contract.reason, '')
      const types = writeTypescript(contract, file).replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
      assert.doesNotMatch(types, /\bany\b(?=[;,)>\]]| \|)/, 'a type is any')
      for (const loss of contract.losses) assert.ok(loss.place !== '' && loss.detail !== '')
      for (const port of contract.ports) {
        if (contract.losses.some(({ detail }) => detail === rpcElement)) continue
        const again = importText(writePortWsdl(port, 'http://localhost/soap'))
        assert.equal(digestPort(again.ports[0] ?? assert.fail('no port')), digestPort(port))
      }
    })
}

test('a document of 1.4 MB with 8,000 operations is imported in linear time', () => {
  assertLinear(operations => {
    const names = Array.from({ length: operations }, (_, i) => `o${i}`)
    const text = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><message name="M"><part name="a" type="xs:string"/></message><portType name="P">${names.map(each => `<operation name="${each}"><input message="t:M"/></operation>`).join('')}</portType><binding name="B" type="t:P"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>${names.map(each => `<operation name="${each}"><s:operation soapAction="${each}"/><input><s:body use="literal" namespace="urn:t"/></input></operation>`).join('')}</binding><service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`
    return () => {
      const contract = importText(text)
      assert.equal(Object.keys(contract.ports[0]?.exchanges ?? {}).length, operations)
      writeTypescript(contract, 'big.wsdl')
    }
  }, 2000)
})
