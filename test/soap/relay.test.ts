/**
 * Rule B4.9, the intermediary: SOAP 1.2 Part 1 §2.7, SOAP 1.1 §4.2.2; the multi-node cases of the
 * W3C test collection.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { relayMessage } from '../../src/soap/relay.ts'
import { soap11, soap12 } from '../../src/soap/version.ts'
import { Malformed, parseXml } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { createIntermediary, ts } from './echo.ts'
import { ns11, ns12 } from './orders-over-soap.ts'

const role = (name: string) => ` e:role="${ns12}/role/${name}"`
const block = (name: string, attributes = '') => `<t:${name} xmlns:t="${ts}"${attributes}>x</t:${name}>`
const message = (header: string, ns = ns12) =>
  `<?xml version="1.0"?><e:Envelope xmlns:e="${ns}"><e:Header>${header}</e:Header><e:Body><a>  b</a></e:Body></e:Envelope>`
const own = ` e:role="${ts}/B"`

const rows = [
  // section, header received, header forwarded or the code of a fault
  ['§2.7.1 a block for the ultimate receiver goes on', block('A'), block('A')],
  ['§2.7.1 … also one that is mandatory', block('A', ' e:mustUnderstand="1"'), block('A', ' e:mustUnderstand="1"')],
  ['§2.2 a block for role none goes on', block('A', role('none')), block('A', role('none'))],
  ['§2.7.2 a block for next that nobody knows is removed', block('A', role('next')), ''],
  [
    '§2.7.2 … unless it is to be relayed',
    block('A', `${role('next')} e:relay="true"`),
    block('A', `${role('next')} e:relay="true"`),
  ],
  ['§2.7.2 relay="0" is not relayed', block('A', `${role('next')} e:relay="0"`), ''],
  [
    '§2.6 a mandatory block for next that is not understood',
    block('A', `${role('next')} e:mustUnderstand="true"`),
    'MustUnderstand',
  ],
  ['§2.6 … relayed or not', block('A', `${role('next')} e:relay="1" e:mustUnderstand="true"`), 'MustUnderstand'],
  [
    '§2.7.2 a block of its own role that was processed is removed, relay or not',
    block('concatAndForwardEchoOk', `${own} e:relay="1"`),
    '',
  ],
  [
    '§2.6 a block of another role is not its business',
    block('A', ' e:role="urn:x" e:mustUnderstand="1"'),
    block('A', ' e:role="urn:x" e:mustUnderstand="1"'),
  ],
  ['§5.2.4 relay that is not boolean', block('A', `${role('next')} e:relay="maybe"`), 'Sender'],
  ['order is kept', block('A') + block('B', role('next')) + block('C'), block('A') + block('C')],
] as const
for (const [title, header, expected] of rows)
  test(`S5 B4.9 SOAP 1.2 ${title}`, async () => {
    const relayed = await relayMessage(Buffer.from(message(header)), soap12, createIntermediary())
    if (relayed.kind === 'forward')
      assert.equal(Buffer.from(relayed.bytes).toString(), message(expected).replace(/^<\?.*?\?>/, ''))
    else {
      assert.match(relayed.envelope, new RegExp(`soap:${expected}<`))
      assert.match(
        relayed.envelope,
        new RegExp(`<soap:Node>${ts}/B</soap:Node>`),
        '§5.4.3 an intermediary says who it is',
      )
    }
  })

test('§5.4.4 Role is that of the block that was not understood', async () => {
  for (const [attributes, role] of [
    [own, `${ts}/B`],
    [` e:role="${ns12}/role/next"`, `${ns12}/role/next`],
  ] as const) {
    const mandatory = block('A', `${attributes} e:mustUnderstand="1"`)
    const relayed = await relayMessage(Buffer.from(message(mandatory)), soap12, createIntermediary())
    assert.ok(relayed.kind === 'fault')
    assert.match(relayed.envelope, new RegExp(`<soap:Role>${role}</soap:Role>`))
  }
})

test('SOAP 1.1 §4.2.2 a block for next is never forwarded; faultactor names the node that refused', async () => {
  const next = ' e:actor="http://schemas.xmlsoap.org/soap/actor/next"'
  const gone = await relayMessage(Buffer.from(message(block('A', next), ns11)), soap11, createIntermediary())
  assert.ok(gone.kind === 'forward' && Buffer.from(gone.bytes).includes('<e:Header></e:Header>'))
  const refused = await relayMessage(
    Buffer.from(message(block('A', `${next} e:mustUnderstand="1"`), ns11)),
    soap11,
    createIntermediary(),
  )
  assert.ok(refused.kind === 'fault')
  assert.match(refused.envelope, new RegExp(`soap:MustUnderstand</faultcode>.*<faultactor>${ts}/B</faultactor>`))
})

test('§2.7.2 added blocks are in a Header, which is created if it is missing', async () => {
  const adding = { uri: 'urn:n', roles: ['urn:n'], blocks: createIntermediary().blocks }
  const asks = `<t:concatAndForwardEchoOkArg2 xmlns:t="${ts}" e:role="urn:n">B</t:concatAndForwardEchoOkArg2>`
  for (const header of [asks, `${asks}${block('A')}`, `${block('A')}${asks}`]) {
    const relayed = await relayMessage(Buffer.from(message(header)), soap12, adding)
    assert.ok(relayed.kind === 'forward')
    const document = parseXml(relayed.bytes)
    assert.ok(!(document instanceof Malformed))
    const [first, body] = document.root.elements()
    assert.deepEqual([first?.name.local, body?.name.local], ['Header', 'Body'])
    assert.ok(first?.elements().some(each => each.name.local === 'echoOk'))
  }
})

test('a UTF-16 message is forwarded in UTF-8, without its declaration', async () => {
  const text = message(block('A')).replace('1.0"?', '1.0" encoding="UTF-16"?')
  const relayed = await relayMessage(Buffer.from(`\ufeff${text}`, 'utf16le'), soap12, createIntermediary())
  assert.ok(relayed.kind === 'forward')
  assert.ok(!(parseXml(relayed.bytes) instanceof Malformed))
})

const folder = suites('soap12-test-collection')
const oracle: Readonly<Record<string, { readonly node?: string; readonly forwards?: string }>> = folder
  ? JSON.parse(readFileSync(join(folder, 'w3c-oracle.json'), 'utf8'))
  : {}
for (const [case_, { node, forwards = '' }] of Object.entries(oracle)) {
  if (node !== 'B') continue
  const id = case_.replace(/^T(?=\d$)/, 'T0')
  test(`${id} node B forwards what the collection expects: ${forwards}`, () => {
    const read = (name: string) => {
      const path = join(folder ?? '', `${name}.request.axis2.xml`)
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined
    }
    const asked = read(`${id}_A`) ?? read(id)
    const expected = read(`${id}_B`) ?? (forwards.startsWith('unchanged') ? asked : undefined)
    assert.ok(asked !== undefined && expected !== undefined, 'the collection has no messages for this case')
    return requireForwarded(asked, expected, /echoOk for role C = (\w+)/.exec(forwards)?.[1])
  })
}

async function requireForwarded(asked: string, expected: string, text: string | undefined) {
  // The copy of T08 closes Ignore with the end tag of echoOk.
  const mended = asked.replace(/(<test:Ignore[^>]*>[^<]*<\/test:)echoOk/, '$1Ignore')
  const relayed = await relayMessage(Buffer.from(mended), soap12, createIntermediary())
  const wanted = parseXml(Buffer.from(expected))
  assert.ok(relayed.kind === 'forward' && !(wanted instanceof Malformed))
  const got = parseXml(relayed.bytes)
  assert.ok(!(got instanceof Malformed))
  const blocks = (message: typeof got) =>
    message.root
      .elements()[0]
      ?.elements()
      .map(each => [each.name.local, each.text.trim(), each.attributes.map(a => `${a.name.local}=${a.value}`)])
  assert.deepEqual(blocks(got), blocks(wanted))
  if (text) assert.match(Buffer.from(relayed.bytes).toString(), new RegExp(text))
}
