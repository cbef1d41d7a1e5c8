import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Json } from '../../src/http/json.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { applyJsonPatch, applyMergePatch, jsonPatchLimits } from '../../src/http/json-patch.ts'
import { arrayIndex, parsePointer, valueAt, writePointer } from '../../src/http/json-pointer.ts'
import { suites } from '../suites.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const read = (text: string): Json => {
  const { value, failure } = parseJson(text)
  if (failure) throw new Error(failure.reason)
  return value
}

const document = read('{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}')
const pointers: readonly [pointer: string, value: Json | undefined][] = [
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
  ['/foo/2', undefined],
  ['/foo/-', undefined],
  ['/foo/01', undefined],
  ['/foo/1e0', undefined],
  ['/foo/-1', undefined],
  ['/foo/length', undefined],
  ['/__proto__', undefined],
  ['/constructor/prototype', undefined],
]

for (const [pointer, value] of pointers)
  test(`RFC 6901 §5 ${JSON.stringify(pointer)}`, () =>
    assert.deepEqual(valueAt(document, parsePointer(pointer)!), value))

for (const text of ['foo', '/a~', '/~2', '/~', 'a/b', ' /a'])
  test(`RFC 6901 §3 ${JSON.stringify(text)} is not a pointer`, () => assert.equal(parsePointer(text), undefined))

test('RFC 6901 §4 ~01 is ~1, not /', () => assert.deepEqual(parsePointer('/~01'), ['~1']))

test('RFC 6901 a written pointer is parsed to the same tokens', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('~1', '~0', '/', '~', ''))), tokens => {
      assert.deepEqual(parsePointer(writePointer(tokens)), tokens)
    }),
  )
})

test('RFC 6901 §4 array indices', () =>
  assert.deepEqual(['0', '10', '00', '', '-', '+1', '1.0', '１'].map(arrayIndex), [0, 10, ...Array(6).fill(undefined)]))

const merging = suites('json-merge-patch')
const merges: readonly { original: Json; patch: Json; result: Json }[] =
  merging === undefined ? [] : JSON.parse(readFileSync(`${merging}/rfc7396-appendix-a.json`, 'utf8'))
for (const { original, patch, result } of merges)
  test(`RFC 7396 Appendix A ${JSON.stringify(original)} with ${JSON.stringify(patch)} (A4.5)`, () =>
    assert.deepStrictEqual(applyMergePatch(original, patch), result))

test('RFC 7396 __proto__ is a member, in target and patch, and sets no prototype', () => {
  const result = applyMergePatch(read('{"__proto__":{"a":1,"b":2}}'), read('{"__proto__":{"a":null,"c":3}}'))
  assert.equal(writeJson(result), '{"__proto__":{"b":2,"c":3}}')
  assert.equal(Object.getPrototypeOf(result), Object.prototype)
  assert.equal(
    writeJson(applyMergePatch({}, read('{"constructor":{"prototype":{"x":1}}}'))),
    '{"constructor":{"prototype":{"x":1}}}',
  )
  assert.equal(({} as { x?: number }).x, undefined)
})

test('RFC 7396 neither target nor patch is changed', () => {
  const target = { a: { b: 1 }, c: [1] }
  applyMergePatch(target, { a: { b: null, d: 2 }, c: null })
  assert.deepEqual(target, { a: { b: 1 }, c: [1] })
})

const withoutNull = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { noNullPrototype: true }),
  ),
})).json

test('RFC 7396 a patch applied twice has the effect of one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const once = applyMergePatch(target as Json, patch as Json) // fast-check's JSON is ours without bigint
      assert.deepStrictEqual(applyMergePatch(once, patch as Json), once)
    }),
  )
})

test('RFC 7396 a patch without null, on nothing, is the result', () => {
  fc.assert(fc.property(withoutNull, patch => assert.deepStrictEqual(applyMergePatch(null, patch), patch)))
})

interface Case {
  readonly comment?: string
  readonly doc: Json
  readonly patch: Json
  readonly expected?: Json
  readonly error?: string
  readonly disabled?: boolean
}

