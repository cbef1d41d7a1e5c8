/**
 * Controls of a form, made from the fields of a contract: each shape has the control that fits it.
 * What always holds:
 *  (1) A control has the name that `text-tree.ts` reads, and keeps any text that it is given, even
 *      one that its usual type could not hold.
 *  (2) A problem is shown at its control, and the control refers to it.
 *  (3) A list grows and shrinks, and a union changes its kind, by a button that sends the form back
 *      to be shown again (`redraw`): no script is needed.
 */
import { escapeMarkup } from '../base/markup.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar, singularName } from '../contract/field.ts'
import { describeField } from '../contract/operation-texts.ts'
import {
  entryFields,
  foldScalar,
  foldShape,
  isScalar,
  type ListShape,
  type ObjectShape,
  type ScalarCases,
  type ShapeCases,
  type UnionShape,
} from '../contract/shape.ts'
import { joinSentences } from '../contract/texts.ts'
import { buildElement, labelOf, type PageAttributes, type PageMarkup, titleOf, writeParagraph } from './element.ts'
import { filledRows, isFilled, type TextTree, treeMember } from './text-tree.ts'

/** The content of a form when it is shown. */
export interface FormState {
  /** Distinguishes the controls of several forms of a page. */
  readonly form: string
  /** Path of a control → what is wrong with its text. */
  readonly problems: ReadonlyMap<string, readonly string[]>
  /** The address that shows the form again, changed at the list or union with this name. */
  readonly redraw: ((change: RedrawChange, name: string) => string) | undefined
  /** The address of the list of a resource's items. */
  readonly choices: (resource: string) => string | undefined
  /** Without hints, and without saying what may be left empty. */
  readonly isTerse?: boolean
}
export type RedrawChange = 'add' | 'drop' | 'show'

/** One control, or a group of them. */
interface Place {
  readonly name: string
  readonly label: string
  readonly field: AnyField
  readonly tree: TextTree | undefined
  /** It may be left empty. */
  readonly isOptional: boolean
  /** Its own label says so; a surrounding group may say it for all. */
  readonly isMarked: boolean
}

/** Controls for the fields that a client may write. */
export function writeControls(fields: Fields, tree: TextTree | undefined, state: FormState): PageMarkup {
  return writeFieldControls(fields, '', tree, false, state)
}

/** One control on its own. */
export const writeControl = (
  field: AnyField,
  name: string,
  label: string,
  tree: TextTree | undefined,
  state: FormState,
): PageMarkup =>
  writeControlAt({ name, label, field, tree, isOptional: acceptsEmptyText(field), isMarked: field.isOptional }, state)

/** Whether an empty text is a value, or stands for none: the contract accepts either. */
const acceptsEmptyText = (field: AnyField): boolean =>
  mayBeLeftOut(field) || field.isNullable || (field.shape.kind === 'string' && hasEmptyText(field.shape))
const hasEmptyText = ({ min = 0, pattern }: Extract<Scalar, { kind: 'string' }>): boolean =>
  min === 0 && pattern === undefined

function writeFieldControls(
  fields: Fields,
  within: string,
  tree: TextTree | undefined,
  isOptional: boolean,
  state: FormState,
): PageMarkup {
  return Object.entries(fields)
    .filter(([, field]) => !field.isReadOnly)
    .map(([name, field]) =>
      writeControlAt(
        {
          name: within === '' ? name : `${within}[${name}]`,
          label: titleOf(name, field),
          field,
          tree: treeMember(tree, name),
          isOptional: isOptional || acceptsEmptyText(field),
          isMarked: mayBeLeftOut(field) || field.isNullable,
        },
        state,
      ),
    )
    .join('')
}

const writeControlAt = (place: Place, state: FormState): PageMarkup =>
  foldShape(place.field.shape, placeCases, place, state)

const placeCases: ShapeCases<PageMarkup, [place: Place, state: FormState]> = {
  scalar: (shape, place, state) => writeScalarPlace(shape, place, state),
  list: (shape, place, state) => writeRows(shape, place, state),
  map: ({ entries }, place, state) => writeRows(entries, place, state),
  object: (shape, place, state) => writeFieldGroup(shape, place, state),
  union: (shape, place, state) => writeUnion(shape, place, state),
}

/** An identifier within the page, since control names have brackets. */
const idOf = (name: string, { form }: FormState): string => `${form}-${name.replace(/[^\w-]+/g, '-')}`

