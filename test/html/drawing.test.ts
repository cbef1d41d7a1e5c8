/** Drawings and texts for people. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { indentJson, indentXml, shortenText, writeShownRows } from '../../src/html/indent.ts'
import { drawMachine } from '../../src/html/machine-drawing.ts'
import { writeDefinitions } from '../../src/html/value-views.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const machine = { open: { pay: 'paid', drop: 'gone' }, paid: { refund: 'open', drop: 'gone' }, gone: {} }
const stays = { open: ['remind', 'note'], paid: [], gone: [] }
const bills = { name: 'bills', states: ['open', 'paid', 'gone'], machine, stays }

test('A3.4 every state and every transition is drawn; the current state and its transitions are marked', () => {
  const svg = drawMachine(bills, { current: 'paid', offered: ['drop'] })
  assert.deepEqual(
    [...svg.matchAll(/<title>([^<]+)/g)].map(([, title]) => title),
    [
      'pay: open → paid',
      'drop: open → gone',
      'refund: paid → open',
      'drop: paid → gone',
      'remind, note: stays in open',
    ],
  )
  assert.match(svg, /class="state now"><rect[^>]*><\/rect><text[^>]*>● paid/)
  assert.equal(svg.match(/class="edge now"/g)?.length, 1)
  assert.match(
    svg,
    /aria-label="The states of bills: open, paid, gone\. .*remind stays in open.*refund leads from paid to open.*The state is paid now\."/,
  )
  assert.match(svg, /class="state end"><rect/)
})

test('A3.4 a drawing is wider than its place only if its words would be too small', () => {
  const long = { a: { next: 'b' }, b: { next: 'c' }, c: { next: 'd' }, d: {} }
  assert.match(drawMachine(bills), /class="machine"/)
  assert.match(drawMachine({ ...bills, states: Object.keys(long), machine: long, stays: {} }), /class="machine wide"/)
})

test('a value has its own description, and not those of others', () => {
  const fields = { kind: t.enum('cash', 'card').describe('How it is paid.', { values: { cash: 'At the desk.' } }) }
  const describe = (kind: string) => [...writeDefinitions(fields, { kind }, () => undefined).matchAll(/class="hint">([^<]*)/g)].map(([, text]) => text) // biome-ignore format: one line
  assert.deepEqual(describe('cash'), ['How it is paid.\nAt the desk.'])
  assert.deepEqual(describe('card'), ['How it is paid.'])
})

test('A3.4 no two states are drawn at one place, even if some are unreachable', () => {
  const states = ['a', 'b', 'c', 'lost', 'found']
  const svg = drawMachine({
    ...bills,
    states,
    machine: { a: { x: 'b', y: 'c' }, b: {}, c: {}, lost: { z: 'found' }, found: {} },
  })
  const places = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)"/g)].map(([, x, y]) => `${x} ${y}`)
  assert.equal(new Set(places).size, states.length)
})

test('A3.4 boxes and gaps are as wide as their words, and crossing arrows have separate labels', () => {
  const states = ['available', 'under-maintenance', 'lent-to-a-member', 'decommissioned']
  const machine = {
    available: { lend: 'lent-to-a-member', sendToTheWorkshop: 'under-maintenance' },
    'under-maintenance': { scrap: 'decommissioned' },
    'lent-to-a-member': { lose: 'decommissioned' },
    decommissioned: {},
  }
  const svg = drawMachine({ ...bills, states, machine }, { current: 'under-maintenance' })
  const boxes = [...svg.matchAll(/<rect x="(\d+)" y="\d+" width="(\d+)"/g)].map(([, x, width]) => [
    Number(x),
    Number(width),
  ])
  for (const [, width = 0] of boxes) assert.ok(width > '● under-maintenance'.length * 8)
  const [[first = 0, width = 0] = [], [second = 0] = []] = boxes
  assert.ok(second - first - width > 'sendToTheWorkshop'.length * 8)
  const places = (verb: string) =>
    new RegExp(`<text x="(\\d+)" y="(\\d+)"[^>]*>${verb}<`).exec(svg)?.slice(1).map(Number)
  const [[x = 0, y = 0] = [], [otherX = 0, otherY = 0] = []] = [places('lend'), places('sendToTheWorkshop')]
  assert.ok(Math.abs(y - otherY) >= 14, `${y} and ${otherY}: lines of 14 units do not touch`)
  assert.ok(x > 0 && x < otherX)
})

test('a resource without states has no drawing', () => assert.equal(drawMachine({ ...bills, states: [] }), ''))

test('indented JSON has the same tokens: digits, escapes and empty structures stay', () => {
  const json = '{"a":[1,{"b":"x,\\"{y"}],"n":9007199254740993,"e":[],"o":{},"t":true}'
  const text = indentJson(json)
  assert.equal(text.replaceAll(/\n\s*/g, '').replaceAll('": ', '":'), json)
  assert.match(text, /^\{\n {2}"a": \[\n {4}1,\n {4}\{\n {6}"b": "x,\\"\{y"\n {4}\}\n {2}\],/)
})

test('indented XML adds white space only between elements', () => {
  const xml = '<?xml version="1.0"?><a><b>text &lt; more</b><c/><d x="1"><e></e></d></a>'
  assert.equal(
    indentXml(xml),
    '<?xml version="1.0"?>\n<a>\n  <b>text &lt; more</b>\n  <c/>\n  <d x="1">\n    <e></e>\n  </d>\n</a>',
  )
})

test('only the visible rows of a cut text are written, and all of a whole one', () => {
  const writeRows = (rows: readonly string[]) => `{"items":[${rows.join()}],"total":100}`
  for (const length of [1, 9, 40, 399, 400, 401, 5000]) {
    const rows = Array.from({ length: 100 }, (_, i) => `"${String(i).padEnd(length, '.')}"`)
    let written = 0
    const text = writeShownRows(1000, rows, some => {
      written = some.length
      return writeRows(some)
    })
    const all = writeRows(rows)
    assert.equal(shortenText(text, 1000), shortenText(all, 1000), `${length}`)
    assert.ok(written <= Math.max(1, 2 * Math.ceil(1030 / length)), `${written} rows of ${length}`)
  }
})

test('a message of ten megabytes is indented only as far as it is shown', async () => {
  const json = `[${'{"a":[1,{}]},'.repeat(800_000)}1]`
  const xml = `<a>${'<b>x</b>'.repeat(1_200_000)}</a>`
  await assertCpuMsBelow(2000, () => {
    assert.ok(indentJson(json, 1000).length < 1100)
    assert.ok(indentXml(xml, 1000).length < 1100)
  })
  assert.equal(indentJson('{"a":[],"b":{"c":[1]}}'), '{\n  "a": [],\n  "b": {\n    "c": [\n      1\n    ]\n  }\n}')
})
