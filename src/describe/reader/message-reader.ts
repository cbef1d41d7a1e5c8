/** The messages of a WSDL 1.1 as their bindings send them: Body, header blocks, attachments. */
import type { Element } from '../../xml/tree.ts'
import type { DescriptionDocuments, ReadingNotes } from './description-documents.ts'
import type { WsdlAttachment, WsdlBlock, WsdlFault, WsdlHeader, WsdlMessage, WsdlPart } from './wsdl-document.ts'
import {
  attributeValue,
  listMimeParts,
  listRepeated,
  mime,
  readDocumentation,
  soapChildren,
  soapExtensions,
  wsdlChildren,
  xs,
} from './wsdl-elements.ts'

export class MessageReader {
  readonly #documents: DescriptionDocuments
  readonly #notes: ReadingNotes
  readonly #parts = new Map<Element, readonly WsdlPart[]>()

  constructor(documents: DescriptionDocuments, notes: ReadingNotes) {
    this.#documents = documents
    this.#notes = notes
  }

  readFault(fault: Element, bound: Element, operation: string): WsdlFault[] {
    const name = attributeValue(fault, 'name') ?? ''
    const binding = wsdlChildren(bound, 'fault').find(each => attributeValue(each, 'name') === name)
    const message = this.readMessage(fault, binding, `${operation} fault ${name}`)
    return message ? [{ fault: name, isBound: binding !== undefined, ...message }] : []
  }

  /** @param style the style of the operation, if the message is its input or output */
  readMessage(
    reference: Element,
    binding: Element | undefined,
    place: string,
    style?: 'document' | 'rpc',
  ): WsdlMessage | undefined {
    const message = this.#documents.resolve('message', reference, 'message', place)
    if (!message) return undefined
    const [body] = binding ? [...soapExtensions(binding, 'body'), ...soapExtensions(binding, 'fault')] : []
    const headers = binding ? soapExtensions(binding, 'header').flatMap(header => this.#readHeader(header)) : []
    const all = this.#partsOf(message, place)
    const only = body && this.#readPartNames(body, all, place)
    const attached = binding ? this.#readAttached(binding, all, place) : []
    const blocks = new Set([
      ...headers.filter(({ of }) => of === message).map(({ name }) => name),
      ...attached.map(({ name }) => name),
    ])
    const read: WsdlMessage = {
      use: body && attributeValue(body, 'use') === 'encoded' ? 'encoded' : 'literal',
      namespace: (body && attributeValue(body, 'namespace')) ?? '',
      encodingStyle: body && attributeValue(body, 'encodingStyle'),
      parts: only || blocks.size > 0 ? all.filter(({ name }) => (only ? only.has(name) : !blocks.has(name))) : all,
      ...(attached.length > 0 && { attached }),
      headers: headers.map(({ of: _, ...part }) => part),
      documentation: readDocumentation(reference) ?? readDocumentation(message),
    }
    if (body && style && read.use === 'literal') this.#checkLiteral(read, style, place)
    return read
  }

  /**
   * §3.5: the parts of the Body, if they are listed. A list of no part of this message is ignored:
   * writers of documents rename parts and forget it.
   */
  #readPartNames(body: Element, parts: readonly WsdlPart[], place: string): ReadonlySet<string> | undefined {
    const listed = attributeValue(body, 'parts')?.split(/\s+/).filter(Boolean)
    const unknown = listed?.filter(each => !parts.some(({ name }) => name === each)) ?? []
    for (const each of unknown) this.#notes.remarks.add(`${place}: its message has no part ${each}`)
    return unknown.length > 0 && unknown.length === listed?.length ? undefined : listed && new Set(listed)
  }

