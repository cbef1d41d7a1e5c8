import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isRangeApplicable,
  parseContentRange,
  parseRange,
  writeByteRangeParts,
  writeContentRange,
} from '../../src/http/range.ts'

const rows: readonly [title: string, field: string | undefined, length: number, ranges: unknown][] = [
  ['§14.2   no field', undefined, 100, 'whole'],
  ['§14.1.2 the first ten', 'bytes=0-9', 100, [[0, 9]]],
  ['§14.1.2 from there on', 'bytes=90-', 100, [[90, 99]]],
  ['§14.1.2 the last ten', 'bytes=-10', 100, [[90, 99]]],
  ['§14.1.2 a suffix longer than all', 'bytes=-1000', 100, [[0, 99]]],
  ['§14.1.2 last beyond the end', 'bytes=90-1000', 100, [[90, 99]]],
  ['§14.1.2 one octet', 'bytes=0-0', 100, [[0, 0]]],
  [
    '§14.1.2 two',
    'bytes=0-0, -1',
    100,
    [
      [0, 0],
      [99, 99],
    ],
  ],
  ['§14.1   units are case-insensitive', 'Bytes=0-9', 100, [[0, 9]]],
  ['§5.6.1  empty elements', 'bytes=,0-9,,', 100, [[0, 9]]],
  ['§17.15  overlapping ones are one', 'bytes=10-20,0-15', 100, [[0, 20]]],
  ['§17.15  touching ones are one', 'bytes=0-9,10-19', 100, [[0, 19]]],
  ['§15.5.17 first beyond the end', 'bytes=100-', 100, 'unsatisfiable'],
  ['§15.5.17 an empty suffix', 'bytes=-0', 100, 'unsatisfiable'],
  ['§15.5.17 nothing there', 'bytes=0-', 0, 'unsatisfiable'],
  ['§14.1.2 the end of an empty representation is all of it', 'bytes=-5', 0, 'whole'],
  ['§14.1.2 an empty suffix of it is none', 'bytes=-0', 0, 'unsatisfiable'],
  ['§15.5.17 one of two is enough', 'bytes=200-,0-1', 100, [[0, 1]]],
  ['§14.1.1 last before first is invalid', 'bytes=9-0', 100, 'whole'],
  ['§14.2   malformed', 'bytes=a-b', 100, 'whole'],
  ['§14.2   malformed', 'bytes=-', 100, 'whole'],
  ['§14.2   malformed', 'bytes= 0 - 9', 100, 'whole'],
  ['§14.2   something before', 'bytes=x1-2', 100, 'whole'],
  ['§14.2   something after', 'bytes=1-2x', 100, 'whole'],
  ['§14.2   something before a suffix', 'bytes=x-2', 100, 'whole'],
  ['§14.2   something after a suffix', 'bytes=-2x', 100, 'whole'],
  ['§14.2   something before the unit', 'xbytes=1-2', 100, 'whole'],
  ['§17.15  sixteen', `bytes=${'5-5,'.repeat(16)}`, 100, [[5, 5]]],
  ['§14.2   nothing', 'bytes=', 100, 'whole'],
  ['§14.2   another unit', 'pages=1-2', 100, 'whole'],
  ['§14.1.2 a first beyond all numbers', `bytes=${'9'.repeat(400)}-`, 100, 'unsatisfiable'],
  ['§14.1.2 a last beyond all numbers', `bytes=90-${'9'.repeat(400)}`, 100, [[90, 99]]],
  ['§14.1.2 a suffix beyond all numbers', `bytes=-${'9'.repeat(400)}`, 100, [[0, 99]]],
  ['§14.1.2 both beyond all numbers', `bytes=${'9'.repeat(400)}-${'9'.repeat(400)}`, 100, 'unsatisfiable'],
  ['§14.1.2 zeros before', `bytes=${'0'.repeat(20)}1-02`, 100, [[1, 2]]],
  ['§15.5.17 an empty suffix of many zeros', 'bytes=-00', 100, 'unsatisfiable'],
  ['§17.15  more than sixteen', `bytes=${'0-0,'.repeat(17)}`, 100, 'whole'],
]

