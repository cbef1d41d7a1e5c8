import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { memoizeByText } from '../../src/base/memo.ts'
import { parseMediaType, writeMediaType } from '../../src/http/media-type.ts'
import {
  acceptableEncodings,
  acceptableLanguages,
  acceptableTypes,
  negotiateEncoding,
  negotiateLanguage,
  negotiateType,
} from '../../src/http/negotiate.ts'
import { suites } from '../suites.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const both = ['application/json', 'text/html']
const versions = ['application/vnd.orders.v2+json', 'application/vnd.orders.v1+json']

const accept: readonly [
  title: string,
  field: string | undefined,
  offers: readonly string[],
  best: string | undefined,
][] = [
  ['RFC 9110 §12.5.1 no field accepts anything: the first offer', undefined, both, 'application/json'],
  ['RFC 9110 §12.5.1 an empty field asks for nothing', '', both, 'application/json'],
  ['RFC 9110 §12.5.1 an exact type (A4.17)', 'text/html', both, 'text/html'],
  ['RFC 9110 §12.5.1 what none of the offers is (A4.17)', 'image/png', both, undefined],
  ['RFC 9110 §12.5.1 type/* accepts any subtype', 'text/*', both, 'text/html'],
  ['RFC 9110 §12.5.1 */* accepts anything', '*/*', both, 'application/json'],
  ['RFC 9110 §12.5.1 */json is not a range', '*/json, text/html;q=0.5', both, 'text/html'],
  ['RFC 9110 §12.4.2 the higher quality wins over our order', 'application/json;q=0.5, text/html', both, 'text/html'],
  ['RFC 9110 §12.4.2 q=0 excludes (cowboy, Django REST)', 'application/json;q=0, */*', both, 'text/html'],
  ['RFC 9110 §12.4.2 q=0 for all there is', '*/*;q=0', both, undefined],
  ['RFC 9110 §12.4.2 q=0.000 is 0', 'application/json;q=0.000', both, undefined],
  ['RFC 9110 §12.4.2 three digits count', 'application/json;q=0.001, text/html;q=0.002', both, 'text/html'],
  [
    'RFC 9110 §12.5.1 a type has precedence over type/*',
    'text/*;q=1, text/html;q=0.1, */*;q=0.2',
    both,
    'application/json',
  ],
  ['RFC 9110 §12.5.1 a wildcard with a higher quality wins', 'text/html;q=0.5, */*', both, 'application/json'],
  ['RFC 9110 §12.5.1 equal quality: a named type is preferred', 'text/html, */*', both, 'text/html'],
  ['equal quality and precision: our order, not the client’s', 'text/html, application/json', both, 'application/json'],
  ['RFC 9110 §8.3.1 types are case-insensitive', 'TEXT/HTML', both, 'text/html'],
  ['RFC 9110 §12.5.1 Q is q', 'application/json;Q=0, text/html', both, 'text/html'],
  [
    'RFC 9110 §12.5.1 the weight may come before a parameter',
    'text/html;q=0;level=1, */*',
    ['text/html;level=1'],
    undefined,
  ],
  ['RFC 9110 §12.5.1 a parameter must be there', 'text/html;level=1', ['text/html'], undefined],
  ['RFC 9110 §12.5.1 and equal', 'text/html;level=1', ['text/html;level=2', 'text/html;level=1'], 'text/html;level=1'],
  [
    'RFC 9110 §12.5.1 a quoted value is the same value',
    'text/html;level="1"',
    ['text/html;level=1'],
    'text/html;level=1',
  ],
  [
    'RFC 9110 §12.5.1 more parameters are more specific',
    'text/html;a=1;q=0.9, text/html;a=1;b=2;q=0',
    ['text/html;a=1;b=2'],
    undefined,
  ],
  ['charset=utf-8 asks for what is so anyway', 'application/json; charset=UTF-8', both, 'application/json'],
  ['another charset is not', 'application/json;charset=iso-8859-1', both, undefined],
  ['A9.2 the version is in the name', 'application/vnd.orders.v1+json', versions, 'application/vnd.orders.v1+json'],
  ['RFC 9110 §5.6.1.2 empty elements', ', ,text/html,,', both, 'text/html'],
  ['RFC 9110 §5.6.3 white space around ; and ,', 'text/html ;\tq=0.2 ,\tapplication/json ; q=0.1', both, 'text/html'],
  ['RFC 9110 §5.6.6 an empty parameter', 'text/html;;q=0.5;, */*;q=0.1', both, 'text/html'],
  [
    'RFC 9110 §5.6.4 a comma in a quoted-string',
    'text/html;a="x,text/plain", */*;q=0.1',
    ['text/plain', 'a/b'],
    'text/plain',
  ],
  ['a malformed element is ignored', 'html, text/html', both, 'text/html'],
  ['q=2 is malformed', 'application/json;q=2, text/html;q=0.1', both, 'text/html'],
  ['q=1e-1 is malformed', 'application/json;q=1e-1, text/html;q=0.05', both, 'text/html'],
  ['q=+0.5 is malformed', 'application/json;q=+0.5, text/html;q=0.05', both, 'text/html'],
  [
    'a range twice: the quality that is better for it',
    'application/json;q=0.9, application/json;q=0.1, text/html;q=0.5',
    both,
    'application/json',
  ],
  [
    'a range twice, the other way',
    'application/json;q=0.1, application/json;q=0.9, text/html;q=0.5',
    both,
    'application/json',
  ],
  ['q=x is malformed', 'application/json;q=x, text/html;q=0.1', both, 'text/html'],
  ['a field without a readable element is ignored', '!!,;q=0', both, 'application/json'],
  ['HttpURLConnection’s default', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', both, 'text/html'],
  ['Chromium’s field', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', both, 'text/html'],
  ['no offers', '*/*', [], undefined],
]

for (const [title, field, offers, best] of accept)
  test(`Accept: ${title}`, () => assert.equal(negotiateType(field, offers), best))

const codings = ['br', 'gzip', 'identity']
const encoding: readonly [
  title: string,
  field: string | undefined,
  offers: readonly string[],
  best: string | undefined,
][] = [
  ['RFC 9110 §12.5.3 no field: identity, the one that all read', undefined, codings, 'identity'],
  ['RFC 9110 §12.5.3 an empty field: identity', '', codings, 'identity'],
  ['RFC 9110 §12.5.3 a coding that is named (A4.18)', 'gzip', codings, 'gzip'],
  ['RFC 9110 §12.5.3 our order among equals', 'gzip, br', codings, 'br'],
  ['RFC 9110 §12.5.3 quality first', 'gzip, br;q=0.9', codings, 'gzip'],
  ['RFC 9110 §12.5.3 q=0 excludes', 'br;q=0, gzip', codings, 'gzip'],
  ['RFC 9110 §12.5.3 * accepts what is not named', '*', codings, 'br'],
  ['RFC 9110 §12.5.3 * leaves what is named', 'br;q=0, *', codings, 'gzip'],
  ['RFC 9110 §12.5.3 *;q=0 excludes identity too', '*;q=0', codings, undefined],
  ['RFC 9110 §12.5.3 identity;q=0 alone', 'identity;q=0', codings, undefined],
  ['RFC 9110 §12.5.3 identity;q=0 with another', 'identity;q=0, gzip;q=0.1', codings, 'gzip'],
  ['RFC 9110 §12.5.3 a more specific identity beats *;q=0', 'identity;q=0.5, *;q=0', codings, 'identity'],
  ['RFC 9110 §12.5.3 identity by its quality', 'gzip;q=0.2, identity;q=0.5', codings, 'identity'],
  ['RFC 9110 §12.5.3 identity not named is acceptable', 'zstd', codings, 'identity'],
  ['RFC 9110 §12.5.3 the smallest weight is before identity not named', 'gzip;q=0.001', codings, 'gzip'],
  ['RFC 9110 §8.4.1.3 x-gzip is gzip', 'x-gzip', codings, 'gzip'],
  ['RFC 9110 §8.4.1 codings are case-insensitive', 'GZIP', codings, 'gzip'],
  ['a malformed element is ignored', 'gzip;q=9, br;q=0.1', codings, 'br'],
  ['nor two words', 'gzip x, br;q=0.1', codings, 'br'],
  ['nor a parameter without a value', 'gzip;q, br;q=0.1', codings, 'br'],
  ['nor a weight of nothing', ';q=1, br;q=0.1', codings, 'br'],
]

for (const [title, field, offers, best] of encoding)
  test(`Accept-Encoding: ${title}`, () => assert.equal(negotiateEncoding(field, offers), best))

const tags = ['en', 'de', 'de-AT', 'pt-BR'] as const
const language: readonly [title: string, field: string | undefined, best: string][] = [
  ['RFC 9110 §12.5.4 no field: our first', undefined, 'en'],
  ['RFC 9110 §12.5.4 never fails', 'ja', 'en'],
  ['RFC 9110 §12.5.4 never fails, though all is excluded', '*;q=0', 'en'],
  ['RFC 9110 §12.4.2 never fails, and not with what is excluded', 'en;q=0', 'de'],
  ['RFC 9110 §12.4.2 never fails, though each is excluded', 'en;q=0, de;q=0, pt;q=0', 'en'],
  ['RFC 4647 §2.1 case-insensitive', 'DE', 'de'],
  ['RFC 4647 §3.4 look-up shortens the range', 'de-CH-1996', 'de'],
  ['RFC 4647 §3.4 the longest that fits', 'de-at-1996', 'de-AT'],
  ['RFC 4647 §3.3.1 a range covers longer tags', 'pt', 'pt-BR'],
  ['RFC 4647 §3.3.1 at a hyphen only', 'p', 'en'],
  ['RFC 9110 §12.5.4 quality', 'en;q=0.2, de;q=0.8', 'de'],
  ['RFC 9110 §12.4.2 q=0 excludes', 'de;q=0, *', 'en'],
  ['RFC 9110 §12.4.2 q=0 of a longer tag leaves the shorter', 'de-AT;q=0, de', 'de'],
  ['RFC 9110 §12.4.2 q=0 of a longer tag leaves the shorter to *', 'de-CH;q=0, en;q=0.5, *', 'de'],
  ['RFC 4647 §3.4 * accepts anything else', 'de-CH;q=0.1, *;q=0.5', 'en'],
]

for (const [title, field, best] of language)
  test(`Accept-Language: ${title}`, () => assert.equal(negotiateLanguage(field, tags), best))

test('RFC 9110 §12.4.2 no negotiation ever chooses what q=0 excludes', () => {
  const type = fc.constantFrom('a/x', 'a/y', 'b/x', 'b/y')
  const range = fc.constantFrom('a/x', 'a/y', 'b/x', 'b/y', 'a/*', 'b/*', '*/*')
  const weighted = fc.tuple(range, fc.constantFrom('0', '0.1', '0.5', '1'))
  fc.assert(
    fc.property(fc.array(weighted), fc.uniqueArray(type), (ranges, offers) => {
      const field = ranges.map(([range, q]) => `${range};q=${q}`).join(', ')
      const chosen = negotiateType(field, offers)
      if (chosen === undefined || ranges.length === 0) return
      const named = ranges.filter(([range]) => range === chosen).map(([, q]) => q)
      assert.ok(named.length === 0 || named.some(q => q !== '0'), `${field} → ${chosen}`)
      assert.equal(acceptableTypes(field, [chosen])[0], chosen, 'what is chosen among many is acceptable alone')
    }),
  )
})

test('RFC 9110 §8.3.1 a media type written and parsed is the same', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.+-]{0,9}$/)
  const value = fc.stringMatching(/^[\t -~]{0,12}$/)
  fc.assert(
    fc.property(name, name, fc.dictionary(name, value, { noNullPrototype: false }), (type, subtype, given) => {
      const essence = `${type}/${subtype}`
      const read = parseMediaType(writeMediaType({ essence, parameters: given }))
      assert.equal(read?.essence, essence)
      assert.deepEqual({ ...read?.parameters }, { ...given })
    }),
  )
})

