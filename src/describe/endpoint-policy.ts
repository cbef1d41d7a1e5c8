/**
 * What a WSDL of either version says about an endpoint besides its contract: addressing, MTOM, and
 * the security of its messages (WS-Policy, WS-Addressing 1.0 Metadata §3 and §4).
 */
import { writeTag } from './markup.ts'

/** What the endpoint supports in addition to the contract; all except security is optional. */
export interface EndpointPolicy {
  readonly addressing?: boolean
  readonly mtom?: boolean
  /** What requests must prove, and what replies prove. */
  readonly security?: AttachedPolicies | undefined
}

/** Texts of wsp:Policy (WS-Policy 1.2), and which is attached where, by its wsu:Id. */
export interface AttachedPolicies {
  readonly written: string
  readonly idOf: (subject: 'endpoint' | 'operation' | 'input' | 'output', operation?: string) => string | undefined
}

/**
 * The namespace of WS-Policy 1.2, the only one in which most clients understand WS-SecurityPolicy.
 */
const wsp12Ns = 'http://schemas.xmlsoap.org/ws/2004/09/policy'

/** A reference to one of the security policies, at the element to which it is attached. */
export function policyReferenceTag(
  attached: AttachedPolicies | undefined,
  ...to: Parameters<AttachedPolicies['idOf']>
): string | undefined {
  const id = attached?.idOf(...to)
  return id === undefined ? undefined : writeTag('sec:PolicyReference', { 'xmlns:sec': wsp12Ns, URI: `#${id}` })
}

/** The parts of a WSDL that state an endpoint's policy. */
export interface PolicyMarkup {
  readonly isAddressed: boolean
  /** The prefix declarations for the other parts. */
  readonly namespaces: Readonly<Record<string, string>>
  /** WS-Policy 1.5: assertions about the endpoint, each optional; then the security policies. */
  readonly written: readonly (string | undefined)[]
  /** WS-PolicyAttachment §4: in a binding. */
  readonly reference: string | undefined
  /** A reference to one of the security policies, at the element to which it is attached. */
  readonly attach: (...to: Parameters<AttachedPolicies['idOf']>) => string | undefined
  /** The attribute for the [action] of a message (WS-Addressing 1.0 Metadata §4.1). */
  readonly action: (uri: string) => Readonly<Record<string, string>>
}

export function writePolicyMarkup(name: string, { addressing, mtom, security }: EndpointPolicy = {}): PolicyMarkup {
  const isAddressed = addressing === true
  const hasOffers = isAddressed || mtom === true
  const id = `${name}Policy`
  const offers = [
    isAddressed && writeTag('wsam:Addressing', { 'wsp:Optional': true }, writeTag('wsp:Policy')),
    mtom === true &&
      writeTag('wsoma:OptimizedMimeSerialization', {
        'xmlns:wsoma': 'http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization',
        'wsp:Optional': true,
      }),
  ]
  return {
    isAddressed,
    namespaces: {
      ...(isAddressed && { 'xmlns:wsam': 'http://www.w3.org/2007/05/addressing/metadata' }),
      ...(hasOffers && {
        'xmlns:wsp': 'http://www.w3.org/ns/ws-policy',
        'xmlns:wsu': 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
      }),
    },
    written: [hasOffers ? writeTag('wsp:Policy', { 'wsu:Id': id }, offers) : undefined, security?.written],
    reference: hasOffers ? writeTag('wsp:PolicyReference', { URI: `#${id}` }) : undefined,
    attach: (...to) => policyReferenceTag(security, ...to),
    action: uri => (isAddressed ? { 'wsam:Action': uri } : {}),
  }
}
