/**
 * What a WSDL, of either version, says of an endpoint besides its contract: addressing, MTOM, and
 * the security of its messages (WS-Policy, WS-Addressing 1.0 Metadata §3 and §4).
 */
import { writeTag } from './markup.ts'

/** What the endpoint supports in addition to the contract; all but its security is optional. */
export interface EndpointPolicy {
  readonly addressing?: boolean
  readonly mtom?: boolean
  /** What it requires and what its answers prove. */
  readonly security?: AttachedPolicies | undefined
}

/** Texts of wsp:Policy (WS-Policy 1.2), and which of them is attached to what, by its wsu:Id. */
export interface AttachedPolicies {
  readonly written: string
  readonly idOf: (subject: 'endpoint' | 'operation' | 'input' | 'output', operation?: string) => string | undefined
}

/**
 * The namespace of WS-Policy 1.2, the only one in which most clients understand WS-SecurityPolicy.
 */
const wsp12Ns = 'http://schemas.xmlsoap.org/ws/2004/09/policy'

const hasOffers = (policy: EndpointPolicy | undefined): boolean => policy?.addressing === true || policy?.mtom === true

/** The declarations of the prefixes of what follows. */
export const declarePolicy = (policy: EndpointPolicy | undefined): Readonly<Record<string, string>> => ({
  ...(policy?.addressing && { 'xmlns:wsam': 'http://www.w3.org/2007/05/addressing/metadata' }),
  ...(hasOffers(policy) && {
    'xmlns:wsp': 'http://www.w3.org/ns/ws-policy',
    'xmlns:wsu': 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  }),
})

/** WS-Policy 1.5: assertions about the endpoint, each optional; then those of its security. */
export const writeEndpointPolicy = (
  name: string,
  policy: EndpointPolicy | undefined,
): readonly (string | undefined)[] => [
  hasOffers(policy)
    ? writeTag(
        'wsp:Policy',
        { 'wsu:Id': `${name}Policy` },
        policy?.addressing === true && writeTag('wsam:Addressing', { 'wsp:Optional': true }, writeTag('wsp:Policy')),
        policy?.mtom === true &&
          writeTag('wsoma:OptimizedMimeSerialization', {
            'xmlns:wsoma': 'http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization',
            'wsp:Optional': true,
          }),
      )
    : undefined,
  policy?.security?.written,
]

/** WS-PolicyAttachment §4: at a binding, to the policy of the endpoint. */
export const referToPolicy = (name: string, policy: EndpointPolicy | undefined): string | undefined =>
  hasOffers(policy) ? writeTag('wsp:PolicyReference', { URI: `#${name}Policy` }) : undefined

/** To a policy of its security, at what it is attached to. */
export function policyReferenceTag(
  attached: AttachedPolicies | undefined,
  ...to: Parameters<AttachedPolicies['idOf']>
): string | undefined {
  const id = attached?.idOf(...to)
  return id === undefined ? undefined : writeTag('sec:PolicyReference', { 'xmlns:sec': wsp12Ns, URI: `#${id}` })
}

/** The attribute for the [action] of a message (WS-Addressing 1.0 Metadata §4.1). */
export const actionWriter =
  (isAddressed: boolean) =>
  (uri: string): Readonly<Record<string, string>> =>
    isAddressed ? { 'wsam:Action': uri } : {}
