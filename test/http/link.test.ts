import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDisposition, writeDisposition } from '../../src/http/disposition.ts'
import { parseExtValue, writeExtValue } from '../../src/http/ext-value.ts'
import { isFieldName, isFieldValue } from '../../src/http/fields.ts'
import { parseLinks, type WebLink, writeLink, writeLinks } from '../../src/http/link.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const links: readonly [
  title: string,
  field: string,
  links: readonly (readonly [target: string, rel: string, attributes?: object])[],
][] = [
  [
    '§3.5 one',
    '<http://a.example/2>; rel="previous"; title="previous chapter"',
    [['http://a.example/2', 'previous', { title: 'previous chapter' }]],
  ],
  ['§3.5 a relative one', '</>; rel="http://a.example/foo"', [['/', 'http://a.example/foo']]],
  [
    '§3.3 several types',
    '<a>; rel="start http://a.example/rel/x"',
    [
      ['a', 'start'],
      ['a', 'http://a.example/rel/x'],
    ],
  ],
  ['§3.3 the first rel counts', '<a>; rel=next; rel=prev', [['a', 'next']]],
  ['§3.3 a link needs rel', '<a>; title=x', []],
  ['§3.5 title*', "<a>; rel=next; title=x; title*=UTF-8'de'n%c3%a4chste", [['a', 'next', { title: 'nächste' }]]],
  ['§3.4.1 of two titles the first', '<a>; rel=next; title=x; title=y', [['a', 'next', { title: 'x' }]]],
  [
    '§3.5 two',
    '<a>; rel=next , <b>;rel=prev',
    [
      ['a', 'next'],
      ['b', 'prev'],
    ],
  ],
  ['§3   commas and semicolons in a target', '<a,b;c>; rel=next', [['a,b;c', 'next']]],
  [
    '§3   commas in a quoted value',
    '<a>; rel=next; title="x, <b>; rel=prev"',
    [['a', 'next', { title: 'x, <b>; rel=prev' }]],
  ],
  ['B.2  empty elements', ', ,<a>; rel=next,,', [['a', 'next']]],
  ['B.3  an attribute without a value', '<a>; rel=next; crossorigin', [['a', 'next', { crossorigin: '' }]]],
  [
    'B.3  a value without quotes that is not a token',
    '<a>; type=text/html;rel=next , <b>; rel=prev',
    [
      ['a', 'next', { type: 'text/html' }],
      ['b', 'prev'],
    ],
  ],
  ['B.3  white space around =', '<a> ; rel = next', [['a', 'next']]],
  ['B.2  what is malformed ends it', '<a>; rel=next, b; rel=prev, <c>; rel=up', [['a', 'next']]],
  ['§3.3 names and registered types without case', '<a>; REL=Next', [['a', 'next']]],
  ['B.2  text before the target', 'a <b>; rel=next', []],
  ['B.3  a title* that cannot be read', "<a>; rel=next; title=x; title*=koi8-r''y", [['a', 'next', { title: 'x' }]]],
  ['B.3  empty attributes', '<a>;;rel=next;', [['a', 'next']]],
  ['B.3  an attribute after no semicolon', '<a> rel=next', []],
  ['B.3  white space before a quoted value', '<a>; rel= "next"', [['a', 'next']]],
  ['B.2  not closed', '<a; rel=next', []],
  ['__proto__ is a name', '<a>; rel=next; __proto__=x', [['a', 'next', { ['__proto__']: 'x' }]]],
]

for (const [title, field, expected] of links)
  test(`RFC 8288 ${title}`, () => {
    assert.deepEqual(
      parseLinks(field).map(({ target, rel, attributes }) => [target, rel, Object.entries(attributes ?? {})]),
      expected.map(([target, rel, attributes = {}]) => [target, rel, Object.entries(attributes)]),
    )
  })

test('RFC 8288 §3.2 anchor', () => assert.equal(parseLinks('<a>; rel=next; anchor="#x"')[0]?.anchor, '#x'))

test('RFC 8288 §3 a link written', () => {
  const link: WebLink = {
    target: '/o?a=1&b=é>',
    rel: 'next',
    anchor: '/x"',
    attributes: { title: 'nächste', type: 'a/b', 'b c': 'x' },
  }
  assert.equal(
    writeLink(link),
    `</o?a=1&b=%C3%A9%3E>; rel="next"; anchor="/x%22"; title*=UTF-8''n%C3%A4chste; type="a/b"`,
  )
})

test('RFC 8288 a link never splits a field, and is read as it was written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (target, title) => {
      const written = writeLinks([
        { target, rel: 'next', attributes: { title } },
        { target: '/b', rel: 'prev' },
      ])
      assert.ok(isFieldValue(written), written)
      const [next, prev] = parseLinks(written)
      assert.equal(next?.rel, 'next')
      assert.equal(prev?.target, '/b')
      if (title.isWellFormed()) assert.equal(next?.attributes?.['title'], title)
    }),
  )
})

