/**
 * Values of the types in `xml-type.ts` as JSON. One walk serves both directions, so content and
 * replies pass the same checks, which are also those of the readers and writers of XML:
 *  (1) A value is an object with the members of its type; what may repeat is always an array; a
 *      choice is an object with one of its branches; `$type` names a derived type; nil is null.
 *  (2) Every flaw is reported with its place; a value with a flaw is neither accepted nor sent.
 *  (3) JSON → value → JSON is the same, except for what a schema fills in: attributes with a
 *      default, and empty arrays.
 */
import { memoizeByObject } from '../base/memo.ts'
import { type Json, ownMember } from '../base/objects.ts'
import { problemsMax } from './field-json.ts'
import type { FieldProblem } from './given-fields.ts'
import { boundFlaw, describeLeast, Flaw, typeFlaw } from './lexical/flaw.ts'
import { compileStringCheck } from './lexical/text.ts'
import {
  allowsNil,
  countRequired,
  type DeclaredMember,
  type DerivableDefinition,
  findTextType,
  initialOf,
  listMembers,
  listTaggedTypes,
  matchesNamespace,
  mayBeWithoutElements,
  mayMemberBeNil,
  parseAttributeKey,
} from './xml-members.ts'
import { clarkNames, equalsText, isSimpleType, simpleCodecOf } from './xml-simple.ts'
import type {
  AnyMember,
  AnyRootElement,
  AnyXmlType,
  ComplexDefinition,
  NamespaceForm,
  QualifiedName,
  TypeMembers,
} from './xml-type.ts'

/** The name of the only element of a text; undefined if the text is not one element. */
export type NameOfXml = (text: string) => QualifiedName | undefined

/** A value that its declared type does not allow. */
export class UnfitMessage extends Error {
  readonly problem: FieldProblem
  constructor(element: string, problem: FieldProblem) {
    super(`${[element, ...problem.path].join('.')} ${problem.detail}`)
    this.problem = problem
  }
}

export interface XmlJsonCodec {
  /** Parsed JSON → the value; flaws go to `problems`, the first hundred. */
  readonly read: (json: Json, problems: FieldProblem[]) => unknown
  /** Throws an `UnfitMessage` if the declared type does not allow the value. */
  readonly write: (value: unknown) => Json
}

/** The codec of the content of one global element; its name is not in the JSON. */
export function createXmlJsonCodec(root: AnyRootElement, nameOfXml: NameOfXml): XmlJsonCodec {
  return {
    read: (json, problems) => convertRoot(root, json, { isReading: true, problems, nameOfXml, path: [] }),
    write: value => {
      const problems: FieldProblem[] = []
      const json = convertRoot(root, value, { isReading: false, problems, nameOfXml, path: [] })
      const [first] = problems
      if (first) throw new UnfitMessage(root.name.local, first)
      return json as Json // without a flaw, every part was made from JSON
    },
  }
}

/** The value of an element if nothing is sent for it; `none`: its type demands something. */
export function readEmptyContent(root: AnyRootElement): { readonly value: unknown } | 'none' {
  const problems: FieldProblem[] = []
  const value = createXmlJsonCodec(root, () => undefined).read({}, problems)
  return problems.length === 0 ? { value } : 'none'
}

/** One conversion: from JSON, or to it. */
interface Conversion {
  readonly isReading: boolean
  readonly problems: FieldProblem[]
  readonly nameOfXml: NameOfXml
  /** The path of the current value: a key is in it while what is below it is converted. */
  readonly path: (string | number)[]
}
type MemberRow = Readonly<Record<string, unknown>>

function addFlawHere({ problems, path }: Conversion, { code, detail }: Flaw, ...below: readonly string[]): undefined {
  if (problems.length < problemsMax) problems.push({ path: [...path, ...below], code, detail })
}
const isMemberRow = (value: unknown): value is MemberRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** What a type's conversion needs: the form around it, and the name of its element. */
interface ElementPlace {
  readonly form: NamespaceForm
  readonly name: QualifiedName | undefined
}

const convertRoot = (root: AnyRootElement, value: unknown, conversion: Conversion): unknown => {
  const { name, form, marks } = root
  const type = root.type()
  return convertFixed(
    type,
    marks,
    convertElement(type, { form, name }, allowsNil(marks), value, conversion),
    conversion,
  )
}