const mediaTypes: readonly [text: string, essence: string | undefined, suffix?: string][] = [
  ['application/json', 'application/json', ''],
  ['application/vnd.a.v1+json; charset=utf-8', 'application/vnd.a.v1+json', 'json'],
  ['Text/HTML;Charset="utf-8"', 'text/html', ''],
  ['multipart/related; boundary="a b"; type="application/xop+xml"', 'multipart/related', ''],
  ['text/html;', 'text/html', ''],
  [' text/html ', 'text/html', ''],
  ['application/+json', 'application/+json', 'json'],
  ['text', undefined],
  ['text/', undefined],
  ['/html', undefined],
  ['text/html; charset', undefined],
  ['text/html; charset=', undefined],
  ['text/html; charset =utf-8', undefined],
  ['text/html; charset="utf-8', undefined],
  ['text/html; charset="a\u0000b"', undefined],
  ['text/html; charset=utf-8; charset=utf-7', undefined],
  ['text/html, text/plain', undefined],
  ['text/html charset=utf-8', undefined],
  ['', undefined],
]

for (const [text, essence, suffix] of mediaTypes)
  test(`RFC 9110 §8.3.1 media-type ${JSON.stringify(text)}`, () => {
    assert.equal(parseMediaType(text)?.essence, essence)
    assert.equal(parseMediaType(text)?.suffix, suffix)
  })

