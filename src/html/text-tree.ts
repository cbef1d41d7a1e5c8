/**
 * The content of a form: texts under the names of its controls, `lines[0][product]`. The same kind
 * of tree serves for typed text and for the values of an item, so a form can show either.
 */
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import { writeScalar } from '../contract/lexical/scalar.ts'
import { listEntries } from '../contract/map-entries.ts'
import { foldShape, type ShapeCases } from '../contract/shape.ts'

export type TextTree = string | TextMembers
export interface TextMembers {
  [name: string]: TextTree
}

const controlName = /^[^[\]]+(\[[^[\]]+\])*$/
const deepestControl = 8

/** Without a prototype, so that any name is just a name. */
const createMembers = (): TextMembers => Object.create(null) as TextMembers

/** Undefined if a name occurs twice or cannot be read. */
export function parseTextTree(pairs: readonly (readonly [string, string])[]): TextMembers | undefined {
  const root = createMembers()
  for (const [name, value] of pairs) if (!placeText(root, name, value)) return undefined
  return root
}

function placeText(root: TextMembers, path: string, value: string): boolean {
  const steps = controlName.test(path) ? stepsOf(path) : []
  const last = steps.pop()
  if (last === undefined || steps.length > deepestControl) return false
  let at = root
  for (const step of steps) {
    const next = (at[step] ??= createMembers())
    if (typeof next === 'string') return false
    at = next
  }
  if (at[last] !== undefined) return false
  at[last] = value
  return true
}

const stepsOf = (path: string): string[] => path.replaceAll(']', '').split('[')

/** `['lines', 0, 'product']` → `lines[0][product]`. */
export const nameControl = (path: readonly (string | number)[]): string =>
  path.map((step, at) => (at === 0 ? String(step) : `[${step}]`)).join('')

export const isFilled = (tree: TextTree): boolean =>
  typeof tree === 'string' ? tree !== '' : Object.values(tree).some(isFilled)

/** The rows of a list; rows without any text are left out, as when the form is read. */
export const filledRows = (tree: TextTree | undefined): readonly TextTree[] =>
  tree === undefined || typeof tree === 'string' ? [] : Object.values(tree).filter(isFilled)

export const treeMember = (tree: TextTree | undefined, name: string): TextTree | undefined =>
  tree === undefined || typeof tree === 'string' || !Object.hasOwn(tree, name) ? undefined : tree[name]

/** The values of an item, as shown in a form that changes it. */
export function toTextTree(fields: Fields, value: Readonly<Record<string, unknown>>): TextMembers {
  const tree = createMembers()
  for (const [name, field] of Object.entries(fields)) {
    const text = valueTree(field, ownMember(value, name))
    if (text !== undefined) tree[name] = text
  }
  return tree
}

const valueTree = ({ shape }: AnyField, value: unknown): TextTree | undefined =>
  value === undefined || value === null ? undefined : foldShape(shape, treeCases, value)

/** The contract's reader has checked that each value matches its shape. */
const treeCases: ShapeCases<TextTree, [value: unknown]> = {
  scalar: (shape, value) => writeScalar(shape, value),
  list: ({ item }, value) =>
    Object.assign(
      createMembers(),
      Object.fromEntries((value as readonly unknown[]).map((each, at) => [at, valueTree(item, each) ?? ''])),
    ),
  map: ({ entries }, value) => foldShape(entries, treeCases, listEntries(value)),
  object: ({ fields }, value) => toTextTree(fields, value as Readonly<Record<string, unknown>>),
  union: ({ on, of }, value) => {
    const chosen = value as Readonly<Record<string, unknown>>
    const kind = String(chosen[on])
    return { ...toTextTree(of[kind] ?? {}, chosen), [on]: kind }
  },
}
