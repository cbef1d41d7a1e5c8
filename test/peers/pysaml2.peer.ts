/**
 * pysaml2 issues assertions by which our client proves whom it speaks for, and verifies them as the
 * client sends them: bearer ones over TLS, and those of a key's holder below a signature.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createSoapClient, FaultError } from '../../src/client/index.ts'
import type { Server } from '../../src/host/serve.ts'
import { bankRoot, issuePartner } from '../host/partner-keys.ts'
import { requestText, same, standBetween } from './attacker.ts'
import { missing } from './peer.ts'
import {
  assertionFor,
  issuer,
  type Name,
  people,
  type SoapVersion,
  secureOrders,
  service,
  startSecured,
  tlsFiles,
  writeTemporary,
} from './secured-orders.ts'
import { type LineProgram, startLineProgram } from './soap-driver.ts'

const here = import.meta.dirname
const python = join(here, 'others', 'venv', 'bin', 'python')
const skip =
  missing('pysaml2 (test/peers/others/requirements.txt, in a venv beside it)', python, ['-c', 'import saml2']) ||
  missing('xmlsec1', 'xmlsec1')

const paths = { bearer: '/soap/bearer', holder: '/soap/holder' } as const
type Kind = keyof typeof paths
const { contract, secured } = secureOrders({
  [paths.bearer]: { callers: [{ by: 'saml', confirmations: ['bearer'] }] },
  [paths.holder]: { callers: [{ by: 'saml', confirmations: ['holder-of-key'] }], answers: 'signed' },
})
const versions: readonly SoapVersion[] = ['1.1', '1.2']
const stranger = issuePartner('O=Issuer/CN=issuer')

describe('pysaml2', { skip }, () => {
  let plain: Server
  let secure: Server
  let house: LineProgram
  let forger: LineProgram
  before(async () => {
    ;[plain, secure] = await Promise.all([startSecured(secured), startSecured(secured, tlsFiles)])
    const start = (name: string, { key, certificate }: typeof issuer) => {
      const files = [writeTemporary(`${name}.key`, key), writeTemporary(`${name}.pem`, certificate)]
      return startLineProgram(python, ['-W', 'ignore', join(here, 'python', 'pysaml2_issuer.py'), ...files])
    }
    house = start('house', issuer)
    forger = start('forger', stranger)
  })

  interface Asked {
    readonly by?: LineProgram
    readonly issuer?: string
    readonly subject?: string
    readonly audience?: string
    /** Until its end. */
    readonly minutes?: number
    /** Whose key it is for, of `holder`. */
    readonly holder?: Name
  }
  async function issue(kind: Kind, asked: Asked = {}): Promise<string> {
    const { by = house, subject = 'maria', audience = 'urn:shop', minutes = 5, holder = 'maria' } = asked
    const certificate = kind === 'holder' ? people[holder]!.certificate : null
    const words = { step: 'issue', issuer: asked.issuer ?? 'urn:issuer', subject, audience, minutes }
    const said = await by.ask({ ...words, holder: certificate })
    assert.equal(said['error'], undefined)
    return String(said['assertion'])
  }
  const verify = (assertion: string, by = house) => by.ask({ step: 'verify', assertion })

  /** What maria's client gets with this assertion: the order, or the code of the fault. */
  async function ask(kind: Kind, version: SoapVersion, assertion: string, address?: string): Promise<string> {
    const server = kind === 'bearer' ? secure : plain
    const keys = { ...people['maria'], service: { certificates: service.certificate }, assertion }
    const client = createSoapClient(contract, {
      address: `${address ?? server.url}${paths[kind]}`,
      version: 'v2',
      soap: version,
      tls: { ca: bankRoot },
      keys,
    })
    try {
      return (await client.GetOrder({ id: 'o-1' })).order.id
    } catch (thrown) {
      if (thrown instanceof FaultError) return String(thrown.codes.at(-1)?.local)
      return String(thrown) // a refusal is not signed: its code is in the text
    } finally {
      client.close()
    }
  }
  const refused = /FailedAuthentication|FailedCheck|InvalidSecurity|MessageExpired/

  for (const version of versions)
    for (const kind of Object.keys(paths) as Kind[]) {
      it(`SAML Token Profile 1.1 §3.3: names the caller by a ${kind} assertion in SOAP ${version}`, async () => {
        assert.equal(await ask(kind, version, await issue(kind)), 'o-1')
      })

      const rows: readonly (readonly [string, Asked, ((assertion: string) => string)?])[] = [
        ['SAML 2.0 §2.5.1.2 one that has ended', { minutes: -10 }],
        ['SAML 2.0 §2.5.1.4 one for another audience', { audience: 'urn:other' }],
        ['one of an issuer without a rule', { issuer: 'urn:stranger' }],
        ['one about somebody whom nobody knows', { subject: 'nobody' }],
        ['SAML 2.0 §5.4 one by another key in the name of the issuer', {}],
        ['XML Signature §3.2 one with another subject', {}, text => text.replace('>maria<', '>clara<')],
        ['XML Signature §3.2 one with a later end', {}, text => text.replaceAll(/(NotOnOrAfter="\d{3})\d/g, '$19')],
        ['one without its signature', {}, text => text.replace(/<(\w+):Signature .*<\/\1:Signature>/s, '')],
        ...(kind === 'holder' ? [['§2.4.1.3 one for the key of another', { holder: 'alice' }] as const] : []),
      ]
      for (const [name, asked, change = same] of rows)
        it(`is not enough: ${name} (${kind}, SOAP ${version})`, async () => {
          const by = name.includes('another key in the name') ? forger : house
          const genuine = await issue(kind, { by, ...asked })
          if (change !== same) assert.notEqual(change(genuine), genuine)
          assert.match(await ask(kind, version, change(genuine)), refused)
        })
    }

  it('SAML Token Profile 1.1 §3.5: a bearer assertion counts once', async () => {
    const assertion = await issue('bearer')
    assert.equal(await ask('bearer', '1.2', assertion), 'o-1')
    assert.match(await ask('bearer', '1.2', assertion), refused)
  })

  for (const version of versions)
    it(`SAML 2.0 §5.4: verifies the assertion in what our client sends in SOAP ${version}`, async () => {
      let sent = ''
      const request = (text: string) => (sent = text)
      const address = await standBetween(plain.url, { request, response: same })
      for (const assertion of [await issue('holder'), assertionFor('maria', 'holder-of-key')]) {
        assert.equal(await ask('holder', version, assertion, address), 'o-1')
        const [found = assert.fail()] = /<(\w+):Assertion .*<\/\1:Assertion>/s.exec(sent) ?? []
        assert.deepEqual(await verify(found), { subject: 'maria' })
        assert.match(String((await verify(found.replace('>maria<', '>clara<')))['error']), /Signature|signature/)
        assert.match(String((await verify(found, forger))['error']), /Signature|signature/)
      }
    })

  it('SAML Token Profile 1.1 §3.3: without an assertion nobody is the caller', async () => {
    const envelope = '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body/></s:Envelope>'
    const headers = { 'content-type': 'application/soap+xml' }
    assert.match(await requestText(`${plain.url}${paths.holder}`, { method: 'POST', headers }, envelope), refused)
  })
})
