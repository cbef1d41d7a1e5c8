/** A connection through a proxy, of which it sees the host and the octets (RFC 9110 §9.3.6). */
import type * as net from 'node:net'
import { allowsEnvironmentProxy, findProxyRoute, type ProxyRoute, parseProxyAddress } from '../http/proxy-route.ts'

/** @param given the option: an address, `false` for none; by default what the environment says */
export function chooseProxy(target: URL, given: string | false | undefined): ProxyRoute | undefined {
  if (given === false) return undefined
  if (given !== undefined) return parseProxyAddress(given, 'the option proxy')
  const { env, execArgv } = process
  return allowsEnvironmentProxy(env, execArgv) ? findProxyRoute(target, env) : undefined
}

/** A tunnel that is opened, and may be given up meanwhile. */
export interface OpeningTunnel {
  destroy(): void
}

/**
 * @param opened gets the connection, on which nothing was sent or received yet
 * @param failed gets the reason of a proxy that opens none
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
    failed(new Error(`the proxy ${proxy.host}:${proxy.port} opens no connection`, { cause })),
  )
  asking.end()
  return asking
}
