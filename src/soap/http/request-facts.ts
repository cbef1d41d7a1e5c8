/**
 * What a request says of the message it carries, besides the message: its version, its address, its
 * caller.
 */
import { type Maybe, settle } from '../../base/maybe.ts'
import type { Caller } from '../../contract/policy.ts'
import { authenticate } from '../../front/authenticate.ts'
import { isConfidential } from '../../front/confidential.ts'
import { type Entry, originOf } from '../../front/entry.ts'
import { type MediaType, parseMediaType } from '../../http/media-type.ts'
import type { Request } from '../../http/message.ts'
import { refuse } from '../../service/refusal.ts'
import { Unavailable } from '../../service/store.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { type SoapVersion, versions } from '../version.ts'

/** The version of SOAP that the media type of a message, or of the root of its package, speaks. */
export function announcedVersion({ fields }: Request): SoapVersion | undefined {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'multipart/related') return type && versionOfMediaType(type)
  const [root, inside] = [type.parameters['type'], type.parameters['start-info']]
  const ofMessage = parseMediaType((root === 'application/xop+xml' ? inside : root) ?? '')
  return ofMessage && versionOfMediaType(ofMessage)
}

/** The version that a media type speaks; that of a package is its root's. */
export const versionOfMediaType = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

/** This endpoint as clients know it, and as it was asked. */
export function addressesOf({ serving, endpoint }: SoapNode, entry: Entry): [string, ...string[]] {
  const asked = `${originOf(entry)}${endpoint.path}`
  const known = serving.settings.publicUrl?.replace(/\/$/, '')
  return known === undefined ? [asked] : [`${known}${endpoint.path}`, asked]
}

type RequestFacts = Pick<ReceivedMessage, 'addresses' | 'from' | 'request' | 'confidential' | 'caller'>

export function requestFacts(node: SoapNode, entry: Entry): RequestFacts {
  const { request, id } = entry
  return {
    addresses: addressesOf(node, entry),
    from: request.from,
    request: id,
    confidential: isConfidential(request, node.serving.settings),
    caller: () => identifyCaller(node, request),
  }
}

/** Cookies do not count: a message is never sent by a form of ours. */
const identifyCaller = ({ serving }: SoapNode, request: Request): Maybe<Caller> =>
  settle(
    () => authenticate(request, serving),
    thrown => {
      if (thrown instanceof Unavailable) return refuse({ kind: 'unavailable', after: thrown.after })
      throw thrown
    },
  )
