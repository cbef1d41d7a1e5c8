/** A `fetch` that goes through the front door of a service, without a socket. */
import { contentOf, type Request } from '../../src/http/message.ts'
import { request } from '../rest/orders-over-rest.ts'

export interface Sent {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly status: number
}

type Face = (
  request: Request,
) => import('../../src/http/message.ts').Response | Promise<import('../../src/http/message.ts').Response>

/** @param sent where each request is noted with the status of its response */
export function createFaceFetch(face: Face, sent: Sent[] = []): typeof fetch {
  return async (input, init = {}) => {
    init.signal?.throwIfAborted()
    const url = new URL(String(input))
    const method = init.method ?? 'GET'
    const fields = Object.fromEntries(new Headers(init.headers))
    const target = url.pathname + url.search
    const bytes = init.body == null ? undefined : new Uint8Array(await new Response(init.body).arrayBuffer())
    const asked = request(method, target, { ...fields, host: url.host }, undefined, {
      ...(bytes && { content: contentOf(bytes) }),
    })
    const answer = await face(asked)
    sent.push({ method, target, fields, status: answer.status })
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.fields)) headers.set(name, String(value))
    const { content } = answer
    const body =
      content === undefined || typeof content === 'string' || content instanceof Uint8Array
        ? content
        : new Uint8Array(Buffer.concat(await Array.fromAsync(content)))
    if (body instanceof Uint8Array) headers.set('content-length', String(body.length))
    const isBodyless = answer.status === 204 || answer.status === 304
    return new Response(isBodyless ? null : (body as string | Uint8Array<ArrayBuffer> | undefined), {
      status: answer.status,
      headers,
    })
  }
}
