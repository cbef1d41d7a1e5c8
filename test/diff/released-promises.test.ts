/** An earlier release against what a service describes now: A9.4 and B9.2 as `diglot check` asks them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { readLoadedContract } from '../../src/diff/diff-sources.ts'
import { loadReleasedPromises, readReleasedPromises } from '../../src/diff/released-promises.ts'
import { describeFaces } from '../../src/docs/change-page.ts'

const loaded = await describeFaces(orders)
const descriptions = await readLoadedContract(loaded, 'the release before')
const { findRestBreaks, findSoapBreaks } = readReleasedPromises(descriptions)
const [v1 = '', v2 = ''] = loaded.wsdls
const asDocument = (text: string, octets: Uint8Array = Buffer.from(text)) => ({
  ...{ location: 'now', octets, find: () => undefined },
})
const none = { breaks: [], remarks: [] }

/** The OpenAPI document now, changed. */
const nowWith = (change: (document: { paths: Record<string, object> }) => void): { readonly text: string } => {
  const document = JSON.parse(loaded.openApi)
  change(document)
  return { text: JSON.stringify(document) }
}

suite('A9.4 an OpenAPI document of an earlier release', () => {
  test('nothing breaks where both are the same, read as text or parsed', async () => {
    assert.deepEqual(await findRestBreaks?.({ text: loaded.openApi }), none)
    // JSON.parse rounds the bounds of 64 bits (RFC 8259 §6).
    assert.deepEqual(await findRestBreaks?.({ json: JSON.parse(loaded.openApi) }), none)
  })
  test('a removed path is named, with the cure', async () => {
    const now = nowWith(({ paths }) => delete paths['/api/v1/orders/{id}/tracking'])
    assert.deepEqual(await findRestBreaks?.(now), {
      breaks: ['GET /api/v1/orders/{}/tracking: operation removed; keep it until the sunset of its version'],
      remarks: [],
    })
  })
  test('an added path breaks no caller', async () => {
    const now = nowWith(({ paths }) => {
      paths['/api/v2/news'] = { get: { responses: { 200: { description: 'News.' } } } }
    })
    assert.deepEqual(await findRestBreaks?.(now), none)
  })
  for (const [title, text, needs] of [
    ['of another service', '{ "openapi": "3.1.0", "paths": { "/a": { "get": {} } } }', /nothing in common/],
    ['of another format', '{ "swagger": "2.0" }', /is not an OpenAPI document of version 3.0 to 3.2/],
    ['that is cut', '{ "openapi": ', /can be compared: the OpenAPI document of the service /],
  ] as const)
    test(`with a document ${title} there is no verdict`, async () => {
      const lost = await findRestBreaks?.({ text })
      assert.match(lost && 'needs' in lost ? lost.needs : '', needs)
    })
})

suite('B9.2 the WSDL of an earlier release', () => {
  test('nothing breaks where all are the same; a version that was not found is a remark', async () => {
    assert.deepEqual(await findSoapBreaks?.([v1, v2].map(each => asDocument(each))), none)
    assert.deepEqual(await findSoapBreaks?.([asDocument(v2)]), {
      breaks: [],
      remarks: ['not compared: the messages of urn:diglot:orders:v1, which no WSDL that was read describes'],
    })
  })
  test('an element with another name breaks the clients that send it', async () => {
    const renamed = v2.replace('<xs:element name="into"', '<xs:element name="survivor"')
    const lost = await findSoapBreaks?.([v1, renamed].map(each => asDocument(each)))
    const breaks = lost && 'breaks' in lost ? lost.breaks : []
    const told = breaks.map(each => each.replace(/^.*\}(\w+: [\w ]+);.*$/, '$1'))
    assert.deepEqual(new Set(told), new Set(['into: member removed', 'survivor: required member added']))
  })
  test('an operation that is gone from its namespace is named, once for each binding', async () => {
    const gone = v2.replaceAll(/<wsdl:operation name="TrackOrder">.*?<\/wsdl:operation>/gs, '')
    assert.deepEqual(await findSoapBreaks?.([v1, gone].map(each => asDocument(each))), {
      breaks: [
        'SOAP 1.1 document {urn:diglot:orders:v2}TrackOrder: operation removed; keep it until the sunset of its version',
        'SOAP 1.2 document {urn:diglot:orders:v2}TrackOrder: operation removed; keep it until the sunset of its version',
      ],
      remarks: [],
    })
  })
  test('the octets are read in their declared encoding', async () => {
    const latin = Buffer.from(
      v2.replace('encoding="utf-8"', 'encoding="iso-8859-1"').replace('Orders', 'Ordres déjà'),
      'latin1',
    )
    const wide = Buffer.from(`\uFEFF${v2.replace('encoding="utf-8"', 'encoding="utf-16"')}`, 'utf16le')
    for (const octets of [latin, wide])
      assert.deepEqual(await findSoapBreaks?.([asDocument(v1), asDocument('', octets)]), none)
  })
  test('with a document that cannot be read there is no verdict', async () => {
    const lost = await findSoapBreaks?.([asDocument('<a/>')])
    assert.match(lost && 'needs' in lost ? lost.needs : '', /^a description that can be compared: now /)
  })
})

test('a release without a description of a face promises nothing for it; a missing description is an error', async () => {
  const rest = readReleasedPromises(descriptions.filter(({ face }) => face === 'rest'))
  assert.equal(rest.findSoapBreaks, undefined)
  const soap = readReleasedPromises(descriptions.filter(({ face }) => face === 'soap'))
  assert.equal(soap.findRestBreaks, undefined)
  await assert.rejects(
    loadReleasedPromises(['nowhere.json'], async () => loaded),
    /nowhere\.json not found/,
  )
})
