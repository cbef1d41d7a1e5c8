/**
 * A tunnel to the service through the proxy that the environment names (RFC 9110 §9.3.6), for http
 * as well as https, so that the octets of a probe arrive unchanged.
 */
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import type { Socket } from 'node:net'
import { allowsEnvironmentProxy, findProxyRoute } from '../http/proxy-route.ts'
import { Unreachable } from './probe-message.ts'

const tunnelLimitMs = 5000

/** Undefined: the environment names no proxy. Rejects with `Unreachable`. */
export function openProbeTunnel(target: URL): Promise<Socket> | undefined {
  const { env, execArgv } = process
  const proxy = allowsEnvironmentProxy(env, execArgv) ? findProxyRoute(target, env) : undefined
  if (!proxy) return undefined
  const { protocol, host, port, authorization } = proxy
  const authority = `${target.hostname}:${target.port || (target.protocol === 'https:' ? 443 : 80)}`
  const headers = { host: authority, ...(authorization !== undefined && { 'proxy-authorization': authorization }) }
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const fail = (says: string) => reject(new Unreachable(`the proxy ${host}:${port} ${says}`))
  const asking = (protocol === 'https:' ? requestTls : requestPlain)({
    method: 'CONNECT',
    host,
    port,
    path: authority,
    headers,
    agent: false,
  })
  asking.setTimeout(tunnelLimitMs, () => asking.destroy(new Error(`has not responded within ${tunnelLimitMs} ms`)))
  asking.once('error', thrown => fail(thrown.message))
  asking.once('connect', ({ statusCode = 0 }, socket) => {
    socket.setTimeout(0)
    if (statusCode >= 200 && statusCode < 300) return resolve(socket as Socket)
    socket.destroy()
    fail(`answered ${statusCode} to CONNECT ${authority}`)
  })
  asking.end()
  return promise
}
