/**
 * A policy as WS-SecurityPolicy 1.2 in WS-Policy, for the WSDL: what a client's stack needs to speak to the endpoint by itself.
 * What is enforced is the policy, not this text; where the standard has no word (a shared secret), it says what is signed.
 */
import { writeAttribute } from '../../xml/index.ts'
import { wsuNs } from '../vocabulary.ts'
import type { CoveredPart, Demand, SecurityPolicy } from './policy.ts'

const wsp = 'http://schemas.xmlsoap.org/ws/2004/09/policy'
const sp = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'

/** The wsp:Policy element, to be referred to by `#id`. */
export function writeSecurityPolicy(policy: SecurityPolicy, id: string): string {
  const ways = policy.anyOf.map(demand => `<wsp:All>${way(demand)}</wsp:All>`)
  const none = policy.required ? '' : '<wsp:All/>'
  return (
    `<wsp:Policy xmlns:wsp="${wsp}" xmlns:sp="${sp}" xmlns:wsu="${wsuNs}" wsu:Id=${writeAttribute(id)}>` +
    `<wsp:ExactlyOne>${ways.join('')}${none}</wsp:ExactlyOne></wsp:Policy>`
  )
}

function way(demand: Demand): string {
  const { signed = [], encrypted = [] } = demand
  const key = demand.caller === 'x509' || (demand.caller === 'saml' && holder(demand))
  const bound = signed.length > 0 && demand.caller !== 'secret'
  const binding = bound ? bindingOf(key ? tokenOf(demand) : x509, demand) : ''
  const supporting = key || demand.caller === 'secret' ? '' : supportingOf(demand)
  return `${binding}${supporting}${parts('SignedParts', signed)}${parts('EncryptedParts', encrypted)}`
}

const holder = ({ confirmations = [] }: Demand): boolean => confirmations.every(kind => kind === 'holder-of-key')

const policyOf = (...inside: string[]): string => `<wsp:Policy>${inside.join('')}</wsp:Policy>`
const always = `sp:IncludeToken="${sp}/IncludeToken/AlwaysToRecipient"`
const x509 = `<sp:X509Token ${always}>${policyOf('<sp:WssX509V3Token10/>')}</sp:X509Token>`
const recipient = `<sp:X509Token sp:IncludeToken="${sp}/IncludeToken/Never">${policyOf('<sp:RequireThumbprintReference/>', '<sp:WssX509V3Token11/>')}</sp:X509Token>`

/** WS-SecurityPolicy §7.5. */
function bindingOf(token: string, { timestamp }: Demand): string {
  return `<sp:AsymmetricBinding>${policyOf(
    `<sp:InitiatorToken>${policyOf(token)}</sp:InitiatorToken>`,
    `<sp:RecipientToken>${policyOf(recipient)}</sp:RecipientToken>`,
    `<sp:AlgorithmSuite>${policyOf('<sp:Basic256Sha256/>')}</sp:AlgorithmSuite>`,
    `<sp:Layout>${policyOf('<sp:Lax/>')}</sp:Layout>`,
    timestamp ? '<sp:IncludeTimestamp/>' : '',
    '<sp:OnlySignEntireHeadersAndBody/>',
  )}</sp:AsymmetricBinding>`
}

/** WS-SecurityPolicy §8: under the signature where the token has to be covered, and encrypted where it has to be. */
function supportingOf(demand: Demand): string {
  const kind = `${demand.signed?.includes('Token') ? 'Signed' : ''}${demand.encrypted?.includes('Token') ? 'Encrypted' : ''}SupportingTokens`
  return `<sp:${kind}>${policyOf(tokenOf(demand))}</sp:${kind}>`
}

/** WS-SecurityPolicy §5.4. */
function tokenOf(demand: Demand): string {
  switch (demand.caller) {
    case 'username':
      return username(demand.passwords ?? ['text', 'digest'])
    case 'saml': {
      const versions = ['WssSamlV20Token11', 'WssSamlV11Token11'].map(
        version => `<wsp:All><sp:SamlToken ${always}>${policyOf(`<sp:${version}/>`)}</sp:SamlToken></wsp:All>`,
      )
      return `<wsp:ExactlyOne>${versions.join('')}</wsp:ExactlyOne>`
    }
    case 'kerberos':
      return `<sp:KerberosToken ${always}>${policyOf('<sp:WssGssKerberosV5ApReqToken11/>')}</sp:KerberosToken>`
    case 'x509':
    case 'secret':
      return x509
  }
}

function username(passwords: readonly ('text' | 'digest')[]): string {
  const one = (kind: 'text' | 'digest') =>
    `<sp:UsernameToken ${always}>${policyOf(kind === 'digest' ? '<sp:HashPassword/>' : '', '<sp:WssUsernameToken10/>')}</sp:UsernameToken>`
  const [only, another] = passwords.map(one)
  return another
    ? `<wsp:ExactlyOne>${passwords.map(kind => `<wsp:All>${one(kind)}</wsp:All>`).join('')}</wsp:ExactlyOne>`
    : (only ?? '')
}

/** WS-SecurityPolicy §4.1, §4.2; a Timestamp is the binding's to say, a token that of its supporting tokens. */
function parts(kind: 'SignedParts' | 'EncryptedParts', listed: readonly CoveredPart[]): string {
  const said = listed.map(part => {
    if (part === 'Body') return '<sp:Body/>'
    if (part === 'Attachments') return '<sp:Attachments/>'
    if (typeof part === 'string') return ''
    return `<sp:Header Name=${writeAttribute(part.local)} Namespace=${writeAttribute(part.uri)}/>`
  })
  return said.join('') === '' ? '' : `<sp:${kind}>${said.join('')}</sp:${kind}>`
}
