/**
 * Examples of each operation, run through both faces against a service in memory: every message
 * that is shown was really exchanged. An operation at which no attempt succeeds has no example, and
 * its page says so.
 */
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import type { Json } from '../base/objects.ts'
import { mainEndpoint } from '../contract/endpoint-rule.ts'
import type { Fields } from '../contract/field.ts'
import { readFields } from '../contract/field-json.ts'
import { fieldOfHeader, headersOfOperation, isOfRequest } from '../contract/header.ts'
import type { Implementation } from '../contract/implement.ts'
import { listAncestors } from '../contract/nesting.ts'
import { type DeclaredOperation, listOperations, type Operation } from '../contract/operation.ts'
import type { Grant } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { namespaceOf, type Service } from '../contract/service.ts'
import { innerFields } from '../contract/shape.ts'
import { viewOfVersion } from '../contract/version-view.ts'
import { compileMessages } from '../contract/xml-message.ts'
import { writeRequestBody } from '../host/soap/soap-messages.ts'
import { writeQuery } from '../http/uri.ts'
import { compileRoutes, type Routes } from '../rest/route.ts'
import { writeEnvelope } from '../soap/envelope.ts'
import { compileHeaders } from '../soap/headers/contract-header.ts'
import { soap12 } from '../soap/version.ts'
import {
  type ExampleBench,
  type ExampleCaller,
  type ExampleRequest,
  type ExampleResponse,
  type ExampleSubject,
  type KnownItem,
  openBench,
  type ShownExchange,
} from './example-bench.ts'
import { makeSampleContent, pickDraft, type SampleMembers } from './sample-content.ts'

export interface OperationExample {
  readonly caller: ExampleCaller
  readonly rest?: ShownExchange
  readonly soap?: ShownExchange
  /** The same, with content that a rule of the service refuses. */
  readonly refused?: { readonly rest?: ShownExchange; readonly soap?: ShownExchange }
}

/** The subject of the examples: a contract as its readers know it, and its addresses. */
export interface ExampleScope {
  readonly app: Implementation
  readonly contract: Service
  readonly roles: readonly string[] | undefined
  readonly address: string
}

type Face = 'rest' | 'soap'
/** One attempt: with one of the callers, and with content that may resemble the item. */
interface Attempt {
  readonly caller: number
  readonly isPlain: boolean
}
interface ExampleInput {
  readonly caller: ExampleCaller
  readonly id?: string
  /** The entity tag that a change sends. */
  readonly tag?: string
  readonly content?: SampleMembers
  readonly query?: readonly (readonly [string, string])[]
  /** Members next to the content of a message. */
  readonly beside?: SampleMembers
  readonly file?: { readonly mediaType: string; readonly octets: Uint8Array<ArrayBuffer> }
}

const callersMax = 4

/** By the name of the operation. */
export async function runExamples(
  scope: ExampleScope,
  version: string,
): Promise<ReadonlyMap<string, OperationExample>> {
  const view = viewOfVersion(scope.contract, version)
  const runner = new ExampleRunner(scope, view, version)
  const found = new Map<string, OperationExample>()
  for (const operation of listOperations(view)) {
    const example = await runner.run(operation)
    if (example) found.set(operation.name, example)
  }
  return found
}

class ExampleRunner {
  readonly #scope: ExampleScope
  readonly #view: Service
  readonly #version: string
  readonly #routes: Routes
  readonly #operations: readonly DeclaredOperation[]
  constructor(scope: ExampleScope, view: Service, version: string) {
    this.#scope = scope
    this.#view = view
    this.#version = version
    this.#routes = compileRoutes(view)
    // To prepare an example, the bench may do what its reader may not.
    this.#operations = listOperations(viewOfVersion(scope.app.contract, version))
  }

