/**
 * The XML vocabulary of one version of a contract: the element of each request, its content, and
 * the element of the response. The codecs of messages and the descriptions both follow it, so that
 * descriptions are true. Rules of the mapping, for every reader and writer of elements:
 *  (1) A field is an element (or an attribute, where the field is marked so) with the name
 *      `toXmlName(field)`, in the contract's order.
 *  (2) A list is such an element around one element `itemName` per item; an empty list is an empty
 *      element.
 *  (3) A union is such an element around one element with the name of the case, around its fields.
 *  (4) A read-only field is optional in a request, and ignored there; one that has a default is
 *      optional there, too.
 *  (5) Elements and their children are in the namespace of the version; attributes are in none.
 */

import { memoizeByObject } from '../base/memo.ts'
import { builtInFaults, type Fault, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from './fault.ts'
import { type AnyField, Field, type Fields, mayBeLeftOut, type Shape, singularName, t } from './field.ts'
import { hasCoveredFields } from './field-access.ts'
import { findFilterField, messageNameOf } from './filter-field.ts'
import { headersOfOperation, type NamedHeader } from './header.ts'
import { type Job, jobStates } from './job.ts'
import { isSettled } from './lexical/settled-text.ts'
import { capitalize } from './lexical/text.ts'
import { isCreatedByPut, listOperations, type Operation, type OperationOf, singularOf } from './operation.ts'
import { isPublic } from './policy.ts'
import type { Resource } from './resource.ts'
import { namespaceOf, type Service } from './service.ts'
import { mapShape } from './shape.ts'
import { hasReferences } from './typed-value.ts'
import { viewOfVersion } from './version-view.ts'

/** One element of a Body: the wrapper, and its children in order. */
export interface MessagePart {
  /** A local name in its XML form. */
  readonly name: string
  readonly fields: Fields
  /**
   * The child that holds the subject of the message: an item, items, an output, the bytes of a
   * file, a job, or the input. Undefined if no child does, or if the fields of the input are
   * children.
   */
  readonly main: string | undefined
}

export interface Message {
  readonly operation: Operation
  /** The action URI of the request: `urn:diglot:orders:v1/GetOrder`. */
  readonly action: string
  readonly request: MessagePart
  /** Undefined: there is no reply (rule B4.10). */
  readonly response: MessagePart | undefined
  /** The faults that callers should handle, the contract's own first (rule B7.5). */
  readonly faults: readonly Fault[]
  /** The name of the last child of an item: its version, the opaque part of its entity tag. */
  readonly version: string
  readonly headers: readonly NamedHeader[]
}

/** The action URI of a reply (WS-Addressing 1.0 Metadata §4.4). */
export const replyAction = (message: Message): string => `${message.action}Response`
export const faultAction = (message: Message, name: string): string => `${message.action}/Fault/${name}`

/** The operations that a version offers as messages, in the contract's order. */
export function compileMessages(service: Service, version: string): readonly Message[] {
  const known = messagesByVersion(service)
  const found = known.get(version) ?? createMessages(service, version)
  known.set(version, found)
  return found
}
const messagesByVersion = memoizeByObject((_of: Service) => new Map<string, readonly Message[]>())

function createMessages(service: Service, version: string): readonly Message[] {
  const view = viewOfVersion(service, version)
  const namespace = namespaceOf(service, version)
  return listOperations(view)
    .filter(operation => operation.message)
    .map(operation => ({
      operation,
      action: `${namespace}/${toXmlName(operation.name)}`,
      request: createPart(operation.name, ...requestContent(operation)),
      response: operation.oneWay ? undefined : createPart(`${operation.name}Response`, ...responseContent(operation)),
      faults: operation.oneWay ? [] : faultsOfOperation(operation),
      version: 'resource' in operation ? versionName(operation.resource) : 'version',
      headers: headersOfOperation(service, version, operation.name),
    }))
}

type ContentFields = readonly [fields: Fields, main?: string]
const createPart = (name: string, fields: Fields, main?: string): MessagePart => ({
  name: toXmlName(name),
  fields,
  main,
})

const idField = (resource: string): Fields => ({ id: t.ref(resource) })
/** The field that names the parent, in a request that lists or creates items in it. */
const parentField = ({ within, fields }: Resource): Fields => {
  const shape = within === undefined ? undefined : fields[within]?.shape
  return within !== undefined && shape ? { [within]: new Field(shape) } : {}
}
/**
 * The field that names an item in a request; a single resource has one item, which needs no name.
 */
const targetFields = ({ name, isSingle }: Resource): Fields => (isSingle ? {} : idField(name))
const versionField: Fields = { version: t.string().optional() }
const pagingFields: Fields = {
  page: t.int({ min: 1 }).optional(),
  size: t.int({ min: 1, max: 100 }).optional(),
  cursor: t.string().optional(),
}
const sortField: Fields = { sort: t.string().optional() }

function requestContent(operation: Operation): ContentFields {
  switch (operation.kind) {
    case 'create': {
      const parent = parentField(operation.resource)
      const singular = freeName(singularOf(operation.resource), parent)
      return [{ ...parent, [singular]: draftItemField(operation.resource) }, singular]
    }
    case 'replace':
    case 'patch': {
      const parent = isCreatedByPut(operation.resource) ? parentField(operation.resource) : {}
      const target = { ...parent, ...targetFields(operation.resource), ...versionField }
      const singular = freeName(singularOf(operation.resource), { id: true, ...target })
      return [{ ...target, [singular]: draftItemField(operation.resource) }, singular]
    }
    case 'list':
    case 'bulk':
      return joinContent(
        { ...parentField(operation.resource), ...pagingFields, ...sortField },
        narrowingFields(operation.resource, operation.resource.given.filter),
        'where',
      )
    case 'search':
      return joinContent(
        { ...parentField(operation.resource), q: t.string().optional(), ...pagingFields },
        narrowingFields(operation.resource, operation.resource.given.searchBy),
        'where',
      )
    case 'createSearch':
      return joinContent(
        { q: t.string().optional() },
        narrowingFields(operation.resource, operation.resource.given.searchBy),
        'where',
      )
    case 'act':
      return joinContent(
        { ...targetFields(operation.resource), ...versionField },
        draftFields(operation.action.input),
        'input',
      )
    case 'look':
      return joinContent(targetFields(operation.resource), draftFields(operation.action.input), 'input')
    case 'putFile':
      return putFileContent(operation)
    case 'remove':
      return [{ ...targetFields(operation.resource), ...versionField }]
    case 'startJob':
      return [draftFields(operation.job.input)]
    case 'getJob':
    case 'cancelJob':
    case 'getResult':
      return [idField(operation.job.job)]
    case 'exchange': // its messages are those of its port
    case 'getAnswer':
      return [{}]
    default:
      return [targetFields(operation.resource)]
  }
}

function putFileContent({ resource, part, file }: OperationOf<'getFile' | 'putFile'>): ContentFields {
  const target = { ...targetFields(resource), ...versionField }
  const main = freeName(part, { id: true, ...target, mediaType: true })
  const [first, ...others] = file.mediaTypes
  const mediaType = first === undefined ? t.string() : t.enum(first, ...others)
  return [{ ...target, [main]: t.bytes({ max: file.max }), mediaType }, main]
}

function responseContent(operation: Operation): ContentFields {
  switch (operation.kind) {
    case 'list':
    case 'search':
    case 'bulk':
    case 'createSearch':
    case 'getSearch':
      return pageContent(operation.resource)
    case 'act':
    case 'look':
    case 'kept':
      return operation.action.output
        ? outputContent(operation.action.rel, operation.action.output)
        : itemContent(operation)
    case 'getFile':
    case 'putFile':
      return fileContent(operation)
    case 'remove':
    case 'exchange':
    case 'getAnswer':
      return [{}]
    case 'startJob':
    case 'cancelJob':
      return [{ job: jobField }, 'job']
    case 'getJob':
      return jobContent(operation.job)
    case 'getResult':
      return outputContent(operation.job.one, operation.job.output)
    default:
      return itemContent(operation)
  }
}

const outputContent = (name: string, output: Fields): ContentFields => [
  { [name]: t.object(messageFields(output), capitalize(name)) },
  name,
]
const itemContent = ({ resource }: { readonly resource: Resource }): ContentFields => [
  { [singularOf(resource)]: itemField(resource) },
  singularOf(resource),
]

function pageContent(resource: Resource): ContentFields {
  const more = { total: t.int({ min: 0 }).optional(), next: t.string().optional() }
  const many = freeName(resource.name, more)
  return [{ [many]: t.list(itemField(resource), { max: Infinity, element: singularOf(resource) }), ...more }, many]
}

/**
 * The media type in a reply is that of the stored bytes, which an older contract may have allowed.
 */
function fileContent({ kind, part, file }: OperationOf<'getFile' | 'putFile'>): ContentFields {
  if (kind === 'putFile') return [{ version: t.string() }]
  const about = { mediaType: t.string(), version: t.string() }
  const main = freeName(part, about)
  return [{ [main]: t.bytes({ max: file.max }), ...about }, main]
}

/** The state of a job, in either face. */
export const jobFields = {
  id: t.string(),
  state: t.enum('queued', ...jobStates.filter(state => state !== 'queued')),
  /** A part of one. */
  progress: t.double({ min: 0, max: 1 }),
  createdAt: t.dateTime(),
  failure: t.string().optional(),
} satisfies Fields
const jobField = t.object(jobFields, 'Job')

/** The job, and next to it its result once it is completed. */
function jobContent(job: Job): ContentFields {
  const result = freeName(job.one, { job: true })
  return [{ job: jobField, [result]: t.object(messageFields(job.output), capitalize(job.one)).optional() }, 'job']
}

/** An item in a reply: its fields, then its version. */
function itemField(resource: Resource) {
  const fields = { ...messageFields(resource.fields), [versionName(resource)]: t.string() }
  return t.object(fields, capitalize(singularOf(resource)))
}
const versionName = (resource: Resource): string => freeName('version', resource.fields)

const messageFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => !field.isInternal))

