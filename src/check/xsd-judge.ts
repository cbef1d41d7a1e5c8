/**
 * Judges whether an element matches an XML Schema of a description: its children, their order and
 * number, and the lexical forms of simple types. Whatever this judge does not know (types named in
 * a message, substitution by another schema, wildcards, patterns) allows everything, and so does
 * content deeper than 64 elements or with more than 5,000 children: no judgement is false.
 */
import { memoizeByObject } from '../base/memo.ts'
import type { Element } from '../xml/tree.ts'
import { SchemaSampler } from './xsd-sample.ts'

const xs = 'http://www.w3.org/2001/XMLSchema'
const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
const depthMax = 64
const childrenMax = 5000

const attributeIn = (element: Element, name: string, uri = ''): string | undefined =>
  element.attributes.find(each => each.name.uri === uri && each.name.local === name)?.value
const saysTrue = (text = ''): boolean => /^\s*(?:true|1)\s*$/.test(text)
const partsOfSchema = (element: Element | undefined, ...names: readonly string[]): readonly Element[] =>
  element?.elements().filter(({ name }) => name.uri === xs && names.includes(name.local)) ?? []

/** A place in a content model, as far as the judge knows it. */
type Model =
  | { readonly kind: 'element'; readonly uri: string; readonly local: string; readonly declaration: Element }
  | { readonly kind: 'sequence' | 'choice' | 'all'; readonly members: readonly ModelParticle[] }
  | { readonly kind: 'any' }
interface ModelParticle {
  readonly model: Model
  readonly min: number
  readonly max: number
}

export class SchemaJudge {
  readonly #schemas: readonly Element[]
  readonly #sampler: SchemaSampler
  readonly #contentOf = memoizeByObject((type: Element) => ({ particles: this.#particlesOf(type, 0) }))

  constructor(schemas: readonly Element[]) {
    this.#schemas = schemas
    this.#sampler = new SchemaSampler(schemas)
  }

  /** What is wrong, with the path; undefined: nothing, or the schemas do not have this element. */
  findMismatch(element: Element): string | undefined {
    const declaration = this.#sampler.find('element', element.name.uri, element.name.local)
    return declaration && this.#judge(element, declaration, element.name.local, 0)
  }

  /** The same for an element with this type, such as an RPC part. */
  findTypeMismatch(element: Element, uri: string, local: string): string | undefined {
    if (uri === xs) return judgeBuiltIn(element.text, local, element.name.local)
    const type = this.#sampler.find('type', uri, local)
    return type && this.#judgeByType(element, type, element.name.local, 0)
  }

