import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseDeprecation,
  parseIdempotencyKey,
  writeAcceptQuery,
  writeDeprecation,
  writeIdempotencyKey,
} from '../../src/http/fields.ts'
import {
  parseRateLimit,
  parseRateLimitPolicy,
  writeRateLimit,
  writeRateLimitPolicy,
} from '../../src/http/rate-limit.ts'
import {
  type BareItem,
  parseDictionary,
  parseItem,
  parseList,
  type StructuredItem,
  type StructuredMember,
  writeDictionary,
  writeItem,
  writeList,
} from '../../src/http/structured-fields.ts'
import { suites } from '../suites.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

/** The suite's notation of values (its README): a bare JSON value, or an object with __type. */
type Noted = number | string | boolean | { readonly __type: string; readonly value: string | number }

interface Case {
  readonly name: string
  readonly raw?: readonly string[]
  readonly header_type: 'item' | 'list' | 'dictionary'
  readonly expected?: unknown
  readonly must_fail?: boolean
  readonly can_fail?: boolean
  readonly canonical?: readonly string[]
}

function noted(bare: BareItem): Noted {
  switch (bare.kind) {
    case 'bytes':
      return { __type: 'binary', value: base32(bare.value) }
    case 'token':
    case 'date':
      return { __type: bare.kind, value: bare.value }
    case 'display':
      return { __type: 'displaystring', value: bare.value }
    default:
      return bare.value
  }
}

function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, octet => octet.toString(2).padStart(8, '0')).join('')
  const text = (bits.match(/.{1,5}/g) ?? [])
    .map(five => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=')
}

const parameters = (of: StructuredMember) => [...of.parameters].map(([name, value]) => [name, noted(value)])
const member = (of: StructuredMember): unknown =>
  of.kind === 'list' ? [of.items.map(member), parameters(of)] : [noted(of), parameters(of)]

function parse(type: Case['header_type'], field: string) {
  if (type === 'item') {
    const found = parseItem(field)
    return found && { noted: member(found), written: writeItem(found) }
  }
  if (type === 'list') {
    const found = parseList(field)
    return found && { noted: found.map(member), written: writeList(found) }
  }
  const found = parseDictionary(field)
  return found && { noted: [...found].map(([name, of]) => [name, member(of)]), written: writeDictionary(found) }
}

const folder = suites('structured-fields')
for (const file of folder === undefined ? [] : readdirSync(folder).filter(file => file.endsWith('.json')))
  test(`RFC 9651 §4.2 ${file}`, async context => {
    for (const one of JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as readonly Case[])
      await context.test(one.name, () => {
        const field = (one.raw ?? []).join(', ')
        const found = parse(one.header_type, field)
        if (one.must_fail) return assert.equal(found, undefined)
        if (one.can_fail && found === undefined) return
        assert.deepEqual(found?.noted, one.expected)
        assert.equal(found?.written, (one.canonical ?? one.raw ?? []).join(', '))
      })
  })

function bareOf(value: Noted): BareItem {
  if (typeof value === 'number')
    return Number.isInteger(value) ? { kind: 'integer', value } : { kind: 'decimal', value }
  if (typeof value === 'string') return { kind: 'string', value }
  if (typeof value === 'boolean') return { kind: 'boolean', value }
  if (value.__type === 'token') return { kind: 'token', value: String(value.value) }
  throw new Error(`not in the serialisation tests: ${value.__type}`)
}

const parametersOf = (of: readonly [string, Noted][]) => new Map(of.map(([name, value]) => [name, bareOf(value)]))
const itemOf = ([value, given]: [Noted, [string, Noted][]]): StructuredItem => ({
  ...bareOf(value),
  parameters: parametersOf(given),
})
const memberOf = (of: [unknown, [string, Noted][]]): StructuredMember =>
  Array.isArray(of[0])
    ? { kind: 'list', items: of[0].map(itemOf), parameters: parametersOf(of[1]) }
    : itemOf(of as [Noted, [string, Noted][]]) // no list, so an item

const writing = suites('structured-fields/serialisation-tests')
for (const file of writing === undefined ? [] : readdirSync(writing).filter(file => file.endsWith('.json')))
  test(`RFC 9651 §4.1 ${file}`, async context => {
    for (const one of JSON.parse(readFileSync(`${writing}/${file}`, 'utf8')) as readonly (Case & { expected: never })[])
      await context.test(one.name, () => {
        const written =
          one.header_type === 'item'
            ? writeItem(itemOf(one.expected))
            : one.header_type === 'list'
              ? writeList((one.expected as never[]).map(memberOf))
              : writeDictionary(new Map((one.expected as [string, never][]).map(([name, of]) => [name, memberOf(of)])))
        assert.equal(written, one.must_fail ? undefined : (one.canonical ?? one.raw ?? []).join(', '))
      })
  })

