/** Laws of the codecs and of the face, for random contracts and messages. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileTypeNames, typeRootsOf } from '../../src/contract/type-names.ts'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { writeXsd } from '../../src/describe/xsd.ts'
import { Refused } from '../../src/service/refusal.ts'
import { messageStyles } from '../../src/soap/codecs/style.ts'
import { inlineWriting, type LiteralReading, typesIn } from '../../src/soap/codecs/values.ts'
import { soap11, soap12 } from '../../src/soap/version.ts'
import { Malformed, scanDocument } from '../../src/xml/index.ts'
import { services } from '../describe/contracts.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { envelope, ns, startConversation } from './orders-over-soap.ts'
import { givenIn, rowOf } from './values.ts'

fc.configureGlobal({ includeErrorInReport: true })

const createReading = (): LiteralReading => ({ flaws: [], parts: undefined, around: undefined, blocks: [] })
/** The request of every operation, written as by a client and read back, in one style. */
function requests(service: Service, style: MessageStyle) {
  const namespace = `${service.namespace}:v1`
  const messages = compileMessages(service, 'v1')
  const types = typesIn(namespace, compileTypeNames(typeRootsOf(messages, style)))
  return messages.flatMap(message => {
    const rows = rowOf(message.request.fields)
    const written = messageStyles[style](namespace, message.request, { ...message.request }, { types })
    return rows ? [{ name: message.operation.name, fields: message.request.fields, rows, ...written }] : []
  })
}

/** A refusal as an error with the refusal in its message. */
function withRefusalText<T>(read: () => T, text: string): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof Refused) throw new Error(`${JSON.stringify(thrown.refusal)} ${text}`)
    throw thrown
  }
}

for (const [style, versions] of [
  ['document', [soap12]],
  ['rpc', [soap12]],
  ['encoded', [soap11, soap12]],
] as const)
  test(`B2.6–B2.8 encode, ${style === 'encoded' ? '' : 'validate by libxml2, '}decode: equal (${style})`, () => {
    fc.assert(
      fc.property(services, fc.integer({ min: 1 }), (service, seed) => {
        const wsdl = writeWsdl11(service, 'v1', { address: 'http://x/', style })
        const schema = style === 'encoded' ? undefined : judge(schemaOf(wsdl, style))
        for (const { name, fields, rows, read, write } of requests(service, style))
          for (const row of fc.sample(rows, { numRuns: 3, seed }))
            for (const version of versions) {
              const text = write(row, inlineWriting, version)
              const flaw = schema?.flaw(text)
              assert.equal(flaw, undefined, `${name}: ${text}`)
              // In a Body, as it would be received.
              const cursor = scanDocument(
                Buffer.from(envelope(text).replace('<s:Body>', '<s:Body xmlns:soap="urn:s">')),
              )
              cursor.next()
              cursor.child()
              cursor.child()
              const found = createReading()
              const again = withRefusalText(() => read(cursor, found, version), text)
              assert.deepEqual(found.flaws, [])
              assert.deepEqual(again, givenIn(style, row, fields), text)
            }
      }),
      { numRuns: 60 },
    )
  })

test('the decoder refuses what libxml2 finds invalid: a valid message with one change', () => {
  let judged = 0
  fc.assert(
    fc.property(services, fc.integer({ min: 1 }), (service, seed) => {
      const schema = judge(writeXsd(service, 'v1'))
      const random = fc.sample(fc.nat(1_000_000), { numRuns: 50, seed })
      for (const { rows, read, write } of requests(service, 'document')) {
        const text = write(fc.sample(rows, { numRuns: 1, seed })[0]!, inlineWriting, soap12)
        const tags = [...text.matchAll(/<(\/?)([^\s/>]+)[^>]*>/g)].filter(tag => tag[1] === '').slice(1)
        const tag = tags[(random.pop() ?? 0) % Math.max(tags.length, 1)]
        if (!tag?.[2]) continue
        const element = new RegExp(`<${tag[2]}(\\s[^>]*[^/>])?>[^<]*</${tag[2]}>`)
        for (const changed of [
          text.replace(element, ''),
          text.replace(element, '$&$&'),
          text.replace(element, `<${tag[2]}>\u0020?\u0020</${tag[2]}>`),
          text.replace(element, '<other/>'),
        ]) {
          if (changed === text || schema.flaw(changed) === undefined) continue
          judged++
          assert.ok(!isAccepted(read, changed), changed)
        }
      }
    }),
    { numRuns: 40 },
  )
  assert.ok(judged > 100, `${judged} were judged`)
})