function convertElement(
  type: AnyXmlType,
  place: ElementPlace,
  isNillable: boolean,
  value: unknown,
  conversion: Conversion,
): unknown {
  if (value !== null) return convertTyped(type, place, value, conversion)
  return isNillable ? null : addFlawHere(conversion, new Flaw('type', 'must not be null'))
}

function convertTyped(type: AnyXmlType, place: ElementPlace, value: unknown, conversion: Conversion): unknown {
  const { definition } = type
  switch (definition.kind) {
    case 'complex':
      if (definition.isAbstract)
        return addFlawHere(conversion, new Flaw('required', 'is required: the type is abstract'), '$type')
      return convertComplex(definition, place.form, value, conversion)
    case 'derivable':
      return convertDerivable(definition, place, value, conversion)
    case 'array':
      if (!Array.isArray(value)) return addFlawHere(conversion, typeFlaw('an array'))
      return convertEach(value, conversion, each =>
        convertElement(definition.item(), { ...place, name: undefined }, true, each, conversion),
      )
    default:
      if (isSimpleType(type)) return convertSimple(type, value, conversion)
      return convertXml(value, found => isSameName(found, place.name), conversion)
  }
}

const convertEach = (all: readonly unknown[], { path }: Conversion, convert: (each: unknown) => unknown): unknown[] =>
  all.map((each, at) => {
    path.push(at)
    const value = convert(each)
    path.pop()
    return value
  })

const isSameName = (found: QualifiedName, name: QualifiedName | undefined): boolean =>
  name === undefined || (found.uri === name.uri && found.local === name.local)

/** The text of one element. */
function convertXml(value: unknown, fits: (name: QualifiedName) => boolean, conversion: Conversion): unknown {
  const name = typeof value === 'string' ? conversion.nameOfXml(value) : undefined
  if (!name) return addFlawHere(conversion, typeFlaw('the text of one XML element'))
  return fits(name) ? value : addFlawHere(conversion, new Flaw('type', `must not be the element ${name.local}`))
}

// Objects

function convertDerivable(
  definition: DerivableDefinition,
  place: ElementPlace,
  value: unknown,
  conversion: Conversion,
): unknown {
  const named = isMemberRow(value) ? ownMember(value, '$type') : undefined
  if (!isMemberRow(value) || named === undefined) return convertTyped(definition.type, place, value, conversion)
  const tagged = listTaggedTypes(definition)
  const found = tagged.find(({ tag }) => tag === named)?.type.definition
  if (found?.kind !== 'complex')
    return addFlawHere(
      conversion,
      new Flaw('enum', `must be one of ${tagged.map(each => each.tag).join(', ')}`),
      '$type',
    )
  const { $type, ...members } = value
  const row = convertComplex(found, place.form, members, conversion)
  return isMemberRow(row) ? { $type, ...row } : row
}

function convertComplex(
  definition: ComplexDefinition,
  around: NamespaceForm,
  value: unknown,
  conversion: Conversion,
): unknown {
  if (!isMemberRow(value)) return addFlawHere(conversion, typeFlaw('an object'))
  const { members, keys } = typeMembersOf(definition)(around)
  // A value of a derived type may be given where only its base is expected.
  reportUnknown(keys, value, conversion, conversion.isReading ? undefined : '$type')
  return convertMembers(members, value, conversion)
}

/** A member, and the place of its element. */
interface PlacedMember extends DeclaredMember {
  readonly place: ElementPlace
}
interface PlacedMembers {
  readonly members: readonly PlacedMember[]
  readonly keys: ReadonlySet<string>
}
const typeMembersOf = memoizeByObject((definition: ComplexDefinition) =>
  memoizeByObject((around: NamespaceForm) => placeMembers(listMembers(definition, around))),
)
const groupMembersOf = memoizeByObject((members: TypeMembers) =>
  memoizeByObject((form: NamespaceForm) =>
    placeMembers(Object.entries(members).map(([key, member]) => ({ key, member, form }))),
  ),
)
const placeMembers = (members: readonly DeclaredMember[]): PlacedMembers => ({
  members: members.map(each => ({ ...each, place: placeOf(each) })),
  keys: new Set(members.map(({ key }) => key)),
})
function placeOf({ key, member: { marks }, form }: DeclaredMember): ElementPlace {
  const uri = marks.uri ?? (form.elements === 'qualified' ? form.uri : '')
  return { form, name: { uri, local: marks.name ?? key } }
}

