/**
 * One request and its response over node:http, from our own listener or from a host that has
 * mounted the service. What always holds:
 *  (1) The one reader of this folder, `incoming-content.ts`, reads the content, with its limits;
 *      content is streamed both ways at the speed of the slower side.
 *  (2) If the host has already read the content, the call fails and says so, and nothing waits.
 *  (3) What the client still sends after its response is read for a while, so that it can read the
 *      response; then its connection is cut.
 *  (4) Field lines come from `rawHeaders`: two Hosts stay visible.
 * Node hides the rest: it refuses an invalid target and uncertain framing itself, and skips
 * trailers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createLateMembers } from '../base/late-members.ts'
import { type Content, noContent, type Request, type Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { joinFieldLines } from './field-lines.ts'
import { Aborted, type ContentOwner, type ContentSource, StreamedContent } from './incoming-content.ts'
import { countAcceptedOctets } from './pace.ts'
import { GoneSignal, identifyPeer } from './peer.ts'
import { discardContent, pipeContent } from './pipe.ts'
import { type ServerRefusal, writeRefusal } from './refusals.ts'
import { type FramedResponse, frameOrFail } from './response-framing.ts'
import type { IdleCheck, ServerContext } from './server-context.ts'

/** What a host knows about a request better than its socket, from the proxies it trusts. */
export interface HostFacts {
  readonly from?: string | undefined
  readonly scheme?: string | undefined
  /** Host and port. */
  readonly host?: string | undefined
  readonly id?: string | undefined
  /** The host's own object for the request. */
  readonly carrier?: object
}

/** @param target the request-target below the path where the service is mounted */
export function serveNodeExchange(
  context: ServerContext,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  facts: HostFacts = {},
): void {
  new NodeExchange(context, incoming, outgoing).begin(target, facts)
}

const addComplete = createLateMembers<IncomingMessage, Pick<ContentSource, 'complete'>>({
  complete: incoming => incoming.complete,
})
interface OutgoingOnSocket {
  readonly outgoing: ServerResponse
  readonly socket: Socket
}
const addMoved = createLateMembers<OutgoingOnSocket, Pick<IdleCheck, 'moved'>>({
  moved: ({ outgoing, socket }) => (outgoing.writableLength > 0 ? countAcceptedOctets(socket) : undefined),
})

class NodeExchange implements ContentOwner {
  /** Set with the request. */
  from = ''
  readonly #context: ServerContext
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #content: StreamedContent | undefined
  #request: Request | undefined
  #gone: GoneSignal | undefined
  #isAnswered = false

