/**
 * PostgreSQL addresses that name several servers, as libpq accepts them ("Specifying Multiple
 * Hosts"): `postgres://one:5432,two/shop`, or `host=one,two` and `port=5432,5433` in the query.
 * `target_session_attrs` says which of them is meant.
 */

export interface PostgresServer {
  readonly host: string
  readonly port: number
}
/**
 * Which of several servers is meant: the one that accepts changes, one that follows it, or either.
 */
export type ServerRole = 'primary' | 'standby' | 'any'

export interface ServerList {
  /** The address of the first server, without `target_session_attrs`. */
  readonly first: string
  readonly servers: readonly PostgresServer[]
  readonly role: ServerRole | undefined
}

const defaultPort = '5432'
const roles: Readonly<Record<string, ServerRole>> = {
  'read-write': 'primary',
  primary: 'primary',
  'read-only': 'standby',
  standby: 'standby',
  any: 'any',
}

/**
 * Undefined for an address of a single server, which the driver reads by itself.
 * @throws TypeError for a malformed list; the text of the error contains no credentials
 */
export function parseServerList(address: string): ServerList | undefined {
  const [, scheme = '', user = '', authority = '', path = '', query = ''] =
    /^(\w+:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(address) ?? []
  const parameters = new URLSearchParams(query)
  const named = parameters.get('host') ?? ''
  if (!`${authority}${named}`.includes(',')) return undefined
  const [hosts, ports] = named.includes(',') ? [named.split(','), []] : splitAuthority(authority)
  const servers = pairServers(hosts, parameters.get('port')?.split(',') ?? ports)
  const [{ host, port }] = servers
  const at = `${host.includes(':') ? `[${host}]` : encodeURIComponent(host)}:${port}`
  const rest = query.split('&').filter(each => each !== '' && !/^(host|port|target_session_attrs)=/.test(each))
  const first = `${scheme}${user}${at}${path}${rest.length > 0 ? `?${rest.join('&')}` : ''}`
  return { first, servers, role: readRole(parameters.get('target_session_attrs')) }
}

function splitAuthority(authority: string): readonly [hosts: readonly string[], ports: readonly string[]] {
  const parts = authority.split(',').map(each => /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(each) ?? [])
  const hosts = parts.map(([, host = '']) => decodeURIComponent(host.replace(/^\[|\]$/g, '')))
  return [hosts, parts.map(([, , port = '']) => port)]
}

function pairServers(
  hosts: readonly string[],
  ports: readonly string[],
): readonly [PostgresServer, ...(readonly PostgresServer[])] {
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new TypeError(
      `it names ${hosts.length} hosts and ${ports.length} ports: give one port for each, or one for all`,
    )
  const [first, ...others] = hosts.map((host, i): PostgresServer => {
    if (host === '') throw new TypeError(`host ${i + 1} of its list is empty: give a name or an address`)
    const port = (ports.length === 1 ? ports[0] : ports[i]) || defaultPort
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535 || Number(port) === 0)
      throw new TypeError(`the port of ${host} is "${port}": give a number from 1 to 65535`)
    return { host, port: Number(port) }
  })
  if (!first) throw new TypeError('it names no host')
  return [first, ...others]
}

function readRole(text: string | null): ServerRole | undefined {
  if (text === null) return undefined
  const role = roles[text]
  if (!role) throw new TypeError(`its target_session_attrs is "${text}": give ${Object.keys(roles).join(', ')}`)
  return role
}

/** For a person, without credentials. */
export const writeServers = (servers: readonly PostgresServer[]): string =>
  servers.map(({ host, port }) => `${host}:${port}`).join(', ')