  /**
   * §5.11: the parts that travel next to the envelope; several contents of one are alternatives.
   * §5.3: the content of the only part of a message need not name it.
   */
  #readAttached(binding: Element, parts: readonly WsdlPart[], place: string): readonly WsdlAttachment[] {
    const contents = listMimeParts(binding).flatMap(each =>
      each.elements().filter(({ name }) => name.uri === mime && (name.local === 'content' || name.local === 'mimeXml')),
    )
    const only = parts.length === 1 ? parts[0]?.name : undefined
    return [...Map.groupBy(contents, each => attributeValue(each, 'part') ?? only ?? '')].flatMap(([name, all]) => {
      const part = parts.find(each => each.name === name)
      if (!part) {
        this.#notes.addFlaw(`${place}: the attachment ${name} is not a part of the message`)
        return []
      }
      const types = all.map(each => (each.name.local === 'mimeXml' ? 'text/xml' : attributeValue(each, 'type')) ?? '*')
      const isOpen = types.some(each => each === '*' || each === '*/*')
      return [{ ...part, mediaTypes: isOpen ? [] : [...new Set(types)] }]
    })
  }

  /** Many operations may share a message, whose parts are read once. */
  #partsOf(message: Element, place: string): readonly WsdlPart[] {
    let known = this.#parts.get(message)
    if (!known) {
      known = wsdlChildren(message, 'part').map(part => this.#readPart(part, place))
      for (const each of listRepeated(known.map(({ name }) => name)))
        this.#notes.addFlaw(`${place}: part ${each} is declared twice`)
      this.#parts.set(message, known)
    }
    return known
  }

  /** WS-I Basic Profile 1.1 R2717, R2203, R2204. */
  #checkLiteral({ namespace, parts }: WsdlMessage, style: 'document' | 'rpc', place: string): void {
    if (style === 'rpc' && namespace === '')
      this.#notes.remarks.add(`${place}: soap:body of an RPC operation has no namespace (R2717)`)
    const wrong = parts.find(({ element }) => (element !== undefined) === (style === 'rpc'))
    if (!wrong) return
    const rule =
      style === 'rpc' ? 'an RPC part must have a type (R2203)' : 'a document part must have an element (R2204)'
    this.#notes.remarks.add(`${place}: part ${wrong.name}: ${rule}`)
  }

  #readHeader(header: Element): (WsdlHeader & { of: Element })[] {
    return this.#readBlock(header).map(block => {
      const faults = soapChildren(header, 'headerfault').flatMap(each => this.#readBlock(each))
      return { ...block, ...(faults.length > 0 && { faults: faults.map(({ of: _, ...fault }) => fault) }) }
    })
  }
  #readBlock(header: Element): (WsdlBlock & { of: Element })[] {
    const message = this.#documents.resolve('message', header, 'message')
    const named =
      message &&
      wsdlChildren(message, 'part').find(each => attributeValue(each, 'name') === attributeValue(header, 'part'))
    if (message && !named)
      this.#notes.addFlaw(
        `${header.name.local}: message ${attributeValue(message, 'name')} has no part ${attributeValue(header, 'part')}`,
      )
    const namespace = attributeValue(header, 'namespace') ?? ''
    return message && named ? [{ of: message, namespace, ...this.#readPart(named, header.name.local) }] : []
  }

  #readPart(part: Element, place: string): WsdlPart {
    const name = attributeValue(part, 'name') ?? ''
    const element = this.#documents.resolveName(part, 'element')
    const type = this.#documents.resolveName(part, 'type')
    if (element === undefined && type === undefined)
      this.#notes.addFlaw(`${place}: part ${name} has neither element nor type`)
    if (element !== undefined && type !== undefined)
      this.#notes.remarks.add(`${place}: part ${name}: a part must not have both an element and a type (R2306)`)
    if (element !== undefined) this.#documents.checkDeclared('element', element, `${place}: element`)
    if (type !== undefined && !type.startsWith(`{${xs}}`)) this.#documents.checkDeclared('type', type, `${place}: type`)
    return {
      name,
      ...(element !== undefined && { element }),
      ...(type !== undefined && { type }),
      documentation: readDocumentation(part),
    }
  }
}
