/**
 * The target of a request below the path where a host mounts the service: `/shop/api` is `/api`. A
 * target that names the server (`*`) or a connection is left as it is.
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
