/** Starts a service: first its parts, then its address; if one fails, all are closed. */
import type { Implementation } from '../contract/implement.ts'
import { boundHeldOctets, readMemory } from '../server/held-octets.ts'
import { proxiedLimits, type ServerLimits } from '../server/limits.ts'
import { type HttpListener, startListener } from '../server/listener.ts'
import { boundConnections, readOpenFiles } from '../server/open-files.ts'
import { describeServerCertificate, type Tls } from '../server/tls.ts'
import { type OpenService, openService } from './open-service.ts'
import { addFrontGauges } from './operations/gauges.ts'
import { errorFields } from './operations/log.ts'
import type { ServeOptions, Server } from './options.ts'

export async function start(app: Implementation, options: ServeOptions, opened: AsyncDisposableStack): Promise<Server> {
  const service = await openService(app, options, opened)
  const { load, figures, context, logger } = service
  const listener = await startListenerOf(options)(service.answer, {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    ...(options.tls && { tls: options.tls }),
    proxyProtocol: context.settings.proxyProtocol,
    limits: proxiedLimits(context.settings.trustProxy !== false, {
      ...findFileLimit(logger),
      ...findMemoryLimit(),
      ...options.limits,
    }),
    onError: service.failed,
    onRefusal: service.refused,
    onBadRequest: service.misread,
  })
  addFrontGauges(figures, load, listener)
  return {
    url: listener.url,
    port: listener.port,
    token: service.token,
    reload: () => {
      if (options.tls) secureAgain(listener, options.tls, logger)
    },
    close: (limit = 10_000) => service.close(limit, each => listener.close(each)),
  }
}

/** The log reports success and failure, since a program renews certificates by a signal. */
function secureAgain(listener: HttpListener, tls: Tls, logger: OpenService['logger']): void {
  try {
    listener.secure(tls)
  } catch (thrown) {
    logger.error(errorFields(thrown), 'the certificate was not loaded again: the former one stays in use')
    throw thrown
  }
  logger.info(describeServerCertificate(tls), 'the certificate was loaded again')
}

/** The number of connections, where the system allows fewer files than the default needs. */
function findFileLimit(logger: OpenService['logger']): Partial<ServerLimits> {
  const openFiles = readOpenFiles()
  const connections = boundConnections(openFiles)
  if (connections === undefined) return {}
  logger.warn(
    { openFiles, connections },
    'the system allows few open files, and so few connections: raise the limit (ulimit -n, LimitNOFILE)',
  )
  return { connections }
}

/** The octets of arriving contents, where there is less memory than the default needs. */
function findMemoryLimit(): Partial<ServerLimits> {
  const held = boundHeldOctets(readMemory())
  return held === undefined ? {} : { held }
}

const startListenerOf =
  ({ http = 'own' }: ServeOptions): typeof startListener =>
  async (serve, options) =>
    http === 'own'
      ? startListener(serve, options)
      : (await import('../server/node-listener.ts')).startNodeListener(serve, options)
