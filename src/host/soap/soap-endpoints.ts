/** The SOAP endpoints of a service, each compiled with its description on first use. */

import { memoizeOnce } from '../../base/memo.ts'
import { endpointsOf, type ServedEndpoint } from '../../contract/endpoint-rule.ts'
import { type Port, portPath } from '../../contract/exchange.ts'
import type { EndpointPolicy } from '../../describe/endpoint-policy.ts'
import { writePortWsdl } from '../../describe/port-wsdl.ts'
import { writeWsdl11 } from '../../describe/wsdl11.ts'
import { writeWsdl20 } from '../../describe/wsdl20.ts'
import { writeXsd } from '../../describe/xsd.ts'
import { describeEndpointSecurity, describePortSecurity } from '../../security/policy/described-endpoint.ts'
import type { FaceContext } from '../../service/face-context.ts'
import type { Description } from '../../soap/endpoint.ts'
import type { SoapOptions } from '../../soap/face.ts'
import { compilePortEndpoint, compileSoapEndpoint, type SoapEndpoint } from '../../soap/http/binding.ts'
import type { MessageSecurityPort } from '../trust/message-security.ts'
import { codings, gunzipWithin } from '../zlib-codings.ts'
import { addPortPage } from './port-page.ts'
import { addSoapPage, listDescriptions } from './soap-page.ts'

/**
 * The function from a path to its endpoint; undefined for an unknown path. A retired version still
 * has its endpoints, which say that it is retired.
 */
export function createSoapEndpoints(
  context: FaceContext,
  options: SoapOptions,
  security: MessageSecurityPort,
): (path: string) => SoapEndpoint | undefined {
  const endpoints = new Map<string, () => SoapEndpoint>()
  for (const served of endpointsOf(context.app.contract)) {
    const { version, path, style, soap: versions } = served
    const endpoint = { version, path, style, versions, secure: served.security !== undefined }
    // Compiled on first use: most clients use one endpoint of many.
    const made = memoizeOnce(() => {
      const compiled = compileSoapEndpoint(context, endpoint, {
        inflate: gunzipWithin,
        codings,
        describe: describeEndpoint(context, served, security),
        secure: security.of(served.security).secure,
        ...options,
      })
      return addSoapPage(context, endpoint, compiled)
    })
    endpoints.set(endpoint.path, made)
    // The response pattern of SOAP 1.2 has paths below the endpoint: /soap/v1/GetOrder?id=o-1
    endpoints.set(`${endpoint.path}/`, made)
  }
  for (const port of context.app.contract.ports) {
    const path = portPath(port)
    const made = memoizeOnce(() => {
      const compiled = compilePortEndpoint(context, port, path, {
        inflate: gunzipWithin,
        codings,
        describe: describePort(port, security),
        secure: security.ofPort(port).secure,
        ...options,
      })
      return addPortPage(context, port, compiled)
    })
    endpoints.set(path, made)
    endpoints.set(`${path}/`, made)
  }
  const folders = (path: string) => [path.lastIndexOf('/') + 1, path.indexOf('/', '/soap/'.length) + 1]
  return path => {
    const above = () => folders(path).flatMap(end => endpoints.get(path.slice(0, end)) ?? [])[0]
    return (endpoints.get(path) ?? above())?.()
  }
}

/** The WSDL of a port, with the names that its clients know. */
function describePort(port: Port, security: MessageSecurityPort): NonNullable<SoapOptions['describe']> {
  const descriptions = new Map<string, Description>()
  const attach = describePortSecurity(port, port.security && security.ofPort(port).policy)
  return (query, address) => {
    if (query.toLowerCase() !== 'wsdl') return undefined
    const description = descriptions.get(address) ?? {
      mediaType,
      content: writePortWsdl(port, address, attach(address)),
    }
    if (descriptions.size < textsKept) descriptions.set(address, description)
    return description
  }
}

const mediaType = 'text/xml; charset=utf-8'
/** A service has few addresses, but a client may invent others. */
const textsKept = 64

/** Descriptions of an endpoint at the requested address; texts are kept for a few addresses. */
function describeEndpoint(
  { app }: FaceContext,
  endpoint: ServedEndpoint,
  security: MessageSecurityPort,
): NonNullable<SoapOptions['describe']> {
  const { contract } = app
  const { version, style, soap } = endpoint
  const attach = describeEndpointSecurity(
    contract,
    endpoint,
    endpoint.security && security.of(endpoint.security).policy,
  )
  const policyAt = (address: string): EndpointPolicy => ({ addressing: true, mtom: true, security: attach(address) })
  const wsdl11 = (only: typeof soap) => (address: string) =>
    writeWsdl11(contract, version, { address, style, policy: policyAt(address), soap: only })
  const written: Readonly<Record<string, (address: string) => string>> = {
    wsdl: wsdl11(soap),
    'wsdl=1.1': wsdl11('1.1'),
    'wsdl=1.2': wsdl11('1.2'),
    wsdl2: address => writeWsdl20(contract, version, { address, soap, policy: policyAt(address) }),
    xsd: () => writeXsd(contract, version),
  }
  const queries: readonly string[] = listDescriptions(soap)
  const descriptions = new Map<string, Description>()
  return (query, address) => {
    const key = query.toLowerCase()
    const write = queries.includes(key) ? written[key] : undefined
    if (!write) return undefined
    const at = `${key} ${address}`
    const description = descriptions.get(at) ?? { mediaType, content: write(address) }
    if (descriptions.size < textsKept) descriptions.set(at, description)
    return description
  }
}
