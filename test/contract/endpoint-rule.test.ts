/** Mistakes in the `security` of a contract, each told by its place with what is allowed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRuleMistakes, type SecurityRule } from '../../src/contract/endpoint-rule.ts'

const rows: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['nothing wrong', { callers: ['x509', { by: 'saml', confirmations: ['bearer'], signed: true }], answers: 'signed' }, []],
  ['no way', { callers: [] }, ["s.callers is empty: name a way to prove the caller, such as 'x509'"]],
  ['no list', { callers: 'x509' }, ["s.callers is not a list: name ways such as ['x509']"]],
  ['an unknown way', { callers: ['foo'] }, ['s.callers has "foo": use username, x509, saml, kerberos, secret']],
  ['null', { callers: [null] }, ['s.callers has null: use username, x509, saml, kerberos, secret']],
  ['unknown passwords', { callers: [{ by: 'username', passwords: ['digets'] }] }, ['s.callers has "digets": use text, digest']],
  ['an unknown confirmation', { callers: [{ by: 'saml', confirmations: ['holder'] }] }, ['s.callers has "holder": use bearer, holder-of-key, sender-vouches']],
  ['signed as a text', { callers: [{ by: 'username', signed: 'no' }] }, ['s.callers has "no": use true, false']],
  ['encrypted as a text', { callers: ['x509'], encrypted: 'no' }, ['s.encrypted has "no": use true, false']],
  ['unknown answers', { callers: ['x509'], answers: 'sealed' }, ['s.answers has "sealed": use signed, encrypted']],
  ['a signer who does not sign', { callers: [{ by: 'x509', signed: false }] }, ['s: x509 names the signer, so its messages are signed: remove signed']],
  ['encrypted, unsigned', { callers: ['username'], encrypted: true }, ['s has encrypted requests that nothing signs (username): add signed']],
  ['answers to nobody', { callers: ['kerberos'], answers: 'signed' }, ['s has proven answers to requests that nothing signs (kerberos), so they cannot tell which request they answer: add signed']],
  ['no endorsement', { callers: ['x509', 'username'], symmetric: 'direct' }, ['s is symmetric, and username cannot endorse a signature: name x509 alone']],
  ['an unknown form', { callers: ['x509'], symmetric: 'implied' as never }, ['s.symmetric has "implied": use direct, derived']],
  ['answers to no certificate', { callers: [{ by: 'username', signed: true }], answers: 'encrypted' }, ['s has answers encrypted to a certificate, which username does not provide: name x509 alone']],
  ['an unknown operation', { callers: ['x509'], operations: { Pay: { callers: ['x509'] } } }, ['s.operations has Pay: use GetNote']],
  ['a mistake of an operation', { callers: ['x509'], operations: { GetNote: { callers: ['x'] } } }, ['s.operations.GetNote.callers has "x": use username, x509, saml, kerberos, secret']],
  ['confirmation without answers', { callers: ['x509'], confirmed: false }, ['s.confirmed says what signed answers confirm, which no message here has: remove it, or add answers']],
  ['confirmation that is no truth', { callers: ['x509'], answers: 'signed', confirmed: 'no' }, ['s.confirmed has "no": use true, false']],
  ['a Timestamp of signed messages', { callers: ['x509'], timestamp: true }, ['s.timestamp is about messages that nothing signs, and all are signed here: remove it']],
  ['a Timestamp that is no truth', { callers: ['username'], timestamp: 'yes' }, ['s.timestamp has "yes": use true, false']],
  ['an unknown suite', { callers: ['x509'], suite: 'TripleDes' }, ['s.suite has "TripleDes": use Basic256Sha256, Basic192Sha256, Basic128Sha256, Basic256, Basic192, Basic128']],
  ['a suite of nothing signed', { callers: ['username'], suite: 'Basic256' }, ['s.suite says how messages are signed, and none is signed here: remove it']],
  ['two suites', { callers: ['x509'], suite: 'Basic256', operations: { GetNote: { callers: ['x509'] } } }, ['s.operations.GetNote.suite differs from that of s: give all operations one suite']],
  ['an unknown reference', { callers: ['x509'], answers: 'encrypted', reference: 'name' }, ['s.reference has "name": use thumbprint, issuer-serial, key-identifier']],
  ['a reference to nothing', { callers: ['x509'], answers: 'signed', reference: 'issuer-serial' }, ['s.reference is about certificates that messages name, and all carry theirs: remove it']],
  ['an unknown side', { callers: ['x509'], unsent: ['client'] }, ['s.unsent has "client": use caller, service']],
  ['sides that are no list', { callers: ['x509'], unsent: 'service' }, ["s.unsent is not a list: name sides such as ['service']"]],
  ['no answers to name a certificate', { callers: ['x509'], unsent: ['service'] }, ['s.unsent has the service, whose certificate signs nothing here: add answers, or remove it']],
  ['no caller to name', { callers: ['secret'], unsent: ['caller'] }, ['s.unsent has the caller, whose certificate signs nothing here: remove it']],
  ['a named endorser', { callers: ['x509'], symmetric: 'direct', unsent: ['caller'] }, ["s is symmetric, where the caller's certificate is sent and signed: remove unsent"]],
  ['protected and not sent', { callers: ['x509'], answers: 'signed', unsent: ['caller', 'service'], protectTokens: true }, ['s.protectTokens is about certificates in messages, and unsent leaves them out: remove one of the two']],
  ['no tokens to protect', { callers: ['x509'], symmetric: 'direct', protectTokens: true }, ['s.protectTokens is about certificates that sign, and a key of the exchange signs here: remove it']],
  ['tokens that sign nothing', { callers: ['username', 'secret', 'x509'], protectTokens: true }, ['s.protectTokens is about tokens that sign, and username, secret has none: remove it']],
  ['tokens protected by a text', { callers: ['x509'], protectTokens: 'no' }, ['s.protectTokens has "no": use true, false']],
  ['attachments where there are none', { callers: ['x509'], attachments: 'complete' }, ['s.attachments says what covers attachments, which no message here has: remove it']],
  ['an unknown form of attachments', { callers: ['x509'], attachments: 'whole' }, ['s.attachments has "whole": use content, complete', 's.attachments says what covers attachments, which no message here has: remove it']],
  ['attachments of an operation', { callers: ['x509'], attachments: 'complete', operations: { GetFile: { callers: ['x509'] } } }, ['s.attachments says what covers attachments, which no message here has: remove it']],
  ['attachments of an operation that has them', { callers: ['x509'], operations: { GetFile: { callers: ['x509'], attachments: 'complete' } } }, []],
] // biome-ignore format: a table

/** \`GetFile\` alone has attachments; a rule that says nothing of it is of the other. */
const operationsOf = (rule: unknown): string[] => [
  'GetNote',
  ...('GetFile' in ((rule as SecurityRule).operations ?? {}) ? ['GetFile'] : []),
]

for (const [what, rule, expected] of rows)
  test(`X14 a mistake in the security of a contract is found: ${what}`, () => {
    assert.deepEqual(
      findRuleMistakes(rule as SecurityRule, 's', operationsOf(rule), name => name === 'GetFile'),
      expected,
    )
  })
