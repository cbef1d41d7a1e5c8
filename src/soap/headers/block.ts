import type { Maybe } from '../../base/maybe.ts'
import type { AnyField, Field, Presence, ValueOrigin } from '../../contract/field.ts'
import type { Caller } from '../../contract/policy.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { Refused } from '../../service/refusal.ts'
import { Element, internName, type Name, walkTree, writeAttribute } from '../../xml/index.ts'
import { compileValueReader } from '../codecs/literal-read.ts'
import { compileElementWriter } from '../codecs/literal-write.ts'
import {
  inlineWriting,
  type LiteralReading,
  type LiteralWriting,
  qualifiedSpace,
  type ReadValue,
} from '../codecs/values.ts'
import type { SoapFault } from '../fault.ts'
import { asSchemaRefusal, refuseMessage, type SoapRefusal } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import { roleOf } from './node.ts'

/** A declared header block: its name, its content, its handler. */
export interface Block<T = unknown> {
  /** The type of its values; never set. */
  readonly types?: T
  readonly name: Name
  /** URIs of roles in which it is processed; undefined: any that this node plays. */
  readonly roles: readonly string[] | undefined
  /** The names of the operations that have it; undefined: all operations of the endpoint. */
  readonly operations?: ReadonlySet<string>
  readonly read: ReadValue
  readonly process: (value: unknown, processing: BlockContext) => Maybe<void>
}

/**
 * The context of a block handler, which runs after the message has been read and before the
 * application.
 */
export interface BlockContext {
  /** The block as it was received. */
  readonly block: Element
  readonly version: SoapVersion
  readonly caller: Caller
  /** Adds a block of `compileBlockWriter` to the reply, or, at an intermediary, to the message. */
  readonly add: (block: string) => void
}

/**
 * Declares a header block: `block({ namespace, name, content: t.string(), process })`. A handler
 * refuses the message by throwing `refuseWithFault(…)`; any other exception is a bug.
 */
export function block<T>(declaration: {
  readonly namespace: string
  readonly name: string
  /** The namespace of the elements in it. Default: `namespace`. */
  readonly types?: string
  readonly content: Field<T, Presence, ValueOrigin, unknown>
  readonly roles?: readonly string[]
  readonly process?: (value: T, processing: BlockContext) => Maybe<void>
}): Block<T> {
  return {
    name: internName(declaration.namespace, declaration.name),
    roles: declaration.roles,
    read: compileValueReader(
      declaration.content as AnyField,
      declaration.name,
      qualifiedSpace(declaration.types ?? declaration.namespace),
      isForeignAttribute,
    ),
    process: (declaration.process ?? (() => {})) as Block['process'], // `read` gives a T
  }
}

/**
 * SOAP 1.2 Part 1 §5.2, SOAP 1.1 §4.2: a block may have any attribute with a namespace: its
 * addressee, `xml:lang`, the identifier for signatures, and those of other specifications.
 */
export const isForeignAttribute = (attribute: Name): boolean => attribute.uri !== ''

/** A block without SOAP's own and other specifications' attributes, as its type describes it. */
export function stripForeignAttributes(block: Element, isDeclared: (attribute: Name) => boolean): Element {
  const attributes = block.attributes.filter(
    ({ name }) => !isForeignAttribute(name) || name.uri.includes('XMLSchema-instance') || isDeclared(name),
  )
  const alone = new Element(block.parent, block.name, block.prefix, attributes, block.declarations)
  alone.append(block.children)
  return alone
}

/** Makes the refusal that a block handler throws to reply with this fault. */
export const refuseWithFault = (fault: SoapFault): Refused<SoapRefusal> => new Refused({ kind: 'faulted', fault })

/** The addressee of a block, in SOAP's own attributes. */
export interface Addressee {
  readonly version: SoapVersion
  /** Default: the ultimate receiver. */
  readonly role?: string
  readonly mandatory?: boolean
  /** An intermediary that does not process the block passes it on; SOAP 1.1 cannot express it. */
  readonly relay?: boolean
}

/** A writer of a header block: `write(value, { version, role, mandatory: true })` gives XML. */
export function compileBlockWriter<T>(
  namespace: string,
  local: string,
  content: Field<T, Presence, ValueOrigin, unknown>,
): (value: T, to?: Addressee) => string {
  const write = compileRootWriter(namespace, local, content)
  return (value, to) => write(value, inlineWriting, to ? attributesFor(to) : '')
}

export function attributesFor({ version, role, mandatory, relay }: Addressee): string {
  const attributes = [
    ...(role === undefined ? [] : [`s:${version.role.local}=${writeAttribute(role)}`]),
    ...(mandatory ? [`s:${version.mustUnderstand.local}="1"`] : []),
    ...(relay && version.relay ? [`s:${version.relay.local}="true"`] : []),
  ]
  return attributes.length === 0 ? '' : ` xmlns:s="${version.namespace}" ${attributes.join(' ')}`
}

/** The same, of a block that is written already. */
export const markMandatory = (block: string, version: SoapVersion): string =>
  block.replace(/^<[^\s/>]+/, start => start + attributesFor({ version, mandatory: true }))

/** A writer of an element that declares its namespace, with further attributes as XML. */
export function compileRootWriter<T>(
  namespace: string,
  local: string,
  content: Field<T, Presence, ValueOrigin, unknown>,
): (value: T, writing: LiteralWriting, attributes?: string) => string {
  const open = `<b:${toXmlName(local)}`
  const scope = ` xmlns:b=${writeAttribute(namespace)}`
  const write = compileElementWriter(content as AnyField, local, open.slice(1), 'b:')
  return (value, writing, attributes = '') => `${open}${scope}${attributes}${write(value, writing).slice(open.length)}`
}

/** The declaration of this block in its role; any operation's while the operation is unknown. */
export function findBlock(
  block: Element,
  version: SoapVersion,
  blocks: readonly Block[],
  operation?: string,
): Block | undefined {
  return blocks.find(
    ({ name, roles, operations }) =>
      name === block.name &&
      (roles?.includes(roleOf(block, version)) ?? true) &&
      (operation === undefined || (operations?.has(operation) ?? true)),
  )
}

/** The value of a block; refuses a block that violates its declaration. */
export function readBlock(block: Element, read: ReadValue): unknown {
  const cursor = walkTree(block)
  cursor.next()
  const reading: LiteralReading = { flaws: [], parts: undefined, around: block.parent, blocks: [] }
  const value = asSchemaRefusal(
    () => read(cursor, reading),
    refusal => ({ ...refusal, inHeader: true }),
  )
  const [flaw] = reading.flaws
  return flaw ? refuseMessage({ kind: 'schema', path: flaw.path, detail: flaw.detail, inHeader: true }) : value
}
