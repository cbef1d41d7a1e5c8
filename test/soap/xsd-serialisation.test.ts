/**
 * PHP's schema serialisation cases: each schema is imported as the WSDL of another party, and each
 * request gives the value that was written. The reply with that value reads as the same value.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { importText } from '../import/folder-find.ts'
import { suites } from '../suites.ts'
import { createEchoNode, createPortContext } from './echo.ts'

const numbers = [123, 123]
const attributed = { int: 123, str: 'str' }
const nested = { int: 123, testType2: { int: 123 } }
const three = { int1: 1, int2: 2, int3: 3 }

/** The value that is read. */
const read: Readonly<Record<string, unknown>> = {
  schema002: 123,
  schema006: 123,
  schema008: 123,
  schema010: ['one', 'two'],
  schema012: [123, 456],
  schema014: '123.5', // the first type of the union that fits is that of text
  schema016: '123.5',
  schema018: 123.5,
  schema022: [123, 123.5, 'str'],
  schema024: numbers,
  schema026: numbers,
  schema030: attributed,
  schema032: { intOrStr: { int: 123 } },
  schema034: nested,
  schema036: nested,
  schema040: attributed,
  schema042: { int: 123, value: 123 },
  schema044: { int: 123, value: 123 },
  schema046: { int: 123, int2: 123, value: 123 },
  schema048: { int2: 123, value: 123 },
  schema050: { int: 123, int2: [123] },
  schema052: { int: 123, int2: [123] },
  schema056: numbers,
  schema058: numbers,
  schema060: numbers,
  schema062: null,
  schema066: { str: 'str', int: 5 }, // the attribute is absent, and fixed
  schema070: { str: 'str', int: 5 }, // the attribute is absent, and has a default
  schema072: numbers,
  schema074: attributed,
  schema076: three,
  schema078: three,
  schema080: three,
  schema082: numbers,
  schema084: numbers,
}
/** Requests of which a type is not declared: the parameter is kept as XML. */
const keptAsXml: Readonly<Record<string, RegExp>> = {
  schema004: /123\.5/,
  schema054: /<key[^>]*>a<.*<key[^>]*>b</,
}
/** Requests that are invalid by their schema, or hold unsupported values, and the refusals. */
const refused: Readonly<Record<string, readonly [reason: string, said: RegExp]>> = {
  schema020: ['a list of whole numbers with fractions', /must be a whole number/],
  schema028: ['an array of two dimensions (S9)', /must have one dimension/],
  schema038: ['a global attribute without its namespace', /must not have the attribute int/],
  schema064: ['gMonth as --04--, as the first edition had it; Part 2 §3.2.14 has --04', /must be of type gMonth/],
}

interface Case {
  readonly id: string
  readonly title: string
  readonly schemaFragment: string | null
  readonly phpCall: string
  readonly expectedRequest?: string
}
const folder = suites('xsd-serialisation')
const cases: readonly Case[] = folder ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) : []

/** The strings of the call: the part, the style, the use, and attributes of the schema. */
const stringsOf = (phpCall: string): readonly string[] =>
  [...phpCall.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? '')

function wsdlOf({ schemaFragment, phpCall }: Case): string {
  const [part = '', ...others] = stringsOf(phpCall)
  const style = others.includes('document') ? 'document' : 'rpc'
  const use = others.includes('literal') ? 'literal' : 'encoded'
  const form = others.find(each => each.includes('FormDefault=')) ?? ''
  const body = `<soap:body use="${use}" namespace="http://test-uri/"/>`
  return `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
      xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:SOAP-ENC="http://schemas.xmlsoap.org/soap/encoding/"
      xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="http://test-uri/" targetNamespace="http://test-uri/">
    <types><schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="http://test-uri/" ${form}>
      <import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>${schemaFragment ?? ''}</schema></types>
    <message name="m"><part name="testParam" ${part}/></message>
    <portType name="P"><operation name="test"><input message="tns:m"/><output message="tns:m"/></operation></portType>
    <binding name="B" type="tns:P"><soap:binding style="${style}" transport="http://schemas.xmlsoap.org/soap/http"/>
      <operation name="test"><soap:operation soapAction=""/><input>${body}</input><output>${body}</output></operation>
    </binding></definitions>`
}

for (const each of cases) {
  const { id, title, expectedRequest, phpCall } = each
  if (!expectedRequest) continue
  const [reason, said] = refused[id] ?? []
  test(`${id} ${title}${reason ? `: not here: ${reason}` : ''}`, async () => {
    const raw = readFileSync(join(folder ?? '', expectedRequest), 'utf8')
    if (!/<SOAP-ENV:Envelope/.test(raw)) return
    const [port] = importText(wsdlOf(each)).ports
    assert.ok(port)
    const seen: unknown[] = []
    const context = createPortContext(port, content => {
      seen.push(content)
      return content
    })
    const { post, incidents } = createEchoNode(bindExchanges(context, port))
    const answer = await post({ raw, fields: { soapaction: '""' } })
    assert.deepEqual(incidents, [])
    if (said) {
      assert.match(answer.text, said)
      return assert.ok(answer.fault && seen.length === 0)
    }
    assert.equal(answer.status, 200, answer.text)
    const isDocument = stringsOf(phpCall).includes('document')
    const [value] = seen.map(content => (isDocument ? content : (content as { testParam: unknown }).testParam))
    const xml = keptAsXml[id]
    if (xml) assert.match(String(value), xml)
    else assert.deepEqual(value, id in read ? read[id] : assert.fail(`${id} is in no table`))
    const again = await post({ raw: answer.text.replaceAll('testResponse', 'test'), fields: { soapaction: '""' } })
    assert.equal(again.status, 200, again.text)
    if (!xml) assert.deepEqual(seen[1], seen[0])
  })
}
