/** A connection through a proxy, which sees only the host and the octets (RFC 9110 §9.3.6). */
import type * as net from 'node:net'
import { allowsEnvironmentProxy, findProxyRoute, type ProxyRoute, parseProxyAddress } from '../http/proxy-route.ts'

/** @param option an address, or `false` for none; the default comes from the environment */
export function chooseProxy(target: URL, option: string | false | undefined): ProxyRoute | undefined {
  if (option === false) return undefined
  if (option !== undefined) return parseProxyAddress(option, 'the option proxy')
  const { env, execArgv } = process
  return allowsEnvironmentProxy(env, execArgv) ? findProxyRoute(target, env) : undefined
}

/** A tunnel that is being opened, and may be abandoned meanwhile. */
export interface OpeningTunnel {
  destroy(): void
}

/**
 * @param opened gets the connection, on which nothing has been sent or received yet
 * @param failed gets the reason if the proxy opens none
 */
export function openTunnel(
  proxy: ProxyRoute,
  { host, port }: { readonly host: string; readonly port: number },
  opened: (socket: net.Socket) => void,
  failed: (error: Error) => void,
): OpeningTunnel {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const { request } = process.getBuiltinModule(proxy.protocol === 'https:' ? 'node:https' : 'node:http')
  const asking = request({
    method: 'CONNECT',
    host: proxy.host,
    port: proxy.port,
    path: authority,
    headers: { host: authority, ...(proxy.authorization && { 'proxy-authorization': proxy.authorization }) },
    agent: false,
  })
  asking.once('connect', ({ statusCode = 0 }, socket, head) => {
    if (statusCode >= 200 && statusCode < 300 && head.length === 0) return opened(socket as net.Socket)
    socket.destroy()
    failed(new Error(`the proxy ${proxy.host}:${proxy.port} answered ${statusCode} to CONNECT ${authority}`))
  })
  asking.once('error', cause =>
    failed(new Error(`the proxy ${proxy.host}:${proxy.port} did not open a connection`, { cause })),
  )
  asking.end()
  return asking
}
