/**
 * The entry `diglot/security`: certificate paths, and the types of keys, trust and policies for
 * `serve` and the client.
 */
export type { KeyForm, SubjectConfirmation } from '../contract/endpoint-rule.ts'
export type { PackedPart, PackedParts, SentPart } from '../soap/security-port.ts'
export type { Allowance } from './crypto/algorithm.ts'
export { Certificate } from './crypto/certificate.ts'
export {
  type PathAnswer,
  type PathQuestion,
  type RevocationMode,
  validateCertificationPath,
} from './crypto/certification-path.ts'
export type { ExchangeKey } from './crypto/derived-key.ts'
export type { CertificateSource, CrlSource, OneOrMore, PrivateKeySource, SecretSource } from './crypto/key-source.ts'
export { type Anchors, type CertificatePurpose, CertificateTrust } from './crypto/trust.ts'
export type { DecryptionKey, ProofMeans, SamlIssuer, SamlSettings } from './policy/means.ts'
export { type CoveredPart, type Demand, findPolicyMistakes, type SecurityPolicy } from './policy/policy.ts'
export type {
  AssertionSubject,
  AssertionTrust,
  Decryption,
  SubjectRule,
  VerificationContext,
} from './policy/verification-context.ts'
export { writeSecurityPolicy } from './policy/ws-security-policy.ts'
export type { Encryption } from './protect/encrypt.ts'
export type { AnswerExchange, RequestExchange } from './protect/exchange-protection.ts'
export { type Protected, type Protection, protectMessage } from './protect/protect.ts'
export type { Signing } from './protect/sign.ts'
export { Insecure, type SecurityFault } from './security-fault.ts'
export type { Incoming, Signer } from './verify/incoming.ts'
export { defaultFreshness, type Freshness } from './verify/timestamp.ts'
export { type VerifiedMessage, verifyMessage } from './verify/verify.ts'
export { createWsSecurity, type SecurityMeans } from './ws-security.ts'
