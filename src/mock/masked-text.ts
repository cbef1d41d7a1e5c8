/**
 * Masks the credentials in texts, so that a recording may keep them. Names tell what is secret, and
 * so do the forms of tokens, and the request's own credentials.
 */
import { decodePercent } from '../base/attempt.ts'
import { decodeBase64Loosely } from '../base/base64.ts'

const mask = 'masked'

/** Names of members, elements, attributes and parameters whose values are secret. */
const secretName =
  /pass(?:word|wd|phrase|code)|secret|token|api[-_]?key|authori[sz]ation|credential|cookie|^session|^sid$|signature|^sig$|^pin$|^otp$|private[-_]?key|^assertion$|^nonce$/i
/** Cursors of pages have such names, too, but prove nothing. */
const openName = /^(?:next|page|prev(?:ious)?|continuation|sync)[-_]?(?:page)?[-_]?token$/i
const isSecretName = (name: string): boolean => secretName.test(name) && !openName.test(name)

const wsse = 'oasis-200401-wss-wssecurity-secext'
const saml = 'urn:oasis:names:tc:SAML'

/** @param known credentials that the exchange is known to contain, as written */
export function maskText(text: string, known: readonly string[]): string {
  let masked = text
  for (const secret of known) masked = masked.replaceAll(secret, mask)
  if (masked.includes(wsse)) masked = masked.replaceAll(elementNamed('Security'), '')
  if (masked.includes(saml)) masked = masked.replaceAll(elementNamed('Assertion'), '')
  return masked
    .replaceAll(jsonMember, (all, name: string, value: string) =>
      isSecretName(name) && value !== '""' ? `${JSON.stringify(name)}:"${mask}"` : all,
    )
    .replaceAll(xmlElement, (all, tag: string, local: string, attributes: string) =>
      isSecretName(local) ? `<${tag}${attributes}>${mask}</${tag}>` : all,
    )
    .replaceAll(xmlAttribute, (all, space: string, name: string) =>
      isSecretName(name.replace(/^.*:/, '')) ? `${space}${name}="${mask}"` : all,
    )
    .replaceAll(/\b(Bearer|Basic|Digest|DPoP)\s+[\w+/=.~-]{8,}/g, `$1 ${mask}`)
    .replaceAll(/\beyJ[\w-]{4,}\.[\w-]+\.[\w-]*/g, mask)
}
const elementNamed = (local: string): RegExp =>
  new RegExp(`<((?:[\\w.-]+:)?${local})(?=[\\s>])[\\s\\S]*?</\\1\\s*>`, 'g')
const jsonMember = /"([^"\\]{1,100})"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][^\s,}\]]*)/g
const xmlElement = /<((?:[\w.-]+:)?([\w.-]+))((?:\s[^<>]*)?)>[^<>]+<\/\1\s*>/g
const xmlAttribute = /(\s)([\w.:-]{1,100})\s*=\s*(?:"[^"<]*"|'[^'<]*')/g

/** The query with its parameters in order, without the values of secret ones. */
export function maskTarget(target: string): string {
  const [path = '', query] = target.split('?', 2)
  if (query === undefined) return path
  return `${path}?${maskForm(query)}`
}
export const maskForm = (text: string): string =>
  text
    .split('&')
    .map(pair => {
      const [name = ''] = pair.split('=', 1)
      return isSecretName(decodeName(name)) ? `${name}=${mask}` : pair
    })
    .sort()
    .join('&')

/** A text with an unencoded "%" stays unchanged. */
const decodeName = (name: string): string => decodePercent(name.replaceAll('+', ' ')) ?? name

/** Values that are secret by their names, in case a response repeats them. */
export function listSecrets(text: string): readonly string[] {
  const found = [
    ...[...text.matchAll(jsonMember)].map(([, name = '', value = '']) => [name, value.replace(/^"|"$/g, '')]),
    ...[...text.matchAll(secretElement)].map(([, , local = '', value = '']) => [local, value.trim()]),
    ...[...text.matchAll(/([^&=?\s]+)=([^&\s]+)/g)].map(([, name = '', value = '']) => [
      decodeName(name),
      decodeName(value),
    ]),
  ]
  return found.flatMap(([name = '', value = '']) => (isSecretName(name) && value.length >= 4 ? [value] : []))
}
const secretElement = /<((?:[\w.-]+:)?([\w.-]+))(?:\s[^<>]*)?>([^<>]+)<\/\1\s*>/g

/** The credentials in these fields, in case a response repeats them. */
export function listCredentials(fields: Readonly<Record<string, string>>): readonly string[] {
  const found = Object.entries(fields)
    .filter(([name]) => name === 'authorization' || name === 'proxy-authorization' || isSecretName(name))
    .flatMap(([name, value]) =>
      name === 'cookie'
        ? value.split(/;\s*/).map(each => each.replace(/^[^=]*=/, ''))
        : [value, value.replace(/^\w+\s+/, '')],
    )
  const passwords = found.flatMap(each => decodeBasic(each))
  return [...found, ...passwords].filter(each => each.length >= 4)
}
function decodeBasic(text: string): readonly string[] {
  if (!/^[A-Za-z0-9+/]+=*$/.test(text)) return []
  const octets = decodeBase64Loosely(text)
  const pair = octets ? Buffer.from(octets).toString('utf8') : ''
  const at = pair.indexOf(':')
  return at < 0 || /[\u0000-\u0008\ufffd]/.test(pair) ? [] : [pair.slice(at + 1)]
}
