/** The methods of a resource: reads and changes of items, by the links that each item has. */

import type { JsonObject } from '../../base/objects.ts'
import { VersionConflict } from '../../contract/fault.ts'
import type { Fields } from '../../contract/field.ts'
import { itemRelation, singularName } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { isIdentifier } from '../../contract/lexical/text.ts'
import type { AnyAction, Resource } from '../../contract/resource.ts'
import { nameInVersion } from '../../contract/version-fields.ts'
import { writeJson } from '../../http/write-json.ts'
import { FaultError, InputError } from '../errors.ts'
import { toDraftFields, toReplyFields } from '../field-views.ts'
import type { ChangeOptions, NestedOptions, RequestOptions } from '../surface-types.ts'
import { writeChanges, writeInput } from './input-writer.ts'
import { faultRead } from './problem-reader.ts'
import { type HalDocument, readDocument, readMembers } from './representation-reader.ts'
import type { RestReply } from './rest-reply.ts'
import { type ItemFacts, type RestSession, requireLink } from './rest-session.ts'

export const jsonType = { 'content-type': 'application/json' }
const mergePatchType = { 'content-type': 'application/merge-patch+json' }

export class ResourceMethods {
  readonly resource: Resource
  readonly session: RestSession
  readonly #replyFields: Fields
  readonly #draftFields: Fields

