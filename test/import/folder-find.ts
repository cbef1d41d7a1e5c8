import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Find } from '../../src/describe/reader/wsdl-document.ts'
import { type ImportedContract, readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'

/** Documents next to the one that imports them. */
export const findNear: Find = (location, base) => {
  const path = resolve(dirname(base), location.replace(/^file:/, ''))
  return existsSync(path) ? { location: path, bytes: readFileSync(path) } : undefined
}
export const importFile = (path: string): ImportedContract | Malformed =>
  readImportedContract(readFileSync(path), path, findNear)
/** Of a document in a string; anything that it imports is missing. */
export function importText(text: string): ImportedContract {
  const found = readImportedContract(new TextEncoder().encode(text), 'test.wsdl', () => undefined)
  if (found instanceof Malformed) throw found
  return found
}

/** One operation, whose request is the element `r` of these schemas, in `urn:t`. */
export const writeAskingWsdl = (
  schemas: string,
): string => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t"
    targetNamespace="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types>${schemas}</types>
  <message name="In"><part name="a" element="t:r"/></message><message name="Out"/>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/><input><s:body use="literal"/></input><output><s:body use="literal"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service>
</definitions>`