const none = new Map<string, BareItem>()
const written: readonly [title: string, of: BareItem, text: string | undefined][] = [
  ['§4.1.4 an integer of 15 digits', { kind: 'integer', value: 999_999_999_999_999 }, '999999999999999'],
  ['§4.1.4 of 16', { kind: 'integer', value: 1_000_000_000_000_000 }, undefined],
  ['§4.1.4 a fraction', { kind: 'integer', value: 1.5 }, undefined],
  ['§4.1.5 a decimal has a point', { kind: 'decimal', value: 2 }, '2.0'],
  ['§4.1.5 rounds to the even digit, down', { kind: 'decimal', value: 1.0625 }, '1.062'],
  ['§4.1.5 rounds to the even digit, up', { kind: 'decimal', value: -1.1875 }, '-1.188'],
  ['§4.1.5 keeps its digits', { kind: 'decimal', value: 0.01 }, '0.01'],
  ['§4.1.5 nothing has no sign', { kind: 'decimal', value: -0.0001 }, '0.0'],
  ['§4.1.5 below nothing has one', { kind: 'decimal', value: -0.001 }, '-0.001'],
  ['§4.1.5 of 13 digits', { kind: 'decimal', value: 1e12 }, undefined],
  ['§4.1.5 not a number', { kind: 'decimal', value: Number.NaN }, undefined],
  ['§4.1.6 escapes', { kind: 'string', value: '"\\' }, '"\\"\\\\"'],
  ['§4.1.6 a string is ASCII', { kind: 'string', value: 'é' }, undefined],
  ['§4.1.6 a string never splits a field', { kind: 'string', value: 'a\r\nb' }, undefined],
  ['§4.1.7 a token', { kind: 'token', value: 'application/sql' }, 'application/sql'],
  ['§4.1.7 no token', { kind: 'token', value: '1a' }, undefined],
  ['§4.1.8 octets', { kind: 'bytes', value: Uint8Array.of(255, 0) }, ':/wA=:'],
  ['§4.1.9 false', { kind: 'boolean', value: false }, '?0'],
  ['§4.1.10 a date before 1970', { kind: 'date', value: -1 }, '@-1'],
  ['§4.1.11 a display string keeps the zero of an octet', { kind: 'display', value: 'a\n"%ü' }, '%"a%0a%22%25%c3%bc"'],
]

for (const [title, of, text] of written)
  test(`RFC 9651 ${title}`, () => assert.equal(writeItem({ ...of, parameters: none }), text))

const parsed: readonly [title: string, field: string, kind: string | undefined, value?: unknown][] = [
  ['§4.2.9 a date with a parameter', '@1688169599;a=1', 'date', 1_688_169_599],
  ['§4.2.9 a decimal is not a date', '@1.5', undefined],
  ['§4.2.7 missing padding', ':aGVsbG8:', 'bytes', new TextEncoder().encode('hello')],
  ['§4.2 spaces around', '  1  ', 'integer', 1],
  ['§4.2 a tab is not a space', '\t1', undefined],
  ['§4.2 nothing', '', undefined],
]

for (const [title, field, kind, value] of parsed)
  test(`RFC 9651 ${title}`, () => {
    const found = parseItem(field)
    assert.deepEqual([found?.kind, found?.value], [kind, value])
  })

const malformed: readonly [field: string, list: boolean, dictionary: boolean][] = [
  ['a', true, true],
  ['a=', false, false],
  ['a=1', false, true],
  ['a=1,', false, false],
  ['a,', false, false],
  [',a', false, false],
  ['a,,b', false, false],
  ['a b', false, false],
  ['a\t,\tb', true, true],
  ['A', true, false],
  ['=1', false, false],
  ['a=1, =2', false, false],
  ['a=(1', false, false],
  ['(1', false, false],
  ['(1,2)', false, false],
  ['(1)(2)', false, false],
  ['("a""b")', false, false],
  ['a;', false, false],
  ['a;B', false, false],
  ['a;b=', false, false],
  ['a; b;c=1', true, true],
  ['a ;b', false, false],
  ['', true, true],
]

for (const [field, list, dictionary] of malformed)
  test(`RFC 9651 §4.2 all or nothing: ${JSON.stringify(field)}`, () =>
    assert.deepEqual([parseList(field) !== undefined, parseDictionary(field) !== undefined], [list, dictionary]))

const keys: readonly [field: string, key: string | undefined][] = [
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['"a\\"b"', 'a"b'],
  ['"a";x=1', 'a'],
  ['8e03978e', undefined],
  ['""', undefined],
  ['"a", "b"', undefined],
  ['"é"', undefined],
]

