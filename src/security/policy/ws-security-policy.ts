/**
 * A policy as WS-SecurityPolicy 1.2 in WS-Policy, for the WSDL: what a client's stack needs to talk
 * to the endpoint by itself. The policy is enforced, not this text; where the standard has no word
 * for a demand (a shared secret), the text tells what is signed.
 */
import { writeAttribute } from '../../xml/index.ts'
import { wsuNs } from '../vocabulary.ts'
import type { CoveredPart, Demand, SecurityPolicy } from './policy.ts'

const policyNs = 'http://schemas.xmlsoap.org/ws/2004/09/policy'
const securityPolicyNs = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'

/** The wsp:Policy element, which is referred to by `#id`. */
export function writeSecurityPolicy(policy: SecurityPolicy, id: string): string {
  const ways = policy.anyOf.map(demand => `<wsp:All>${writeWay(demand)}</wsp:All>`)
  const none = policy.required ? '' : '<wsp:All/>'
  return (
    `<wsp:Policy xmlns:wsp="${policyNs}" xmlns:sp="${securityPolicyNs}" xmlns:wsu="${wsuNs}" wsu:Id=${writeAttribute(id)}>` +
    `<wsp:ExactlyOne>${ways.join('')}${none}</wsp:ExactlyOne></wsp:Policy>`
  )
}

function writeWay(demand: Demand): string {
  const { signed = [], encrypted = [] } = demand
  const key = demand.caller === 'x509' || (demand.caller === 'saml' && isHolderOfKey(demand))
  const bound = signed.length > 0 && demand.caller !== 'secret'
  const binding = bound ? writeBinding(key ? writeToken(demand) : x509Token, demand) : ''
  const supporting = key || demand.caller === 'secret' ? '' : writeSupportingToken(demand)
  return `${binding}${supporting}${writeCoveredParts('SignedParts', signed)}${writeCoveredParts('EncryptedParts', encrypted)}`
}

const isHolderOfKey = ({ confirmations = [] }: Demand): boolean => confirmations.every(kind => kind === 'holder-of-key')

const wrapInPolicy = (...inside: string[]): string => `<wsp:Policy>${inside.join('')}</wsp:Policy>`
const includeAlways = `sp:IncludeToken="${securityPolicyNs}/IncludeToken/AlwaysToRecipient"`
const x509Token = `<sp:X509Token ${includeAlways}>${wrapInPolicy('<sp:WssX509V3Token10/>')}</sp:X509Token>`
const recipientToken = `<sp:X509Token sp:IncludeToken="${securityPolicyNs}/IncludeToken/Never">${wrapInPolicy('<sp:RequireThumbprintReference/>', '<sp:WssX509V3Token11/>')}</sp:X509Token>`

/** WS-SecurityPolicy §7.5. */
function writeBinding(token: string, { timestamp }: Demand): string {
  return `<sp:AsymmetricBinding>${wrapInPolicy(
    `<sp:InitiatorToken>${wrapInPolicy(token)}</sp:InitiatorToken>`,
    `<sp:RecipientToken>${wrapInPolicy(recipientToken)}</sp:RecipientToken>`,
    `<sp:AlgorithmSuite>${wrapInPolicy('<sp:Basic256Sha256/>')}</sp:AlgorithmSuite>`,
    `<sp:Layout>${wrapInPolicy('<sp:Lax/>')}</sp:Layout>`,
    timestamp ? '<sp:IncludeTimestamp/>' : '',
    '<sp:OnlySignEntireHeadersAndBody/>',
  )}</sp:AsymmetricBinding>`
}

/**
 * WS-SecurityPolicy §8: a signed token where the demand covers it, an encrypted one where it
 * demands that.
 */
function writeSupportingToken(demand: Demand): string {
  const kind = `${demand.signed?.includes('Token') ? 'Signed' : ''}${demand.encrypted?.includes('Token') ? 'Encrypted' : ''}SupportingTokens`
  return `<sp:${kind}>${wrapInPolicy(writeToken(demand))}</sp:${kind}>`
}

/** WS-SecurityPolicy §5.4. */
function writeToken(demand: Demand): string {
  switch (demand.caller) {
    case 'username':
      return writeUsernameChoice(demand.passwords ?? ['text', 'digest'])
    case 'saml': {
      const versions = ['WssSamlV20Token11', 'WssSamlV11Token11'].map(
        version =>
          `<wsp:All><sp:SamlToken ${includeAlways}>${wrapInPolicy(`<sp:${version}/>`)}</sp:SamlToken></wsp:All>`,
      )
      return `<wsp:ExactlyOne>${versions.join('')}</wsp:ExactlyOne>`
    }
    case 'kerberos':
      return `<sp:KerberosToken ${includeAlways}>${wrapInPolicy('<sp:WssGssKerberosV5ApReqToken11/>')}</sp:KerberosToken>`
    case 'x509':
    case 'secret':
      return x509Token
  }
}

function writeUsernameChoice(passwords: readonly ('text' | 'digest')[]): string {
  const one = (kind: 'text' | 'digest') =>
    `<sp:UsernameToken ${includeAlways}>${wrapInPolicy(kind === 'digest' ? '<sp:HashPassword/>' : '', '<sp:WssUsernameToken10/>')}</sp:UsernameToken>`
  const [only, another] = passwords.map(one)
  return another
    ? `<wsp:ExactlyOne>${passwords.map(kind => `<wsp:All>${one(kind)}</wsp:All>`).join('')}</wsp:ExactlyOne>`
    : (only ?? '')
}

/**
 * WS-SecurityPolicy §4.1, §4.2. A Timestamp belongs to the binding, a token to its supporting
 * tokens.
 */
function writeCoveredParts(kind: 'SignedParts' | 'EncryptedParts', listed: readonly CoveredPart[]): string {
  const said = listed.map(part => {
    if (part === 'Body') return '<sp:Body/>'
    if (part === 'Attachments') return '<sp:Attachments/>'
    if (typeof part === 'string') return ''
    return `<sp:Header Name=${writeAttribute(part.local)} Namespace=${writeAttribute(part.uri)}/>`
  })
  return said.join('') === '' ? '' : `<sp:${kind}>${said.join('')}</sp:${kind}>`
}