function convertMembers(members: readonly PlacedMember[], source: MemberRow, conversion: Conversion): MemberRow {
  const row: Record<string, unknown> = {}
  for (const each of members) {
    const value = convertMember(each, source, conversion)
    if (value === undefined) continue
    // Keys are names given by others: `__proto__` is a member like any other.
    if (each.key !== '__proto__') row[each.key] = value
    else Object.defineProperty(row, each.key, { value, enumerable: true, configurable: true, writable: true })
  }
  return row
}

function reportUnknown(names: ReadonlySet<string>, row: MemberRow, conversion: Conversion, besides?: string): void {
  for (const key of Object.keys(row))
    if (!names.has(key) && key !== besides && row[key] !== undefined)
      addFlawHere(conversion, new Flaw('unknown', 'is not a known member'), key)
}

function convertMember(placed: PlacedMember, row: MemberRow, conversion: Conversion): unknown {
  conversion.path.push(placed.key)
  const value = convertGiven(placed, ownMember(row, placed.key), conversion)
  conversion.path.pop()
  return value
}

function convertGiven(placed: PlacedMember, value: unknown, conversion: Conversion): unknown {
  const { member } = placed
  if (member.marks.isMany) return convertMany(placed, value, conversion)
  if (value !== undefined) return convertOne(placed, value, conversion)
  const { min, initial } = member.marks
  if (member.particle.kind === 'attribute' && initial !== undefined)
    return conversion.isReading ? simpleCodecOf(member.particle.type).read(initial, clarkNames) : undefined
  return min > 0 ? addFlawHere(conversion, new Flaw('required', 'is required')) : undefined
}

function convertMany(placed: PlacedMember, value: unknown, conversion: Conversion): unknown {
  const { member } = placed
  const { max } = member.marks
  const all = value ?? []
  if (!Array.isArray(all)) return addFlawHere(conversion, typeFlaw('an array'))
  if (!conversion.isReading && all.length === 0 && member.marks.least !== undefined) return undefined
  // JSON distinguishes an empty array from none, a value does not.
  const min = countRequired(member.marks, conversion.isReading && value !== undefined ? 1 : all.length)
  if (all.length < min) return addFlawHere(conversion, boundFlaw('minItems', describeLeast(min, 'items')))
  if (all.length > max) return addFlawHere(conversion, boundFlaw('maxItems', `must have at most ${max} items`))
  return convertEach(all, conversion, each => convertOne(placed, each, conversion))
}

function convertOne({ member, form, place }: PlacedMember, source: unknown, conversion: Conversion): unknown {
  const { particle, marks } = member
  switch (particle.kind) {
    case 'attribute':
    case 'text':
      return convertFixed(particle.type, marks, convertSimple(particle.type, source, conversion), conversion)
    case 'element': {
      const type = particle.type()
      return convertFixed(
        type,
        marks,
        convertElement(type, place, mayMemberBeNil(member), source, conversion),
        conversion,
      )
    }
    case 'reference': {
      const { type, form, name } = particle.to()
      const value = convertElement(type(), { form, name }, mayMemberBeNil(member), source, conversion)
      return convertFixed(type(), initialOf(member), value, conversion)
    }
    case 'choice':
    case 'sequence':
      return convertGroup(particle, form, source, conversion)
    case 'any':
      return convertXml(source, ({ uri }) => matchesNamespace(particle.namespaces, form.uri, uri), conversion)
    case 'anyAttribute':
      return convertOthers(source, uri => matchesNamespace(particle.namespaces, form.uri, uri), conversion)
  }
}

function convertGroup(
  { kind, members }: { readonly kind: 'choice' | 'sequence'; readonly members: TypeMembers },
  form: NamespaceForm,
  value: unknown,
  conversion: Conversion,
): unknown {
  if (!isMemberRow(value)) return addFlawHere(conversion, typeFlaw('an object'))
  const { members: branches, keys } = groupMembersOf(members)(form)
  reportUnknown(keys, value, conversion)
  const present = branches.filter(({ key }) => ownMember(value, key) !== undefined)
  const isEmptyAllowed = branches.some(({ member }) => mayBeWithoutElements(member))
  if (kind === 'choice' && (present.length > 1 || (present.length === 0 && !isEmptyAllowed)))
    return addFlawHere(
      conversion,
      new Flaw('choice', `must have exactly one of ${[...keys].join(', ') || 'no branches'}`),
    )
  return convertMembers(kind === 'choice' ? present : branches, value, conversion)
}

