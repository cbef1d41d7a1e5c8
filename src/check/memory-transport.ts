/**
 * A service in memory as the target of probes: without sockets, so without connections or the
 * octets of heads.
 */
import { type Content, contentOf, noContent, type Request, type Response } from '../http/message.ts'
import { type ProbeReply, type ProbeRequest, type ProbeTransport, Unreachable } from './probe-message.ts'

/** The address by which requests name a service without a socket. */
export interface MemoryOptions {
  /** The address in requests. Default: http://memory.test. */
  readonly origin?: string
}

/** @param serve a front door or a face: a request in, its response out */
export function createMemoryTransport(
  serve: (request: Request) => Response | Promise<Response>,
  { origin = 'http://memory.test' }: MemoryOptions = {},
): ProbeTransport {
  const { host, protocol } = new URL(origin)
  const toRequest = (probe: ProbeRequest): Request => ({
    method: probe.method,
    target: probe.target,
    fields: Object.assign(Object.create(null), { host }, readFaceFields(probe)),
    content: readProbeContent(probe),
    scheme: protocol === 'https:' ? 'https' : 'http',
    version: probe.version ?? '1.1',
    from: '127.0.0.1',
  })
  return {
    origin,
    versions: ['1.1', '2'],
    send: async (probe, limitMs) => {
      const startMs = performance.now()
      const response = await withinLimit(serve(toRequest(probe)), limitMs)
      return readFaceReply(probe, response, startMs)
    },
    close: () => {},
  }
}

function readFaceFields({ fields, content, announcedOctets }: ProbeRequest): Record<string, string> {
  const length = announcedOctets ?? content?.length
  return {
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value])),
    ...(length !== undefined && { 'content-length': String(length) }),
    ...(announcedOctets !== undefined && { expect: '100-continue' }),
  }
}

function readProbeContent({ content, announcedOctets }: ProbeRequest): Content {
  if (announcedOctets === undefined) return content ? contentOf(content) : noContent
  return {
    length: announcedOctets,
    bytes: limit => (announcedOctets > limit ? undefined : new Uint8Array(0)),
    async *chunks() {},
  }
}

async function withinLimit<T>(answer: T | Promise<T>, limitMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unreachable(`no complete response within ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

async function readFaceReply({ method }: ProbeRequest, response: Response, startMs: number): Promise<ProbeReply> {
  const content = await collectPieces(response.content)
  const lines = Object.entries(response.fields).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map(each => [name, each] as const),
  )
  // RFC 9112 §6.3: the server sends no content to HEAD, whatever the face returned.
  const body = method === 'HEAD' ? new Uint8Array(0) : content
  return { status: response.status, lines, content: body, isWhole: true, tookMs: performance.now() - startMs }
}

async function collectPieces(content: Response['content']): Promise<Uint8Array> {
  if (content === undefined) return new Uint8Array(0)
  if (typeof content === 'string') return new TextEncoder().encode(content)
  if (content instanceof Uint8Array) return content
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(Uint8Array.from(piece))
  return Buffer.concat(pieces)
}
