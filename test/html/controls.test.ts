/** Forms made of contracts: what stands in them, what is wrong in them, and how they are read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, t } from '../../src/contract/field.ts'
import { changeRows, type FormState, normalizeRows, writeControls } from '../../src/html/controls.ts'
import { parseTextTree, type TextTree, toTextTree } from '../../src/html/text-tree.ts'
import { writeDefinitions, writeValue } from '../../src/html/value-views.ts'
import { readFormValues } from '../../src/rest/formats/untyped-text.ts'

const state: FormState = {
  form: 'f',
  problems: new Map([['lines[0][quantity]', ['must be at least 1']]]),
  redraw: (change, name) => `?${change}=${name}`,
  choices: resource => `/api/${resource}`,
}
const write = (fields: Fields, tree?: TextTree): string => writeControls(fields, tree, state)
/** What a browser would send of these controls, as they stand. */
function readBack(html: string): [string, string][] {
  const plainText = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  const controls = /<(input|textarea|select)\b([^>]*)>(?:((?:(?!<\/\1>)[\s\S])*)<\/\1>)?/g
  return [...html.matchAll(controls)].map(([, tag, attributes = '', content = '']) => {
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1] ?? ''
    if (tag === 'textarea') return [name, plainText(content.replace(/^\n/, ''))]
    if (tag === 'select') return [name, /<option value="([^"]*)" selected>/.exec(content)?.[1] ?? '']
    return [name, plainText(/\bvalue="([^"]*)"/.exec(attributes)?.[1] ?? '')]
  })
}

test('HTML §4.10.7 a choice begins with an empty option, so that one that must be made is made', () => {
  const choice = t.enum('x', 'y')
  const html = write({ must: choice, may: choice.optional() })
  const options = '<option value=""></option><option value="x">x</option><option value="y">y</option></select>'
  assert.ok(html.includes(`<select id="f-must" name="must" required>${options}`), html)
  assert.ok(html.includes(`<select id="f-may" name="may">${options}`), html)
})

test('a pattern is shown as an example where the contract has one', () => {
  const code = t.string({ pattern: '[A-Z]{2}-[0-9]+' })
  assert.match(write({ code }), /in the form \[A-Z\]/)
  const html = write({ code: code.describe('What it is filed under', { example: 'AB-12' }) })
  assert.match(html, /What it is filed under[\s\S]*such as AB-12/)
  assert.doesNotMatch(html, /\[A-Z\]/)
})

test('HTML §4.10.5 each shape has the control that fits it', () => {
  const cases: readonly (readonly [Fields[string], RegExp])[] = [
    [t.string({ max: 20 }), /type="text" maxlength="20"/],
    [t.string({ max: 500 }), /<textarea [^>]*maxlength="500"/],
    [t.int({ min: 1, max: 9 }), /type="number" step="1" min="1" max="9"/],
    [t.decimal(8, 2), /type="number" step="0.01"/],
    [t.decimal(8, 0), /type="number" step="1"/],
    [t.decimal(8, 1), /at most 1 place</],
    [t.bytes(), /in base64</],
    [t.bytes({ encoding: 'hex' }), /in hexadecimal digits</],
    [t.date(), /type="date"/],
    [t.dateTime(), /type="datetime-local" step="1"/],
    [t.time(), /type="time" step="1"/],
    [t.boolean(), /<select [^>]*>.*value="true".*value="false"/],
    [t.ref('products'), /data-choices="\/api\/products"/],
  ]
  for (const [field, expected] of cases) assert.match(write({ a: field }), expected)
})

const fields: Fields = {
  name: t.string(),
  on: t.boolean(),
  many: t.long(),
  price: t.decimal(8, 2),
  real: t.double(),
  day: t.date(),
  at: t.dateTime(),
  zoned: t.dateTime(),
  hour: t.time(),
  wait: t.duration(),
  kind: t.enum('a', 'b'),
  lines: t.list(t.object({ product: t.ref('products'), quantity: t.int(), marks: t.list(t.string()) })),
  pay: t.union('by', { card: { number: t.string() }, cash: {} }),
  nothing: t.object({ inner: t.string() }).optional(),
  none: t.list(t.string()).optional(),
}
const value = {
  name: 'a "quoted" <name> & more',
  on: false,
  many: 9007199254740993n,
  price: '12.50',
  real: Number.POSITIVE_INFINITY,
  day: '2026-11-23',
  at: '2026-11-23T10:20:30Z',
  zoned: '2026-11-23T10:20:30.125+02:00',
  hour: '10:20:30',
  wait: 'P1DT2H',
  kind: 'b',
  lines: [
    { product: 'p-1', quantity: 2, marks: ['x', 'y'] },
    { product: 'p-2', quantity: 3, marks: [] },
  ],
  pay: { by: 'card', number: '4711' },
}

test('the values of an item return from its form unchanged', () => {
  const html = write(fields, toTextTree(fields, value))
  const json = readFormValues(readBack(html), fields)
  assert.deepEqual(json, { ...value, real: 'INF' })
})

