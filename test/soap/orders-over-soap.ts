/** The orders service behind its SOAP faces, without a socket. */

import app from '../../examples/orders/service.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { FrontOptions } from '../../src/front/front.ts'
import { contentOf, type Request, type Response } from '../../src/http/message.ts'
import type { FaceContext } from '../../src/service/face-context.ts'
import type { Identities } from '../../src/service/identity-port.ts'
import type { Store } from '../../src/service/store.ts'
import type { Endpoint, SoapOptions } from '../../src/soap/face.ts'
import { createSoapFace } from '../../src/soap/http/binding.ts'
import { type Document, type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import { alice, clara, maria, startOrdersService } from '../service/orders-service.ts'

export const ns = 'urn:diglot:orders:v1'
export const ns11 = 'http://schemas.xmlsoap.org/soap/envelope/'
export const ns12 = 'http://www.w3.org/2003/05/soap-envelope'

const people: Readonly<Record<string, Caller>> = { alice, clara, maria }
export const identities: Identities = {
  bearer: token => people[token],
  password: (name, password) => (password === `${name}-secret` ? people[name] : undefined),
  digest: (name, isMadeOf) => (isMadeOf(`${name}-secret`) ? people[name] : undefined),
  known: name => people[name],
  certificate: () => undefined,
  key: () => undefined,
}

export interface Conversation {
  readonly store: Store
  readonly face: (request: Request) => Response | Promise<Response>
  /** Exceptions that were reported as bugs. */
  readonly incidents: unknown[]
  readonly clock: { now: number }
  /** Posts a message and reads the reply. */
  post(message: Message): Promise<Answer>
  send(request: Partial<Request>): Promise<Response>
}

export interface Message {
  readonly version?: '1.1' | '1.2'
  readonly body?: string
  readonly header?: string
  /** The whole message instead. */
  readonly raw?: string | Uint8Array
  readonly as?: string | null
  readonly fields?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly fields: Response['fields']
  readonly text: string
  readonly document: Document | undefined
  /** The child of Body. */
  readonly body: Element | undefined
  readonly blocks: readonly Element[]
  readonly fault: ReadFault | undefined
}

export interface ReadFault {
  /** Without its prefix: Sender, Client, …, or a subcode of WS-* in SOAP 1.1. */
  readonly code: string
  readonly subcodes: readonly string[]
  readonly reason: string
  readonly detail: Element | undefined
}

export const envelope = (body: string, { version = '1.1', header }: Pick<Message, 'version' | 'header'> = {}): string =>
  `<s:Envelope xmlns:s="${version === '1.1' ? ns11 : ns12}">${header === undefined ? '' : `<s:Header>${header}</s:Header>`}<s:Body>${body}</s:Body></s:Envelope>`

export const mediaType = (version: '1.1' | '1.2'): string => (version === '1.1' ? 'text/xml' : 'application/soap+xml')

export async function createContext(): Promise<{
  serving: FaceContext
  store: Store
  incidents: unknown[]
  clock: { now: number }
}> {
  const { store, calls, clock } = await startOrdersService()
  const incidents: unknown[] = []
  let count = 0
  const serving: FaceContext = {
    app,
    calls,
    identities,
    clock: () => clock.now,
    id: () => `id${++count}`,
    report: (_incident, thrown) => incidents.push(thrown),
    settings: { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] },
  }
  return { serving, store, incidents, clock }
}

export async function startConversation(
  endpoint: Partial<Endpoint> = {},
  options: SoapOptions & Pick<FrontOptions, 'gate'> = {},
): Promise<Conversation> {
  const { serving, store, incidents, clock } = await createContext()
  const face = createSoapFace(
    serving,
    { version: 'v1', path: '/soap/v1', style: 'document', secure: false, versions: 'both', ...endpoint },
    options,
  )
  return { store, face, incidents, clock, ...sendMessage(face, endpoint.path ?? '/soap/v1') }
}

export function sendMessage(
  face: (request: Request) => Response | Promise<Response>,
  path: string,
): Pick<Conversation, 'post' | 'send'> {
  const send = async (request: Partial<Request>) =>
    face({
      method: 'POST',
      target: path,
      scheme: 'http',
      version: '1.1',
      from: '127.0.0.1',
      content: contentOf(''),
      ...request,
      fields: Object.assign(Object.create(null), { host: 'shop.example' }, request.fields),
    })
  return {
    send,
    post: async ({ version = '1.1', body = '', header, raw, as, fields }) => {
      const response = await send({
        fields: {
          ...(as !== null && { 'content-type': as ?? `${mediaType(version)}; charset=utf-8` }),
          authorization: 'Bearer clara',
          ...fields,
        },
        content: contentOf(raw ?? envelope(body, { version, ...(header !== undefined && { header }) })),
      })
      return readAnswer(response)
    },
  }
}

export async function octets(content: Response['content']): Promise<Buffer> {
  if (content === undefined) return Buffer.alloc(0)
  if (typeof content === 'string' || content instanceof Uint8Array) return Buffer.from(content)
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = (await octets(response.content)).toString('utf8')
  const xml =
    /xml/.test(String(response.fields['content-type'])) && !/multipart/.test(String(response.fields['content-type']))
  const document = xml ? parseXml(Buffer.from(text)) : undefined
  if (document instanceof Malformed) throw new Error(`answered what is not well-formed: ${document.reason}\n${text}`)
  const [header, body] = ['Header', 'Body'].map(local =>
    document?.root.elements().find(each => each.name.local === local),
  )
  const child = body?.elements()[0]
  return {
    status: response.status,
    fields: response.fields,
    text,
    document,
    body: child,
    blocks: header?.elements() ?? [],
    fault: child?.name.local === 'Fault' ? faultSeen(child) : undefined,
  }
}

export const find = (element: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((at, local) => at?.elements().find(each => each.name.local === local), element)

const local = (element: Element | undefined): string => element?.text.trim().replace(/^.*:/, '') ?? ''

function faultSeen(fault: Element): ReadFault {
  if (fault.name.uri === ns11)
    return {
      code: local(find(fault, 'faultcode')),
      subcodes: [],
      reason: find(fault, 'faultstring')?.text ?? '',
      detail: find(fault, 'detail'),
    }
  const subcodes: string[] = []
  for (let at = find(fault, 'Code', 'Subcode'); at; at = find(at, 'Subcode')) subcodes.push(local(find(at, 'Value')))
  return {
    code: local(find(fault, 'Code', 'Value')),
    subcodes,
    reason: find(fault, 'Reason', 'Text')?.text ?? '',
    detail: find(fault, 'Detail'),
  }
}
