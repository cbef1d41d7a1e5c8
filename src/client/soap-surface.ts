/**
 * The surface of the REST client over SOAP messages: `client.orders.pay(order, …)` sends PayOrder
 * with the identifier and the version of the order as it was read.
 */
import { messageNameOf } from '../contract/filter-field.ts'
import type { Values } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { Message } from '../contract/xml-message.ts'
import { AnswerError } from './errors.ts'
import type { CallOptions } from './options.ts'
import { type DownloadedFile, type FetchedPage, Results, toDownloadedFile } from './results.ts'
import type {
  AwaitOptions,
  ChangeOptions,
  JobStatus,
  NestedOptions,
  RequestOptions,
  SentOctets,
} from './surface-types.ts'
import type { Wait } from './timer.ts'
import { WatchedJob } from './watched-job.ts'

/** One message, sent. */
export type CallMessage = (message: Message, input: Values, options: CallOptions | undefined) => Promise<Values>

/** Resource or job → its methods. */
export function createSurface(all: readonly Message[], call: CallMessage, wait: Wait): Record<string, object> {
  const surface: Record<string, Record<string, unknown>> = {}
  for (const message of all) {
    const { operation } = message
    if (operation.oneWay || operation.kind === 'exchange') continue
    const owner = 'job' in operation ? operation.job.job : operation.resource.name
    const members = (surface[owner] ??= {})
    if (operation.kind === 'getFile' || operation.kind === 'putFile')
      Object.assign((members[operation.part] ??= {}), createFileMethod(message, operation, call))
    else if (operation.kind === 'startJob')
      Object.assign(members, createJobMethods(message, operation, all, { call, wait }))
    else Object.assign(members, createMethod(message, call))
  }
  return surface
}

/** The member of a reply that holds its subject. */
const subjectOf = ({ response }: Message, reply: Values): Values => reply[response?.main ?? ''] as Values // valid by the contract

/** Content next to `common`, or in an element of its own if both have a name in common. */
const joinInput = ({ request }: Message, common: Values, content: Values): Values =>
  request.main === undefined ? { ...common, ...content } : { ...common, [request.main]: content }

/** A single resource has no identifier. */
const nameTarget = ({ operation }: Message, item: Values): Values =>
  'resource' in operation && operation.resource.isSingle ? {} : { id: item['id'] }

/** The parent in which a message lists or creates items. */
function nameParent({ operation, request }: Message, id: unknown): Values {
  const within = 'resource' in operation ? operation.resource.within : undefined
  return within !== undefined && Object.hasOwn(request.fields, within) ? { [within]: id } : {}
}

function identify(message: Message, item: Values, options: ChangeOptions | undefined): Values {
  const version = options?.anyVersion ? undefined : item[message.version]
  return version === undefined ? nameTarget(message, item) : { ...nameTarget(message, item), version }
}

/** The item that was read. */
const nameOwnParent = (message: Message, item: Values): Values => {
  const { operation } = message
  return 'resource' in operation ? nameParent(message, item[operation.resource.within ?? '']) : {}
}

function createMethod(message: Message, call: CallMessage): Record<string, unknown> {
  const { operation } = message
  const ask = async (input: Values, options: CallOptions | undefined) =>
    subjectOf(message, await call(message, input, options))
  switch (operation.kind) {
    case 'get':
      if (operation.resource.isSingle) return { get: (options?: RequestOptions) => ask({}, options) }
      return {
        get: (item: string | Values, options?: RequestOptions) =>
          ask({ id: typeof item === 'string' ? item : item['id'] }, options),
      }
    case 'list':
      return {
        list: (query: ListedQuery = {}, options?: RequestOptions) =>
          fetchResults(
            message,
            call,
            renameFilters(query.where),
            { ...pagingOf(query), ...nameParent(message, query.within?.['id']) },
            options,
          ),
      }
    case 'search':
      return {
        search: (q: string, where: Values = {}, { size, within, ...options }: SearchedQuery = {}) => {
          const common = { q, ...pagingOf({ size }), ...nameParent(message, within?.['id']) }
          return fetchResults(message, call, where, common, options)
        },
      }
    case 'create':
      return {
        create: (draft: Values, { within, ...options }: NestedOptions = {}) =>
          ask(joinInput(message, nameParent(message, within?.['id']), draft), options),
      }
    case 'replace':
      return {
        replace: (item: Values, draft: Values, options?: ChangeOptions) =>
          ask(
            joinInput(message, { ...nameOwnParent(message, item), ...identify(message, item, options) }, draft),
            options,
          ),
      }
    case 'remove':
      return {
        remove: async (item: Values, options?: ChangeOptions) => {
          await call(message, identify(message, item, options), options)
        },
      }
    case 'look':
      return {
        [operation.verb]: (item: Values, options?: RequestOptions) => ask(nameTarget(message, item), options),
      }
    case 'act':
      return {
        [operation.verb]: (item: Values, input: Values = {}, options?: ChangeOptions) =>
          ask(joinInput(message, identify(message, item, options), input), options),
      }
    default:
      return {}
  }
}

