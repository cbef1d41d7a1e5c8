/** Types of a contract as Standard Schemas: what validates, what it becomes, and what is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t, toStandardSchema } from '../../src/contract/index.ts'

const draft = t.object({
  id: t.id('o'),
  name: t.string({ min: 1, max: 5 }),
  count: t.int({ min: 1 }).optional(),
  total: t.decimal(8, 2),
  big: t.long(),
  raw: t.bytes().optional(),
  lines: t.list(t.object({ product: t.ref('products'), note: t.string().optional().nullable() }), { max: 2 }),
})
const valid = { name: 'desk', total: '12.50', big: 7, lines: [{ product: 'p-1', note: null }] }

/** As a library that knows the specification alone declares it. */
interface KnownSchema<Input, Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path?: readonly PropertyKey[] | undefined }[] }
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}
const inferOutput = <O>({ '~standard': { validate } }: KnownSchema<unknown, O>, value: unknown): O => {
  const result = validate(value)
  if (result.issues)
    throw new Error(result.issues.map(({ message, path = [] }) => `${path.join('.')} ${message}`).join('; '))
  return result.value
}

test('the value of content becomes the value of the contract, with its TypeScript type', () => {
  const made = inferOutput(toStandardSchema(draft), { ...valid, raw: 'AQI=' })
  assert.deepEqual(made, { ...valid, big: 7n, raw: new Uint8Array([1, 2]) })
  const name: string = made.name
  const big: bigint = made.big
  assert.deepEqual([name, big], ['desk', 7n])
  // @ts-expect-error the identifier is the service's: no content has it
  assert.equal(made.id, undefined)
  // @ts-expect-error it may be absent
  assert.throws(() => made.count.toFixed())
  const schema = toStandardSchema(draft)
  const input: NonNullable<(typeof schema)['~standard']['types']>['input'] = valid
  assert.equal(input.big, 7)
})

const rows: readonly (readonly [title: string, change: object, expected: readonly string[]])[] = [
  ['nothing', {}, []],
  ['undefined, which is absent', { count: undefined, lines: [{ product: 'p-1', note: undefined }] }, []],
  ['a member that is missing', { name: undefined }, ['name is required']],
  ['text that is too long', { name: 'a table' }, ['name must have at most 5 characters']],
  ['a member that is unknown', { nam: 'x' }, ['nam is not a known member']],
  ['another type', { total: 12.5 }, ['total must be decimal text']],
  ['a place in a list', { lines: [{ product: 'p-1' }, { product: 'x y' }] }, ['lines.1.product must be an identifier']],
  ['a date of JavaScript', { name: new Date(0) }, ['name must be a string']],
  ['a function', { name: () => 'x' }, ['name must be a string']],
]
for (const [title, change, expected] of rows)
  test(`a problem of a value is reported: ${title}`, () => {
    const { issues = [] } = toStandardSchema(draft)['~standard'].validate({ ...valid, ...change })
    const told = issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    assert.equal(told.length, expected.length, told.join('; '))
    for (const [i, text] of expected.entries()) assert.ok(told[i]?.startsWith(text), `${told[i]}`)
  })

test('a value that is not an object, names of prototypes and thousands of mistakes are reported, and nothing throws', () => {
  const { validate } = toStandardSchema(draft)['~standard']
  for (const value of [undefined, null, 'x', 7, [], Symbol('x'), () => {}, new Map()])
    assert.ok(validate(value).issues, String(value))
  assert.deepEqual(
    validate(JSON.parse('{ "__proto__": { "name": "x" } }')).issues?.map(({ path }) => path.join('.')),
    ['__proto__', 'name', 'total', 'big', 'lines'],
  )
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`m${i}`, i]))
  assert.equal(validate(many).issues?.length, 100)
})

test('a single field has a schema, also if it is optional, nullable or read-only', () => {
  const check = (schema: KnownSchema<unknown, unknown>, value: unknown) => {
    const result = schema['~standard'].validate(value)
    return result.issues ? result.issues.map(({ path, message }) => [path, message]) : result.value
  }
  assert.equal(check(toStandardSchema(t.string().optional()), undefined), undefined)
  assert.deepEqual(check(toStandardSchema(t.string()), undefined), [[[], 'is required']])
  assert.equal(check(toStandardSchema(t.string().nullable()), null), null)
  assert.equal(check(toStandardSchema(t.id('o')), 'o-1'), 'o-1')
})

test('a list without a max holds 1,000 items; with max: Infinity there is no bound', () => {
  const count = (field: Parameters<typeof toStandardSchema>[0], items: number): number => {
    const result = toStandardSchema(field)['~standard'].validate(Array.from({ length: items }, (_, i) => i))
    return 'issues' in result && result.issues ? result.issues.length : 0
  }
  assert.deepEqual([count(t.list(t.int()), 1000), count(t.list(t.int()), 1001)], [0, 1])
  assert.equal(count(t.list(t.int(), { max: Infinity }), 1001), 0)
})
