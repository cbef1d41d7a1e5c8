/**
 * Text that came without a type, from a form, an element or a query, as the JSON that the reader of
 * its field accepts.
 */
import type { Json } from '../../base/objects.ts'
import { type AnyField, type Fields, type Scalar, t } from '../../contract/field.ts'
import { integerText } from '../../contract/lexical/number.ts'
import { compileScalarReader, compileScalarWriter } from '../../contract/lexical/scalar.ts'
import { foldScalar, foldShape, isScalar, type ScalarCases, type ShapeCases } from '../../contract/shape.ts'
import type { Pairs } from '../../http/uri.ts'

/** Text that is not of the type stays text: the reader then says what is wrong with it. */
export const readTextValue = (shape: Scalar, given: string): Json => foldScalar(shape, textReaders, given)

const trimText = (_shape: Scalar, given: string): string => given.trim()
function readWhole(_shape: Scalar, given: string): Json {
  const text = given.trim()
  if (!integerText.test(text)) return text
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text.replace(/^\+/, ''))
}
const [readDouble, writeDouble] = [compileScalarReader({ kind: 'double' }), compileScalarWriter({ kind: 'double' })]
const textReaders: ScalarCases<Json, [given: string]> = {
  string: (_shape, given) => given,
  boolean: (_shape, given) => {
    const text = given.trim()
    if (/^(true|1|on)$/.test(text)) return true
    return /^(false|0)$/.test(text) ? false : text
  },
  int: readWhole,
  long: readWhole,
  decimal: trimText,
  double: (_shape, given) => {
    const text = given.trim()
    const number = readDouble(text)
    if (typeof number !== 'number') return text
    return Number.isFinite(number) ? number : writeDouble(number)
  },
  date: trimText,
  time: trimText,
  dateTime: trimText,
  duration: trimText,
  bytes: trimText,
  enum: trimText,
  id: trimText,
  ref: trimText,
}

type Tree = string | { [name: string]: Tree }

/**
 * application/x-www-form-urlencoded as JSON: `lines[0][product]=p-1` is a member of an item of a
 * list. An empty field that may be absent is absent, and so is an item with nothing in it.
 * Undefined if a name is given twice or cannot be read.
 */
export function readFormValues(pairs: Pairs, fields: Fields): Json | undefined {
  const root: { [name: string]: Tree } = Object.create(null)
  for (const [name, value] of pairs) if (!placeValue(root, name, value)) return undefined
  return membersJson(root, fields)
}

const name = /^[^[\]]+(\[[^[\]]+\])*$/
const deepest = 8

function placeValue(root: { [name: string]: Tree }, path: string, value: string): boolean {
  const steps = name.test(path) ? path.replaceAll(']', '').split('[') : []
  const last = steps.pop()
  if (last === undefined || steps.length > deepest) return false
  let at = root
  for (const step of steps) {
    const next = (at[step] ??= Object.create(null) as { [name: string]: Tree }) // no prototype: any name is a name
    if (typeof next === 'string') return false
    at = next
  }
  if (at[last] !== undefined) return false
  at[last] = value
  return true
}

function membersJson(tree: { [name: string]: Tree }, fields: Fields): Json {
  const members = Object.entries(tree).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === '' && field?.isOptional) return []
    return [[name, field ? valueJson(value, field) : String(value)] as const]
  })
  return Object.fromEntries(members)
}

const valueJson = (value: Tree, { shape }: AnyField): Json =>
  typeof value !== 'string'
    ? foldShape(shape, treeReaders, value)
    : isScalar(shape)
      ? readTextValue(shape, value)
      : value
const treeReaders: ShapeCases<Json, [tree: { [name: string]: Tree }]> = {
  scalar: () => ({}),
  list: ({ item }, tree) =>
    Object.values(tree)
      .filter(isFilled)
      .map(each => valueJson(each, item)),
  object: ({ fields }, tree) => membersJson(tree, fields),
  union: ({ on, of }, tree) => membersJson(tree, { ...of[String(tree[on])], [on]: t.string() }),
}

const isFilled = (tree: Tree): boolean => (typeof tree === 'string' ? tree !== '' : Object.values(tree).some(isFilled))
