/**
 * A client of a REST service, made at run time from its OpenAPI document: each operation is a
 * method, typed by the ports that `diglot import --operations` writes. Input is checked before it
 * is sent, a response before it is returned.
 */

import { type ClientCredentials, writeCredentials } from '../client/credentials.ts'
import { AnswerError, ConnectionError, InputError, TransportFailure } from '../client/errors.ts'
import type { Port } from '../contract/exchange.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import { anyone } from '../contract/policy.ts'
import { readDescribedApi } from '../import/import-command.ts'
import type { Loss } from '../import/loss.ts'
import type { RestPort } from '../import/openapi/rest-port.ts'
import type { OpenApiCallOptions, OpenApiClient, OpenApiPorts } from './openapi-client-types.ts'
import { OpenApiError } from './openapi-error.ts'
import type { PortAnswer, PortCaller } from './port-caller.ts'
import { createRestCaller } from './rest-caller.ts'

export type { ClientCredentials } from '../client/credentials.ts'
export { AnswerError, CallError, ConnectionError, InputError, TransportFailure } from '../client/errors.ts'
export type { Loss } from '../import/loss.ts'
export type {
  CaughtProblem,
  OpenApiCall,
  OpenApiCallOptions,
  OpenApiClient,
  OpenApiPorts,
} from './openapi-client-types.ts'
export { OpenApiError } from './openapi-error.ts'

/** An OpenAPI document as its client needs it. */
export interface DescribedApi {
  /** Its operations as exchanges: the members of each, and its errors by their names. */
  readonly ports: readonly [Port]
  /**
   * The address of its first server; relative ones are resolved if the document was fetched. Empty:
   * none is named.
   */
  readonly address: string
  /** What the types of its messages cannot express, one line each. */
  readonly losses: readonly Loss[]
  /** The operations with their HTTP, only for the client. */
  readonly rest: RestPort
}

/** Where `readOpenApi` finds what a document refers to. Its own folder is always searched. */
export interface ReadOpenApiOptions {
  /** Folders with documents that others refer to by an address or only a name. */
  readonly from?: readonly string[]
  /** Hosts that may be contacted, with a port if it is not the default one; default none. */
  readonly fetch?: readonly string[]
}

/**
 * Reads an OpenAPI document of version 3.0 to 3.2, in JSON or YAML, with all that it refers to.
 * Fetches only from named hosts.
 *
 * @param file its path, or an address whose host is named
 * @throws Error that says what to do
 */
export async function readOpenApi(
  file: string,
  { from = [], fetch = [] }: ReadOpenApiOptions = {},
): Promise<DescribedApi> {
  const rest = await readDescribedApi(file, { from, fetch }, [anyone])
  return { ports: [rest.port], address: resolveServer(rest.address, file), losses: rest.losses, rest }
}
/** OpenAPI §4.6: a server is relative to the document, and `/` where none is named. */
const resolveServer = (server: string, file: string): string =>
  /^https?:/i.test(file) ? new URL(server || '/', file).href : server

/** The options of `createOpenApiClient`. */
export interface OpenApiClientOptions {
  /** The base of its addresses. Default: the first server of the document, if that is absolute. */
  readonly address?: string
  readonly credentials?: Exclude<ClientCredentials, { readonly username: string }>
  /** Fields of every request. */
  readonly fields?: Readonly<Record<string, string>>
  /** Milliseconds for one response, including connecting. Default: 30,000. */
  readonly timeLimit?: number
}
const clientMembers: MembersOf<OpenApiClientOptions> = {
  address: true,
  credentials: true,
  fields: true,
  timeLimit: true,
}
const callMembers: MembersOf<OpenApiCallOptions> = { signal: true }
const timeLimitDefault = 30_000

/**
 * A client of the operations of a document, typed by `typeof contract` of the output of `diglot
 * import --operations`: `createOpenApiClient<typeof contract>(await readOpenApi('shop.yaml'))`.
 *
 * @throws TypeError for an invalid option, and if no address of the service is known
 */
export function createOpenApiClient<const S extends OpenApiPorts = OpenApiPorts>(
  { rest, address }: DescribedApi,
  options: OpenApiClientOptions = {},
): OpenApiClient<S['ports'][number]['exchanges']> {
  requireKnownMembers('the options of the client', options, clientMembers)
  const to = requireAddress(options.address, address)
  const credentials = writeCredentials(options.credentials)
  if (credentials.protection) throw new TypeError('credentials with a username are for SOAP: give user and password')
  const fields = lowerNames(options.fields ?? {})
  const caller = createRestCaller(rest, to, {
    timeLimit: options.timeLimit ?? timeLimitDefault,
    fields: { ...credentials.fields, ...fields },
  })
  const methods = Object.keys(rest.port.exchanges).map(name => [name, createCall(name, caller, credentials)] as const)
  return Object.fromEntries(methods) as never // one method for each operation
}
function requireAddress(given: string | undefined, server: string): string {
  const address = given ?? server
  if (URL.canParse(address) && /^https?:/i.test(address)) return address
  if (given !== undefined)
    throw new TypeError(`${given} is not an http or https address: give one such as https://shop.example`)
  throw new TypeError(
    `the document has ${server === '' ? 'no server' : `the server ${server}`}: give the option address`,
  )
}
const lowerNames = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))

function createCall(name: string, caller: PortCaller, { changing }: ReturnType<typeof writeCredentials>) {
  const call = async (input: unknown = {}, options: OpenApiCallOptions = {}): Promise<unknown> => {
    requireKnownMembers(`the options of ${name}`, options, callMembers)
    const { signal } = options
    signal?.throwIfAborted()
    const own = await changing?.()
    const answer = await caller(name, { input, blocks: {}, ...(own && { fields: own }), ...(signal && { signal }) })
    signal?.throwIfAborted()
    return endCall(name, answer)
  }
  return Object.assign(call, {
    isFault: (thrown: unknown, fault: string) =>
      thrown instanceof OpenApiError && thrown.operation === name && thrown.fault === fault,
  })
}

function endCall(operation: string, answer: PortAnswer): unknown {
  switch (answer.kind) {
    case 'answer':
      return answer.content
    case 'fault': {
      const { reason, status = 0, declared, after } = answer // it is an HTTP service, so there is one
      if (answer.unsent) throw new InputError(operation, [answer.unsent])
      throw new OpenApiError(operation, reason, { status, declared, retryAfter: after })
    }
    case 'silence': {
      const { why, mayHaveRun } = answer
      throw new ConnectionError(operation, new TransportFailure(why, 'the service did not respond', { mayHaveRun }))
    }
    case 'garbage': {
      const { status, detail } = answer
      throw new AnswerError(operation, 'malformed', detail, { status, fields: {}, content: new Uint8Array(0) })
    }
  }
}
