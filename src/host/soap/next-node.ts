/**
 * The next node of a relay, over HTTP: one message there, one answer back. What it guards:
 *  (1) It answers in time, or with a failure: an answer that goes on is bounded in its time until
 *      it is released, in interim responses and in pieces.
 *  (2) A failure says whether the next node may have processed the message.
 *  (3) A connection to it lasts no longer than the client's.
 */
import * as http from 'node:http'
import * as https from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allowsEnvironmentProxy } from '../../http/proxy-route.ts'
import { soap11, soap12 } from '../../soap/version.ts'

/** Where it is, and milliseconds for its answer and for octets of a package. */
export interface NextNode {
  readonly to: URL
  readonly timeLimitMs: number
}

export interface NextNodeReply {
  readonly status: number
  readonly fields: http.IncomingHttpHeaders
  /** It throws `NextNodeFailure` where it does not come whole. */
  readonly content: AsyncIterable<Uint8Array>
  /** What follows may take longer than an answer: only silence ends it. */
  readonly release: () => void
}

/** What a fault says of it. */
export class NextNodeFailure extends Error {}
export const mayHaveRun = 'it may have processed the message'
const lateAnswer = 'the next node did not answer in time'

/**
 * @param content octets, or a package that is sent as it comes
 * @param gone aborts once the client has left: no more connections are open there than here (3)
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
    const end = (why: string): void => {
      reject(new NextNodeFailure(asking.writableFinished ? `${why}: ${mayHaveRun}` : why))
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
      .on('error', () => isAnswered || fail()) // what has come is read; the rest of the answer fails
      .on('upgrade', () => end('the next node switched to another protocol, which was not requested'))
      .on('information', () => ++interims > interimMax && end('the next node sent too many interim responses'))
    // Of a package, the time of its sender does not count: there only silence ends it.
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
/** Pieces of an answer, in addition to one for every 16 octets: each takes memory of its own. */
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
    throw new NextNodeFailure(`${late.aborted ? lateAnswer : 'the reply of the next node is cut'}: ${mayHaveRun}`)
  }
}

/** `false`: no proxy, where the environment has no say in it. */
function createProxyAgent({ protocol }: URL): http.Agent | false {
  const { env, execArgv } = process
  if (!allowsEnvironmentProxy(env, execArgv)) return false
  return new (protocol === 'https:' ? https : http).Agent({ proxyEnv: env })
}

/** A signal that aborts so many milliseconds after it began, unless it is released. */
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
