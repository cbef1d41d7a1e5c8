/** Facts of a request apart from its message: the version of SOAP, the address, the caller. */
import { authenticate, isConfidential } from '../../front/authenticate.ts'
import { type Entry, originOf } from '../../front/entry.ts'
import { type MediaType, parseMediaType, parsePackageType } from '../../http/media-type.ts'
import type { Request } from '../../http/message.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { type SoapVersion, versions } from '../version.ts'

/** The version of SOAP that the media type of a message, or of the root of its package, names. */
export function announcedVersion({ fields }: Request): SoapVersion | undefined {
  const type = parsePackageType(fields['content-type'] ?? '')
  if (type?.essence !== 'multipart/related') return type && versionOfMediaType(type)
  const [root, inside] = [type.parameters['type'], type.parameters['start-info']]
  const ofMessage = parseMediaType((root?.toLowerCase() === 'application/xop+xml' ? inside : root) ?? '')
  return ofMessage && versionOfMediaType(ofMessage)
}

/** The version of SOAP that a media type names; undefined for a package. */
export const versionOfMediaType = ({ essence }: MediaType): SoapVersion | undefined => byMediaType.get(essence)
const byMediaType: ReadonlyMap<string, SoapVersion> = new Map(versions.map(each => [each.mediaType, each]))

/** The addresses of this endpoint: the public one, if there is one, and that of the request. */
export function addressesOf({ serving, endpoint }: SoapNode, entry: Entry): [string, ...string[]] {
  const requested = `${originOf(entry)}${serving.settings.prefix ?? ''}${endpoint.path}`
  const publicUrl = serving.settings.publicUrl?.replace(/\/$/, '')
  return publicUrl === undefined ? [requested] : [`${publicUrl}${endpoint.path}`, requested]
}

type RequestFacts = Pick<
  ReceivedMessage,
  'addresses' | 'from' | 'gone' | 'request' | 'notes' | 'isConfidential' | 'caller'
>

export function requestFacts(node: SoapNode, entry: Entry): RequestFacts {
  const { request, id, notes } = entry
  return {
    addresses: addressesOf(node, entry),
    from: request.from,
    gone: request.gone,
    request: id,
    notes,
    isConfidential: () => isConfidential(request, node.serving.settings),
    // Cookies are ignored: only the page of an endpoint sends for a person, whom it has proven
    // itself.
    caller: () => node.proven ?? authenticate(request, node.serving),
  }
}
