import type { Maybe } from '../../base/maybe.ts'
import type { AnyField, Field } from '../../contract/field.ts'
import type { Caller } from '../../contract/policy.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { Refused } from '../../service/refusal.ts'
import { type Element, internName, type Name, walkTree, writeAttribute } from '../../xml/index.ts'
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
import { wsuId } from '../security-port.ts'
import { type SoapVersion, versions } from '../version.ts'
import { addressingVersions } from './addressing.ts'
import { roleOf } from './node.ts'

/** A header block as it is declared: its name, its content, and what is done with it. */
export interface Block<T = unknown> {
  /** Of the type of its values; there is nothing here. */
  readonly types?: T
  readonly name: Name
  /** URIs of roles in which it is processed; undefined: in any that this node plays. */
  readonly roles: readonly string[] | undefined
  readonly read: ReadValue
  readonly process: (value: unknown, processing: BlockContext) => Maybe<void>
}

/**
 * What a handler of blocks works with. It runs when the whole message has been read, before the
 * application.
 */
export interface BlockContext {
  /** The block as it came. */
  readonly block: Element
  readonly version: SoapVersion
  readonly caller: Caller
  /**
   * Adds a block, as `compileBlockWriter` writes it, to what this node sends: the reply, or at an
   * intermediary the message itself.
   */
  readonly add: (block: string) => void
}

/**
 * Declares a header block: `block({ namespace, name, content: t.string(), process })`. A handler
 * refuses the message by throwing `faulted(…)`; anything else that it throws is a bug.
 */
export function block<T>(is: {
  readonly namespace: string
  readonly name: string
  /** The namespace of the elements in it; `namespace` by default. */
  readonly types?: string
  readonly content: Field<T, boolean, boolean, unknown>
  readonly roles?: readonly string[]
  readonly process?: (value: T, processing: BlockContext) => Maybe<void>
}): Block<T> {
  return {
    name: internName(is.namespace, is.name),
    roles: is.roles,
    read: compileValueReader(is.content as AnyField, is.name, qualifiedSpace(is.types ?? is.namespace), beside),
    process: (is.process ?? (() => {})) as Block['process'], // `read` gives what `content` says
  }
}

/**
 * Attributes of a block that are not of its content: whom it is for, by what a signature refers to
 * it (WSS §4.2), and that it is a reference parameter (WS-Addressing SOAP Binding §2.3).
 */
const beside = new Set([
  ...versions.flatMap(({ role, mustUnderstand, relay }) => [role, mustUnderstand, ...(relay ? [relay] : [])]),
  ...addressingVersions.flatMap(({ isReference }) => isReference ?? []),
  wsuId,
])

/** What a handler of blocks throws to answer with a fault of its own. */
export const refuseWithFault = (fault: SoapFault): Refused<SoapRefusal> => new Refused({ kind: 'faulted', fault })

/** Whom a block is for, in SOAP's own attributes. */
export interface Addressee {
  readonly version: SoapVersion
  /** Default: the ultimate receiver. */
  readonly role?: string
  readonly mandatory?: boolean
  /** Whether it goes on when it is not processed; SOAP 1.1 can't say so. */
  readonly relay?: boolean
}

/** An encoder of a header block: `write(value, { version, role, mandatory: true })`. */
export function compileBlockWriter<T>(
  namespace: string,
  local: string,
  content: Field<T, boolean, boolean, unknown>,
): (value: T, to?: Addressee) => string {
  const write = elementOf(namespace, local, content)
  return (value, to) => write(value, inlineWriting, to ? attributesFor(to) : '')
}

function attributesFor({ version, role, mandatory, relay }: Addressee): string {
  const given = [
    ...(role === undefined ? [] : [`s:${version.role.local}=${writeAttribute(role)}`]),
    ...(mandatory ? [`s:${version.mustUnderstand.local}="1"`] : []),
    ...(relay && version.relay ? [`s:${version.relay.local}="true"`] : []),
  ]
  return given.length === 0 ? '' : ` xmlns:s="${version.namespace}" ${given.join(' ')}`
}

/** An encoder of a whole element that declares its namespace, with more attributes if given. */
export function elementOf<T>(
  namespace: string,
  local: string,
  content: Field<T, boolean, boolean, unknown>,
): (value: T, writing: LiteralWriting, attributes?: string) => string {
  const open = `<b:${toXmlName(local)}`
  const write = compileElementWriter(content as AnyField, local, open.slice(1), 'b:')
  return (value, writing, attributes = '') =>
    `${open} xmlns:b="${namespace}"${attributes}${write(value, writing).slice(open.length)}`
}

/** The declaration that is for this block in its role. */
export function findBlock(block: Element, version: SoapVersion, blocks: readonly Block[]): Block | undefined {
  return blocks.find(
    each => each.name === block.name && (each.roles === undefined || each.roles.includes(roleOf(block, version))),
  )
}

/** The value of a block. */
export function readBlock(block: Element, read: ReadValue): unknown {
  const cursor = walkTree(block)
  cursor.next()
  const reading: LiteralReading = { found: [], parts: undefined, around: undefined, blocks: [] }
  const value = asSchemaRefusal(
    () => read(cursor, reading),
    refusal => ({ ...refusal, inHeader: true }),
  )
  const [flaw] = reading.found
  return flaw ? refuseMessage({ kind: 'schema', path: flaw.path, detail: flaw.detail, inHeader: true }) : value
}