/**
 * An item as a client sends it. Fields that a grant binds to a claim of the caller may be left out.
 */
function draftItemField(resource: Resource): AnyField {
  const { create = [], change = [] } = resource.given.allow
  const owned = new Set([...create, ...change].flatMap(grant => Object.keys(grant.where)))
  const fields = Object.entries({
    ...draftFields(resource.fields),
    [versionName(resource)]: t.string().readOnly().optional(),
  })
  return t.object(
    Object.fromEntries(fields.map(([name, field]) => [name, owned.has(name) ? field.optional() : field])),
    `${capitalize(singularOf(resource))}Draft`,
  )
}

/**
 * Fields as a client sends them: read-only ones and those with a default are optional, at every
 * depth.
 */
function draftFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(messageFields(fields)).map(([name, field]) => [name, draftField(field)]))
}
/**
 * Returns the field itself if nothing in it is read-only or has a default, so that requests and
 * replies share one type.
 */
function draftField(field: AnyField): AnyField {
  if (field.isReadOnly) return field.optional()
  const shape = mapShape(field.shape, { item: draftField, fields: draftFields, rename: name => `${name}Draft` })
  const isOptional = mayBeLeftOut(field)
  return shape === field.shape && isOptional === field.isOptional ? field : new Field(shape, { ...field, isOptional })
}

