/**
 * NIST's Public Key Interoperability Test Suite (PKITS): RFC 5280 §6 with revocation. All cases
 * present are judged; one that cannot be judged fails.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { validateCertificationPath } from '../../src/security/index.ts'
import { suites } from '../suites.ts'

interface PkitsCase {
  readonly name: string
  readonly section: string
  readonly ee: string
  readonly intermediates: readonly string[]
  readonly crls: readonly string[]
  readonly valid: boolean
}

const folder = suites('pkits')
if (folder) {
  const octets = (kind: 'certs' | 'crls', name: string) => readFileSync(join(folder, kind, name))
  const cases: readonly PkitsCase[] = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))
  const isDsa = ({ section, name }: PkitsCase) => section === '4.1' && /dsa/i.test(name)

  test('PKITS: there are cases, and each says what is expected', () => {
    assert.ok(cases.length > 0)
    for (const { name, ee, valid } of cases) assert.ok(name && ee && typeof valid === 'boolean', name)
  })

  for (const each of cases) {
    // DSA with SHA-1 is refused by policy (FIPS 186-5 §4): its valid paths are the only exceptions.
    const expected = each.valid && !isDsa(each)
    test(`PKITS ${each.section} ${each.name}: ${expected ? 'valid' : 'not valid'}`, () => {
      const answer = validateCertificationPath({
        certificate: octets('certs', each.ee),
        intermediates: each.intermediates.map(name => octets('certs', name)),
        anchors: [octets('certs', 'TrustAnchorRootCertificate.crt')],
        crls: ['TrustAnchorRootCRL.crl', ...each.crls].map(name => octets('crls', name)),
        at: new Date('2026-11-22T12:00:00Z'),
      })
      assert.equal(answer.valid, expected, answer.valid ? 'it was accepted' : answer.reason)
      if (!answer.valid) assert.match(answer.reason, /\S/)
    })
  }
}
