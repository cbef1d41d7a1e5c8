/** Laws of the client, for contracts and replies that no person would write. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { toReplyFields } from '../../src/client/field-views.ts'
import { AnswerError, CallError, createSoapClient, FaultError } from '../../src/client/index.ts'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileTypeNames, typeRootsOf } from '../../src/contract/type-names.ts'
import { compileMessages, type Message, toXmlName } from '../../src/contract/xml-message.ts'
import { messageStyles } from '../../src/soap/codecs/style.ts'
import { inlineWriting, typesIn } from '../../src/soap/codecs/values.ts'
import { writeFaultEnvelope, writeEnvelope as written } from '../../src/soap/envelope.ts'
import { faultWordingOf } from '../../src/soap/operations/contract-operation.ts'
import { type SoapVersion, soap11, soap12 } from '../../src/soap/version.ts'
import { Malformed, parseXml, scanDocument } from '../../src/xml/index.ts'
import { services } from '../describe/contracts.ts'
import { givenIn, rowOf } from '../soap/values.ts'
import { address, came, cannedTransport, envelope, mediaType, product, recordRequests } from './canned.ts'

const namespace = 'urn:test:v1'

/** A client of any contract, and what it receives. */
function telling(service: Service, { style, version }: { style: MessageStyle; version: SoapVersion }) {
  let content = ''
  const transport = cannedTransport(() => came(200, mediaType[version.number], content))
  const client = createSoapClient(service, { address, transport, style, soap: version.number })
  return {
    sent: transport.sent,
    call: (message: Message, input: object, answer: string) => {
      content = answer
      return client[message.operation.name]!(input as Record<string, unknown>)
    },
  }
}

const ways = [
  { style: 'document', version: soap12 },
  { style: 'rpc', version: soap11 },
  { style: 'encoded', version: soap11 },
  { style: 'encoded', version: soap12 },
] as const

for (const way of ways)
  test(`what a client writes, the service reads; what the service writes, the client reads (${way.style}, ${way.version.number})`, async () => {
    const property = fc.asyncProperty(services, fc.integer({ min: 1 }), async (service, seed) => {
      const { call, sent } = telling(service, way)
      const messages = compileMessages(service, 'v1')
      const types = typesIn(namespace, compileTypeNames(typeRootsOf(messages, way.style)))
      for (const message of messages) {
        const { request, response } = message
        const [asks, answers] = [rowOf(request.fields), response && rowOf(toReplyFields(response.fields))]
        if (!asks || !response || !answers) continue
        const codec = messageStyles[way.style](namespace, request, response, { types })
        const [input] = fc.sample(asks, { numRuns: 1, seed })
        const [row] = fc.sample(answers, { numRuns: 1, seed })
        const answer = written(way.version, codec.write(row!, inlineWriting, way.version))
        const heard = await call(message, input!, answer)
        assert.deepEqual({ ...(heard as object) }, givenIn(way.style, row!, response.fields), answer)
        const { text = '' } = sent.at(-1) ?? {}
        const cursor = scanDocument(Buffer.from(text))
        for (const _ of ['Envelope', 'Body', 'request']) while (cursor.next() !== 'start');
        const reading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
        assert.deepEqual(codec.read(cursor, reading, way.version), givenIn(way.style, input!, request.fields), text)
        assert.deepEqual(reading.flaws, [])
      }
    })
    await fc.assert(property, { numRuns: 30 })
  })

test('a fault that the service writes is the one that the client reads, with its detail', async () => {
  const property = fc.asyncProperty(
    services,
    fc.integer({ min: 1 }),
    fc.constantFrom(soap11, soap12),
    async (service, seed, version) => {
      const [message] = compileMessages(service, 'v1').filter(each => each.faults.some(one => one.fault === 'Broken'))
      const fault = message?.faults.find(each => each.fault === 'Broken')
      const details = fault && rowOf(fault.detail)
      const inputs = message && rowOf(message.request.fields)
      if (!message || !fault || !details || !inputs) return
      const [detail] = fc.sample(details, { numRuns: 1, seed })
      const wording = faultWordingOf(namespace, message)
      const text = writeFaultEnvelope(version, {
        code: 'Sender',
        reasons: [{ language: 'en', text: 'broken' }],
        detail: wording.element(fault, detail!),
      })
      const { call } = telling(service, { style: 'document', version })
      const [input] = fc.sample(inputs, { numRuns: 1, seed })
      const thrown = await call(message, input!, text).then(
        () => assert.fail('it was answered'),
        why => why,
      )
      assert.ok(thrown instanceof FaultError, String(thrown))
      assert.deepEqual([thrown.fault, thrown.detail], ['Broken', detail], text)
      assert.equal(thrown.entries[0]?.name.local, toXmlName('Broken'))
    },
  )
  await fc.assert(property, { numRuns: 100 })
})

describe('any altered reply is a reply, or an error that gives the reason', () => {
  const whole = envelope('1.2', product, '<x:A xmlns:x="urn:x">1</x:A>')
  const fault = envelope(
    '1.2',
    '<e:Fault><e:Code><e:Value>e:Sender</e:Value></e:Code><e:Reason><e:Text xml:lang="en">x</e:Text></e:Reason></e:Fault>',
  )
  const pieces = [
    '',
    '<',
    '>',
    '/',
    '"',
    '&',
    ' ',
    '\u0000',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?x?>',
    '&#0;',
    '<e:Body>',
    '</e:Body>',
    '<id/>',
    ' e:mustUnderstand="1"',
    ' xmlns=""',
    '0',
    '__proto__',
    'é',
    '\ufeff',
  ]
  for (const [title, text, status] of [
    ['an answer', whole, 200],
    ['a fault', fault, 500],
  ] as const)
    test(title, async () => {
      const edits = fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.constantFrom(...pieces)), { minLength: 1, maxLength: 3 })
      const property = fc.asyncProperty(edits, async made => {
        let raw = text
        for (const [at, length, piece] of made) {
          const from = at % raw.length
          raw = raw.slice(0, from) + piece + raw.slice(from + length)
        }
        const { client } = recordRequests(came(status, mediaType['1.2'], raw))
        try {
          const { product } = await client.GetProduct({ id: 'p-1' })
          assert.deepEqual(
            [typeof product.id, typeof product.stock, product.price.includes('.')],
            ['string', 'number', true],
          )
          assert.ok(!(parseXml(Buffer.from(raw)) instanceof Malformed))
        } catch (thrown) {
          if (!(thrown instanceof CallError)) throw thrown
          assert.ok(thrown instanceof AnswerError || thrown instanceof FaultError, raw)
        }
      })
      await fc.assert(property, { numRuns: 500 })
    })
})
