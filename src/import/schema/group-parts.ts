/** Elements, wildcards and groups, as parts of a complex type (XML Schema Part 1 §3.8, §3.9). */
import { memoizeOnce } from '../../base/memo.ts'
import { Member, type QualifiedName, x } from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { maySubstitute } from './derivations.ts'
import { findEndlessTypes } from './endless-types.ts'
import { recordContradictions, recordMistakenOccurs } from './mistaken-declarations.ts'
import { joinOccurs, type Occurs, occursOf, withOccurs } from './occurs.ts'
import { attributeOf, hasTrue, schemaChild, schemaChildren, splitClark, xsNs } from './schema-components.ts'
import { findAncestor, localNameOf, type SchemaPlace, type SchemaSource, uriOfLocal } from './schema-source.ts'
import type { SimpleTypes } from './simple-types.ts'
import { joinNames, keyParts, lowerInitial, type Part } from './type-members.ts'
import { recordNotExcluded } from './unchecked-rules.ts'
import { wildcardOf } from './wildcards.ts'

/** Of elements and groups in one type; the largest known type has some 500. */
const particlesMax = 10_000
const particleNames: ReadonlySet<string> = new Set(['element', 'any', 'group', 'sequence', 'all', 'choice'])

interface GroupContent {
  readonly parts: readonly Part[]
  readonly isUnordered: boolean
}

export class GroupParts {
  readonly #source: SchemaSource
  readonly #simple: SimpleTypes
  readonly #endless: ReadonlySet<string>
  /** For one type: nested groups may stand for any number of elements. */
  #particleCount = 0
  /** Named groups that are currently being read. */
  readonly #openGroups = new Set<Element>()

  constructor(source: SchemaSource, simple: SimpleTypes) {
    this.#source = source
    this.#simple = simple
    this.#endless = findEndlessTypes(source.components)
  }

  /** The content of a complex type; XML if its groups stand for too many elements. */
  contentOf(group: Element, around: SchemaPlace): GroupContent {
    this.#particleCount = 0
    const content = this.#partsOfTop(group, around)
    if (this.#particleCount <= particlesMax) return content
    this.#source.losses.add(around.place, `has more than ${particlesMax} elements by its groups: they are XML`)
    return { parts: [{ wish: 'any', member: x.any().many() }], isUnordered: false }
  }

  #partsOfTop(group: Element, around: SchemaPlace): GroupContent {
    const found = this.#dereferenceGroup(group, around)
    if (!found) return { parts: [], isUnordered: false }
    if (found.node.name.local !== 'all') return { parts: this.#particle(group, around), isUnordered: false }
    const parts = this.#children(found.node, found.around)
    const isOptional = occursOf(group).min === 0
    const [required] = parts.filter(({ member }) => member.marks.min > 0)
    if (isOptional && required && parts.length > 1)
      this.#source.losses.add(
        around.place,
        `may be empty (xs:all): ${required.wish} may be absent although others are present here`,
      )
    const optional = parts.map(part =>
      isOptional ? { ...part, member: withOccurs(part.member, { min: 0, max: part.member.marks.max }) } : part,
    )
    return { parts: optional, isUnordered: parts.length > 1 }
  }

