/** The SOAP endpoints of a service: one address for each version of the contract and each style, and what describes it. */

import { escapeMarkup } from '../base/markup.ts'
import type { Maybe } from '../base/maybe.ts'
import { compileMessages } from '../contract/xml-message.ts'
import { writeWsdl11 } from '../describe/wsdl11.ts'
import { writeWsdl20 } from '../describe/wsdl20.ts'
import { writeXsd } from '../describe/xsd.ts'
import type { Request, Response } from '../http/message.ts'
import type { SecurityPolicy } from '../security/policy/policy.ts'
import { writeSecurityPolicy } from '../security/policy/ws-security-policy.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { Endpoint, SoapOptions } from '../soap/face.ts'
import { createSoapFace } from '../soap/http/binding.ts'
import { gunzipWithin } from './zlib-codings.ts'

type Handler = (request: Request) => Maybe<Response>

/** The endpoints of each served version: `/soap/v1`, `/soap/v1/rpc`, `/soap/v1/encoded`, `/soap/v1/secure`. */
export function listSoapEndpoints(serving: FaceContext): readonly Endpoint[] {
  const served = Object.entries(serving.app.contract.versions).filter(([, rule]) => !rule.retired)
  return served.flatMap(([version]) => {
    const endpoint = { version, path: `/soap/${version}`, style: 'document', secure: false, versions: 'both' } as const
    return [
      endpoint,
      { ...endpoint, path: `${endpoint.path}/rpc`, style: 'rpc' },
      { ...endpoint, path: `${endpoint.path}/encoded`, style: 'encoded' },
      { ...endpoint, path: `${endpoint.path}/secure`, secure: true },
    ] as const
  })
}

/** The face at a target's path; undefined where there is none. */
export function createSoapFaces(
  serving: FaceContext,
  options: SoapOptions,
  demanded: SecurityPolicy,
): (target: string) => Handler | undefined {
  const faces = new Map<string, () => Handler>()
  for (const endpoint of listSoapEndpoints(serving)) {
    // Compiled when it is first asked: most partners use one endpoint of many.
    const face = once(() =>
      createSoapFace(serving, endpoint, {
        inflate: gunzipWithin,
        describe: descriptions(serving, endpoint, demanded),
        page: address => page(serving, endpoint, address),
        ...options,
      }),
    )
    faces.set(endpoint.path, face)
    // The response pattern of SOAP 1.2 asks below the endpoint: /soap/v1/GetOrder?id=o-1
    faces.set(`${endpoint.path}/`, face)
  }
  const below = (target: string) => {
    const path = target.split('?', 1)[0] ?? ''
    return faces.get(path) ?? faces.get(path.slice(0, path.lastIndexOf('/') + 1))
  }
  return target => (faces.get(target) ?? below(target))?.()
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

const wsdlType = { mediaType: 'text/xml; charset=utf-8' }
const most = 64

/** Of what the secure endpoint demands. */
const id = 'MessageSecurity'

/** Descriptions of an endpoint, at the address that was asked; texts are kept for the few addresses a service has. */
function descriptions(
  { app }: FaceContext,
  { version, style, secure }: Endpoint,
  demanded: SecurityPolicy,
): NonNullable<SoapOptions['describe']> {
  const { contract } = app
  const security = secure ? { id, written: writeSecurityPolicy(demanded, id) } : undefined
  const policy = { addressing: true, mtom: true, security }
  const written: Readonly<Record<string, (address: string) => string>> = {
    wsdl: address => writeWsdl11(contract, version, { address, style, policy }),
    'wsdl=1.1': address => writeWsdl11(contract, version, { address, style, policy, soap: '1.1' }),
    'wsdl=1.2': address => writeWsdl11(contract, version, { address, style, policy, soap: '1.2' }),
    wsdl2: address => writeWsdl20(contract, version, { address }),
    xsd: () => writeXsd(contract, version),
  }
  const kept = new Map<string, string>()
  return (query, address) => {
    const key = query.toLowerCase()
    const write = Object.hasOwn(written, key) ? written[key] : undefined
    if (!write) return undefined
    const at = `${key} ${address}`
    const content = kept.get(at) ?? write(address)
    if (kept.size < most) kept.set(at, content)
    return { ...wsdlType, content }
  }
}

/** What a browser sees that opens an endpoint: what it is, and where it is described. */
function page({ app }: FaceContext, { version, style, secure }: Endpoint, address: string): string {
  const { contract } = app
  const operations = compileMessages(contract, version).map(
    message => `<li>${escapeMarkup(message.operation.name)}</li>`,
  )
  const links = ['wsdl', 'wsdl=1.1', 'wsdl=1.2', 'wsdl2', 'xsd'].map(
    query => `<li><a href="${escapeMarkup(address)}?${query}">?${query}</a></li>`,
  )
  const title = `${escapeMarkup(contract.title)} ${version}`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>
<p>A SOAP endpoint (1.1 and 1.2, ${style}${secure ? ', WS-Security demanded' : ''}): POST messages to <code>${escapeMarkup(address)}</code>.</p>
<h2>Descriptions</h2><ul>${links.join('')}</ul><h2>Operations</h2><ul>${operations.join('')}</ul></html>`
}