const checkAttributeText = compileStringCheck({ kind: 'string' })
/** Attributes of any name: `{namespace}local` → text. */
function convertOthers(attributes: unknown, fits: (uri: string) => boolean, conversion: Conversion): unknown {
  if (!isMemberRow(attributes)) return addFlawHere(conversion, typeFlaw('an object'))
  for (const [key, value] of Object.entries(attributes)) {
    const name = parseAttributeKey(key)
    if (!name || !fits(name.uri)) addFlawHere(conversion, new Flaw('unknown', 'is not allowed here'), key)
    const text = checkAttributeText(value)
    if (text instanceof Flaw) addFlawHere(conversion, text, key)
  }
  return attributes
}

// Simple values

function convertSimple(type: AnyXmlType, input: unknown, conversion: Conversion): unknown {
  const value = conversion.isReading ? readSimpleJson(type, input) : input
  const checked = value instanceof Flaw ? value : simpleCodecOf(type).check(value)
  if (checked instanceof Flaw) return addFlawHere(conversion, checked)
  return conversion.isReading ? checked : writeSimpleJson(type, checked)
}

/** A fixed value is compared as text, as the reader of XML compares it. */
function convertFixed(
  type: AnyXmlType,
  { isFixed, initial }: Pick<AnyMember['marks'], 'initial' | 'isFixed'>,
  converted: unknown,
  conversion: Conversion,
): unknown {
  if (!isFixed || initial === undefined) return converted
  const text = findTextType(type)
  const given = text?.key === undefined ? converted : isMemberRow(converted) ? converted[text.key] : undefined
  if (given === undefined || given === null || !text) return converted
  const value = conversion.isReading ? given : readSimpleJson(text.type, given)
  return equalsText(simpleCodecOf(text.type), value, initial, clarkNames)
    ? converted
    : addFlawHere(conversion, new Flaw('const', `must be ${initial}`))
}

const isInList = (name: string): boolean => name === 'IDREFS' || name === 'ENTITIES' || name === 'NMTOKENS'
const isTextInJson = (name: string): boolean => name === 'hexBinary' || name === 'base64Binary' || name === 'swaRef'
const isFloating = (name: string): boolean => name === 'double' || name === 'float'

/** JSON → the argument of the type's check. */
function readSimpleJson(type: AnyXmlType, json: unknown): unknown {
  const { definition } = type
  switch (definition.kind) {
    case 'builtIn': {
      const isNamed = isFloating(definition.name) && /^(-?INF|NaN)$/.test(String(json))
      if (isTextInJson(definition.name) && typeof json !== 'string') return typeFlaw('text')
      if (typeof json !== 'string' || !(isNamed || isTextInJson(definition.name))) return json
      return simpleCodecOf(type).read(json, clarkNames)
    }
    case 'restriction':
      return readSimpleJson(definition.of, json)
    case 'list':
      return Array.isArray(json) ? readJsonItems(definition.item, json) : typeFlaw('an array')
    case 'union':
      return readUnionJson(definition.of, json)
    default:
      return typeFlaw('a simple value')
  }
}
function readJsonItems(item: AnyXmlType, json: readonly unknown[]): unknown {
  const items = json.map(each => readSimpleJson(item, each))
  return items.find(each => each instanceof Flaw) ?? items
}
/** The first type that the value fits, as with the text of an element. */
function readUnionJson(of: readonly AnyXmlType[], json: unknown): unknown {
  let flaw: unknown = typeFlaw('a value of one of the types')
  for (const type of of) {
    const value = readSimpleJson(type, json)
    flaw = value instanceof Flaw ? value : simpleCodecOf(type).check(value)
    if (!(flaw instanceof Flaw)) return flaw
  }
  return flaw
}

/** A checked value → JSON. */
function writeSimpleJson(type: AnyXmlType, value: unknown): Json {
  const { definition } = type
  switch (definition.kind) {
    case 'restriction':
      return writeSimpleJson(definition.of, value)
    case 'list':
      return (value as readonly unknown[]).map(each => writeSimpleJson(definition.item, each)) // it has passed the check
    case 'union': {
      const fitting = definition.of.find(each => !(simpleCodecOf(each).check(value) instanceof Flaw))
      return fitting ? writeSimpleJson(fitting, value) : String(value)
    }
    case 'builtIn': {
      if (isInList(definition.name)) return value as readonly string[] // likewise
      const isText = value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))
      return isText ? simpleCodecOf(type).write(value, uri => uri) : (value as Json) // a scalar of JSON
    }
    default:
      return String(value)
  }
}
