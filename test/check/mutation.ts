/** A service that breaks one promise: its responses, changed where they match. */

import type { Json } from '../../src/base/objects.ts'
import type { CheckProfile } from '../../src/check/index.ts'
import type { HttpFields, Request, Response } from '../../src/http/message.ts'
import type { Serve } from './orders-in-memory.ts'

/** One exchange as a mutant sees it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly fields: HttpFields
  /** The content of the request. */
  readonly sent: string
  readonly status: number
  readonly text: string
  readonly response: Response
}
export type Mutation = (serve: Serve) => Serve
type Change = (seen: Seen) => Partial<Response>

const textOf = async (content: Response['content']): Promise<string> => {
  if (content === undefined) return ''
  const octets =
    typeof content === 'string' || content instanceof Uint8Array
      ? content
      : Buffer.concat(await Array.fromAsync(content))
  // Latin-1 gives each octet back.
  return Buffer.from(octets as Uint8Array).toString('latin1')
}

/** Changes the responses to requests that match. */
export const changing =
  (matches: (seen: Seen) => boolean, ...changes: readonly Change[]): Mutation =>
  serve =>
  async request => {
    const response = await serve(request)
    const seen = await look(request, response)
    const whole: Response = { ...response, ...(response.content !== undefined && { content: toContent(seen.text) }) }
    if (!matches(seen)) return whole
    let made = whole
    for (const change of changes) made = { ...made, ...change({ ...seen, response: made }) }
    return made
  }

/** Changes requests before the service reads them. */
export const receiving =
  (change: (request: Request, sent: string) => Partial<Request>): Mutation =>
  serve =>
  async request =>
    serve({ ...request, ...change(request, await sentText(request)) })

const toContent = (text: string): Uint8Array => Buffer.from(text, 'latin1')
export const sentText = async ({ content }: Request): Promise<string> =>
  Buffer.from((await content.bytes(1e8)) ?? new Uint8Array(0)).toString('latin1')

async function look(request: Request, response: Response): Promise<Seen> {
  const [path = '', query = ''] = request.target.split('?')
  return {
    method: request.method,
    path,
    query,
    fields: request.fields,
    sent: await sentText(request),
    status: response.status,
    text: await textOf(response.content),
    response,
  }
}

/** A problem says the status of its response, also of another one. */
export const status =
  (code: number): Change =>
  ({ response, text }) => ({
    status: code,
    ...(String(response.fields['content-type']).startsWith('application/problem+') && {
      content: toContent(text.replace(/("status":|<status>)\d+/, `$1${code}`)),
    }),
  })
export const withField =
  (name: string, value: string): Change =>
  ({ response }) => ({ fields: { ...response.fields, [name]: value } })
export const withoutField =
  (name: string): Change =>
  ({ response: { fields } }) => ({
    fields: Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name)),
  })
export const text =
  (edit: (text: string) => string): Change =>
  seen => ({ content: toContent(edit(seen.text)) })
export const content =
  (given: string): Change =>
  () => ({ content: toContent(given) })
// biome-ignore lint/suspicious/noExplicitAny: a mutant edits any member of any content
export const json = (edit: (value: any) => Json): Change => text(given => JSON.stringify(edit(JSON.parse(given))))

export const isSoap = ({ path, method }: Seen): boolean => method === 'POST' && path.startsWith('/soap/')
export const is11 = ({ sent }: Seen): boolean => sent.includes('schemas.xmlsoap.org/soap/envelope')
export const isAccepted = (seen: Seen): boolean => isSoap(seen) && seen.status === 200
export const writeEnvelope = (seen: Seen, body: string): string =>
  `<s:Envelope xmlns:s="${is11(seen) ? 'http://schemas.xmlsoap.org/soap/envelope/' : 'http://www.w3.org/2003/05/soap-envelope'}"><s:Body>${body}</s:Body></s:Envelope>`
/** A message that the service refuses is answered as if it had been accepted. */
export const acceptedInstead = (matches: (seen: Seen) => boolean): Mutation =>
  changing(
    seen => isSoap(seen) && !isAccepted(seen) && matches(seen),
    status(200),
    seen => content(writeEnvelope(seen, '<a xmlns="urn:a"/>'))(seen),
    seen => withField('content-type', `${is11(seen) ? 'text/xml' : 'application/soap+xml'}; charset=utf-8`)(seen),
  )
export const sends =
  (pattern: RegExp) =>
  (seen: Seen): boolean =>
    isSoap(seen) && pattern.test(seen.sent)

export interface Mutant {
  readonly rule: string
  readonly breaks: string
  /** Default: that of the orders service. */
  readonly profile?: CheckProfile
  /** Made for each run: a mutant may remember. */
  readonly make: () => Mutation
}
export const mutant = (rule: string, breaks: string, make: () => Mutation): Mutant => ({ rule, breaks, make })
