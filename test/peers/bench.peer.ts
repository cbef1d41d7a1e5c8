/**
 * That nothing has become much slower: a few rows of the bench beside their yardstick, as ratios of CPU from the same run. Each
 * floor is far below what is measured (docs/performance.md), so that a busy machine does not pass it and a blunder does.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import { fillOrders } from '../../bench/growth-data.ts'
import { type Ask, compare, type Found, inFolder, paired, peersInstalled, start, stop } from '../../bench/harness.ts'
import { orderAsk } from '../../bench/rest.ts'
import { orderXml, shop } from '../../bench/servers/shop.ts'
import { call, wsdlFor } from '../../bench/soap.ts'
import { compareStarts } from '../../bench/start.ts'
import { measurePromoted } from '../../bench/varied.ts'
import { binder, events, message, saxesEvents, time } from '../../bench/xml.ts'
import { writeXsd } from '../../src/describe/xsd.ts'

/** Theirs as a multiple of ours, at least. */
const floors = { get: 0.9, soap: 1.5, events: 2.5, bind: 1.2, start: 0.45 }
const few = { pairs: 5 }

const holds = (name: keyof typeof floors, { ratio, ours, theirs }: Found, unit = 'µs'): void => {
  const said = `${ratio.toFixed(2)} × (${ours.toFixed(1)} ${unit}, theirs ${theirs.toFixed(1)} ${unit})`
  console.log(`${name}: ${said}, at least ${floors[name]}`)
  assert.ok(ratio >= floors[name], `${name}: ${said} is less than ${floors[name]}`)
}

describe('no measurement has become much slower', { skip: process.platform !== 'linux' }, () => {
  before(() => peersInstalled())

  it('GET of an item, compared with bare Fastify', () =>
    inFolder(async folder => {
      const data = join(folder, 'orders.sqlite')
      const [ours, theirs] = [await start('diglot', 'diglot.ts', [data]), await start('Fastify', 'fastify.js', [data])]
      try {
        const ask: Ask = (await orderAsk(data)).item
        holds('get', await compare({ target: ours, ask }, { target: theirs, ask }, few))
      } finally {
        for (const each of [ours, theirs]) stop(each)
      }
    }))

  it('GETs of random items leave little in the old generation', () =>
    inFolder(async folder => {
      const data = join(folder, 'orders.sqlite')
      await fillOrders({ data }, 30_000)
      const octets = await measurePromoted(data, 30_000)
      console.log(`${octets.toFixed(0)} octets for each GET, at most 900`)
      assert.ok(octets <= 900, `${octets.toFixed(0)} octets for each GET; more than 900 would be promoted only to die`)
    }))

  it('a start to the first response, compared with Fastify', () =>
    inFolder(async folder => holds('start', await compareStarts(folder, few.pairs), 'ms')))

  it('a SOAP call of 1 KB, compared with npm soap', () =>
    inFolder(async folder => {
      const ours = await start('diglot', 'echo.ts')
      const theirs = await start('npm soap', 'soap.js', [wsdlFor(folder), '/soap/v1'])
      try {
        holds('soap', await compare({ target: ours, ask: call }, { target: theirs, ask: call }, few))
      } finally {
        for (const each of [ours, theirs]) stop(each)
      }
    }))

  it('parts of the bench whose messages and SQL no other test uses still run', async () => {
    const words = ['--conditions=diglot-source', join(import.meta.dirname, '../../bench/index.ts'), 'write', 'attacks']
    await promisify(execFile)(process.execPath, [...words, '--quick'], { timeout: 300_000 })
  })

  it('events of 10 KB of XML, compared with saxes', async () => {
    const text = message(78)
    const bytes = new TextEncoder().encode(text)
    assert.equal(saxesEvents(text), events(bytes))
    const [ours, theirs] = [() => time(() => events(bytes), 400), () => time(() => saxesEvents(text), 200)]
    for (const each of [ours, theirs]) each()
    holds('events', await paired(9, ours, theirs))
  })

  it('10 KB of XML parsed, validated and bound, compared with libxml2-wasm', async () => {
    const bytes = new TextEncoder().encode(orderXml(98))
    const bind = binder()
    const validator = XsdValidator.fromDoc(XmlDocument.fromString(writeXsd(shop, 'v1')))
    const parseAndValidate = (): void => {
      using document = XmlDocument.fromBuffer(bytes)
      validator.validate(document)
    }
    const [ours, theirs] = [() => time(() => bind(bytes), 200), () => time(parseAndValidate, 150)]
    for (const each of [ours, theirs]) each()
    holds('bind', await paired(9, ours, theirs))
  })
})