/** The texts of the objects in an array: a value that is parsed has lost what was there twice. */
function listItemTexts(text: string): readonly string[] {
  assert.ok(Array.isArray(JSON.parse(text)), 'a file of cases is an array')
  const items: string[] = []
  let [depth, from] = [0, 0]
  for (const { 0: token, index = 0 } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' && depth === 1) from = index
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    if (token === '}' && depth === 1) items.push(text.slice(from, index + 1))
  }
  assert.equal(items.length, JSON.parse(text).length)
  return items
}

const patching = suites('json-patch')
for (const file of patching === undefined ? [] : readdirSync(patching).filter(file => file.endsWith('.json')))
  test(`RFC 6902 json-patch-tests ${file} (A4.5)`, async context => {
    for (const [index, text] of listItemTexts(readFileSync(`${patching}/${file}`, 'utf8')).entries()) {
      const one = JSON.parse(text) as Case
      await context.test(`${index} ${one.comment ?? one.error ?? writeJson(one.patch)}`, () => {
        // A member that is there twice is refused before there is a patch (RFC 6902 Appendix A.13).
        if (parseJson(text).failure) return assert.notEqual(one.error, undefined, `refused: ${text}`)
        const before = writeJson(one.doc)
        const result = applyJsonPatch(one.doc, one.patch)
        if (one.error !== undefined) assert.ok(result.failure, writeJson(result.value ?? null))
        else if (one.expected !== undefined) assert.deepStrictEqual(result, { value: one.expected })
        else assert.equal(result.failure, undefined)
        assert.equal(writeJson(one.doc), before, 'the document given is as it was')
      })
    }
  })

const failures: readonly [
  title: string,
  document: string,
  patch: string,
  kind: string,
  operation: number | undefined,
][] = [
  ['§3 a patch is an array', '{}', '{}', 'malformed', undefined],
  ['§4 an operation is an object', '{}', '["add"]', 'malformed', 0],
  ['§4 op is there', '{}', '[{"path":"/a","value":1}]', 'malformed', 0],
  ['§4 op is known', '{}', '[{"op":"merge","path":"/a","value":1}]', 'malformed', 0],
  ['§4 op is not found in a prototype', '{}', '[{"op":"constructor","path":"/a"}]', 'malformed', 0],
  ['§4 path is there', '{}', '[{"op":"remove"}]', 'malformed', 0],
  ['§4 path is a pointer', '{"a":1}', '[{"op":"remove","path":"a"}]', 'malformed', 0],
  ['§4.1 value is there', '{}', '[{"op":"add","path":"/a"}]', 'malformed', 0],
  ['§4.4 from is there', '{}', '[{"op":"move","path":"/a"}]', 'malformed', 0],
  ['§4.4 a move from where nothing is', '{}', '[{"op":"move","from":"/b","path":"/a"}]', 'conflict', 0],
  ['§4.5 a copy from where nothing is', '{"a":1}', '[{"op":"copy","from":"/a/b","path":"/a"}]', 'conflict', 0],
  ['§4.4 no move into itself', '{"a":{}}', '[{"op":"move","from":"/a","path":"/a/b"}]', 'malformed', 0],
  ['malformed comes before conflict', '{}', '[{"op":"remove","path":"/a"},{"op":"?","path":""}]', 'malformed', 1],
  ['§4.2 removes what exists', '{}', '[{"op":"remove","path":"/a"}]', 'conflict', 0],
  ['§4.2 not the whole document', '{}', '[{"op":"remove","path":""}]', 'conflict', 0],
  ['§4.3 replaces what exists', '{}', '[{"op":"replace","path":"/a","value":1}]', 'conflict', 0],
  ['§4.1 parents are not made', '{}', '[{"op":"add","path":"/a/b","value":1}]', 'conflict', 0],
  ['§4.1 a text is not a parent', '{"a":"x"}', '[{"op":"add","path":"/a/0","value":1}]', 'conflict', 0],
  ['§4.1 beyond the end', '[1]', '[{"op":"add","path":"/2","value":1}]', 'conflict', 0],
  ['§4.2 "-" is after the last', '[1]', '[{"op":"remove","path":"/-"}]', 'conflict', 0],
  [
    '§4.6 test fails',
    '{"a":1}',
    '[{"op":"add","path":"/b","value":1},{"op":"test","path":"/a","value":2}]',
    'conflict',
    1,
  ],
  ['§4.6 a text is not a number', '{"a":1}', '[{"op":"test","path":"/a","value":"1"}]', 'conflict', 0],
  ['§4.6 null is not nothing', '{}', '[{"op":"test","path":"/a","value":null}]', 'conflict', 0],
  ['/__proto__ leads nowhere', '{}', '[{"op":"add","path":"/__proto__/x","value":1}]', 'conflict', 0],
  [
    '/constructor/prototype leads nowhere',
    '{}',
    '[{"op":"add","path":"/constructor/prototype/x","value":1}]',
    'conflict',
    0,
  ],
]