function writeScalarPlace(shape: Scalar, place: Place, state: FormState): PageMarkup {
  const id = idOf(place.name, state)
  const hint = state.isTerse ? '' : joinSentences(describeField(place.field), writeShapeHint(shape, place.field))
  const problems = state.problems.get(place.name) ?? []
  const about = [...(hint === '' ? [] : [`${id}-hint`]), ...(problems.length === 0 ? [] : [`${id}-problem`])]
  const common: PageAttributes = {
    id,
    name: place.name,
    required: !place.isOptional,
    'aria-invalid': problems.length === 0 ? undefined : 'true',
    'aria-describedby': about.length === 0 ? undefined : about.join(' '),
  }
  const text = typeof place.tree === 'string' ? place.tree : ''
  return buildElement(
    'div',
    { class: problems.length === 0 ? 'field' : 'field wrong' },
    buildElement('label', { for: id }, escapeMarkup(place.label), place.isMarked && !state.isTerse ? optionalMark : ''),
    hint && buildElement('span', { class: 'hint', id: `${id}-hint` }, escapeMarkup(hint)),
    writeProblems(problems, `${id}-problem`),
    foldScalar(shape, scalarControls, common, text, state),
  )
}

const optionalMark = buildElement('span', { class: 'optional' }, ' (optional)')

const writeProblems = (problems: readonly string[], id: string): PageMarkup =>
  problems.length === 0
    ? ''
    : buildElement('span', { class: 'problem', id }, escapeMarkup(`${labelOf(problems.join('; '))}.`))

type ControlArguments = [common: PageAttributes, text: string, state: FormState]

/** (1) If the text does not fit this type of control, the control accepts any text. */
function inputWriter<K extends Scalar['kind']>(type: string, holds: RegExp, more: PageAttributes = {}) {
  return (_shape: Extract<Scalar, { kind: K }> | Scalar, common: PageAttributes, text: string): PageMarkup =>
    writeInputControl(common, text, holds.test(text) ? type : 'text', more)
}
const writeInputControl = (
  common: PageAttributes,
  value: string,
  type: string,
  more: PageAttributes = {},
): PageMarkup => buildElement('input', { ...common, type, value: value === '' ? undefined : value, ...more })

const numberText = /^(?:-?\d+(?:\.\d+)?)?$/
const dateText = /^(?:\d{4}-\d\d-\d\d)?$/
const timeText = /^(?:\d\d:\d\d(?::\d\d)?)?$/
/** The page returns it without a zone, and the reader completes it: UTC. */
const momentText = /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$/
const localText = /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)?$/
const plainText = { autocapitalize: 'off', spellcheck: 'false' } as const

const scalarControls: ScalarCases<PageMarkup, ControlArguments> = {
  string: (shape, common, text, { isTerse }) =>
    (!isTerse && (shape.max ?? 0) >= 200 && shape.pattern === undefined) || text.includes('\n')
      ? buildElement('textarea', { ...common, maxlength: shape.max, rows: 3 }, `\n${escapeMarkup(text)}`)
      : writeInputControl(common, text, 'text', { maxlength: shape.max, minlength: shape.min }),
  boolean: (_shape, common, text) => writeSelect(common, ['true', 'false'], text),
  int: (shape, common, text) =>
    writeInputControl(common, text, numberText.test(text) ? 'number' : 'text', {
      step: 1,
      min: shape.min,
      max: shape.max,
    }),
  long: (shape, common, text) =>
    writeInputControl(common, text, numberText.test(text) ? 'number' : 'text', {
      step: 1,
      min: shape.min?.toString(),
      max: shape.max?.toString(),
    }),
  decimal: (shape, common, text) =>
    writeInputControl(common, text, numberText.test(text) ? 'number' : 'text', {
      step: shape.places === 0 ? '1' : `0.${'1'.padStart(shape.places, '0')}`,
      min: shape.min,
      max: shape.max,
    }),
  double: inputWriter('text', /^/, { inputmode: 'decimal', ...plainText }),
  // A picker gives no zone.
  date: ({ zone }, common, text) =>
    writeInputControl(common, text, zone !== 'required' && dateText.test(text) ? 'date' : 'text'),
  time: ({ zone }, common, text) =>
    writeInputControl(common, text, zone !== 'required' && timeText.test(text) ? 'time' : 'text', { step: 1 }),
  dateTime: ({ zone }, common, text) =>
    (zone === 'prohibited' ? localText : momentText).test(text)
      ? writeInputControl(common, text.replace('Z', ''), 'datetime-local', { step: 1 })
      : writeInputControl(common, text, 'text', plainText),
  duration: inputWriter('text', /^/, plainText),
  bytes: (_shape, common, text) => buildElement('textarea', { ...common, rows: 2, ...plainText }, escapeMarkup(text)),
  enum: ({ values }, common, text) => writeSelect(common, values, text),
  id: inputWriter('text', /^/, plainText),
  ref: ({ resource }, common, text, state) =>
    writeInputControl(common, text, 'text', {
      ...plainText,
      autocomplete: 'off',
      'data-choices': state.choices(resource),
    }),
}

