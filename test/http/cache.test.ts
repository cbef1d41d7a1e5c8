import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  currentAge,
  freshnessLifetime,
  isFresh,
  matchesVary,
  parseCacheControl,
  writeCacheControl,
  writeVary,
} from '../../src/http/cache.ts'
import { writeDate } from '../../src/http/date.ts'
import { parseRetryAfter, parseTokens, writeRetryAfter } from '../../src/http/fields.ts'

const controls: readonly [title: string, field: string, directives: Record<string, string | true>][] = [
  ['§5.2 directives', 'public, max-age=60', { public: true, 'max-age': '60' }],
  ['§5.2 case-insensitive', 'No-Cache', { 'no-cache': true }],
  ['§5.2 a quoted argument', 'private="set-cookie, x", no-store', { private: 'set-cookie, x', 'no-store': true }],
  ['§5.2 both forms of an argument', 'max-age="60"', { 'max-age': '60' }],
  ['§4.2.1 the first counts', 'max-age=1, max-age=2', { 'max-age': '1' }],
  ['§5.2.3 extensions', 'community="UCI", immutable', { community: 'UCI', immutable: true }],
  ['malformed ones are left out', 'max-age=, =1, a b, no-store', { 'no-store': true }],
  ['__proto__ is a name', '__proto__=1', { ['__proto__']: '1' }],
  ['nothing', '', {}],
]

for (const [title, field, directives] of controls)
  test(`RFC 9111 ${title}`, () =>
    assert.deepEqual(Object.entries(parseCacheControl(field)), Object.entries(directives)))

test('RFC 9111 §5.2 Cache-Control written (A1.3)', () => {
  assert.equal(
    writeCacheControl({
      private: true,
      'no-cache': 'set-cookie, x',
      'max-age': 0,
      public: false,
      immutable: undefined,
    }),
    'private, no-cache="set-cookie, x", max-age=0',
  )
  assert.equal(writeCacheControl({ private: 'set-cookie', 'no-cache': 'x' }), 'private="set-cookie", no-cache="x"')
})

const now = Date.UTC(2026, 10, 21, 12)
const day = 86_400_000
const lifetimes: readonly [
  title: string,
  fields: Record<string, string>,
  shared: boolean,
  lifetime: number | undefined,
][] = [
  ['max-age', { 'cache-control': 'max-age=60' }, false, 60_000],
  ['s-maxage in a shared cache', { 'cache-control': 'max-age=60, s-maxage=5' }, true, 5000],
  ['s-maxage elsewhere', { 'cache-control': 'max-age=60, s-maxage=5' }, false, 60_000],
  [
    'max-age before Expires',
    { 'cache-control': 'max-age=60', expires: writeDate(now + day), date: writeDate(now) },
    false,
    60_000,
  ],
  ['Expires less Date', { expires: writeDate(now + day), date: writeDate(now) }, false, day],
  ['Expires: 0', { expires: '0', date: writeDate(now) }, false, 0],
  ['Expires before Date', { expires: writeDate(now - day), date: writeDate(now) }, false, 0],
  ['an invalid max-age means stale', { 'cache-control': 'max-age=1.5' }, false, 0],
  ['max-age beyond 2^31', { 'cache-control': 'max-age=99999999999999999999' }, false, 2_147_483_648_000],
  ['no directive', {}, false, undefined],
]

for (const [title, fields, shared, lifetime] of lifetimes)
  test(`RFC 9111 §4.2.1 freshness lifetime: ${title}`, () => assert.equal(freshnessLifetime(fields, shared), lifetime))

const ages: readonly [title: string, fields: Record<string, string>, age: number][] = [
  ['the time it was kept here', { date: writeDate(now) }, 10_000],
  ['a Date in the past', { date: writeDate(now - 5000) }, 15_000],
  ['a Date in the future', { date: writeDate(now + 5000) }, 10_000],
  ['Age, and the time the request took', { date: writeDate(now), age: '30' }, 42_000],
  ['an invalid Age', { date: writeDate(now), age: 'x' }, 12_000],
  ['the first Age of two', { date: writeDate(now), age: '30, 90' }, 42_000],
]

for (const [title, fields, age] of ages)
  test(`RFC 9111 §4.2.3 age: ${title}`, () => {
    const took = title.includes('Age') ? 2000 : 0
    assert.equal(currentAge(fields, now - took, now, now + 10_000), age)
  })

test('RFC 9111 §4.2 fresh while its age is below its lifetime', () => {
  const fields = { 'cache-control': 'max-age=60', date: writeDate(now) }
  assert.equal(isFresh(fields, false, now, now, now + 59_000), true)
  assert.equal(isFresh(fields, false, now, now, now + 60_000), false)
  assert.equal(isFresh({ ...fields, 'cache-control': 'max-age=60, no-cache' }, false, now, now, now), false)
  assert.equal(isFresh({ date: writeDate(now) }, false, now, now, now), false)
})

test('RFC 9110 §12.5.5 Vary names each field once (A4.19)', () => {
  assert.equal(writeVary('Accept', undefined, 'accept-encoding, ACCEPT', 'Prefer'), 'Accept, accept-encoding, Prefer')
  assert.equal(writeVary('Accept', 'Prefer, *'), '*')
  assert.equal(writeVary(), '')
})

test('RFC 9111 §4.1 a response answers requests with the same selecting fields', () => {
  assert.equal(matchesVary('Accept', { accept: 'a/b,  c/d' }, { accept: 'a/b,c/d' }), true)
  assert.equal(matchesVary('Accept', { accept: 'a/b' }, {}), false)
  assert.equal(matchesVary('Accept', {}, {}), true)
  assert.equal(matchesVary(undefined, { accept: 'a/b' }, { accept: 'c/d' }), true)
  assert.equal(matchesVary('*', {}, {}), false)
})

const retries: readonly [field: string, wait: number | undefined][] = [
  ['120', 120_000],
  ['0', 0],
  [writeDate(now + 5000), 5000],
  [writeDate(now - 5000), 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
]

for (const [field, wait] of retries)
  test(`RFC 9110 §10.2.3 Retry-After: ${field}`, () => assert.equal(parseRetryAfter(field, now), wait))

test('RFC 9110 §10.2.3 Retry-After is whole seconds, rounded up (A4.22)', () => {
  assert.deepEqual([0.2, 1, 1.0001, -5].map(writeRetryAfter), ['1', '1', '2', '0'])
})

test('RFC 9110 §8.4 Content-Encoding is a list of tokens', () => {
  assert.deepEqual(parseTokens('gzip, BR'), ['gzip', 'br'])
  assert.deepEqual(parseTokens(' , '), [])
  assert.equal(parseTokens('gzip;q=1'), undefined)
})