function isAccepted(
  read: (typeof messageStyles)['document'] extends (...of: never[]) => infer C
    ? C extends { read: infer R }
      ? R
      : never
    : never,
  text: string,
): boolean {
  const found = createReading()
  try {
    const cursor = scanDocument(Buffer.from(envelope(text)))
    cursor.next()
    cursor.child()
    cursor.child()
    read(cursor, found, soap12)
    return found.flaws.length === 0
  } catch (thrown) {
    if (thrown instanceof Refused || thrown instanceof Malformed) return false
    throw thrown
  }
}

// The face under fire

const create = `<CreateOrder xmlns="${ns}"><order><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency></order></CreateOrder>`
const wsa = `<w:MessageID xmlns:w="http://www.w3.org/2005/08/addressing">urn:1</w:MessageID><w:Action xmlns:w="http://www.w3.org/2005/08/addressing">${ns}/CreateOrder</w:Action><w:ReplyTo xmlns:w="http://www.w3.org/2005/08/addressing"><w:Address>http://www.w3.org/2005/08/addressing/anonymous</w:Address></w:ReplyTo>`
const pieces = [
  '<',
  '>',
  '/',
  '"',
  '&',
  ';',
  ' ',
  '\u0000',
  '\ud800',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?x?>',
  '&#0;',
  '&lt;',
  'xmlns:s="u"',
  '<s:Body>',
  '</s:Body>',
  '<s:Header/>',
  '<id/>',
  's:mustUnderstand="1"',
  ' href="#a"',
  ' xmlns=""',
  '0',
  '-1',
  'NaN',
  '__proto__',
  'é',
  '\ufeff',
]

for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`any damaged message gets an envelope, never reveals a bug, and runs only if it is whole (${style})`, async () => {
    const shop = await startConversation({ style })
    const changes = async () => (await shop.store.read(reader => reader.changes(0, 10_000))).length
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('1.1', '1.2'),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.constantFrom('', ...pieces)), { minLength: 1, maxLength: 3 }),
        async (version, addressed, edits) => {
          let raw = envelope(
            style === 'document'
              ? create
              : create.replace('xmlns=', 'xmlns:m=').replace(/<(\/?)CreateOrder/g, '<$1m:CreateOrder'),
            { version, ...(addressed && { header: wsa }) },
          )
          for (const [at, length, piece] of edits) {
            const from = at % raw.length
            raw = raw.slice(0, from) + piece + raw.slice(from + length)
          }
          shop.clock.now += 60_000 // within the caller's rate
          const before = await changes()
          const answer = await shop.post({ version, raw: Buffer.from(raw) })
          assert.ok(
            answer.status === 200 || answer.status === 202 || answer.fault,
            `${answer.status} ${answer.text}\n${raw}`,
          )
          assert.deepEqual(shop.incidents, [], raw)
          assert.ok(answer.fault?.code !== 'Receiver')
          if (answer.fault) assert.equal(await changes(), before, raw)
        },
      ),
      { numRuns: 700 },
    )
  })

test('octets that are no message at all get one of the statuses for that', async () => {
  const shop = await startConversation()
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom(
        'text/xml',
        'application/soap+xml',
        'multipart/related; boundary=B',
        'multipart/related; boundary="B"; type="application/xop+xml"; start="<r>"',
        'text/xml; charset=utf-16',
        'x',
      ),
      fc.boolean(),
      async (bytes, as, framed) => {
        const raw = framed
          ? Buffer.concat([Buffer.from('--B\r\nContent-Type: text/xml\r\n\r\n'), bytes, Buffer.from('\r\n--B--')])
          : bytes
        const answer = await shop.post({ raw, as })
        assert.ok(
          answer.fault ? answer.status === 500 : answer.status === 415 || answer.status === 413,
          `${answer.status}`,
        )
        assert.deepEqual(shop.incidents, [])
      },
    ),
    { numRuns: 700 },
  )
})
