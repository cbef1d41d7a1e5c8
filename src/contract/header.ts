/**
 * A service's own header blocks (SOAP 1.2 Part 1 §5.2, SOAP 1.1 §4.2): data that is sent with a
 * message but is not part of its Body, such as a branch, a tenant or a receipt. A handler reads
 * those of the request and sets those of the answer, typed; clients find them in the descriptions.
 */
import { type AnyField, type Fields, t } from './field.ts'

/** An object or a scalar; `xml`: any elements and text, as XML in its exclusive canonical form. */
export type HeaderContent = AnyField | 'xml'
export type HeaderDirection = 'request' | 'response' | 'both'

/** A header block of messages, and the HTTP field that carries it in REST. */
export interface Header<
  C extends HeaderContent = HeaderContent,
  D extends HeaderDirection = HeaderDirection,
  O extends string = string,
> {
  readonly content: C
  readonly direction: D
  /** Names of the operations that have it, such as `CreateTransfer`. Default: all. */
  readonly operations: readonly O[] | undefined
  /** Names of the versions that have it. Default: all. */
  readonly versions: readonly string[] | undefined
  /** Default: the namespace of the service, without a version. */
  readonly namespace: string | undefined
  /** The URI of the role that it is for. Default: the ultimate receiver. */
  readonly role: string | undefined
  /** Whether its sender marks it with mustUnderstand. */
  readonly isMandatory: boolean
  /** Whether a request without it is refused. */
  readonly isRequired: boolean
  /** The HTTP field that has its value in REST. Default: none, so a handler finds no value. */
  readonly field: string | undefined
}

/** By their names: the local names of their elements. */
export type ServiceHeaders = Readonly<Record<string, Header>>

interface HeaderOptions {
  /** Default: `request`. */
  readonly direction?: HeaderDirection
  readonly operations?: readonly string[]
  readonly versions?: readonly string[]
  readonly namespace?: string
  readonly role?: string
  readonly mandatory?: boolean
  readonly required?: boolean
  readonly field?: string
}
type DirectionIn<X> = X extends { readonly direction: infer D extends HeaderDirection } ? D : 'request'
type OperationsIn<X> = X extends { readonly operations: readonly (infer O extends string)[] } ? O : string
/** Refuses excess members, which the compiler does not report where it infers the type. */
type OnlyHeaderOptions<X> = { readonly [K in Exclude<keyof X, keyof HeaderOptions>]: never }

/**
 * Declares a header block: `headers: { Branch: header(t.string(), { mandatory: true }) }`. Its
 * members are explained at `Header`.
 */
export function header<C extends HeaderContent, const X extends HeaderOptions = {}>(
  content: C,
  options?: X & OnlyHeaderOptions<X>,
): Header<C, DirectionIn<X>, OperationsIn<X>> {
  const { direction = 'request', operations, versions, namespace, role, field, ...flags }: HeaderOptions = options ?? {}
  return {
    content,
    direction: direction as DirectionIn<X>, // the option, or its default
    operations: operations as readonly OperationsIn<X>[] | undefined, // the option
    versions,
    namespace,
    role,
    isMandatory: flags.mandatory === true,
    isRequired: flags.required === true,
    field: field?.toLowerCase(),
  }
}

type ContentValue<C> = C extends AnyField ? C['type'] : string
type IsOf<H extends Header, D extends HeaderDirection, N extends string> = H['direction'] extends D | 'both'
  ? [N] extends [H extends Header<HeaderContent, HeaderDirection, infer O> ? O : never]
    ? true
    : false
  : false

export type HeaderValue<H> = H extends Header<infer C> ? ContentValue<C> : never
/** The values of the headers of one direction; with an operation's name, only those that it has. */
export type HeaderValues<All, D extends 'request' | 'response', N extends string = never> = {
  readonly [K in keyof All as All[K] extends Header ? (IsOf<All[K], D, N> extends true ? K : never) : never]?:
    | HeaderValue<All[K]>
    | undefined
}

/** A header under its name. */
export interface NamedHeader extends Header {
  readonly name: string
  readonly uri: string
}

/** The part of a service that declares them. */
interface HeaderDeclarations {
  readonly namespace: string
  readonly headers: ServiceHeaders
}
export const headersOf = ({ headers, namespace }: HeaderDeclarations): readonly NamedHeader[] =>
  Object.entries(headers).map(([name, each]) => ({ ...each, name, uri: each.namespace ?? namespace }))

/** The headers that an operation has in this version. */
export const headersOfOperation = (
  service: HeaderDeclarations,
  version: string,
  operation: string,
): readonly NamedHeader[] =>
  headersOf(service).filter(
    ({ versions, operations }) => (versions?.includes(version) ?? true) && (operations?.includes(operation) ?? true),
  )

export const isOfRequest = ({ direction }: Header): boolean => direction !== 'response'
export const isOfResponse = ({ direction }: Header): boolean => direction !== 'request'

/** The field whose rules the values follow; XML is text here, and its writer checks its content. */
export const fieldOfHeader = ({ content }: Header): AnyField => (content === 'xml' ? t.string() : content)
export const fieldsOfHeaders = (headers: readonly NamedHeader[]): Fields =>
  Object.fromEntries(headers.map(each => [each.name, fieldOfHeader(each).optional()]))
