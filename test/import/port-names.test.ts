/** Names of services and ports are NCNames (WSDL 1.1 §2.1); others must not spoil the WSDL that is served. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { importText } from './folder-find.ts'

const wsdl = (service: string, port: string): string =>
  `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
<message name="M"><part name="a" type="xs:int"/></message>
<portType name="P"><operation name="put"><input message="t:M"/></operation></portType>
<binding name="B" type="t:P"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><operation name="put"><s:operation soapAction="put"/><input><s:body use="literal" namespace="urn:t"/></input></operation></binding>
<service name="${service}"><port name="${port}" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`

const names: readonly (readonly [service: string, port: string, served: readonly string[]])[] = [
  ['Shop', 'ShopPort', ['Shop', 'ShopPort']],
  ['Büro-1.0', 'x_y', ['Büro-1.0', 'x_y']],
  ['a:Shop', 'Shop Port', ['a_Shop', 'Shop_Port']],
  ['1st', '', ['_1st', 'port']],
  ['', '-', ['service', '_-']],
]
for (const [service, port, served] of names)
  test(`the service "${service}" with the port "${port}" is served as ${served.join(' with ')}`, () => {
    const { ports, losses } = importText(wsdl(service, port))
    const [found] = ports
    assert.ok(found)
    assert.deepEqual([found.names.service, found.port], served)
    assert.equal(losses.length, [service, port].filter((name, at) => name !== served[at]).length)
    for (const { cause, detail } of losses) assert.match(`${cause} ${detail}`, /^document ".*" is not a name in XML/)
    assert.deepEqual(importText(writePortWsdl(found, 'http://x/')).losses, [])
  })
