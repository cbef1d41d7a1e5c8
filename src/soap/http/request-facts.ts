import { isLoopbackAddress } from '../../base/address.ts'
import { chain, type Maybe, settle } from '../../base/maybe.ts'
import { memoizeByText } from '../../base/memo.ts'
import { anonymous, type Caller } from '../../contract/policy.ts'
import { proveCredentials } from '../../http/credentials.ts'
import { type MediaType, parseMediaType } from '../../http/media-type.ts'
import type { Request } from '../../http/message.ts'
import { refuse } from '../../service/refusal.ts'
import { Unavailable } from '../../service/store.ts'
import type { SoapNode } from '../endpoint.ts'
import { type SoapVersion, versions } from '../version.ts'

/** The version of SOAP that the media type of a message, or of the root of its package, speaks. */
export function announced({ fields }: Request): SoapVersion | undefined {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'multipart/related') return type && mediaOf(type)
  const [root, inside] = [type.parameters['type'], type.parameters['start-info']]
  const said = parseMediaType((root === 'application/xop+xml' ? inside : root) ?? '')
  return said && mediaOf(said)
}

/** The version that a media type speaks; that of a package is its root's. */
export const mediaOf = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

// Who is asking

export function about(node: SoapNode, request: Request) {
  const { settings } = node.serving
  const own = `${request.scheme}://${hostIn(request.fields['host'] ?? '')}${node.endpoint.path}`
  const known = settings.publicUrl?.replace(/\/$/, '')
  const addresses: [string, ...string[]] = known === undefined ? [own] : [`${known}${node.endpoint.path}`, own]
  const confidential = request.scheme === 'https' || (settings.passwordsOnLoopback && isLoopbackAddress(request.from))
  return {
    addresses,
    from: request.from,
    request: request.id ?? node.serving.id(),
    confidential,
    caller: () => callerOf(node, request, confidential),
  }
}

/** For addresses that we write: nothing that could end one. */
const hostIn = memoizeByText((field: string) => (/^[-\w.:[\]%]{1,255}$/.test(field) ? field : 'localhost'))

const callerOf = (node: SoapNode, request: Request, passwords: boolean): Maybe<Caller> =>
  settle(
    () => chain(provenBy(node, request, passwords), found => found ?? refuse({ kind: 'unauthenticated' })),
    thrown => {
      if (thrown instanceof Unavailable) return refuse({ kind: 'unavailable', after: thrown.after })
      throw thrown
    },
  )

function provenBy(
  { serving: { identities } }: SoapNode,
  request: Request,
  passwords: boolean,
): Maybe<Caller | undefined> {
  const found = proveCredentials(request, identities, { passwords })
  if (found === 'untaken') return undefined
  if (found !== undefined) return found
  return chain(request.certificate && identities.certificate(request.certificate), caller => caller ?? anonymous)
}