/** Fields that narrow a list or a search to items with equal values. */
function narrowingFields(resource: Resource, names: readonly string[] = []): Fields {
  return Object.fromEntries(
    names.flatMap(name => {
      const shape = findFilterField(resource, name)?.shape
      return shape ? [[messageNameOf(name), new Field(shape).optional()]] : []
    }),
  )
}

/**
 * Content next to the children that every such request has; in an element of its own if both have a
 * name in common.
 */
function joinContent(common: Fields, content: Fields, wrapper: string): ContentFields {
  if (!Object.keys(content).some(name => Object.hasOwn(common, name))) return [{ ...common, ...content }]
  const isOptional = Object.values(content).every(field => field.isOptional)
  const field = t.object(content)
  return [{ ...common, [wrapper]: isOptional ? field.optional() : field }, wrapper]
}

/** A free name: the name itself, or with a digit at its end. JAXB drops underscores. */
const freeName = (name: string, used: object): string => (Object.hasOwn(used, name) ? freeName(`${name}2`, used) : name)

/** The faults that operations declare, and those of every service, each once. */
export const everyFault = (all: readonly Message[]): readonly Fault[] =>
  distinctFaults([...all.flatMap(message => message.faults), ...builtInFaults])

const distinctFaults = (faults: readonly Fault[]): readonly Fault[] => [
  ...new Map(faults.map(fault => [fault.fault, fault])).values(),
]

