/**
 * Clients of the orders contract without a socket: over a face of the service, or over answers that
 * a test makes up.
 */
import { shop } from '../../examples/orders/contract.ts'
import {
  type ClientTransport,
  createSoapClient,
  type SoapClientOptions,
  type TransportResponse,
} from '../../src/client/index.ts'
import { contentOf, type HttpFields, type Request, type Response } from '../../src/http/message.ts'
import { octets } from '../soap/orders-over-soap.ts'

export const address = 'http://shop.example/soap/v2'
export const ns = 'urn:diglot:orders:v2'
export const ns11 = 'http://schemas.xmlsoap.org/soap/envelope/'
export const ns12 = 'http://www.w3.org/2003/05/soap-envelope'
export const wsa = 'http://www.w3.org/2005/08/addressing'

export interface Sent {
  readonly fields: HttpFields
  readonly text: string
}

/** Responds to each message with what `answer` makes of it. */
export function cannedTransport(
  answer: (sent: Sent) => TransportResponse | Promise<TransportResponse>,
): ClientTransport & { readonly sent: Sent[] } {
  const all: Sent[] = []
  return {
    sent: all,
    prepare: fields => async sending => {
      const text =
        typeof sending.content === 'string' ? sending.content : Buffer.concat(sending.content).toString('latin1')
      const sent = { fields: { ...fields, ...sending.fields }, text }
      all.push(sent)
      return answer(sent)
    },
    close: () => {},
  }
}

/** A face of the service as a transport for messages. */
export function transportTo(face: (request: Request) => Response | Promise<Response>, path: string): ClientTransport {
  return {
    prepare: fields => async sending => {
      const bytes = typeof sending.content === 'string' ? sending.content : Buffer.concat(sending.content)
      const response = await face({
        method: 'POST',
        target: path,
        fields: Object.assign(Object.create(null), { host: 'shop.example' }, fields, sending.fields),
        content: contentOf(bytes),
        scheme: 'http',
        version: '1.1',
        from: '127.0.0.1',
      })
      const said = Object.entries(response.fields).map(([name, value]) => [name, String(value)])
      return { status: response.status, fields: Object.fromEntries(said), content: await octets(response.content) }
    },
    close: () => {},
  }
}

export const mediaType = { '1.1': 'text/xml; charset=utf-8', '1.2': 'application/soap+xml; charset=utf-8' } as const

export const came = (
  status: number,
  type: string | undefined,
  text: string | Uint8Array = '',
  fields: HttpFields = {},
): TransportResponse => ({
  status,
  fields: { ...(type !== undefined && { 'content-type': type }), ...fields },
  content: Buffer.from(text as string),
})

export const envelope = (version: '1.1' | '1.2', body: string, header = ''): string =>
  `<e:Envelope xmlns:e="${version === '1.1' ? ns11 : ns12}">${header && `<e:Header>${header}</e:Header>`}<e:Body>${body}</e:Body></e:Envelope>`

export const product = `<GetProductResponse xmlns="${ns}"><product><id>p-1</id><name>Tea</name><price>4.95</price><stock>3</stock><version>7</version></product></GetProductResponse>`

/** A client of v2 that receives this. */
export function recordRequests(
  answer: TransportResponse | ((sent: Sent) => TransportResponse | Promise<TransportResponse>),
  options: Partial<SoapClientOptions<'v2'>> = {},
) {
  const transport = cannedTransport(typeof answer === 'function' ? answer : () => answer)
  return { sent: transport.sent, client: createSoapClient(shop, { address, version: 'v2', transport, ...options }) }
}
