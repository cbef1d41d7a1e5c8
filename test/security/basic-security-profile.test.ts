/**
 * WS-I Basic Security Profile 1.1: what its rules forbid is refused where two readers could
 * understand it differently; the other deviations of honest senders are accepted, and listed in
 * docs/message-security.md.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import {
  createGuard,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signedMessage,
  signedPolicy,
  verifyOrRefuse,
} from './message.ts'

const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
const stamped = protectMessage(plainMessage(), { timestamp: {}, username }, now).envelope
const named: SecurityPolicy = { required: true, anyOf: [{ caller: 'username' }] }
const { key, certificate } = keyPair('alice')
const carried = signedMessage()
const thumbprint = signedMessage(keyPair('alice'), { key, by: { certificate, refer: 'thumbprint' } })
const trust = new CertificateTrust({ certificates: [keyPair('alice').pem] })

type Change = readonly [from: string | RegExp, to: string]
type Verdict = SecurityFault | 'accepted'
const rows: readonly (readonly [rule: string, message: string, change: Change, verdict: Verdict])[] = [
  [
    'R3203 a Timestamp without Created',
    stamped,
    [/<wsu:Created>[^<]*<\/wsu:Created>(?=<wsu:Expires)/, ''],
    'InvalidSecurity',
  ],
  [
    'R3203 a Timestamp with two Created',
    stamped,
    [/(<wsu:Created>[^<]*<\/wsu:Created>)(?=<wsu:Expires)/, '$1$1'],
    'InvalidSecurity',
  ],
  ['R3224 two Expires', stamped, [/(<wsu:Expires>[^<]*<\/wsu:Expires>)/, '$1$1'], 'InvalidSecurity'],
  [
    'R3221 Expires before its Created',
    stamped,
    [/(<wsu:Created>[^<]*<\/wsu:Created>)(<wsu:Expires>[^<]*<\/wsu:Expires>)/, '$2$1'],
    'InvalidSecurity',
  ],
  [
    'R3222 another element in a Timestamp',
    stamped,
    [/<wsu:Expires>/, '<wsu:Received/><wsu:Expires>'],
    'InvalidSecurity',
  ],
  ['R3222 text in a Timestamp', stamped, [/<wsu:Expires>/, 'now<wsu:Expires>'], 'InvalidSecurity'],
  ['R3213 a second 60', stamped, [/:00\.000Z(?=<\/wsu:Created><wsu:Expires)/, ':60.000Z'], 'InvalidSecurity'],
  [
    'R3217 a Created that is not UTC',
    stamped,
    [/T12(:00:00\.000)Z(?=<\/wsu:Created><wsu:Expires)/, 'T14$1+02:00'],
    'accepted',
  ],
  [
    'R3225 a ValueType of Created',
    stamped,
    [/<wsu:Created>(?=[^<]*<\/wsu:Created><wsu:Expires)/, '<wsu:Created ValueType="xsd:dateTime">'],
    'accepted',
  ],
  [
    'R3227 two Timestamps',
    stamped,
    [
      /(<wsu:Timestamp .*<\/wsu:Timestamp>)/,
      '$1<wsu:Timestamp><wsu:Created>2030-06-01T12:00:00Z</wsu:Created></wsu:Timestamp>',
    ],
    'InvalidSecurity',
  ],
  ['R4222 two Passwords', stamped, [/(<wsse:Password .*<\/wsse:Password>)/, '$1$1'], 'InvalidSecurity'],
  [
    'R4223 two Created of a UsernameToken',
    stamped,
    [/(<wsu:Created>[^<]*<\/wsu:Created>)(?=<\/wsse:UsernameToken)/, '$1$1'],
    'InvalidSecurity',
  ],
  ['R4225 two Nonces', stamped, [/(<wsse:Nonce .*<\/wsse:Nonce>)/, '$1$1'], 'InvalidSecurity'],
  ['R4220 a Nonce without EncodingType', stamped, [/<wsse:Nonce EncodingType="[^"]*"/, '<wsse:Nonce'], 'accepted'],
  [
    'R4221 a Nonce in another encoding',
    stamped,
    [/<wsse:Nonce EncodingType="[^"]*"/, '<wsse:Nonce EncodingType="urn:hex"'],
    'InvalidSecurityToken',
  ],
  [
    'R3029 a BinarySecurityToken without EncodingType',
    carried,
    [/(<wsse:BinarySecurityToken [^>]*)EncodingType="[^"]*"/, '$1'],
    'accepted',
  ],
  [
    'R3030 a BinarySecurityToken in another encoding',
    carried,
    [/(<wsse:BinarySecurityToken [^>]*)EncodingType="[^"]*"/, '$1EncodingType="urn:hex"'],
    'UnsupportedSecurityToken',
  ],
  [
    'R3031 a BinarySecurityToken without ValueType',
    carried,
    [/(<wsse:BinarySecurityToken [^>]*)ValueType="[^"]*"/, '$1'],
    'UnsupportedSecurityToken',
  ],
  ['R3061 two references to one token', carried, [/(<wsse:Reference [^>]*\/>)/, '$1$1'], 'SecurityTokenUnavailable'],
  ['R3062 a Reference without URI', carried, [/(<wsse:Reference )URI="[^"]*"/, '$1'], 'InvalidSecurity'],
  [
    'R3057 a Reference to a SecurityTokenReference',
    carried,
    [/<wsse:SecurityTokenReference>(<wsse:Reference URI=")[^"]*/, '<wsse:SecurityTokenReference wsu:Id="self">$1#self'],
    'UnsupportedSecurityToken',
  ],
  [
    'R3211 a Reference to a KeyInfo',
    carried,
    [/<ds:KeyInfo>(.*<wsse:Reference URI=")[^"]*/, '<ds:KeyInfo Id="self">$1#self'],
    'UnsupportedSecurityToken',
  ],
  [
    'R3059 a Reference without ValueType',
    carried,
    [/(<wsse:Reference URI="[^"]*") ValueType="[^"]*"/, '$1'],
    'accepted',
  ],
  [
    'R5218 a Reference whose ValueType is of another token',
    carried,
    [/(<wsse:Reference URI="[^"]*") ValueType="[^"]*"/, '$1 ValueType="urn:other"'],
    'accepted',
  ],
  [
    'R5205 a token after the reference to it',
    carried,
    [/(<wsse:BinarySecurityToken .*<\/wsse:BinarySecurityToken>)(<ds:Signature .*<\/ds:Signature>)/, '$2$1'],
    'accepted',
  ],
  [
    'R3066 a token in another header block',
    carried,
    [
      /(<wsse:BinarySecurityToken .*<\/wsse:BinarySecurityToken>)(.*<\/wsse:Security>)/,
      `$2<x:y xmlns:x="urn:x" xmlns:wsse="${wsseNs}" xmlns:wsu="${wsuNs}">$1</x:y>`,
    ],
    'accepted',
  ],
  [
    'R3056 an Embedded with a SecurityTokenReference',
    carried,
    [/<wsse:Reference [^>]*\/>/, '<wsse:Embedded><wsse:SecurityTokenReference/></wsse:Embedded>'],
    'UnsupportedSecurityToken',
  ],
  [
    'R3060 an Embedded with two tokens',
    carried,
    [
      /<wsse:Reference [^>]*\/>/,
      '<wsse:Embedded><wsse:BinarySecurityToken/><wsse:BinarySecurityToken/></wsse:Embedded>',
    ],
    'SecurityTokenUnavailable',
  ],
  [
    'R3054 a KeyIdentifier without ValueType',
    thumbprint,
    [/(<wsse:KeyIdentifier [^>]*)ValueType="[^"]*"/, '$1'],
    'SecurityTokenUnavailable',
  ],
  [
    'R3070 a KeyIdentifier without EncodingType',
    thumbprint,
    [/(<wsse:KeyIdentifier )EncodingType="[^"]*"/, '$1'],
    'accepted',
  ],
  [
    'R3071 a KeyIdentifier in another encoding',
    thumbprint,
    [/(<wsse:KeyIdentifier )EncodingType="[^"]*"/, '$1EncodingType="urn:hex"'],
    'SecurityTokenUnavailable',
  ],
  [
    'R5401 an HMACOutputLength',
    carried,
    [/(<ds:SignatureMethod [^>]*)\/>/, '$1><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>'],
    'UnsupportedAlgorithm',
  ],
  [
    'R5417 a KeyInfo without a SecurityTokenReference',
    signedMessage(keyPair('alice'), { key, by: { certificate, refer: 'embedded' } }),
    [/$/, ''],
    'accepted',
  ],
]
for (const [title, message, [from, to], verdict] of rows) {
  test(`BSP 1.1 ${title}: ${verdict}`, async () => {
    const changed = message.replace(from, to)
    if (to !== '') assert.notEqual(changed, message, 'the row changes nothing')
    const policy = message === stamped ? named : signedPolicy
    const found = await verifyOrRefuse(openMessage(changed), policy, createGuard(now, { trust }))
    assert.equal(
      found instanceof Insecure ? found.fault : 'accepted',
      verdict,
      found instanceof Insecure ? found.why : '',
    )
  })
}
