/** The orders service with endpoints of declared security, its keys and those of its partners. */
import assert from 'node:assert/strict'
import { createPrivateKey, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { FaultError } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { type Server, startService } from '../../src/host/serve.ts'
import { readCertificateList } from '../../src/security/crypto/key-source.ts'
import { dsNs } from '../../src/security/vocabulary.ts'
import { bankRoot, issueBank, issuePartner, type PemPair, partnerRoot } from '../host/partner-keys.ts'
import { issueAssertion, writeAssertion } from '../security/assertion.ts'
import * as x from '../security/issue.ts'
import { requestText } from './attacker.ts'
import { atEnd, folder, run } from './peer.ts'
import type { Said } from './soap-driver.ts'

export const names = ['maria', 'alice', 'clara'] as const
export type Name = (typeof names)[number]
export type SoapVersion = '1.1' | '1.2'
export const service = issueBank('O=Shop/CN=shop.example')
export const tls = issueBank('O=Shop/CN=localhost', x.alternativeNames(x.ipName(127, 0, 0, 1)))
export const issuer = issuePartner('O=Issuer/CN=issuer')
export const people: Record<string, PemPair> = Object.fromEntries(names.map(name => [name, issuePartner(`CN=${name}`)]))

const place = folder()
/** @returns the path of a file of this content, which goes with the tests */
export const writeTemporary = (name: string, text: string): string => {
  const file = join(place, name)
  writeFileSync(file, text)
  return file
}
export const serviceFiles = {
  key: writeTemporary('service.key', service.key),
  certificate: writeTemporary('service.pem', service.certificate),
}
export const tlsFiles = {
  key: writeTemporary('tls.key', tls.key),
  certificate: writeTemporary('tls.pem', tls.certificate),
}

/** Three callers do in a minute what limits allow in several. */
const plenty = { count: 1e9, seconds: 60 }
/** Beside `/soap/v2`, which demands nothing, an endpoint for each rule. */
export function secureOrders(rules: Readonly<Record<string, SecurityRule>>) {
  const secured = Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }] as const)
  const endpoints = { '/soap/v2': { version: 'v2' }, ...Object.fromEntries(secured) }
  const searches = shop.searches && { ...shop.searches, limit: plenty }
  const contract = { ...shop, limits: { reads: plenty, changes: plenty }, ...(searches && { searches }), endpoints }
  return { contract, secured: { ...app, contract } }
}

/** @param tls files of key and certificate: over https */
export async function startSecured(
  secured: ReturnType<typeof secureOrders>['secured'],
  tls?: typeof tlsFiles,
): Promise<Server> {
  const messageSecurity = {
    authorities: partnerRoot,
    certificates: names.map(name => people[name]!.certificate), // which messages may name
    keyFiles: [serviceFiles],
    means: { saml: { issuers: [{ name: 'urn:issuer', certificates: issuer.certificate }], audiences: ['urn:shop'] } },
  }
  const warn = (...said: unknown[]) => console.error(...said)
  const options = { port: 0, messageSecurity, logger: { info() {}, warn, error: warn }, flood: 100_000 }
  const server = await startService(secured, { ...options, data: ':memory:', ...(tls && { tls }) })
  atEnd(() => server.close(0))
  return server
}

/** @returns the path of its description by this version of SOAP, as `change` has it */
export async function describedAt(server: Server, path: string, version: string, change = (wsdl: string) => wsdl) {
  const text = await requestText(`${server.url}${path}?wsdl=${version}`)
  return writeTemporary(`${path.slice(6)}-${version}-${server.port}-${Math.random()}.wsdl`, change(text))
}

/** An entry of a key store: with its key, or as a certificate alone. */
export const pairEntry = (alias: string, { key, certificate }: PemPair, isOwn = true): string[] => [
  alias,
  isOwn ? writeTemporary(`${alias}.key`, key) : '-',
  writeTemporary(`${alias}.pem`, certificate),
]
export const rootEntry = (alias: string, pem: string): string[] => [alias, '-', writeTemporary(`${alias}.pem`, pem)]
/** The partners' own keys, and whom they trust. */
export const clientEntries = (): string[] => [
  ...names.flatMap(name => pairEntry(name, people[name]!)),
  ...pairEntry('issuer', issuer),
  ...rootEntry('shop-root', bankRoot),
  ...pairEntry('service', service, false),
]
export const serverEntries = (): string[] => [
  ...pairEntry('service', service),
  ...rootEntry('partners', partnerRoot),
  ...names.flatMap(name => pairEntry(name, people[name]!, false)),
]

/** Writes PKCS#12 files, each from its entries. @returns their paths */
export function writeKeyStores(stores: Readonly<Record<string, readonly string[]>>): string[] {
  const all = Object.entries(stores).map(([name, entries]) => [join(place, name), ...entries])
  const words = all.flatMap((each, at) => (at > 0 ? ['--', ...each] : each))
  run('java', [join(import.meta.dirname, 'cxf', 'Store.java'), ...words])
  return all.map(([file]) => file!)
}

/** What servers of Java ask behind them; it is compiled with each. */
export const behindSource = join(import.meta.dirname, 'wss', 'Behind.java')
/** The same for those of JAX-WS. */
export const jaxwsSources = [behindSource, join(import.meta.dirname, 'wss', 'Forwarding.java')]

/** A customer's id, made by REST: no SOAP operation makes one. */
export async function newCustomer(server: Server): Promise<string> {
  const token = await server.token('maria', ['manager'])
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Dora Double', email: 'dora@example.org', tier: 'basic' })
  const made = await requestText(`${server.url}/api/v2/customers`, { method: 'POST', headers }, body)
  return JSON.parse(made).id
}

/** An assertion about a person, by the issuer. */
export function assertionFor(name: Name, method: 'holder-of-key' | 'bearer'): string {
  const der = people[name]!.certificate.replaceAll(/-----[^-]+-----|\s/g, '')
  const holder = `<ds:KeyInfo xmlns:ds="${dsNs}"><ds:X509Data><ds:X509Certificate>${der}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`
  const id = `a${randomUUID()}`
  const keyInfo = method === 'bearer' ? '' : holder
  const unsigned = writeAssertion({
    subject: name,
    audience: 'urn:shop',
    method,
    keyInfo,
    at: Date.now(),
    id,
    signer: undefined,
  })
  const [certificate = assert.fail()] = readCertificateList(issuer.certificate, 'issuer')
  return issueAssertion(unsigned, 'issuer', id, { key: createPrivateKey(issuer.key), certificate })
}

/** What a typed call says, as drivers of peers do. */
export async function sayAs(client: object, operation: string, input: object): Promise<Said> {
  const typed = { ...input, ...('picture' in input && { picture: Buffer.from(String(input.picture), 'base64') }) }
  try {
    const output: object | undefined = await Reflect.get(client, operation)(typed)
    return { output: JSON.parse(JSON.stringify(output ?? {}, writeSaid)) }
  } catch (error) {
    if (!(error instanceof FaultError)) return { error: inspect(error) }
    const [reason] = error.reasons
    return {
      fault: {
        code: error.code ?? '',
        reason: reason?.text ?? '',
        detail: inspect({ [String(error.fault)]: error.detail }),
      },
    }
  }
}
const writeSaid = (_: string, value: unknown): unknown =>
  typeof value === 'bigint'
    ? String(value)
    : value instanceof Uint8Array
      ? Buffer.from(value).toString('base64')
      : value