  async run(operation: DeclaredOperation): Promise<OperationExample | undefined> {
    const faces = (['rest', 'soap'] as const).filter(face => this.#speaks(operation, face))
    const [first, second] = faces
    if (!first) return undefined
    for (let caller = 0; caller < callersMax; caller++)
      for (const isPlain of [false, true]) {
        const attempt = { caller, isPlain }
        const shown = await this.#try(operation, first, attempt)
        if (shown === 'no such caller') return undefined
        if (!shown || shown.exchange.status >= 400) continue
        const other = second && (await this.#try(operation, second, attempt))
        const refused = isPlain || operation.faults.length === 0 ? {} : await this.#tryRefusal(operation, faces, caller)
        return {
          caller: shown.caller,
          [first]: shown.exchange,
          ...(other &&
            other !== 'no such caller' &&
            second &&
            other.exchange.status < 400 && { [second]: other.exchange }),
          ...(Object.keys(refused).length > 0 && { refused }),
        }
      }
    return undefined
  }

  async #tryRefusal(operation: DeclaredOperation, faces: readonly Face[], caller: number) {
    const found: { rest?: ShownExchange; soap?: ShownExchange } = {}
    for (const face of faces) {
      const shown = await this.#try(operation, face, { caller, isPlain: true })
      if (shown && shown !== 'no such caller' && shown.exchange.status >= 400) found[face] = shown.exchange
    }
    return found
  }

  #speaks(operation: DeclaredOperation, face: Face): boolean {
    if (face === 'rest') return !operation.oneWay
    const endpoint = mainEndpoint(this.#view, this.#version)
    const isOpen = endpoint?.style === 'document' && endpoint.security === undefined && endpoint.soap !== '1.1'
    return operation.message && isOpen
  }

  async #try(
    operation: DeclaredOperation,
    face: Face,
    attempt: Attempt,
  ): Promise<{ caller: ExampleCaller; exchange: ShownExchange } | 'no such caller' | undefined> {
    const { app, roles, address } = this.#scope
    await using bench = await openBench(app, roles)
    const input = await this.#prepare(bench, operation, attempt)
    if (!input || input === 'no such caller') return input
    const request =
      face === 'rest' ? this.#restRequest(bench, operation, input) : this.#soapRequest(bench, operation, input)
    if (!request) return undefined
    const received = await bench.send(input.caller, request)
    const fields = Object.values(this.#view.headers).flatMap(({ field }) => field ?? [])
    return { caller: input.caller, exchange: bench.show(request, received, address, fields) }
  }

  /** Items, jobs and searches that the operation is about; created if there are none. */
  async #prepare(
    bench: ExampleBench,
    operation: DeclaredOperation,
    { caller: at, isPlain }: Attempt,
  ): Promise<ExampleInput | 'no such caller' | undefined> {
    const { grants } = operation
    const choose = (item?: KnownItem): ExampleCaller | 'no such caller' => {
      const callers = bench.callersFor(grants, item)
      return at < callers.length ? callers[at] : 'no such caller'
    }
    switch (operation.kind) {
      case 'startJob':
      case 'getJob':
      case 'cancelJob':
      case 'getResult': {
        const caller = choose()
        if (caller === 'no such caller') return caller
        const content = makeSampleContent(operation.job.input, { known: bench.known })
        if (operation.kind === 'startJob') return { caller, content }
        const id = await this.#startJob(bench, operation.job.job, caller, content)
        if (operation.kind === 'getResult') await bench.work()
        return id === undefined ? undefined : { caller, id }
      }
      case 'list':
      case 'search':
      case 'createSearch':
      case 'getSearch': {
        const caller = choosePerson(bench, operation, at)
        if (caller === 'no such caller') return caller
        if (operation.kind === 'list') return { caller, query: [['size', '2']], beside: { size: 2 } }
        const word = firstWordOf(bench.items(operation.resource.name), operation.resource)
        const content: SampleMembers = word === undefined ? {} : { q: word }
        const query = word === undefined ? [] : ([['q', word]] as const)
        if (operation.kind !== 'getSearch') return { caller, query, content }
        const created = await this.#ask(bench, 'createSearch', operation.resource.name, { caller, content })
        const id = lastSegment(created?.fields.get('location'))
        return id === undefined ? undefined : { caller, id }
      }
      case 'create': {
        const known = bench.items(operation.resource.name)[0]
        if (operation.resource.isSingle && known) await this.#removeSingle(bench, operation.resource, known)
        const content = await this.#draft(bench, operation.resource, isPlain ? undefined : known)
        const caller = choose(content)
        return caller === 'no such caller' ? caller : { caller, content }
      }
      case 'bulk': {
        const chosen = this.#bulkFilter(bench, operation.resource)
        const caller = choose()
        if (caller === 'no such caller') return caller
        return chosen && { caller, query: [chosen] }
      }
      default:
        return this.#prepareItem(bench, operation, at, isPlain)
    }
  }