for (const [field, key] of keys)
  test(`Idempotency-Key §2.1 ${field}`, () => assert.equal(parseIdempotencyKey(field), key))

test('Idempotency-Key §2.1 written and parsed', () => {
  assert.equal(parseIdempotencyKey(writeIdempotencyKey('a"\\b') ?? ''), 'a"\\b')
  assert.equal(writeIdempotencyKey('a\nb'), undefined)
})

test('RFC 9745 §2.1 Deprecation is a date item', () => {
  assert.equal(writeDeprecation(1_688_169_599_000), '@1688169599')
  assert.equal(writeDeprecation(Number.NaN), undefined)
  assert.equal(parseDeprecation('@1688169599'), 1_688_169_599_000)
  assert.equal(parseDeprecation('1688169599'), undefined)
})

test('RateLimit and RateLimit-Policy (A8.1)', () => {
  const policies = [
    { name: 'default', quota: 100, window: 60 },
    { name: 'bytes', quota: 5, unit: 'content-bytes' },
  ] as const
  assert.equal(writeRateLimitPolicy(policies), '"default";q=100;w=60, "bytes";q=5;qu="content-bytes"')
  assert.deepEqual(parseRateLimitPolicy(writeRateLimitPolicy(policies) ?? ''), policies)
  const limits = [
    { name: 'default', remaining: 0, reset: 30 },
    { name: 'daily', remaining: 9 },
  ]
  assert.equal(writeRateLimit(limits), '"default";r=0;t=30, "daily";r=9')
  assert.deepEqual(parseRateLimit(writeRateLimit(limits) ?? ''), limits)
  assert.deepEqual(parseRateLimit('"a";t=1, b;r=1, "c";r=-1, "d";r=2'), [{ name: 'd', remaining: 2 }])
  assert.deepEqual(parseRateLimitPolicy('"a";w=1, b;q=1, "c";q=-1, "d";q=2;qu="x"'), [{ name: 'd', quota: 2 }])
  assert.equal(writeRateLimit([{ name: 'a\r\nb', remaining: 1 }]), undefined)
})

test('RFC 10008 §3 Accept-Query', () => {
  assert.equal(
    writeAcceptQuery(['application/json', 'Application/SQL; charset="UTF-8"', '3gpp/x', 'none']),
    'application/json, application/sql;charset="UTF-8", "3gpp/x"',
  )
})

test('hostile structured fields are read in linear time', async () => {
  for (const field of [
    '('.repeat(100_000),
    'a;'.repeat(50_000),
    'a,'.repeat(50_000),
    `"${'\\"'.repeat(50_000)}`,
    '1'.repeat(100_000),
    `%"${'%c3'.repeat(30_000)}`,
    ' '.repeat(100_000),
  ]) {
    const parseAll = () => {
      parseItem(field)
      parseList(field)
      parseDictionary(field)
    }
    await assertCpuMsBelow(2000, parseAll, field.slice(0, 5))
  }
})

test('RFC 9651 a written field is read as the same value', () => {
  const bare: fc.Arbitrary<BareItem> = fc.oneof(
    fc.integer({ min: -1e12, max: 1e12 }).map(value => ({ kind: 'integer', value }) as const),
    fc.integer({ min: -1e9, max: 1e9 }).map(value => ({ kind: 'decimal', value: value / 8 }) as const),
    fc.stringMatching(/^[ -~]*$/).map(value => ({ kind: 'string', value }) as const),
    fc.stringMatching(/^[A-Za-z*][!a-z0-9:/]*$/).map(value => ({ kind: 'token', value }) as const),
    fc.uint8Array().map(value => ({ kind: 'bytes', value: new Uint8Array(value) }) as const),
    fc.boolean().map(value => ({ kind: 'boolean', value }) as const),
    fc.integer().map(value => ({ kind: 'date', value }) as const),
    fc.string({ unit: 'grapheme' }).map(value => ({ kind: 'display', value }) as const),
  )
  const given = fc.array(fc.tuple(fc.stringMatching(/^[a-z*][a-z0-9_.*-]*$/), bare)).map(pairs => new Map(pairs))
  const anyItem = fc.tuple(bare, given).map(([bare, parameters]): StructuredItem => ({ ...bare, parameters }))
  const anyMember = fc.oneof(
    anyItem,
    fc
      .tuple(fc.array(anyItem), given)
      .map(([items, parameters]): StructuredMember => ({ kind: 'list', items, parameters })),
  )
  fc.assert(
    fc.property(fc.array(anyMember), members => {
      assert.deepEqual(parseList(writeList(members) ?? '?'), members)
      const named = new Map(members.map((member, at) => [`m${at}`, member]))
      assert.deepEqual(parseDictionary(writeDictionary(named) ?? '?'), named)
    }),
  )
})