  constructor(session: RestSession, resource: Resource) {
    this.session = session
    this.resource = resource
    const { create = [], change = [] } = resource.given.allow
    this.#replyFields = toReplyFields(resource.fields)
    this.#draftFields = toDraftFields(
      resource.fields,
      new Set(
        [...create, ...change].flatMap(grant =>
          Object.keys(grant.where).map(name => nameInVersion(session.rule, resource.name, name)),
        ),
      ),
    )
  }

  /** The operation's name in errors. */
  readonly nameOf = (method: string): string => `${this.resource.name}.${method}`

  /** Finds an item by its identifier, or by itself; undefined: the item of a single resource. */
  async get(item: string | Values | undefined, options?: NestedOptions): Promise<Values> {
    const operation = this.nameOf('get')
    const target =
      item === undefined || typeof item === 'string'
        ? await this.findTarget(operation, item, options)
        : this.#linkOf(operation, item, 'self')
    return this.readItem(operation, await this.session.wire.read({ operation, target, options }))
  }

  async create(draft: Values, options: NestedOptions & { readonly id?: string } = {}): Promise<Values> {
    const operation = this.nameOf('create')
    const content = writeInput(operation, this.#draftFields, draft)
    const target = await this.findTarget(operation, options.id, options)
    if (options.id === undefined && !this.resource.isSingle)
      return this.#change(operation, { method: 'POST', target, fields: jsonType, content, options })
    const fields = { ...jsonType, 'if-none-match': '*' }
    return this.#change(operation, { method: 'PUT', target, fields, content, options })
  }

  async replace(item: Values, draft: Values, options?: ChangeOptions): Promise<Values> {
    const operation = this.nameOf('replace')
    const target = this.#linkOf(operation, item, 'edit')
    const content = writeInput(operation, this.#draftFields, draft)
    const fields = { ...jsonType, ...(await this.#tagFields(operation, item, options)) }
    return this.#change(operation, { method: 'PUT', target, fields, content, options })
  }

  /** RFC 7396: null removes a field. */
  async patch(item: Values, changes: Values, options?: ChangeOptions): Promise<Values> {
    const operation = this.nameOf('patch')
    const target = this.#linkOf(operation, item, 'edit')
    const content = writeChanges(operation, this.#draftFields, changes)
    const fields = { ...mergePatchType, ...(await this.#tagFields(operation, item, options)) }
    return this.#change(operation, { method: 'PATCH', target, fields, content, options })
  }

  async remove(item: Values, options?: ChangeOptions): Promise<void> {
    const operation = this.nameOf('remove')
    const target = this.#linkOf(operation, item, 'delete')
    const fields = await this.#tagFields(operation, item, options)
    await this.session.wire.ask({ operation, method: 'DELETE', target, fields, options })
  }

  /** The relations that the service offered when the item was read. */
  offers(item: Values): readonly string[] {
    const { links } = this.session.requireFacts(this.nameOf('offers'), item)
    const actions = Object.entries(this.resource.actions).filter(([, action]) => links.relations.includes(action.link))
    return [...actions.map(([verb]) => verb), ...['edit', 'delete'].filter(each => links.relations.includes(each))]
  }

  async act(
    verb: string,
    action: AnyAction,
    item: Values,
    input: Values = {},
    options?: ChangeOptions,
  ): Promise<Values> {
    const operation = this.nameOf(verb)
    const target = this.#linkOf(operation, item, action.link)
    const content = writeInput(operation, toDraftFields(action.input), input)
    const fields = { ...jsonType, ...(await this.#tagFields(operation, item, options)) }
    const reply = await this.session.wire.ask({ operation, method: 'POST', target, fields, content, options })
    return action.output ? this.#readOutput(operation, action.output, reply) : this.readItem(operation, reply)
  }

  /** An action that only reads. */
  async look(verb: string, action: AnyAction, item: Values, options?: RequestOptions): Promise<Values> {
    const operation = this.nameOf(verb)
    const target = this.#linkOf(operation, item, action.link)
    return this.#readOutput(
      operation,
      action.output ?? {},
      await this.session.wire.read({ operation, target, options }),
    )
  }

  /** An item or a collection: the one in the parent, or the one that the entry names. */
  async findTarget(operation: string, id: string | undefined, options: NestedOptions | undefined): Promise<URL> {
    const { name, given, within } = this.resource
    // RFC 3986 §5.2.4: an identifier such as `..` would lead elsewhere.
    if (id !== undefined && !isIdentifier(id))
      throw new InputError(operation, [{ path: ['id'], code: 'type', detail: 'must be an identifier' }])
    if (within) {
      const target = this.#linkOf(operation, options?.within ?? {}, name)
      return id === undefined ? target : new URL(`${target}/${id}`)
    }
    if (id === undefined) return this.session.findEntryLink(operation, name, options)
    return this.session.findEntryLink(operation, itemRelation(name, given.one ?? singularName(name)), options, { id })
  }

  #linkOf(operation: string, item: Values, relation: string): URL {
    return requireLink(operation, this.session.requireFacts(operation, item).links, relation)
  }

  async #change(
    operation: string,
    request: Omit<Parameters<RestSession['wire']['ask']>[0], 'operation'>,
  ): Promise<Values> {
    return this.readItem(operation, await this.session.wire.ask({ operation, ...request }))
  }

  /** The tag of the item as it was read. */
  async #tagFields(
    operation: string,
    item: Values,
    options: ChangeOptions | undefined,
  ): Promise<Record<string, string>> {
    if (options?.anyVersion) return { 'if-match': '*' }
    const facts = this.session.requireFacts(operation, item)
    return { 'if-match': facts.etag ?? (await this.#findTag(operation, facts, options)) }
  }

  /**
   * An item of a page has no tag. It is read by itself: if it is still what the page showed, the
   * tag is that of what the caller has seen.
   */
  async #findTag(
    operation: string,
    { links, members, isPart }: ItemFacts,
    options: RequestOptions | undefined,
  ): Promise<string> {
    const reply = await this.session.wire.read({ operation, target: requireLink(operation, links, 'self'), options })
    const now = readDocument(operation, reply).members
    const names = new Set([...Object.keys(members), ...(isPart ? [] : Object.keys(now))])
    const isSame = [...names].every(name => writeJson(now[name] ?? null) === writeJson(members[name] ?? null))
    const { etag } = reply.fields
    if (isSame && etag !== undefined) return etag
    const text = 'the item has changed since the page was read: get it and retry'
    throw new FaultError(operation, faultRead(VersionConflict, {}, text), { status: 412, fields: reply.fields })
  }

  readItem(operation: string, reply: RestReply): Values {
    return this.readMember(operation, reply, readDocument(operation, reply), reply.fields['etag'])
  }

  /** An item that was read by itself or in a page. */
  readMember(
    operation: string,
    reply: RestReply,
    { members, links }: HalDocument,
    etag: string | undefined,
    isPart = false,
  ): Values {
    const value = readMembers(operation, reply, this.#replyFields, members, isPart)
    this.session.remember(value, { members: etag === undefined ? members : noMembers, links, etag, isPart })
    return value
  }

  #readOutput(operation: string, output: Fields, reply: RestReply): Values {
    return readMembers(operation, reply, toReplyFields(output), readDocument(operation, reply).members)
  }
}

/** A tag is not compared by members. */
const noMembers: JsonObject = {}