  /** An operation on one item, in a state that allows it. */
  async #prepareItem(
    bench: ExampleBench,
    operation: DeclaredOperation & { readonly resource: Resource },
    at: number,
    isPlain: boolean,
  ): Promise<ExampleInput | 'no such caller' | undefined> {
    const { resource, kind, grants } = operation
    // Others may refer to an older item; nothing refers to a new one.
    if (kind === 'remove' && isPlain) bench.forget(resource)
    const subject = await this.#findSubject(bench, resource, statesAllowing(operation), grants, at)
    if (!subject || subject === 'no such caller') return subject
    const { item, caller } = subject
    if (!item) return undefined
    const id = String(item['id'] ?? '')
    if (kind === 'act') {
      const source = { known: bench.knownBut(id), ...(!isPlain && { like: item }) }
      return { caller, id, content: makeSampleContent(operation.action.input, source) }
    }
    if (kind === 'kept') {
      const act = this.#operations.find(each => each.kind === 'act' && each.action === operation.action)
      if (act?.kind === 'act' && !(await this.#perform(bench, act, item))) return undefined
      return { caller, id }
    }
    if (kind === 'getFile' || kind === 'putFile') {
      const file = sampleFile(operation.file.mediaTypes[0] ?? 'application/octet-stream')
      const put = this.#operations.find(each => each.kind === 'putFile' && each.part === operation.part)
      if (kind === 'getFile' && put)
        await this.#sendRest(bench, put, { caller: bench.callersFor(put.grants, item)[0], id, file })
      return kind === 'putFile' ? { caller, id, file } : { caller, id }
    }
    if (kind === 'get' || kind === 'look') return { caller, id }
    const tag = await this.#tagOf(bench, resource, caller, id)
    if (kind === 'replace') return { caller, id, ...tag, content: pickDraft(resource.fields, item) }
    if (kind !== 'patch') return { caller, id, ...tag }
    const [[name, value] = ['', null]] = Object.entries(pickDraft(resource.fields, item)).filter(
      ([, each]) => typeof each !== 'object',
    )
    return { caller, id, ...tag, content: { [name]: value } }
  }

  /**
   * An item on which the caller at this place may perform it; without one, the first of its kind.
   */
  async #findSubject(
    bench: ExampleBench,
    resource: Resource,
    states: readonly string[],
    grants: readonly Grant[],
    at: number,
  ): Promise<ExampleSubject | 'no such caller' | undefined> {
    const fits = (item: KnownItem): boolean => states.length === 0 || states.includes(String(item['state']))
    const items = bench.items(resource.name).filter(fits)
    const found = items.length > 0 ? items : await this.#makeItem(bench, resource, states)
    const subjects = found.map(item => ({ item, caller: bench.callersFor(grants, item)[at] }))
    if (found[0] && at >= bench.callersFor(grants, found[0]).length) return 'no such caller'
    return subjects.find(({ caller }) => isSeeded(caller)) ?? subjects[0]
  }

  /** A new item, brought to one of the states by its transitions. */
  async #makeItem(bench: ExampleBench, resource: Resource, states: readonly string[]): Promise<readonly KnownItem[]> {
    let item = bench.items(resource.name)[0] ?? (await this.#createItem(bench, resource))
    for (const verb of item ? wayTo(resource, String(item['state'] ?? ''), states) : []) {
      const act = this.#operations.find(
        each => each.kind === 'act' && each.resource.name === resource.name && each.verb === verb,
      )
      item = item && act?.kind === 'act' ? await this.#perform(bench, act, item) : undefined
    }
    return item && (states.length === 0 || states.includes(String(item['state']))) ? [item] : []
  }

  async #createItem(bench: ExampleBench, resource: Resource): Promise<KnownItem | undefined> {
    const create = this.#operations.find(each => each.kind === 'create' && each.resource.name === resource.name)
    if (!create) return undefined
    const content = await this.#draft(bench, resource, undefined)
    for (const caller of bench.callersFor(create.grants, content)) {
      const created = await this.#sendRest(bench, create, { caller, content })
      if (created?.status !== 201) continue
      const item = await this.#readItem(bench, resource, caller, lastSegment(created.fields.get('location')) ?? '')
      if (item) bench.remember(resource, item)
      return item
    }
    return undefined
  }

  async #readItem(
    bench: ExampleBench,
    resource: Resource,
    caller: ExampleCaller,
    id: string,
  ): Promise<KnownItem | undefined> {
    const get = this.#operations.find(each => each.kind === 'get' && each.resource.name === resource.name)
    const callers = [caller, ...bench.callersFor(get?.grants ?? [])]
    for (const each of callers) {
      const read = get && (await this.#sendRest(bench, get, { caller: each, id }))
      if (read?.status === 200) return JSON.parse(read.text)
    }
    return undefined
  }

  /** An item that can exist only once is created after a removal, if one is allowed. */
  async #removeSingle(bench: ExampleBench, resource: Resource, item: KnownItem): Promise<void> {
    const remove = this.#operations.find(each => each.kind === 'remove' && each.resource.name === resource.name)
    const [caller] = bench.callersFor(remove?.grants ?? [], item)
    if (remove) await this.#sendRest(bench, remove, { caller, ...(await this.#tagOf(bench, resource, caller, '')) })
  }

  /** Performs a transition for an example that comes after it. */
  async #perform(
    bench: ExampleBench,
    act: DeclaredOperation & { readonly kind: 'act' },
    item: KnownItem,
  ): Promise<KnownItem | undefined> {
    const id = String(item['id'] ?? '')
    for (const like of [item, undefined])
      for (const caller of bench.callersFor(act.grants, item)) {
        const content = makeSampleContent(act.action.input, { known: bench.knownBut(id), ...(like && { like }) })
        const done = await this.#sendRest(bench, act, { caller, id, content })
        if (!done || done.status >= 300) continue
        const after = (await this.#readItem(bench, act.resource, caller, id)) ?? { ...item, state: act.action.to ?? '' }
        bench.remember(act.resource, after)
        return after
      }
    return undefined
  }

  /**
   * Content for a new item: that of a known one, or else a sample; items to which it refers are
   * created first.
   */
  async #draft(bench: ExampleBench, resource: Resource, known: KnownItem | undefined): Promise<SampleMembers> {
    const fields = this.#view.resources.find(each => each.name === resource.name)?.fields ?? resource.fields
    if (known) return pickDraft(fields, known)
    for (const name of requiredResources(fields)) {
      const other = this.#view.resources.find(each => each.name === name)
      if (other && other.name !== resource.name && bench.items(name).length === 0) await this.#createItem(bench, other)
    }
    return makeSampleContent(fields, { known: bench.known })
  }

  async #tagOf(bench: ExampleBench, resource: Resource, caller: ExampleCaller, id: string): Promise<{ tag?: string }> {
    const get = this.#operations.find(each => each.kind === 'get' && each.resource.name === resource.name)
    const read = get && (await this.#sendRest(bench, get, { caller, id }))
    const tag = read?.fields.get('etag')
    return tag ? { tag } : {}
  }

  async #startJob(bench: ExampleBench, job: string, caller: ExampleCaller, content: SampleMembers) {
    const start = this.#operations.find(each => each.kind === 'startJob' && each.job.job === job)
    const started = start && (await this.#sendRest(bench, start, { caller, content }))
    return lastSegment(started?.fields.get('location'))
  }

  #ask(bench: ExampleBench, kind: DeclaredOperation['kind'], resource: string, input: ExampleInput) {
    const operation = this.#operations.find(
      each => each.kind === kind && 'resource' in each && each.resource.name === resource,
    )
    return operation ? this.#sendRest(bench, operation, input) : undefined
  }

  async #sendRest(
    bench: ExampleBench,
    operation: DeclaredOperation,
    input: ExampleInput,
  ): Promise<ExampleResponse | undefined> {
    const request = this.#restRequest(bench, operation, input)
    return request && bench.send(input.caller, request)
  }

  /** A filter that matches some item and that a removal allows. */
  #bulkFilter(bench: ExampleBench, { name, given, states }: Resource): readonly [string, string] | undefined {
    const filter = given.filter ?? []
    if (filter.includes('state') && states.length > 0) return ['state', given.remove?.[0] ?? states.at(-1) ?? '']
    const item = bench.items(name)[0]
    const field = filter.find(each => item && typeof item[each] === 'string')
    return field && item ? [field, String(item[field])] : undefined
  }

  /** The parents of the item, or else of a known one, by their names in addresses. */
  #parentsOf(
    bench: ExampleBench,
    operation: DeclaredOperation,
    { id, content }: ExampleInput,
  ): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    if (!('resource' in operation)) return found
    const { resource } = operation
    const items = bench.items(resource.name)
    let item = items.find(each => each['id'] === id) ?? content ?? items[0]
    for (const { by, parent } of listAncestors(resource, this.#view.resources)) {
      const above: readonly KnownItem[] = bench.items(parent.name)
      const next = above.find(each => each['id'] === item?.[by]) ?? above[0]
      found.set(by, String(next?.['id'] ?? ''))
      item = next
    }
    return found
  }

  #restRequest(bench: ExampleBench, operation: DeclaredOperation, input: ExampleInput): ExampleRequest | undefined {
    const { id, tag, content, query = [], file } = input
    const parents = this.#parentsOf(bench, operation, input)
    const found =
      findRequestLine(this.#routes, operation) ?? findRequestLine(compileRoutes(this.#scope.app.contract), operation)
    if (!found) return undefined
    const { method, template } = found
    const path = `/api/${this.#version}${template.replace(/\{([^{}]+)\}/g, (_, name) => (name === 'id' ? (id ?? '') : (parents.get(name) ?? '')))}`
    const search = method === 'GET' || method === 'DELETE' ? writeQuery(query) : ''
    const sends = content && method !== 'GET' && method !== 'DELETE'
    const types = operation.kind === 'patch' ? 'application/merge-patch+json' : 'application/json'
    return {
      method,
      target: search === '' ? path : `${path}?${search}`,
      fields: {
        ...(operation.kind === 'getFile' ? {} : { accept: 'application/json' }),
        ...(sends && { 'content-type': types }),
        ...(file && method === 'PUT' && { 'content-type': file.mediaType }),
        ...(tag !== undefined && method !== 'GET' && method !== 'POST' && { 'if-match': tag }),
        ...this.#headerFields(operation),
      },
      ...(sends && { content: JSON.stringify(content) }),
      ...(file && method === 'PUT' && { content: file.octets }),
    }
  }

  #headersOf(operation: DeclaredOperation) {
    return headersOfOperation(this.#view, this.#version, operation.name).filter(
      each => isOfRequest(each) && (each.isRequired || each.isMandatory),
    )
  }
  #headerFields(operation: DeclaredOperation): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#headersOf(operation).flatMap(each => {
        const value = makeSampleContent({ [each.name]: fieldOfHeader(each) }, { known: () => undefined })[each.name]
        return each.field === undefined || value === undefined || typeof value === 'object'
          ? []
          : [[each.field, String(value)]]
      }),
    )
  }

  #soapRequest(bench: ExampleBench, operation: DeclaredOperation, input: ExampleInput): ExampleRequest | undefined {
    const messages = compileMessages(this.#view, this.#version)
    const message = messages.find(each => each.operation.name === operation.name)
    const endpoint = mainEndpoint(this.#view, this.#version)
    if (!message || !endpoint) return undefined
    const { fields } = message.request
    const beside = { ...Object.fromEntries(this.#parentsOf(bench, operation, input)), ...input.beside }
    const placed = { ...input, beside }
    const row = typedRow(fields, knownMembers(fields, messageContent(message.request, placed)))
    const codecs = compileHeaders(messages)
    const blocks = this.#headersOf(operation).flatMap(each => {
      const named = { [each.name]: fieldOfHeader(each) }
      const value = typedRow(named, makeSampleContent(named, { known: bench.known }))?.[each.name]
      const codec = codecs.find(({ header }) => header.name === each.name)
      return codec && value !== undefined ? [codec.write(value, soap12)] : []
    })
    if (!row) return undefined
    const body = writeRequestBody(namespaceOf(this.#view, this.#version), message, row)
    return {
      method: 'POST',
      target: endpoint.path,
      fields: { 'content-type': `application/soap+xml; charset=utf-8; action="${message.action}"` },
      content: writeEnvelope(soap12, body, blocks),
    }
  }
}

/** The members of a message, by the names in its schema. */
function messageContent(
  { fields, main }: { readonly fields: Fields; readonly main: string | undefined },
  { id, tag, content = {}, beside = {}, file }: ExampleInput,
): SampleMembers {
  const version = /\d+/.exec(tag ?? '')?.[0]
  const common = { ...(id && { id }), ...(version !== undefined && { version }), ...beside }
  if (file) return { ...common, mediaType: file.mediaType, [main ?? '']: encodeBase64(file.octets) }
  const { q, ...rest } = content
  const isWrapped = main !== undefined && Object.hasOwn(fields, main) && !Object.hasOwn(content, main)
  const inside = Object.hasOwn(fields, 'q') && q !== undefined ? { q } : {}
  return isWrapped && Object.keys(rest).length > 0 ? { ...common, ...inside, [main]: rest } : { ...common, ...content }
}
const knownMembers = (fields: Fields, members: SampleMembers): SampleMembers =>
  Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(fields, name)))

