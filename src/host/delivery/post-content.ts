/**
 * Posts content to a receiver that need not be friendly. What it guards:
 *  (1) No redirect is followed, and of the response only the head is read.
 *  (2) Interim responses are bounded, and no switch to another protocol is accepted: either would
 *      otherwise keep the process busy, or the sender waiting, for as long as the receiver likes.
 *  (3) Each post ends: with a response, or with an error once its connection is closed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'

export interface Receipt {
  readonly status: number
  readonly fields: IncomingHttpHeaders
}

/** As many as a client of ours accepts (`client/response-reader.ts`). */
const interimMax = 16

/** @param options what differs from a POST to this address; their signal limits its time */
export function postContent(target: URL, options: RequestOptions, content: string): Promise<Receipt> {
  // Loaded with the first post, since a server alone needs no client.
  const { request } = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const asking = request(target, { ...options, method: 'POST', agent: false }, answer => {
      answer.on('error', () => {}).destroy() // (1)
      resolve({ status: answer.statusCode ?? 0, fields: answer.headers })
    })
    const end = (reason: string): void => {
      reject(new Error(`${target.origin} ${reason}`))
      asking.destroy()
    }
    let interims = 0
    asking
      .on('information', () => ++interims > interimMax && end('sent too many interim responses')) // (2)
      .on('upgrade', () => end('switched to another protocol, which was not requested'))
      .on('error', reject)
      .on('close', () => end('closed the connection without a response')) // (3)
      .end(content)
  })
}
