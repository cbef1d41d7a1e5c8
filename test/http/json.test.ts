import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Json, jsonLimits, parseJson, writeJson } from '../../src/http/json.ts'
import { suites } from '../suites.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join(',')}}`
const membered = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [String(at), 0]))

const accepted: readonly [title: string, text: string, value: Json][] = [
  ['an integer that a double holds', '9007199254740991', 9007199254740991],
  ['the next one is a bigint', '9007199254740992', 9007199254740992n],
  ['so is a negative one', '{"a":-9223372036854775808}', { a: -9223372036854775808n }],
  ['15 digits are a number', '[123456789012345]', [123456789012345]],
  ['many digits after the point stay a number', '[0.12345678901234567890]', [0.12345678901234568]],
  ['an exponent', '[1e2, 1E-2, 12.5e+1]', [100, 0.01, 125]],
  ['an integer with an exponent is a number', '1e20', 1e20],
  ['exponents after any digit', '[0e1,9e1,9E1,1.5e1]', [0, 90, 90, 15]],
  ['a number of 1000 characters', `0.${'0'.repeat(998)}`, 0],
  ['minus zero', '-0', -0],
  ['every escape', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', '"\\/\b\f\n\r\té'],
  ['an escaped surrogate pair', '"\\ud83d\\ude00"', '😀'],
  ['names that differ', '{"a":1,"A":2,"\\u0062":3}', { a: 1, A: 2, b: 3 }],
  ['the same name in two objects', '[{"a":{"a":1}},{"a":2}]', [{ a: { a: 1 } }, { a: 2 }]],
  ['colons, quotes and brackets in strings', '{"a:\\"}{[":":\\\\","b":"e9e"}', { 'a:"}{[': ':\\', b: 'e9e' }],
  ['integer-like names', '{"2":1,"1":2}', { 1: 2, 2: 1 }],
  ['white space of all four kinds', '\t\r\n {\t"a" :\r[ 1 ,\n2 ] } ', { a: [1, 2] }],
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`, nested(64)],
  ['10,000 names in each of two objects', `[${members(10_000)},${members(10_000)}]`, [membered, membered]],
]

function nested(depth: number): Json {
  return depth === 1 ? [] : [nested(depth - 1)]
}

for (const [title, text, value] of accepted)
  test(`RFC 8259 ${title}`, () => {
    assert.deepStrictEqual(parseJson(text), { value })
    assert.deepStrictEqual(parseJson(new TextEncoder().encode(text)), { value })
    // An exponent anywhere sends the text to the careful reader.
    assert.deepStrictEqual(parseJson(`[1e0,${text}]`, { ...jsonLimits, depth: 65 }), { value: [1, value] })
  })

const refused: readonly [title: string, text: string | Uint8Array, at: number, pointer: string, reason: RegExp][] = [
  ['RFC 7493 §2.3 a name twice', '{"a":1,"a":2}', 7, '/a', /duplicate name/],
  ['RFC 7493 §2.3 a name twice, once escaped', '{"a":1,"\\u0061":2}', 7, '/a', /duplicate name/],
  ['RFC 7493 §2.3 a name twice, deep', '[0,{"b":{"a/":{},"a/":[]}}]', 17, '/1/b/a~1', /duplicate name/],
  ['RFC 7493 §2.3 __proto__ twice', '{"__proto__":1,"__proto__":2}', 15, '/__proto__', /duplicate name/],
  ['RFC 7493 §2.1 half a surrogate pair', '["\\ud800"]', 1, '/0', /surrogate/],
  ['RFC 7493 §2.1 the other half', '{"\\uDC00":1}', 1, '', /surrogate/],
  ['RFC 7493 §2.1 half a surrogate pair in the text itself', '["\ud800"]', 1, '/0', /surrogate/],
  ['RFC 8259 §8.1 a byte order mark', '\ufeff{}', 0, '', /byte order mark/],
  ['RFC 8259 §8.1 a byte order mark, octets', Uint8Array.of(0xef, 0xbb, 0xbf, 0x31), 0, '', /byte order mark/],
  ['RFC 8259 §8.1 not UTF-8', Uint8Array.of(0x22, 0x61, 0xff, 0x22), 2, '', /UTF-8/],
  ['RFC 8259 §8.1 not UTF-8, after a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0xff), 3, '', /UTF-8/],
  ['RFC 8259 §8.1 overlong', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 1, '', /UTF-8/],
  ['RFC 8259 §8.1 an encoded surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 1, '', /UTF-8/],
  ['RFC 7493 §2.2 beyond a double', '{"a":[1e400]}', 6, '/a/0', /double/],
  ['RFC 7493 §2.2 beyond a double, after any digit', '9e999', 0, '', /double/],
  ['RFC 7493 §2.2 beyond a double, after a point', '0.9e999', 0, '', /double/],
  ['RFC 7493 §2.2 beyond a double, in capitals', '1E400', 0, '', /double/],
  ['RFC 7493 §2.2 beyond a double, after a zero', '10e400', 0, '', /double/],
  ['RFC 7493 §2.2 beyond a double, without an exponent', `[${'9'.repeat(400)}.0]`, 1, '/0', /double/],
  ['a number of 1001 characters', `[${'1'.repeat(1001)}]`, 1, '/0', /more than 1000 characters/],
  ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 64, '/0'.repeat(64), /deeper/],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 320, '/a'.repeat(64), /deeper/],
  [
    '65 levels between strings with escapes',
    `["\\"",${'['.repeat(64)}${']'.repeat(64)},""]`,
    69,
    `/1${'/0'.repeat(63)}`,
    /deeper/,
  ],
  ['10,001 names in one object', `[{},${members(10_001)}]`, 88_895, '/1', /more than 10000 names/],
  ['nothing', '', 0, '', /ends/],
  ['text after the value', '{} x', 3, '', /after/],
  ['cut', '{"a":[1,', 8, '/a/1', /ends/],
  ['a trailing comma', '{"a":1,}', 7, '', /name/],
  ['a comment', '[1, // one\n2]', 4, '/1', /not a JSON value/],
  ['single quotes', "{'a':1}", 1, '', /name/],
  ['a leading zero', '[01]', 2, '', /comma/],
  ['NaN', '[NaN]', 1, '/0', /not a JSON value/],
  ['a line break in a string', '"a\nb"', 2, '', /control/],
  ['a string that is not closed', '["a]', 1, '/0', /closed/],
  ['a string that ends in an escape', '"a\\"', 0, '', /closed/],
  ['no such escape', '"\\x41"', 1, '', /escape/],
  ['a no-break space between', '[1,\u00a02]', 3, '/1', /not a JSON value/],
]

for (const [title, text, at, pointer, reason] of refused)
  test(`refused: ${title}`, () => {
    const { failure } = parseJson(text)
    assert.deepStrictEqual([failure?.at, failure?.pointer], [at, pointer])
    assert.match(failure?.reason ?? '', reason)
  })

test('RFC 8259 §7 no character in a string begins, ends or hides anything around it', () => {
  const levels = (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`
  for (const [from, to] of [
    [0x20, 0x21],
    [0x23, 0x5b],
    [0x5d, 0xff],
  ] as const)
    for (let code = from; code <= to; code++) {
      const one = String.fromCharCode(code)
      const text = (depth: number) => `["\\n${one}",${levels(depth)},"${one}"]`
      assert.deepStrictEqual(parseJson(text(63)), { value: [`\n${one}`, nested(63), one] }, one)
      assert.equal(parseJson(text(64)).failure?.at, 8 + 62, one)
    }
})

test('__proto__ is an own property, and no prototype is set', () => {
  for (const text of ['{"__proto__":{"admin":true}}', '{"__proto__":{"admin":true},"n":1e1}']) {
    const value = parseJson(text).value as Record<string, Json> // the text is an object
    assert.deepStrictEqual(Object.getOwnPropertyNames(value)[0], '__proto__')
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    assert.equal(value['admin'], undefined)
    assert.match(writeJson(value), /^\{"__proto__":\{"admin":true\}/)
  }
})

/** Any JSON, including names that clash with members of Object.prototype. */
const anyJson = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter(n => !Number.isInteger(n) || Math.abs(n) < 2 ** 53),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }),
    fc.constantFrom(null, true, false),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', '1')), tie('json'), {
      noNullPrototype: true,
      maxKeys: 4,
    }),
  ),
})).json

test('RFC 8259 §6 minus zero and integers beyond a double keep their digits, others are written as by JSON.stringify', () => {
  const json: Json = { a: [-0, 0, 0n, 2n ** 64n, -1.5, '-0'], b: { c: -0 } }
  assert.equal(writeJson(json), '{"a":[-0,0,0,18446744073709551616,-1.5,"-0"],"b":{"c":-0}}')
  assert.equal(writeJson(-0), '-0')
  assert.equal(writeJson(0n), '0')
})

test('what is written is read as it was', () => {
  fc.assert(
    fc.property(anyJson, value => {
      assert.deepStrictEqual(parseJson(writeJson(value)), { value })
    }),
  )
})

test('both readers agree with JSON.parse and with each other', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), text => {
      fc.pre(!/(?<![.\d])\d{16,}(?![.\deE])/.test(text)) // a bigint here, a rounded number there
      const value = JSON.parse(text) as Json // fc.json writes JSON
      assert.deepStrictEqual(parseJson(text), { value })
      // An exponent anywhere sends the text to the careful reader.
      assert.deepStrictEqual(parseJson(`[1e0,${text}]`), { value: [1, value] })
    }),
  )
})

test('RFC 8259 §2 white space of all four kinds may stand around each token, for both readers', () => {
  const tokens = '{ "a" : [ 1 , { } , [ ] , "b" ] , "c" : { "d" : null , "e" : [ [ true ] ] } }'.split(' ')
  const value = { a: [1, {}, [], 'b'], c: { d: null, e: [[true]] } }
  for (const space of ['', ' ', '\t', '\n', '\r', ' \t\r\n '])
    for (const [number, read] of [
      ['1', 1],
      ['10e-1', 1],
    ] as const) {
      const text = [...tokens.map(token => (token === '1' ? number : token)), ''].join(space)
      assert.deepStrictEqual(parseJson(space + text), { value: { ...value, a: [read, {}, [], 'b'] } }, text)
    }
})

/** What the quick reader takes: in each of them something that it counts, up to its edge. */
const plain: readonly [title: string, text: string][] = [
  ['names in objects within each other', '{"a":{"b":{"c":[{"d":1},{"d":2}]}}}'],
  ['a list, whose places are no names', '[["a","b"],[1,2,3],[]]'],
  ['numbers of 15 digits, one after the other', '[123456789012345,-123456789012345,0.12345678901234]'],
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
  ['a hundred lists and objects in a row', `[${'[],{},'.repeat(50)}0]`],
  ['10,000 names in each of two objects', `[${members(10_000)},${members(10_000)}]`],
  ['colons, brackets and digits in strings', '{"a:[{0123456789012345678":"]}:9e9E9"}'],
  ['escapes of one character, and of one that is no surrogate', '{"\\"\\n":"\\\\","\\u00e9":"\\uffff"}'],
  ['the letter e, not after a digit', '[true,false,"e","2e2"]'],
]
for (const [title, text] of plain)
  test(`plain text is read by the quick reader: ${title}`, t => {
    const parse = t.mock.method(JSON, 'parse')
    const { value } = parseJson(text)
    assert.equal(parse.mock.callCount(), 1)
    const made: unknown = parse.mock.calls[0]?.result
    assert.ok(value !== undefined && value === made, 'the careful reader was asked')
  })

test('a damaged text is refused exactly where JSON.parse refuses it', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', ':', '}', '0', 'e'),
      (text, at, by) => {
        const damaged = text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1)
        const result = parseJson(damaged)
        if (result.failure === undefined)
          assert.equal(JSON.stringify(JSON.parse(damaged)), JSON.stringify(JSON.parse(writeJson(result.value))))
        else if (!/duplicate name|surrogate|double/.test(result.failure.reason))
          assert.throws(() => JSON.parse(damaged))
      },
    ),
    { numRuns: 1000 },
  )
})

/** What JSONTestSuite leaves to the implementation, and what it demands against I-JSON. */
const decisions: Readonly<Record<string, readonly [accepts: boolean, reason: string]>> = {
  i_number_double_huge_neg_exp: [true, 'underflow is 0, the nearest double'],
  i_number_huge_exp: [false, 'RFC 7493 §2.2: no double holds it'],
  i_number_neg_int_huge_exp: [false, 'RFC 7493 §2.2: no double holds it'],
  i_number_pos_double_huge_exp: [false, 'RFC 7493 §2.2: no double holds it'],
  i_number_real_neg_overflow: [false, 'RFC 7493 §2.2: no double holds it'],
  i_number_real_pos_overflow: [false, 'RFC 7493 §2.2: no double holds it'],
  i_number_real_underflow: [true, 'underflow is 0, the nearest double'],
  i_number_too_big_neg_int: [true, 'exact, as a bigint'],
  i_number_too_big_pos_int: [true, 'exact, as a bigint'],
  i_number_very_big_negative_int: [true, 'exact, as a bigint'],
  i_object_key_lone_2nd_surrogate: [false, 'RFC 7493 §2.1'],
  i_string_1st_surrogate_but_2nd_missing: [false, 'RFC 7493 §2.1'],
  i_string_1st_valid_surrogate_2nd_invalid: [false, 'RFC 7493 §2.1'],
  'i_string_UTF-16LE_with_BOM': [false, 'RFC 8259 §8.1: UTF-8'],
  'i_string_UTF-8_invalid_sequence': [false, 'RFC 8259 §8.1: UTF-8'],
  'i_string_UTF8_surrogate_U+D800': [false, 'RFC 3629 §3: surrogates are not encoded'],
  i_string_incomplete_surrogate_and_escape_valid: [false, 'RFC 7493 §2.1'],
  i_string_incomplete_surrogate_pair: [false, 'RFC 7493 §2.1'],
  i_string_incomplete_surrogates_escape_valid: [false, 'RFC 7493 §2.1'],
  i_string_invalid_lonely_surrogate: [false, 'RFC 7493 §2.1'],
  i_string_invalid_surrogate: [false, 'RFC 7493 §2.1'],
  'i_string_invalid_utf-8': [false, 'RFC 8259 §8.1: UTF-8'],
  'i_string_inverted_surrogates_U+1D11E': [false, 'RFC 7493 §2.1'],
  i_string_iso_latin_1: [false, 'RFC 8259 §8.1: UTF-8'],
  i_string_lone_second_surrogate: [false, 'RFC 7493 §2.1'],
  i_string_lone_utf8_continuation_byte: [false, 'RFC 8259 §8.1: UTF-8'],
  i_string_not_in_unicode_range: [false, 'RFC 3629 §3: ends at U+10FFFF'],
  i_string_overlong_sequence_2_bytes: [false, 'RFC 3629 §3: the shortest form'],
  i_string_overlong_sequence_6_bytes: [false, 'RFC 3629 §3: the shortest form'],
  i_string_overlong_sequence_6_bytes_null: [false, 'RFC 3629 §3: the shortest form'],
  'i_string_truncated-utf-8': [false, 'RFC 8259 §8.1: UTF-8'],
  i_string_utf16BE_no_BOM: [false, 'RFC 8259 §8.1: UTF-8'],
  i_string_utf16LE_no_BOM: [false, 'RFC 8259 §8.1: UTF-8'],
  i_structure_500_nested_arrays: [false, 'deeper than 64'],
  'i_structure_UTF-8_BOM_empty_object': [false, 'RFC 8259 §8.1: no byte order mark'],
  y_object_duplicated_key: [false, 'RFC 7493 §2.3: readers differ in which of the two they keep'],
  y_object_duplicated_key_and_value: [false, 'RFC 7493 §2.3'],
}

const folder = suites('json-parsing')
for (const file of folder === undefined ? [] : readdirSync(folder).filter(file => file.endsWith('.json'))) {
  const name = file.slice(0, -5)
  const [accepts, reason] = decisions[name] ?? [name.startsWith('y_'), 'RFC 8259']
  test(`JSONTestSuite ${name}: ${accepts ? 'accepted' : 'refused'} (${reason})`, () => {
    assert.ok(!name.startsWith('i_') || name in decisions, 'a decision is due')
    const result = parseJson(readFileSync(`${folder}/${file}`))
    assert.equal(result.failure === undefined, accepts, result.failure?.reason ?? 'accepted')
  })
}

const naughty = suites('naughty-strings')
if (naughty !== undefined)
  test('the big list of naughty strings, as values and as names', () => {
    const [file] = readdirSync(naughty).filter(file => file.endsWith('.json'))
    for (const text of JSON.parse(readFileSync(`${naughty}/${file}`, 'utf8')) as readonly string[]) {
      assert.deepStrictEqual(parseJson(writeJson(text)), { value: text })
      assert.deepStrictEqual(parseJson(writeJson([{ [text]: text }, 10n ** 20n])), {
        value: [{ [text]: text }, 10n ** 20n],
      })
    }
  })

test('hostile texts are read in linear time', async () => {
  const big = 1_000_000
  for (const text of [
    '['.repeat(big),
    '{"a":'.repeat(big / 5),
    `"${'\\u0041'.repeat(big / 6)}`,
    `"${'\\\\'.repeat(big / 2)}`,
    '1'.repeat(big),
    `[${'1e1,'.repeat(big / 4)}`,
    ' '.repeat(big),
  ]) {
    await assertCpuMsBelow(2000, () => assert.ok(parseJson(text).failure), text.slice(0, 10))
  }
})

test('RFC 8259 §9 a value that cannot be written is an error of the caller, not an absent text', () => {
  const record = {
    get total(): number {
      throw new RangeError('no total')
    },
  }
  assert.throws(() => writeJson(record), /no total/)
})
