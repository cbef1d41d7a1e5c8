/**
 * The SOAP endpoints of a service: an address for each version of the contract and each style, with
 * descriptions.
 */

import { escapeMarkup } from '../base/markup.ts'
import { compileMessages } from '../contract/xml-message.ts'
import { writeWsdl11 } from '../describe/wsdl11.ts'
import { writeWsdl20 } from '../describe/wsdl20.ts'
import { writeXsd } from '../describe/xsd.ts'
import type { SecurityPolicy } from '../security/policy/policy.ts'
import { writeSecurityPolicy } from '../security/policy/ws-security-policy.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { Description } from '../soap/endpoint.ts'
import type { Endpoint, SoapOptions } from '../soap/face.ts'
import { compileSoapEndpoint, type SoapEndpoint } from '../soap/http/binding.ts'
import { codings, gunzipWithin } from './zlib-codings.ts'

/**
 * Of each version, a retired one too, which answers that it is: `/soap/v1`, `/soap/v1/rpc`,
 * `/soap/v1/encoded`, `/soap/v1/secure`.
 */
export function listSoapEndpoints(context: FaceContext): readonly Endpoint[] {
  return Object.keys(context.app.contract.versions).flatMap(version => {
    const endpoint = { version, path: `/soap/${version}`, style: 'document', secure: false, versions: 'both' } as const
    return [
      endpoint,
      { ...endpoint, path: `${endpoint.path}/rpc`, style: 'rpc' },
      { ...endpoint, path: `${endpoint.path}/encoded`, style: 'encoded' },
      { ...endpoint, path: `${endpoint.path}/secure`, secure: true },
    ] as const
  })
}

/** The function from a path to its endpoint; undefined for an unknown path. */
export function createSoapEndpoints(
  context: FaceContext,
  options: SoapOptions,
  demanded: SecurityPolicy,
): (path: string) => SoapEndpoint | undefined {
  const endpoints = new Map<string, () => SoapEndpoint>()
  for (const endpoint of listSoapEndpoints(context)) {
    // Compiled on first use: most clients use one endpoint of many.
    const compiled = memoizeFirst(() =>
      compileSoapEndpoint(context, endpoint, {
        inflate: gunzipWithin,
        codings,
        describe: describeEndpoint(context, endpoint, demanded),
        page: address => writeEndpointPage(context, endpoint, address),
        ...options,
      }),
    )
    endpoints.set(endpoint.path, compiled)
    // The response pattern of SOAP 1.2 has paths below the endpoint: /soap/v1/GetOrder?id=o-1
    endpoints.set(`${endpoint.path}/`, compiled)
  }
  return path => (endpoints.get(path) ?? endpoints.get(path.slice(0, path.lastIndexOf('/') + 1)))?.()
}

function memoizeFirst<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

const mediaType = 'text/xml; charset=utf-8'
/** A service has few addresses, but a client may invent others. */
const textsKept = 64

/** The identifier of the secure endpoint's policy in the WSDL. */
const policyId = 'MessageSecurity'

/** Descriptions of an endpoint at the requested address; texts are kept for a few addresses. */
function describeEndpoint(
  { app }: FaceContext,
  { version, style, secure }: Endpoint,
  demanded: SecurityPolicy,
): NonNullable<SoapOptions['describe']> {
  const { contract } = app
  const security = secure ? { id: policyId, written: writeSecurityPolicy(demanded, policyId) } : undefined
  const policy = { addressing: true, mtom: true, security }
  const written: Readonly<Record<string, (address: string) => string>> = {
    wsdl: address => writeWsdl11(contract, version, { address, style, policy }),
    'wsdl=1.1': address => writeWsdl11(contract, version, { address, style, policy, soap: '1.1' }),
    'wsdl=1.2': address => writeWsdl11(contract, version, { address, style, policy, soap: '1.2' }),
    wsdl2: address => writeWsdl20(contract, version, { address }),
    xsd: () => writeXsd(contract, version),
  }
  const kept = new Map<string, Description>()
  return (query, address) => {
    const key = query.toLowerCase()
    const write = Object.hasOwn(written, key) ? written[key] : undefined
    if (!write) return undefined
    const at = `${key} ${address}`
    const description = kept.get(at) ?? { mediaType, content: write(address) }
    if (kept.size < textsKept) kept.set(at, description)
    return description
  }
}

/** The page of an endpoint for browsers, with links to its descriptions. */
function writeEndpointPage({ app }: FaceContext, { version, style, secure }: Endpoint, address: string): string {
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
