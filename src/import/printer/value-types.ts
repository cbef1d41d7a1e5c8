/** TypeScript types of the values that XML types have. */
import type { AnyMember, AnyXmlType, BuiltInName, TypeMembers } from '../../contract/xml-type.ts'
import { quoteLiteral, writeMemberKey } from '../typescript-text.ts'
import type { PrintedNames } from './printed-names.ts'

export class ValueTypes {
  readonly #names: PrintedNames

  constructor(names: PrintedNames) {
    this.#names = names
  }

  typeText(type: AnyXmlType): string {
    return this.#names.of(type) ?? this.bodyType(type)
  }
  bodyType({ definition }: AnyXmlType): string {
    switch (definition.kind) {
      case 'builtIn':
        return valueTypes[definition.name] ?? 'string'
      case 'complex': {
        const members = this.membersType(definition.members)
        return definition.base?.by === 'extension' ? `${this.typeText(definition.base.type)} & ${members}` : members
      }
      case 'restriction': {
        const { values } = definition.facets
        const isText = this.#isText(definition.of)
        return values && isText ? values.map(quoteLiteral).join(' | ') : this.typeText(definition.of)
      }
      case 'list':
        return `readonly (${this.typeText(definition.item)})[]`
      case 'array':
        return definition.dimensions > 1
          ? `readonly (${this.typeText(definition.item())})[]`
          : `readonly (${this.typeText(definition.item())} | null)[]`
      case 'union':
        return definition.of.map(each => this.typeText(each)).join(' | ')
      case 'derivable': {
        const derived = definition.derived().map(each => {
          const local =
            'name' in each.definition && typeof each.definition.name === 'object' ? each.definition.name.local : ''
          return `({ readonly $type: ${quoteLiteral(local)} } & ${this.typeText(each)})`
        })
        const base = definition.type
        const isAbstract = base.definition.kind === 'complex' && base.definition.isAbstract
        const itself = `(${this.typeText(base)} & { readonly $type?: undefined })`
        return [...(isAbstract ? [] : [itself]), ...derived].join(' | ')
      }
    }
  }

  #isText({ definition }: AnyXmlType): boolean {
    if (definition.kind === 'restriction') return this.#isText(definition.of)
    return definition.kind === 'builtIn' && (valueTypes[definition.name] ?? 'string') === 'string'
  }
  membersType(members: TypeMembers): string {
    const lines = Object.entries(members).map(([key, member]) => {
      const isOptional = member.marks.min === 0 && !member.marks.isMany
      return `readonly ${writeMemberKey(key)}${isOptional ? '?' : ''}: ${this.#memberType(member)}${isOptional ? ' | undefined' : ''}`
    })
    return `{ ${lines.join('; ')} }`
  }

  #memberType({ particle, marks }: AnyMember): string {
    const writeOne = (): string => {
      switch (particle.kind) {
        case 'element':
          return this.typeText(particle.type())
        case 'reference':
          return this.#names.of(particle.to()) ?? 'string'
        case 'attribute':
        case 'text':
          return this.typeText(particle.type)
        case 'sequence':
          return this.membersType(particle.members)
        case 'choice':
          return (
            Object.entries(particle.members)
              .map(([key, member]) => `{ readonly ${writeMemberKey(key)}: ${this.#memberType(member)} }`)
              .join(' | ') || 'never'
          )
        case 'any':
          return 'string'
        case 'anyAttribute':
          return 'Readonly<Record<string, string>>'
      }
    }
    const text = marks.isNillable ? `${writeOne()} | null` : writeOne()
    return marks.isMany ? `readonly (${text})[]` : text
  }
}

const valueTypes: Readonly<Partial<Record<BuiltInName, string>>> = {
  boolean: 'boolean',
  ...Object.fromEntries(
    ['float', 'double', 'int', 'short', 'byte', 'unsignedShort', 'unsignedByte'].map(name => [name, 'number']),
  ),
  ...Object.fromEntries(
    [
      ...['long', 'integer', 'unsignedInt', 'unsignedLong', 'positiveInteger', 'nonNegativeInteger'],
      ...['negativeInteger', 'nonPositiveInteger'],
    ].map(name => [name, 'bigint']),
  ),
  hexBinary: 'Uint8Array',
  base64Binary: 'Uint8Array',
  swaRef: 'Uint8Array',
  ...Object.fromEntries(['IDREFS', 'ENTITIES', 'NMTOKENS'].map(name => [name, 'readonly string[]'])),
}
