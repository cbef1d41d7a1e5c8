/** Which encoded content and which packages are sound, and what is wrong with others. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProbeExchange } from '../../src/check/probe-message.ts'
import { findEncodingFlaw } from '../../src/check/rules/encoding-checks.ts'
import { findPackageFlaw } from '../../src/check/rules/package-checks.ts'
import { readSoapMessage, soapWords } from '../../src/check/soap-message.ts'

const answer = (type: string, text: string): ProbeExchange =>
  new ProbeExchange(
    { method: 'POST', target: '/soap', fields: {} },
    { status: 200, lines: [['content-type', type]], content: new TextEncoder().encode(text), isWhole: true, tookMs: 0 },
  )

function judge(number: '1.1' | '1.2', body: string): string | undefined {
  const { namespace, mediaType } = soapWords[number]
  const encoding = number === '1.1' ? 'http://schemas.xmlsoap.org/soap/encoding/' : 'http://www.w3.org/2003/05/soap-encoding' // biome-ignore format: one row
  const prefixes = `xmlns:e="${encoding}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:x="http://www.w3.org/2001/XMLSchema"`
  const text = `<s:Envelope xmlns:s="${namespace}"><s:Body ${prefixes}>${body}</s:Body></s:Envelope>`
  const message = readSoapMessage(answer(mediaType, text))
  assert.ok(message)
  return findEncodingFlaw(message)
}

describe('B2.8 encoded content', () => {
  const sound: readonly (readonly [number: '1.1' | '1.2', what: string, body: string])[] = [
    ['1.1', 'an array', '<a i:type="e:Array" e:arrayType="x:int[2]"><b>1</b><b>2</b></a>'],
    ['1.1', 'an array without members', '<a e:arrayType="x:int[0]"/>'],
    ['1.1', 'an array of any number (§5.4.2)', '<a e:arrayType="x:int[]"><b>1</b></a>'],
    ['1.1', 'an array of two dimensions', '<a e:arrayType="x:int[2,1]"><b>1</b><b>2</b></a>'],
    ['1.1', 'an array of arrays', '<a e:arrayType="x:int[,][1]"><b e:arrayType="x:int[]"/></a>'],
    ['1.1', 'a part of an array (§5.4.2.1)', '<a e:arrayType="x:int[9]" e:offset="[8]"><b>1</b></a>'],
    ['1.1', 'a sparse array (§5.4.2.2)', '<a e:arrayType="x:int[9]"><b e:position="[3]">1</b></a>'],
    ['1.1', 'an array that is nil', '<a i:type="e:Array" i:nil="true"/>'],
    ['1.1', 'an array elsewhere', '<a href="#b" i:type="e:Array"/><c id="b" e:arrayType="x:int[0]"/>'],
    ['1.1', 'a reference to another document', '<a href="http://example.org/b"/>'],
    ['1.2', 'an array', '<a e:itemType="x:int" e:arraySize="2"><b>1</b><b>2</b></a>'],
    ['1.2', 'an array of any number (Part 2 §3.1.6)', '<a e:itemType="x:int" e:arraySize="* 2"><b>1</b></a>'],
    ['1.2', 'an array without a size', '<a e:itemType="x:int"><b>1</b></a>'],
    ['1.2', 'a reference', '<a e:ref="b"/><c e:id="b">1</c>'],
    ['1.2', 'a link of the application', '<a href="#none">1</a>'],
  ]
  for (const [number, what, body] of sound)
    it(`content of SOAP ${number} may be ${what}`, () => assert.equal(judge(number, body), undefined))

  const broken: readonly (readonly [number: '1.1' | '1.2', body: string, flaw: string])[] = [
    ['1.1', '<a e:arrayType="x:int[2]"><b>1</b></a>', 'the array a is of "x:int[2]" and has 1 members'],
    ['1.1', '<a i:type="e:Array"><b>1</b></a>', 'the array a has no arrayType'],
    ['1.1', '<a e:arrayType="lost:int[1]"><b>1</b></a>', 'the arrayType "lost:int[1]" names no type'],
    ['1.1', '<a href="#b"/>', 'the reference #b leads to nothing'],
    ['1.2', '<a e:itemType="x:int" e:arraySize="2 2"><b>1</b></a>', 'the array a is of "2 2" and has 1 members'],
    ['1.2', '<a e:ref="b"/>', 'the reference b leads to nothing'],
  ]
  for (const [number, body, flaw] of broken)
    it(`content of SOAP ${number} is wrong: ${flaw}`, () => assert.equal(judge(number, body), flaw))
})

describe('B4.12 packages', () => {
  const root = `<s:Envelope xmlns:s="${soapWords['1.1'].namespace}"><s:Body><a><Include xmlns="http://www.w3.org/2004/08/xop/include" href="cid:b%40c"/></a></s:Body></s:Envelope>`
  const write = (...identifiers: readonly string[]): string =>
    `${identifiers.map((each, at) => `--b\r\nContent-ID: ${each}\r\n\r\n${at === 0 ? root : 'octets'}\r\n`).join('')}--b--`
  const xop = 'multipart/related; type="application/xop+xml"; boundary=b'
  const rows: readonly (readonly [what: string, type: string, text: string, flaw: string | undefined])[] = [
    ['a root by its place', `${xop}; start-info="text/xml"`, write('<a@c>', '<b@c>'), undefined],
    ['a root by its name', `${xop}; start-info="text/xml"; start="<a@c>"`, write('<a@c>', '<b@c>'), undefined],
    ['start without brackets', `${xop}; start-info="text/xml"; start="a@c"`, write('<a@c>', '<b@c>'), undefined],
    ['start-info with parameters', `${xop}; start-info="text/xml; charset=utf-8"`, write('<a@c>', '<b@c>'), undefined],
    ['attachments, which are not MTOM', 'multipart/related; type="text/xml"; boundary=b', write('<a@c>'), undefined],
    ['a start that no part has', `${xop}; start-info="text/xml"; start="<z>"`, write('<a@c>', '<b@c>'), 'start names "z", which the package does not have'],
    ['an Include of nothing', `${xop}; start-info="text/xml"`, write('<a@c>'), 'an Include names "b@c", which the package does not have'],
    ['the other SOAP version', `${xop}; start-info="application/soap+xml"`, write('<a@c>', '<b@c>'), 'start-info of SOAP 1.1 is text/xml, not "application/soap+xml"'],
  ] // biome-ignore format: a table
  for (const [what, type, text, flaw] of rows)
    it(`${what}: ${flaw ?? 'sound'}`, () => assert.equal(findPackageFlaw(answer(type, text)), flaw))
})
