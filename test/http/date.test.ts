import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDate, writeDate } from '../../src/http/date.ts'

const time = Date.UTC(1994, 10, 6, 8, 49, 37)
const rows: readonly [title: string, text: string, time: number | undefined, now?: number][] = [
  ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT', time],
  ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', time],
  ['asctime', 'Sun Nov  6 08:49:37 1994', time],
  ['asctime, two digits', 'Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
  [
    'RFC 850, 50 years ahead',
    'Friday, 06-Nov-76 08:49:37 GMT',
    Date.UTC(2076, 10, 6, 8, 49, 37),
    Date.UTC(2026, 10, 6, 8, 49, 37),
  ],
  [
    'RFC 850, 50 years and a second ahead is in the past',
    'Saturday, 06-Nov-76 08:49:37 GMT',
    Date.UTC(1976, 10, 6, 8, 49, 37),
    Date.UTC(2026, 10, 6, 8, 49, 36),
  ],
  [
    'RFC 850, 51 years ahead is in the past',
    'Sunday, 06-Nov-77 08:49:37 GMT',
    Date.UTC(1977, 10, 6, 8, 49, 37),
    Date.UTC(2026, 0),
  ],
  ['RFC 850, without a clock', 'Sunday, 06-Nov-70 08:49:37 GMT', Date.UTC(1970, 10, 6, 8, 49, 37)],
  ['RFC 850, without a clock', 'Sunday, 06-Nov-69 08:49:37 GMT', Date.UTC(2069, 10, 6, 8, 49, 37)],
  ['RFC 850, with something before', ' Sunday, 06-Nov-94 08:49:37 GMT', undefined],
  ['RFC 850, with something after', 'Sunday, 06-Nov-94 08:49:37 GMT ', undefined],
  ['asctime, with something before', ' Sun Nov  6 08:49:37 1994', undefined],
  ['asctime, with something after', 'Sun Nov  6 08:49:37 1994 ', undefined],
  ['a leap day', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
  ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ['a year below 100', 'Mon, 01 Jan 0001 00:00:00 GMT', new Date('0001-01-01T00:00:00Z').getTime()],
  ['no leap day', 'Wed, 29 Feb 2023 00:00:00 GMT', undefined],
  ['day 0', 'Sun, 00 Nov 1994 08:49:37 GMT', undefined],
  ['no such month', 'Sun, 06 Foo 1994 08:49:37 GMT', undefined],
  ['hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT', undefined],
  ['second 61', 'Sun, 06 Nov 1994 08:49:61 GMT', undefined],
  ['case matters', 'sun, 06 nov 1994 08:49:37 gmt', undefined],
  ['another zone', 'Sun, 06 Nov 1994 08:49:37 UTC', undefined],
  ['an offset', 'Sun, 06 Nov 1994 08:49:37 +0000', undefined],
  ['one digit', 'Sun, 6 Nov 1994 08:49:37 GMT', undefined],
  ['ISO 8601', '1994-11-06T08:49:37Z', undefined],
  ['two dates', 'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT', undefined],
  ['0', '0', undefined],
  ['nothing', '', undefined],
]

for (const [title, text, expected, now] of rows)
  test(`RFC 9110 §5.6.7 ${title}`, () => assert.equal(parseDate(text, now), expected))

test('RFC 9110 §5.6.7 a date is written as IMF-fixdate, without its milliseconds', () => {
  assert.equal(writeDate(time + 999), 'Sun, 06 Nov 1994 08:49:37 GMT')
  assert.equal(writeDate(time + 1000), 'Sun, 06 Nov 1994 08:49:38 GMT')
})

test('RFC 9110 §5.6.7 a date written and parsed is the same second', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), second => {
      assert.equal(parseDate(writeDate(second * 1000)), second * 1000)
    }),
  )
})