for (const [title, document, patch, kind, operation] of failures)
  test(`RFC 6902 ${title}`, () => {
    const { failure } = applyJsonPatch(read(document), read(patch))
    assert.deepEqual([failure?.kind, failure?.operation], [kind, operation])
    assert.equal(({} as { x?: number }).x, undefined)
  })

const results: readonly [title: string, document: string, patch: string, result: string][] = [
  ['§4.4 a move within an array', '[1,2,3]', '[{"op":"move","from":"/0","path":"/2"}]', '[2,3,1]'],
  ['§4.4 a move onto itself', '{"a":1}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1}'],
  [
    '§4.5 a copy is a value of its own',
    '{"a":{"b":1}}',
    '[{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/c/b","value":2}]',
    '{"a":{"b":1},"c":{"b":2}}',
  ],
  [
    '§4.5 also of what the patch has written to',
    '{"a":{"b":{}}}',
    '[{"op":"add","path":"/a/b/x","value":1},{"op":"copy","from":"/a/b","path":"/c"},{"op":"add","path":"/a/b/y","value":2}]',
    '{"a":{"b":{"x":1,"y":2}},"c":{"x":1}}',
  ],
  [
    '§4.6 an exact integer',
    '{"a":9223372036854775807}',
    '[{"op":"test","path":"/a","value":9223372036854775807}]',
    '{"a":9223372036854775807}',
  ],
  [
    '§4.6 numbers by value',
    '{"a":100000000000000000000}',
    '[{"op":"test","path":"/a","value":1e20}]',
    '{"a":100000000000000000000}',
  ],
  [
    '__proto__ is a name',
    '{}',
    '[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"copy","from":"/__proto__","path":"/y"}]',
    '{"__proto__":{"x":1},"y":{"x":1}}',
  ],
  [
    '__proto__ is written, written again and removed',
    '{"a":1}',
    '[{"op":"add","path":"/__proto__","value":1},{"op":"replace","path":"/__proto__","value":2},{"op":"test","path":"/__proto__","value":2},{"op":"remove","path":"/__proto__"}]',
    '{"a":1}',
  ],
  [
    '__proto__ within a copied value',
    '{"a":{"__proto__":{"x":1}}}',
    '[{"op":"copy","from":"/a","path":"/b"},{"op":"replace","path":"/b/__proto__/x","value":2}]',
    '{"a":{"__proto__":{"x":1}},"b":{"__proto__":{"x":2}}}',
  ],
]

for (const [title, document, patch, result] of results)
  test(`RFC 6902 ${title}`, () =>
    assert.equal(writeJson(applyJsonPatch(read(document), read(patch)).value ?? null), result))