  constructor(context: ServerContext, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#context = context
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  begin(target: string, facts: HostFacts): void {
    const request = this.#createRequest(target, facts)
    this.#request = request
    try {
      const response = this.#context.serve(request)
      if (response instanceof Promise)
        response.then(
          response => this.#answer(response),
          error => this.#fail(error),
        )
      else this.#answer(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  #createRequest(target: string, facts: HostFacts): Request {
    const incoming = this.#incoming
    const { method = 'GET', socket, httpVersion } = incoming
    const fields = joinFieldLines(incoming.rawHeaders)
    const host = facts.host ?? ('authority' in incoming ? String(incoming.authority) : undefined)
    // (4) The host's own reading of the field uses its first line.
    if (host !== undefined && fields['host']?.startsWith(host) !== true) fields['host'] = host
    const peer = identifyPeer(socket)
    const { from = peer.address, scheme = peer.scheme } = facts
    this.from = from
    const certificate = from === peer.address ? peer.certificate : undefined // it proves the peer, which may be a proxy
    return {
      method,
      target,
      fields,
      content: this.#openContent(fields),
      scheme: scheme === 'https' ? 'https' : 'http',
      version: httpVersion === '1.0' ? '1.0' : httpVersion.startsWith('2') ? '2' : '1.1',
      from,
      gone: () => (this.#gone ??= this.#watchClient()).get(this.#outgoing.destroyed),
      ...(certificate && { certificate }),
      ...(facts.id !== undefined && { id: facts.id }),
      ...(facts.carrier && { carrier: facts.carrier }),
    }
  }

  /** Node keeps a connection whose client has closed its side until the response has been sent. */
  #watchClient(): GoneSignal {
    const gone = new GoneSignal()
    const outgoing = this.#outgoing
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) gone.abort()
    })
    return gone
  }

  #openContent(fields: Request['fields']): Content {
    const incoming = this.#incoming
    const announced = fields['content-length']
    const length = announced !== undefined && /^\d{1,15}$/.test(announced) ? Number(announced) : undefined
    if (length === 0 || !hasContent(incoming, fields)) return noContent
    if (incoming.readableDidRead) return createTakenContent(length) // (2)
    const source: ContentSource & { ended: boolean } = addComplete(
      { ended: false, flow: () => void incoming.resume(), hold: () => void incoming.pause() },
      incoming,
    )
    const content = new StreamedContent(source, length, this, this.#context)
    const end = (): void => {
      source.ended = true
      content.end()
    }
    incoming.pause()
    incoming.on('data', (piece: Buffer) => content.receive(piece))
    incoming.once('end', end).once('close', end).on('error', end)
    this.#content = content
    return content
  }

  /** Node itself sends 100 (Continue) where its server has no listener for `checkContinue`. */
  proceed(): void {
    const outgoing = this.#outgoing
    if (this.#incoming.headers.expect === undefined || this.#isAnswered) return
    if (Reflect.get(outgoing, '_sent100') !== true) outgoing.writeContinue()
  }

  refuse(refusal: ServerRefusal): void {
    this.#content?.abort(refusal.detail)
    if (this.#isAnswered) return
    this.#answer({ ...writeRefusal(refusal), fields: { ...writeRefusal(refusal).fields, connection: 'close' } })
  }

  #fail(error: unknown): void {
    if (error instanceof Aborted) return void this.#answer(respond(400, { detail: error.message }))
    this.#context.onError(error, this.#request)
    this.#answer(respond(500))
  }

  #answer(response: Response): void {
    const outgoing = this.#outgoing
    if (this.#isAnswered || outgoing.destroyed || outgoing.headersSent) return void discardContent(response)
    this.#isAnswered = true
    const framed = frameOrFail(response, this.#incoming.method ?? 'GET', this.#report)
    this.#writeHead(framed)
    this.#watchReader()
    outgoing.once('finish', () => this.#readRest())
    const { content } = framed
    if (content === undefined) discardContent(response)
    if (content === undefined) outgoing.end()
    else if (typeof content === 'string' || content instanceof Uint8Array) outgoing.end(content)
    else void this.#stream(content, framed.length)
  }

  readonly #report = (error: unknown): void => this.#context.onError(error, this.#request)

  /** A field that the host has set before stays, unless the response has it, too. */
  #writeHead({ status, lines, length, close }: FramedResponse): void {
    const outgoing = this.#outgoing
    outgoing.statusCode = status
    const byName = new Map<string, string[]>()
    for (const { name, value } of lines) byName.set(name, [...(byName.get(name) ?? []), value])
    for (const [name, values] of byName) {
      const before = addedNames.has(name) ? (outgoing.getHeader(name) ?? []) : []
      const all = [...[before].flat().map(String), ...values]
      outgoing.setHeader(name, all.length === 1 ? (all[0] ?? '') : all)
    }
    if (length !== undefined) outgoing.setHeader('content-length', String(length))
    if ((close || this.#context.draining) && this.#incoming.httpVersionMajor === 1)
      outgoing.setHeader('connection', 'close')
  }

  async #stream(content: AsyncIterable<Uint8Array>, length: number | undefined): Promise<void> {
    const outgoing = this.#outgoing
    try {
      await pipeContent(content, outgoing, length, (_octets, isFirst) => {
        if (isFirst) outgoing.flushHeaders()
      })
    } catch (error) {
      this.#report(error)
      if (outgoing.headersSent) return void outgoing.destroy()
      for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
      this.#isAnswered = false
      this.#answer(respond(500))
    }
  }

  /** A reader has to keep the pace of `limits`, as with our own listener. */
  #watchReader(): void {
    const { waiting, limits } = this.#context
    const outgoing = this.#outgoing
    const { socket } = outgoing
    if (!socket || this.#incoming.httpVersionMajor !== 1) return
    const bounds = { windowMs: limits.unread, deadline: Number.POSITIVE_INFINITY }
    const check: IdleCheck = addMoved({ ...bounds, stalled: () => void outgoing.destroy() }, { outgoing, socket })
    waiting.add(check)
    outgoing.once('close', () => waiting.delete(check))
  }

  /** (3) */
  #readRest(): void {
    const incoming = this.#incoming
    this.#content?.abort('the response was sent before the content was read')
    if (!this.#content || incoming.complete || incoming.destroyed || incoming.httpVersionMajor !== 1) return
    const { linger, lingerOctets } = this.#context.limits
    let remaining = lingerOctets
    const timer = setTimeout(() => incoming.destroy(), linger)
    incoming
      .on('data', (piece: Buffer) => {
        remaining -= piece.length
        if (remaining < 0) incoming.destroy()
      })
      .once('close', () => clearTimeout(timer))
      .once('end', () => clearTimeout(timer))
      .resume()
  }
}

/** Fields that are lists to which a host may have added lines. */
const addedNames = new Set(['vary', 'set-cookie', 'link'])

/** RFC 9112 §6: a request has content if it states its length, or that it comes in chunks. */
const hasContent = (incoming: IncomingMessage, fields: Request['fields']): boolean =>
  incoming.httpVersionMajor > 1
    ? !incoming.complete
    : fields['content-length'] !== undefined || fields['transfer-encoding'] !== undefined

/** (2) */
function createTakenContent(length: number | undefined): Content {
  const fail = (): never => {
    throw new Error(
      'the content of this request has already been read: mount the service before middleware that parses bodies, such as express.json',
    )
  }
  return {
    length,
    bytes: async () => fail(),
    async *chunks() {
      yield fail()
    },
  }
}
