/** Attacks on messages on their way, in both directions. */
import { once } from 'node:events'
import { createServer, type RequestOptions, request as requestInClear } from 'node:http'
import { request as requestByTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { wsuNs } from '../../src/security/vocabulary.ts'
import { bankRoot } from '../host/partner-keys.ts'
import { atEnd } from './peer.ts'

interface TypedAnswer {
  readonly type: string
  readonly octets: Buffer
}

/** Over TLS as well, with the authority of these tests. */
function request(address: string, options: RequestOptions, body?: string | Buffer): Promise<TypedAnswer> {
  const url = new URL(address)
  const send = url.protocol === 'https:' ? requestByTls : requestInClear
  return new Promise((resolve, reject) => {
    const asking = send(url, { ...options, ca: bankRoot, agent: false }, async answer => {
      resolve({ type: answer.headers['content-type'] ?? '', octets: Buffer.concat(await answer.toArray()) })
    })
    asking.once('error', reject).end(body)
  })
}

export const requestText = async (address: string, options: RequestOptions = {}, body?: string): Promise<string> =>
  (await request(address, options, body)).octets.toString()

/** What is done to messages on their way; `kept.former` is one that was sent before. */
export function createAttacks() {
  const kept = { former: '' }
  const part = (text: string, local: string): string =>
    new RegExp(`<([\\w-]+:)?${local}[ >].*?</([\\w-]+:)?${local}>`, 's').exec(text)?.[0] ?? ''
  const without = (local: string) => (text: string) => text.replace(part(text, local), '')
  const withoutLast = (local: string) => (text: string) => {
    const last =
      [...text.matchAll(new RegExp(`<([\\w-]+:)?${local}[ >].*?</([\\w-]+:)?${local}>`, 'gs'))].at(-1)?.[0] ?? ''
    return text.replace(last, '')
  }
  const addBlock = (text: string, content: string): string =>
    text.replace(/<\/([\w-]+:)?Header>/, end => `<w:w xmlns:w="urn:w" xmlns:wsu="${wsuNs}">${content}</w:w>${end}`)
  const unnamed = (element: string): string => element.replace(/ [\w-]+:Id="[^"]*"/, '')
  const tampered = (text: string): string => text.replace('o-1<', 'o-2<')
  const attacks: readonly (readonly [string, (message: string) => string])[] = [
    ['is tampered with', tampered],
    ['has lost its Security block', without('Security')],
    ['has lost its Signature', without('Signature')],
    ['has lost its Timestamp', without('Timestamp')],
    [
      'has another Body, and the signed one in a block',
      text =>
        addBlock(text, part(text, 'Body')).replace(/(?<!<w:w [^>]*>)<([\w-]+:)?Body[ >].*$/s, each =>
          tampered(unnamed(each)),
        ),
    ],
    ['has a second element with the identifier of the Body', text => addBlock(text, tampered(part(text, 'Body')))],
    [
      'has another Timestamp, and the signed one in a block',
      text => {
        const stamp = part(text, 'Timestamp')
        const later = unnamed(stamp).replace(/(Expires>\d{3})\d/, '$19')
        return addBlock(text.replace(stamp, later), stamp)
      },
    ],
    ['was sent before', text => underBoundary(kept.former, text)],
  ]
  const cipher = (within: string) => (text: string) => {
    const sealed = part(text, within)
    return text.replace(sealed, sealed.replace(/CipherValue>[^<]{8}/, 'CipherValue>AAAAAAAA'))
  }
  const sealedAttacks: typeof attacks = [
    ...attacks.filter(([, change]) => change !== tampered), // nothing of it is in clear
    ['has another wrapped key', cipher('EncryptedKey')],
    ['has other octets in its EncryptedData', cipher('EncryptedData')],
    ['has lost its EncryptedKey', without('EncryptedKey')],
    ['has lost its EncryptedData', without('EncryptedData')],
  ]
  /** On what a message of a symmetric binding has besides, if it has it. */
  const exchangeAttacks = (text: string): typeof attacks => [
    ...(/EncryptedKey /.test(text)
      ? ([
          ['has another wrapped key', cipher('EncryptedKey')],
          ['has lost its EncryptedKey', without('EncryptedKey')],
          ['has lost the endorsement', withoutLast('Signature')],
        ] as const)
      : ([
          ['names another key', (text: string) => text.replace(/(EncryptedKeySHA1"[^>]*>)[^<]{4}/, '$1AAAA')],
        ] as const)),
    ...(/EncryptedData /.test(text)
      ? ([['has other octets in its EncryptedData', cipher('EncryptedData')]] as const)
      : ([['is tampered with', tampered]] as const)),
    ...(/DerivedKeyToken/.test(text)
      ? ([
          ['has another nonce', (text: string) => text.replace(/(wsc:Nonce[^>]*>)[^<]{4}/, '$1AAAA')],
          ['has lost its DerivedKeyToken', without('DerivedKeyToken')],
        ] as const)
      : []),
    ...attacks.filter(([, change]) => change !== tampered),
  ]
  return { kept, attacks, sealedAttacks, exchangeAttacks }
}

/** A package in the place of another one, whose boundary the HTTP fields still have. */
function underBoundary(former: string, text: string): string {
  const boundaryOf = (message: string) => /^--(?:uuid:)?(\S+)/.exec(message)?.[1] ?? 'no boundary'
  return former.replaceAll(boundaryOf(former), boundaryOf(text))
}

/** What an attacker on the way makes of messages; parts of packages in them are octets, as ISO 8859-1. */
export interface Attacker {
  readonly request?: (text: string) => string
  readonly response?: (text: string) => string
}

/** @returns the address of an attacker between clients and the server at `target` */
export async function standBetween(target: string, attacker: Attacker): Promise<string> {
  const between = createServer(async (asked, told) => {
    const change = (octets: Buffer, by = same) => Buffer.from(by(octets.toString('latin1')), 'latin1')
    const body = change(Buffer.concat(await asked.toArray()), attacker.request)
    const { host, 'content-type': asType, soapaction } = asked.headers
    const headers = { host, 'content-type': asType, ...(soapaction && { soapaction }) }
    const { type, octets } = await request(`${target}${asked.url}`, { method: 'POST', headers }, body)
    told.writeHead(200, { 'content-type': type }).end(change(octets, attacker.response))
  }).listen(0, '127.0.0.1')
  atEnd(() => between.close())
  await once(between, 'listening')
  return `http://127.0.0.1:${(between.address() as AddressInfo).port}` // it listens on a port
}
export const same = (text: string): string => text

export async function freePort(): Promise<number> {
  const held = createServer().listen(0, '127.0.0.1')
  await once(held, 'listening')
  const { port } = held.address() as AddressInfo // it listens on a port
  held.close()
  await once(held, 'close')
  return port
}
