/**
 * A service inside the server that a team already has: the same front door, faces and pages, behind
 * another server's sockets. What always holds:
 *  (1) The front door makes the same decisions as for `serve`; the host adds its facts: the
 *      client's address and scheme according to the proxies that it trusts, the id of the request,
 *      and the caller.
 *  (2) A proxy's word never grants a right of this machine, whatever the host believes.
 *  (3) The seeded people, whose passwords are public, may sign in only where `insecure` says so:
 *      this code cannot know who can reach the host.
 *  (4) When it closes, requests in progress have their time, as under `serve`: the host's listener
 *      is not ours, so the exchanges are counted.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chain, type Maybe } from '../base/maybe.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { requireSoundContract } from '../contract/review.ts'
import { respond } from '../http/respond.ts'
import { ExchangeCount } from '../server/exchange-count.ts'
import { serveFetchExchange } from '../server/fetch-exchange.ts'
import {
  type ExpressRequest,
  type FastifyHost,
  findFetchAddress,
  mountInFastify,
  readExpressFacts,
  stripMountPath,
} from '../server/host-facts.ts'
import { type HostFacts, serveNodeExchange } from '../server/node-exchange.ts'
import { startWaitingWatch } from '../server/pace.ts'
import { createServerContext, type Serve } from '../server/server-context.ts'
import { openService } from './open-service.ts'
import { openAllOrNothing, requireSoundOptions, type ServiceOptions } from './options.ts'
import { ensureSafe } from './safety.ts'

/** The caller, as a host knows it. */
export interface HostedCaller extends Pick<Caller, 'roles'> {
  readonly subject: string
  readonly claims?: Caller['claims']
}

/**
 * The options of `handler`: those of `serve` without an address, and facts that the host provides.
 */
export interface HandlerOptions extends ServiceOptions {
  /** Where the host mounts the service, such as `/shop`; links include it. Default: ''. */
  readonly prefix?: string
  /**
   * The caller according to the host's own authentication, from the host's request object.
   * Undefined: the host does not know, and the credentials of the request decide.
   */
  caller?(request: object): Maybe<HostedCaller | undefined>
  /**
   * The address of the client of a Fetch request, from the host's additional arguments. Default: as
   * given by Deno, Bun and the Node server of Hono; otherwise ''.
   */
  address?(request: globalThis.Request, args: readonly unknown[]): string | undefined
}

/** One service in the forms that hosts accept. */
export interface MountableService {
  /** For Hono, Next, Deno, Bun. It receives the whole URL, including the prefix. */
  readonly fetch: (request: globalThis.Request, ...args: unknown[]) => Promise<globalThis.Response>
  /** `createServer(shop.node)`, and `server.on('checkContinue', shop.node)`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  /** `app.use(shop.express)`: requests outside the prefix go to the next handler. */
  readonly express: (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void
  /** `app.register(shop.fastify, { prefix: '/shop' })`; it closes the service with the server. */
  readonly fastify: (instance: FastifyHost) => Promise<void>
  /** Signs a bearer token for a subject with these roles, with the local key. */
  readonly token: (subject: string, roles: readonly string[]) => Promise<string>
  /**
   * Ends streams at once, waits up to `limit` milliseconds (default: 10,000) for requests in
   * progress and for jobs, and closes the store. Later requests get 503.
   */
  close(limit?: number): Promise<void>
}

/** Throws what `startService` throws. */
export async function createHandler(app: Implementation, options: HandlerOptions = {}): Promise<MountableService> {
  const { prefix = '', caller, address = findFetchAddress, ...rest } = options
  requireSoundContract(app)
  const foreign = ['host', 'port', 'tls', 'http'].find(name => name in rest)
  const misplaced = foreign ?? (rest.settings?.proxyProtocol ? 'settings.proxyProtocol' : undefined)
  if (misplaced !== undefined)
    throw new TypeError(`the option ${misplaced} is for serve: here the host listens, so set it on the host`)
  const service: ServiceOptions = { ...rest, settings: { ...rest.settings, ...(prefix !== '' && { prefix }) } }
  requireSoundOptions(app, service)
  ensureSafe({ ...service, insecure: true }) // (3) decided below by `seededPasswords`
  const open = await openAllOrNothing(opened =>
    openService(app, service, opened, {
      seededPasswords: options.insecure === true,
      ...(caller && { hosted: carrier => chain(caller(carrier), toCaller) }),
    }),
  )
  const exchanges = new ExchangeCount()
  let closing: Promise<void> | undefined
  const serve: Serve = request => (closing ? respond(503, stoppingService) : open.answer(request))
  const context = createServerContext(serve, { limits: options.limits, onError: open.failed })
  const elsewhere = { ...context, serve: () => respond(404, { detail: `this service is mounted at ${prefix}` }) }
  const stopWatch = startWaitingWatch(context)
  const close = (limit = 10_000): Promise<void> => {
    context.draining = true
    return (closing ??= open.close(limit, each => exchanges.waitForNone(each)).finally(stopWatch))
  }
  const passOn = (request: IncomingMessage, response: ServerResponse, facts: HostFacts, path = request.url): void => {
    const target = stripMountPath(path ?? '/', prefix)
    exchanges.addResponse(response)
    serveNodeExchange(target === undefined ? elsewhere : context, request, response, target ?? '/', facts)
  }
  return {
    fetch: (request, ...args) => {
      const { pathname, search } = new URL(request.url)
      const target = stripMountPath(pathname + search, prefix)
      const facts = { from: address(request, args), carrier: request }
      const of = target === undefined ? elsewhere : context
      return exchanges.addFetch(ended => serveFetchExchange(of, request, target ?? '/', facts, ended))
    },
    node: (request, response) => passOn(request, response, { carrier: request }),
    express: (request, response, next) => {
      const path = (request as ExpressRequest).originalUrl ?? request.url ?? '/'
      if (stripMountPath(path, prefix) === undefined) next()
      else passOn(request, response, readExpressFacts(request), path)
    },
    fastify: async instance => {
      mountInFastify(instance, prefix, passOn)
      // Fastify closes its server in between, and waits there for streams, too.
      instance.addHook('preClose', async () => void close())
      instance.addHook('onClose', () => close())
    },
    token: open.token,
    close,
  }
}

/** RFC 9110 §15.6.4: a host may still receive requests after it has closed the service. */
const stoppingService = {
  detail: 'this service is stopping: repeat the request after the time in Retry-After',
  fields: { 'retry-after': '1' },
}

const toCaller = (hosted: HostedCaller | undefined): Caller | undefined => hosted && { claims: {}, ...hosted }