function writeSelect(common: PageAttributes, values: readonly string[], text: string): PageMarkup {
  const known = text === '' || values.includes(text) ? values : [...values, text] // (1)
  const none = buildElement('option', { value: '' }, '')
  const options = known.map(each =>
    buildElement('option', { value: each, selected: each === text }, escapeMarkup(each)),
  )
  return buildElement('select', common, none, ...options)
}

/** A pattern is for programs: people see an example, if the contract has one. */
function writeShapeHint(shape: Scalar, { texts }: AnyField): string {
  const hint = foldScalar(shape, hints)
  if (shape.kind !== 'string' || shape.pattern === undefined || typeof texts?.example !== 'string') return hint
  return hint.replace(`in the form ${shape.pattern}`, () => `such as ${texts.example}`)
}

const hints: ScalarCases<string> = {
  string: ({ min, max, pattern }) =>
    [
      max === undefined || max >= 200 ? '' : `at most ${max} characters`,
      (min ?? 0) > 1 ? `at least ${min}` : '',
      pattern === undefined ? '' : `in the form ${pattern}`,
    ]
      .filter(Boolean)
      .join(', '),
  boolean: () => '',
  int: ({ min, max }) => rangeHint(min, max),
  long: ({ min, max }) => rangeHint(min, max),
  decimal: ({ places }) => (places === 0 ? '' : `a number with at most ${places} place${places === 1 ? '' : 's'}`),
  double: () => 'a number, INF, -INF or NaN',
  date: () => '',
  time: () => '',
  dateTime: ({ zone }) => (zone === 'prohibited' ? '' : 'UTC'),
  duration: () => 'such as P1DT2H',
  bytes: ({ encoding }) => (encoding === 'hex' ? 'in hexadecimal digits' : 'in base64'),
  enum: () => '',
  id: () => '',
  ref: ({ resource }) => `the identifier of one of ${resource}`,
}
const rangeHint = (min: number | bigint | undefined, max: number | bigint | undefined): string =>
  min !== undefined && max !== undefined ? `${min} to ${max}` : ''

const writeControlGroup = (place: Place, state: FormState, ...content: readonly PageMarkup[]): PageMarkup => {
  const problems = state.problems.get(place.name) ?? []
  const id = `${idOf(place.name, state)}-problem`
  return buildElement(
    'fieldset',
    { id: idOf(place.name, state), 'aria-describedby': problems.length === 0 ? undefined : id },
    buildElement('legend', {}, escapeMarkup(place.label), place.isMarked ? optionalMark : ''),
    writeParagraph(describeField(place.field), { class: 'hint' }),
    writeProblems(problems, id),
    ...content,
  )
}

/** Members of an optional object may be left empty. */
const writeFieldGroup = ({ fields }: ObjectShape, place: Place, state: FormState): PageMarkup =>
  writeControlGroup(place, state, writeFieldControls(fields, place.name, place.tree, place.isOptional, state))

/** Empty rows are left out when the form is read. */
function writeRows({ item, min = 0 }: ListShape, place: Place, state: FormState): PageMarkup {
  const rows: (TextTree | undefined)[] = typeof place.tree === 'object' ? Object.values(place.tree) : []
  const demanded = place.isOptional ? 0 : min
  while (rows.length < (place.isOptional ? 0 : Math.max(min, 1))) rows.push(undefined)
  const controls = rows.map((tree, at) => {
    const name = `${place.name}[${at}]`
    const label = `${labelOf(singularName(rowName(place)))} ${at + 1}`
    const row = { name, label, field: item, tree, isOptional: at >= demanded, isMarked: false }
    return buildElement('li', {}, writeControlAt(row, state), writeRedraw(state, 'drop', name, `Remove ${row.label}`))
  })
  return writeControlGroup(
    place,
    state,
    buildElement('ol', { class: 'rows' }, ...controls),
    writeRedraw(state, 'add', place.name, `Add to ${place.label}`),
  )
}
const rowName = ({ name }: Place): string => /([^[\]]+)\]?$/.exec(name)?.[1] ?? name

/** (3) */
const writeRedraw = ({ redraw }: FormState, change: RedrawChange, name: string, label: string): PageMarkup =>
  redraw === undefined
    ? ''
    : buildElement(
        'button',
        { class: 'minor', formaction: redraw(change, name), formnovalidate: true, 'data-redraw': change },
        escapeMarkup(label),
      )

