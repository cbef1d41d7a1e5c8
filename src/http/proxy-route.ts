/**
 * The proxy for a request according to the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, read
 * as by curl and Node, each in lower case first. Node uses them for fetch and its agents only with
 * NODE_USE_ENV_PROXY=1 or --use-env-proxy, so this switch applies to all our requests.
 */
import { decodePercent } from '../base/attempt.ts'
import { encodeBase64 } from '../base/base64.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A proxy for requests to one address. */
export interface ProxyRoute {
  readonly protocol: 'http:' | 'https:'
  readonly host: string
  readonly port: number
  /** Proxy-Authorization (RFC 9110 §11.7.2), from the credentials in the proxy's address. */
  readonly authorization: string | undefined
}

export const allowsEnvironmentProxy = (env: Environment, flags: readonly string[]): boolean =>
  env['NODE_USE_ENV_PROXY'] === '1' ||
  [...flags, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)].includes('--use-env-proxy')

/** @throws TypeError for an address that is not a valid proxy address */
export function findProxyRoute(target: URL, env: Environment): ProxyRoute | undefined {
  const name = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const address = readVariable(env, name)
  if (address === '' || isExcepted(target, readVariable(env, 'NO_PROXY'))) return undefined
  return parseProxyAddress(address, name)
}
const readVariable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/** @param place where the address is set, for the error */
export function parseProxyAddress(address: string, place: string): ProxyRoute {
  const url = URL.parse(address)
  const names = url ? decodePercent(`${url.username}:${url.password}`) : undefined
  if (!url || names === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new TypeError(
      `${place} is not the http or https address of a proxy: give one such as http://proxy.example:3128`,
    )
  return {
    protocol: url.protocol,
    host: bareHostOf(url),
    port: portOfTarget(url),
    authorization: names === ':' ? undefined : `Basic ${encodeBase64(new TextEncoder().encode(names))}`,
  }
}
const bareHostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
const portOfTarget = ({ protocol, port }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80))

/**
 * NO_PROXY: hosts separated by commas, each with a port if only that port is meant; `.example.com`
 * and `*.example.com` mean all hosts below, `10.0.0.1-10.0.0.9` a range of IPv4 addresses, `*` all.
 */
function isExcepted(target: URL, list: string): boolean {
  const host = bareHostOf(target).toLowerCase()
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => entry === '*' || (entry !== '' && matchesEntry(entry, host, portOfTarget(target))))
}

function matchesEntry(entry: string, host: string, port: number): boolean {
  const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? []
  if (only !== undefined && Number(only) !== port) return false
  if (/^\*?\./.test(name)) return host.endsWith(name.replace(/^\*/, ''))
  const [first, last] = name.split('-').map(numberOfIpv4)
  const address = numberOfIpv4(host)
  if (first !== undefined && last !== undefined && address !== undefined) return first <= address && address <= last
  return name.replace(/^\[|\]$/g, '') === host
}

function numberOfIpv4(text: string): number | undefined {
  const parts = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) ? text.split('.').map(Number) : []
  return parts.length === 0 ? undefined : parts.reduce((sum, each) => sum * 256 + each, 0)
}