function typedRow(fields: Fields, members: SampleMembers): Readonly<Record<string, unknown>> | undefined {
  const problems: Parameters<typeof readFields>[2] = []
  const row = readFields(fields, members as Json, problems)
  return problems.length === 0 ? row : undefined
}

function findRequestLine(routes: Routes, operation: DeclaredOperation): RequestLine | undefined {
  const found = findRequestLines(routes, operation).filter(({ isWithin }) => !isWithin)
  return found.find(({ method }) => method === 'GET') ?? found[0]
}

/** The caller at this place; a person of the seed, if one of the items is theirs. */
function choosePerson(
  bench: ExampleBench,
  { resource, grants }: DeclaredOperation & { readonly resource: Resource },
  at: number,
): ExampleCaller | 'no such caller' {
  if (at >= bench.callersFor(grants).length) return 'no such caller'
  const items = [...bench.items(resource.name), {}]
  const callers = items.map(item => bench.callersFor(grants, item)[at])
  return callers.find(isSeeded) ?? callers[0]
}
const isSeeded = (caller: ExampleCaller): boolean => !(caller?.subject ?? '').startsWith('example-')

/** States in which the operation is possible; none: any. */
function statesAllowing(operation: DeclaredOperation & { readonly resource: Resource }): readonly string[] {
  const { given } = operation.resource
  switch (operation.kind) {
    case 'act':
    case 'look':
    case 'kept':
      return operation.action.from
    case 'replace':
    case 'patch':
    case 'putFile':
      return given.edit ?? []
    case 'remove':
      return given.remove ?? []
    default:
      return []
  }
}

