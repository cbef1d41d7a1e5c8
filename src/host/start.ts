/** Starts a service: its parts first, then its address; if one fails, all are closed. */
import type { Implementation } from '../contract/implement.ts'
import { proxiedLimits, type ServerLimits } from '../server/limits.ts'
import { startListener } from '../server/listener.ts'
import { boundConnections, readOpenFiles } from '../server/open-files.ts'
import { type OpenService, openService } from './open-service.ts'
import { addFrontGauges } from './operations/gauges.ts'
import type { ServeOptions, Server } from './options.ts'

export async function start(app: Implementation, options: ServeOptions, opened: AsyncDisposableStack): Promise<Server> {
  const service = await openService(app, options, opened)
  const { load, figures, context } = service
  const listener = await startListenerOf(options)(service.answer, {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    ...(options.tls && { tls: options.tls }),
    limits: proxiedLimits(context.settings.trustProxy !== false, { ...findFileLimit(service.warn), ...options.limits }),
    onError: service.failed,
    onRefusal: service.refused,
  })
  addFrontGauges(figures, load, listener)
  return {
    url: listener.url,
    port: listener.port,
    token: service.token,
    reload: () => {
      if (options.tls) listener.secure(options.tls)
    },
    close: (limit = 10_000) => service.close(limit, each => listener.close(each)),
  }
}

/** Connections where the system allows fewer files than the default takes. */
function findFileLimit(warn: OpenService['warn']): Partial<ServerLimits> {
  const openFiles = readOpenFiles()
  const connections = boundConnections(openFiles)
  if (connections === undefined) return {}
  warn(
    { openFiles, connections },
    'the system allows few open files, and so few connections: raise the limit (ulimit -n, LimitNOFILE)',
  )
  return { connections }
}

const startListenerOf =
  ({ http = 'own' }: ServeOptions): typeof startListener =>
  async (serve, options) =>
    http === 'own'
      ? startListener(serve, options)
      : (await import('../server/node-listener.ts')).startNodeListener(serve, options)