for (const [title, field, length, ranges] of rows)
  test(`RFC 9110 ${title}: ${String(field).slice(0, 40)}`, () => {
    const found = parseRange(field, length)
    assert.deepEqual(typeof found === 'string' ? found : found.map(({ first, last }) => [first, last]), ranges)
  })

test('RFC 9110 §14.2 ranges are within the content, in order and apart, whatever is requested', () => {
  const spec = fc.oneof(
    fc.tuple(fc.nat(120), fc.nat(120)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.nat(120).map(a => `${a}-`),
    fc.nat(120).map(a => `-${a}`),
  )
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 16 }), fc.nat(100), (specs, length) => {
      const found = parseRange(`bytes=${specs.join(',')}`, length)
      if (typeof found === 'string') return
      let end = -2
      for (const { first, last } of found) {
        assert.ok(first > end + 1 && first <= last && last < length)
        end = last
      }
    }),
  )
})

const stood = Date.UTC(2026, 10, 21, 12)
const current = { etag: '"v2"', lastModified: stood + 300 }
const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
const conditions: readonly [title: string, ifRange: string | undefined, at: number, honours: boolean][] = [
  ['no field', undefined, stood, true],
  ['the tag', '"v2"', stood, true],
  ['another tag', '"v1"', stood, false],
  ['compares strongly', 'W/"v2"', stood, false],
  ['the date', date, stood + 1000, true],
  ['a date of this very second is weak', date, stood + 900, false],
  ['a later date is another', 'Sat, 21 Nov 2026 12:00:01 GMT', stood + 9000, false],
  ['no date', 'yesterday', stood + 9000, false],
]

for (const [title, ifRange, at, honours] of conditions)
  test(`RFC 9110 §13.1.5 If-Range: ${title}`, () => assert.equal(isRangeApplicable(ifRange, current, at), honours))

test('RFC 9110 §13.1.5 If-Range: no validators here', () => {
  assert.equal(isRangeApplicable('yesterday', { etag: '"v2"' }, stood), false)
  assert.deepEqual([isRangeApplicable('"v2"', {}, stood), isRangeApplicable(date, {}, stood)], [false, false])
})

test('RFC 9110 §14.4 Content-Range', () => {
  const range = { first: 0, last: 9 }
  assert.equal(writeContentRange(range, 100), 'bytes 0-9/100')
  assert.equal(writeContentRange(undefined, 100), 'bytes */100')
  assert.deepEqual(parseContentRange('bytes 0-9/100'), { range, length: 100 })
  assert.deepEqual(parseContentRange('bytes 0-9/*'), { range })
  assert.deepEqual(parseContentRange('bytes 0-0/1'), { range: { first: 0, last: 0 }, length: 1 })
  assert.deepEqual(parseContentRange('bytes */100'), { length: 100 })
  for (const field of [
    'bytes */*',
    'bytes 9-0/100',
    'bytes 0-100/100',
    'bytes 0-9',
    'pages 0-9/100',
    'bytes=0-9/100',
    'xbytes 0-9/100',
    'bytes 0-9/100x',
  ])
    assert.equal(parseContentRange(field), undefined, field)
})

test('RFC 9110 §14.6 multipart/byteranges', () => {
  const content = '0123456789'
  const ranges = [
    { first: 0, last: 1 },
    { first: 8, last: 9 },
  ]
  const text = writeByteRangeParts(ranges, content.length, 'text/plain', 'x')
    .map(part => (typeof part === 'string' ? part : content.slice(part.first, part.last + 1)))
    .join('')
  assert.equal(
    text,
    [
      '',
      '--x',
      'Content-Type: text/plain',
      'Content-Range: bytes 0-1/10',
      '',
      '01',
      '--x',
      'Content-Type: text/plain',
      'Content-Range: bytes 8-9/10',
      '',
      '89',
      '--x--',
      '',
    ].join('\r\n'),
  )
})