/** The contract's own faults, then those that any operation of the kind can have, each once. */
export function faultsOfOperation(operation: Operation): readonly Fault[] {
  const forbids = mayBeForbidden(operation) ? [Forbidden] : []
  return distinctFaults([...operation.faults, ...kindFaults(operation), ...forbids, ...stateFaults(operation)])
}
function kindFaults(operation: Operation): readonly Fault[] {
  switch (operation.kind) {
    case 'create':
      return [Invalid, ...(operation.resource.isSingle ? [VersionConflict] : []), ...parentFaults(operation)]
    case 'createSearch':
    case 'startJob':
      return [Invalid]
    case 'replace':
    case 'patch':
    case 'remove':
      return [NotFound, VersionConflict, Invalid]
    case 'act':
      return [StateConflict, NotFound, VersionConflict, ...(hasReferences(operation.action.input) ? [Invalid] : [])]
    case 'putFile':
      return [NotFound, VersionConflict, Invalid]
    case 'list':
    case 'search':
    case 'bulk':
      return parentFaults(operation)
    default:
      return [NotFound]
  }
}
/** The parent may not exist. */
const parentFaults = ({ resource }: { readonly resource: Resource }): readonly Fault[] =>
  resource.within === undefined ? [] : [NotFound]

/**
 * States may forbid a change (rule A3.4); those of an action always do. A unique key may be taken.
 */
const stateFaults = (operation: Operation): readonly Fault[] => {
  const { kind } = operation
  if (kind !== 'create' && kind !== 'replace' && kind !== 'patch' && kind !== 'remove') return []
  const { states, given } = operation.resource
  const isTaken = kind !== 'remove' && (given.unique ?? []).length > 0
  return isTaken || (kind !== 'create' && states.length > 0) ? [StateConflict] : []
}

/** These compare fields, some of which a caller of the operation may not be allowed to see. */
const comparingKinds: ReadonlySet<Operation['kind']> = new Set(['list', 'search', 'createSearch', 'bulk'])

/** A caller may lack the role or the claim, except for what anyone may read. */
const mayBeForbidden = (operation: Operation): boolean =>
  !(operation.safe && isPublic(operation.grants)) ||
  ('resource' in operation && comparingKinds.has(operation.kind) && hasCoveredFields(operation.resource))

/**
 * The element of one item: declared, or the singular of the field's name; `item` in a list of
 * lists.
 */
export const itemName = (list: { readonly element?: string }, field: string | undefined): string =>
  toXmlName(list.element ?? (field === undefined ? 'item' : singularName(field)))

/**
 * The type that all identifiers share in a schema; all dates or times with one zone rule also share
 * a type, if messages must obey the rule. Other scalars have a built-in type, or one of their own.
 */
export function sharedTypeName(shape: Shape): string | undefined {
  if (shape.kind === 'id' || shape.kind === 'ref') return 'Identifier'
  if (!('zone' in shape) || !shape.zone || shape.zone === 'optional' || isSettled(shape)) return undefined
  return (shape.zone === 'required' ? 'Zoned' : 'Local') + capitalize(shape.kind)
}

const latinNameText =
  /^[A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u00FF][-.0-9A-Z_a-z\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u00FF]*$/
/**
 * A name of the contract as an NCName: unchanged if it is one, otherwise with all other characters
 * in the escape `_xHHHH_` of ISO/IEC 9075-14; no two names share a result. Characters beyond
 * Latin-1 are escaped too, because some tools do not support the fifth edition of XML.
 */
export function toXmlName(name: string): string {
  if (latinNameText.test(name) && !/_x[0-9A-Fa-f]{4}/.test(name)) return name
  let text = ''
  for (const character of name.replace(/_(?=x[0-9A-Fa-f]{4})/g, '\u0000')) {
    if (character === '\u0000') text += '_x005F_'
    else text += latinNameText.test(text === '' ? character : `a${character}`) ? character : escapeCharacter(character)
  }
  return text === '' ? '_' : text
}
function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
  return `_x${code.padStart(code.length > 4 ? 8 : 4, '0')}_`
}
