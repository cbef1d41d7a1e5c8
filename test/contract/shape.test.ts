/**
 * The kinds of shape are distinguished in one place, by tables that the compiler holds to be total.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type AnyField, type Fields, t } from '../../src/contract/field.ts'
import { innerFields, innermostShape, isScalar, mapShape } from '../../src/contract/shape.ts'
import { codeOf, sourceFiles, sourceOf, sourceRoot } from '../support/sources.ts'

const root = join(sourceRoot, '..')
const copy = mkdtempSync(join(tmpdir(), 'diglot-shape-'))
after(() => rmSync(copy, { recursive: true, force: true }))
cpSync(sourceRoot, join(copy, 'src'), { recursive: true })
for (const file of ['package.json', 'tsconfig.json']) cpSync(join(root, file), join(copy, file))
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
writeFileSync(join(copy, 'tsconfig.new.json'), '{ "extends": "./tsconfig.json", "include": ["src"] }')

/** The lines that do not compile once a union of `field.ts` has one member more. */
function namedByCompiler(union: 'Scalar' | 'Shape', member: string): ReadonlySet<string> {
  const fields = sourceOf('contract/field.ts')
  const patched = fields.replace(`export type ${union} =\n`, `export type ${union} =\n  | ${member}\n`)
  assert.notEqual(patched, fields)
  writeFileSync(join(copy, 'src/contract/field.ts'), patched)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '--noEmit', '-p', 'tsconfig.new.json'], {
    cwd: copy,
    encoding: 'utf8',
  })
  return new Set([...stdout.matchAll(/^src[\\/](.+?)\((\d+),\d+\): error/gm)].map(tablePlace))
}
const tablePlace = ([, file = '', line = '']: RegExpExecArray): string => `${file.replaceAll('\\', '/')}:${line}`

/** Where tables of cases begin, by the way that they are written. */
const placesOf = (table: RegExp): readonly string[] =>
  sourceFiles.flatMap(file =>
    [...sourceOf(file).matchAll(table)].map(
      ({ index }) => `${file}:${sourceOf(file).slice(0, index).split('\n').length}`,
    ),
  )
const kinds = [
  {
    title: 'a scalar',
    union: 'Scalar',
    member: "{ readonly kind: 'colour' }",
    table: /\bconst \w+: (?:Readonly<Record<Scalar\['kind'\]|ScalarCases<)[\s\S]*?> = \{$/gm,
    tablesMin: 17,
  },
  {
    title: 'a structure',
    union: 'Shape',
    member: "{ readonly kind: 'tuple'; readonly of: readonly AnyField[] }",
    table: /\bconst \w+: ShapeCases<[\s\S]*?> = \{$|\{(?<=\bfoldShape(?:<[^()]*>)?\(\s*\w+(?:\.\w+)*,\s*\{)/gm,
    tablesMin: 27,
  },
] as const
for (const { title, union, member, table, tablesMin } of kinds)
  test(`a new kind of value, ${title}, compiles only once every table has its case`, () => {
    const tables = placesOf(table)
    assert.ok(tables.length >= tablesMin, `${tables.length} tables were found`)
    const named = namedByCompiler(union, member)
    assert.deepEqual(
      tables.filter(place => !named.has(place)),
      [],
    )
  })

test('only contract/shape.ts distinguishes the kinds', () => {
  const byHand = /\bshape\??\.kind\s*[!=]==\s*'(?:list|map|object|union)'|\bswitch \((?:\w+\.)*shape\.kind\)/
  const files = sourceFiles.filter(file => byHand.test(codeOf(file)))
  assert.deepEqual(files, ['contract/shape.ts'])
})

const name = { name: t.string() }
const parts: readonly (readonly [title: string, field: AnyField, inner: readonly Fields[], kind: string])[] = [
  ['a scalar', t.int(), [], 'int'],
  ['a list of scalars', t.list(t.ref('x')), [], 'ref'],
  ['a list of lists of objects', t.list(t.list(t.object(name))), [name], 'object'],
  ['a map of objects', t.map(t.object(name)), [name], 'map'],
  ['an object', t.object(name), [name], 'object'],
  ['a union', t.union('by', { a: name, b: {} }), [name, {}], 'union'],
]
for (const [title, { shape }, inner, kind] of parts)
  test(`the parts of ${title}`, () => {
    assert.deepEqual(innerFields(shape), inner)
    assert.equal(innermostShape(shape).kind, kind)
    assert.equal(isScalar(shape), title === 'a scalar')
  })

const same = { item: (field: AnyField) => field, fields: (fields: Fields) => fields }
const optional = (field: AnyField): AnyField => field.optional()
const all = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, optional(field)]))
for (const [title, { shape }, inner] of parts)
  test(`a fold returns the same shape if nothing changes in ${title}, else a new one`, () => {
    assert.equal(mapShape(shape, same), shape)
    const changed = mapShape(shape, { item: optional, fields: all })
    assert.equal(changed === shape, isScalar(shape))
    assert.deepEqual(innerFields(changed), ['list', 'map'].includes(shape.kind) ? inner : inner.map(all))
  })

test('an object whose fields have changed gets another name', () => {
  const { shape } = t.object(name, 'Line')
  const rename = (line: string): string => `${line}Draft`
  assert.deepEqual(mapShape(shape, { ...same, fields: all, rename }), {
    kind: 'object',
    name: 'LineDraft',
    fields: all(name),
  })
  assert.equal(mapShape(shape, { ...same, rename }), shape)
})
