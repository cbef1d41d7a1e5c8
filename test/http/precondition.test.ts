import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isEntityTag,
  parseEntityTags,
  readVersionPart,
  sameStrongly,
  sameVersion,
  sameWeakly,
} from '../../src/http/entity-tag.ts'
import { evaluatePreconditions, parsePreconditions, type Validators } from '../../src/http/precondition.ts'
import { assertLinear } from '../support/cost.ts'

const stood = Date.UTC(2026, 10, 21, 12, 0, 0)
const at = 'Sat, 21 Nov 2026 12:00:00 GMT'
const before = 'Sat, 21 Nov 2026 11:59:59 GMT'
const after = 'Sat, 21 Nov 2026 12:00:01 GMT'
const current: Validators = { etag: '"v2"', lastModified: stood + 400 }
const weakly: Validators = { etag: 'W/"v2"', lastModified: stood }
const undated: Validators = { etag: '"v2"' }

type Row = [
  title: string,
  method: string,
  fields: Record<string, string>,
  current: Validators | undefined,
  verdict: 'proceed' | 'failed' | 'not-modified',
]
const rows: readonly Row[] = [
  ['§13.2.2 6  nothing asked', 'PUT', {}, current, 'proceed'],
  ['§13.2.2 1  If-Match matches (A4.20)', 'PUT', { 'if-match': '"v2"' }, current, 'proceed'],
  ['§13.2.2 1  If-Match no longer matches (A4.20)', 'PUT', { 'if-match': '"v1"' }, current, 'failed'],
  ['§13.2.2 1  If-Match compares strongly', 'PUT', { 'if-match': 'W/"v2"' }, current, 'failed'],
  [
    '§13.2.2 1  If-Match compares strongly, with a weak validator too',
    'PUT',
    { 'if-match': 'W/"v2"' },
    weakly,
    'failed',
  ],
  ['§13.1.1    If-Match: one of a list', 'DELETE', { 'if-match': '"v1", "v2"' }, current, 'proceed'],
  ['§13.1.1    If-Match: * on an existing resource (Spring: literal)', 'PUT', { 'if-match': '*' }, current, 'proceed'],
  ['§13.1.1    If-Match: * on what is absent', 'PUT', { 'if-match': '*' }, undefined, 'failed'],
  ['§13.1.1    If-Match: a tag on what is absent', 'PUT', { 'if-match': '"v2"' }, undefined, 'failed'],
  [
    '§13.1.1    If-Match: a tag on a representation without one',
    'PUT',
    { 'if-match': '"v2"' },
    { lastModified: stood },
    'failed',
  ],
  ['§13.1.1    If-Match holds for GET too', 'GET', { 'if-match': '"v1"' }, current, 'failed'],
  ['§13.1.1    a malformed If-Match matches nothing', 'PUT', { 'if-match': 'v2' }, current, 'failed'],
  ['§13.1.1    the star in quotes is a tag', 'PUT', { 'if-match': '"*"' }, current, 'failed'],
  ['§13.2.2 2  If-Unmodified-Since, unmodified', 'PUT', { 'if-unmodified-since': at }, current, 'proceed'],
  ['§13.2.2 2  If-Unmodified-Since, modified', 'PUT', { 'if-unmodified-since': before }, current, 'failed'],
  [
    '§13.1.4    an invalid If-Unmodified-Since is ignored',
    'PUT',
    { 'if-unmodified-since': 'today' },
    current,
    'proceed',
  ],
  [
    '§13.1.4    If-Unmodified-Since without a date here is ignored',
    'PUT',
    { 'if-unmodified-since': before },
    undated,
    'proceed',
  ],
  [
    '§13.2.2 1  If-Match decides, If-Unmodified-Since is not read',
    'PUT',
    { 'if-match': '"v2"', 'if-unmodified-since': before },
    current,
    'proceed',
  ],
  ['§13.2.2 3  If-None-Match matches: 304 (A4.3)', 'GET', { 'if-none-match': '"v2"' }, current, 'not-modified'],
  ['§13.2.2 3  for HEAD too', 'HEAD', { 'if-none-match': '"v2"' }, current, 'not-modified'],
  ['§13.2.2 3  for QUERY, which is safe (RFC 10008)', 'QUERY', { 'if-none-match': '"v2"' }, current, 'not-modified'],
  ['§13.2.2 3  for a change 412, never 304', 'DELETE', { 'if-none-match': '"v2"' }, current, 'failed'],
  ['§13.2.2 3  If-None-Match compares weakly', 'GET', { 'if-none-match': 'W/"v2"' }, current, 'not-modified'],
  ['§13.2.2 3  weakly, the other way', 'GET', { 'if-none-match': '"v2"' }, weakly, 'not-modified'],
  ['§13.1.2    If-None-Match: another tag', 'GET', { 'if-none-match': '"v1"' }, current, 'proceed'],
  [
    '§13.1.2    If-None-Match: one of a list (Spring)',
    'GET',
    { 'if-none-match': '"v1" ,W/"v2"' },
    current,
    'not-modified',
  ],
  ['§13.1.2    If-None-Match: * lets a PUT only create', 'PUT', { 'if-none-match': '*' }, undefined, 'proceed'],
  ['§13.1.2    If-None-Match: * refuses a PUT that would replace', 'PUT', { 'if-none-match': '*' }, current, 'failed'],
  ['§13.1.2    If-None-Match: * on GET', 'GET', { 'if-none-match': '*' }, current, 'not-modified'],
  ['§13.1.2    a malformed If-None-Match: GET answers in full', 'GET', { 'if-none-match': 'v2' }, current, 'proceed'],
  ['§13.1.2    a malformed If-None-Match: no change', 'PUT', { 'if-none-match': 'v2' }, undefined, 'failed'],
  ['§8.8.3     a comma inside a tag is part of the tag', 'GET', { 'if-none-match': '"a,v2"' }, current, 'proceed'],
  ['§8.8.3     and so it is in our own', 'GET', { 'if-none-match': '"x", "a,b"' }, { etag: '"a,b"' }, 'not-modified'],
  [
    '§13.2.2 3  If-Modified-Since is not asked after If-None-Match (Webmachine, Liberator, Spring Data REST)',
    'GET',
    { 'if-none-match': '"v1"', 'if-modified-since': after },
    current,
    'proceed',
  ],
  [
    '§13.2.2 3  nor after a malformed one',
    'GET',
    { 'if-none-match': 'v1', 'if-modified-since': after },
    current,
    'proceed',
  ],
  ['§13.2.2 4  If-Modified-Since, same second', 'GET', { 'if-modified-since': at }, current, 'not-modified'],
  ['§13.2.2 4  If-Modified-Since, modified', 'GET', { 'if-modified-since': before }, current, 'proceed'],
  ['§13.1.3    If-Modified-Since for GET and HEAD only', 'QUERY', { 'if-modified-since': at }, current, 'proceed'],
  ['§13.1.3    never for a change: 304 to a DELETE', 'DELETE', { 'if-modified-since': at }, current, 'proceed'],
  [
    '§13.1.3    an invalid If-Modified-Since is ignored',
    'GET',
    { 'if-modified-since': `${at}, ${at}` },
    current,
    'proceed',
  ],
  [
    '§13.1.3    If-Modified-Since without a date here is ignored',
    'GET',
    { 'if-modified-since': at },
    undated,
    'proceed',
  ],
  [
    '§13.1.4    If-Unmodified-Since is not asked after a malformed If-Match',
    'PUT',
    { 'if-match': 'v2', 'if-unmodified-since': at },
    current,
    'failed',
  ],
  ['§13.2.1    OPTIONS selects nothing', 'OPTIONS', { 'if-match': '"v1"' }, current, 'proceed'],
  ['§13.2.1    TRACE selects nothing', 'TRACE', { 'if-none-match': '*' }, current, 'proceed'],
  [
    '§13.2.2    step 1 passes, step 3 decides',
    'GET',
    { 'if-match': '"v2"', 'if-none-match': '"v2"' },
    current,
    'not-modified',
  ],
  [
    '§13.2.2    step 2 passes, step 4 decides',
    'GET',
    { 'if-unmodified-since': at, 'if-modified-since': at },
    current,
    'not-modified',
  ],
]

