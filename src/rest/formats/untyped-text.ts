/**
 * Text that came without a type, from a form, an element or a query, as the JSON that the reader of
 * its field accepts.
 */
import type { Json } from '../../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar, t } from '../../contract/field.ts'
import { integerText } from '../../contract/lexical/number.ts'
import { compileScalarReader, compileScalarWriter } from '../../contract/lexical/scalar.ts'
import {
  asList,
  asRows,
  foldScalar,
  foldShape,
  isScalar,
  type ScalarCases,
  type ShapeCases,
} from '../../contract/shape.ts'
import { isFilled, parseTextTree, type TextMembers, type TextTree } from '../../html/text-tree.ts'
import type { Pairs } from '../../http/uri.ts'

/** Text that does not fit the type stays text: the reader then says what is wrong with it. */
export const readTextValue = (shape: Scalar, untrimmed: string): Json => foldScalar(shape, textReaders, untrimmed)

const trimText = (_shape: Scalar, untrimmed: string): string => untrimmed.trim()
function readWhole(_shape: Scalar, untrimmed: string): Json {
  const text = untrimmed.trim()
  if (!integerText.test(text)) return text
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text.replace(/^\+/, ''))
}
const [readDouble, writeDouble] = [compileScalarReader({ kind: 'double' }), compileScalarWriter({ kind: 'double' })]
const textReaders: ScalarCases<Json, [given: string]> = {
  string: (_shape, untrimmed) => untrimmed,
  boolean: (_shape, untrimmed) => {
    const text = untrimmed.trim()
    if (/^(true|1|on)$/.test(text)) return true
    return /^(false|0)$/.test(text) ? false : text
  },
  int: readWhole,
  long: readWhole,
  decimal: trimText,
  double: (_shape, untrimmed) => {
    const text = untrimmed.trim()
    const number = readDouble(text)
    if (typeof number !== 'number') return text
    return Number.isFinite(number) ? number : writeDouble(number)
  },
  date: trimText,
  time: trimText,
  dateTime: trimText,
  duration: trimText,
  bytes: trimText,
  enum: ({ values }, untrimmed) => (values.includes(untrimmed) ? untrimmed : untrimmed.trim()),
  id: trimText,
  ref: trimText,
}

/**
 * application/x-www-form-urlencoded as JSON: `lines[0][product]=p-1` is a member of an item of a
 * list. An optional member without text is absent, and so is an empty item; a nullable member
 * without text is null, except for a list. Lines end with LF: HTML has browsers send CRLF for it,
 * and count one character.
 * @returns undefined if a name is given twice or cannot be read
 */
export function readFormValues(pairs: Pairs, fields: Fields): Json | undefined {
  const root = parseTextTree(pairs)
  return root && membersJson(root, fields)
}

function membersJson(tree: TextMembers, fields: Fields): Json {
  const members = Object.entries(tree).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field && mayBeLeftOut(field) && !isFilled(value)) return []
    if (field?.isNullable && !asRows(field.shape) && !isFilled(value)) return [[name, null] as const]
    return [[name, field ? valueJson(value, field) : String(value)] as const]
  })
  return Object.fromEntries([...emptyLists(tree, fields), ...members])
}

/** A form cannot distinguish an empty list or map from an absent one: a required one is empty. */
const emptyLists = (tree: TextMembers, fields: Fields) =>
  Object.entries(fields)
    .filter(([name, field]) => !Object.hasOwn(tree, name) && !mayBeLeftOut(field) && asRows(field.shape))
    .map(([name, { shape }]) => [name, asList(shape) ? [] : {}] as const)

const valueJson = (value: TextTree, { shape }: AnyField): Json =>
  typeof value !== 'string'
    ? foldShape(shape, treeReaders, value)
    : isScalar(shape)
      ? readTextValue(shape, completeTime(shape, value.replaceAll('\r\n', '\n')))
      : value
const treeReaders: ShapeCases<Json, [tree: TextMembers]> = {
  scalar: () => ({}),
  list: ({ item }, tree) =>
    Object.values(tree)
      .filter(isFilled)
      .map(each => valueJson(each, item)),
  map: ({ entries }, tree) => entriesJson(treeReaders.list(entries, tree)),
  object: ({ fields }, tree) => membersJson(tree, fields),
  union: ({ on, of }, tree) => membersJson(tree, { ...of[String(tree[on])], [on]: t.string() }),
}

/**
 * Entries, each with a key and a value, as the object of a map. Anything else stays unchanged, and
 * a repeated key gives a value that fits no type: the contract's reader reports both.
 */
export function entriesJson(entries: Json): Json {
  const values = new Map<string, Json>()
  for (const entry of Array.isArray(entries) ? (entries as readonly Json[]) : []) {
    const { key, value, ...others } = Object(entry) as Readonly<Record<string, Json>>
    if (typeof key !== 'string' || value === undefined || Object.keys(others).length > 0) return entries
    values.set(key, values.has(key) ? [value] : value)
  }
  return Object.fromEntries(values)
}

/** Browsers send a time without seconds if they are zero, and a moment without its zone: UTC. */
function completeTime(shape: Scalar, text: string): string {
  if (shape.kind !== 'time' && shape.kind !== 'dateTime') return text
  const complete = /^(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d$/.test(text) ? `${text}:00` : text
  return shape.zone !== 'prohibited' && /T\d\d:\d\d:\d\d(?:\.\d+)?$/.test(complete) ? `${complete}Z` : complete
}