test('an optional value is not required, and null returns as null', () => {
  const fields: Fields = {
    deposit: t.decimal(8, 2).nullable(),
    size: t.object({ height: t.int(), name: t.string() }).nullable(),
    kind: t.union('by', { a: { n: t.int() } }).nullable(),
    note: t.string(),
    tags: t.list(t.string()).nullable(),
  }
  const value = { deposit: null, size: null, kind: null, note: '', tags: [] }
  const html = write(fields, toTextTree(fields, value))
  assert.doesNotMatch(html, / required/)
  assert.deepEqual(readFormValues(readBack(html), fields), value)
  const filled = { ...value, deposit: '1.50', size: { height: 2, name: '' }, kind: { by: 'a', n: 1 }, tags: ['x'] }
  assert.deepEqual(readFormValues(readBack(write(fields, toTextTree(fields, filled))), fields), filled)
  assert.match(
    write({ name: t.string({ min: 1 }), code: t.string({ pattern: '[A-Z]*' }) }),
    /name="name" required.*name="code" required/s,
  )
})

test('a text of two lines returns from the browser unchanged', () => {
  const fields = { note: t.string({ max: 3 }), notes: t.list(t.object({ text: t.string() })) }
  const pairs: [string, string][] = [
    ['note', 'a\r\nb'],
    ['notes[0][text]', '\r\n'],
  ]
  assert.deepEqual(readFormValues(pairs, fields), { note: 'a\nb', notes: [{ text: '\n' }] })
})

test('a problem is shown at its control, and the control refers to it', () => {
  const lines = { lines: t.list(t.object({ quantity: t.int() })) }
  const html = write(lines, { lines: { 0: { quantity: '0' } } })
  assert.match(html, /<span class="problem" id="f-lines-0-quantity--problem">Must be at least 1\.<\/span>/)
  assert.match(html, /name="lines\[0\]\[quantity\]" aria-invalid="true" aria-describedby="f-lines-0-quantity--problem"/)
})

test('a text that a control of its type could not hold is kept', () => {
  const html = write({ a: t.int(), b: t.date(), c: t.enum('x') }, { a: 'twelve', b: 'tomorrow', c: 'z"' })
  assert.match(html, /name="a" required type="text" value="twelve"/)
  assert.match(html, /name="b" required type="text" value="tomorrow"/)
  assert.match(html, /<option value="z&quot;" selected>/)
})

test('a list grows and shrinks at any depth; an unknown name changes nothing', () => {
  const tree = { lines: { 0: { product: 'p-1', marks: { 0: 'x' } }, 1: { product: 'p-2' } } }
  assert.deepEqual(changeRows(tree, 'add', 'lines[0][marks]'), {
    lines: { 0: { product: 'p-1', marks: { 0: 'x', 1: '' } }, 1: { product: 'p-2' } },
  })
  assert.deepEqual(changeRows(tree, 'drop', 'lines[0]'), { lines: { 1: { product: 'p-2' } } })
  assert.deepEqual(changeRows(tree, 'drop', 'nowhere[7]'), { ...tree, nowhere: {} })
  assert.deepEqual(changeRows({}, 'add', 'lines'), { lines: { 0: '' } })
})

test('rows without any text are left out, so that a problem finds its row', () => {
  const given = { lines: { 0: { product: '' }, 1: { product: 'p-2' } } }
  assert.deepEqual(normalizeRows(fields, given), { lines: { 0: { product: 'p-2' } } })
})

test('only the fields of the chosen kind are shown', () => {
  const chosen = { pay: fields['pay'] as Fields[string] }
  assert.doesNotMatch(write(chosen), /name="pay\[number\]"/)
  assert.match(write(chosen, { pay: { by: 'card' } }), /name="pay\[number\]"/)
  assert.doesNotMatch(write(chosen, { pay: { by: 'constructor' } }), /name="pay\[number\]"/)
})

test('a name that every object inherits is a name like any other', () => {
  const odd = { constructor: t.string(), valueOf: t.string().optional() }
  assert.doesNotMatch(write(odd), /native code/)
  const tree = parseTextTree([
    ['__proto__[a]', '1'],
    ['constructor', 'x'],
  ])
  assert.equal((tree as { a?: string }).a, undefined)
  assert.doesNotMatch(
    writeDefinitions(odd, { constructor: 'c' }, () => undefined),
    /native code|Value of/,
  )
})

test('a reference leads to what it names, and text is text', () => {
  assert.equal(
    writeValue(t.ref('products'), 'p-1', (resource, id) => `/api/v1/${resource}/${id}`),
    '<a href="/api/v1/products/p-1">p-1</a>',
  )
  assert.equal(
    writeValue(t.string(), '<b>&', () => undefined),
    '&lt;b&gt;&amp;',
  )
  assert.equal(
    writeValue(t.ref('notes'), 'n-1', () => undefined),
    'n-1',
  )
})