for (const [title, method, fields, validators, verdict] of rows)
  test(`RFC 9110 ${title}`, () =>
    assert.equal(evaluatePreconditions(parsePreconditions(fields), method, validators), verdict))

const ours: Validators = { etag: '"7-html"' }
const versioned: readonly [title: string, method: string, fields: Record<string, string>, verdict: string][] = [
  ['If-Match accepts the tag of another representation of the version', 'PUT', { 'if-match': '"7-json"' }, 'proceed'],
  ['If-Match accepts the version alone', 'PUT', { 'if-match': '"7"' }, 'proceed'],
  ['If-Match of another version', 'PUT', { 'if-match': '"8-html"' }, 'failed'],
  ['If-Match of a version that starts so', 'PUT', { 'if-match': '"77-html"' }, 'failed'],
  ['If-Match stays strong', 'PUT', { 'if-match': 'W/"7-html"' }, 'failed'],
  ['If-None-Match compares all of the tag', 'GET', { 'if-none-match': '"7-json"' }, 'proceed'],
  ['If-None-Match of this very representation', 'GET', { 'if-none-match': '"7-html"' }, 'not-modified'],
]

for (const [title, method, fields, verdict] of versioned)
  test(`version part: ${title}`, () =>
    assert.equal(evaluatePreconditions(parsePreconditions(fields), method, ours, sameVersion), verdict))