/** The shortest way from a state to one of several others, as verbs. */
function wayTo({ machine }: Resource, from: string, states: readonly string[]): readonly string[] {
  const ways = new Map<string, readonly string[]>([[from, []]])
  for (const [state, way] of ways) {
    if (states.length === 0 || states.includes(state)) return way
    for (const [verb, to] of Object.entries(machine[state] ?? {})) if (!ways.has(to)) ways.set(to, [...way, verb])
  }
  return []
}

/** Resources to which an item must refer. */
const requiredResources = (fields: Fields): readonly string[] =>
  Object.values(fields).flatMap(({ shape, isOptional, defaultValue }) => {
    if (isOptional || defaultValue !== undefined) return []
    return shape.kind === 'ref' ? [shape.resource] : innerFields(shape).flatMap(requiredResources)
  })

/** A word that a search will find. */
function firstWordOf(items: readonly KnownItem[], { given: { search = [] } }: Resource): string | undefined {
  const own = search.filter(path => !path.includes('.'))
  for (const item of items)
    for (const path of own) {
      const word = /\p{L}{3,}/u.exec(String(item[path] ?? ''))?.[0]
      if (word !== undefined) return word
    }
  return undefined
}

const lastSegment = (address: string | null | undefined): string | undefined => address?.split('/').at(-1)

/** The smallest picture, or a text. */
function sampleFile(mediaType: string): NonNullable<ExampleInput['file']> {
  const text =
    mediaType === 'image/png' ? new Uint8Array(requireBase64(smallestPng)) : new TextEncoder().encode('example\n')
  return { mediaType, octets: text }
}
const smallestPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export interface RequestLine {
  readonly method: string
  /** The path after the version. */
  readonly template: string
  /** Whether it lists the items that refer to one item. */
  readonly isWithin: boolean
}

/** The PUT that replaces a single resource also creates it. */
export function findRequestLines({ all }: Routes, operation: Operation): readonly RequestLine[] {
  const linesOf = (isMeant: (each: Operation) => boolean): readonly RequestLine[] =>
    all.flatMap(({ template, methods, within }) =>
      [...methods]
        .filter(([, each]) => isMeant(each))
        .map(([method]) => ({ method, template, isWithin: within !== undefined })),
    )
  const found = linesOf(each => each.name === operation.name)
  if (found.length > 0 || operation.kind !== 'create' || !operation.resource.isSingle) return found
  const { name } = operation.resource
  return linesOf(each => each.kind === 'replace' && each.resource.name === name)
}