  #judge(element: Element, declaration: Element, at: string, depth: number): string | undefined {
    const nil = attributeIn(element, 'nil', xsi)
    if (nil !== undefined && !saysTrue(attributeIn(declaration, 'nillable')))
      return `${at} has xsi:nil, which its declaration does not allow` // Part 1 §3.3.4, 3.1
    if (saysTrue(nil) || attributeIn(element, 'type', xsi) !== undefined || depth > depthMax) return undefined
    const [inline] = partsOfSchema(declaration, 'complexType', 'simpleType')
    if (inline) return this.#judgeByType(element, inline, at, depth)
    const name = declaration.qname(attributeIn(declaration, 'type') ?? '')
    if (!name) return undefined
    if (name.uri === xs) return element.elements().length > 0 ? undefined : judgeBuiltIn(element.text, name.local, at)
    const type = this.#sampler.find('type', name.uri, name.local)
    return type && this.#judgeByType(element, type, at, depth)
  }

  #judgeByType(element: Element, type: Element, at: string, depth: number): string | undefined {
    if (type.name.local === 'simpleType') {
      const [child] = element.elements()
      return child
        ? `${at} has ${child.name.local}, where its type is simple`
        : this.#judgeSimple(element.text, type, at)
    }
    if (partsOfSchema(type, 'simpleContent').length > 0) return undefined
    const { particles } = this.#contentOf(type)
    return particles && this.#judgeChildren(element, { kind: 'sequence', members: particles }, at, depth)
  }

  // Content models (XML Schema Part 1 §3.8, §3.9)

  /** Undefined: part of it is unknown. */
  #particlesOf(type: Element, depth: number): readonly ModelParticle[] | undefined {
    if (depth > depthMax) return undefined
    const [content] = partsOfSchema(type, 'complexContent')
    const [extension] = partsOfSchema(content, 'extension')
    const [restriction] = partsOfSchema(content, 'restriction')
    if (!extension) return this.#particlesIn(restriction ?? type)
    const base = extension.qname(attributeIn(extension, 'base') ?? '')
    const inherited = base && base.uri !== xs ? this.#sampler.find('type', base.uri, base.local) : undefined
    const before = inherited ? this.#particlesOf(inherited, depth + 1) : base?.uri === xs ? [] : undefined
    const own = this.#particlesIn(extension)
    return before && own ? [...before, ...own] : undefined
  }

  #particlesIn(holder: Element): readonly ModelParticle[] | undefined {
    const found: ModelParticle[] = []
    for (const each of partsOfSchema(holder, 'element', 'sequence', 'choice', 'all', 'any', 'group')) {
      const model = this.#modelOf(each)
      if (!model) return undefined
      const maxOccurs = attributeIn(each, 'maxOccurs') ?? '1'
      found.push({
        model,
        min: Number(attributeIn(each, 'minOccurs') ?? 1),
        max: maxOccurs === 'unbounded' ? Number.POSITIVE_INFINITY : Number(maxOccurs),
      })
    }
    return found
  }

  #modelOf(particle: Element): Model | undefined {
    const kind = particle.name.local
    if (kind === 'any') return { kind }
    if (kind === 'element') return this.#elementModel(particle)
    if (kind === 'group') {
      const name = particle.qname(attributeIn(particle, 'ref') ?? '')
      const group = name && this.#findGroup(name.uri, name.local)
      const members = group && this.#particlesIn(group)
      return members && { kind: 'sequence', members }
    }
    const members = this.#particlesIn(particle)
    return members && { kind: kind as 'sequence' | 'choice' | 'all', members }
  }

  #elementModel(particle: Element): Model | undefined {
    const reference = particle.qname(attributeIn(particle, 'ref') ?? '')
    if (attributeIn(particle, 'ref') !== undefined) {
      const declaration = reference && this.#sampler.find('element', reference.uri, reference.local)
      return declaration && { kind: 'element', uri: reference.uri, local: reference.local, declaration }
    }
    const schema = this.#schemaOf(particle)
    const form = attributeIn(particle, 'form') ?? attributeIn(schema, 'elementFormDefault')
    const uri = form === 'qualified' ? (attributeIn(schema, 'targetNamespace') ?? '') : ''
    return { kind: 'element', uri, local: attributeIn(particle, 'name') ?? '', declaration: particle }
  }

  #findGroup(uri: string, local: string): Element | undefined {
    return this.#schemas
      .filter(schema => (attributeIn(schema, 'targetNamespace') ?? '') === uri)
      .flatMap(schema => partsOfSchema(schema, 'group'))
      .find(each => attributeIn(each, 'name') === local)
  }
  #schemaOf(element: Element): Element {
    let at = element
    while (at.name.local !== 'schema' && at.parent) at = at.parent
    return at
  }

  #judgeChildren(element: Element, model: Model, at: string, depth: number): string | undefined {
    const children = element.elements()
    if (children.length > childrenMax) return undefined
    const walk: Walk = { children, furthest: 0, expected: new Set() }
    const ends = this.#match({ model, min: 1, max: 1 }, new Set([0]), walk)
    if (!ends.has(children.length)) return explainMismatch(walk, at)
    const declarations = listDeclarations(model)
    for (const child of children) {
      const declaration = declarations.find(({ uri, local }) => uri === child.name.uri && local === child.name.local)
      const wrong = declaration && this.#judge(child, declaration.declaration, `${at}/${child.name.local}`, depth + 1)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }

  /** The positions where the particle may end, given those where it may begin. */
  #match({ model, min, max }: ModelParticle, starts: ReadonlySet<number>, walk: Walk): ReadonlySet<number> {
    let now = starts
    const ends = new Set(min === 0 ? starts : [])
    for (let count = 1; count <= max && now.size > 0; count++) {
      const next = new Set([...this.#matchOnce(model, now, walk)].filter(at => count <= min || !ends.has(at)))
      if (count >= min) for (const at of next) ends.add(at)
      if (count > min && next.isSubsetOf(now)) break
      now = next
    }
    return ends
  }

  #matchOnce(model: Model, starts: ReadonlySet<number>, walk: Walk): ReadonlySet<number> {
    if (model.kind === 'sequence')
      return model.members.reduce<ReadonlySet<number>>((at, each) => this.#match(each, at, walk), starts)
    if (model.kind === 'choice')
      return model.members.reduce((ends, each) => ends.union(this.#match(each, starts, walk)), new Set<number>())
    if (model.kind === 'all') return new Set([...starts].flatMap(at => this.#matchAll(model.members, at, walk)))
    const ends = new Set<number>()
    for (const at of starts) {
      const child = walk.children[at]
      if (child && this.#isOf(child, model)) ends.add(at + 1)
      if (model.kind === 'element') expectAt(walk, at, model.local)
    }
    for (const at of ends) advance(walk, at)
    return ends
  }
  #matchAll(members: readonly ModelParticle[], start: number, walk: Walk): readonly number[] {
    const remaining = new Set(members)
    let at = start
    for (let found = true; found; ) {
      found = false
      for (const each of remaining)
        if (this.#matchOnce(each.model, new Set([at]), walk).has(at + 1)) {
          remaining.delete(each)
          at += 1
          found = true
          break
        }
    }
    return [...remaining].some(({ min }) => min > 0) ? [] : [at]
  }

  /** By its name, or as a member of the substitution group (§3.3.6). */
  #isOf(child: Element, model: Model): boolean {
    if (model.kind !== 'element') return true // a wildcard
    if (child.name.uri === model.uri && child.name.local === model.local) return true
    const own = this.#sampler.find('element', child.name.uri, child.name.local)
    return own !== undefined && attributeIn(own, 'substitutionGroup') !== undefined
  }

  // Simple types (Part 2)

  #judgeSimple(text: string, type: Element, at: string, depth = 0): string | undefined {
    const [restriction] = partsOfSchema(type, 'restriction')
    if (!restriction || depth > depthMax) return undefined
    const base = restriction.qname(attributeIn(restriction, 'base') ?? '')
    const wrong = !base
      ? undefined
      : base.uri === xs
        ? judgeBuiltIn(text, base.local, at)
        : this.#judgeSimpleNamed(text, base.uri, base.local, at, depth)
    return wrong ?? judgeFacets(text, restriction, this.#findNarrowedBuiltIn(restriction), at)
  }
  /** The built-in type that it narrows; undefined for a list, a union or an unknown type. */
  #findNarrowedBuiltIn(restriction: Element, depth = 0): string | undefined {
    const base = restriction.qname(attributeIn(restriction, 'base') ?? '')
    if (!base || base.uri === xs) return base?.local
    const [further] = partsOfSchema(this.#sampler.find('type', base.uri, base.local), 'restriction')
    return further && depth < depthMax ? this.#findNarrowedBuiltIn(further, depth + 1) : undefined
  }
  #judgeSimpleNamed(text: string, uri: string, local: string, at: string, depth: number): string | undefined {
    const type = this.#sampler.find('type', uri, local)
    return type?.name.local === 'simpleType' ? this.#judgeSimple(text, type, at, depth + 1) : undefined
  }
}

/** How far the matching of children has come, and what was expected there. */
interface Walk {
  readonly children: readonly Element[]
  furthest: number
  readonly expected: Set<string>
}
function advance(walk: Walk, at: number): void {
  if (at <= walk.furthest) return
  walk.expected.clear()
  walk.furthest = at
}
function expectAt(walk: Walk, at: number, local: string): void {
  advance(walk, at)
  if (at === walk.furthest) walk.expected.add(local)
}
function explainMismatch({ children, furthest, expected }: Walk, at: string): string {
  const found = children[furthest]
  const names = expected.size === 0 ? 'nothing' : [...expected].slice(-3).join(' or ')
  const name = found && (expected.has(found.name.local) ? `{${found.name.uri}}${found.name.local}` : found.name.local)
  return name ? `${at} has ${name} where ${names} is declared` : `${at} ends where ${names} is declared`
}

type DeclaredElement = Extract<Model, { readonly kind: 'element' }>
/** Elements with one name have one type within a model (Part 1 §3.8.6). */
const listDeclarations = (model: Model): readonly DeclaredElement[] =>
  model.kind === 'element'
    ? [model]
    : model.kind === 'any'
      ? []
      : model.members.flatMap(each => listDeclarations(each.model))

const signedNumber = /^[+-]?\d+$/
const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const zone = '(?:Z|[+-]\\d{2}:\\d{2})?'
/** Part 2 §3: the lexical forms of types that have one; any form for other types. */
const forms: Readonly<Record<string, RegExp>> = {
  __proto__: null as never,
  boolean: /^(?:true|false|0|1)$/,
  decimal: numberForm,
  ...Object.fromEntries(['integer', 'long', 'int', 'short', 'byte'].map(name => [name, signedNumber])),
  ...Object.fromEntries(
    ['nonNegativeInteger', 'unsignedLong', 'unsignedInt', 'unsignedShort', 'unsignedByte'].map(name => [
      name,
      /^(?:\+?\d+|-0+)$/,
    ]),
  ),
  positiveInteger: /^\+?0*[1-9]\d*$/,
  double: /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-?INF|NaN)$/,
  float: /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-?INF|NaN)$/,
  date: new RegExp(`^-?\\d{4,}-\\d{2}-\\d{2}${zone}$`),
  dateTime: new RegExp(`^-?\\d{4,}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?${zone}$`),
  time: new RegExp(`^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?${zone}$`),
  duration: /^-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/,
  base64Binary: /^[A-Za-z0-9+/=\s]*$/,
  hexBinary: /^(?:[0-9A-Fa-f]{2})*$/,
}
const keepsSpace = (name: string): boolean => name === 'string' || name === 'normalizedString'

function judgeBuiltIn(text: string, name: string, at: string): string | undefined {
  const lexical = keepsSpace(name) ? text : text.trim()
  const form = forms[name]
  return form && !form.test(lexical) ? `${at} is "${cutShort(lexical)}", not of the type xs:${name}` : undefined
}

const textTypes: ReadonlySet<string> = new Set([
  'string',
  'normalizedString',
  'token',
  'language',
  'Name',
  'NCName',
  'NMTOKEN',
  'ID',
  'IDREF',
  'anyURI',
])
const numberTypes: ReadonlySet<string> = new Set(
  Object.keys(forms).filter(name => /decimal|integer|long|int|short|byte|double|float/i.test(name)),
)
const collapseGivenSpace = (text: string): string => text.replace(/[ \t\n\r]+/g, ' ').trim()

/** Part 2 §4.3: facets bound values, so only texts and numbers are compared here. */
function judgeFacets(text: string, restriction: Element, builtIn: string | undefined, at: string): string | undefined {
  const lexical = collapseGivenSpace(text)
  const valuesOf = (name: string) => partsOfSchema(restriction, name).map(each => attributeIn(each, 'value') ?? '')
  const listed = valuesOf('enumeration')
  const number = numberForm.test(lexical) && numberTypes.has(builtIn ?? '') ? Number(lexical) : undefined
  const isText = textTypes.has(builtIn ?? '')
  const isListed = isText
    ? listed.some(each => collapseGivenSpace(each) === lexical)
    : number === undefined || listed.some(each => Number(each) === number)
  if (listed.length > 0 && !isListed)
    return `${at} is "${cutShort(lexical)}", not one of ${cutShort(listed.join(', '))}`
  const bounds: readonly (readonly [string, (bound: number) => boolean])[] = [
    ['maxLength', bound => !isText || [...lexical].length <= bound], // white space may be collapsed
    ['minLength', bound => !isText || [...text].length >= bound],
    ['minInclusive', bound => number === undefined || number >= bound],
    ['maxInclusive', bound => number === undefined || number <= bound],
  ]
  const broken = bounds.find(([name, holds]) => {
    const [bound] = valuesOf(name)
    return bound !== undefined && Number.isFinite(Number(bound)) && !holds(Number(bound))
  })
  return broken && `${at} is "${cutShort(lexical)}", against ${broken[0]} ${valuesOf(broken[0])[0]}`
}
const cutShort = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
