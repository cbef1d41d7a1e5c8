/** WSDL 2.0 Part 2 §6.8: templates of addresses, matched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileAddressTemplate } from '../../src/http/address-template.ts'
import { assertLinear } from '../support/cost.ts'

const match = (template: string, rest: string) =>
  (compileAddressTemplate(template) ?? assert.fail(`${template} is no template`))(rest)

for (const [clause, template, rest, pairs] of [
  [
    '§6.8.1 values in segments',
    'a/{y}/{m}.html',
    'a/2007/6.html',
    [
      ['y', '2007'],
      ['m', '6'],
    ],
  ],
  [
    '§6.8.1 a name twice',
    '{t}-{t}',
    '1-2',
    [
      ['t', '1'],
      ['t', '2'],
    ],
  ],
  ['§6.8.1 values are decoded', 'a/{x}', 'a/%C3%BC%2F%20', [['x', 'ü/ ']]],
  ['§6.8.1 a value may be empty', 'a/{x}/b', 'a//b', [['x', '']]],
  ['§6.8.1 double braces are braces', 'a{{{x}}}', 'a%7B1%7D', [['x', '1']]],
  ['§6.8.1 a value that is not encoded may have slashes', 'raw/{!p}/end', 'raw/a/b/end', [['p', 'a/b']]],
  [
    '§6.8.2 values in parameters',
    'a?d={d}&e={e}',
    'a?d=1&e=2',
    [
      ['d', '1'],
      ['e', '2'],
    ],
  ],
  [
    '§6.8.2 another separator',
    'a?d={d};e={e}',
    'a?d=1;e=2',
    [
      ['d', '1'],
      ['e', '2'],
    ],
  ],
  [
    '§6.8.2 what is not cited follows',
    'a?d={d}',
    'a?d=1&f=x+y',
    [
      ['d', '1'],
      ['f', 'x y'],
    ],
  ],
  [
    '§6.8.2 what is not cited, with another separator',
    'a/{x}',
    'a/1?f=2;g=3',
    [
      ['x', '1'],
      ['f', '2'],
      ['g', '3'],
    ],
  ],
  [
    'RFC 3986 §3.3 a segment may have separators of parameters',
    'a/{x}',
    'a/R&D;1?f=2',
    [
      ['x', 'R&D;1'],
      ['f', '2'],
    ],
  ],
  [
    'RFC 3986 §3.4 a parameter may have slashes',
    'a?p={p}&q={q}',
    'a?p=/x/y?z&q=/&f=2',
    [
      ['p', '/x/y?z'],
      ['q', '/'],
      ['f', '2'],
    ],
  ],
  ['RFC 3987 §3.1 escapes of the template', 'a%20b%c3%bc/{x}%2F%41', 'a%20b%C3%BC/1%2FA', [['x', '1']]],
  ['RFC 3987 §3.1 escapes of its parameters', 'a?b%26=%20{x}', 'a?b%26=%201', [['x', '1']]],
  ['§6.8.2 no template: parameters alone', '', '?f=2', [['f', '2']]],
  ['§6.8.2 a parameter that is always there', 'a?zone=utc', 'a?zone=utc', []],
] as const)
  test(`${clause}: ${template} of ${rest}`, () => assert.deepEqual(match(template, rest), pairs))

for (const [template, rest] of [
  ['a/{x}', 'b/1'],
  ['a/{x}', 'a/1/2'],
  ['a/{x}.html', 'a/1'],
  ['a?zone=utc', 'a?zone=cet'],
  ['a', 'a&f=1'],
  ['a/{x}', 'a/%'],
  ['a/{x}', 'a/1&f=2/3'],
  ['a/{x}', 'a/%FF'],
  ['', 'a'],
] as const)
  test(`${rest} does not match ${template}`, () => assert.equal(match(template, rest), undefined))

for (const template of ['http://x/{a}', '/a', '../a', '..', '{!a}b', '{a}{b}', 'a{', 'a}', '{}', 'mailto:{a}'])
  test(`${template} is a template that an endpoint cannot serve`, () => {
    assert.equal(compileAddressTemplate(template), undefined)
  })

test('an address is matched in linear time', () => {
  assertLinear(length => {
    const found = compileAddressTemplate('{a}-{b}-{c}-{d}-{e}.html') ?? assert.fail('no template')
    const rest = '-'.repeat(length * 100)
    return () => void assert.equal(found(rest), undefined)
  }, 2000)
})
