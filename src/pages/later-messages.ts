/**
 * The addresses at which a bridge receives the later answers of its backend: `POST
 * /replies/<id>/<secret>`. The address is all that a sender needs; the receiver proves the rest.
 */
import type { LaterReceiver, MessageReceipt } from '../contract/later-call.ts'
import { repliesSegment } from '../contract/later-call.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { respondToRefusal } from '../front/refusal.ts'
import { isAborted, type Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { Unavailable, unavailableRefusal } from '../service/store.ts'

/** @param receiver the receiver of the open service */
export const createRepliesMount = (receiver: Pick<LaterReceiver, 'receive'>): Mount => ({
  name: 'operations',
  segments: [repliesSegment],
  exempt: 'load', // many senders try only once
  serve: entry => receiveReply(receiver, entry),
  refuse: (_entry, refusal) => respondToRefusal(refusal),
})

async function receiveReply(receiver: Pick<LaterReceiver, 'receive'>, entry: Entry): Promise<Response> {
  const { segments, request, notes } = entry
  const [, id, secret, ...others] = segments
  if (id === undefined || secret === undefined || others.length > 0)
    return respond(404, { detail: 'no message is expected at this address' })
  if (request.method !== 'POST') return respondToRefusal({ kind: 'not-allowed', allow: 'OPTIONS, POST' })
  const read = (octetsMax: number) => Promise.resolve(request.content.bytes(octetsMax))
  try {
    return respondByReceipt(await receiver.receive(id, secret, { fields: request.fields, read }))
  } catch (thrown) {
    if (isAborted(thrown)) return respond(400, { detail: 'the content is incomplete' })
    if (!(thrown instanceof Unavailable)) throw thrown
    const refusal = unavailableRefusal(thrown)
    notes.cause = refusal.cause
    return respondToRefusal(refusal)
  }
}

const respondByReceipt = ({ status, fields, content }: MessageReceipt): Response => ({
  status,
  fields,
  ...(content !== undefined && { content }),
})