const names: readonly [title: string, name: string | undefined, field: string][] = [
  ['no name', undefined, 'attachment'],
  ['§4.3 a plain name', 'invoice 7.pdf', 'attachment; filename="invoice 7.pdf"'],
  ['§4.3 a quote', 'a"b.pdf', 'attachment; filename="a\\"b.pdf"'],
  [
    '§5   beyond ASCII, both forms',
    '€ rates.pdf',
    'attachment; filename="_ rates.pdf"; filename*=UTF-8\'\'%E2%82%AC%20rates.pdf',
  ],
  ['App D a percent sign, both forms', '50%41.pdf', 'attachment; filename="50_41.pdf"; filename*=UTF-8\'\'50%2541.pdf'],
  ['§7   CR LF', 'a\r\nSet-Cookie: x', 'attachment; filename="a__Set-Cookie: x"'],
  ['§4.3 directories', '../../etc/passwd', 'attachment; filename="passwd"'],
  ['§4.3 directories of the other kind', 'c:\\x\\a.pdf', 'attachment; filename="a.pdf"'],
  ['§4.3 no name at all', 'a/..', 'attachment; filename="_"'],
]

for (const [title, name, field] of names)
  test(`RFC 6266 ${title}`, () => assert.equal(writeDisposition('attachment', name), field))

test('RFC 6266 whatever the name, one field that is read as it was written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), name => {
      const field = writeDisposition('attachment', name)
      assert.ok(isFieldValue(field), field)
      const { filename } = parseDisposition(field)!
      if (!/[\0-\x1f\x7f-\x9f/\\]|^\.*$/.test(name) && name.isWellFormed()) assert.equal(filename, name)
      assert.doesNotMatch(filename!, /[/\\]|^\.*$/)
    }),
  )
})

test('RFC 6266 §4.1 parsed', () => {
  assert.equal(parseDisposition("Attachment; filename=a; filename*=utf-8''b")?.filename, 'b')
  assert.equal(parseDisposition("attachment; filename=a; filename*=utf-8''%ff")?.filename, 'a')
  assert.equal(parseDisposition('attachment; filename="../a"')?.filename, 'a')
  assert.equal(parseDisposition('form-data; name="x"')?.parameters['name'], 'x')
  assert.equal(parseDisposition('attachment; filename')?.filename, undefined)
  assert.equal(parseDisposition('ATTACHMENT ')?.type, 'attachment')
  assert.equal(parseDisposition('attachment x'), undefined)
  assert.equal(parseDisposition('"attachment"'), undefined)
})

const extValues: readonly [text: string, value: string | undefined][] = [
  ["UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", '£ and € rates'],
  ["iso-8859-1'en'%A3%20rates", '£ rates'],
  ["utf-8''%ff", undefined],
  ["utf-8''%f", undefined],
  ["utf-8''a b", undefined],
  ["koi8-r''a", undefined],
  ["x'utf-8''a", undefined],
  ["utf-8''a^b", 'a^b'],
  ['plain', undefined],
]

for (const [text, value] of extValues) test(`RFC 8187 §3.2 ${text}`, () => assert.equal(parseExtValue(text), value))

test('RFC 8187 §3.2 written and parsed', () => {
  assert.equal(writeExtValue("a'(b)*!"), "UTF-8''a%27%28b%29%2A!")
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text =>
      assert.equal(parseExtValue(writeExtValue(text)), text.toWellFormed()),
    ),
  )
})

const values: readonly [value: string, safe: boolean][] = [
  ['', true],
  ['a', true],
  ['a b\tc', true],
  ['é', true],
  [' a', false],
  ['a ', false],
  ['a\r\nb', false],
  ['a\nb', false],
  ['a\n', false],
  ['a\0', false],
  ['a\u007f', false],
  ['€', false],
]

for (const [value, safe] of values)
  test(`RFC 9110 §5.5 ${JSON.stringify(value)}`, () => assert.equal(isFieldValue(value), safe))

test('RFC 9110 §5.1 field names', () =>
  assert.deepEqual(['x-a', 'é', 'a b', 'a:', ''].map(isFieldName), [true, false, false, false, false]))

test('hostile links and dispositions are read in linear time', async () => {
  for (const field of [
    '<a>;rel=a,'.repeat(10_000),
    `<a>${';'.repeat(100_000)}`,
    '<'.repeat(100_000),
    `<a>;rel="${' '.repeat(100_000)}`,
    `<a>;rel="${'a '.repeat(50_000)}"`,
    `a;filename*=${"'".repeat(100_000)}`,
    ' '.repeat(100_000),
  ]) {
    const parseAll = () => {
      parseLinks(field)
      parseDisposition(field)
      isFieldValue(field)
    }
    await assertCpuMsBelow(2000, parseAll, field.slice(0, 10))
  }
})
