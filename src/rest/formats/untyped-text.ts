/** Text that came without a type, from a form, an element or a query, as the JSON that its field's reader takes. */

import type { Json } from '../../base/objects.ts'
import { type AnyField, type Fields, type Shape, t } from '../../contract/field.ts'

import { isScalar, readScalar, writeScalar } from '../../contract/lexical/scalar.ts'
import type { Pairs } from '../../http/uri.ts'

const whole = /^[+-]?[0-9]{1,400}$/

/** Text that is none of the type stays text: the reader then says what is wrong with it. */
export function readTextValue(shape: Shape, given: string): Json {
  if (shape.kind === 'string') return given
  const text = given.trim()
  if (shape.kind === 'int' || shape.kind === 'long') {
    if (!whole.test(text)) return text
    const number = Number(text)
    return Number.isSafeInteger(number) ? number : BigInt(text.replace(/^\+/, ''))
  }
  if (shape.kind === 'double') {
    const number = readScalar({ kind: 'double' }, text)
    if (typeof number !== 'number') return text
    return Number.isFinite(number) ? number : writeScalar({ kind: 'double' }, number)
  }
  if (shape.kind === 'boolean' && /^(true|1|on)$/.test(text)) return true
  if (shape.kind === 'boolean' && /^(false|0)$/.test(text)) return false
  return text
}

type Tree = string | { [name: string]: Tree }

/**
 * application/x-www-form-urlencoded as JSON: `lines[0][product]=p-1` is a member of an item of a list. A field left empty
 * where it may be absent, and an item with nothing in it, were not filled in. Undefined when a name is twice or cannot be read.
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

function valueJson(value: Tree, field: AnyField): Json {
  const { shape } = field
  if (typeof value === 'string') return isScalar(shape) ? readTextValue(shape, value) : value
  if (shape.kind === 'object') return membersJson(value, shape.fields)
  if (shape.kind === 'union')
    return membersJson(value, { ...shape.of[String(value[shape.on])], [shape.on]: t.string() })
  if (shape.kind !== 'list') return {}
  return Object.values(value)
    .filter(isFilled)
    .map(each => valueJson(each, shape.item))
}

const isFilled = (tree: Tree): boolean => (typeof tree === 'string' ? tree !== '' : Object.values(tree).some(isFilled))
