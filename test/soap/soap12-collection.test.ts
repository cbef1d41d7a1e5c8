/** The W3C SOAP Version 1.2 test collection against an echo service. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { suites } from '../suites.ts'
import { collection, collectionOptions, createEchoNode, ts } from './echo.ts'
import { type Answer, ns12 } from './orders-over-soap.ts'

interface Expected {
  readonly fault?: string
  readonly subcode?: string
  readonly notUnderstood?: readonly string[]
  readonly bodyEmpty?: boolean
  readonly responseHeaders?: readonly string[]
  readonly bodyChild?: string
  readonly text?: string
  readonly value?: string
  readonly node?: string
  readonly withdrawn?: string
  readonly either?: readonly unknown[]
}

/** Cases in which this node differs, and why. */
const exceptions: Readonly<Record<string, { readonly why: string; readonly fault: string }>> = {
  T26: {
    why: 'a processing instruction: SOAP 1.2 Part 1 §5 has none, and receivers SHOULD answer Sender; here they do',
    fault: 'Sender',
  },
}

const folder = suites('soap12-test-collection')
const oracle: Record<string, Expected> = folder ? JSON.parse(readFileSync(join(folder, 'w3c-oracle.json'), 'utf8')) : {}
const cases: { id: string; title: string; request: string; phpOutcome?: { bodyChild?: string } }[] = folder
  ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))
  : []

const echo = createEchoNode(collection, collectionOptions)
for (const { id, title, request, phpOutcome } of cases) {
  const expected = oracle[id.replace(/^T0/, 'T')] ?? {}
  if (expected.node === 'B' || expected.withdrawn) continue // node B: relay.test.ts
  test(`${id} ${title}${exceptions[id] ? `: not so here, ${exceptions[id].why}` : ''}`, async () => {
    assert.ok(request && (oracle[id.replace(/^T0/, 'T')] ?? phpOutcome), 'not a case that this test can judge')
    const raw = readFileSync(join(folder ?? '', request))
    const version = raw.includes(ns12) || raw.includes('wrong-version') ? '1.2' : '1.1'
    const answer = await echo.post({ version, raw })
    const fault = exceptions[id]?.fault ?? expected.fault
    assert.equal(answer.fault?.code, fault, answer.text)
    assert.equal(answer.status, fault ? 500 : 200)
    if (fault) {
      if (expected.subcode) assert.deepEqual(answer.fault?.subcodes, [expected.subcode.replace(/^.*:/, '')])
      const named = answer.blocks.filter(each => each.name.local === 'NotUnderstood')
      assert.equal(named.length, expected.notUnderstood?.length ?? 0)
      for (const each of named) {
        const [prefix = '', local] = (each.attributes.find(a => a.name.local === 'qname')?.value ?? '').split(':')
        assert.deepEqual([each.namespace(prefix), local], [ts, 'Unknown'])
      }
      return
    }
    const headers = answer.blocks.map(each => `${each.name.local}=${each.text.trim()}`)
    assert.deepEqual(headers, expected.responseHeaders ?? (id === 'T22' ? ['responseOk=foo'] : []))
    if (expected.bodyEmpty) assert.equal(answer.body, undefined)
    const child = expected.bodyChild ?? phpOutcome?.bodyChild
    if (child) assert.equal(answer.body?.name.local, child.replace(/^.*[:}]/, ''))
    const all =
      answer.body
        ?.elements()
        .map(each => each.text)
        .join('') || answer.body?.text
    const text = expected.text ?? expected.value
    if (text !== undefined) assert.equal(all?.trim(), text)
  })
}

const binding: Record<
  string,
  { method: string; headers: Record<string, string>; body: string; expect: { status: number; fault: string } }
> = folder ? JSON.parse(readFileSync(join(folder, 'http-binding-TH.json'), 'utf8')) : {}
const strict = createEchoNode(collection, { ...collectionOptions, faultStatus: 'w3c' })
for (const [id, { headers, body, expect }] of Object.entries(binding))
  test(`${id} SOAP 1.2 Part 2 §7.5.1.2, with faultStatus: w3c`, async () => {
    const answer = await strict.post({ version: '1.2', raw: body, as: headers['Content-Type'] ?? null })
    assert.equal(answer.fault?.code, expect.fault)
    assert.equal(answer.status, expect.status)
    assert.equal((await echo.post({ version: '1.2', raw: body })).status, 500, 'B4.5: 500 without the option')
  })

test('the arrays and structs of T42–T54 come back unchanged', async t => {
  if (!folder) return t.skip()
  for (const id of ['T42', 'T44', 'T46', 'T48', 'T50', 'T52', 'T54']) {
    const request: string = readFileSync(join(folder, `${id}.request.xml`), 'utf8')
    const answer: Answer = await echo.post({ version: '1.2', raw: request })
    assert.equal(answer.status, 200, answer.text)
    const values = (xml: string) => [...xml.matchAll(/>([^<>]*\S[^<>]*)</g)].map(found => found[1]?.trim())
    const lexical = (each: string | undefined) => (id === 'T52' && each === '1' ? 'true' : each)
    assert.deepEqual(values(answer.text), values(request).map(lexical), id)
  }
})
