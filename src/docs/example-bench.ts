/**
 * One service in memory for one example: its items, the callers that may request something, and the
 * messages that are shown. Each example has a bench of its own, and depends on no other.
 */
import { type Json, mapMembers } from '../base/objects.ts'
import { endpointsOf, type ServedEndpoint } from '../contract/endpoint-rule.ts'
import { membersWriter } from '../contract/field-json.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Grant } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { type AnyService, type Service, withoutUniqueKeys } from '../contract/service.ts'
import { indentJson, indentXml, shortenText } from '../html/indent.ts'
import { reasonPhrases } from '../http/status.ts'
import { startTestService, type TestCaller, type TestService } from '../testing/test-service.ts'
import { createStabilizer } from './stable-text.ts'

export type KnownItem = Readonly<Record<string, Json>>
/** A caller, and an item on which it may perform the operation. */
export interface ExampleSubject {
  readonly caller: ExampleCaller
  readonly item: KnownItem | undefined
}
/** Undefined: without credentials. */
export type ExampleCaller = Exclude<TestCaller, string> | undefined

export interface ExampleRequest {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly content?: string | Uint8Array<ArrayBuffer>
}
export interface ExampleResponse {
  readonly status: number
  readonly fields: Headers
  readonly text: string
}
/** In the form that a page shows. */
export interface ShownExchange {
  readonly request: string
  readonly response: string
  readonly status: number
}

/** @param roles the roles that its callers may have; undefined: all */
export async function openBench(app: Implementation, roles: readonly string[] | undefined): Promise<ExampleBench> {
  const contract = withoutProofs(withoutUniqueKeys(app.contract))
  const service = await startTestService(contract as unknown as AnyService, { ...app, contract }) // with its types erased
  return new ExampleBench(service, app, roles)
}

/** Messages that must be proven are not shown, so the service starts without their keys. */
function withoutProofs(contract: Service): Service {
  const { endpoints, ports, versions } = contract
  const isOpen = ({ security }: ServedEndpoint) => typeof security !== 'object'
  const open = endpointsOf(contract)
    .filter(isOpen)
    .map(({ path, security, ...rule }) => [path, { ...rule, ...(security === 'settings' && { security }) }] as const)
  return {
    ...contract,
    ...(endpoints && { endpoints: Object.fromEntries(open) }),
    ports: ports.map(each => ({ ...each, security: undefined })),
    versions: mapMembers(versions, ({ security: _, ...rule }) => rule),
  }
}

/** The fields of a shown message. */
const shownCharacters = 6000
/** Fields that tell a reader something; the others are the same in every response. */
const shownFields = ['content-type', 'location', 'etag', 'retry-after', 'deprecation', 'sunset']

export class ExampleBench implements AsyncDisposable {
  readonly #service: TestService<AnyService>
  readonly #app: Implementation
  readonly #items = new Map<string, KnownItem[]>()
  readonly #settle = createStabilizer()
  readonly #roles: readonly string[] | undefined
  constructor(service: TestService<AnyService>, app: Implementation, roles: readonly string[] | undefined) {
    this.#service = service
    this.#app = app
    this.#roles = roles
    const seeded = app.seed().items ?? {}
    for (const resource of app.contract.resources) {
      const write = membersWriter(resource.fields)
      this.#items.set(
        resource.name,
        (seeded[resource.name] ?? []).map(each => JSON.parse(`{${write(each)}}`)),
      )
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service.close()
  }

  items(resource: string): readonly KnownItem[] {
    return this.#items.get(resource) ?? []
  }
  readonly known = (resource: string): string | undefined => {
    const id = this.items(resource)[0]?.['id']
    return typeof id === 'string' ? id : undefined
  }
  /** The identifier of an item other than this one, if there is one. */
  readonly knownBut =
    (id: string) =>
    (resource: string): string | undefined => {
      const ids = this.items(resource).map(item => String(item['id']))
      return ids.find(each => each !== id) ?? ids[0]
    }
  /** Leaves the items of the seed alone: the next item is a new one. */
  forget({ name }: Resource): void {
    this.#items.delete(name)
  }
  remember(resource: Resource, item: KnownItem): void {
    this.#items.set(resource.name, [item, ...this.items(resource.name).filter(each => each['id'] !== item['id'])])
  }

