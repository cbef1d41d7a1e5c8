/** The content of a message's Body as a contract declares it (WSDL 1.1 §3.5). */
import { memoizeOnce } from '../base/memo.ts'
import type { ExchangeBody } from '../contract/exchange.ts'
import { hasElementsAlone } from '../contract/xml-members.ts'
import { type AnyMember, type AnyRootElement, Member, x } from '../contract/xml-type.ts'
import type { WsdlAttachment, WsdlMessage, WsdlOperation, WsdlPart } from '../describe/reader/wsdl-document.ts'
import { schemaNamespaces } from '../describe/reader/wsdl-elements.ts'
import type { Losses } from './loss.ts'
import { splitClark } from './schema/schema-components.ts'
import type { SchemaModel } from './schema/schema-model.ts'
import { encodingUris } from './schema/standard-types.ts'

/** Reads the bodies of one document; messages with the same parts share a body. */
export class BodyReader {
  readonly #model: SchemaModel
  readonly #losses: Losses
  /** By the names and types of parts. */
  readonly #contents = new Map<string, ExchangeBody>()

  constructor(model: SchemaModel, losses: Losses) {
    this.#model = model
    this.#losses = losses
  }

  /** One element, several, the content of a type, or none; undefined: cannot be expressed. */
  readDocument({ parts, attached = [], documentation }: WsdlMessage, place: string): ExchangeBody | undefined {
    const [first, ...others] = parts
    if (!first && attached.length === 0) return 'empty'
    if (first && others.length === 0 && attached.length === 0) {
      const body = this.#readOnly(first, place)
      if (typeof body === 'object') this.#model.addComment(body, first.documentation ?? documentation)
      return body
    }
    const members: Record<string, AnyMember> = {}
    for (const part of parts) {
      const root = this.#readPartElement(part, place)
      if (!root) continue
      const member = x.ref(root)
      this.#model.addComment(member, part.documentation)
      members[freePartKey(part.name, members)] = member
    }
    if (Object.keys(members).length < parts.length) return undefined
    return this.#once([...parts, ...attached], () => x.body(this.#addAttached(members, attached, place)))
  }
  /** WSDL 1.1 §5.11: whatever the types of the parts, media types say what attachments are. */
  #addAttached(
    members: Record<string, AnyMember>,
    attached: readonly WsdlAttachment[],
    place: string,
  ): Record<string, AnyMember> {
    const all: Record<string, AnyMember> = { ...members }
    for (const { name, type, mediaTypes, documentation } of attached) {
      const isText = type === xsString && mediaTypes.length > 0 && mediaTypes.every(each => textTypes.test(each))
      const member = isText ? x.attachment(x.string, ...mediaTypes) : x.attachment(x.base64Binary, ...mediaTypes)
      this.#model.addComment(member, documentation)
      all[freePartKey(name, all)] = member
      if (!isText && mediaTypes.some(each => /[/+]xml(?:;|$)/.test(each)))
        this.#losses.add(place, `the XML of the attachment ${name} is not checked: it is octets`)
    }
    return all
  }
  #once(
    parts: readonly (WsdlPart & Partial<WsdlAttachment>)[],
    make: () => ExchangeBody | undefined,
  ): ExchangeBody | undefined {
    const digest = ({ name, element, type, content, mediaTypes }: (typeof parts)[number]) =>
      [name, element, type, content, mediaTypes?.map(each => `attached ${each}`) ?? 'in the Body'].join(' ')
    const key = parts.map(digest).join('\n')
    const made = this.#contents.get(key) ?? make()
    if (made) this.#contents.set(key, made)
    return made
  }

  #readOnly(part: WsdlPart, place: string): ExchangeBody | undefined {
    if (part.content === 'any element') return this.#once([part], () => x.body({ any: x.any() }))
    if (part.content !== undefined) {
      this.#losses.add(place, `its content is ${part.content}: the operation is left out`)
      return undefined
    }
    if (part.element === undefined && part.type !== undefined)
      return this.#once([part], () => this.#readContent(part.name, part.type ?? '', place))
    return this.#readPartElement(part, place)
  }
  #readPartElement({ name, element }: WsdlPart, place: string): AnyRootElement | undefined {
    if (element !== undefined) return this.#model.element(element, place)
    this.#losses.add(place, `the part ${name} has no element: the operation is left out (R2204)`, 'document')
    return undefined
  }

  /** The type of the only part is that of the Body itself. */
  #readContent(name: string, type: string, place: string): ExchangeBody | undefined {
    const found = this.#model.typeOf(type, place)
    const { definition } = found
    if (definition.kind === 'builtIn' && definition.name === 'anyType') return x.body({ any: x.any().many() })
    if (hasElementsAlone(found)) return x.body(found)
    const { local } = splitClark(type)
    const reason = definition.kind === 'complex' ? 'has attributes or text' : 'is text'
    const detail = `the part ${name} has the type ${local}, which ${reason}, and a Body has only elements`
    this.#losses.add(place, `${detail}: the operation is left out (R2204)`, 'document')
    return undefined
  }

  /** SOAP 1.1 §7.1: an element around an accessor for each part. */
  readCall(message: WsdlMessage, local: string, target: string, isEncoded: boolean): AnyRootElement {
    const members = Object.fromEntries(
      message.parts.map(part => {
        const read = this.#readAccessor(part, local)
        const member = isEncoded && mayBeNil(part) ? read.nillable() : read
        this.#model.addComment(member, part.documentation)
        return [part.name, member]
      }),
    )
    const all = this.#addAttached(members, message.attached ?? [], local)
    const call = x.call(message.namespace || target, local, all)
    this.#model.addComment(call, message.documentation)
    return call
  }
  #readAccessor(part: WsdlPart, local: string): AnyMember {
    const place = `${local}, part ${part.name}`
    if (part.element !== undefined) {
      this.#losses.add(place, 'an RPC part with an element has its type here (R2203)', 'document')
      const element = this.#model.element(part.element, place)
      return element ? new Member({ kind: 'element', type: element.type }) : x.element(x.anyType)
    }
    return new Member({
      kind: 'element',
      type: memoizeOnce(() => this.#model.typeOfElement(part.type ?? '', place)),
    })
  }
}

