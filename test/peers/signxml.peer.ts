/**
 * signxml, a verifier and signer of XML signatures in Python, as the partner of a service whose
 * contract demands signatures: what it signs is accepted, and the answers, as our client's
 * requests, cover for it what they have to cover.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { dsNs, wsse11Ns, wsuNs } from '../../src/security/vocabulary.ts'
import { issuePartner, type PemPair } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { soap11Uri, soap12Uri } from '../security/message.ts'
import { createAttacks, requestText, same, standBetween } from './attacker.ts'
import { missing } from './peer.ts'
import { people, secureOrders, service, startSecured } from './secured-orders.ts'
import { type LineProgram, startLineProgram } from './soap-driver.ts'

const here = import.meta.dirname
const python = join(here, 'others', 'venv', 'bin', 'python')
const skip = missing('signxml (test/peers/others/requirements.txt, in a venv beside it)', python, [
  '-c',
  'import signxml',
])

const path = '/soap/signed'
const rule: SecurityRule = { callers: ['x509'], answers: 'signed' }
const { contract, secured } = secureOrders({ [path]: rule })
const rsa = people['maria']!
const ec = issuePartner('CN=maria', x.createEcKey())
const envelopes = { '1.1': soap11Uri, '1.2': soap12Uri } as const
type SoapVersion = keyof typeof envelopes
const versions = Object.keys(envelopes) as SoapVersion[]
/** Signature methods of RFC 9231 that both know, by signxml's names. */
const methods: readonly (readonly [string, PemPair])[] = [
  ['RSA_SHA256', rsa],
  ['RSA_SHA384', rsa],
  ['RSA_SHA512', rsa],
  ['SHA256_RSA_MGF1', rsa],
  ['SHA512_RSA_MGF1', rsa],
  ['ECDSA_SHA256', ec],
  ['ECDSA_SHA512', ec],
]
const refusals = /InvalidSecurity|FailedCheck|FailedAuthentication|MessageExpired/

describe('signxml', { skip }, () => {
  let url: string
  let partner: LineProgram
  before(async () => {
    url = (await startSecured(secured)).url
    partner = startLineProgram(python, [join(here, 'python', 'signxml_wss.py')])
  })

  async function sign(version: SoapVersion, method = 'RSA_SHA256', by = rsa): Promise<string> {
    const body = '<o:GetOrder xmlns:o="urn:diglot:orders:v2"><o:id>o-1</o:id></o:GetOrder>'
    const envelope = `<s:Envelope xmlns:s="${envelopes[version]}"><s:Header/><s:Body>${body}</s:Body></s:Envelope>`
    const said = await partner.ask({ step: 'sign', envelope, method, ...by })
    assert.equal(said['error'], undefined)
    return String(said['envelope'])
  }
  const send = (version: SoapVersion, envelope: string): Promise<string> => {
    const type = version === '1.1' ? 'text/xml' : 'application/soap+xml'
    return requestText(
      `${url}${path}`,
      { method: 'POST', headers: { 'content-type': `${type}; charset=utf-8` } },
      envelope,
    )
  }
  /** The signed elements in their canonical form, or why signxml refuses the message. */
  const verify = async (envelope: string, by = service): Promise<{ signed: string[]; error: string }> => {
    const { signed = [], error = '' } = await partner.ask({ step: 'verify', envelope, certificate: by.certificate })
    return { signed: signed as string[], error: String(error) }
  }
  /** Expects that this signature covers elements of these names, in whatever order. */
  const expectCovered = async (envelope: string, by: PemPair, expected: readonly string[]): Promise<string[]> => {
    const { signed, error } = await verify(envelope, by)
    assert.equal(error, '')
    const found = signed.map(each => /^<(?:\w+:)?(\w+)/.exec(each)?.[1])
    assert.deepEqual(found.toSorted(), [...expected].sort())
    return signed
  }

  for (const version of versions) {
    for (const [method, by] of methods)
      it(`WSS X.509 §3.3, RFC 9231: signs by ${method} in SOAP ${version}, and verifies the answer`, async () => {
        const request = await sign(version, method, by)
        const answer = await send(version, request)
        const covered = await expectCovered(answer, service, ['Body', 'SignatureConfirmation', 'Timestamp'])
        assert.match(covered.find(each => each.includes(':Body ')) ?? '', />o-1</)
        // WSS 1.1 §8.5: the confirmation has the value of this very request
        const value = /SignatureValue[^>]*>([^<]+)</.exec(request)?.[1] ?? assert.fail()
        assert.ok(
          covered.some(each => each.includes(wsse11Ns) && each.includes(`Value="${value.replaceAll(/\s/g, '')}"`)),
        )
        assert.doesNotMatch(covered.join(''), new RegExp(dsNs)) // no signature of a signature
      })

    it(`WSS §10: its message in SOAP ${version} is refused when it was changed, stripped, wrapped or sent before`, async () => {
      const { kept, attacks } = createAttacks()
      kept.former = await sign(version)
      assert.match(await send(version, kept.former), />o-1</)
      for (const [name, attack] of attacks) {
        const genuine = await sign(version)
        assert.notEqual(attack(genuine), genuine, name)
        const answer = await send(version, attack(genuine))
        assert.match(answer, refusals, name)
        assert.doesNotMatch(answer, />o-[12]</, name)
      }
    })

    it(`XML Signature §3.2: refuses our answer in SOAP ${version} when any signed part was changed`, async () => {
      const answer = await send(version, await sign(version))
      const changes = [
        answer.replace('>o-1<', '>o-2<'),
        answer.replace(/(Expires>\d{3})\d/, '$19'),
        answer.replace(/(SignatureConfirmation[^>]*Value=")..../, '$1AAAA'),
        answer.replace(/(SignatureValue>)..../, '$1AAAA'),
        answer.replace(/(DigestValue>)..../, '$1AAAA'),
      ]
      for (const changed of changes) {
        assert.notEqual(changed, answer)
        assert.match((await verify(changed)).error, /InvalidSignature|InvalidDigest/)
      }
      assert.match((await verify(answer, rsa)).error, /another certificate/)
    })

    for (const [kind, by] of [
      ['RSA', rsa],
      ['ECDSA', ec],
    ] as const)
      it(`WSS X.509 §3.3: verifies what our client signs by ${kind} in SOAP ${version}, with WS-Addressing`, async () => {
        let sent = ''
        const request = (text: string) => (sent = text)
        const address = `${await standBetween(url, { request, response: same })}${path}`
        const keys = { ...by, service: { certificates: service.certificate } }
        const client = createSoapClient(contract, { address, version: 'v2', soap: version, addressing: true, keys })
        assert.equal((await client.GetOrder({ id: 'o-1' })).order.id, 'o-1')
        client.close()
        const parts = ['Body', 'Timestamp', 'Action', 'MessageID', 'To']
        const covered = await expectCovered(sent, by, parts)
        assert.match(covered.join(''), new RegExp(wsuNs))
        for (const part of ['>o-1<', 'urn:uuid:', 'Expires>2'])
          assert.match(
            (await verify(sent.replace(part, `${part.slice(0, -1)}9`), by)).error,
            /InvalidDigest|XMLSyntax/,
            part,
          )
      })
  }
})
