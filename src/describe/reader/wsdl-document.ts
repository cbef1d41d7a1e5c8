/** A WSDL 1.1 as a caller needs it, in the terms of which a WSDL 2.0 is read, too. */
import type { DeclaredActions } from '../../contract/exchange.ts'
import type { Element } from '../../xml/tree.ts'

/** A WSDL 1.1, as far as a caller needs it. */
export interface WsdlDocument {
  readonly targetNamespace: string
  readonly services: readonly WsdlService[]
  /** All bindings, including those without a port: many documents leave the service to others. */
  readonly bindings: readonly WsdlBinding[]
  readonly portTypes: readonly WsdlPortType[]
  /** Elements `xs:schema`, both inline and imported. */
  readonly schemas: readonly Element[]
  /** The same schemas, each under every namespace in which it declares components. */
  readonly schemaDocuments: readonly SchemaDocument[]
  /** Locations that `find` did not find. */
  readonly missing: readonly string[]
  /** A phrase for each flaw; empty for most documents. */
  readonly flaws: readonly string[]
  /**
   * A phrase for each thing that a profile or schema forbids although its meaning is clear, and for
   * each flaw of a binding without a port.
   */
  readonly remarks: readonly string[]
  /** Settings that SOAP messages over HTTP do not have. */
  readonly leftOut: readonly LeftOut[]
  /** Its own documentation; with single spaces, like all documentation here. */
  readonly documentation: string | undefined
}
/** A part of a description that has no place in the result. */
export interface LeftOut {
  /** `operation Order input`. */
  readonly place: string
  /** A phrase that says what happens to it. */
  readonly detail: string
}
/** A schema in its own namespace, or in that of the schema that includes it. */
export interface SchemaDocument {
  readonly schema: Element
  readonly namespace: string
  readonly location: string
}
export interface WsdlPortType {
  /** In James Clark's notation. */
  readonly name: string
  /** Names; an overloaded operation occurs once for each declaration. */
  readonly operations: readonly string[]
}
export interface WsdlBinding {
  /** In James Clark's notation. */
  readonly name: string
  /** Undefined: not a binding of SOAP. */
  readonly soap: '1.1' | '1.2' | undefined
  /** If it is not a SOAP binding, its kind: a namespace, such as that of HTTP. */
  readonly other?: string | undefined
  /** A URI; `http://schemas.xmlsoap.org/soap/http` is HTTP. */
  readonly transport: string | undefined
  /** In James Clark's notation. */
  readonly portType: string | undefined
  readonly operations: readonly WsdlOperation[]
  /** `wsp:Policy` of any version attached to it; for a port, also the port's own. */
  readonly policies?: readonly Element[]
  /** From its portType or interface, otherwise its own, otherwise the port's. */
  readonly documentation?: string | undefined
}
/** A service of a WSDL, with its ports. */
export interface WsdlService {
  readonly name: string
  readonly documentation?: string | undefined
  readonly ports: readonly WsdlPort[]
}
/** The contents of its binding, under the name of the port. */
export interface WsdlPort extends WsdlBinding {
  /** As written: it may be any address, and the client decides whether to use it (attack D3). */
  readonly address: string | undefined
}
/** An operation of a binding, with its action and its messages. */
export interface WsdlOperation {
  readonly name: string
  /** soapAction; empty if absent. */
  readonly action: string
  /** The [action] of its messages (WS-Addressing 1.0 Metadata §4.4). */
  readonly addressedAs: Required<DeclaredActions>
  readonly style: 'document' | 'rpc'
  /** Undefined: it has none, or none that could be read. */
  readonly input: WsdlMessage | undefined
  /** Why no client can call it, as a sentence; undefined: clients can. */
  readonly unasked: string | undefined
  /** Undefined: one-way, or not callable. */
  readonly output: WsdlMessage | undefined
  readonly faults: readonly WsdlFault[]
  /** Whether WSDL 2.0 says that it changes nothing (Part 2 §3.1). */
  readonly isSafe?: boolean
  /** `wsp:Policy` attached to it in the binding, and to its messages there. */
  readonly policies?: Readonly<Record<'operation' | 'input' | 'output', readonly Element[]>>
  /** Its replies may not go into the response (`wsaw:Anonymous`, WSDL Binding §3.2). */
  readonly isAnsweredElsewhere?: true
  /** If WSDL 2.0 binds it to a GET: the template of the address, relative to the endpoint's. */
  readonly location?: string
  /** From its portType or interface, otherwise from its binding. */
  readonly documentation?: string
}
/** A fault of a WSDL operation. */
export interface WsdlFault extends WsdlMessage {
  readonly fault: string
  /** Whether the binding says how it is sent. */
  readonly isBound: boolean
}
/** A message of a WSDL: its parts, in order. */
export interface WsdlMessage {
  readonly use: 'literal' | 'encoded'
  /** The namespace of an RPC wrapper. */
  readonly namespace: string
  readonly encodingStyle: string | undefined
  /**
   * The content of the Body, in order: declared elements, or types under the names of their parts.
   */
  readonly parts: readonly WsdlPart[]
  /** The parts that travel next to the envelope (§5.11). */
  readonly attached?: readonly WsdlAttachment[]
  /** The parts that are header blocks, with the namespace of those that have a type. */
  readonly headers: readonly WsdlHeader[]
  /** Of the message in its operation, otherwise of the message itself. */
  readonly documentation?: string | undefined
}
/** A part that travels next to its envelope, with its allowed media types; none: any. */
export interface WsdlAttachment extends WsdlPart {
  readonly mediaTypes: readonly string[]
}
/** A header block, and the blocks that report errors about it (§3.7). */
export interface WsdlHeader extends WsdlBlock {
  readonly faults?: readonly WsdlBlock[]
}
/** A message part that travels as a header block; with a namespace if it has a type. */
export type WsdlBlock = WsdlPart & { readonly namespace?: string }
/** A part of a message, by its element or its type. */
export interface WsdlPart {
  readonly name: string
  /** In James Clark's notation, `{namespace}local`. */
  readonly element?: string
  readonly type?: string
  /** In WSDL 2.0, a phrase for content other than a declared element. */
  readonly content?: string
  readonly documentation?: string | undefined
  /** Of a header block in WSDL 2.0: its sender marks it with mustUnderstand. */
  readonly isMandatory?: boolean
}

export interface WsdlLimits {
  readonly documents: number
}
/** More than the descriptions of real services have; a hostile one may have 10,000 (attack D1). */
export const wsdlLimits: WsdlLimits = { documents: 200 }

/** Finds the octets of a location named in the document at `base`. */
export type Find = (
  location: string,
  base: string,
) => { readonly location: string; readonly bytes: Uint8Array } | undefined
