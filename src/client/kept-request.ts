/** A request whose answer comes later, as text: what the answer must relate to, and must prove. */
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import type { SentRequest } from './opened-answer.ts'

interface KeptRequest {
  readonly id: string
  readonly sent?: readonly string[]
  readonly key?: { readonly octets: string; readonly digest: string }
  readonly cameTo?: string
}

/** @returns an object of JSON; it contains the key of the exchange, if that has one of its own */
export const toKeptRequest = ({ id, sent, exchangeKey, cameTo }: SentRequest): KeptRequest => ({
  id,
  sent: sent.map(encodeBase64),
  ...(exchangeKey && { key: { octets: encodeBase64(exchangeKey.octets), digest: encodeBase64(exchangeKey.digest) } }),
  ...(cameTo !== undefined && { cameTo }),
})

export function fromKeptRequest({ id, sent = [], key, cameTo }: KeptRequest): SentRequest {
  const octets = (text: string): Buffer => Buffer.from(requireBase64(text))
  const exchangeKey = key && { octets: octets(key.octets), digest: octets(key.digest) }
  return { id, sent: sent.map(octets), exchangeKey, ...(cameTo !== undefined && { cameTo }) }
}
