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

const octetsOf = async (content: Response['content']): Promise<Uint8Array | undefined> => {
  if (content === undefined || content instanceof Uint8Array) return content
  return typeof content === 'string' ? Buffer.from(content) : Buffer.concat(await Array.fromAsync(content))
}

/** Changes the responses to requests that match. */
export const changing =
  (matches: (seen: Seen) => boolean, ...changes: readonly Change[]): Mutation =>
  serve =>
  async request => {
    const response = await serve(request)
    const octets = await octetsOf(response.content)
    const seen = look(request, response, await sentOctets(request), octets)
    const whole: Response = { ...response, ...(octets && { content: octets }) }
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
const sentOctets = ({ content }: Request) => content.bytes(1e8)
/** Latin-1 gives each octet back. */
const toLatin = (octets: Uint8Array | undefined): string => Buffer.from(octets ?? []).toString('latin1')
export const sentText = async (request: Request): Promise<string> => toLatin(await sentOctets(request))

/** Most mutants look at few texts. */
function look(
  { method, target, fields }: Request,
  response: Response,
  sent: Uint8Array | undefined,
  octets: Uint8Array | undefined,
): Seen {
  const [path = '', query = ''] = target.split('?')
  const { status } = response
  const texts: { sent?: string; text?: string } = {}
  return {
    method,
    path,
    query,
    fields,
    status,
    response,
    get sent() {
      return (texts.sent ??= toLatin(sent))
    },
    get text() {
      return (texts.text ??= toLatin(octets))
    },
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
