/**
 * What hosts know about a request besides its octets, and how a service becomes a Fastify plugin.
 * The hosts are described here only as far as they are used: none is loaded.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressBlock, isLoopbackAddress } from '../base/address.ts'
import type { HostFacts } from './node-exchange.ts'
import { peerAddress } from './peer.ts'

/** What Express adds to a request; `trust proxy` decides what it reads. */
export type ExpressRequest = IncomingMessage & {
  readonly originalUrl?: string
  readonly ip?: string
  readonly protocol?: string
  readonly host?: string
}

export const readExpressFacts = (request: ExpressRequest): HostFacts => ({
  from: chooseAddress(request, request.ip),
  scheme: request.protocol,
  host: request.host,
  carrier: request,
})

/** The part of Fastify that the plugin needs. */
export interface FastifyHost {
  readonly prefix: string
  readonly supportedMethods: readonly string[]
  addHttpMethod(method: string, options: { readonly hasBody: boolean }): unknown
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parse: (request: object, payload: IncomingMessage, done: (error: Error | null) => void) => void,
  ): unknown
  addHook(name: 'preClose' | 'onClose', close: () => Promise<void>): unknown
  all(path: string, answer: (request: FastifyRequest, reply: FastifyReply) => void): unknown
}
interface FastifyRequest {
  readonly raw: IncomingMessage
  readonly id: string
  readonly ip: string
  readonly protocol: string
  readonly host: string
}
interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>
}

/**
 * Handles all methods and paths below the plugin's prefix; content is left to the service, and
 * fields that hooks have set are sent with the response.
 * @throws TypeError if the plugin's prefix in Fastify is not the one in its links
 */
export function mountInFastify(
  instance: FastifyHost,
  prefix: string,
  serve: (request: IncomingMessage, response: ServerResponse, facts: HostFacts) => void,
): void {
  if (instance.prefix !== prefix)
    throw new TypeError(
      `the plugin is registered with the prefix "${instance.prefix}", but the links of the service begin with "${prefix}": give handler() and register() the same prefix`,
    )
  // QUERY is newer than Fastify's list of methods.
  if (!instance.supportedMethods.includes('QUERY')) instance.addHttpMethod('QUERY', { hasBody: true })
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    const { raw, id, ip, protocol: scheme, host } = request
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    reply.hijack()
    serve(raw, reply.raw, { from: chooseAddress(raw, ip), scheme, host, id, carrier: request })
  }
  for (const path of ['/', '/*']) instance.all(path, answer)
}

/** A loopback address that a proxy reports is not this machine's, and grants none of its rights. */
function chooseAddress({ socket }: IncomingMessage, statedAddress: string | undefined): string | undefined {
  if (statedAddress === undefined) return undefined
  const from = addressBlock(statedAddress)
  return from !== peerAddress(socket) && isLoopbackAddress(from) ? 'unknown' : from
}

/**
 * The client's address as Deno (`remoteAddr`), Bun (`requestIP`) and the Node server of Hono
 * (`incoming`) provide it; undefined elsewhere.
 */
export function findFetchAddress(request: globalThis.Request, args: readonly unknown[]): string | undefined {
  for (const each of args) {
    if (typeof each !== 'object' || each === null) continue
    const { remoteAddr, requestIP, incoming } = each as {
      readonly remoteAddr?: { readonly hostname?: string }
      readonly requestIP?: (request: globalThis.Request) => { readonly address: string } | null
      readonly incoming?: IncomingMessage
    }
    const found = remoteAddr?.hostname ?? requestIP?.call(each, request)?.address ?? incoming?.socket.remoteAddress
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The target of a request below the path where a host mounts the service: `/shop/api` is `/api`. A
 * target that names the server (`*`) or a connection is unchanged.
 * @param prefix such as `/shop`; '' at a root
 * @returns undefined for a target that is not below the prefix
 */
export function stripMountPath(target: string, prefix: string): string | undefined {
  if (prefix === '') return target
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? ''
  const path = target.slice(origin.length)
  if (path !== '' && !path.startsWith('/')) return target
  if (!path.startsWith(prefix)) return undefined
  const rest = path.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `${origin}/${rest}`
  return rest.startsWith('/') ? origin + rest : undefined
}
