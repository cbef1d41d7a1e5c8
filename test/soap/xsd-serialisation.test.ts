/**
 * PHP's schema serialisation cases: each request, read by a contract's declaration of its type,
 * gives the value that was written.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AnyField, t } from '../../src/contract/field.ts'
import { bindCustomOperation } from '../../src/soap/operations/custom-operation.ts'
import { suites } from '../suites.ts'
import { createEchoNode } from './echo.ts'

const struct = { int: t.int().optional(), str: t.string().optional() }
const dates = {
  dateTime: t.dateTime(),
  time: t.time(),
  date: t.date(),
  gYearMonth: t.string({ xsd: 'gYearMonth' }),
  gYear: t.string({ xsd: 'gYear' }),
  gMonthDay: t.string({ xsd: 'gMonthDay' }),
  gDay: t.string({ xsd: 'gDay' }),
}
const attributed = t.object({ int: t.int().attribute(), str: t.string().optional() })
const inner = t.object({ int: t.int() })
const numbers = [t.list(t.int()), [123, 123]] as const

/** The declaration, and the value that is read. */
const read: Readonly<Record<string, readonly [AnyField, unknown]>> = {
  schema002: [t.int(), 123],
  schema004: [t.decimal(9, 1), '123.5'],
  schema006: [t.int(), 123],
  schema008: [t.int(), 123],
  schema010: [t.string(), 'one two'], // a list of tokens is a text: a contract has no lists inside texts
  schema012: [t.string(), '123 456'],
  schema014: [t.double({ xsd: 'float' }), 123.5], // one type of a union of simple types is declared
  schema016: [t.double(), 123.5],
  schema018: [t.string(), '123.5'],
  schema020: [t.string(), '123.5 456.7'],
  schema022: [t.string(), '123 123.5 str'],
  schema024: numbers,
  schema026: numbers,
  schema030: [t.object(struct), { int: 123, str: 'str' }],
  schema032: [t.object(struct), { int: 123 }],
  schema034: [t.object({ int: t.int(), testType2: inner }), { int: 123, testType2: { int: 123 } }],
  schema036: [t.object({ int: t.int(), testType2: inner }), { int: 123, testType2: { int: 123 } }],
  schema038: [attributed, { int: 123, str: 'str' }],
  schema040: [attributed, { int: 123, str: 'str' }],
  schema050: [t.object({ int: t.int(), int2: t.int() }), { int: 123, int2: 123 }],
  schema052: [t.object({ int: t.int(), int2: t.int() }), { int: 123, int2: 123 }],
  schema062: [attributed.nullable(), null],
  schema066: [t.object({ str: t.string().attribute() }), { str: 'str' }],
  schema070: [t.object({ str: t.string().attribute() }), { str: 'str' }],
  schema082: numbers,
  schema084: numbers,
}
/** Types that a contract cannot express, and why each is refused. */
const refused: Readonly<Record<string, string>> = {
  schema028: 'an array of two dimensions is refused (S9)',
  schema042: 'text with attributes: a field is a scalar or an object',
  schema044: 'text with attributes',
  schema046: 'text with attributes',
  schema048: 'text with attributes',
  schema054: 'a map of any values: a contract declares what it takes',
  schema056: 'items named by their built-in type, in the namespace of XML Schema',
  schema058: 'items named by their built-in type',
  schema060: 'items named by their built-in type',
  schema064: 'gMonth as --04--, the form of an erratum that was withdrawn',
  schema072: 'items named by their built-in type',
  schema074: 'a qualified attribute: attributes are in no namespace',
  schema076: 'qualified and unqualified attributes in one element',
  schema078: 'qualified and unqualified elements in one type',
  schema080: 'qualified and unqualified elements in one type',
}
const declaredFor: Readonly<Record<string, AnyField>> = {
  schema028: t.list(t.int()),
  schema042: t.int(),
  schema044: t.int(),
  schema046: t.int(),
  schema048: t.int(),
  schema054: inner,
  schema056: t.list(t.int()),
  schema058: t.list(t.int()),
  schema060: t.list(t.int()),
  schema064: t.object({ ...dates, gMonth: t.string({ xsd: 'gMonth' }) }),
  schema072: t.list(t.int()),
  schema074: attributed,
  schema076: t.object({ int1: t.int().attribute(), int2: t.int().attribute(), int3: t.int().attribute() }),
  schema078: t.object({ int1: t.int(), int2: t.int(), int3: t.int() }),
  schema080: t.object({ int1: t.int(), int2: t.int(), int3: t.int() }),
}

const folder = suites('xsd-serialisation')
const cases: { id: string; title: string; expectedRequest?: string }[] = folder
  ? JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))
  : []
for (const { id, title, expectedRequest } of cases) {
  if (!expectedRequest) continue
  test(`${id} ${title}${refused[id] ? `: not here: ${refused[id]}` : ''}`, async () => {
    const raw = readFileSync(join(folder ?? '', expectedRequest), 'utf8')
    if (!/<SOAP-ENV:Envelope/.test(raw)) return
    const [content, expected] = read[id] ?? [declaredFor[id] ?? assert.fail(`${id} is in no table`), undefined]
    const seen: unknown[] = []
    const asked = /Body><ns1:(\w+)/.exec(raw)?.[1] ?? ''
    const { post, incidents } = createEchoNode([
      bindCustomOperation({
        namespace: 'http://test-uri/',
        name: asked,
        style: raw.includes('encodingStyle') ? 'encoded' : 'rpc',
        request: { testParam: content },
        response: {},
        perform: ({ testParam }) => {
          seen.push(testParam)
          return {}
        },
      }),
    ])
    const answer = await post({ raw })
    assert.deepEqual(incidents, [])
    if (refused[id]) return assert.ok(answer.fault && seen.length === 0, answer.text)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(seen, [expected])
  })
}

test('the dates of schema064 but for gMonth', async context => {
  if (!folder) return context.skip()
  const raw = readFileSync(join(folder, 'schema064.request.xml'), 'utf8').replace(/<gMonth .*<\/gMonth>/, '')
  const seen: unknown[] = []
  const { post } = createEchoNode([
    bindCustomOperation({
      namespace: 'http://test-uri/',
      name: 'test',
      style: 'encoded',
      request: { testParam: t.object(dates) },
      response: {},
      perform: ({ testParam }) => {
        seen.push(Object.values(testParam))
        return {}
      },
    }),
  ])
  assert.equal((await post({ raw })).status, 200)
  assert.deepEqual(seen, [
    ['1976-04-05T01:02:03Z', '01:02:03Z', '1976-04-05Z', '1976-04Z', '1976Z', '--04-05Z', '---05Z'],
  ])
})