test('RFC 6902 §5 the cost of a patch is bounded', async () => {
  const add = { op: 'add', path: '/a', value: 1 }
  assert.equal(applyJsonPatch({}, Array(jsonPatchLimits.operations).fill(add)).failure, undefined)
  assert.equal(applyJsonPatch({}, Array(jsonPatchLimits.operations + 1).fill(add)).failure?.kind, 'malformed')
  const doubling = Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '', path: `/${at}` }))
  await assertCpuMsBelow(2000, () => {
    assert.match(applyJsonPatch({}, doubling).failure?.reason ?? '', /copies more|deeper/)
    const texts = Array.from({ length: 900 }, (_, at) => ({ op: 'copy', from: '/text', path: `/${at}` }))
    assert.match(applyJsonPatch({ text: 'x'.repeat(100_000) }, texts).failure?.reason ?? '', /copies more/)
    let path = ''
    const deeper = Array.from({ length: 30 }, () => {
      path = `${path}${path}/a`.slice(0, 100_000)
      return { op: 'copy', from: '', path }
    })
    assert.ok(applyJsonPatch({}, deeper).failure)
    const chain = { op: 'add', path: '/a'.repeat(40), value: nested(40) }
    assert.match(applyJsonPatch(nested(40), [chain]).failure?.reason ?? '', /deeper/)
  })
})

function nested(depth: number): Json {
  return depth === 0 ? {} : { a: nested(depth - 1) }
}

test('RFC 6902 §4.6 test holds for equal values and for no others', () => {
  const value = fc.letrec<{ json: Json }>(tie => ({
    json: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<Json>(0, 1, '1', '', null, true, 2n ** 64n),
      fc.array(tie('json'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('0', 'a', '__proto__'), tie('json'), { maxKeys: 2, noNullPrototype: true }),
    ),
  })).json
  const holds = (document: Json, value: Json) => !applyJsonPatch(document, [{ op: 'test', path: '', value }]).failure
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(holds(a, b), isDeepStrictEqual(a, b))
      assert.ok(holds(a, a))
    }),
    { numRuns: 3000 },
  )
  assert.ok(holds(2n ** 64n, 2 ** 64) && holds(2 ** 64, 2n ** 64n) && !holds(2n ** 64n + 1n, 2 ** 64))
  assert.ok(!holds(1, '1') && !holds('1', 1) && !holds(2n ** 64n, String(2n ** 64n)))
})

test('RFC 6902 a patch may reach its limits, and not exceed them', () => {
  const copy = [{ op: 'copy', from: '/a', path: '/b' }]
  assert.ok(applyJsonPatch({ a: 'xy' }, copy, { ...jsonPatchLimits, copied: 3 }).value)
  assert.match(
    applyJsonPatch({ a: 'xy' }, copy, { ...jsonPatchLimits, copied: 2 }).failure?.reason ?? '',
    /copies more/,
  )
  assert.ok(applyJsonPatch({ a: [[]] }, copy, { ...jsonPatchLimits, depth: 3 }).value)
  assert.match(applyJsonPatch({ a: [[]] }, [], { ...jsonPatchLimits, depth: 2 }).failure?.reason ?? '', /deeper/)
})

for (const [what, value, cost] of [
  ['a text, one and its characters', 'xy', 3],
  ['an empty text', '', 1],
  ['a number', 7, 1],
  ['null', null, 1],
  ['a truth', true, 1],
  ['an empty list', [], 1],
  ['a list, one and its values', [1, 'x', null], 5],
  ['an object, one and its names and values', { ab: 1, c: 'x' }, 7],
  ['a list within an object', { a: [[]] }, 4],
] as const)
  test(`RFC 6902 the cost of a copy: ${what}`, () => {
    const copied = (limit: number) =>
      applyJsonPatch({ a: value }, [{ op: 'copy', from: '/a', path: '/b' }], { ...jsonPatchLimits, copied: limit })
    assert.ok(copied(cost).value)
    assert.equal(copied(cost - 1).failure?.kind, 'malformed')
  })

test('RFC 6902 add, test and remove leave the document unchanged', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      fc.string(),
      fc.jsonValue(),
      (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name))
        const path = writePointer([name])
        const result = applyJsonPatch(
          document as Json,
          [
            { op: 'add', path, value },
            { op: 'test', path, value },
            { op: 'remove', path },
          ] as Json,
        )
        assert.deepStrictEqual(result, { value: document })
      },
    ),
  )
})