  /** A reference to a named group leads to its content. */
  #dereferenceGroup(
    group: Element,
    around: SchemaPlace,
  ): { node: Element; around: SchemaPlace; name?: string } | undefined {
    if (group.name.local !== 'group') return { node: group, around }
    const name = this.#source.components.resolve(group, attributeOf(group, 'ref'), around.form.uri)
    const found = name === undefined ? undefined : this.#source.components.find('group', name)
    const node = found && schemaChild(found.node, 'sequence', 'choice', 'all')
    if (found && node)
      return { node, around: { form: found.form, place: around.place }, name: splitClark(name ?? '').local }
    const missing =
      name === undefined ? (attributeOf(group, 'ref') ?? '') : this.#source.components.describeComponent(name)
    this.#source.losses.add(around.place, `the group ${missing} is not declared`, 'document')
    return undefined
  }

  #children(group: Element, around: SchemaPlace): Part[] {
    return schemaChildren(group).flatMap(each => this.#particle(each, around))
  }

  /**
   * An element, wildcard or group; a sequence that occurs once is merged into its surroundings,
   * unless it is a branch of a choice, which occurs completely or not at all (Part 1 §3.8.4).
   */
  #particle(node: Element, around: SchemaPlace, isBranch = false): Part[] {
    const occurs = occursOf(node)
    recordMistakenOccurs(node, around, this.#source.losses)
    if (occurs.max === 0 || ++this.#particleCount > particlesMax) return []
    switch (node.name.local) {
      case 'element':
        return this.#elementPart(node, around, occurs)
      case 'any':
        recordNotExcluded(node, around, this.#source.losses)
        return [{ wish: 'any', member: withOccurs(x.any(...wildcardOf(node, around)), occurs) }]
      case 'group': {
        const found = this.#dereferenceGroup(node, around)
        if (!found) return []
        // Part 1 §3.8.6: Model Group Correct, 2.
        if (this.#openGroups.has(found.node)) {
          this.#source.losses.add(
            around.place,
            `the group ${found.name} contains itself: it is left out there`,
            'document',
          )
          return []
        }
        this.#openGroups.add(found.node)
        const part = this.#groupPart(found.node, found.around, occurs, lowerInitial(found.name ?? 'group'), isBranch)
        this.#openGroups.delete(found.node)
        return part
      }
      case 'sequence':
      case 'all':
      case 'choice':
        return this.#groupPart(node, around, occurs, undefined, isBranch)
      default:
        return []
    }
  }

  #groupPart(node: Element, around: SchemaPlace, occurs: Occurs, name: string | undefined, isBranch: boolean): Part[] {
    if (node.name.local === 'choice') return this.#branchesPart(node, around, occurs, name)
    const isOnce = occurs.min === 1 && occurs.max === 1
    const children = this.#children(node, around)
    if (children.length === 0) return []
    const [only] = children
    if (children.length === 1 && only) {
      const joined = joinOccurs(only.member.marks, occurs)
      if (joined) return [{ ...only, member: withOccurs(only.member, joined) }]
    }
    const isDissolved = isOnce && !isBranch && node.name.local !== 'all'
    return isDissolved
      ? children
      : [this.#groupMember('sequence', children, occurs, name ?? joinNames(children, 'And', 'group'))]
  }

  /**
   * An empty branch lets the whole choice be empty; without branches, nothing at all is valid (Part
   * 1 §3.4.2, §3.8.4).
   */
  #branchesPart(node: Element, around: SchemaPlace, occurs: Occurs, name: string | undefined): Part[] {
    const branches = schemaChildren(node)
      .filter(each => particleNames.has(each.name.local) && occursOf(each).max > 0)
      .map(each => this.#particle(each, around, true))
    const children = branches.flat()
    if (branches.length === 0 && occurs.min > 0) {
      this.#source.losses.add(around.place, 'has a choice without branches: nothing is valid there', 'document')
      return [this.#choicePart([], occurs, name)]
    }
    if (children.length === 0) return []
    const some = branches.some(parts => parts.length === 0) ? { ...occurs, min: 0 } : occurs
    const [only] = children
    const joined = children.length === 1 && only ? joinOccurs(only.member.marks, some) : undefined
    return only && joined
      ? [{ ...only, member: withOccurs(only.member, joined) }]
      : [this.#choicePart(children, some, name)]
  }

  #choicePart(children: readonly Part[], occurs: Occurs, name: string | undefined): Part {
    const isEmptiable = children.some(({ member }) => member.marks.min === 0)
    const branches = children.map(requirePart).flatMap(part => {
      const { particle, marks } = part.member
      const isPlain = particle.kind === 'choice' && marks.min === 1 && !marks.isMany
      return isPlain ? Object.entries(particle.members).map(([wish, member]) => ({ wish, member })) : [part]
    })
    const min = isEmptiable ? 0 : occurs.min
    return this.#groupMember('choice', branches, { min, max: occurs.max }, name ?? joinNames(branches, 'Or', 'choice'))
  }

  #groupMember(kind: 'choice' | 'sequence', parts: readonly Part[], occurs: Occurs, wish: string): Part {
    return { wish, member: withOccurs(new Member({ kind, members: keyParts(parts, this.#source.comments) }), occurs) }
  }

  #elementPart(node: Element, around: SchemaPlace, occurs: Occurs): Part[] {
    recordContradictions(node, around, this.#source.losses)
    const reference = this.#source.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    if (reference !== undefined) return this.#referencePart(reference, around, occurs)
    const local = localNameOf(node, around, this.#source.losses)
    if (local === undefined) return []
    const place = `${around.place}, element ${local}`
    const named = this.#source.components.resolve(node, attributeOf(node, 'type'), around.form.uri)
    const type = memoizeOnce(() => this.#source.typeOfNode(node, { ...around, place }))
    const uri = uriOfLocal(node, around.form.elements, around)
    const declared = this.#simple.markElement(new Member({ kind: 'element', type }), node, { ...around, place }).in(uri)
    const marked = named !== undefined && this.#isEndlessHere(named, node, around) ? declared.nillable() : declared
    const member = withOccurs(marked, occurs)
    this.#source.comment(member, node)
    return [{ wish: local, member }]
  }

  /** An element that would lead back to the enclosing type without end: only nil can end it. */
  #isEndlessHere(type: string, node: Element, { form }: SchemaPlace): boolean {
    if (!this.#endless.has(type)) return false
    const at = findAncestor(node, each => each.name.local === 'complexType')
    const name = at && attributeOf(at, 'name')
    return name !== undefined && this.#endless.has(`{${form.uri}}${name}`)
  }

  /** A reference to the head of a substitution group is a choice among its members. */
  #referencePart(name: string, around: SchemaPlace, occurs: Occurs): Part[] {
    const refer = (each: string): Part[] => {
      const found = this.#source.components.find('element', each)
      if (found && hasTrue(found.node, 'abstract')) return []
      if (!found) {
        this.#source.losses.add(around.place, `the element ${each} is not declared: it is XML`, 'document')
        return [undeclaredPart(splitClark(each))]
      }
      const to = memoizeOnce(() => this.#source.element(each, around.place)!)
      return [{ wish: splitClark(each).local, member: new Member({ kind: 'reference', to }) }]
    }
    const substitutes = this.#source.components
      .substitutesOf(name)
      .filter(each => maySubstitute(this.#source.components, each, name))
    if (substitutes.length === 0) {
      const found = refer(name)
      if (found.length === 0)
        this.#source.losses.add(around.place, `the element ${name} is abstract, and has no substitute`, 'document')
      return found.map(part => ({ ...part, member: withOccurs(part.member, occurs) }))
    }
    return [this.#choicePart([name, ...substitutes].flatMap(refer), occurs, splitClark(name).local)]
  }
}

/** As a branch of a choice that may be empty as a whole. */
function requirePart(part: Part): Part {
  const { min, max, least = 1 } = part.member.marks
  return min > 0 ? part : { ...part, member: withOccurs(part.member, { min: least, max }) }
}

/** What its name says is kept: a wildcard could not be told from others of its namespace. */
function undeclaredPart({ uri, local }: QualifiedName): Part {
  const isOfSchemas = uri === xsNs // documents that are served must not declare its elements
  const member = isOfSchemas ? x.any({ of: [uri] }) : new Member({ kind: 'element', type: () => x.anyType }).in(uri)
  return { wish: local, member }
}