interface Vector {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  readonly args: readonly (readonly string[])[]
  readonly result: string | readonly string[] | null
}

const folder = suites('content-negotiation')
const vectors: readonly Vector[] =
  folder === undefined ? [] : JSON.parse(readFileSync(`${folder}/negotiator-vectors.json`, 'utf8'))

/** Where the vectors of `negotiator` differ from RFC 9110, or the RFC leaves it to the server. */
function unaskedReason({ method, args, result }: Vector, field = ''): string | undefined {
  if (/^charsets?$/.test(method)) return 'Accept-Charset is deprecated and ignored (RFC 9110 §12.5.2)'
  if (args.length === 0) return 'without offers there is nothing to choose from here'
  if (/;\s*(\w+)=[^,]*;\s*\1=/i.test(field)) return 'a parameter that comes twice is malformed here (grammar.ts)'
  if (method === 'language' && result === null) return 'RFC 9110 §12.5.4: it answers with the first offer then'
  return undefined
}

/**
 * RFC 9110 §12.5.1 gives the order of a client's ranges no meaning: where two offers are as welcome
 * as each other, ours decides.
 */
function assertOrder(
  list: readonly string[],
  result: readonly string[],
  choose: (offers: string[]) => string | undefined,
) {
  assert.deepEqual([...list].sort(), [...result].sort())
  for (const [i, first] of list.entries())
    for (const second of list.slice(i + 1))
      if (result.indexOf(first) > result.indexOf(second))
        assert.deepEqual([choose([first, second]), choose([second, first])], [first, second])
}
for (const vector of vectors) {
  const { name, headers, method, args, result } = vector
  const field = headers['accept'] ?? headers['accept-encoding'] ?? headers['accept-language']
  test(`negotiator: ${name}`, { skip: unaskedReason(vector, field) ?? false }, () => {
    const found = answer(method, field, args[0] ?? [])
    const choose = (offers: readonly string[]) => [answer(method, field, offers) ?? []].flat()[0]
    if (Array.isArray(found) && Array.isArray(result)) return assertOrder(found, result, choose)
    if (typeof found === 'string' && typeof result === 'string')
      return assertOrder([found, result], [result, found], choose)
    assert.deepEqual(found, result)
  })
}