// Pages

interface ListedQuery {
  readonly where?: Values
  readonly sort?: readonly string[]
  readonly size?: number | undefined
  readonly within?: Values | undefined
}
interface SearchedQuery extends NestedOptions {
  readonly size?: number
}

const pagingOf = ({ sort, size }: ListedQuery): Values => ({
  ...(sort && { sort: sort.join() }),
  ...(size !== undefined && { size }),
})

const renameFilters = (where: Values = {}): Values =>
  Object.fromEntries(Object.entries(where).map(([name, value]) => [messageNameOf(name), value]))

function fetchResults(
  message: Message,
  call: CallMessage,
  where: Values,
  common: Values,
  options: RequestOptions | undefined,
): Results<Values> {
  /** `seen`: the cursors so far; a list that leads back to one would never end. */
  const fetchPage = async (cursor: Values, seen = new Set<unknown>()): Promise<FetchedPage<Values>> => {
    const reply = await call(message, joinInput(message, { ...common, ...cursor }, where), options)
    const { total, next } = reply
    if (typeof next === 'string' && seen.has(next)) throw refuseCircle(message, next)
    return {
      items: subjectOf(message, reply) as unknown as readonly Values[], // a list, by the contract
      ...(typeof total === 'number' && { total }),
      fetchNext: typeof next === 'string' ? () => fetchPage({ cursor: next }, seen.add(next)) : undefined,
    }
  }
  return new Results(() => fetchPage({}))
}

/** The messages are valid one by one, so the error has none of their content. */
const refuseCircle = ({ operation }: Message, cursor: string): AnswerError =>
  new AnswerError(operation.name, 'structure', `next leads back to a page that has been read, cursor ${cursor}`, {
    status: 200,
    fields: {},
    content: new Uint8Array(),
  })

// Files

function createFileMethod(
  message: Message,
  { kind }: OperationOf<'getFile' | 'putFile'>,
  call: CallMessage,
): Record<string, unknown> {
  if (kind === 'getFile')
    return {
      get: async (item: Values, options?: RequestOptions): Promise<DownloadedFile> => {
        const reply = await call(message, nameTarget(message, item), options)
        const octets = reply[message.response?.main ?? ''] as Uint8Array<ArrayBuffer> // valid by the contract
        const headers = { 'content-type': String(reply['mediaType']), 'content-length': String(octets.length) }
        return toDownloadedFile(new Response(octets, { headers }))
      },
    }
  return {
    put: async (item: Values, octets: SentOctets, options: RequestOptions & { readonly mediaType: string }) => {
      const { mediaType, ...others } = options
      const bytes = new Uint8Array(await new Response(octets as Uint8Array<ArrayBuffer>).arrayBuffer())
      await call(message, { ...nameTarget(message, item), mediaType, [message.request.main ?? '']: bytes }, others)
    },
  }
}

// Jobs

function createJobMethods(
  message: Message,
  { job }: OperationOf<'startJob'>,
  all: readonly Message[],
  { call, wait }: { readonly call: CallMessage; readonly wait: Wait },
): Record<string, unknown> {
  const watch = all.find(({ operation }) => operation.kind === 'getJob' && operation.job === job)
  const start = async (input: Values, options?: RequestOptions) => {
    const reply = await call(message, input, options)
    const status = subjectOf(message, reply) as unknown as JobStatus // valid by the contract
    const ask = (askOptions: RequestOptions | undefined) =>
      watch ? call(watch, { id: status.id }, askOptions) : Promise.reject(new TypeError(`${job.job} cannot be watched`))
    return new WatchedJob(
      `${job.job}.result`,
      { status, waitMs: undefined },
      {
        look: async askOptions => ({ status: (await ask(askOptions))['job'] as JobStatus, waitMs: undefined }),
        readResult: async askOptions => {
          const { job: _, ...rest } = await ask(askOptions)
          return Object.values(rest)[0]
        },
        wait,
      },
    )
  }
  return {
    start,
    run: async (input: Values, options?: AwaitOptions) =>
      (await start(input, { signal: options?.signal })).result(options),
  }
}