  /** Runs the jobs that are due. */
  work(): Promise<number> {
    return this.#service.work()
  }

  /** Callers to whom the grants allow this item, people of the seed before others. */
  callersFor(grants: readonly Grant[], item: KnownItem = {}): readonly ExampleCaller[] {
    return grants.flatMap(({ role, where }) => {
      if (role === '*' && Object.keys(where).length === 0) return [undefined]
      if (this.#roles && role !== '*' && !this.#roles.includes(role)) return []
      const claims = Object.fromEntries(
        Object.entries(where).map(([field, claim]) => [claim, String(item[field] ?? '')]),
      )
      const people = (this.#app.seed().people ?? []).filter(
        person =>
          (role === '*' || person.roles.includes(role)) &&
          (!this.#roles || person.roles.every(each => this.#roles?.includes(each))) &&
          Object.entries(claims).every(([name, value]) => person.claims?.[name] === value),
      )
      const [person] = people
      if (!person)
        return [{ subject: `example-${role === '*' ? 'caller' : role}`, roles: role === '*' ? [] : [role], claims }]
      const known = Object.entries(person.claims ?? {}).filter(
        (each): each is [string, string] => each[1] !== undefined,
      )
      return [{ subject: person.subject, roles: person.roles, claims: Object.fromEntries(known) }]
    })
  }

  async send(caller: ExampleCaller, { method, target, fields, content }: ExampleRequest): Promise<ExampleResponse> {
    const response = await this.#service.fetchAs(caller)(this.#service.address + target, {
      method,
      headers: fields,
      redirect: 'manual',
      ...(content !== undefined && { body: content }),
    })
    return { status: response.status, fields: response.headers, text: await response.text() }
  }

  /** @param address replaces the address of the bench */
  show(sent: ExampleRequest, received: ExampleResponse, address: string, more: readonly string[] = []): ShownExchange {
    const clean = (text: string): string => this.#settle(text.replaceAll(this.#service.address, address))
    const named = [...shownFields, ...more].flatMap(name => {
      const value = received.fields.get(name)
      return value === null ? [] : [`${nameField(name)}: ${value}`]
    })
    const status = `HTTP/1.1 ${received.status} ${reasonPhrases[received.status] ?? ''}`.trim()
    const fieldLines = Object.entries(sent.fields).map(([name, value]) => `${nameField(name)}: ${value}`)
    return {
      request: clean(joinMessage([`${sent.method} ${sent.target} HTTP/1.1`, ...fieldLines], contentText(sent))),
      response: clean(
        joinMessage([status, ...named], layOut(received.text, received.fields.get('content-type') ?? '')),
      ),
      status: received.status,
    }
  }
}

const nameField = (name: string): string => name.replaceAll(/(?<=^|-)[a-z]/g, letter => letter.toUpperCase())
const joinMessage = (head: readonly string[], content: string): string =>
  content === '' ? head.join('\n') : `${head.join('\n')}\n\n${content}`
const contentText = ({ content, fields }: ExampleRequest): string =>
  content instanceof Uint8Array ? `(${content.length} octets)` : layOut(content ?? '', fields['content-type'] ?? '')

function layOut(text: string, type: string): string {
  if (/json/.test(type)) return shortenText(indentJson(text, shownCharacters), shownCharacters)
  if (/xml/.test(type)) return shortenText(indentXml(text, shownCharacters), shownCharacters)
  return /^text\//.test(type) || text === '' ? shortenText(text, shownCharacters) : '(octets)'
}