/**
 * SOAP 1.1 §5.1: nil means no value, which a part cannot declare (WSDL 1.1 §2.3). Toolkits write it
 * for everything except numbers and booleans, which cannot be null in their languages.
 */
const mayBeNil = ({ type = '' }: WsdlPart): boolean => {
  const { uri, local } = splitClark(type)
  return !(primitives.has(local) && (schemaNamespaces.has(uri) || encodingUris.some(each => each === uri)))
}
const primitives: ReadonlySet<string> = new Set([
  ...['boolean', 'float', 'double', 'byte', 'short', 'int', 'long'],
  ...['unsignedByte', 'unsignedShort', 'unsignedInt', 'unsignedLong'],
])

/** Media types whose content is text, if the part has a type of text. */
const textTypes = /^text\/|[/+](?:xml|json)(?:;|$)/i
const xsString = '{http://www.w3.org/2001/XMLSchema}string'

/** Names of parts are unique, except in faulty documents (WSDL 1.1 §2.3). */
const freePartKey = (name: string, used: object): string =>
  Object.hasOwn(used, name) ? freePartKey(`${name}2`, used) : name

/** Distinguishes a request from others with the same operation name, as text. */
export const digestParts = ({ parts }: WsdlMessage, style: WsdlOperation['style']): string =>
  style === 'rpc'
    ? parts
        .map(({ name, element, type }) => `${name} ${element ?? type}`)
        .sort()
        .join('\n')
    : parts.map(({ element, type, content }) => `${element} ${type} ${content}`).join('\n')