const lists: readonly [field: string, tags: '*' | readonly string[] | undefined][] = [
  ['*', '*'],
  ['""', ['""']],
  ['"a"', ['"a"']],
  ['"a","b"', ['"a"', '"b"']],
  [' "a" ,\t, W/"b" ,', ['"a"', 'W/"b"']],
  ['"a\\"', ['"a\\"']],
  ['"é"', ['"é"']],
  ['w/"a"', undefined],
  ['W/ "a"', undefined],
  ['"a" "b"', undefined],
  ['"a"b', undefined],
  ['"a b"', undefined],
  ['"a', undefined],
  ['a', undefined],
  ['*, "a"', undefined],
  ['"a", *', undefined],
  ['"a\u007f"', undefined],
  [',', undefined],
  ['', undefined],
]

for (const [field, tags] of lists)
  test(`RFC 9110 §8.8.3 the list ${JSON.stringify(field)}`, () => assert.deepEqual(parseEntityTags(field), tags))

const pairs: readonly [a: string, b: string, strongly: boolean, weakly: boolean][] = [
  ['W/"1"', 'W/"1"', false, true],
  ['W/"1"', 'W/"2"', false, false],
  ['W/"1"', '"1"', false, true],
  ['"1"', '"1"', true, true],
]

for (const [a, b, strongly, weakly] of pairs)
  test(`RFC 9110 §8.8.3.2 the table of comparisons: ${a} ${b}`, () =>
    assert.deepEqual(
      [sameStrongly(a, b), sameWeakly(a, b), sameStrongly(b, a), sameWeakly(b, a)],
      [strongly, weakly, strongly, weakly],
    ))

test('RFC 9110 §8.8.3 the syntax of an entity tag', () => {
  assert.deepEqual(['"a"', 'W/""', '"a" ', 'x"a"', 'a', '"a"b'].map(isEntityTag), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

test('the version part of a tag', () => {
  assert.deepEqual(['"7-html"', 'W/"7-html"', '"7"', '"a-b-c"', '""'].map(readVersionPart), ['7', '7', '7', 'a-b', ''])
  assert.equal(readVersionPart('"-x"'), '')
  assert.equal(readVersionPart('"7-html"'), '7')
})

test('RFC 9110 §13.1.3, §13.1.4 a date is read only where there is no tag, even an invalid one', () => {
  for (const [date, tag, of, given] of [
    ['if-modified-since', 'if-none-match', 'ifModifiedSince', 'ifNoneMatch'],
    ['if-unmodified-since', 'if-match', 'ifUnmodifiedSince', 'ifMatch'],
  ] as const) {
    assert.deepEqual(parsePreconditions({ [date]: at }), { [of]: stood })
    assert.deepEqual(parsePreconditions({ [date]: at, [tag]: '"v2"' }), { [given]: ['"v2"'] })
    assert.deepEqual(parsePreconditions({ [date]: at, [tag]: 'v2' }), { [given]: 'malformed' })
    assert.deepEqual(parsePreconditions({ [date]: 'yesterday' }), {})
  }
})

test('RFC 9110 §8.8.3 tags joined by commas are parsed one by one', () => {
  const tag = fc.stringMatching(/^(W\/)?"[!#-~]{0,8}"$/)
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1 }), tags => {
      assert.ok(tags.every(isEntityTag))
      assert.deepEqual(parseEntityTags(tags.join(' , ')), tags)
    }),
  )
})

test('hostile lists of tags are read in linear time', () => {
  const fields: readonly ((size: number) => string)[] = [
    size => '"a",'.repeat(size),
    size => ','.repeat(4 * size),
    size => `"${'a'.repeat(4 * size)}`,
    size => 'W/'.repeat(2 * size),
  ]
  for (const write of fields)
    assertLinear(size => {
      const field = write(size)
      return () => {
        for (let round = 0; round < 40; round++)
          evaluatePreconditions(parsePreconditions({ 'if-match': field, 'if-none-match': field }), 'PUT', current)
      }
    }, 8000)
})