function answer(method: string, field: string | undefined, offers: readonly string[]) {
  assert.match(method, /^(?:mediaType|encoding|language)s?$/, 'not a question that this test can ask')
  const list = method.startsWith('mediaType')
    ? acceptableTypes(field, offers)
    : method.startsWith('encoding')
      ? acceptableEncodings(field, offers)
      : acceptableLanguages(field, offers)
  if (method.endsWith('s')) return list
  if (method === 'language' && offers[0] !== undefined) return negotiateLanguage(field, [offers[0], ...offers.slice(1)])
  return list[0] ?? null
}

test('negotiation remembers few fields, and no long ones', () => {
  let asked = 0
  const length = memoizeByText(
    text => {
      asked++
      return text.length
    },
    2,
    3,
  )
  const ask = (...texts: readonly string[]) => {
    asked = 0
    for (const text of texts) assert.equal(length(text), text.length)
    return asked
  }
  assert.equal(ask('a', 'a', 'b', 'a', 'b'), 2)
  assert.equal(ask('c', 'a'), 2, 'a third starts anew')
  assert.equal(ask('long', 'long'), 2, 'a long one is not kept')
})

test('hostile fields are read in linear time', async () => {
  for (const field of [
    'a/b,'.repeat(8000),
    'a/b;'.repeat(8000),
    ','.repeat(32_000),
    `a/b;x="${'\\"'.repeat(16_000)}`,
    `"${','.repeat(32_000)}`,
  ]) {
    await assertCpuMsBelow(2000, () => negotiateType(field, both), field.slice(0, 5))
  }
})

test('RFC 9110 §5.6.4 a quoted-string holds what lies beyond DEL, and no control but a tab', () => {
  for (const text of ['\x7f', '\x1f', '\0', '\\\x7f']) assert.equal(parseMediaType(`text/plain;a="${text}"`), undefined)
  for (const text of ['\x80', '\xff', '~', '\t', ' ']) assert.ok(parseMediaType(`text/plain;a="${text}"`), text)
})