function writeUnion({ on, of }: UnionShape, place: Place, state: FormState): PageMarkup {
  const text = treeMember(place.tree, on)
  const kinds = Object.keys(of)
  const chosen = typeof text === 'string' && Object.hasOwn(of, text) ? text : ''
  const id = idOf(`${place.name}[${on}]`, state)
  const select = writeSelect({ id, name: `${place.name}[${on}]`, required: !place.isOptional }, kinds, chosen)
  return writeControlGroup(
    place,
    state,
    buildElement('div', { class: 'field' }, buildElement('label', { for: id }, escapeMarkup(labelOf(on))), select),
    writeRedraw(state, 'show', place.name, `Show the fields of this ${labelOf(on).toLowerCase()}`),
    chosen === '' ? '' : writeFieldControls(of[chosen] ?? {}, place.name, place.tree, place.isOptional, state),
  )
}

/** The query parameters that name such a row, by what a button of (3) does with it. */
export const redrawNames = { add: '_add', drop: '_drop', show: '_show' } as const
export interface Redraw {
  readonly change: RedrawChange
  readonly name: string
}
export function findRedraw(pairs: ReadonlyMap<string, string>): Redraw | undefined {
  for (const change of ['add', 'drop', 'show'] as const) {
    const name = pairs.get(redrawNames[change])
    if (name !== undefined) return { change, name }
  }
  return undefined
}

/** The tree after a button of (3) was pressed; an unknown row name changes nothing. */
export function changeRows(tree: TextTree, change: RedrawChange, name: string): TextTree {
  if (change === 'show') return tree
  const steps = name.replaceAll(']', '').split('[')
  return changeAt(tree, change, steps)
}

function changeAt(tree: TextTree, change: 'add' | 'drop', [step = '', ...rest]: readonly string[]): TextTree {
  const inner = treeMember(tree, step)
  const members = typeof tree === 'string' ? {} : tree
  if (rest.length > 0) return { ...members, [step]: changeAt(inner ?? {}, change, rest) }
  if (change === 'drop') return Object.fromEntries(Object.entries(members).filter(([key]) => key !== step))
  const rows = typeof inner === 'object' ? Object.values(inner) : []
  return { ...members, [step]: Object.fromEntries([...rows, ''].map((row, at) => [at, row])) }
}

type MemberPath = readonly (string | number)[]
/**
 * The path of the control for the value at a path: where a map has a key, its form has a row
 * number.
 * @param tree the result of `normalizeRows`
 */
export function placeControl(fields: Fields, tree: TextTree | undefined, [name, ...rest]: MemberPath): MemberPath {
  if (name === undefined) return []
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  return [name, ...(field ? placeInside(field, treeMember(tree, String(name)), rest) : rest)]
}
const placeInside = ({ shape }: AnyField, tree: TextTree | undefined, path: MemberPath): MemberPath =>
  path.length === 0 ? [] : foldShape(shape, controlPaths, tree, path)
const controlPaths: ShapeCases<MemberPath, [tree: TextTree | undefined, path: MemberPath]> = {
  scalar: (_shape, _tree, path) => path,
  list: ({ item }, tree, [at = 0, ...rest]) => [at, ...placeInside(item, treeMember(tree, String(at)), rest)],
  map: (shape, tree, [key = '', ...rest]) => {
    const [row, entry] = Object.entries(tree ?? {}).find(each => treeMember(each[1], 'key') === key) ?? []
    if (row === undefined) return [key, ...rest]
    return [row, 'value', ...placeInside(entryFields(shape).value, treeMember(entry, 'value'), rest)]
  },
  object: ({ fields }, tree, path) => placeControl(fields, tree, path),
  union: ({ on, of }, tree, path) => placeControl(of[String(treeMember(tree, on))] ?? {}, tree, path),
}

/** The tree with only the rows that a reader sees, in order, so that a problem finds its row. */
export function normalizeRows(fields: Fields, tree: TextTree): TextTree {
  if (typeof tree === 'string') return tree
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      return [name, field ? normalizeValue(field, value) : value]
    }),
  )
}
const normalizeValue = ({ shape }: AnyField, value: TextTree): TextTree =>
  typeof value === 'string' || isScalar(shape) ? value : foldShape(shape, normalCases, value)
const normalCases: ShapeCases<TextTree, [value: TextTree]> = {
  scalar: (_shape, value) => value,
  list: ({ item }, value) => Object.fromEntries(filledRows(value).map((row, at) => [at, normalizeValue(item, row)])),
  map: ({ entries }, value) => foldShape(entries, normalCases, value),
  object: ({ fields }, value) => normalizeRows(fields, value),
  union: (_shape, value) => (isFilled(value) ? value : {}),
}
