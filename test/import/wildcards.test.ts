/** XML Schema Part 1 §3.10.1: whether what a wildcard takes is compared with declarations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'

const schemaWith = (process: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:element name="r"><xs:complexType>
    <xs:sequence><xs:any minOccurs="0" ${process}/></xs:sequence><xs:anyAttribute namespace="##other" ${process}/>
    </xs:complexType></xs:element></xs:schema>`

for (const process of ['skip', 'lax', 'strict', undefined])
  test(`§3.10.2 processContents ${process ?? 'left out'}: the contract and the served WSDL have it`, () => {
    const contract = importText(writeAskingWsdl(schemaWith(process ? `processContents="${process}"` : '')))
    assert.deepEqual(contract.losses, [])
    const text = writeTypescript(contract, 'ask.wsdl')
    const wanted = process ?? 'strict'
    const told = wanted === 'lax' ? '' : `, '${wanted}'`
    assert.match(text, new RegExp(`x\\.anyAttribute\\(\\{ not: 'urn:t' \\}${told}\\)`))
    assert.match(text, new RegExp(`x\\.any\\(${told === '' ? '' : `'any'${told}`}\\)\\.optional`))
    const [port] = contract.ports
    const served = writePortWsdl(port ?? assert.fail(), 'http://localhost/')
    assert.deepEqual(
      [...served.matchAll(/<xs:(any|anyAttribute) [^>]*processContents="(\w+)"/g)].map(([, what, how]) => [what, how]),
      [
        ['any', wanted],
        ['anyAttribute', wanted],
      ],
    )
  })
