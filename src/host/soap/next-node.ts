/**
 * The next node of a relay, over HTTP: one message to it, one response back. What it guards:
 *  (1) It responds in time or fails: interim responses, the pieces of a response, and its time
 *      until released are bounded.
 *  (2) A failure says whether the next node may have processed the message.
 *  (3) A connection to it lasts no longer than the client's.
 */
import * as http from 'node:http'
import * as https from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allowsEnvironmentProxy } from '../../http/proxy-route.ts'
import { soap11, soap12 } from '../../soap/version.ts'

/** Its address, and its time limit in milliseconds for a response and for octets of a package. */
export interface NextNode {
  readonly to: URL
  readonly timeLimitMs: number
}

export interface NextNodeReply {
  readonly status: number
  readonly fields: http.IncomingHttpHeaders
  /** Throws `NextNodeFailure` if the content is incomplete. */
  readonly content: AsyncIterable<Uint8Array>
  /** The rest may take longer than a response: from now on only silence ends it. */
  readonly release: () => void
}

/** What a fault says about the failure. */
export class NextNodeFailure extends Error {}
export const mayHaveRun = 'it may have processed the message'
const lateAnswer = 'the next node did not answer in time'

/**
 * @param content octets, or a package that is sent as it arrives
 * @param gone aborts once the client has left, so no more connections are open there than here (3)
 */
export function postToNext(
  { to, timeLimitMs }: NextNode,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  fields: Readonly<Record<string, string>>,
  gone: AbortSignal | undefined,
): Promise<NextNodeReply> {
  const { request } = to.protocol === 'https:' ? https : http
  const isWhole = content instanceof Uint8Array
  const headers = {
    ...fields,
    ...(isWhole && { 'content-length': content.length }),
    accept: `${soap12.mediaType}, ${soap11.mediaType}, multipart/related`,
  }
  const { signal, begin, release } = createTimeLimit(timeLimitMs)
  return new Promise((resolve, reject) => {
    const end = (reason: string): void => {
      reject(new NextNodeFailure(asking.writableFinished ? `${reason}: ${mayHaveRun}` : reason))
      release()
      asking.destroy()
    }
    let isAnswered = false
    const asking = request(to, { method: 'POST', headers, agent: createProxyAgent(to), signal }, answer => {
      isAnswered = true
      answer.once('close', release)
      resolve({
        status: answer.statusCode ?? 0,
        fields: answer.headers,
        content: readNextAnswer(answer, signal),
        release,
      })
    })
    const fail = (): void =>
      end(
        signal.aborted ? lateAnswer : `the next node ${asking.writableFinished ? 'did not answer' : 'is out of reach'}`,
      )
    const leave = (): void => end('the client has left')
    gone?.addEventListener('abort', leave, { once: true })
    asking.once('close', () => gone?.removeEventListener('abort', leave))
    if (gone?.aborted) leave()
    let interims = 0
    asking
      .setTimeout(timeLimitMs, () => end(lateAnswer))
      .on('error', () => isAnswered || fail()) // octets that have arrived are read; the rest of the answer fails
      .on('upgrade', () => end('the next node switched to another protocol, which was not requested'))
      .on('information', () => ++interims > interimMax && end('the next node sent too many interim responses'))
    // For a package, the time of its sender does not count: only silence ends it.
    if (isWhole) begin()
    if (isWhole) asking.end(content)
    else
      pipeline(Readable.from(content, { objectMode: false }), asking).then(begin, thrown =>
        asking.destroyed ? fail() : reject(thrown),
      )
  })
}
/** As many as a client of ours accepts (`client/response-reader.ts`). */
const interimMax = 16
/** Pieces of a response, in addition to one for every 16 octets: each piece takes memory. */
const piecesMax = 16_384

async function* readNextAnswer(
  answer: http.IncomingMessage,
  late: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let [count, length] = [0, 0]
  try {
    for await (const piece of answer) {
      length += piece.length
      if (++count > piecesMax + length / 16) throw new NextNodeFailure('the reply of the next node has too many chunks')
      yield piece
    }
    if (!answer.readableEnded) throw new Error('it was destroyed, which ends it like its last octet')
  } catch (thrown) {
    if (thrown instanceof NextNodeFailure) throw thrown
    throw new NextNodeFailure(
      `${late.aborted ? lateAnswer : 'the reply of the next node is incomplete'}: ${mayHaveRun}`,
    )
  }
}

/** `false`: no proxy, because the environment does not name one. */
function createProxyAgent({ protocol }: URL): http.Agent | false {
  const { env, execArgv } = process
  if (!allowsEnvironmentProxy(env, execArgv)) return false
  return new (protocol === 'https:' ? https : http).Agent({ proxyEnv: env })
}

/** A signal that aborts after this many milliseconds, unless it is released. */
function createTimeLimit(ms: number) {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let isReleased = false
  return {
    signal: late.signal,
    begin: () => {
      if (!isReleased) timer = setTimeout(() => late.abort(), ms).unref()
    },
    release: () => {
      isReleased = true
      clearTimeout(timer)
    },
  }
}
