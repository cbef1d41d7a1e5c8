/** The SOAP endpoints of a service: one address for each version of the contract and each style, and what describes it. */

import { escapeMarkup } from '../base/markup.ts'
import type { Maybe } from '../base/maybe.ts'
import { messages } from '../contract/xml-message.ts'
import { wsdl11 } from '../describe/wsdl11.ts'
import { wsdl20 } from '../describe/wsdl20.ts'
import { xsd } from '../describe/xsd.ts'
import type { Request, Response } from '../http/message.ts'
import type { SecurityPolicy } from '../security/policy/policy.ts'
import { published } from '../security/policy/ws-security-policy.ts'
import type { Serving } from '../service/face-context.ts'
import type { Endpoint, SoapOptions } from '../soap/face.ts'
import { soapFace } from '../soap/http/binding.ts'
import { inflate } from './zlib-codings.ts'

type Face = (request: Request) => Maybe<Response>

/** The endpoints of each served version: `/soap/v1`, `/soap/v1/rpc`, `/soap/v1/encoded`, `/soap/v1/secure`. */
export function endpointsOf(serving: Serving): readonly Endpoint[] {
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
export function soapFaces(
  serving: Serving,
  options: SoapOptions,
  demanded: SecurityPolicy,
): (target: string) => Face | undefined {
  const faces = new Map<string, () => Face>()
  for (const endpoint of endpointsOf(serving)) {
    // Compiled when it is first asked: most partners use one endpoint of many.
    const face = once(() =>
      soapFace(serving, endpoint, {
        inflate,
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
  { app }: Serving,
  { version, style, secure }: Endpoint,
  demanded: SecurityPolicy,
): NonNullable<SoapOptions['describe']> {
  const { contract } = app
  const security = secure ? { id, written: published(demanded, id) } : undefined
  const policy = { addressing: true, mtom: true, security }
  const written: Readonly<Record<string, (address: string) => string>> = {
    wsdl: address => wsdl11(contract, version, { address, style, policy }),
    'wsdl=1.1': address => wsdl11(contract, version, { address, style, policy, soap: '1.1' }),
    'wsdl=1.2': address => wsdl11(contract, version, { address, style, policy, soap: '1.2' }),
    wsdl2: address => wsdl20(contract, version, { address }),
    xsd: () => xsd(contract, version),
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
function page({ app }: Serving, { version, style, secure }: Endpoint, address: string): string {
  const { contract } = app
  const operations = messages(contract, version).map(message => `<li>${escapeMarkup(message.operation.name)}</li>`)
  const links = ['wsdl', 'wsdl=1.1', 'wsdl=1.2', 'wsdl2', 'xsd'].map(
    query => `<li><a href="${escapeMarkup(address)}?${query}">?${query}</a></li>`,
  )
  const title = `${escapeMarkup(contract.title)} ${version}`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>
<p>A SOAP endpoint (1.1 and 1.2, ${style}${secure ? ', WS-Security demanded' : ''}): POST messages to <code>${escapeMarkup(address)}</code>.</p>
<h2>Descriptions</h2><ul>${links.join('')}</ul><h2>Operations</h2><ul>${operations.join('')}</ul></html>`
}
